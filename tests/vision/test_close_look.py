"""What all pixels of a small part of a picture tell, where sample rays see only a sliver."""

import numpy as np
import pytest

from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.close_look import CloseLook, CloseSettings, CloseView
from vision.drawing import Drawn
from vision.likelihood import Followed
from vision.patch import Boxes, Faces, Patch
from vision.reader import Reader
from vision.virtual.placing import Sloppiness
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Pictures, Studio

CAREFUL = Sloppiness(shift_mm=0.6, twist_deg=2.0, level_mm=0.3, leaning=0.0)
# The lowest unit of d5 is seen over the top of d4, a few rows of pixels high.
BEFORE_IT = {"c5": "B", "d4": "B", "e5": "YY", "d6": "Y"}


def _state(reader: Reader, stacks: Stacks) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    lattice = reader.lattice
    state = np.zeros((lattice.ranks * lattice.columns, lattice.levels), dtype=np.int8)
    for cell, stack in stacks.items():
        column = cell.rank * lattice.columns + cell.file
        state[column, : len(stack)] = [reader.letters.index(letter) + 1 for letter in stack]
    return state.ravel()


def _close_look(reader: Reader, pictures: Pictures) -> CloseLook:
    unmoved = np.zeros((reader.lattice.ranks * reader.lattice.columns * reader.lattice.levels, 2))
    light = np.zeros(3, dtype=np.float32)
    return CloseLook(
        reader.lattice,
        [
            CloseView(eye.camera, pictures[name], eye.empty, Followed(eye.colours), light, unmoved)
            for name, eye in reader.cameras.items()
            if eye.empty is not None
        ],
    )


@pytest.fixture(scope="module")
def studio() -> Studio:
    """A table with an overhead and a side camera."""
    return Studio(Scene.from_seed(2, Kind.of(find_game("kewbz")), family="tune", rig="two"))


@pytest.fixture(scope="module")
def reader(studio: Studio) -> Reader:
    """A reader that is calibrated for it."""
    return reader_of(studio.scene, studio)


@pytest.mark.parametrize("lowest", ["B", "Y"])
def test_a_few_rows_of_pixels_tell_a_lowest_unit(
    studio: Studio, reader: Reader, lowest: str
) -> None:
    """The colour that stands there explains all pixels around better than the other one."""
    other = {"B": "Y", "Y": "B"}[lowest]
    real = Stacks.of({**BEFORE_IT, "d5": f"{lowest}YB"})
    wrong = Stacks.of({**BEFORE_IT, "d5": f"{other}YB"})
    pictures = studio.still(real, 5, sloppy=CAREFUL)
    close = _close_look(reader, pictures)
    gain = close.gain(_state(reader, wrong), _state(reader, real), by_rays=0.0)
    loss = close.gain(_state(reader, real), _state(reader, wrong), by_rays=0.0)

    assert gain is not None
    assert loss is not None
    assert gain > 2.0
    assert loss == pytest.approx(-gain)


@pytest.mark.parametrize(
    ("instead", "counted"), [({"d4": "YYB"}, CloseSettings().rays), ({"d4": "BYBB"}, 1.0)]
)
def test_rays_count_in_full_only_where_heights_differ(
    studio: Studio, reader: Reader, instead: dict[str, str], counted: float
) -> None:
    """Before colours are asked about, pieces were moved until they fitted what rays had told."""
    real = Stacks.of({"d4": "BYB"})
    close = _close_look(reader, studio.still(real, 5, sloppy=CAREFUL))
    states = _state(reader, real), _state(reader, Stacks.of(instead))
    none, some = (close.gain(*states, by_rays=by_rays) for by_rays in (0.0, -8.0))

    assert none is not None
    assert some is not None
    assert some - none == pytest.approx(-8.0 * counted)


def test_what_no_camera_sees_tells_nothing(studio: Studio, reader: Reader) -> None:
    """Of a unit in the middle of others no pixel can speak, and none is said to."""
    around = dict.fromkeys(("c3", "c4", "c5", "d3", "d5", "e3", "e4", "e5"), "YYYYY")
    real, wrong = (Stacks.of({**around, "d4": f"{lowest}BBBB"}) for lowest in "BY")
    pictures = studio.still(real, 6, sloppy=CAREFUL)
    close = _close_look(reader, pictures)
    gain = close.gain(_state(reader, real), _state(reader, wrong), by_rays=5.0)

    assert gain is None


def test_what_moves_is_drawn_as_if_all_were_drawn(studio: Studio, reader: Reader) -> None:
    """A box that is pushed and drawn by itself leaves the picture that drawing all of it gives."""
    real = Stacks.of({**BEFORE_IT, "d5": "BYB"})
    pictures = studio.still(real, 5, sloppy=CAREFUL)
    state = _state(reader, real)
    eye, board = reader.cameras["side"], reader.lattice
    assert eye.empty is not None
    still = np.zeros((len(state), 2)), np.zeros(3, dtype=np.float32)
    view = CloseView(
        eye.camera, pictures["side"], eye.empty, Followed(eye.colours), still[1], still[0]
    )
    boxes = Boxes(view, board)
    units = np.flatnonzero(state)
    corners = boxes.corners(units).reshape(-1, 2)
    low, high = corners.min(axis=0).astype(int) - 9, corners.max(axis=0).astype(int) + 9
    patch = Patch(Faces(view, board), boxes, low, high, units)
    patch.noise = 8.0
    drawn = Drawn(patch, state, {}, CloseSettings())
    first = drawn.score
    unit = int(units[2])
    held = drawn.hold([unit], {})
    assert held is not None

    for off in ((0.5, 0.0), (3.5, -3.5), (0.0, 0.0)):  # a little, as far as may be, and back
        pushed = drawn.moved(held, {unit: off})
        assert pushed is not None
        drawn.take(pushed)
        shown = patch.laid(patch.there(state), {unit: off})[1]

        assert np.array_equal(drawn.shown, shown)
        assert drawn.score == pytest.approx(pushed.score)
    assert drawn.score == pytest.approx(first, abs=1e-3)


def test_patience_tells_a_letter_where_little_is_seen(studio: Studio, reader: Reader) -> None:
    """With patience a sliver has its likeliest colour, with its doubt, and no question mark."""
    real = Stacks.of({**BEFORE_IT, "d5": "YYB"})
    pictures = studio.still(real, 5, sloppy=CAREFUL)

    assert reader.read(pictures, patient=True).stacks == real
