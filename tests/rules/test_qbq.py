"""QBQ: the worked examples of the rulings, every code, and what must hold in every game."""

import random
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

import pytest

from rules.cells import Cell
from rules.errors import SetupError, UnknownName
from rules.game import Setup, Value, Verdict, checked_apply, perft
from rules.judge_record import judge_record
from rules.lattice import Board, Lattice
from rules.qbq import SPEC, QbqGame
from rules.qbq_board import QbqPosition
from rules.record import TurnLine, parse_record
from rules.sentences import LANGUAGES
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes

HERE = Path(__file__).parent
SIZE = 6


def game(players: str = "BR", **rules: Value) -> QbqGame:
    """QBQ on the usual board with these players and rulings."""
    return sized(players, SIZE, rules)


def sized(players: str, size: int, rules: Mapping[str, Value]) -> QbqGame:
    """QBQ on a square board of this size."""
    lattice = Lattice(size, size, 9, 27.0, (25.0, 25.0, 25.0))
    return QbqGame(Setup(board=Board(lattice), players=tuple(players), rules=rules))


def at(row: int, column: int) -> Cell:
    """The cell that the examples count from the top left corner."""
    return Cell(column, SIZE - 1 - row)


def drawn(picture: str, first_row: int = 0) -> Stacks:
    """The stacks of a drawing such as `. B3 R1`, one line a row from the top."""
    rows = [line.split() for line in picture.strip().splitlines()]
    return Stacks(
        {
            at(first_row + r, c): mark[0] * int(mark[1:])
            for r, row in enumerate(rows)
            for c, mark in enumerate(row)
            if mark != "."
        }
    )


def placed(qbq: QbqGame, stacks: Stacks, player: str = "B") -> QbqPosition:
    """The position of a player with these stacks."""
    (position,) = qbq.adopt(qbq.start(), stacks, player)
    return position


def slugs(verdict: Verdict[QbqPosition]) -> set[str]:
    """The codes of a verdict without the game's name."""
    return {broken.rule.removeprefix("qbq.") for broken in verdict.breaks}


def tip_text(stacks: Stacks, src: Cell, step: tuple[int, int], player: str = "B") -> str:
    """A tip as physical changes: the cubes off, foreign ones out of the way, the cubes down."""
    words = []
    falling = len(stacks[src]) - 1
    words += [f"-{src}"] * falling
    for i in range(1, falling + 1):
        cell = Cell(src.file + i * step[0], src.rank + i * step[1])
        if 0 <= cell.file < SIZE and 0 <= cell.rank < SIZE:
            stack = stacks.get(cell, "")
            words += [f"-{cell}"] * (len(stack) if stack and stack[-1] != player else 0)
            words.append(f"+{cell}{player}")
    return f"{player} {' '.join(words)}"


# --- worked examples -------------------------------------------------------------------------

EAST, SOUTH = (1, 0), (0, -1)
TIPS = {
    "T1 tip east": (". B3 . . . .", (1, 1), EAST, ". B1 B1 B1 . ."),
    "T2 capture": (
        ". B3 R1 R2 . .\n. . . R1 . .",
        (1, 1),
        EAST,
        ". B1 B1 B1 . .\n. . . R1 . .",
    ),
    "T3 lower than equal": (". B3 . R2 . .", (1, 1), EAST, ". B1 B1 B1 . ."),
    "T4 beyond reach": (". B3 . . R5 .", (1, 1), EAST, ". B1 B1 B1 R5 ."),
    "T5 over the edge": (". . . . B4 B1", (1, 4), EAST, ". . . . B1 B2"),
    "T6 own and foreign mixed": (". B4 B1 R1 B2 .", (1, 1), EAST, ". B1 B2 B1 B3 ."),
    "T7 splitting": (
        ". . . B3 . .\n. . . . . .\n. R1 R1 R1 R1 .",
        (1, 3),
        SOUTH,
        ". . . B1 . .\n. . . B1 . .\n. R1 R1 B1 R1 .",
    ),
}


@pytest.mark.parametrize(("before", "src", "step", "after"), TIPS.values(), ids=TIPS)
def test_towers_tip_as_in_the_examples(
    before: str, src: tuple[int, int], step: tuple[int, int], after: str
) -> None:
    """A legal tip leaves what the examples show, as a written turn and as seen by a camera."""
    qbq = game()
    stacks = drawn(before, 1)
    position = placed(qbq, stacks)

    verdict = qbq.judge(position, Turn.parse(tip_text(stacks, at(*src), step)))

    assert verdict.legal
    assert verdict.after is not None
    assert verdict.after.stacks == drawn(after, 1)
    assert verdict.after in list(qbq.successors(position))
    assert qbq.judge(position, qbq.readings(position, drawn(after, 1))[0]).legal


def test_t3_equal_and_higher_towers_stop_a_tip() -> None:
    """A foreign stack in the line of fall that is as high, or higher, forbids the tip."""
    qbq = game()
    found = {}
    for height in (3, 4):
        stacks = drawn(f". B3 . R{height} . .", 1)
        turn = Turn.parse(tip_text(stacks, at(1, 1), EAST))
        found[height] = slugs(qbq.judge(placed(qbq, stacks), turn))

    assert found == {3: {"tip-equal-height"}, 4: {"tip-higher-tower"}}


def test_t7_a_cut_off_cube_may_not_be_relocated() -> None:
    """After the split the single red cube is frozen, but a cube may be inserted beside it."""
    qbq = game()
    stacks = drawn(". . . B1 . .\n. . . B1 . .\n. R1 R1 B1 R1 .", 1)
    position = placed(qbq, stacks, "R")
    lone, beside = at(3, 4), at(3, 5)

    assert slugs(qbq.judge(position, Turn.parse(f"R -{lone} +{beside}R"))) == {"lone-cube-frozen"}
    assert qbq.judge(position, Turn.parse(f"R +{beside}R -{lone} +{at(2, 5)}R")).legal


RELOCATIONS: dict[str, tuple[str, tuple[int, int], tuple[int, int], set[str]]] = {
    "leapfrog": ("B1 B1\nB1 B1", (0, 0), (1, 2), set()),
    "diagonal contact only (H)": ("B1 B1\nB1 B1", (0, 0), (2, 2), {"diagonal-only"}),
    "cut off (I/K)": ("B1 B1 B1 B1", (0, 1), (1, 3), {"splits-group", "leaves-lone-cube"}),
    "T8 the moved cube reconnects": ("B1 B1 B1\nB1 . B1", (0, 1), (1, 1), set()),
    "one side stays alone": (
        "B1 B1 B1\n. . B1",
        (0, 1),
        (1, 1),
        {"splits-group", "leaves-lone-cube"},
    ),
    "onto an own cube": ("B1 B1 B1", (0, 0), (0, 2), set()),
    "onto a foreign one (L)": ("B1 B1 R1", (0, 0), (0, 2), {"onto-foreign"}),
    "onto a foreign one far away": (
        "B1 B1 B1 . R1",
        (0, 0),
        (0, 4),
        {"onto-foreign", "not-connected"},
    ),
    "lone cube (K)": ("B1 . R1", (0, 0), (0, 1), {"lone-cube-frozen"}),
    "other group (T)": ("B1 B1 . B1 B1", (0, 0), (0, 5), {"other-group", "leaves-lone-cube"}),
    "other group, three left": ("B1 B1 B1 . B1 B1", (0, 0), (1, 5), {"other-group"}),
    "merging (R6)": ("B1 B1 . B1 B1", (0, 0), (0, 2), set()),
    "two cubes creep": ("B1 B1", (0, 0), (0, 2), set()),
    "a tower spreads": ("B2", (0, 0), (0, 1), set()),
    "too far": ("B1 B1 B1", (0, 0), (5, 5), {"not-connected"}),
    "a bridge beside the board": (
        "B1 B1 B1",
        (0, 1),
        (0, 6),
        {"off-board", "splits-group", "leaves-lone-cube"},
    ),
    "one of two beside the board": ("B1 B1", (0, 0), (0, 6), {"off-board", "leaves-lone-cube"}),
    "a corner beside the board": ("B1 B1 B1", (0, 0), (0, 6), {"off-board"}),
    "back again": ("B1 B1 B1", (0, 0), (0, 0), {"same-cell"}),
    "nothing there": ("B1 B1", (3, 3), (0, 2), {"nothing-there"}),
    "somebody else's": ("B1 B1 R1 R1", (0, 3), (1, 2), {"not-own-cube"}),
}


@pytest.mark.parametrize(
    ("picture", "src", "dst", "expected"), RELOCATIONS.values(), ids=RELOCATIONS
)
def test_cubes_are_relocated_as_in_the_examples(
    picture: str, src: tuple[int, int], dst: tuple[int, int], expected: set[str]
) -> None:
    """Relocations are legal, or break the rules that the examples name."""
    qbq = game()
    turn = Turn.parse(f"B -{at(*src)} +{at(*dst)}B")

    verdict = qbq.judge(placed(qbq, drawn(picture)), turn)

    assert slugs(verdict) == expected
    assert verdict.legal == (not expected)


def to_bottom_right(picture: str) -> tuple[QbqGame, QbqPosition]:
    """A game in which blue starts at the top left, with this drawing from row 4 on."""
    qbq = QbqGame(Setup(players=("B", "R"), details={"corner.B": "a6"}))
    return qbq, placed(qbq, drawn(picture, 4))


def test_t20_trimming_to_four_wins() -> None:
    """A tower tipped over the edge leaves exactly the square of four."""
    qbq, position = to_bottom_right(". . . . B1 B1\n. . . . B1 B2")

    after = checked_apply(qbq, position, Turn.parse("B -f1"))

    outcome = qbq.outcome(after)
    assert outcome is not None
    assert outcome.winners == ("B",)
    assert outcome.reason == "qbq.square-of-four"
    assert qbq.score(after) == {"B": 4, "R": 0}
    assert not list(qbq.turns(after))


NEAR_MISSES = {
    "T21 one stray cube": {"e1": "B", "f1": "B", "e2": "B", "f2": "B", "a6": "B"},
    "T22 seven cubes": {"e1": "B", "f1": "BB", "e2": "BB", "f2": "BB"},
    "T22 nine cubes as a block and one": {"e1": "BBB", "f1": "BB", "e2": "BB", "f2": "BB"},
    "five in a row": {"d1": "B", "e1": "B", "f1": "B", "d2": "B", "e2": "B"},
    "outside the target": {"c1": "B", "d1": "B", "c2": "B", "d2": "B"},
}


@pytest.mark.parametrize("stacks", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_near_misses_do_not_win(stacks: dict[str, str]) -> None:
    """Only the exact formation with no other own cube on the board wins."""
    qbq, _ = to_bottom_right("")

    assert qbq.outcome(placed(qbq, Stacks.of(stacks))) is None


WINS = {
    "four": ({"d2": "B", "e2": "B", "d3": "B", "e3": "B"}, "qbq.square-of-four"),
    "eight": ({"e1": "BB", "f1": "BB", "e2": "BB", "f2": "BB"}, "qbq.block-of-eight"),
    "nine": ({f"{file}{rank}": "B" for file in "def" for rank in "123"}, "qbq.square-of-nine"),
}


@pytest.mark.parametrize(("stacks", "reason"), WINS.values(), ids=WINS)
def test_formations_win_anywhere_in_the_target(stacks: dict[str, str], reason: str) -> None:
    """Four flat, eight as a block and nine flat are the formations."""
    qbq, _ = to_bottom_right("")

    outcome = qbq.outcome(placed(qbq, Stacks.of(stacks), "R"))

    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("B",), reason)


def test_t23_a_foreign_tip_can_complete_a_formation() -> None:
    """Red tips onto blue's stray cube, and blue wins at the end of red's turn."""
    qbq, _ = to_bottom_right("")
    stacks = Stacks.of({"e1": "B", "f1": "B", "e2": "B", "f2": "B", "a6": "B", "a5": "RR"})

    after = checked_apply(qbq, placed(qbq, stacks, "R"), Turn.parse("R -a5 -a6 +a6R"))

    outcome = qbq.outcome(after)
    assert outcome is not None
    assert outcome.winners == ("B",)


def test_the_mover_wins_when_two_formations_stand() -> None:
    """Whoever moved is asked first."""
    qbq, _ = to_bottom_right("")
    both = Stacks.of(
        {
            **dict.fromkeys(("e1", "f1", "e2", "f2"), "B"),
            **dict.fromkeys(("a5", "b5", "a6", "b6"), "R"),
        }
    )

    winners: list[str] = []
    for player in "BR":
        outcome = qbq.outcome(placed(qbq, both, player))
        winners += outcome.winners if outcome else ()

    assert winners == ["R", "B"]


def test_t24_the_start_is_no_win() -> None:
    """The start square lies in another colour's target."""
    for players in ("BR", "BRO", "BROG"):
        qbq = game(players)

        assert qbq.outcome(qbq.start()) is None
        assert qbq.score(qbq.start()) == dict.fromkeys(players, 0)


# --- every code ------------------------------------------------------------------------------

SCENE = {"a1": "B", "a2": "B", "b1": "B", "b2": "BBB", "f6": "R", "f5": "R", "b3": "RR", "e2": "B"}
ILLEGAL: dict[str, tuple[str, set[str]]] = {
    "pass": ("pass", {"pass-not-allowed"}),
    "put down and taken up again": ("+c1B -c1", {"pass-not-allowed"}),
    "a block": ("+c1~d1B", {"malformed"}),
    "a claim": ("claim XY", {"malformed"}),
    "a colour that does not play": ("+c1G -a1 +c2G", {"malformed"}),
    "half a tower": ("-b2 -b2", {"malformed"}),
    "bottom cube, too": ("-b2 -b2 -b2 +c2B +d2B +e2B", {"malformed"}),
    "red put down": ("+f4R", {"not-own-cube"}),
    "red taken": ("-f6", {"not-own-cube"}),
    "red put down, nothing taken": ("-d5 +f4R", {"not-own-cube", "nothing-there"}),
    "red moved": ("-f6 +e6R", {"not-own-cube"}),
    "beside the board": ("-a1 +a7B", {"off-board"}),
    "inserted beside the board": ("+g1B -a1 +c2B", {"off-board"}),
    "inserted beside the board, then moved on": ("+g1B -g1 +h1B", {"off-board"}),
    "inserted onto red": ("+b3B -a1 +c2B", {"onto-foreign"}),
    "inserted far away": ("+d5B -a1 +c2B", {"not-connected"}),
    "inserted at a corner": ("+c3B -a2 +a3B", {"diagonal-only"}),
    "inserted, then nothing there": ("+c1B -d5 +c2B", {"nothing-there"}),
    "back on its cell": ("-a1 +a1B", {"same-cell"}),
    "inserted and nothing more": ("+c1B", {"relocation-missing"}),
    "inserted onto red and nothing more": (
        "+f6B",
        {"onto-foreign", "not-connected", "relocation-missing"},
    ),
    "lone cube": ("-e2 +d2B", {"lone-cube-frozen"}),
    "lone cube to another group": ("-e2 +c2B", {"lone-cube-frozen", "other-group"}),
    "diagonal tip": ("-b2 -b2 +c3B +d4B", {"diagonal-tip"}),
    "tip without making room": ("-b2 -b2 +b3B +b4B", {"onto-foreign"}),
    "tip that takes a cube elsewhere": ("-b2 -b2 -f6 +c2B +d2B", {"not-own-cube"}),
    "a lone cube tipped": ("-a2 -b3 -b3 +b3B", {"no-tower", "diagonal-tip"}),
    "two relocations": ("-a1 +c1B -a2 +a3B", {"malformed"}),
    "all at once": ("+h8B -e2 +f6B", {"off-board", "lone-cube-frozen", "onto-foreign"}),
}


@pytest.mark.parametrize(("move", "expected"), ILLEGAL.values(), ids=ILLEGAL)
def test_every_broken_rule_is_told(move: str, expected: set[str]) -> None:
    """Each way of going wrong has its code, and all of them are told together."""
    qbq = game()

    verdict = qbq.judge(placed(qbq, Stacks.of(SCENE)), Turn.parse(f"B {move}"))

    assert slugs(verdict) == expected
    assert all(broken.say(language) for broken in verdict.breaks for language in LANGUAGES)


def test_a_lone_cube_is_no_tower() -> None:
    """A single cube that is tipped over onto a neighbour is told as such."""
    qbq = game()
    position = placed(qbq, Stacks.of({"c3": "B", "d3": "R"}))

    assert slugs(qbq.judge(position, Turn.parse("B -c3 -d3 +d3B"))) == {"no-tower"}


def test_nothing_can_be_inserted_from_an_empty_supply() -> None:
    """With nine cubes on the board there is nothing left."""
    qbq = game()
    position = placed(qbq, Stacks.of({"a1": "BBB", "a2": "BBB", "b1": "BBB"}))

    verdict = qbq.judge(position, Turn.parse("B +b2B -a1 +a3B"))

    assert slugs(verdict) == {"supply-empty"}


@pytest.mark.parametrize("cell", ["f1", "a6", "e3"])
def test_a_tenth_cube_is_an_insertion_wherever_it_goes(cell: str) -> None:
    """Nobody takes it for the cube of a player who has none on the board."""
    qbq = game()
    position = placed(qbq, Stacks.of({"d5": "BBB", "d6": "BBB", "e5": "BBB"}))

    verdict = qbq.judge(position, Turn.parse(f"B +{cell}B"))

    assert slugs(verdict) == {"supply-empty", "not-connected", "relocation-missing"}


def test_a_cube_that_enters_although_others_stand_is_told() -> None:
    """Only on a start cell does a cube far from its group look like entering."""
    qbq = game()
    position = placed(qbq, Stacks.of({"d5": "B", "d6": "B"}))

    assert slugs(qbq.judge(position, Turn.parse("B +a1B"))) == {"enter-has-cubes"}
    assert slugs(qbq.judge(position, Turn.parse("B +a4B"))) == {
        "not-connected",
        "relocation-missing",
    }


def test_after_the_end_nothing_is_played() -> None:
    """A formation on the table ends the game for everybody."""
    qbq, position = to_bottom_right(". . . . B1 B1\n. . . . B1 B1")

    assert slugs(qbq.judge(position, Turn.parse("B -f1 +d1B"))) == {"game-over"}


TAKEN = ("a1", "a2", "b1", "b2", "f6")
ENTERING: dict[str, tuple[dict[str, str], str, set[str]]] = {
    "start cell": ({}, "+a1B", set()),
    "another start cell": ({"a1": "R"}, "+b2B", set()),
    "whatever way it took": ({}, "+c3B -c3 +a1B", set()),
    "start cell free": ({}, "+c3B", {"enter-start-cell-free"}),
    "occupied": ({"a1": "R"}, "+a1B", {"enter-occupied"}),
    "beside the board": ({}, "+g1B", {"off-board"}),
    "nearest free cell": (dict.fromkeys(TAKEN, "R"), "+c1B", set()),
    "not the nearest": (dict.fromkeys(TAKEN, "R"), "+c3B", {"enter-not-nearest"}),
    "nearest are taken": (
        dict.fromkeys((*TAKEN, "c1", "c2", "a3", "b3"), "R"),
        "+c3B",
        set(),
    ),
    "relocates nothing": ({"a1": "R"}, "-c3 +c4B", {"must-enter", "nothing-there"}),
    "passes": ({}, "pass", {"must-enter", "pass-not-allowed"}),
    "moves red instead": ({"a1": "R"}, "-a1 +c3R", {"must-enter", "not-own-cube"}),
}


@pytest.mark.parametrize(("stacks", "move", "expected"), ENTERING.values(), ids=ENTERING)
def test_who_has_no_cube_enters_at_the_start_cells(
    stacks: dict[str, str], move: str, expected: set[str]
) -> None:
    """One cube on a free start cell, else as near as possible (QBQ-R16)."""
    qbq = game()
    position = placed(qbq, Stacks.of(stacks))

    verdict = qbq.judge(position, Turn.parse(f"B {move}"))

    assert slugs(verdict) == expected
    if verdict.legal:
        assert verdict.after in list(qbq.successors(position))


def test_whoever_cannot_move_passes() -> None:
    """A lone cube walled in on all sides has no turn but a pass (QBQ-R18)."""
    qbq = game()
    position = placed(qbq, Stacks.of({"a1": "B", "a2": "R", "b1": "R", "f6": "RR"}))

    assert list(qbq.turns(position)) == [Turn("B")]
    assert checked_apply(qbq, position, Turn("B")).player == "R"

    red = checked_apply(qbq, checked_apply(qbq, position, Turn("B")), Turn.parse("R -f6 +f5R"))
    assert list(qbq.first_of_two(position, red.stacks)) == [Turn("B")]


# --- the order of the changes, and half a turn -----------------------------------------------

ORDERS = {
    "relocation, first put down": ("+c1B -a1", "-a1 +c1B"),
    "insertion last": ("-a1 +c2B +c1B", "+c1B -a1 +c2B"),
    "both cubes first": ("+c1B +c2B -a1", "+c1B -a1 +c2B"),
    "insertion made possible by the relocated cube": ("+d1B -a1 +c1B", "+c1B -a1 +d1B"),
    "tip cube by cube": ("-b2 +c2B -b2 +d2B", "-b2 -b2 +c2B +d2B"),
    "tip from the far end": ("+d2B +c2B -b2 -b2", "-b2 -b2 +c2B +d2B"),
    "changed his mind": ("+c1B -c1 -a1 +c2B", "-a1 +c2B"),
    "green in passing": ("+c1G -c1 -a1 +c2B", "-a1 +c2B"),
    "red lifted for a moment": ("-b3 -a1 +c2B +b3R", "-a1 +c2B"),
    "red put back from under it": ("-b3 +b3B -b3 +c1B +b3R", "+b1B -b1 +c1B"),
}


@pytest.mark.parametrize(("written", "usual"), ORDERS.values(), ids=ORDERS)
def test_the_order_of_changes_does_not_matter(written: str, usual: str) -> None:
    """Turns with the same effect are judged alike."""
    qbq = game()
    position = placed(qbq, Stacks.of(SCENE))

    one = qbq.judge(position, Turn.parse(f"B {written}"))
    two = qbq.judge(position, Turn.parse(f"B {usual}"))

    assert one.legal
    assert one.after == two.after


HALF = {
    "cube lifted": "-a1",
    "tower cube in the hand": "-b2",
    "two tower cubes in the hand": "-b2 -b2",
    "one of two has fallen": "-b2 -b2 +c2B",
    "fallen ones first": "+c2B +d2B",
    "red stack taken out": "-b3 -b3",
    "red stack half taken out": "-b2 -b2 -b3",
    "inserted": "+c1B",
    "two new cubes": "+c1B +c2B",
    "relocated to where the insertion will lead": "-a1 +d1B",
}


@pytest.mark.parametrize("move", HALF.values(), ids=HALF)
def test_half_a_turn_is_unfinished(move: str) -> None:
    """What is part of a legal turn is no reason to complain yet."""
    qbq = game()
    verdict = qbq.judge(placed(qbq, Stacks.of(SCENE)), Turn.parse(f"B {move}"))

    assert verdict.unfinished
    assert not verdict.legal


@pytest.mark.parametrize("move", ["+d5B", "-e2 +e5B", "-f6", "+a6B +f1B", "-a1 -a2"])
def test_what_leads_nowhere_is_not_unfinished(move: str) -> None:
    """A change that is part of no legal turn is told at once."""
    qbq = game()

    assert not qbq.judge(placed(qbq, Stacks.of(SCENE)), Turn.parse(f"B {move}")).unfinished


def test_an_insertion_owes_a_relocation() -> None:
    """The inserted cube is named in what is owed."""
    qbq = game()
    verdict = qbq.judge(placed(qbq, Stacks.of(SCENE)), Turn.parse("B +c1B"))

    assert [(owed.what, owed.cells) for owed in verdict.owed] == [
        ("relocate", ((Cell.parse("c1"), 1),))
    ]


def test_the_inserted_cube_may_be_the_relocated_one() -> None:
    """Written down it is a turn; seen by a camera it looks like one new cube, and is found (R8)."""
    qbq = game()
    position = placed(qbq, Stacks.of(SCENE))
    turn = Turn.parse("B +c2B -c2 +c1B")

    after = checked_apply(qbq, position, turn)
    readings = qbq.readings(position, after.stacks)

    assert checked_apply(qbq, position, readings[0]) == after
    assert readings[1] == Turn.parse("B +c1B")


# --- options ---------------------------------------------------------------------------------


def test_after_an_insertion_a_cube_may_cross_where_the_table_wants_it() -> None:
    """The relocated cube may join another own group (QBQ-R7); without an insertion it never may."""
    stacks = Stacks.of({"b1": "B", "c1": "B", "e1": "B", "a6": "R"})
    found = {}
    for crossing in (False, True):
        qbq = game(crossGroupAfterInsert=crossing)
        position = placed(qbq, stacks)

        found[crossing] = slugs(qbq.judge(position, Turn.parse("B +b1B -c1 +d1B")))

        assert "other-group" in slugs(qbq.judge(position, Turn.parse("B -c1 +e1B")))
    assert found == {False: {"other-group"}, True: set()}


def test_a_bridge_may_leave_if_only_groups_are_counted() -> None:
    """The moved cube joins one part to another group, so the number of groups stays (QBQ-R5)."""
    stacks = drawn("B1 B1 B1 B1 B1 .\n. . . . . .\n. . . B1 B1 .")
    move = "-c6 +d5B"

    found = {}
    for bridge in ("reconnect", "count"):
        qbq = game(bridge=bridge)
        position = placed(qbq, stacks)
        verdict = qbq.judge(position, Turn.parse(f"B {move}"))
        found[bridge] = slugs(verdict)
        assert verdict.legal == any(
            a.stacks == after_changes(stacks, Turn.parse(f"B {move}").changes, qbq.lattice)
            for a in qbq.successors(position)
        )

    assert found == {"reconnect": {"splits-group"}, "count": set()}


def test_the_whole_line_can_count_for_a_fall() -> None:
    """A higher stack beyond the reach stops the tip under that reading (QBQ-R10)."""
    stacks = drawn(". B3 . . R5 .", 1)
    turn = Turn.parse(tip_text(stacks, at(1, 1), EAST))

    found = [
        slugs(qbq.judge(placed(qbq, stacks), turn)) for qbq in (game(), game(fallLine="whole"))
    ]

    assert found == [set(), {"tip-higher-tower"}]


def test_own_stacks_can_stop_a_fall() -> None:
    """An own stack as high as the tower blocks it where the table wants that (QBQ-R13)."""
    stacks = drawn(". B3 . B3 . .", 1)
    turn = Turn.parse(tip_text(stacks, at(1, 1), EAST))

    found = [
        slugs(qbq.judge(placed(qbq, stacks), turn)) for qbq in (game(), game(ownStackBlocks=True))
    ]

    assert found == [set(), {"own-stack-blocks"}]


def test_a_third_repetition_draws_only_where_it_is_agreed() -> None:
    """Two players walking to and fro come to the same position for the third time."""
    moves = ["B -a1 +c2B", "R -f6 +d5R", "B -c2 +a1B", "R -d5 +f6R"] * 2
    ends = []
    for repetition in (False, True):
        qbq = game(repetitionDraw=repetition)
        position = qbq.start()
        for move in moves:
            assert qbq.outcome(position) is None
            position = checked_apply(qbq, position, Turn.parse(move))
        ends.append(qbq.outcome(position))
        assert bool(list(qbq.turns(position))) == (not repetition)

    assert ends[0] is None
    assert ends[1] is not None
    assert (ends[1].winners, ends[1].reason) == ((), "qbq.repetition")


# --- seats -----------------------------------------------------------------------------------

SEATS: dict[str, tuple[str, dict[str, str], dict[str, str], dict[str, str]]] = {
    "two, opposite": ("BO", {}, {}, {"B": "a1", "O": "f6"}),
    "two whose corners adjoin, opposite": ("BR", {}, {}, {"B": "a1", "R": "f6"}),
    "two, adjacent": ("BR", {"seating": "adjacent"}, {}, {"B": "a1", "R": "a6"}),
    "two opposite ones, adjacent": ("BO", {"seating": "adjacent"}, {}, {"B": "a1", "O": "f1"}),
    "two, the other one begins": ("RB", {}, {}, {"R": "f6", "B": "a1"}),
    "two with one corner given": ("BR", {}, {"corner.R": "f1"}, {"B": "a6", "R": "f1"}),
    "two with both given": (
        "BR",
        {},
        {"corner.R": "f1", "corner.B": "a1"},
        {"B": "a1", "R": "f1"},
    ),
    "three": ("BRO", {}, {}, {"B": "a1", "R": "a6", "O": "f6"}),
    "four": ("BROG", {}, {}, {"B": "a1", "R": "a6", "O": "f6", "G": "f1"}),
    "four with one given": (
        "BROG",
        {},
        {"corner.G": "a1"},
        {"B": "a6", "R": "f6", "O": "f1", "G": "a1"},
    ),
}


@pytest.mark.parametrize(("players", "rules", "details", "corners"), SEATS.values(), ids=SEATS)
def test_players_sit_where_the_table_says(
    players: str, rules: dict[str, str], details: dict[str, str], corners: dict[str, str]
) -> None:
    """Printed corners first, then the seating of two, then what the table names."""
    qbq = QbqGame(Setup(players=tuple(players), rules=rules, details=details))

    position = qbq.start()

    assert {p: str(cell) for p, cell in position.layout.corners.items()} == corners
    assert all(position.stacks[Cell.parse(name)] == p for p, name in corners.items())


def test_the_corners_can_be_read_from_the_table() -> None:
    """Who sits elsewhere than usual is seen from the start position, and aims from there."""
    qbq = game()
    others = QbqGame(Setup(players=("B", "R"), details={"corner.B": "f1"})).start().stacks

    assert qbq.is_start(others)
    assert str(qbq.start_from(others).layout.corners["B"]) == "f1"
    assert not qbq.is_start(Stacks.of({"a1": "B"}))
    with pytest.raises(SetupError, match="2 x 2 of a corner"):
        qbq.start_from(Stacks())


WRONG_SETUPS = {
    "no corner": Setup(details={"corner.B": "b2"}),
    "no cell": Setup(details={"corner.B": "??"}),
    "a corner twice": Setup(details={"corner.B": "a1", "corner.R": "a1"}),
    "who does not play": Setup(details={"corner.G": "a1"}),
    "unknown seating": Setup(rules={"seating": "anywhere"}),
    "tiny": Setup(board=Board(Lattice(3, 3, 9, 27.0, (25.0, 25.0, 25.0)))),
    "one player": Setup(players=("B",)),
}


@pytest.mark.parametrize("setup", WRONG_SETUPS.values(), ids=WRONG_SETUPS)
def test_wrong_setups_are_refused(setup: Setup) -> None:
    """What cannot be is said when the game is set up."""
    with pytest.raises(SetupError):
        SPEC.set_up(setup)


def test_unknown_options_name_the_nearest() -> None:
    """A mistyped option is answered with the right one."""
    with pytest.raises(UnknownName, match="fallLine"):
        SPEC.set_up(Setup(rules={"falline": "whole"}))


# --- kept turns and corrections --------------------------------------------------------------


def test_a_kept_mixed_stack_is_played_on_with() -> None:
    """The owner of the top cube has the stack; the cube below counts for nothing until it is free."""
    qbq = game()
    stacks = Stacks.of({"a1": "B", "a2": "B", "b1": "RB", "f6": "R", "f5": "R"})
    position = placed(qbq, stacks)

    for turn, after in zip(qbq.turns(position), qbq.successors(position), strict=True):
        assert checked_apply(qbq, position, turn) == after
        assert after.stacks.count("R") == 3
    moved = checked_apply(qbq, position, Turn.parse("B -b1 +b2B"))

    assert moved.stacks[Cell.parse("b1")] == "R"
    assert {b.rule for b in qbq.impossible(stacks)} == {"qbq.onto-foreign"}


def test_impossible_stacks_are_told() -> None:
    """Mixed stacks, ten cubes, strange colours and cells beside the board cannot come about."""
    qbq = game()
    wrong = Stacks.of({"a1": "BR", "a2": "B" * 9, "c3": "G", "h1": "R"})

    rules = {b.rule.removeprefix("qbq.") for b in qbq.impossible(wrong)}

    assert rules == {"onto-foreign", "supply-empty", "malformed", "off-board"}
    assert not qbq.impossible(qbq.start().stacks)


# --- what holds in every game ----------------------------------------------------------------


def random_games(
    players: str, seeds: int
) -> Iterator[tuple[QbqGame, QbqPosition, Turn, QbqPosition]]:
    """The turns of some random games with the positions before and behind them."""
    for seed in range(seeds):
        rng = random.Random(seed)
        qbq = game(players)
        position = qbq.start()
        for _ in range(50):
            turn = qbq.random_turn(position, rng)
            if turn is None:
                break
            after = checked_apply(qbq, position, turn)
            yield qbq, position, turn, after
            position = after


@pytest.mark.parametrize("players", ["BR", "BRO", "BROG"])
def test_invariants_hold_in_random_games(players: str) -> None:
    """One colour a stack, nine cubes at most, own cubes by what was done, foreign ones only fewer."""
    for qbq, position, turn, after in random_games(players, 12):
        before, behind = position.stacks, after.stacks
        assert not qbq.impossible(behind)
        gained = behind.count(position.player) - before.count(position.player)
        taken = sum(
            1 for c in turn.changes if not c.add and before.get(c.cell, "B")[-1] == position.player
        )
        assert gained in (0, 1) or (gained < 0 and taken >= -gained)
        for other in players.replace(position.player, ""):
            assert behind.count(other) <= before.count(other)
        assert position.stacks == before


def test_generated_turns_and_positions_agree() -> None:
    """`turns`, `successors`, `judge`, `readings` and `adopt` tell the same story."""
    rng = random.Random(7)
    for count, (qbq, position, _, _) in enumerate(random_games("BRO", 8)):
        if count % 8:
            continue
        turns, afters = list(qbq.turns(position)), list(qbq.successors(position))
        assert len(turns) == len(afters) == len({after.stacks for after in afters})
        for i in rng.sample(range(len(turns)), min(12, len(turns))):
            assert qbq.judge(position, turns[i]).after == afters[i]
            if turns[i].changes:
                reading = qbq.readings(position, afters[i].stacks)[0]
                assert checked_apply(qbq, position, reading) == afters[i]
            (adopted,) = qbq.adopt(position, afters[i].stacks, afters[i].player)
            assert qbq.score(adopted) == qbq.score(afters[i])


def test_two_turns_in_one_look_are_found() -> None:
    """The first of two unseen turns is one after which the second is legal."""
    rng = random.Random(3)
    for qbq, position, turn, after in random_games("BROG", 4):
        second = qbq.random_turn(after, rng)
        if second is None or not (turn.changes and second.changes):
            continue
        seen = checked_apply(qbq, after, second).stacks
        first = next(qbq.first_of_two(position, seen))
        between = checked_apply(qbq, position, first)
        assert qbq.judge(between, qbq.readings(between, seen)[0]).legal


RULINGS: dict[str, dict[str, Value]] = {
    "usual": {},
    "crossing": {"crossGroupAfterInsert": True},
    "counting": {"bridge": "count"},
    "whole line": {"fallLine": "whole"},
    "own stacks": {"ownStackBlocks": True},
    "all": {
        "crossGroupAfterInsert": True,
        "bridge": "count",
        "fallLine": "whole",
        "ownStackBlocks": True,
    },
}


def scattered(players: str, rng: random.Random) -> Stacks:
    """Cubes anywhere, mostly in clumps: positions that random play hardly reaches."""
    cells = [Cell(f, r) for f in range(SIZE) for r in range(SIZE)]
    stacks: dict[Cell, str] = {}
    for player in players:
        for _ in range(rng.choice((0, 1, 2, 3, 5, 7, 9))):
            own = [cell for cell, stack in stacks.items() if stack[0] == player]
            near = [c for c in cells if any(c.touches(o) for o in own)] or cells
            free = [c for c in near + own if stacks.get(c, player)[0] == player]
            cell = rng.choice(free or own or [rng.choice(cells)])
            if stacks.get(cell, player)[0] == player:
                stacks[cell] = stacks.get(cell, "") + player
    return Stacks(stacks)


@pytest.mark.parametrize("rules", RULINGS.values(), ids=RULINGS)
def test_every_change_that_is_judged_legal_is_generated(rules: dict[str, Value]) -> None:
    """All relocations of every cube to every cell: what `judge` allows is what `successors` has."""
    rng = random.Random(11)
    for _ in range(5):
        qbq = game("BR", **rules)
        position = placed(qbq, scattered("BR", rng))
        if qbq.outcome(position):
            continue
        generated = {after.stacks for after in qbq.successors(position)}
        cells = list(qbq.lattice.cells())
        own = [cell for cell, stack in position.stacks.items() if stack[-1] == "B"]
        inserted = rng.sample(cells, 6)
        for src in own:
            for dst in cells:
                moved = (Change(False, src), Change(True, dst, "B"))
                for at in (None, *inserted):
                    new = () if at is None else (Change(True, at, "B"),)
                    verdict = qbq.judge(position, Turn("B", (*new, *moved)))
                    if verdict.after is not None:
                        assert verdict.after.stacks in generated
                    elif src != dst:
                        end = after_changes(position.stacks, (*new, *moved), qbq.lattice)
                        assert end not in generated or len(end.differing(position.stacks)) == 1


def test_perft_counts_do_not_change() -> None:
    """The numbers of successions of turns stand in a text file."""
    for line in (HERE / "counts" / "qbq.txt").read_text().splitlines():
        if line and line[0] != "#":
            players, size, *counts = line.split()
            qbq = sized(players, int(size), {})
            found = [perft(qbq, qbq.start(), depth + 1) for depth in range(len(counts))]
            assert found == [int(count) for count in counts]


def test_the_catalogue_has_every_sentence_in_every_language() -> None:
    """No language is missing, and all name the same facts."""
    text = resources.files("rules").joinpath("catalogue", "qbq.toml").read_text(encoding="utf-8")
    for entry in tomllib.loads(text).values():
        assert set(entry) == {"clause", *LANGUAGES}
        facts = [
            {
                word
                for word in ("cells", "player", "tower", "winner")
                if f"{{{word}}}" in entry[lang]
            }
            for lang in LANGUAGES
        ]
        assert all(found == facts[0] for found in facts)


@pytest.mark.parametrize("name", sorted(p.name for p in (HERE / "games").glob("qbq-*.txt")))
def test_example_games_are_judged_as_annotated(name: str) -> None:
    """Every line whose comment says `illegal:` breaks just these rules, all others none."""
    text = (HERE / "games" / name).read_text(encoding="utf-8")
    record = parse_record(text)
    events = [event.data for event in judge_record(record) if event.event == "turn"]
    lines = [line.line for line in record.lines if isinstance(line, TurnLine)]

    for number, event in zip(lines, events, strict=True):
        comment = text.splitlines()[number - 1].partition("#")[2]
        told = comment.partition("illegal:")[2].partition(";")[0].split()
        found = [b["rule"].removeprefix("qbq.") for b in event["breaks"]]
        assert sorted(found) == sorted(told), f"line {number}: {comment}"
