"""Stacks moved along the line of sight: to one camera they look much alike."""

import numpy as np
import pytest

from rules.cells import Cell
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.position import Position
from vision.reader import Reader
from vision.search import slide
from vision.virtual.placing import Sloppiness
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

CAREFUL = Sloppiness(shift_mm=0.3, twist_deg=1.0, level_mm=0.1, leaning=0.0)


@pytest.fixture(scope="module")
def studio() -> Studio:
    """A KEWBZ table with one small camera."""
    kind = Kind.of(find_game("kewbz"))
    return Studio(Scene.from_seed(3, kind, family="tune", rig="one", size=(640, 360)))


@pytest.fixture(scope="module")
def reader(studio: Studio) -> Reader:
    """A reader that is calibrated for it."""
    return reader_of(studio.scene, studio)


@pytest.mark.parametrize(
    ("stands", "read"),
    [
        ({"near": "B", "far": "BBB"}, {"near": "BBBB"}),
        ({"near": "YY", "far": "YYY"}, {"near": "YYYY"}),
        ({"near": "BYYY"}, {"near": "B", "far": "YYY"}),
        ({"near": "YBBB", "far": "Y"}, {"near": "YB", "far": "YBB"}),
    ],
)
def test_one_tower_or_two_behind_each_other(
    studio: Studio, reader: Reader, stands: dict[str, str], read: dict[str, str]
) -> None:
    """What looks like one tower may be a low stack before another one, and the other way round."""
    ((_name, eye),) = reader.cameras.items()
    origin = eye.camera.position_mm
    near, far = _in_line(reader, origin)
    cells = {"near": near, "far": far}
    truth, wrong = (Stacks({cells[c]: s for c, s in own.items()}) for own in (stands, read))
    looks = reader._look(studio.still(truth, 5, sloppy=CAREFUL))
    position = Position(reader._evidence(looks), reader._state(wrong))

    rivals = slide(position, origin)

    wide, levels = reader.lattice.columns, reader.lattice.levels
    now = position.state[:-1].reshape(-1, levels)
    right = reader._state(truth).reshape(-1, levels)
    for cell in (near, far):
        column = cell.rank * wide + cell.file
        stack = tuple(right[column][right[column] > 0].tolist())
        assert np.array_equal(now[column], right[column]) or stack in rivals[column]


def _in_line(
    reader: Reader, origin: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> list[Cell]:
    """Two cells beside each other, the nearer one first, as nearly as can be in line."""
    lattice = reader.lattice
    cell = Cell(lattice.columns // 2, lattice.ranks // 2)
    away = np.array(lattice.centre_mm(cell)) - origin[:2]
    step = np.rint(away / np.abs(away).max()).astype(int)
    return [cell, Cell(cell.file + int(step[0]), cell.rank + int(step[1]))]
