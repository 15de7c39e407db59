"""Boards that are found by what all their cells show alike, where hardly any border is seen."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Floats
from calibration.cell_look import CellLook, fit_looks
from calibration.cv import Image
from calibration.grid_pose import Sight
from calibration.look_pose import is_board
from calibration.pose import FoundPose, find_pose, lens_for
from calibration.rectify import lab_of
from calibration.scene import CameraPlace, Scene
from calibration.segments import find_segments
from rules.lattice import Board
from rules.registry import find_game
from service.bench.calibrate import true_errors
from service.table_folder import default_table
from tests.calibration.scenes import Box, Look, Paint, draw, lines, look_at, plain

SIZE = (960, 540)
FRONT = CameraPlace(name="camera", source=None, clock=6)
GREY = (0.3, 0.32, 0.33)
INKS = np.array([[0.05, 0.25, 0.05], [0.35, 0.1, 0.05], [0.05, 0.05, 0.45], [0.05, 0.25, 0.7]])


def scene_of(game: str) -> Scene:
    """The game's usual table, seen by nobody yet."""
    return default_table(find_game(game)).scene


def stone(x: Floats, y: Floats) -> Floats:
    """Grains of some millimetres, lighter and darker, all over the table."""
    noise = np.random.default_rng(5).normal(size=(256, 256)).astype(np.float32)
    noise = np.asarray(cv2.GaussianBlur(noise, (0, 0), 1.0), np.float32)
    noise /= noise.std()
    at = noise[np.floor(y / 1.5).astype(int) % 256, np.floor(x / 1.5).astype(int) % 256]
    return np.asarray(np.array([0.2, 0.22, 0.27]) * (1 + 0.25 * at[..., None]))


def dotted(pitch: float, counts: tuple[int, int]) -> Paint:
    """A dot of one of four colours in the middle of each cell, very faint lines between them."""
    base = lines(plain(*GREY), tuple(0.8 * c for c in GREY), pitch, counts, 0.5)

    def drawn(x: Floats, y: Floats) -> Floats:
        i, j = np.floor(x / pitch).astype(int), np.floor(y / pitch).astype(int)
        on = (i >= 0) & (i < counts[0]) & (j >= 0) & (j < counts[1])
        on &= np.hypot(x - (i + 0.5) * pitch, y - (j + 0.5) * pitch) < 0.18 * pitch
        ink = INKS[2 * (i >= counts[0] / 2).astype(int) + (j >= counts[1] / 2)]
        return np.where(on[..., None], ink, base(x, y))

    return drawn


def dotted_board(board: Board, counts: tuple[int, int]) -> Box:
    """A board with the told margins around so many cells."""
    pitch = board.lattice.pitch_mm
    left, front, right, back = board.margin_mm
    high = (counts[0] * pitch + right, counts[1] * pitch + back, 0.0)
    return Box((-left, -front, -5), high, dotted(pitch, counts), GREY)


def hollowed(board: Board, deep: float) -> list[Box]:
    """A white board with walls between its cells, whose floor is where pieces stand."""
    wide, long, _ = board.lattice.size_mm
    pitch, white = board.lattice.pitch_mm, (0.55, 0.58, 0.6)
    edge = board.margin_mm[0]
    paint = plain(*white)
    boxes = [Box((-edge, -edge, -10), (wide + edge, long + edge, 0), paint, white)]
    for k in range(board.lattice.columns + 1):
        low = -edge if k == 0 else k * pitch - 1
        high = wide + edge if k == board.lattice.columns else k * pitch + 1
        boxes.append(Box((low, -edge, 0), (high, long + edge, deep), paint, white))
        boxes.append(Box((-edge, low, 0), (wide + edge, high, deep), paint, white))
    return boxes


def flowers(x: Floats, y: Floats) -> Floats:
    """White cloth with dark flowers."""
    u, v = np.mod(x + 0.3 * y, 47) - 23, np.mod(y - 0.2 * x, 41) - 20
    on = (np.hypot(u - 6, v) < 4) | (np.hypot(u + 4, v - 5) < 3) | (np.hypot(u + 3, v + 5) < 3)
    return np.where(on[..., None], np.array([0.08, 0.08, 0.08]), np.array([0.53, 0.56, 0.58]))


def dots_camera() -> Camera:
    """A camera in front of a board of QBQ's size."""
    return look_at(SIZE, 760, (60, -210, 380), (100, 95, 0))


def on_stone(box: Box, camera: Camera) -> Image:
    """A box on a table of stone, in the sun."""
    return draw(camera, [box], -5.0, Look(table=stone, sun=(0.3, -0.4, 1.5)))


def found_in(image: Image, scene: Scene) -> FoundPose:
    """The pose without markers and without lens pictures."""
    return find_pose(image, scene, FRONT, None)


def looked_at(image: Image, camera: Camera, board: Board) -> CellLook | None:
    """The fit to what the cells have in common, from nearly half a cell beside the true place."""
    lens, doubt = lens_for(SIZE, None)
    aside = camera.translation_mm + camera.rotation @ np.array([9.0, 12.0, 0.0])
    sight = Sight(lab_of(image), lens, doubt, 6)
    return fit_looks(replace(camera, translation_mm=aside), sight, board)


def test_a_board_with_dots_and_hardly_any_lines_is_found_on_stone() -> None:
    """Every dot lies in the middle of its cell; grains of the table are louder than the lines."""
    scene = scene_of("qbq")
    camera = dots_camera()

    found = found_in(on_stone(dotted_board(scene.board, (6, 6)), camera), scene)

    errors = true_errors(found.camera, camera, scene.board)
    assert not found.doubts
    assert errors["0"] < min(2.0, found.error_mm["0"])


def test_a_board_whose_walls_throw_shadows_to_one_side_is_found_in_the_dark() -> None:
    """Bars along one axis and thin bright lines along the other look nothing like each other."""
    scene = scene_of("cube")
    board = replace(scene.board, recess_mm=2.4)
    camera = look_at(SIZE, 850, (60, -40, 400), (65, 70, 0))
    look = Look(table=flowers, sun=(0.15, 1.0, 0.6), ambient=0.35, gain=0.25, noise=1.5)
    image = draw(camera, hollowed(board, 2.4), -10.0, look)

    found = found_in(image, replace(scene, board=board))

    errors = true_errors(found.camera, camera, board)
    assert not found.doubts
    assert errors["0"] < min(2.0, found.error_mm["0"])


@pytest.mark.parametrize("sun", [(-1.9, -1.1, 1.0), (-0.9, 2.2, 1.0)])
def test_shadows_of_a_low_lamp_do_not_shift_hollows(sun: tuple[float, float, float]) -> None:
    """Each hollow has a band of shadow along two walls; the walls across are hardly seen."""
    scene = scene_of("cube")
    board = replace(scene.board, recess_mm=2.0)
    camera = look_at(SIZE, 760, (75, -40, 420), (65, 70, 0))
    look = Look(table=flowers, sun=sun, ambient=0.35, gain=0.7, noise=1.5)
    image = draw(camera, hollowed(board, 2.0), -10.0, look)

    found = found_in(image, replace(scene, board=board))

    errors = true_errors(found.camera, camera, board)
    assert not found.doubts
    assert errors["0"] < min(1.5, found.error_mm["0"])


@pytest.mark.parametrize("counts", [(7, 6), (6, 8), (5, 6), (12, 12)])
def test_more_or_fewer_cells_than_told_are_not_the_board(counts: tuple[int, int]) -> None:
    """Rows of dots that go on, that end too early, or four dots where one cell should be."""
    board = scene_of("qbq").board
    camera = dots_camera()
    other = board
    if counts == (12, 12):
        half = replace(board.lattice, pitch_mm=13.5, columns=12, ranks=12)
        other = replace(board, lattice=half)
    box = dotted_board(other, counts)

    look = looked_at(on_stone(box, camera), camera, board)

    assert look is None or not is_board(look)


def test_what_has_the_size_of_the_board_but_no_cells_is_not_the_board() -> None:
    """A stone plate has grains in all its places, but never the same ones."""
    board = scene_of("qbq").board
    plate = replace(dotted_board(board, (6, 6)), top=stone)
    camera = dots_camera()
    image = draw(camera, [plate], -5.0, Look(table=plain(0.2, 0.3, 0.4)))

    look = looked_at(image, camera, board)

    assert look is None or not is_board(look)


def test_where_a_look_begins_tells_a_place_half_a_cell_aside() -> None:
    """Cells look alike from there, too: only the first and the last dots tell."""
    board = scene_of("qbq").board
    camera = dots_camera()

    look = looked_at(on_stone(dotted_board(board, (6, 6)), camera), camera, board)

    assert look is not None
    assert is_board(look)
    assert true_errors(look.solution.camera, camera, board)["0"] < 1.5


def test_lines_of_a_dim_picture_are_seen_like_those_of_a_light_one() -> None:
    """The detector of lines asks for so many grey levels, whatever the light."""
    scene = scene_of("qbq")
    camera = dots_camera()
    lab = lab_of(on_stone(dotted_board(scene.board, (6, 6)), camera))
    lens, _ = lens_for(SIZE, None)

    dim = find_segments(np.asarray(0.4 * lab, np.float32), lens)

    assert len(dim.px) > 0.8 * len(find_segments(lab, lens).px)
