"""Weighing many scenes: what parts rule out is not weighed, and nothing else is lost."""

import math
from collections.abc import Mapping, Sequence

import pytest

from rules.cells import Cell
from rules.stacks import Stacks
from tests.vision.test_follow import BOARD, camera
from vision.play_area import PlayArea
from vision.weighing import Weighing

READ = Stacks.of({"a1": "B", "d4": "Y"})
EYES = {"overhead": camera(6, 80), "low": camera(6, 20)}
AREAS = {name: PlayArea.of(eye, BOARD) for name, eye in EYES.items()}
CELLS = [str(cell) for cell in BOARD.lattice.cells() if cell not in READ]


class Scales:
    """A reader that knows the log-odds of each changed cell, and of some scenes as a whole."""

    def __init__(self, worth: Mapping[str, float], whole: Mapping[Stacks, float]) -> None:
        self.worth = {Cell.parse(name): odd for name, odd in worth.items()}
        self.whole = whole
        self.asked: list[Stacks] = []

    def weigh(self, others: Sequence[Stacks]) -> list[float]:
        """The odds; what it was asked is remembered."""
        self.asked += others
        return [math.exp(self._log(other)) for other in others]

    def _log(self, other: Stacks) -> float:
        alone = sum(self.worth.get(cell, -40.0) for cell in READ.differing(other))
        return self.whole.get(other, alone)


def turns(cells: Sequence[str]) -> list[Stacks]:
    """One piece on each of two of these cells."""
    return [
        READ.with_stack(Cell.parse(one), "B").with_stack(Cell.parse(other), "Y")
        for one in cells
        for other in cells
        if one != other
    ]


def weighing(scales: Scales, *names: str) -> Weighing:
    """What weighs by some cameras' pictures."""
    return Weighing(scales, [AREAS[name] for name in names])  # type: ignore[arg-type]


def test_turns_that_their_parts_rule_out_are_not_weighed() -> None:
    """Of nearly two hundred turns only those are weighed of which no part is ruled out."""
    scales = Scales({"b3": -1.0, "d2": -1.0}, {})
    expected = turns(CELLS)

    odds = dict(zip(expected, weighing(scales, "overhead").odds(READ, expected), strict=True))

    good = [
        stacks
        for stacks in expected
        if not stacks.keys() - READ.keys() - {*map(Cell.parse, ("b3", "d2"))}
    ]
    assert [stacks for stacks, odd in odds.items() if odd] == good
    assert odds[good[0]] == pytest.approx(math.exp(-2.0))
    assert len(scales.asked) < len(expected) / 2


def test_what_another_change_makes_up_for_is_weighed_as_a_whole() -> None:
    """A piece that is gone where another one is seen now: only both together explain that."""
    moved = Stacks.of({"a2": "BB", "d4": "Y"})  # seen from low in front, in a1's place
    gone = Stacks.of({"c4": "BB", "d4": "Y"})  # which is seen elsewhere
    expected = [moved, gone, *turns(CELLS)]
    scales = Scales({"a1": -16.0, "a2": -5.0, "c4": -5.0}, {moved: 2.0, gone: 2.0})

    odds = weighing(scales, "low").odds(READ, expected)

    assert odds[:2] == [pytest.approx(math.exp(2.0)), 0.0]


def test_parts_tell_nothing_where_something_else_was_read() -> None:
    """If the pictures contradict what the parts are changes of, every scene is weighed."""
    scales = Scales({}, {READ: -90.0})
    expected = turns(CELLS)

    weighing(scales, "overhead").odds(READ, expected)

    assert {*expected} <= {*scales.asked}


def test_few_scenes_are_simply_weighed() -> None:
    """Where there are hardly more scenes than parts, nothing is gained by these."""
    scales = Scales({}, {})
    expected = turns(["b3", "d2", "c1"])

    weighing(scales, "overhead").odds(READ, expected)

    assert scales.asked == expected
