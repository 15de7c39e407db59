"""Errors that are told hold what no picture tells: a felt's cut, an unknown lens, sloppy stacks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.belief import Belief
from calibration.camera import Camera, Floats, Lens
from calibration.contour_search import with_straight_sides
from calibration.cv import rotation_of
from calibration.pose import find_pose
from calibration.pose_quality import HEIGHTS_MM, expected_errors
from calibration.solve import FOCAL_GUESS, Evidence, LensDoubt, SizePrior, Solution, solve
from calibration.store import Calibration, CameraRecord, LensRecord, read, write
from rules.lattice import Board
from rules.registry import find_game
from service.bench.calibrate import true_errors, virtual_case
from service.steadied import steadied

SIZE = (1280, 720)
CUT_MM = 1.1


def _over_a_felt(lens: Lens) -> tuple[Camera, Board]:
    """A camera nearly straight above the felt of a tower game."""
    board = find_game("turris").board
    wide, deep, _ = board.lattice.size_mm
    rotation = rotation_of(np.array([np.radians(172.0), 0.0, 0.0]))
    place = np.array([0.0, 0.0, 620.0]) - rotation @ np.array([wide / 2, deep / 2, 0.0])
    return Camera.of(lens, rotation, place), board


def _sides(board: Board, cut_mm: Floats) -> tuple[Floats, Floats, Floats]:
    """Places on a felt's sides where they were cut, where they should be, and how each moves."""
    wide, deep, _ = board.lattice.size_mm
    left, front, right, back = board.margin_mm
    low, high = np.array([-left, -front]), np.array([wide + right, deep + back])
    t = np.linspace(0.06, 0.94, 18)
    along = low + t[:, None] * (high - low)
    should, moves = [], []
    for k, (axis, edge) in enumerate(((0, low), (1, low), (0, high), (1, high))):
        spots = np.zeros((len(t), 3))
        spots[:, 1 - axis], spots[:, axis] = along[:, 1 - axis], edge[axis]
        move = np.zeros((len(t), 4, 3))
        move[:, k, axis] = 1.0
        should.append(spots)
        moves.append(move)
    points, shape = np.concatenate(should), np.concatenate(moves)
    return points + np.einsum("nsi,s->ni", shape, cut_mm), points, shape


def _fitted(true: Camera, board: Board, rng: np.random.Generator) -> Solution:
    """The camera by the sides of a felt that was cut by hand, through a lens nobody measured."""
    cut, points, shape = _sides(board, rng.normal(0, CUT_MM, 4))
    px = true.project(cut)
    count = len(points) // 4
    ends = px.reshape(4, count, 2)
    way = np.repeat(ends[:, -1] - ends[:, 0], count, axis=0)
    normals = np.stack([-way[:, 1], way[:, 0]], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    px = px + rng.normal(0, 0.05, px.shape)
    evidence = Evidence(points, px, normals, np.full(len(points), 0.35), shape)
    start, _ = _over_a_felt(Lens.simple(SIZE, FOCAL_GUESS * SIZE[0]))
    sizes = SizePrior(np.zeros(4), np.full(4, CUT_MM))
    return solve(start, evidence, LensDoubt.unknown(), trusted=start, sizes=sizes)


def test_errors_above_a_felt_are_told_as_large_as_they_are() -> None:
    """A felt that was cut otherwise fits another lens in another place than the one it fits."""
    rng = np.random.default_rng(5)
    width = SIZE[0]
    held = []
    for _ in range(40):
        lens = Lens.simple(SIZE, FOCAL_GUESS * width * np.exp(rng.normal(0, 0.15)))
        matrix = lens.matrix.copy()
        matrix[:2, 2] += rng.normal(0, 0.012 * width, 2)
        true, board = _over_a_felt(replace(lens, matrix=matrix))
        found = _fitted(true, board, rng)
        told = expected_errors(found, board, HEIGHTS_MM)
        off = true_errors(found.camera, true, board)
        held.append(off["100"] <= told["100"])

    assert np.mean(held) >= 0.9


def test_what_is_believed_of_a_camera_is_drawn_as_widely_as_it_is_believed() -> None:
    """Places that do not go with the lens are part of it, also where the lens is unknown."""
    true, board = _over_a_felt(Lens.simple(SIZE, FOCAL_GUESS * SIZE[0]))
    found = _fitted(true, board, np.random.default_rng(1))
    belief = Belief(found.camera, found.covariance, board)

    drawn = belief.drawn(np.random.default_rng(2), 300)
    far = [float((belief.unlikely(camera) ** 2).sum()) for camera in drawn]
    tilts = [np.arccos(np.clip((c.rotation @ found.camera.rotation.T)[2, 2], -1, 1)) for c in drawn]

    assert np.mean(far) == pytest.approx(12.0, rel=0.15)
    believed = np.sqrt(np.trace(found.covariance[:2, :2]))
    assert np.sqrt(np.mean(np.square(tilts))) == pytest.approx(believed, rel=0.2)


def test_a_lens_that_sits_askew_is_part_of_the_error() -> None:
    """Nobody fits p1 and p2 of a lens that was not measured: what they shift, the place explains."""
    straight = Lens.simple(SIZE, FOCAL_GUESS * SIZE[0])
    askew = replace(straight, distortion=np.array([0.0, 0, 0.0007, -0.0007, 0]))
    true, board = _over_a_felt(askew)
    wide, deep, _ = board.lattice.size_mm
    x, y = np.meshgrid(np.linspace(-60, wide + 60, 9), np.linspace(-60, deep + 60, 9))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    evidence = Evidence.of_points(points, true.project(points), 0.1)
    start, _ = _over_a_felt(straight)
    doubt = replace(LensDoubt.unknown(), focal=1e-6, centre=1e-6, first=1e-6, second=1e-6)

    def off(doubt: LensDoubt) -> float:
        found = solve(start, evidence, doubt, trusted=start)
        belief = Belief(found.camera, found.covariance, board)
        same_lens = replace(true, distortion=found.camera.distortion)
        place = belief.unlikely(replace(same_lens, matrix=found.camera.matrix))
        return float((place**2).sum())

    assert off(replace(doubt, skewed=0.0)) > 25
    assert off(doubt) < 12


def test_how_sure_a_pose_was_is_kept_with_it(tmp_path: Path) -> None:
    """The colour picture needs it, perhaps days later; a camera that was moved needs its own."""
    true, board = _over_a_felt(Lens.simple(SIZE, FOCAL_GUESS * SIZE[0]))
    found = _fitted(true, board, np.random.default_rng(1))
    record = CameraRecord(found.camera, "frame", 0.1, "good", covariance=found.covariance)

    write(tmp_path, Calibration(cameras={"side": record}))
    again = read(tmp_path).cameras["side"]

    assert again.covariance == pytest.approx(found.covariance, rel=1e-8)
    assert again.moved_to(true, until="", why="bumped").covariance is None


def test_corners_of_a_long_strip_lie_where_its_sides_meet() -> None:
    """A few pixels beside it, a corner of something so flat makes another shape of it."""
    true = np.array([[440.0, 515], [886, 483], [862, 430], [445, 459]])
    t = np.linspace(0.03, 0.97, 60)[:, None]
    sides = [true[k] * (1 - t) + true[(k + 1) % 4] * t for k in range(4)]
    rounded = np.round(np.concatenate(sides))
    rough = rounded[[0, 60, 120, 180]]

    assert np.abs(rough - true).max() > 5
    assert np.abs(with_straight_sides(rough, rounded) - true).max() < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("measured", [True, False])
def test_a_row_that_is_seen_flat_is_found_by_its_sheet(measured: bool) -> None:
    """Long and flat, it is a small part of the picture, and lines of its sheet lie side by side."""
    case = virtual_case(find_game("kwinty"), "one", "check", 1)
    true, board = case.true["front"], case.scene.board
    lens = LensRecord(true.lens, "charuco", 0.1, "good", focal_error=0.001) if measured else None

    found = find_pose(case.empty["front"], case.scene, case.scene.cameras["front"], lens)

    errors = true_errors(found.camera, true, board)
    assert not found.doubts
    assert all(errors[height] <= found.error_mm[height] for height in ("0", "100"))


@pytest.mark.slow
def test_stacks_on_a_felt_tell_the_lens_and_no_more_than_they_know() -> None:
    """Its sides do not hold the camera in its place so firmly that the stacks could not move it."""
    case = virtual_case(find_game("turris"), "two", "check", 1)
    board, calibration = case.scene.board, Calibration()
    for name, place in case.scene.cameras.items():
        found = find_pose(case.empty[name], case.scene, place, None)
        calibration = calibration.with_camera(name, found.record(date="", source=""))
    before = true_errors(calibration.camera("overhead"), case.true["overhead"], board)

    after, _ = steadied(calibration, case.coloured, case.empty, board, case.stacks)

    assert before["100"] > 4.0
    for name, record in after.cameras.items():
        errors = true_errors(record.camera, case.true[name], board)
        assert errors["100"] < 2.0
        assert all(errors[height] <= record.error_mm[height] for height in errors)
