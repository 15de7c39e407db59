"""Boards whose cells are found one by one: loud cloths, wide lenses, a row on a strip."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera, Floats
from calibration.cell_search import cell_lattices
from calibration.lattice_search import Found, Shape
from calibration.pose import find_pose
from calibration.rectify import lab_of
from calibration.scene import CameraPlace, Scene
from rules.registry import find_game
from service.bench.calibrate import true_errors
from service.table_folder import default_table
from tests.calibration.scenes import Box, Look, draw, grain, lines, look_at, plain

FRONT = CameraPlace(name="camera", source=None, clock=6)


def gingham(x: Floats, y: Floats) -> Floats:
    """Blue and white squares as large as cells, turned against the board."""
    u, v = (0.87 * x + 0.5 * y) / 24, (0.87 * y - 0.5 * x) / 24
    shade = ((np.floor(u) % 2 + np.floor(v) % 2) / 2)[..., None]
    return np.asarray(shade * [0.6, 0.62, 0.65] + (1 - shade) * [0.35, 0.16, 0.1])


def scene_of(game: str) -> Scene:
    """The game's usual table, seen by nobody yet."""
    return default_table(find_game(game)).scene


def faint_board(scene: Scene, margin: float) -> Box:
    """A wooden board with faint lines round its cells."""
    lattice = scene.board.lattice
    wide, deep, _ = lattice.size_mm
    counts = (lattice.columns, lattice.ranks)
    wood = grain(plain(0.4, 0.5, 0.55), 0.03)
    top = lines(wood, (0.30, 0.39, 0.44), lattice.pitch_mm, counts, 0.9)
    return Box(
        (-margin, -margin, -5.0), (wide + margin, deep + margin, 0.0), top, (0.3, 0.38, 0.42)
    )


def off_px(found: list[Found], camera: Camera, scene: Scene) -> float:
    """How far the best one's worst corner lies beside the board's."""
    wide, deep, _ = scene.board.lattice.size_mm
    true = camera.project(np.array([[0, 0, 0], [wide, 0, 0], [wide, deep, 0], [0, deep, 0.0]]))
    return min(
        float(np.abs(np.roll(camera.lens.distort(one.corners)[::way], k, axis=0) - true).max())
        for one in found
        for way in (1, -1)
        for k in range(4)
    )


@pytest.mark.parametrize(
    ("game", "cloth", "distortion", "focal"),
    [
        pytest.param("qbq", gingham, (0.0, 0, 0, 0, 0), 512.0, id="cloth with squares like cells"),
        pytest.param(
            "kewbz", grain(plain(0.28, 0.4, 0.5), 0.05, 3), (-0.3, 0.1, 0, 0, 0), 352.0, id="wide"
        ),
    ],
)
def test_faint_lines_are_found(
    game: str, cloth: object, distortion: tuple[float, ...], focal: float
) -> None:
    """Neither louder squares around the board nor bent lines lead elsewhere."""
    scene = scene_of(game)
    camera = look_at((640, 480), focal, (130, -170, 250), (85, 80, 0), distortion=distortion)
    assert callable(cloth)
    image = draw(camera, [faint_board(scene, 11.0)], -5.0, Look(table=cloth, noise=4.0))

    found = find_pose(image, scene, replace(FRONT, clock=5.7), None)

    assert not found.doubts
    assert true_errors(found.camera, camera, scene.board)["0"] < 1.0


def test_a_row_of_cells_is_found_whatever_its_sheet() -> None:
    """No outline is needed, and no long line: cells lie beside each other."""
    scene = scene_of("kwinty")
    camera = look_at((960, 540), 760, (120, -420, 190), (120, 20, 0))
    strip = faint_board(scene, 9.0)
    bright = lines(plain(0.7, 0.7, 0.7), (0.1, 0.1, 0.1), 27.0, (9, 1), 1.2)
    image = draw(camera, [replace(strip, top=bright)], -0.3, Look(table=gingham))
    lab = lab_of(image)
    wide, deep, _ = scene.board.lattice.size_mm

    found = cell_lattices(lab, (9, 1), Shape((wide, deep), camera.lens, lens_known=True))

    assert off_px(found[:1], camera, scene) < 9.0  # half of a cell, which a fit makes exact


def test_squares_of_a_cloth_are_no_board() -> None:
    """More cells than the board's that lie side by side lead to nothing."""
    camera = look_at((640, 480), 512, (130, -170, 250), (85, 80, 0))
    lab = lab_of(draw(camera, [], -5.0, Look(table=gingham)))

    found = cell_lattices(lab, (3, 3), Shape((81.0, 81.0), camera.lens, lens_known=True))

    assert not [one for one in found if one.score > 0.9]
