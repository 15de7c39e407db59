"""Free building: whatever changes is a turn, on any board and in any colours."""

import pytest

from rules.errors import SetupError, UnknownName
from rules.free import SPEC, FreeGame
from rules.game import Setup, checked_apply, perft
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from rules.turn import Turn


def free(
    columns: int = 3, ranks: int = 2, levels: int = 2, players: str = "", colours: str = "W K"
) -> FreeGame:
    """A table of this size."""
    board = Board(Lattice(columns, ranks, levels, 20.0, (18.0, 18.0, 18.0)))
    return FreeGame(
        Setup(board=board, players=tuple(players.split()), details={"colours": colours})
    )


def test_every_change_passes_the_turn_on() -> None:
    """Several pieces at once, other people's colours, longer pieces, and passing are all fine."""
    game = free(players="1 2 3")
    position = game.start()
    for text in ("1 +a1W", "2 +a1K +b1W", "3 -a1 -a1 +c2W", "1 pass", "2 +a1~a2K", "3 -b1 +b1K"):
        assert position.player == text[0]
        position = checked_apply(game, position, Turn.parse(text))

    assert position.stacks == Stacks.of({"a1": "K", "a2": "K", "b1": "K", "c2": "W"})
    assert game.outcome(position) is None


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ("1 +d1W", "off-board"),
        ("1 -a2", "malformed"),
        ("1 +a1W +a1W", "too-high"),
        ("1 +a1~c1W", "malformed"),
        ("9 +a2W", "malformed"),
        ("1 claim W", "malformed"),
    ],
)
def test_only_what_cannot_be_done_is_wrong(turn: str, code: str) -> None:
    """Beside the board, nothing to take, too high, no such piece, nobody, no cards."""
    game = free()
    position = game.start_from(Stacks.of({"a1": "W"}))

    breaks = game.judge(position, Turn.parse(turn)).breaks

    assert [b.rule for b in breaks] == [f"free.{code}"]


def test_the_listed_turns_are_the_single_ones() -> None:
    """Six cells, two colours; then one stack may also go or grow."""
    game = free()
    assert perft(game, game.start(), 1) == 12
    assert perft(game, game.start(), 2) == 12 * 13


def test_changes_are_read_unit_by_unit() -> None:
    """What went, then what came, whatever moved."""
    game = free()
    position = game.start_from(Stacks.of({"a1": "WK", "b1": "W"}))

    (turn,) = game.readings(position, Stacks.of({"a1": "W", "b2": "KK"}))

    assert str(turn) == "1 -a1 -b1 +b2K +b2K"
    parts = list(game.first_of_two(position, Stacks.of({"a1": "W", "b2": "KK"})))
    assert [len(part.changes) for part in parts] == [1, 2, 3]


def test_players_named_by_colours_count_their_units() -> None:
    """A letter scores its units, a number nothing."""
    coloured, numbered = free(players="W K"), free()
    stacks = Stacks.of({"a1": "WK", "b1": "W"})

    assert coloured.score(coloured.start_from(stacks)) == {"W": 2, "K": 1}
    assert numbered.score(numbered.start_from(stacks)) == {"1": 0, "2": 0}


def test_one_player_alone_is_enough() -> None:
    """Building needs no opponent."""
    game = free(players="1")
    assert checked_apply(game, game.start(), Turn.parse("1 +a1W")).player == "1"


@pytest.mark.parametrize(
    "setup",
    [
        Setup(details={"colours": ""}),
        Setup(details={"colours": "blue"}),
        Setup(details={"pieces": "9"}),
        Setup(rules={"supply": 3}),
        Setup(players=("1", "1")),
    ],
)
def test_a_wrong_set_up_is_refused(setup: Setup) -> None:
    """Colours are capital letters, and there are no rulings."""
    with pytest.raises((SetupError, UnknownName)):
        SPEC.set_up(setup)
