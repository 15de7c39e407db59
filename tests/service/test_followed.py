"""Counting what was told of a game against what happened."""

from typing import Any

from rules.events import Event
from service.bench.followed import compare


def turn(t: float, n: int, player: str, legal: bool = True, **cells: str) -> Event:
    """A turn event with its position."""
    data: dict[str, Any] = {
        "n": n, "player": player, "move": f"+{n}", "legal": legal, "breaks": [], "final": True,
        "score": {}, "stacks": cells,
    }  # fmt: skip
    return Event("turn", t, data)


TRUTH = [
    turn(1, 1, "B", a1="B"),
    turn(5, 2, "Y", legal=False, a1="B", c3="Y"),
    Event("taken-back", 7, {"n": 2}),
    turn(9, 3, "Y", a1="B", b1="Y"),
]


def test_a_game_told_as_it_happened_is_without_mistake() -> None:
    """Everything is right, and the delay is counted from when cameras could see it."""
    told = [Event(e.event, e.t + 0.4, e.data) for e in TRUTH]

    found = compare("x", TRUTH, told, late_s=0.1)

    assert (found.turns, found.right, found.invented, found.whole) == (3, 3, 0, 1)
    assert (found.illegal, found.flagged, found.false_flags) == (1, 1, 0)
    assert (found.fates, found.fates_right) == (1, 1)
    assert [round(s, 3) for s in found.verdicts_s] == [0.3, 0.3, 0.3]


def test_a_missed_and_an_invented_turn_are_two_mistakes() -> None:
    """A turn with another position is both: what happened was missed, what was told is invented."""
    told = [TRUTH[0], *TRUTH[1:3], turn(9, 3, "Y", a1="B", b1="B")]

    found = compare("x", TRUTH, told, late_s=0)

    assert (found.right, found.invented, found.whole) == (2, 1, 0)


def test_a_flag_without_an_illegal_turn_near_is_false() -> None:
    """Blaming somebody wrongly counts even if it is taken back a moment later."""
    wrong = [
        turn(20, 4, "B", legal=False, a1="B", b1="Y", h8="B"),
        Event("taken-back", 21, {"n": 4}),
    ]

    assert compare("x", TRUTH, [*TRUTH, *wrong], late_s=0).false_flags == 1


def test_illegal_turns_soon_after_each_other_are_flagged_one_by_one() -> None:
    """Each flag is meant for the illegal turn that it is nearest to."""
    truth = [*TRUTH, turn(12, 4, "B", legal=False, h1="B"), turn(15, 5, "Y", legal=False, h2="Y")]

    assert compare("x", truth, truth, late_s=0).flagged == 3
    assert compare("x", truth, truth[:-1], late_s=0).flagged == 2


def test_an_open_turn_counts_as_it_was_told_last() -> None:
    """A turn that grows is one turn, and one that was taken back while it was legal is none."""
    told = [
        turn(0.5, 1, "B", b2="B"),
        *TRUTH,
        turn(12, 4, "B", h1="B"),
        Event("taken-back", 13, {"n": 4}),
    ]

    assert compare("x", TRUTH, told, late_s=0).whole == 1


def test_what_is_wrong_may_be_told_before_the_turn_is_whole() -> None:
    """The first cube of an illegal turn is wrong already, however long the others take."""
    truth = [TRUTH[0], turn(9, 2, "Y", legal=False, a1="B", c3="Y", c4="Y")]
    early = turn(5, 2, "Y", legal=False, a1="B", c3="Y")

    found = compare("x", truth, [truth[0], early, truth[1]], late_s=0)
    other = compare("x", truth, [truth[0], early, Event("taken-back", 7, {"n": 2})], late_s=0)

    assert (found.flagged, found.false_flags) == (1, 0)
    assert (other.flagged, other.false_flags) == (0, 1)
