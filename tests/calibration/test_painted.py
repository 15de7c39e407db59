"""Painted cells are no pieces, and pieces on the same cells are no paint."""

from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Floats
from calibration.cv import Image
from calibration.painted import without_painted
from rules.cells import Cell
from rules.lattice import Lattice
from tests.calibration.scenes import Box, Look, Paint, cells, cube, draw, lines, look_at, plain

PITCH = 36.0
QBQ = Lattice(6, 6, 6, PITCH, (PITCH, PITCH, PITCH))
CORNERS = (Cell(0, 0), Cell(5, 0), Cell(0, 5), Cell(5, 5))
RED, WOOD = (0.05, 0.06, 0.5), (0.25, 0.42, 0.6)
CAMERAS = {
    "side": look_at((960, 540), 850, (108, -330, 380), (108, 108, 0)),
    "overhead": look_at((960, 540), 850, (130, 90, 620), (112, 105, 0), up=(0, 1, 0)),
}


def _board(painted: Sequence[Cell]) -> Box:
    wood: Paint = plain(*WOOD)

    def colour(i: Floats, j: Floats) -> Floats:
        red = np.zeros(i.shape, dtype=bool)
        for cell in painted:
            red |= (i == cell.file) & (j == cell.rank)
        return np.where(red[..., None], np.array(RED), np.array(WOOD))

    tiles = cells(wood, colour, PITCH, (6, 6), 0.0)
    paint = lines(tiles, (0.05, 0.05, 0.05), PITCH, (6, 6), 1.0)
    return Box((-12, -12, -5), (228, 228, 0), paint, WOOD)


def _lab(camera: Camera, painted: Sequence[Cell], pieces: Sequence[Cell]) -> np.ndarray:
    on = [cube((c.file + 0.5) * PITCH, (c.rank + 0.5) * PITCH, 0, PITCH, RED) for c in pieces]
    shown: Image = draw(camera, [_board(painted), *on], -5.0, Look())
    return cv2.cvtColor(shown, cv2.COLOR_BGR2LAB).astype(np.float32)


@pytest.mark.parametrize("name", CAMERAS)
def test_painted_corners_are_no_pieces(name: str) -> None:
    """Houses in the players' colours lie flat; nearly below the camera one may be left over.

    A single cell that looks unlike the others is not told as a piece.
    """
    camera = CAMERAS[name]
    left = without_painted(CORNERS, camera, _lab(camera, CORNERS, ()), QBQ)
    assert len(left) <= (1 if name == "overhead" else 0)


@pytest.mark.parametrize("name", CAMERAS)
def test_pieces_in_the_corners_are_no_paint(name: str) -> None:
    """Cubes of the same colours on the same cells, painted or not, are seen beyond them."""
    camera = CAMERAS[name]
    for painted in ((), CORNERS):
        left = without_painted(CORNERS, camera, _lab(camera, painted, CORNERS), QBQ)
        assert len(left) >= 3, (painted, left)


def test_pieces_right_below_a_camera_are_no_paint() -> None:
    """There they hide nothing beside them: what cannot be told from paint is left."""
    camera = look_at((960, 540), 1500, (108, 108, 1000), (108, 108, 0), up=(0, 1, 0))
    pieces = (Cell(2, 2), Cell(5, 0), Cell(1, 4), Cell(4, 3))
    assert without_painted(pieces, camera, _lab(camera, (), pieces), QBQ) == pieces


def test_a_single_piece_among_painted_cells_is_left() -> None:
    """Where one cube stands, that cell alone is told."""
    camera = CAMERAS["side"]
    assert without_painted(CORNERS, camera, _lab(camera, CORNERS, CORNERS[:1]), QBQ) == CORNERS[:1]
