"""Counting the cells of a board, and measuring them by a piece."""

from collections.abc import Sequence

import numpy as np
import pytest

from calibration.cell_count import CellCount, count_cells
from calibration.cv import Image
from calibration.grid_pose import Sight
from calibration.piece_size import measure_piece
from calibration.pose import lens_for
from calibration.rectify import lab_of
from rules.lattice import Board, Lattice
from tests.calibration import scenes

SIZE = (800, 600)
USUAL = Board(Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)))
LIGHT, DARK = (0.30, 0.50, 0.62), (0.06, 0.09, 0.13)


def picture(
    counts: tuple[int, int],
    at: Sequence[float],
    *,
    pitch: float = 22.0,
    base: Sequence[float] = LIGHT,
    line: Sequence[float] = DARK,
    edge: float | None = 20.0,
    stacked: int = 1,
) -> Image:
    """A ruled board, with blue cubes on its second file and rank unless `edge` is None."""
    wide, deep = counts[0] * pitch, counts[1] * pitch
    wood = scenes.grain(scenes.plain(*base), 0.05)
    top = scenes.lines(wood, line, pitch, counts, 1.4)
    board = scenes.Box((-14, -14, -5), (wide + 14, deep + 14, 0), top, (0.2, 0.3, 0.4))
    boxes = [board]
    if edge is not None:
        boxes += [
            scenes.cube(1.5 * pitch + 0.5, 1.5 * pitch, k * edge, edge, (0.45, 0.15, 0.05), 3)
            for k in range(stacked)
        ]
    middle = np.array([wide / 2, deep / 2, 0.0])
    far = max(wide, deep) / 176
    eye = (middle + far * np.array(at)).tolist()
    camera = scenes.look_at(SIZE, 0.9 * SIZE[0], eye, middle.tolist())
    return scenes.draw(camera, boxes, -5.0, scenes.Look())


def counted(image: Image) -> CellCount | None:
    """What is counted in a picture from the front, by somebody who knows nothing of the lens."""
    return count_cells(Sight(lab_of(image), *lens_for(SIZE, None), 6.0), USUAL)


BOARDS = [
    pytest.param((6, 6), (0, -40, 380), LIGHT, DARK, id="6x6 from above"),
    pytest.param((8, 8), (60, -250, 300), DARK, LIGHT, id="8x8 dark and oblique"),
    pytest.param((10, 10), (0, -220, 330), LIGHT, DARK, id="10x10"),
    pytest.param((7, 9), (-30, -200, 340), LIGHT, DARK, id="7 files, 9 ranks"),
]


@pytest.mark.parametrize(("counts", "at", "base", "line"), BOARDS)
def test_cells_are_counted_whatever_the_table_says(
    counts: tuple[int, int],
    at: Sequence[float],
    base: Sequence[float],
    line: Sequence[float],
) -> None:
    """Boards larger and smaller than the usual one are counted, and surely."""
    found = counted(picture(counts, at, base=base, line=line))

    assert found is not None
    assert found.counts == counts
    assert found.sure, found.doubts


def test_a_piece_tells_the_pitch() -> None:
    """A cube of 20 mm on cells of 25 mm is 0.8 of a cell wide, within 4 %."""
    image = picture((8, 8), (40, -230, 310), pitch=25.0)
    found = counted(image)
    assert found is not None

    piece = measure_piece(lab_of(image), found.camera, found.board)

    assert piece is not None
    assert str(piece.cell) == "b2"
    assert piece.share == pytest.approx(0.8, abs=0.032)
    assert not piece.doubts


def test_a_stack_of_two_is_no_large_piece() -> None:
    """Two cubes on each other may look like one that fills its cell: that is doubted."""
    image = picture((8, 8), (150, -220, 260), stacked=2)
    found = counted(image)
    assert found is not None

    piece = measure_piece(lab_of(image), found.camera, found.board)

    assert piece is not None
    assert [doubt for doubt in piece.doubts if "two on each other" in doubt]


def test_an_empty_board_has_no_piece() -> None:
    """Without a piece nothing is measured, and nothing invented."""
    image = picture((8, 8), (0, -150, 350), edge=None)
    found = counted(image)
    assert found is not None

    assert measure_piece(lab_of(image), found.camera, found.board) is None


@pytest.mark.slow
def test_a_board_that_leaves_the_picture_is_doubted() -> None:
    """Cells may go on beyond the edge of the picture: the count is not told as sure."""
    whole = picture((10, 10), (0, -60, 330), edge=None)
    part = np.asarray(whole[:, 250:].copy(), np.uint8)

    found = count_cells(
        Sight(lab_of(part), *lens_for((part.shape[1], part.shape[0]), None), 6.0), USUAL
    )

    assert found is None or not found.sure


@pytest.mark.slow
def test_bare_wood_has_no_cells() -> None:
    """Grain is no grid."""
    wood = scenes.grain(scenes.plain(*LIGHT), 0.15)
    board = scenes.Box((-14, -14, -5), (190, 190, 0), wood, (0.2, 0.3, 0.4))
    camera = scenes.look_at(SIZE, 700, (88, -150, 350), (88, 88, 0))

    found = counted(scenes.draw(camera, [board], -5.0, scenes.Look()))

    assert found is None or not found.sure
