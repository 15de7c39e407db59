"""Boards found by themselves on sample pictures: empty, with pieces on them, and not at all."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.belief import with_lens
from calibration.camera import Camera, Lens
from calibration.cv import Image, read_image
from calibration.errors import NotFound
from calibration.fit import slopes
from calibration.grid_pose import board_corners
from calibration.picture_faults import picture_faults
from calibration.pose import FoundPose, find_pose
from calibration.scene import CameraPlace
from calibration.solve import Evidence, LensDoubt, evidence_errors_px, evidence_slopes
from calibration.stacks import StackView, refine_with_stacks
from calibration.store import LensRecord
from rules.lattice import Lattice
from rules.registry import find_game
from service.bench.calibrate import (
    Case,
    PoseRow,
    traced_case,
    true_errors,
    virtual_case,
    without_markers,
)
from service.table_folder import default_table, new_table
from service.virtual_plays import virtual_table
from vision.virtual.scene import Kind
from vision.virtual.scene import Scene as VirtualScene
from vision.virtual.studio import Studio

TUNE = Path(__file__).resolve().parents[2] / "sample_images" / "tune"


@pytest.mark.parametrize(
    ("table", "camera", "most_mm"),
    [
        pytest.param("kewbz-two", "overhead", 0.5, id="printed lines"),
        pytest.param("kwinty-one", "front", 1.5, id="sheet of a wall"),
        pytest.param("ksar-one", "camera", 1.5, id="frame"),
        pytest.param("turris-three", "left", 2.5, id="felt"),
    ],
)
def test_boards_are_found_without_markers(table: str, camera: str, most_mm: float) -> None:
    """By lines, sheet, frame or felt alone, with an unknown lens, right on the board."""
    case = without_markers(traced_case(TUNE / table))

    found = find_pose(case.empty[camera], case.scene, case.scene.cameras[camera], None)

    assert true_errors(found.camera, case.true[camera], case.scene.board)["0"] < most_mm


def test_a_clear_row_of_cells_is_believed_before_a_line_printed_round_it(tmp_path: Path) -> None:
    """A rectangle of the shape that is told is not the sheet where its cells lie beside it."""
    plain = default_table(find_game("kwinty"))  # which tells no margin of the sheet
    new_table(tmp_path, plain)
    table = virtual_table(tmp_path, "kwinty", ("front", "camera", "overhead"))
    assert table is not None
    place = CameraPlace(name="camera", source=None, clock=5.5)

    found = find_pose(table.studio.empty()["camera"], plain.scene, place, None)

    assert true_errors(found.camera, table.scene.cameras["camera"], plain.scene.board)["0"] < 1.5


@pytest.mark.parametrize("told_mm", [0.0, 10.0, 20.0])
def test_the_cells_tell_how_far_their_sheet_goes_beyond_them(told_mm: float) -> None:
    """A margin that is told wrongly does not move the cells, and is told; 0 tells none."""
    case = without_markers(traced_case(TUNE / "kwinty-one"))
    board = replace(case.scene.board, margin_mm=(told_mm,) * 4)
    scene = replace(case.scene, board=board)

    found = find_pose(case.empty["front"], scene, scene.cameras["front"], None)

    assert true_errors(found.camera, case.true["front"], board)["0"] < 1.0
    wrong = [doubt for doubt in found.doubts if "20 mm" in doubt and "margin_mm" in doubt]
    assert len(found.doubts) == len(wrong) == (told_mm == 10.0)


@pytest.mark.slow
def test_a_rectangle_without_a_row_of_cells_is_doubted() -> None:
    """The edge of a book, one end of the sheet and lines of wood make a longer sheet, but empty."""
    case = virtual_case(find_game("kwinty"), "two", "tune", 900)

    try:
        found = find_pose(case.empty["front"], case.scene, case.scene.cameras["front"], None)
    except NotFound:
        return

    errors = true_errors(found.camera, case.true["front"], case.scene.board)
    assert errors["0"] < 2.5 or found.doubts


@pytest.mark.parametrize("camera", ["overhead", "side"])
@pytest.mark.parametrize("still", ["still00", "still01"])
def test_boards_are_found_with_a_game_in_progress(camera: str, still: str) -> None:
    """Pieces hide cells, but the lattice stays where it is."""
    case = without_markers(traced_case(TUNE / "kewbz-two"))
    picture = read_image(TUNE / "kewbz-two" / f"{still}.{camera}.jpg")
    lens = LensRecord(case.true[camera].lens, "charuco", 0.2, "good", focal_error=0.001)

    found = find_pose(picture, case.scene, case.scene.cameras[camera], lens)

    errors = true_errors(found.camera, case.true[camera], case.scene.board)
    assert errors["0"] < 1.0
    assert errors["100"] < 2.0


def test_a_board_of_finer_cells_is_doubted() -> None:
    """Four times four cells fit every second line of eight times eight; that is told."""
    case = without_markers(traced_case(TUNE / "kewbz-one"))
    old = case.scene.board.lattice
    wide = 2 * old.pitch_mm
    coarse = Lattice(4, 4, old.levels, wide, (0.9 * wide, 0.9 * wide, 0.9 * wide))
    scene = replace(case.scene, board=replace(case.scene.board, lattice=coarse))

    found = find_pose(case.empty["camera"], scene, scene.cameras["camera"], None)

    assert any("seems to be several" in doubt for doubt in found.doubts)


def picture(level: int) -> Image:
    """A picture of nothing, so bright."""
    noise = np.random.default_rng(1).normal(level, 2, (360, 640, 3))
    return np.asarray(np.clip(noise, 0, 255), dtype=np.uint8)


@pytest.mark.parametrize(("level", "fault"), [(8, "very dark"), (254, "overexposed")])
def test_pictures_that_show_nothing_are_told(level: int, fault: str) -> None:
    """No pose is made up; the fault is named, with everything that was tried."""
    case = without_markers(traced_case(TUNE / "kewbz-one"))

    with pytest.raises(NotFound, match=fault) as told:
        find_pose(picture(level), case.scene, case.scene.cameras["camera"], None)

    assert "grid:" in str(told.value)
    assert "--corners" in str(told.value)


def test_sharp_pictures_have_no_fault() -> None:
    """Sample pictures of rooms in usual light are not complained of."""
    assert picture_faults(read_image(TUNE / "kewbz-two" / "empty.side.jpg")) == ()


def test_slopes_are_those_of_the_errors() -> None:
    """Exact slopes agree with small steps, for every value and size."""
    rng = np.random.default_rng(1)
    lens = Lens((1280, 720), np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]), np.array(
        [-0.1, 0.05, 0.001, -0.002, 0.01]
    ))  # fmt: skip
    camera = Camera.of(lens, np.diag([1.0, -1, -1]), np.array([-90.0, 90, 500]))
    points = rng.uniform(0, 180, (40, 3)) * (1, 1, 0.3)
    normals = rng.normal(size=(40, 2))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    shape = rng.normal(size=(40, 2, 3))
    evidence = Evidence(points, camera.project(points), normals, np.ones(40), shape)
    values = rng.normal(size=14) * ([0.1] * 3 + [5.0] * 3 + [0.05, 4, 4, 0.01, 0.01, 0.01, 2, 2])

    def at(values: np.ndarray) -> np.ndarray:
        return np.asarray(points + np.einsum("nsi,s->ni", shape, values[12:]))

    measured = slopes(
        lambda v: evidence_errors_px(camera, v[:12], at(v), evidence), values, np.full(14, 1e-6)
    )
    exact = evidence_slopes(camera, values[:12], at(values), evidence)

    assert np.abs(measured - exact).max(axis=0) == pytest.approx(
        0, abs=1e-4 * np.abs(measured).max()
    )


def test_a_wrong_pose_told_as_good_is_counted() -> None:
    """The bench calls it misleading, unless it was doubted."""
    row = PoseRow("t", "c", with_lens=True, verdict="good: x", told_mm={"0": 0.2}, off_mm={"0": 9})
    doubted = PoseRow("t", "c", with_lens=True, verdict="DOUBTFUL, y", off_mm={"0": 9.0})

    assert row.misled
    assert not doubted.misled


def _seen_from_straight_above(*, with_sheet: bool) -> tuple[FoundPose, dict[str, float]]:
    """A row of cells on a sheet, or painted on a plain table, and how far its pose is off."""
    drawn = VirtualScene.from_seed(1, Kind.of(find_game("kwinty")), family="check", rig="two")
    true = drawn.cameras["overhead"]
    board = drawn.kind.board
    picture = Studio(drawn).empty()["overhead"].copy()
    if not with_sheet:
        near = np.zeros(picture.shape[:2], np.uint8)
        cv2.fillConvexPoly(near, true.project(board_corners(board, (12,) * 4)).astype(np.int32), 1)
        picture[near == 0] = np.median(picture[near == 1], axis=0)
    scene = replace(default_table(find_game("kwinty")).scene, board=board, markers=())
    lens = LensRecord(true.lens, "charuco", 0.1, "good", focal_error=0.001)

    found = find_pose(picture, scene, CameraPlace(name="overhead", source=None, clock=6), lens)
    return found, true_errors(found.camera, true, board)


@pytest.mark.slow
def test_a_row_of_cells_from_straight_above_may_lean_to_either_side() -> None:
    """Another place explains these cells as well, 44 mm away at a hand's height: that is told."""
    found, _ = _seen_from_straight_above(with_sheet=False)

    assert any("other side" in doubt for doubt in found.doubts)


@pytest.mark.slow
def test_the_edges_of_its_sheet_tell_how_a_row_of_cells_leans() -> None:
    """They run farther out than the cells; a line is printed along them, and no edge is it."""
    found, errors = _seen_from_straight_above(with_sheet=True)

    assert not found.doubts
    assert errors["100"] < 1.0


@pytest.mark.slow
def test_stacks_tell_a_focal_length_that_is_far_from_what_was_thought() -> None:
    """Their edges are looked for where other lenses would show them, too."""
    case = virtual_case(find_game("kwinty"), "two", "tune", 101)
    true, board = case.true["overhead"], case.scene.board
    wrong = with_lens(true, np.array([-0.24, 0, 0, 0, 0, 0]), board)
    view = StackView(wrong, LensDoubt.unknown(), case.coloured["overhead"], case.empty["overhead"])
    heights = {cell: case.stacks.height(cell) for cell in case.stacks}

    refined = refine_with_stacks({"overhead": view}, board, heights)["overhead"]

    assert true_errors(wrong, true, board)["100"] > 5.0
    assert true_errors(refined.camera, true, board)["100"] < 2.0


@pytest.fixture(scope="module")
def hollows() -> Case:
    """A CUBE table with one camera."""
    return virtual_case(find_game("cube"), "one", "tune", 101)


def test_pieces_in_hollows_tell_where_their_floor_lies(hollows: Case) -> None:
    """What was found is the rim: 2.5 mm above the floor, and a little aside."""
    case = hollows
    true, board = case.true["camera"], case.scene.board
    off = np.array([0.6, 0.4, 2.5])
    wrong = replace(true, translation_mm=true.translation_mm - true.rotation @ off)
    lens_known = LensDoubt.measured(0.002)
    heights = {cell: case.stacks.height(cell) for cell in case.stacks}
    view = StackView(wrong, lens_known, case.coloured["camera"], case.empty["camera"], hollow=True)

    refined = refine_with_stacks({"camera": view}, board, heights)["camera"]
    errors = true_errors(refined.camera, true, board)

    assert true_errors(wrong, true, board)["0"] > 2.0
    assert errors["0"] < min(1.0, refined.error_mm["0"])
    assert errors["100"] < min(2.0, refined.error_mm["100"])


def test_a_flat_board_stays_where_it_was_found(hollows: Case) -> None:
    """Pieces stand loosely on it: they tell of the lens, not of the board."""
    case = hollows
    true, board = case.true["camera"], case.scene.board
    wrong = replace(
        true, translation_mm=true.translation_mm - true.rotation @ np.array([0.6, 0.4, 2.5])
    )
    heights = {cell: case.stacks.height(cell) for cell in case.stacks}
    view = StackView(wrong, LensDoubt.unknown(), case.coloured["camera"], case.empty["camera"])

    refined = refine_with_stacks({"camera": view}, board, heights)["camera"]

    assert true_errors(refined.camera, wrong, board)["0"] < 0.6
