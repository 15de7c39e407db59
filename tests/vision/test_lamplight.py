"""Where light comes from, the shadows that it casts, and what they tell of what stands."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rules.cells import Cell
from rules.lattice import Board, Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.certainty import CertaintySettings, Doubts
from vision.lamplight import Lamplight, LampSettings
from vision.likelihood import ImageBGR, RayLooks
from vision.position import Position
from vision.reader import Reader
from vision.second_look import Answer, SecondLookSettings, look_again
from vision.shadows import NORMALS, SKY, Floats, Heights, around, unit_vector
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


class TestAround:
    """Directions near the one from which a lamp seems to shine."""

    @pytest.mark.parametrize("lamp", [(0.0, 0, 1), (0.6, 0, 0.8), (0, -0.9, 0.43589)])
    def test_they_lie_in_two_rings(self, lamp: tuple[float, float, float]) -> None:
        """Six of them 5 degrees off, twelve 10 degrees, wherever the lamp is."""
        towards = around(np.array(lamp), 5.0)
        off = np.degrees(np.arccos(np.clip(towards @ lamp, -1, 1)))

        assert np.linalg.norm(towards, axis=1) == pytest.approx(1)
        assert np.sort(off) == pytest.approx([0, *6 * [5.0], *12 * [10.0]], abs=0.05)

    def test_no_light_comes_from_below(self) -> None:
        """Of the rings around a low sun only what is above the horizon is left."""
        low = unit_vector(np.array([1.0, 0, 0.1]))

        assert 1 < len(around(low, 5.0)) < 19
        assert (around(low, 5.0)[:, 2] > 0).all()
        assert around(-low, 1.0).shape == (0, 3)


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


def kewbz(seed: int) -> Scene:
    """A KEWBZ table with two small cameras."""
    kind = Kind.of(find_game("kewbz"))
    return Scene.from_seed(seed, kind, family="tune", rig="two", size=(640, 360))


def table_in(scene: Scene) -> Table:
    """The towers on this table."""
    studio = Studio(scene)
    reader = reader_of(scene, studio)
    pictures = studio.still(TOWERS, 3)
    return Table(reader, pictures, reader._look(pictures))


@pytest.fixture(scope="module")
def table() -> Table:
    """A table under three lamps."""
    return table_in(kewbz(2))


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


class TestOneLamp:
    """A lamp hangs where it hangs, and not in one of 81 directions."""

    def lit(self, table: Table, settings: LampSettings) -> tuple[Lamplight, float]:
        """The light of the truth by these settings, and how well it explains the truth."""
        own = table.reader.settings
        table.reader.settings = replace(own, lamps=settings)
        lamps = table.answer(table.towers()).lamps
        table.reader.settings = own
        return lamps, lamps.worth(table.towers())

    @pytest.mark.parametrize("seed", [1, 5])
    def test_it_is_looked_for_between_the_directions_of_the_sky(self, seed: int) -> None:
        """Its shadows are explained clearly better so."""
        table = table_in(kewbz(seed))
        (sky, by_sky), (finer, by_finer) = (
            self.lit(table, settings) for settings in (LampSettings(finer=()), LampSettings())
        )

        assert not self.between(sky)
        assert self.between(finer)
        assert by_finer > by_sky + 50

    def test_most_light_comes_from_about_where_it_hangs(self) -> None:
        """Of what falls on tops and on the board; the sky has no direction very near to it."""
        scene = kewbz(1)
        (lamp,) = scene.room.lamps
        table = table_in(scene)
        sky, finer = (
            self.share(self.lit(table, settings)[0], unit_vector(np.array(lamp.at_mm)))
            for settings in (LampSettings(finer=()), LampSettings())
        )

        assert sky < 0.3
        assert finer > 0.5

    def between(self, lamps: Lamplight) -> int:
        """How many of its directions are none of the sky's."""
        nearest = (lamps.towards @ SKY.towards.T).max(axis=1)
        return int((nearest < math.cos(math.radians(0.5))).sum())

    def share(self, lamps: Lamplight, lamp: Floats) -> float:
        """The part of the light on what looks up that comes from within 10 degrees of a lamp."""
        light = np.sum([own[TOP].light for own in lamps._lit], axis=0)
        return float(light[lamps.towards @ lamp > math.cos(math.radians(10))].sum() / light.sum())

    def test_without_a_lamp_the_sky_is_all(self, table: Table) -> None:
        """Where no direction gives much of the light there is nothing to look at more closely."""
        lamps, worth = self.lit(table, LampSettings(lamp=math.inf))

        assert not self.between(lamps)
        assert math.isfinite(worth)


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

    @pytest.mark.parametrize(("behind", "most"), [(0.02, False), (0.5, True)])
    def test_what_loses_in_this_light_must_win_by_more_in_its_own(
        self, table: Table, behind: float, most: bool
    ) -> None:
        """By a part of what it loses, for whatever is fitted gains; by no more than is enough."""
        now, other = table.answer(table.towers()), table.towers(f3="BYYY")
        settings = SecondLookSettings(near=math.inf, behind=behind)
        options = [(now.position.differing(other), 0.0)]
        ((firmly, answer),) = look_again(now, options, table.answer, settings)
        lost = now.worth(now.state) - now.worth(other)

        assert lost > 100
        more = settings.enough if most else behind * lost
        assert answer.ahead_of(now) - firmly == pytest.approx(more)

    def test_what_wins_in_this_light_need_not_win_by_more(self, table: Table) -> None:
        """The truth is ahead in the light of a wrong answer, too."""
        now, truth = table.answer(table.towers(f3="BYYY")), table.towers()
        options = [(now.position.differing(truth), 0.0)]
        ((firmly, answer),) = look_again(now, options, table.answer, SecondLookSettings())

        assert now.worth(truth) > now.worth(now.state)
        assert firmly == pytest.approx(answer.ahead_of(now))

    def test_lamps_are_looked_for_where_what_was_read_has_found_them(
        self, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So no answer is ahead because its lamps were looked for more closely."""
        seen: list[Floats] = []

        def compared(
            now: Answer, _: object, fitted: Callable[[State], Answer], __: object
        ) -> list[tuple[float, Answer]]:
            seen.extend([now.lamps.towards, fitted(table.towers(c4="YBY")).lamps.towards])
            return []

        monkeypatch.setattr("vision.reader.look_again", compared)
        table.reader.read(table.pictures, patient=True)

        assert len(seen[0]) > len(SKY.towards)
        assert seen[1] is seen[0]

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
