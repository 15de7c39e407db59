"""Where light comes from, the shadows that it casts, and what they tell of what stands."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from rules.cells import Cell
from rules.lattice import Board, Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.certainty import CertaintySettings, Doubts
from vision.likelihood import ImageBGR, RayLooks
from vision.position import Position
from vision.reader import Reader
from vision.second_look import Answer, SecondLookSettings, look_again
from vision.shadows import NORMALS, Heights
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

TOWERS = Stacks.of({"c4": "YBYB", "d6": "BY", "f3": "BYY", "f6": "Y"})
C4 = Cell.parse("c4")
TOP, LEFT, RIGHT = 0, 1, 2  # faces by what they look at
State = NDArray[np.int8]


class TestShadows:
    """One tower, 60 mm high, 20 mm wide, with light from the left at 45 degrees."""

    @pytest.fixture
    def heights(self) -> Heights:
        """The tower on a board of its own."""
        board = Board(Lattice(10, 10, 3, 20.0, (20.0, 20.0, 20.0)))
        return Heights(board, np.array([[80.0, 80, 0]]), np.array([[100.0, 100, 60]]))

    def fall(self, heights: Heights, x: float, z: float, face: int) -> float:
        """The light at a place in the middle of the tower's row."""
        towards = np.array([[-1.0, 0, 1]]) / math.sqrt(2)
        place = np.array([[x, 90.0, z]]) + 0.7 * NORMALS[face]
        return float(heights.fall(place, np.array([face]), towards)[0, 0])

    @pytest.mark.parametrize(("behind_mm", "light"), [(5, 0), (30, 0), (52, 0), (68, 1), (90, 1)])
    def test_a_shadow_is_as_long_as_the_tower_is_high(
        self, heights: Heights, behind_mm: float, light: float
    ) -> None:
        """At 45 degrees; beyond its end the board has all the light that falls on it."""
        expected = light * math.cos(math.radians(45))

        assert self.fall(heights, 100 + behind_mm, 0, TOP) == pytest.approx(expected, abs=0.01)

    def test_light_falls_on_what_looks_at_it(self, heights: Heights) -> None:
        """On the top and the face before the light, and on none behind."""
        lit = math.cos(math.radians(45))

        assert self.fall(heights, 90, 60, TOP) == pytest.approx(lit, abs=0.01)
        assert self.fall(heights, 80, 30, LEFT) == pytest.approx(lit, abs=0.01)
        assert self.fall(heights, 100, 30, RIGHT) == 0

    def test_what_stands_in_a_shadow_is_lit_where_it_rises_out_of_it(
        self, heights: Heights
    ) -> None:
        """20 mm behind the tower light passes 40 mm above the board."""
        assert self.fall(heights, 120, 30, LEFT) == 0
        assert self.fall(heights, 120, 50, LEFT) == pytest.approx(math.cos(math.radians(45)))


@dataclass(frozen=True)
class Table:
    """One virtual table with towers on it, and what its reader makes of its pictures."""

    reader: Reader
    pictures: dict[str, ImageBGR]
    looks: dict[str, RayLooks]

    def answer(self, state: State) -> Answer:
        """A position in the light that it implies."""
        return self.reader._in_its_light(state, self.looks)

    def towers(self, **instead: str) -> State:
        """The towers, with other stacks on some cells."""
        return self.reader._state(Stacks({**TOWERS, **Stacks.of(instead)}))


@pytest.fixture(scope="module")
def table() -> Table:
    """A KEWBZ table with two small cameras."""
    kind = Kind.of(find_game("kewbz"))
    scene = Scene.from_seed(2, kind, family="tune", rig="two", size=(640, 360))
    studio = Studio(scene)
    reader = reader_of(scene, studio)
    pictures = studio.still(TOWERS, 3)
    return Table(reader, pictures, reader._look(pictures))


class TestLamplight:
    """Light fitted to what stands explains the shadows of that, and of little else."""

    @pytest.mark.parametrize("cells", [{"c4": "YB"}, {"f3": "BYYYY"}, {"d3": "B"}, {"f3": "B"}])
    def test_the_truth_explains_shadows_best(self, table: Table, cells: dict[str, str]) -> None:
        """Lower, higher, more and fewer stacks would cast other shadows."""
        lamps = table.answer(table.towers()).lamps

        assert lamps.worth(table.towers(**cells)) < lamps.worth(table.towers()) - 5

    def test_light_explains_more_than_none(self, table: Table) -> None:
        """Shadows that are expected are no surprise any more."""
        assert table.answer(table.towers()).lamps.worth(table.towers()) > 5


class TestSecondLook:
    """Answers compared as wholes."""

    def test_neither_of_two_answers_is_ahead_of_both(self, table: Table) -> None:
        """What one is ahead the other one is behind, and the truth is ahead."""
        truth = table.answer(table.towers())
        other = table.answer(table.towers(f3="BYYY"))

        assert truth.ahead_of(other) == pytest.approx(-other.ahead_of(truth))
        assert truth.ahead_of(other) > 5

    def test_the_truth_is_found_among_likely_changes(self, table: Table) -> None:
        """From a wrong answer, with the lamps fitted to it."""
        wrong, truth = table.towers(d3="B"), table.towers()
        now = table.answer(wrong)
        options = [(now.position.differing(truth), 0.0)]
        others = look_again(now, options, table.answer, SecondLookSettings())

        assert [np.array_equal(other.state, truth) for _, other in others] == [True]
        assert others[0][0] > SecondLookSettings().enough

    def test_other_colours_are_not_for_light_to_decide(self, table: Table) -> None:
        """A change that leaves all heights as they are is not tried."""
        now = table.answer(table.towers())
        options = [(now.position.differing(table.towers(f6="B")), 0.0)]

        assert look_again(now, options, table.answer, SecondLookSettings()) == []


class TestAfterASecondLook:
    """What goes with another answer, once that was taken: here one with a lower tower."""

    @pytest.fixture(autouse=True)
    def _lower(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """The second look prefers a tower on c4 that is a unit lower, once."""
        others = [table.towers(c4="YBY")]

        def preferred(
            _: Answer, __: object, fitted: Callable[[State], Answer], ___: object
        ) -> list[tuple[float, Answer]]:
            return [(10.0, fitted(others.pop()))] if others else []

        monkeypatch.setattr("vision.reader.look_again", preferred)

    def test_the_next_reading_begins_with_its_colours(self, table: Table) -> None:
        """What is remembered was seen with the colours that are remembered."""
        reader = table.reader
        assert reader.read(table.pictures, patient=True).stacks[C4] == "YBY"
        assert reader._memory is not None

        remembered = reader._memory.position
        looks = {
            name: reader._looks[name].read(table.pictures[name], followed)
            for name, followed in reader._memory.followed.items()
        }
        again = Position(reader._evidence(looks), remembered.state[:-1])

        assert remembered.score == pytest.approx(again.score, abs=0.01)

    def test_rivals_are_weighed_in_its_light(self, table: Table) -> None:
        """Beside it others may be near that were hopeless beside the first answer."""
        told = Position(table.reader._evidence(table.looks), table.towers())
        doubts = Doubts(told, told.columns_gain(), CertaintySettings())
        column, other = C4.rank * 8 + C4.file, (2, 1, 2, 2)
        doubts.told_again(column, other, -1e5)

        now = table.reader._looked_again(told, doubts, table.looks, None)

        assert now is not None
        gain = now.answer.position.gain({column: np.array(other, dtype=np.int8)})
        found = {stack.tobytes(): g for c, stack, g in doubts.options() if c == column}
        assert now.decided == {column}
        assert found[np.array(other, dtype=np.int8).tobytes()] == pytest.approx(min(gain, 0.0))
