"""Whose hand it was: players are told apart by the side from which they reach in."""

import pytest

from rules.events import Event
from rules.referee import Referee
from rules.registry import find_game
from rules.seats import Seats, across
from rules.stacks import Stacks
from tests.rules.test_referee import short

FRONT, BACK = 6.2, 11.8


def learned(**hours: tuple[float, ...]) -> Seats:
    """Seats that know these players by these turns."""
    seats = Seats()
    for player, reached in hours.items():
        for hour in reached:
            seats.note(player, hour)
    return seats


def test_a_player_is_known_by_his_side() -> None:
    """Two turns each are enough; the hour goes round."""
    seats = learned(A=(5.5, 6.5), B=(11.5, 0.5))

    assert [seats.whose(hour, "AB") for hour in (4.5, 7.0, 10.8, 1.0)] == ["A", "A", "B", "B"]


@pytest.mark.parametrize(
    ("seats", "hour"),
    [
        (learned(A=(6.0, 6.0), B=(12.0,)), 6.0),
        (learned(A=(5.5, 6.5), B=(5.0, 6.0)), 6.0),
        (learned(A=(6.0, 6.0), B=(12.0, 12.0)), 8.6),
        (learned(A=(6.0, 6.0), B=(12.0, 3.0, 6.0, 9.0)), 6.0),
    ],
    ids=["only-one-turn", "side-by-side", "in-between", "from-everywhere"],
)
def test_nobody_is_named_where_it_could_be_several(seats: Seats, hour: float) -> None:
    """Too few turns, one side for both, a hand in between, a player without a side."""
    assert seats.whose(hour, "AB") is None


def test_a_hand_from_nobody_elses_side_is_that_of_the_one_left() -> None:
    """One side is known, the other is not yet: what comes from far beside the one is the other's."""
    seats = learned(A=(4.6, 8.3), B=(11.0, 11.8, 10.9))

    assert seats.whose(7.4, "AB") == "A"
    assert seats.whose(9.0, "AB") is None
    assert seats.whose(7.4, "ABC") is None


def test_hands_from_opposite_sides_are_two_players() -> None:
    """Nobody reaches around the board; one arm comes from within a quarter of it."""
    assert across(6.0, 11.0)
    assert across(0.5, 7.5)
    assert not across(11.0, 1.5)


class CubeTable:
    """CUBE, where anybody may move any cube, after two turns of each player."""

    def __init__(self, *, hands: bool = True) -> None:
        self.hands = hands
        self.referee = Referee(find_game("cube").set_up())
        self.stacks = self.referee.game.start().stacks
        self.t = 0.0
        self.referee.observe(0.0, self.stacks)
        for hour, cell, letter in (
            (FRONT, "b2", "R"), (BACK, "b3", "Y"), (FRONT, "c2", "G"), (BACK, "c3", "B"),
        ):  # fmt: skip
            self.see(4.0, hour, **{cell: letter})

    def see(self, seconds: float, hour: float, **cells: str) -> list[str]:
        """What is told when some cells look like that, and a hand has come from this hour."""
        self.t += seconds
        self.stacks = Stacks.of({**self.stacks.to_json(), **cells})
        hand_clock = hour if self.hands else None
        found: list[Event] = self.referee.observe(self.t, self.stacks, hand_clock=hand_clock)
        return [short(event) for event in found]


def test_a_cube_just_placed_is_lifted_by_the_next_player() -> None:
    """Two seconds after it was placed, but by the other hand: that is no second thought."""
    table = CubeTable()
    table.see(4.0, FRONT, b1="R")

    told = table.see(2.0, BACK, b1="")
    told += table.see(1.5, BACK, d2="R")

    assert told[0] == "5 1 +b1R legal final"
    assert told[-1] == "6 2 -b1 +d2R legal open"


def test_a_cube_just_placed_is_moved_on_by_its_player() -> None:
    """By his own hand it is a second thought, and so it is where no hand was seen."""
    for hands in (True, False):
        table = CubeTable(hands=hands)
        table.see(4.0, FRONT, b1="R")

        assert table.see(2.0, FRONT, b1="") == ["taken-back 5"]
        assert table.see(1.5, FRONT, d2="R") == ["5 1 +d2R legal open"]


def test_two_players_breaches_in_a_row_are_two() -> None:
    """Each exchanges a cube for another one: the second has let the first one's turn stand."""
    table = CubeTable()
    told = table.see(4.0, FRONT, b2="", b4="Y")
    assert told[-1] == "5 1 -b2 +b4Y malformed open"

    assert table.see(2.0, BACK, b3="", d2="G") == [
        "5 1 -b2 +b4Y malformed final",
        "kept 5",
        "6 2 -b3 +d2G malformed open",
    ]


def test_who_adds_to_his_own_breach_has_made_one() -> None:
    """The same two exchanges by one hand are one illegal turn."""
    table = CubeTable()
    table.see(4.0, FRONT, b2="", b4="Y")

    (told,) = table.see(2.0, FRONT, b3="", d2="G")
    assert told.startswith("5 1 ")


def test_a_piece_is_only_owed_while_its_player_has_it_in_hand() -> None:
    """One player has taken a cube off, and the other lifts the next one: the first kept his."""
    table = CubeTable()
    assert table.see(4.0, FRONT, b2="")[-1] == "5 owed {'b2': 1}"

    assert table.see(2.0, BACK, b3="") == [
        "5 1 -b2 malformed final",
        "kept 5",
        "6 owed {'b3': 1}",
    ]


@pytest.mark.parametrize("hands", [True, False], ids=["another-hand", "long-after"])
def test_a_finished_turn_that_is_made_otherwise_is_the_next_players_breach(hands: bool) -> None:
    """The cube that was moved last may not be moved on; from before, it would have been legal."""
    table = CubeTable(hands=hands)
    table.see(4.0, FRONT, b2="", b1="R")

    told = table.see(5.0, BACK, b1="", d2="R")

    assert told[0] == "5 1 -b2 +b1R legal final"
    assert told[1].startswith("6 2 -b1 +d2R")
    assert "legal" not in told[1]


def test_who_moves_an_illegal_cube_on_has_kept_it() -> None:
    """The other hand takes the very cube that came down wrongly: that is the next turn."""
    table = CubeTable()
    told = table.see(4.0, FRONT, b2="", b4="Y")
    assert told[-1] == "5 1 -b2 +b4Y malformed open"

    told = table.see(2.0, BACK, b4="")
    told += table.see(1.5, BACK, d2="Y")

    assert told[:2] == ["5 1 -b2 +b4Y malformed final", "kept 5"]
    assert told[-1] == "6 2 -b4 +d2Y legal open"


@pytest.mark.parametrize("hands", [True, False], ids=["his-hand", "soon"])
def test_who_puts_down_what_he_took_wrongly_has_made_one_turn(hands: bool) -> None:
    """That a cube is gone is told after a second; what comes down then is no answer to it."""
    table = CubeTable(hands=hands)
    table.see(4.0, FRONT, b2="", b1="R")
    table.see(4.0, BACK, b1="")
    assert [short(e) for e in table.referee.tick(table.t + 1.1)][-1].startswith("6 2 -b1 ")

    (told,) = table.see(1.3, BACK, d2="Y")

    assert told.startswith("6 2 -b1 +d2Y ")
    assert told.endswith(" open")


def test_who_lifts_the_next_cube_has_kept_the_breach_before() -> None:
    """Only what comes down can belong to what was taken wrongly."""
    table = CubeTable(hands=False)
    table.see(4.0, FRONT, b2="", b1="R")
    table.see(4.0, BACK, b1="")
    table.referee.tick(table.t + 1.1)

    assert table.see(1.3, FRONT, c3="")[-2:] == ["kept 6", "7 owed {'c3': 1}"]


def test_another_hand_that_puts_down_a_cube_has_kept_the_breach() -> None:
    """The first hand goes home with the cube, and the other one plays."""
    table = CubeTable()
    table.see(4.0, FRONT, b2="", b1="R")
    table.see(4.0, BACK, b1="")
    table.referee.tick(table.t + 1.1)

    told = table.see(1.3, FRONT, d2="Y")

    assert told[-2:] == ["kept 6", "7 1 +d2Y legal open"]


def test_a_hand_that_changes_nothing_tells_nothing() -> None:
    """One has taken away what the other moved; that the other reaches in makes it not his doing."""
    table = CubeTable()
    table.see(4.0, FRONT, b2="", b1="R")

    assert table.see(4.0, BACK, b1="") == []
    assert table.see(0.5, FRONT) == []
    assert table.see(1.0, FRONT)[-1].startswith("6 2 -b1 ")


class QbqTable:
    """QBQ after two turns of each player, who puts down a cube every time."""

    def __init__(self) -> None:
        self.referee = Referee(find_game("qbq").set_up())
        self.stacks = self.referee.game.start().stacks
        self.t = 0.0
        self.referee.observe(0.0, self.stacks)
        for hour, cell, letter in (
            (FRONT, "c1", "B"), (BACK, "d6", "R"), (FRONT, "c2", "B"), (BACK, "d5", "R"),
        ):  # fmt: skip
            self.see(4.0, hour, **{cell: letter})

    def see(self, seconds: float, hour: float | None, **cells: str) -> list[str]:
        """What is told when some cells look like that, and a hand has come from this hour."""
        self.t += seconds
        self.stacks = Stacks.of({**self.stacks.to_json(), **cells})
        found = self.referee.observe(self.t, self.stacks, hand_clock=hour)
        return [short(event) for event in found]


@pytest.mark.parametrize(("hour", "told"), [(FRONT, 2), (None, 0)], ids=["his-hand", "unseen"])
def test_what_the_same_hand_takes_along_is_told_at_once(hour: float | None, told: int) -> None:
    """A legal turn and another one's cube gone: if no other hand was there, none has lifted it."""
    found = QbqTable().see(4.0, hour, b3="B", e5="")

    assert len(found) == told
    assert not told or found[-1].startswith("5 B ")


def test_what_another_hand_adds_to_a_turn_is_not_its_players() -> None:
    """Blue may still move a cube on; but it is Red who takes one away."""
    table = QbqTable()
    assert table.see(4.0, FRONT, c3="B")[1].endswith("+c3B legal open")

    assert table.see(2.0, BACK, a1="") == []
    told = table.see(1.1, None)

    assert told[0].endswith("+c3B legal final")
    assert told[-1].startswith("6 R -a1 not-own-cube")


def test_one_hand_makes_one_breach() -> None:
    """A block put down and halves of two others gone: by one hand it is one player's turn."""
    referee = Referee(find_game("turris").set_up())
    stacks = Stacks()
    referee.observe(0.0, stacks)
    told: list[Event] = []
    for n, (hour, cells) in enumerate(
        [
            (FRONT, {"a1": "L", "b1": "L"}),
            (BACK, {"a2": "D", "b2": "D"}),
            (FRONT, {"a3": "L", "b3": "L"}),
            (BACK, {"c1": "DD"}),
            (FRONT, {"c2": "LL", "a2": "", "a3": ""}),
        ],
        1,
    ):
        stacks = Stacks.of({**stacks.to_json(), **cells})
        told = referee.observe(4.0 * n, stacks, hand_clock=hour)

    assert [short(event).split()[:2] for event in told] == [["4", "D"], ["5", "L"]]


def test_an_illegal_turn_that_is_taken_back_piece_by_piece_is_one() -> None:
    """Nothing is told on the way back, unless it stays like that."""
    table = QbqTable()
    told = table.see(4.0, FRONT, b2="", e2="B", e3="B")
    assert told[-1].startswith("5 B ")

    assert table.see(3.0, FRONT, b2="B") == []
    assert table.see(1.5, FRONT, e2="", e3="") == ["taken-back 5"]


def test_a_breach_long_after_another_is_the_next_players() -> None:
    """Blue puts a cube down wrongly, Red takes one of his away, and no hand was seen: time tells."""
    table = QbqTable()
    told = table.see(4.0, None, f1="B")
    assert told[-1].startswith("5 B +f1B ")

    told = table.see(4.0, None, a1="") + table.see(1.1, None)

    assert told[-2:-1] == ["kept 5"]
    assert told[-1].startswith("6 R -a1 ")


@pytest.mark.parametrize(
    ("hour", "cells", "told"),
    [
        (BACK, {"e6": "RR"}, ["6 R -f6 +e5R -a2 +e6R not-own-cube open"]),
        (FRONT, {"b2": "BBB"}, ["6 R -f6 +e5R legal final", "7 B -a2 +b2B legal open"]),
    ],
    ids=["goes-on", "the-owner-goes-on"],
)
def test_who_has_just_moved_and_lifts_anothers_cube_is_waited_for(
    hour: float, cells: dict[str, str], told: list[str]
) -> None:
    """What comes down next, and from whose side, tells whether it is his or its owner's doing."""
    referee = Referee(find_game("qbq").set_up())
    scene = referee.game.start().stacks.to_json()
    referee.observe(0.0, Stacks.of(scene))
    for n, (reached, changed) in enumerate((
        (FRONT, {"a1": "", "b2": "BB"}), (BACK, {"f6": "", "e5": "RR"}),
        (FRONT, {"b2": "B", "a1": "B"}), (BACK, {"e5": "R", "f6": "R"}),
        (FRONT, {"a1": "", "b2": "BB"}), (BACK, {"f6": "", "e5": "RR"}),
    )):  # fmt: skip
        scene |= changed
        referee.observe(6.0 * (n + 1), Stacks.of(scene), hand_clock=reached)
    scene["a2"] = ""

    lifted = referee.observe(37.0, Stacks.of(scene), hand_clock=BACK)
    found = referee.observe(38.0, Stacks.of(scene | cells), hand_clock=hour)

    assert lifted == []
    assert [short(event) for event in found] == told
