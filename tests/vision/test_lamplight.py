"""Where light comes from, the shadows that it casts, and what they tell of what stands."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from rules.lattice import Board, Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.likelihood import RayLooks
from vision.reader import Reader
from vision.second_look import Answer, SecondLookSettings, look_again
from vision.shadows import NORMALS, Heights
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

TOWERS = Stacks.of({"c4": "YBYB", "d6": "BY", "f3": "BYY", "f6": "Y"})
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
    return Table(reader, reader._look(studio.still(TOWERS, 3)))


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
