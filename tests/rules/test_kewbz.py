"""KEWBZ: the worked examples of the rulings, and what must hold in every game."""

import random

import pytest

from rules.cells import Cell
from rules.errors import SetupError
from rules.game import Setup, checked_apply, perft
from rules.kewbz import SPEC, KewbzGame, KewbzPosition
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from rules.turn import Turn


def game(size: int = 8, **rules: str | int | bool) -> KewbzGame:
    """KEWBZ on a board of this size."""
    lattice = Lattice(size, size, 5, 22.0, (20.0, 20.0, 20.0))
    return KewbzGame(Setup(board=Board(lattice), rules=rules))


def drawn(picture: str) -> tuple[KewbzGame, KewbzPosition, Cell, dict[tuple[int, int], Cell]]:
    """A drawing of cubes `o` (or heights) and the placed one `+`, and its cells by (row, column)."""
    rows = [line.split() for line in picture.strip().splitlines()]
    size = 8
    cells = {(r, c): Cell(c, size - 1 - r) for r in range(size) for c in range(size)}
    marks = {cells[r, c]: mark for r, row in enumerate(rows) for c, mark in enumerate(row)}
    heights = {
        cell: 1 if mark == "o" else int(mark) for cell, mark in marks.items() if mark not in ".+"
    }
    stacks = Stacks({cell: "Y" * height for cell, height in heights.items()})
    placed = next(cell for cell, mark in marks.items() if mark == "+")
    kewbz = game(size)
    (position,) = kewbz.adopt(kewbz.start(), stacks, "B")
    return kewbz, position, placed, cells


OWED = {
    "T1 straight line": (". . . .\n. o o +", {}),
    "T2 corner at neighbour": (". . .\n. o o\n. . +", {(1, 2): 1}),
    "T3 corner at itself": ("o . .\n+ o .", {(1, 0): 1}),
    "T4 double, stem last": (". + .\no o o", {(1, 1): 2}),
    "T5 Fig. 4B": (". o .\no o +", {(1, 1): 1}),
    "T6 T, centre last": (". o .\no + o", {(1, 1): 2}),
    "T7 plus, centre last": (". o .\no + o\n. o .", {(1, 1): 4}),
    "T8 plus, last arm": (". o .\no o o\n. + .", {(1, 1): 2}),
    "T9 extend an arm": ("o . . . .\no o o + .", {(1, 0): 1}),
    "T10 extend a stem": ("o o o\n. o .\n. + .", {(0, 1): 2}),
    "T11 extend a bar": ("o o o +\n. o . .", {(0, 1): 1}),
    "T12 gap closes": ("o . . . o\no o + o o", {(1, 0): 1, (1, 4): 1}),
    "T13 two corners": ("o . . o .\no o o o +", {(1, 3): 1, (1, 0): 1}),
    "T15 ring closes": ("o o o\no . o\no o +", {(2, 2): 1, (2, 0): 1, (0, 2): 1}),
    "T16 Z shape": (". o +\no o .", {(0, 1): 1}),
    "T17 cap, four already": (". 4 o\n. o .\n. + .", {(0, 1): 1}),
}


@pytest.mark.parametrize(("picture", "owed"), OWED.values(), ids=OWED)
def test_a_placed_cube_owes_what_the_examples_say(
    picture: str, owed: dict[tuple[int, int], int]
) -> None:
    """Creating and extending corners owes cubes exactly where the examples count them."""
    kewbz, position, placed, cells = drawn(picture)

    verdict = kewbz.judge(position, Turn.parse(f"B +{placed}B"))

    expected = {cells[at]: count for at, count in owed.items()}
    assert dict(verdict.owed[0].cells if verdict.owed else ()) == expected
    assert verdict.unfinished == bool(expected)
    assert verdict.legal == (not expected)


def test_t11_pays_two_under_the_status_reading() -> None:
    """A T extended along its bar pays what the corner was worth before, if the table wants that."""
    _, position, placed, cells = drawn("o o o +\n. o . .")
    kewbz = game(doubleExtension="status")

    verdict = kewbz.judge(position, Turn.parse(f"B +{placed}B"))

    assert dict(verdict.owed[0].cells) == {cells[0, 1]: 2}


def test_t14_a_square_is_illegal() -> None:
    """The fourth cube of a square is told with the cells of the square."""
    kewbz, position, placed, _ = drawn("o o\no +")

    rules = {b.rule for b in kewbz.judge(position, Turn.parse(f"B +{placed}B")).breaks}

    assert "kewbz.square" in rules


def test_t17_a_full_tower_owes_nothing() -> None:
    """A corner whose tower has five cubes lets the surplus lapse."""
    kewbz, position, placed, _ = drawn("o 5 o\n. o .\n. + .")

    assert kewbz.judge(position, Turn.parse(f"B +{placed}B")).legal


def test_t18_the_last_cubes_go_where_the_mover_likes() -> None:
    """Two cubes left and three owed: one is stacked on a tower of his choice, and the game ends."""
    kewbz, position, placed, cells = drawn("o o o . .\n. o . . .\n. + o o .\n. . . o .")
    position = position._replace(left=(2, 9))
    owed = dict(kewbz.judge(position, Turn.parse(f"B +{placed}B")).owed[0].cells)

    for cell in owed:
        after = kewbz.judge(position, Turn.parse(f"B +{placed}B +{cell}B")).after
        assert after is not None
        outcome = kewbz.outcome(after)
        assert outcome is not None
        assert outcome.reason == "kewbz.supply-empty"
    assert len(owed) >= 2
    assert cells[0, 1] in owed


T19 = """
B +d4B | Y +e4Y | B +d3B +d4B | Y +c4Y +d4Y | B +f4B +d4B | Y +d2Y +d4Y | B +e5B +e4B +e4B
Y +b4Y +e4Y | B +e6B +e4B | Y +d1Y | B +g5B
"""


def test_t19_scripted_game_ends_in_the_position_and_score_given() -> None:
    """The whole scripted game: legal but for the square, the towers and the score at the end."""
    kewbz = game(7, supply=20)
    position = kewbz.start()
    for number, text in enumerate(T19.strip().replace("\n", "|").split("|")):
        if number == 6:
            rules = {b.rule for b in kewbz.judge(position, Turn.parse("B +e3B")).breaks}
            assert "kewbz.square" in rules
        position = checked_apply(kewbz, position, Turn.parse(text))

    assert position.stacks[Cell.parse("d4")] == "BBYBY"
    assert position.stacks[Cell.parse("e4")] == "YBBYB"
    assert position.left == (9, 12)
    assert kewbz.score(position) == {"B": -4, "Y": -7}


def test_t20_towers_count_for_the_owner_of_the_top() -> None:
    """Every cube of a tower counts for its top, single cubes nothing."""
    kewbz = game(supply=4)
    stacks = Stacks.of({"a1": "BBYBY", "c1": "YBBYB", "e1": "B"})
    (position,) = kewbz.adopt(kewbz.start(), stacks, "B")

    assert kewbz.score(position) == {"B": 5, "Y": 5}


ILLEGAL = {
    "pass": ("B pass", {"must-place"}),
    "other colour": ("B +e5Y", {"wrong-colour"}),
    "far away": ("B +h8B", {"not-adjacent"}),
    "beside the board": ("B +k4B", {"off-board"}),
    "on a cube": ("B +d4B", {"occupied"}),
    "moved": ("B -d4", {"cube-moved", "must-place"}),
    "two cubes": ("B +e5B +c5B", {"second-placement"}),
    "the second far away": ("B +e5B +h8B", {"second-placement", "not-adjacent"}),
    "the far one first": ("B +h8B +e5B", {"second-placement", "not-adjacent"}),
    "a square of two": ("B +e3B +d3B +e4B", {"second-placement", "square"}),
    "one beside the board": ("B +h8B +k4B", {"off-board", "not-adjacent"}),
    "exchanged": ("B -d4 +e5B +d4Y", {"cube-moved", "wrong-colour", "stack-extra"}),
    "nothing there": ("B -a1 +e5B", {"malformed"}),
    "not owed": ("B +e5B +d4B", {"stack-extra"}),
    "forgotten": ("B +c4B", {"stack-missing"}),
    "a block": ("B +a1~b1B", {"malformed"}),
    "another colour of wood": ("B +e5R", {"malformed"}),
    "all at once": (
        "B +e5Y +d4Y +h1B",
        {"wrong-colour", "second-placement", "stack-extra", "not-adjacent"},
    ),
}


@pytest.mark.parametrize(("text", "slugs"), ILLEGAL.values(), ids=ILLEGAL)
def test_every_broken_rule_is_told(text: str, slugs: set[str]) -> None:
    """Each way of going wrong has its code, and all of them are told together."""
    kewbz = game()
    stacks = Stacks.of({"d4": "B", "d3": "Y"})
    (position,) = kewbz.adopt(kewbz.start(), stacks, "B")

    assert {
        b.rule.removeprefix("kewbz.") for b in kewbz.judge(position, Turn.parse(text)).breaks
    } == slugs


def test_more_than_the_supply_is_told() -> None:
    """A tower cube from a supply that is empty is told as such."""
    kewbz = game(supply=1)
    rules = {b.rule for b in kewbz.judge(kewbz.start(), Turn.parse("B +d4B +d4B")).breaks}

    assert rules == {"kewbz.supply-exceeded", "kewbz.stack-extra"}


def test_a_tower_over_five_is_told() -> None:
    """The cap of five is told apart from what is owed."""
    kewbz, position, placed, cells = drawn(". 4 o\n. o .\n. o .\n. + .")
    text = f"B +{placed}B +{cells[0, 1]}B +{cells[0, 1]}B"
    slugs = {b.rule for b in kewbz.judge(position, Turn.parse(text)).breaks}

    assert slugs == {"kewbz.stack-over-cap", "kewbz.stack-extra"}


def test_a_sixth_cube_is_told_wherever_it_goes() -> None:
    """Five is the most also where nothing was placed, and where a second cube was."""
    kewbz = game()
    stacks = Stacks.of({"d4": "BYBYB"})
    (position,) = kewbz.adopt(kewbz.start(), stacks, "B")
    told = [
        {b.rule.removeprefix("kewbz.") for b in kewbz.judge(position, Turn.parse(text)).breaks}
        for text in ("B +d4B", "B +e5B +c5B" + " +c5B" * 5)
    ]

    assert told[0] == {"occupied", "stack-over-cap"}
    assert {"second-placement", "stack-over-cap"} <= told[1]


@pytest.mark.parametrize("text", ["B -d4 +e5B +d4B", "B +a8B -a8 +e5B", "B +a8R -a8 +e5B"])
def test_only_what_stands_after_the_turn_is_judged(text: str) -> None:
    """A cube that was put back, or taken up again by the same hand, was not moved (GEN-R1)."""
    kewbz = game()
    (position,) = kewbz.adopt(kewbz.start(), Stacks.of({"d4": "B"}), "B")
    after = checked_apply(kewbz, position, Turn.parse(text))

    assert after == checked_apply(kewbz, position, Turn.parse("B +e5B"))


def test_a_tower_cube_before_the_placed_one_is_no_reason_to_complain() -> None:
    """Whoever stacks first and places afterwards is within his turn."""
    kewbz, position, _, cells = drawn("o . .\no . .\n. . +")
    verdict = kewbz.judge(position, Turn.parse(f"B +{cells[1, 0]}B"))

    assert verdict.unfinished
    assert not verdict.legal


def test_ending_by_stacking_can_be_switched_off() -> None:
    """Under the literal reading the other player still has a turn."""
    stacks = Stacks.of({"a1": "Y", "a2": "Y"})
    turn = Turn.parse("B +b1B +a1B")
    after = {}
    for literal in (True, False):
        kewbz = game(endByStacking=literal, supply=4)
        (position,) = kewbz.adopt(kewbz.start(), stacks, "B")
        after[literal] = checked_apply(kewbz, position._replace(left=(2, 4)), turn)

    assert after[True].over
    assert not after[False].over


@pytest.mark.parametrize("literal", [True, False])
def test_the_last_cube_on_the_board_ends_the_game_at_once(*, literal: bool) -> None:
    """No reading lets the other player go on when the last cube was positioned."""
    kewbz = game(endByStacking=not literal, supply=1)
    after = checked_apply(kewbz, kewbz.start(), Turn.parse("B +d4B"))

    assert after.over
    assert all(position.over for position in kewbz.successors(kewbz.start()))


@pytest.mark.parametrize("size", [5, 8, 12])
def test_camera_invariants_hold_in_random_games(size: int) -> None:
    """No square in the base, heights 1 to 5, one new base cell a turn, one colour added."""
    kewbz = game(size)
    for seed in range(15):
        rng = random.Random(seed)
        position = kewbz.start()
        while (turn := kewbz.random_turn(position, rng)) is not None:
            after = checked_apply(kewbz, position, turn)
            assert not kewbz.impossible(after.stacks)
            assert len(after.stacks) == len(position.stacks) + 1
            assert {c.letter for c in turn.changes} == {position.player}
            assert sum(after.left) == sum(position.left) - len(turn.changes)
            position = after
        assert kewbz.outcome(position) is not None


def test_perft_counts_do_not_change() -> None:
    """The number of successions of turns on an empty board of five is a fingerprint of the rules."""
    kewbz = game(5)

    assert [perft(kewbz, kewbz.start(), depth) for depth in (1, 2, 3)] == [25, 144, 1152]


def test_two_turns_in_one_look_are_told_apart_by_colour() -> None:
    """A blue and a yellow cube at once are blue's turn and then yellow's."""
    kewbz = game()
    (position,) = kewbz.adopt(kewbz.start(), Stacks.of({"d4": "Y"}), "B")

    turns = list(kewbz.first_of_two(position, Stacks.of({"d4": "Y", "d5": "B", "e5": "Y"})))

    assert turns == [Turn.parse("B +d5B")]


@pytest.mark.parametrize("size", [4, 13])
def test_boards_of_other_sizes_are_refused(size: int) -> None:
    """KEWBZ boards have 5 to 12 cells a side."""
    with pytest.raises(SetupError, match="5 to 12"):
        game(size)


def test_the_default_board_is_the_usual_one() -> None:
    """Eight by eight cells, five levels, blue first."""
    kewbz = SPEC.set_up()

    assert kewbz.players == ("B", "Y")
    assert (kewbz.lattice.columns, kewbz.lattice.levels) == (8, 5)
