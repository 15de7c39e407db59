"""What is known of a pose before and after looking: turns by the clock, errors, frames' bottoms."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera, Lens
from calibration.cv import place_again, rotation_of
from calibration.grid_pose import Sight, board_corners, camera_for, centre_of
from calibration.outline_fit import frame_plan
from calibration.pose_quality import expected_errors, focal_doubt, with_board
from calibration.quads import clock_of, hours_apart
from calibration.solve import LensDoubt, Solution
from calibration.stacks import Refined, StackView
from calibration.store import Calibration, CameraRecord
from rules.registry import find_game
from rules.stacks import Stacks
from service import steadied as steadied_module


def above(board_mm: float) -> Camera:
    """A camera over the middle of a square board, in front of it and looking down steeply."""
    lens = Lens.simple((960, 540), 800.0)
    rotation = rotation_of(np.array([np.radians(150.0), 0.0, 0.0]))
    eye = np.array([board_mm / 2, -0.5 * board_mm, 2.6 * board_mm])
    return Camera.of(lens, rotation, -rotation @ eye)


@pytest.mark.parametrize("hour", [6.0, 9.0, 12.0, 3.0, 7.0, 2.2])
def test_of_four_turns_the_one_nearest_to_the_clock_is_placed(hour: float) -> None:
    """A square board's corners do not tell which is a1's; the camera's clock does."""
    board = find_game("kewbz").board
    seen = above(board.lattice.size_mm[0])
    corners = seen.lens.undistort(seen.project(board_corners(board)))
    sight = Sight(np.zeros((1, 1, 3), np.float32), seen.lens, LensDoubt.measured(0.001), hour)

    found = camera_for(corners, board_corners(board), sight, centre_of(board), 1.0)

    assert found is not None
    assert hours_apart(clock_of(found, centre_of(board)), hour) <= 1.5


def test_a_board_seen_askew_is_told_to_be_worse_the_higher_one_looks() -> None:
    """Stacks tell heights, not where the board lies: its error leans and grows."""
    board = find_game("cube").board

    told = with_board({"0": 0.1, "100": 0.1}, 1.5, board)

    assert told["0"] == pytest.approx(1.5, abs=0.05)
    assert told["100"] > 3.0


def test_a_frame_with_a_bottom_stands_lower_than_its_cells() -> None:
    """Its outer foot lies on the table, its inner foot on the bottom."""
    edges = {e.name: e for e in frame_plan(150, 150)(above(150.0), np.array([1.0, 12.0, 6.0]))}

    assert edges["outer foot front"].start_mm[2] == -6.0
    assert edges["inner foot back"].start_mm[2] == 0.0


def test_how_well_a_board_was_measured_is_part_of_every_error() -> None:
    """However exactly its lines are seen, its millimetres were told by a ruler; that never leans."""
    board = find_game("kewbz").board
    camera = above(board.lattice.size_mm[0])
    exact = Solution(camera, 1e-12 * np.eye(12), np.zeros(0), np.zeros(4), np.ones(4))

    told = expected_errors(exact, board, (0.0, 100.0))

    assert 0.3 < told["0"] < 0.6
    assert with_board({"0": 0.0, "100": 0.0}, told["0"], board)["100"] < told["0"] + 0.05


@pytest.mark.parametrize(
    ("told_mm", "stacks_mm", "kept", "contradicted"),
    [
        pytest.param(0.5, 1.0, True, True, id="contradicted"),
        pytest.param(40.0, 1.0, False, False, id="improved"),
        pytest.param(40.0, 60.0, True, False, id="known better before"),
    ],
)
def test_stacks_do_not_overrule_a_camera_that_is_known_better(
    told_mm: float,
    stacks_mm: float,
    kept: bool,
    contradicted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is known within half a millimetre is not moved by ten; what is known badly is."""
    board = find_game("kewbz").board
    camera = above(board.lattice.size_mm[0])
    longer = Lens.simple(camera.size, 1.15 * camera.lens.focal_px)
    other = Camera.of(longer, camera.rotation, 1.15 * camera.translation_mm)
    record = CameraRecord(camera, "grid", 0.1, "good", error_mm={"0": 0.1, "100": told_mm})
    picture = np.zeros((540, 960, 3), np.uint8)
    monkeypatch.setattr(
        steadied_module,
        "refine_with_stacks",
        lambda *_: {"side": Refined(other, {"0": 0.1, "100": stacks_mm}, changed=True)},
    )

    found, told = steadied_module.steadied(
        Calibration(cameras={"side": record}),
        {"side": picture},
        {"side": None},
        board,
        Stacks.of({"b2": "BB"}),
    )

    assert (found.camera("side") is camera) == kept
    assert ("contradict" in told.get("side", "")) == contradicted
    assert ("certain" in told.get("side", "")) == (not kept)


@pytest.mark.parametrize("measured", [False, True])
def test_doubted_cameras_do_not_pull_the_others(
    monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    """Cameras in their places come first; one that is elsewhere leans on those that are known."""
    board = find_game("kewbz").board
    camera = above(board.lattice.size_mm[0])
    record = CameraRecord(
        camera,
        "frame",
        0.1,
        "good",
        error_mm={"0": 0.1, "100": 5.0},
        lens_method="measured" if measured else "assumed",
    )
    elsewhere = replace(record, lens_method="assumed", more={"doubts": ["read otherwise"]})
    picture = np.zeros((540, 960, 3), np.uint8)
    together = []

    def refine(views: Mapping[str, StackView], *_: object) -> dict[str, Refined]:
        together.append(set(views))
        told = {"0": 0.2, "100": 3.0}
        changed = not measured or "b" in views
        return {name: Refined(view.camera, told, changed=changed) for name, view in views.items()}

    monkeypatch.setattr(steadied_module, "refine_with_stacks", refine)

    found, _ = steadied_module.steadied(
        Calibration(cameras={"a": record, "b": elsewhere, "c": record}),
        dict.fromkeys("abc", picture),
        dict.fromkeys("abc", None),
        board,
        Stacks.of({"b2": "BB"}),
    )

    assert together == [{"a", "c"}, {"a", "b", "c"}]
    errors = [found.cameras[name].error_mm["100"] for name in "acb"]
    # Of what it leans on the error is its own as well; of measured ones nothing is told anew.
    assert errors[:2] == pytest.approx([5.0, 5.0] if measured else [3.0, 3.0], abs=0.1)
    assert errors[2] == pytest.approx(5.0 if measured else np.hypot(3.0, 3.0), abs=0.1)


def test_a_board_that_is_seen_badly_tells_nothing_of_the_lens() -> None:
    """Where leaning alone explains the error above the board, the lens is not known for that."""
    board = find_game("cube").board
    camera = above(board.lattice.size_mm[0])

    assert focal_doubt(camera, {"0": 4.0, "100": 6.0}, board) > 0.02


def test_stacks_that_contradict_without_a_number_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A camera that would stand no higher than the stacks sees no distance there."""
    board = find_game("kewbz").board
    camera = above(board.lattice.size_mm[0])
    low = Camera.of(camera.lens, camera.rotation, -camera.rotation @ np.array([88.0, -200, 60]))
    record = CameraRecord(camera, "grid", 0.1, "good", error_mm={"0": 0.1, "100": 1.0})
    monkeypatch.setattr(
        steadied_module,
        "refine_with_stacks",
        lambda *_: {"side": Refined(low, {"0": 0.1, "100": 1.0}, changed=True)},
    )

    _, told = steadied_module.steadied(
        Calibration(cameras={"side": record}),
        {"side": np.zeros((540, 960, 3), np.uint8)},
        {"side": None},
        board,
        Stacks.of({"b2": "BB"}),
    )

    assert "contradict" in told["side"]
    assert "inf" not in told["side"]


def test_errors_above_the_board_tell_how_uncertain_the_lens_is() -> None:
    """A camera whose lens is longer by that doubt is off by about the error that was told."""
    board = find_game("kewbz").board
    camera = above(board.lattice.size_mm[0])

    doubt = focal_doubt(camera, {"0": 0.1, "100": 4.0}, board)

    longer = Lens.simple(camera.size, (1 + 1.96 * doubt) * camera.lens.focal_px)
    corners = board_corners(board)
    start = (camera.rotation, camera.translation_mm)
    place = place_again(corners, camera.project(corners), longer.matrix, longer.distortion, start)
    above_it = corners + np.array([0.0, 0.0, 100.0])
    seen = Camera.of(longer, *place).back_project(camera.project(above_it), 100.0)
    assert np.linalg.norm(seen - above_it, axis=1).max() == pytest.approx(4.0, rel=0.2)
    assert focal_doubt(camera, {"0": 0.1, "100": 2.0}, board) == pytest.approx(doubt / 2, rel=0.1)
