"""What was known completes a reading."""

import pytest

from rules.cells import Cell
from rules.stacks import Stacks
from vision.reading import Reading
from vision.remembering import Known, respelled

CELL = Cell.parse("d4")


@pytest.mark.parametrize(
    ("before", "choices"),
    [
        ("B", {"?Y": 0.6, "?B": 0.4}),  # what nobody can see now was seen before
        ("BYB", {"YB": 0.6, "YY": 0.4}),  # a buried unit keeps its colour
    ],
)
def test_what_is_told_is_among_what_may_be(before: str, choices: dict[str, float]) -> None:
    """A cell that is unsure says what else may stand there, not what was told with other words."""
    known = Known(Stacks({CELL: before}), None, (), (1,))
    read = Reading(Stacks({CELL: next(iter(choices))}), {CELL: choices})

    scene = known.scene(0.0, read, frozenset())

    assert scene.stacks[CELL] == "BB"
    assert scene.unsure[CELL]["BB"] == max(scene.unsure[CELL].values())


def test_chances_of_the_same_stack_are_added() -> None:
    """What was read may be told as something that was possible as well."""
    assert respelled({"?B": 0.5, "BB": 0.2, "B": 0.3}, "?B", "BB") == {"BB": 0.7, "B": 0.3}
