"""The pose from markers and from four corners: round trips with cameras that are known."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration import cv
from calibration.camera import Camera, Floats, Lens
from calibration.errors import CalibrationError, NotFound
from calibration.known_pose import corner_places_mm, from_corners, from_markers, parse_corners
from calibration.mat import mat_for
from calibration.pose import find_pose, lens_for
from calibration.pose_quality import expected_errors
from calibration.scene import CameraPlace, Scene
from calibration.store import LensRecord
from rules.lattice import Board
from rules.registry import find_game

SIZE = (1280, 720)
FOCAL = 1020.0
BENT = np.array([-0.06, 0.02, 0.001, -0.0005, 0.0])


def camera_over(board: Board, clock_deg: float = -60.0, high: float = 420.0) -> Camera:
    """A camera that looks at the board's middle from the side."""
    wide, deep, _ = board.lattice.size_mm
    middle = np.array([wide / 2, deep / 2, 20.0])
    angle = np.radians(clock_deg)
    place = middle + np.array([330 * np.cos(angle), 330 * np.sin(angle), high])
    ahead = (middle - place) / np.linalg.norm(middle - place)
    right = np.cross(ahead, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(ahead, right), ahead])
    matrix = np.array([[FOCAL, 0, 645.0], [0, FOCAL, 352.0], [0, 0, 1]])
    return Camera.of(Lens(SIZE, matrix, BENT), rotation, -rotation @ place)


def measured(camera: Camera) -> LensRecord:
    """The camera's own lens, as the lens board would give it."""
    return LensRecord(camera.lens, "charuco", 0.2, "good", focal_error=0.001)


def error_mm(found: Camera, true: Camera, board: Board, height: float) -> float:
    """How far off places at this height would be read, at worst."""
    wide, deep, _ = board.lattice.size_mm
    places = np.array([[x * wide, y * deep, height] for x in (0, 0.5, 1) for y in (0, 0.5, 1)])
    back = found.back_project(true.project(places), height)
    return float(np.linalg.norm(back[:, :2] - places[:, :2], axis=1).max())


def marker_picture(camera: Camera, board: Board, hide: int = 0) -> cv.Image:
    """A picture of the board's marker cards on a grey table, some of them left out."""
    picture = np.full((SIZE[1], SIZE[0], 3), 150, dtype=np.uint8)
    mat = mat_for(board, "a4")
    for marker in mat.markers[hide:]:
        x, y, size = *marker.corner_mm, marker.size_mm
        z = -4.0 if marker.z_mm == "auto" else float(marker.z_mm)
        pixels = 240
        drawn = cv2.aruco.generateImageMarker(cv.dictionary_of("DICT_4X4_50"), marker.id, pixels)
        card = cv2.copyMakeBorder(drawn, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=255)
        pad = size * 40 / pixels
        around = np.array(
            [[x - pad, y + size + pad, z], [x + size + pad, y + size + pad, z],
             [x + size + pad, y - pad, z], [x - pad, y - pad, z]]
        )  # fmt: skip
        flat = np.array([[0, 0], [320, 0], [320, 320], [0, 320]], dtype=np.float32) - 0.5
        to = cv2.getPerspectiveTransform(flat, camera.project(around).astype(np.float32))
        seen = cv2.warpPerspective(card, to, SIZE, flags=cv2.INTER_AREA)
        mask = cv2.warpPerspective(np.full_like(card, 255), to, SIZE)
        picture[mask > 128] = seen[mask > 128][:, None]
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.7), dtype=np.uint8)


@pytest.mark.parametrize("game", ["kewbz", "kwinty", "turris"])
@pytest.mark.parametrize("hide", [0, 2], ids=["all markers", "two markers"])
def test_markers_place_a_camera_with_a_measured_lens(game: str, hide: int) -> None:
    """Within a millimetre on the board and two above it; each game has its own markers."""
    board = find_game(game).board
    mat = mat_for(board, "a4")
    true = camera_over(board)
    scene = Scene(board, {}, mat.markers, {})

    found = find_pose(marker_picture(true, board, hide), scene, CameraPlace("side"), measured(true))

    assert found.method == "markers"
    limit = 1.0 if hide == 0 else 5.0  # the height of the cards is a guess
    assert error_mm(found.camera, true, board, 0.0) < limit
    assert error_mm(found.camera, true, board, 100.0) < 2 * limit


@pytest.mark.parametrize("game", ["kewbz", "qbq", "ksar", "cube", "turris"])
@pytest.mark.parametrize("clock_deg", [-90.0, -20.0, 130.0])
def test_four_corners_place_a_camera(game: str, clock_deg: float) -> None:
    """Corners known to a pixel give the board to two millimetres, and the stated error is honest."""
    board = find_game(game).board
    true = camera_over(board, clock_deg)
    rng = np.random.default_rng(3)
    corners = true.project(corner_places_mm(board)) + rng.normal(0, 0.5, (4, 2))

    found = find_pose(
        np.zeros((720, 1280, 3), np.uint8), Scene(board), CameraPlace("side"), measured(true),
        corners_px=corners,
    )  # fmt: skip

    assert found.method == "corners"
    assert error_mm(found.camera, true, board, 0.0) < 2.0
    assert error_mm(found.camera, true, board, 100.0) < found.error_mm["100"] + 1.0


@pytest.mark.parametrize("lens_known", [True, False])
@pytest.mark.parametrize("sheet", [True, False], ids=["the sheet", "the strip alone"])
def test_corners_of_a_sheet_or_of_its_strip_are_told_apart(sheet: bool, lens_known: bool) -> None:
    """A wall's corners may be those of its sheet, as asked for, or of the cells, as elsewhere."""
    cells = find_game("kwinty").board.lattice
    board = Board(cells, (26.0, 90.0, 26.0, 90.0))
    true = camera_over(board)
    shown = board if sheet else Board(cells)
    corners = true.project(corner_places_mm(shown)) + np.random.default_rng(4).normal(
        0, 0.3, (4, 2)
    )

    found = find_pose(
        np.zeros((720, 1280, 3), np.uint8), Scene(board), CameraPlace("front"),
        measured(true) if lens_known else None, corners_px=corners,
    )  # fmt: skip

    assert error_mm(found.camera, true, Board(cells), 0.0) < 4.0


@pytest.mark.parametrize(("hide", "told_mm"), [(0, 1.8), (1, 4.0)])
def test_markers_that_are_seen_too_small_are_known_to_be_larger(hide: int, told_mm: float) -> None:
    """In blur and glare white spreads over black squares; all of them shrink alike."""
    board = find_game("cube").board
    camera = camera_over(board)
    picture = cv2.dilate(marker_picture(camera, board, hide), np.ones((3, 3), np.uint8))
    markers = tuple(replace(marker, z_mm=-4.0) for marker in mat_for(board, "a4").markers)

    found = from_markers(np.asarray(picture, np.uint8), markers, *lens_for(SIZE, measured(camera)))

    told = expected_errors(found, board, (0.0, 100.0))
    assert error_mm(found.camera, camera, board, 0.0) < told["0"]
    assert error_mm(found.camera, camera, board, 100.0) < told["100"] < told_mm


def test_without_a_measured_lens_the_verdict_says_so() -> None:
    """Heights are uncertain then, and the words tell what makes them certain."""
    board = find_game("kewbz").board
    true = camera_over(board)
    corners = true.project(corner_places_mm(board))

    found = find_pose(
        np.zeros((720, 1280, 3), np.uint8), Scene(board), CameraPlace("side"), None,
        corners_px=corners,
    )  # fmt: skip

    assert error_mm(found.camera, true, board, 0.0) < 3.0
    assert found.lens_method == "assumed"
    assert found.error_mm["100"] > found.error_mm["0"]


def test_a_picture_without_markers_is_told() -> None:
    """Fewer than two markers are no pose."""
    board = find_game("kewbz").board
    mat = mat_for(board, "a4")
    lens, doubt = lens_for(SIZE, None)

    with pytest.raises(NotFound, match="fewer than two"):
        from_markers(np.zeros((720, 1280, 3), np.uint8), mat.markers, lens, doubt)


TWISTED: dict[str, Floats] = {
    "mirrored": np.array([[800.0, 500], [300, 500], [400, 250], [700, 250]]),
    "crossed": np.array([[300.0, 500], [700, 250], [800, 500], [400, 250]]),
    "one point": np.full((4, 2), 400.0),
}


@pytest.mark.parametrize("corners", TWISTED.values(), ids=TWISTED)
def test_impossible_corners_are_refused(corners: Floats) -> None:
    """Points that no board seen from above can show are told, not fitted."""
    board = find_game("kewbz").board
    lens, doubt = lens_for(SIZE, None)

    with pytest.raises(NotFound):
        from_corners(corners, board, lens, doubt)


@pytest.mark.parametrize("text", ["", "1,2,3", "a,b,c,d,e,f,g,h", "1,2,3,4,5,6,7,nan"])
def test_corners_that_are_no_numbers_are_told(text: str) -> None:
    """The message shows what to write."""
    with pytest.raises(CalibrationError, match="x,y"):
        parse_corners(text)


def test_a_board_of_a_few_pixels_is_no_pose() -> None:
    """Corners that nearly coincide are told, not stored with an error of metres."""
    board = find_game("kewbz").board
    corners = np.array([[400.0, 300], [402, 300], [401.5, 299], [400.5, 299]])

    with pytest.raises(NotFound, match="too small or too flat"):
        find_pose(
            np.zeros((720, 1280, 3), np.uint8), Scene(board), CameraPlace("side"), None,
            corners_px=corners,
        )  # fmt: skip
