"""KSAR: the worked examples of the rulings, every code, and what must hold in every game."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from rules.cells import Cell
from rules.errors import SetupError
from rules.game import Setup, Value, Verdict, checked_apply, perft
from rules.judge_record import judge_record
from rules.ksar import SPEC, KsarGame, KsarPosition
from rules.ksar_frame import EXTENTS
from rules.ksar_series import longest_series
from rules.lattice import Board, Lattice
from rules.pieces import Extent, Placed
from rules.record import TurnLine, parse_record
from rules.sentences import LANGUAGES
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes

HERE = Path(__file__).parent


def game(size: int = 6, first: str = "", **rules: Value) -> KsarGame:
    """KSAR in a frame of this size."""
    lattice = Lattice(size, size, 3, 15.0, (15.0, 15.0, 15.0))
    return KsarGame(Setup(board=Board(lattice), first=first, rules=rules))


def put(x: int, y: int, size: str, height: int, letter: str) -> Change:
    """A piece as the examples tell it: lower left cell from 0, width x depth, height, colour."""
    width, depth = map(int, size.split("x"))
    return Change(True, Cell(x, y), letter, Extent(width, depth, height))


A = put(0, 0, "3x2", 1, "R")
B = put(3, 0, "1x3", 2, "B")
C = put(0, 2, "1x2", 3, "R")
D = put(4, 0, "2x3", 1, "N")
E = put(1, 2, "1x3", 2, "N")
X = put(1, 2, "2x1", 3, "B")
Y = put(1, 2, "2x3", 1, "R")
Z = put(4, 5, "2x1", 3, "B")
V = put(3, 3, "2x1", 3, "B")
IN_ORDER = (A, B, C, D, E, Z)


def after(ksar: KsarGame, *pieces: Change) -> KsarPosition:
    """The position behind these pieces, put down in turn."""
    position = ksar.start()
    for piece in pieces:
        position = checked_apply(ksar, position, Turn(position.player, (piece,)))
    return position


def slugs(verdict: Verdict[KsarPosition]) -> set[str]:
    """The codes of a verdict without the game's name."""
    return {broken.rule.removeprefix("ksar.") for broken in verdict.breaks}


def judged(ksar: KsarGame, position: KsarPosition, *changes: Change) -> set[str]:
    """The codes of a turn of the player to move."""
    return slugs(ksar.judge(position, Turn(position.player, changes)))


# --- worked examples -------------------------------------------------------------------------


@pytest.mark.parametrize("many", range(len(IN_ORDER)), ids="ABCDEZ")
def test_pieces_of_the_example_are_legal(many: int) -> None:
    """Corner, frame and piece, two pieces, neutral ones, and a corner of the frame again."""
    ksar = game()
    position = after(ksar, *IN_ORDER[:many])

    verdict = ksar.judge(position, Turn(position.player, (IN_ORDER[many],)))

    assert verdict.legal
    assert verdict.after in list(ksar.successors(position))


WRONG = {
    "X left face touches C": ((A, B, C), X, {"same-height-contact"}),
    "Y front face touches A": ((A, B, C, D), Y, {"same-height-contact"}),
    "V one face only": ((A, B, C, D, E), V, {"no-adjoining-contact"}),
}


@pytest.mark.parametrize(("before", "piece", "expected"), WRONG.values(), ids=WRONG)
def test_pieces_of_the_example_are_illegal(
    before: tuple[Change, ...], piece: Change, expected: set[str]
) -> None:
    """Equal heights and a missing second face are told."""
    ksar = game()

    assert judged(ksar, after(ksar, *before), piece) == expected


def test_v_is_legal_where_any_two_contacts_do() -> None:
    """Two pieces at the same face suffice under that reading (KSA-R1)."""
    ksar = game(contact="any2")

    assert judged(ksar, after(ksar, A, B, C, D, E), V) == set()


def test_the_series_of_the_example_are_counted() -> None:
    """Red has A, C and E, blue B and D; two neutral pieces in each hand cost two points."""
    ksar = game()
    position = after(ksar, *IN_ORDER)

    assert position.left == (10, 10, 2, 2)
    assert ksar.score(position) == {"R": 1, "B": 0}


def test_the_example_looks_as_drawn() -> None:
    """Letters and heights of the top view."""
    ksar = game()

    line = after(ksar, *IN_ORDER).stacks.line(6, 6)

    assert line == ("x4,BBB,BBB/x,NN,x4/RRR,NN,x4/RRR,NN,x,BB,N,N/R,R,R,BB,N,N/R,R,R,BB,N,N")


def test_t2_a_corridor_is_no_contact_of_adjoining_faces() -> None:
    """Two opposite faces do not suffice, with the frame in front they do."""
    corridor = put(2, 1, "1x2", 3, "B")
    found = {}
    for contact in ("adjoining", "any2"):
        ksar = game(7, first="B", contact=contact)
        walls = (put(0, 0, "2x3", 1, "R"), put(3, 0, "2x3", 1, "R"))
        position = ksar.adopt(ksar.start(), after_put(walls), "B")[0]
        found[contact] = judged(ksar, position, corridor)
        assert judged(ksar, position, put(2, 0, "1x3", 2, "B")) == set()

    assert found == {"adjoining": {"no-adjoining-contact"}, "any2": set()}


def after_put(pieces: tuple[Change, ...]) -> Stacks:
    """What stands in an empty frame when these pieces have been put down."""
    return after_changes(Stacks(), pieces, Lattice(12, 12, 3, 15.0, (15.0, 15.0, 15.0)))


def test_t3_equal_heights_may_meet_at_an_edge() -> None:
    """A vertical edge line in common is no contact of faces."""
    ksar = game(7)
    stacks = after_put((put(0, 0, "2x3", 1, "R"), put(2, 0, "2x1", 3, "B")))
    position = ksar.adopt(ksar.start(), stacks, "R")[0]

    found = judged(ksar, position, put(2, 3, "3x2", 1, "R"))

    assert found == {"no-adjoining-contact"}


def test_t4_a_tie_goes_to_whoever_played_last() -> None:
    """Scores decide, and when they are level the last player (KSA-R9)."""
    ties = 0
    for seed in range(40):
        ksar, position = played(7, seed)
        score, outcome = ksar.score(position), ksar.outcome(position)
        last = "B" if position.player == "R" else "R"
        assert outcome is not None
        if score["R"] == score["B"]:
            ties += 1
            assert (outcome.winners, outcome.reason) == ((last,), "ksar.tie-last-mover")
        else:
            best = "R" if score["R"] > score["B"] else "B"
            assert (outcome.winners, outcome.reason) == ((best,), "ksar.longest-series")
    assert ties


def played(size: int, seed: int) -> tuple[KsarGame, KsarPosition]:
    """A random game to its end."""
    ksar, rng = game(size), random.Random(seed)
    position = ksar.start()
    while (turn := ksar.random_turn(position, rng)) is not None:
        position = checked_apply(ksar, position, turn)
    return ksar, position


# --- every code ------------------------------------------------------------------------------

ILLEGAL: dict[str, tuple[str, set[str]]] = {
    "pass": ("pass", {"must-play"}),
    "put down and taken up again": ("+b3:2x1x3B -b3:2x1x3", {"must-play"}),
    "lifted and put back": ("-a1:3x2x1 +a1:3x2x1R", {"must-play"}),
    "a claim": ("claim XY", {"malformed"}),
    "a strange colour": ("+e6:2x1x3Y", {"malformed"}),
    "two pieces": ("+e6:2x1x3B +a6:2x1x3B", {"malformed"}),
    "a piece taken away": ("-a1:3x2x1", {"malformed"}),
    "a piece moved": ("-a1:3x2x1 +a5:3x2x1R", {"malformed"}),
    "a piece recoloured": ("-a1:3x2x1 +a1:3x2x1B", {"malformed"}),
    "nothing there": ("-e6:2x1x3", {"malformed"}),
    "red": ("+e6:2x1x3R", {"wrong-colour"}),
    "a cube": ("+f6B", {"bad-shape"}),
    "a block": ("+e6~f6B", {"bad-shape"}),
    "an upright block": ("+f6^B", {"bad-shape"}),
    "two separate cells": ("+a6~f6B", {"bad-shape"}),
    "a big cube": ("+e5:2x2x2B", {"bad-shape"}),
    "half outside": ("+f6:3x1x2B", {"outside-frame"}),
    "wholly outside": ("+k9:1x2x3B", {"outside-frame"}),
    "onto A": ("+a1:3x2x1B", {"on-another-piece"}),
    "partly onto A": ("+c1:1x2x3B", {"on-another-piece"}),
    "leaning on C": ("+a4:1x3x2B", {"on-another-piece"}),
    "nowhere": ("+d5:1x2x3B", {"no-adjoining-contact"}),
    "one side of the frame": ("+f4:1x2x3B", {"no-adjoining-contact"}),
    "equal heights": ("+b3:2x1x3B", {"same-height-contact"}),
    "equal height, neutral too": ("+b3:2x1x3N", {"same-height-contact"}),
    "all at once": ("+b5:2x2x3R", {"wrong-colour", "bad-shape", "no-adjoining-contact"}),
    "red over the edge onto B": ("+d1:3x1x1R", {"wrong-colour", "bad-shape", "on-another-piece"}),
}


@pytest.mark.parametrize(("move", "expected"), ILLEGAL.values(), ids=ILLEGAL)
def test_every_broken_rule_is_told(move: str, expected: set[str]) -> None:
    """Each way of going wrong has its code, and all of them are told together."""
    ksar = game()
    position = after(ksar, A, B, C)

    verdict = ksar.judge(position, Turn.parse(f"B {move}"))

    assert slugs(verdict) == expected
    assert all("{" not in b.say(language) for b in verdict.breaks for language in LANGUAGES)


def test_what_is_used_up_cannot_be_played() -> None:
    """Neutral pieces end after three, coloured ones after twelve."""
    ksar = game(10)
    position = ksar.start()._replace(left=(0, 12, 1, 3))

    assert judged(ksar, position, put(0, 0, "2x3", 1, "R")) == {"no-piece-left"}
    assert judged(ksar, position, put(0, 0, "2x3", 1, "N")) == set()
    assert judged(ksar, position._replace(left=(1, 12, 0, 3)), put(0, 0, "2x3", 1, "N")) == {
        "no-piece-left"
    }
    assert {t.changes[0].letter for t in ksar.turns(position)} == {"N"}


def test_whoever_has_nothing_left_ends_the_game() -> None:
    """With no piece in hand there is no turn, although there is room (KSA-R8)."""
    ksar = game(10)
    position = ksar.start()._replace(left=(0, 12, 0, 3))

    assert not list(ksar.turns(position))
    assert ksar.outcome(position) is not None
    assert judged(ksar, position, put(0, 0, "2x3", 1, "R")) == {"game-over"}


def test_any_two_contacts_are_counted_over_all_faces() -> None:
    """One strip of the frame, or one piece, is not enough; two strips are."""
    ksar = game(8, contact="any2")
    position = after(ksar, put(0, 0, "3x2", 1, "R"))

    assert judged(ksar, position, put(4, 0, "1x2", 3, "B")) == {"touches-fewer-than-two"}
    assert judged(ksar, position, put(1, 2, "1x2", 3, "B")) == {"touches-fewer-than-two"}
    assert judged(ksar, position, put(3, 3, "1x2", 3, "B")) == {"touches-fewer-than-two"}
    assert judged(ksar, position, put(3, 0, "1x2", 3, "B")) == set()
    assert judged(ksar, position, put(6, 7, "2x1", 3, "B")) == set()


def test_a_series_of_neutral_pieces_alone_may_be_left_out() -> None:
    """Where the table wants it, a series needs a piece of one's own (KSA-R5)."""
    scores = []
    for alone in (True, False):
        ksar = game(10, neutralOnlySeries=alone)
        position = after(ksar, put(0, 0, "2x3", 1, "N"), put(0, 3, "1x2", 3, "N"))
        scores.append(ksar.score(position))

    assert scores == [{"R": 0, "B": 0}, {"R": -2, "B": -2}]


def test_neutral_pieces_count_for_both() -> None:
    """Whoever laid it, a neutral piece joins the series of both colours."""
    ksar = game(10)
    position = after(
        ksar,
        put(0, 0, "2x3", 1, "R"),
        put(2, 0, "1x2", 3, "N"),
        put(3, 0, "1x3", 2, "N"),
        put(4, 0, "2x3", 1, "B"),
    )

    assert position.player == "R"
    assert ksar.score(position) == {"R": 3 - 2, "B": 1 + 2 - 2}


# --- pieces out of units ---------------------------------------------------------------------


def test_a_piece_is_recovered_from_its_units() -> None:
    """Six cells of height one, three of height two or two of height three are one piece."""
    ksar = game()
    position = after(ksar, A, B, C, D)
    seen = after_changes(position.stacks, (E,), ksar.lattice)

    assert ksar.readings(position, seen) == (Turn("R", (E,)),)


def test_a_piece_is_found_beside_one_of_its_colour() -> None:
    """The new piece touches a red one of another height, and is told apart from it."""
    ksar = game(8)
    position = after(ksar, put(0, 0, "3x2", 1, "R"), put(6, 7, "2x1", 3, "B"))
    piece = put(0, 2, "1x3", 2, "R")
    seen = after_changes(position.stacks, (piece,), ksar.lattice)

    assert ksar.readings(position, seen) == (Turn("R", (piece,)),)


def test_two_pieces_at_once_are_two_turns() -> None:
    """The mover's piece comes first, even where both touch or both are neutral."""
    ksar = game(8)
    position = after(ksar, put(0, 0, "3x2", 1, "R"))
    one, two = put(3, 0, "1x3", 2, "N"), put(0, 2, "1x2", 3, "N")
    seen = after_changes(position.stacks, (one, two), ksar.lattice)

    first = set(ksar.first_of_two(position, seen))

    assert first == {Turn("B", (one,)), Turn("B", (two,))}
    coloured = after_changes(
        position.stacks, (one._replace(letter="R"), two._replace(letter="B")), ksar.lattice
    )
    assert list(ksar.first_of_two(position, coloured)) == [Turn("B", (two._replace(letter="B"),))]


SIDE_BY_SIDE = {
    "two on their sides": (put(0, 0, "1x3", 2, "R"), put(1, 0, "1x3", 2, "R")),
    "two flat ones": (put(0, 0, "3x2", 1, "R"), put(0, 2, "3x2", 1, "R")),
    "two upright ones": (put(0, 0, "1x2", 3, "R"), put(1, 0, "1x2", 3, "R")),
    "one on another": (put(0, 0, "3x2", 1, "R"), put(0, 0, "3x2", 1, "R")),
}


@pytest.mark.parametrize("pieces", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_equal_pieces_of_one_colour_stay_two(pieces: tuple[Change, Change]) -> None:
    """Units that touch can still be two pieces: illegal, but counted as two of twelve."""
    ksar = game(8)
    stacks = after_put(pieces)

    (position, *_) = ksar.adopt(ksar.start(), stacks, "B")

    assert len(position.pieces) == 2
    assert position.left == (10, 12, 3, 3)
    assert position.stacks == stacks
    assert ksar.impossible(stacks)
    assert ksar.score(position)["R"] == 2 - 3


def test_a_leaning_piece_has_a_gap_below_it() -> None:
    """One end on another piece: cells with an empty place, and the reason is told."""
    ksar = game(8)
    position = after(ksar, put(0, 0, "2x3", 1, "R"))
    leaning = put(1, 0, "2x1", 3, "B")
    seen = after_changes(position.stacks, (leaning,), ksar.lattice)

    readings = ksar.readings(position, seen)

    assert seen[Cell(2, 0)] == ".BBB"
    assert readings == (Turn("B", (leaning,)),)
    assert judged(ksar, position, leaning) == {"on-another-piece"}


def test_a_nudged_piece_is_read_as_taken_and_put_down() -> None:
    """A piece that stands elsewhere is no turn, and what happened can be told."""
    ksar = game(8)
    position = after(ksar, put(0, 0, "2x3", 1, "R"))
    seen = after_put((put(1, 0, "2x3", 1, "R"),))

    (turn,) = ksar.readings(position, seen)

    assert turn.move == "-a1:2x3x1 +b1:2x3x1R"
    assert judged(ksar, position, *turn.changes) == {"malformed"}


def test_units_that_are_no_piece_are_told_as_a_box() -> None:
    """A toy of two by two cells is told as such, not as nothing."""
    ksar = game(8)
    toy = put(0, 0, "2x2", 1, "R")

    (turn,) = ksar.readings(ksar.start(), after_put((toy,)))

    assert turn.changes == (toy,)
    assert judged(ksar, ksar.start(), toy) == {"bad-shape"}


def test_a_piece_of_unknown_colour_is_taken_to_be_the_players() -> None:
    """Where no camera sees the colour nobody is blamed for it."""
    ksar = game(8)
    unknown = put(0, 0, "2x3", 1, "?")

    position = checked_apply(ksar, ksar.start(), Turn("R", (unknown,)))

    assert position.left == (11, 12, 3, 3)
    assert position.pieces == (Placed(Cell(0, 0), 1, Extent(2, 3, 1), "R"),)


def test_new_neutral_pieces_are_those_of_whoever_moved_last() -> None:
    """A kept turn takes the neutral piece out of the mover's hand, never below none."""
    ksar = game(10)
    stacks = after_put((put(4, 4, "2x3", 1, "N"),))

    kept = ksar.adopt(ksar.start(), stacks, "B")[0]
    back = ksar.adopt(kept, Stacks(), "B")[0]
    none = ksar.adopt(ksar.start()._replace(left=(12, 12, 0, 3)), stacks, "B")[0]

    assert kept.left == (12, 12, 2, 3)
    assert back.left == (12, 12, 3, 3)
    assert none.left[2] == 0


def test_impossible_stacks_are_told() -> None:
    """Pieces without contact, too many, equal heights that touch, strange colours."""
    ksar = game(10)
    wrong = {
        "no-adjoining-contact": after_put((put(4, 4, "2x3", 1, "R"),)),
        "same-height-contact": after_put((put(0, 0, "2x3", 1, "R"), put(2, 0, "2x3", 1, "B"))),
        "bad-shape": Stacks.of({"a1": "RR"}),
        "malformed": after_put((put(0, 0, "2x3", 1, "G"),)),
        "outside-frame": Stacks.of({"k1": "RRR", "k2": "RRR"}),
        "no-piece-left": Stacks({Cell(f, r): "RRR" for f in range(5) for r in range(6)}),
    }

    for slug, stacks in wrong.items():
        assert f"ksar.{slug}" in {b.rule for b in ksar.impossible(stacks)}, slug


# --- what holds in every game ----------------------------------------------------------------


def plain_codes(
    ksar: KsarGame, position: KsarPosition, piece: Change, *, adjoining: bool
) -> set[str]:
    """The same rules cell by cell, for comparison; of a right piece in its player's colour."""
    owner = {cell: p for p in position.pieces for cell in p.cells()}
    cells = set(piece.cells())
    if not all(cell in ksar.lattice for cell in cells):
        inside = {cell for cell in cells if cell in ksar.lattice}
        return {"outside-frame"} | ({"on-another-piece"} if inside & set(owner) else set())
    if cells & set(owner):
        return {"on-another-piece"}
    touched = touched_by_side(ksar, owner, cells)
    pieces = {thing for things in touched.values() for thing in things if isinstance(thing, Placed)}
    found = set()
    if any(other.extent.height == piece.extent.height for other in pieces):
        found.add("same-height-contact")
    if adjoining and not ({"east", "west"} & set(touched) and {"north", "south"} & set(touched)):
        found.add("no-adjoining-contact")
    if not adjoining and len(set().union(*touched.values())) < 2:
        found.add("touches-fewer-than-two")
    return found


SIDES = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1)}


def touched_by_side(
    ksar: KsarGame, owner: dict[Cell, Placed], cells: set[Cell]
) -> dict[str, set[Placed | str]]:
    """The pieces and strips of the frame that these cells touch with each side."""
    touched: dict[str, set[Placed | str]] = {}
    for cell in cells:
        for side, (x, y) in SIDES.items():
            near = Cell(cell.file + x, cell.rank + y)
            if near in owner:
                touched.setdefault(side, set()).add(owner[near])
            elif near not in ksar.lattice:
                touched.setdefault(side, set()).add(side)
    return touched


def random_positions(
    size: int, seeds: int, **rules: Value
) -> Iterator[tuple[KsarGame, KsarPosition, random.Random]]:
    """Every position of some random games."""
    for seed in range(seeds):
        ksar, rng = game(size, "RB"[seed % 2], **rules), random.Random(seed)
        position = ksar.start()
        while (turn := ksar.random_turn(position, rng)) is not None:
            yield ksar, position, rng
            position = checked_apply(ksar, position, turn)


@pytest.mark.parametrize("contact", ["adjoining", "any2"])
@pytest.mark.parametrize("size", [6, 8, 12])
def test_all_places_are_judged_as_cell_by_cell(size: int, contact: str) -> None:
    """For each way to lie and each place: the codes, and whether the turn is generated."""
    for count, (ksar, position, rng) in enumerate(random_positions(size, 3, contact=contact)):
        if count % 4:
            continue
        listed = {turn.changes[0] for turn in ksar.turns(position)}
        for extent in EXTENTS:
            for cell in rng.sample([Cell(f, r) for f in range(size) for r in range(size)], 12):
                piece = Change(True, cell, position.player, extent)
                expected = plain_codes(ksar, position, piece, adjoining=contact == "adjoining")
                assert judged(ksar, position, piece) == expected
                assert (piece in listed) == (not expected)


@pytest.mark.parametrize("size", [7, 10])
def test_invariants_hold_in_random_games(size: int) -> None:
    """Counts, heights and contacts of every position; readings and adoption find the piece."""
    for ksar, position, rng in random_positions(size, 6):
        turn = ksar.random_turn(position, rng)
        assert turn is not None
        behind = checked_apply(ksar, position, turn)
        assert not ksar.impossible(behind.stacks)
        assert sum(position.left) == sum(behind.left) + 1
        assert ksar.readings(position, behind.stacks) == (turn,)
        (adopted,) = ksar.adopt(position, behind.stacks, behind.player)
        assert adopted == behind
        (fresh,) = ksar.adopt(ksar.start(), behind.stacks, behind.player)
        assert set(fresh.pieces) == set(behind.pieces)


def test_two_turns_in_one_look_are_found() -> None:
    """The turn that was played first is among those that are proposed."""
    for ksar, position, rng in random_positions(9, 6):
        first = ksar.random_turn(position, rng)
        assert first is not None
        between = checked_apply(ksar, position, first)
        second = ksar.random_turn(between, rng)
        if second is not None:
            seen = checked_apply(ksar, between, second).stacks
            assert first in list(ksar.first_of_two(position, seen))


def test_the_longest_series_is_that_of_a_plain_count() -> None:
    """Growing a series piece by piece over shared faces gives the same number."""
    for count, (_, position, _) in enumerate(random_positions(10, 6)):
        if count % 3:
            continue
        for player in "RB":
            own = [p for p in position.pieces if p.letter in (player, "N")]
            best = 0
            for piece in own:
                series = {piece}
                while True:
                    more = {
                        p
                        for p in own
                        if p not in series
                        and any(a.touches(b) for s in series for a in s.cells() for b in p.cells())
                    }
                    if not more:
                        break
                    series |= more
                best = max(best, len(series))
            assert longest_series(position.pieces, player, "N", neutral_only=True) == best


def test_perft_counts_do_not_change() -> None:
    """The numbers of successions of turns stand in a text file."""
    for line in (HERE / "counts" / "ksar.txt").read_text().splitlines():
        if line and line[0] != "#":
            contact, size, *counts = line.split()
            ksar = game(int(size), contact=contact)
            found = [perft(ksar, ksar.start(), depth + 1) for depth in range(len(counts))]
            assert found == [int(count) for count in counts]


@pytest.mark.parametrize("columns", [5, 13])
def test_frames_of_other_sizes_are_refused(columns: int) -> None:
    """KSAR frames have 7 to 12 units a side (6 in the examples)."""
    with pytest.raises(SetupError, match="7 to 12"):
        game(columns)


@pytest.mark.parametrize("key", ["size", "frame", "ksar.frame"])
def test_records_name_the_frame(key: str) -> None:
    """The header of a record tells the size of the frame by either name."""
    record = parse_record(f"game = ksar\n{key} = 8\n\nR +a1:2x3x1R\n")

    assert record.setup.board is not None
    assert (record.setup.board.lattice.columns, record.setup.board.lattice.ranks) == (8, 8)
    assert parse_record(str(record)).setup.board == record.setup.board


def test_the_frame_is_square() -> None:
    """Four equal strips make the frame."""
    lattice = Lattice(10, 9, 3, 15.0, (15.0, 15.0, 15.0))
    with pytest.raises(SetupError, match="square"):
        SPEC.set_up(Setup(board=Board(lattice)))


def test_the_default_frame_is_the_usual_one() -> None:
    """Ten by ten units of 15 mm, red first, the frame to be measured."""
    ksar = SPEC.set_up()

    assert ksar.players == ("R", "B")
    assert ksar.lattice == Lattice(10, 10, 3, 15.0, (15.0, 15.0, 15.0))
    assert SPEC.board.frame_height_mm == SPEC.board.frame_width_mm == "auto"


@pytest.mark.parametrize("name", sorted(p.name for p in (HERE / "games").glob("ksar-*.txt")))
def test_example_games_are_judged_as_annotated(name: str) -> None:
    """Every line whose comment says `illegal:` breaks just these rules, all others none."""
    text = (HERE / "games" / name).read_text(encoding="utf-8")
    record = parse_record(text)
    events = [event.data for event in judge_record(record) if event.event == "turn"]
    lines = [line.line for line in record.lines if isinstance(line, TurnLine)]

    for number, event in zip(lines, events, strict=True):
        comment = text.splitlines()[number - 1].partition("#")[2]
        told = comment.partition("illegal:")[2].partition(";")[0].split()
        found = [b["rule"].removeprefix("ksar.") for b in event["breaks"]]
        assert sorted(found) == sorted(told), f"line {number}: {comment}"
