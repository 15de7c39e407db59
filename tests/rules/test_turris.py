"""TURRIS: the worked examples of the rulings, every reason and option, views, whole games."""

import random
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from rules.blocks import OPPONENT, block_change
from rules.cells import Cell
from rules.errors import SetupError
from rules.game import Owed, Setup, Value, checked_apply, perft
from rules.judge_record import judge_record
from rules.lattice import Board, Lattice
from rules.record import parse_record
from rules.stacks import Stacks
from rules.turn import Change, Turn
from rules.turris import SPEC, TurrisGame
from rules.turris_tower import TurrisPosition, spots
from rules.turris_views import View, biggest, views

HERE = Path(__file__).parent


def turris(**rules: Value) -> TurrisGame:
    """TURRIS under these house rules."""
    return TurrisGame(Setup(rules=rules))


def put(game: TurrisGame, position: TurrisPosition, text: str) -> TurrisPosition:
    """The tower with one more block of either colour, legal or not."""
    verdict = game.judge(position._replace(player=text[-1]), Turn.parse(f"{text[-1]} {text}"))
    after = verdict.after or verdict.kept
    assert after is not None, verdict
    return after


def tower(game: TurrisGame, blocks: str) -> TurrisPosition:
    """The tower of these blocks, one after another, whoever's turn it was."""
    position = game.start()
    for text in blocks.split():
        position = put(game, position, text)
    return position


def slugs(game: TurrisGame, position: TurrisPosition, text: str) -> set[str]:
    """What is wrong with a turn of whoever it names."""
    turn = Turn.parse(text)
    verdict = game.judge(position._replace(player=turn.player), turn)
    return {b.rule.removeprefix("turris.") for b in verdict.breaks}


def owed(game: TurrisGame, position: TurrisPosition, text: str) -> set[str]:
    """What a turn of whoever it names may still add."""
    turn = Turn.parse(text)
    verdict = game.judge(position._replace(player=turn.player), turn)
    assert verdict.legal
    return {o.what for o in verdict.owed}


# --- worked examples -----------------------------------------------------------------------------

# blocks 1, 2, 3, 4 of the example, then 7
FIRST, SECOND, THIRD, FOURTH, SEVENTH = "+a1~b1L", "+c1^D", "+a2~b2L", "+c2^D", "+a1~a2D"
EXAMPLE = f"{FIRST} {SECOND} {THIRD} {FOURTH}"

STEPS = {
    "1 first block": ("", f"L {FIRST}", set()),
    "2 upright beside it": (FIRST, f"D {SECOND}", set()),
    "3 covers the middle": (f"{FIRST} {SECOND}", f"L {THIRD}", set()),
    "4 upright beside it": (f"{FIRST} {SECOND} {THIRD}", f"D {FOURTH}", set()),
    "5 upright on a block": (EXAMPLE, "L +a2^L", {"upright-no-side-contact"}),
    "6 T3 flat on one block": (EXAMPLE, "L +a1~b1L", {"flat-not-on-two-blocks"}),
    "7 flat on two blocks": (EXAMPLE, f"D {SEVENTH}", set()),
}


@pytest.mark.parametrize(("blocks", "turn", "broken"), STEPS.values(), ids=STEPS)
def test_the_worked_example(blocks: str, turn: str, broken: set[str]) -> None:
    """Each step of the example is judged as the rulings say."""
    game = turris()

    assert slugs(game, tower(game, blocks), turn) == broken


def test_a_half_in_the_middle_earns_a_bonus() -> None:
    """The third block of the example may be followed by a bonus, the others not."""
    game = turris()

    assert owed(game, tower(game, f"{FIRST} {SECOND}"), f"L {THIRD}") == {"bonus"}
    assert owed(game, tower(game, FIRST), f"D {SECOND}") == set()


def drawn(view: View, mirrored: bool = False) -> list[str]:
    """A view as the rulings draw it: the highest level first, from left to right."""
    rows = []
    light, dark = view.light, view.dark
    while light or dark:
        squares = ["W" if light >> i & 1 else "B" if dark >> i & 1 else "." for i in range(3)]
        rows.append(" ".join(squares[::-1] if mirrored else squares))
        light, dark = light >> view.width, dark >> view.width
    return rows[::-1]


def test_the_views_of_the_worked_example() -> None:
    """Five drawings, and twelve points for dark against eight."""
    game = turris()
    position = tower(game, f"{EXAMPLE} {SEVENTH}")
    south, north, west, east, roof = views(position.filled, position.light, position.dark, 3)

    assert drawn(south) == ["B . B", "W W B"]
    assert drawn(east) == ["B B .", "B B ."]
    assert drawn(north, mirrored=True) == ["B . B", "B W W"]
    assert drawn(west, mirrored=True) == [". B B", ". W W"]
    assert drawn(roof) == ["B W B", "B W B"]
    points = [
        (biggest(v.dark, v.width), biggest(v.light, v.width))
        for v in (south, east, north, west, roof)
    ]
    assert points == [(2, 2), (4, 0), (2, 2), (2, 2), (2, 2)]
    assert game.score(position) == {"L": 8, "D": 12}


def test_t4_a_fourth_unfinished_level_waits_for_the_lowest() -> None:
    """Nothing enters level 4 until level 1 has nine squares; what fills its last hole may."""
    game = turris()
    position = tower(game, "+a1~a2L +b1^D +b2~b3L +c1~c2D +a3^D +b1~c1L")
    assert [max(map(len, position.stacks.values())), position.left("L")] == [3, 17]

    assert "fourth-unfinished-level" in slugs(game, position, "L +b1^L")
    assert slugs(game, position, "D +b1~c1D") == {
        "flat-not-on-two-blocks",
        "fourth-unfinished-level",
    }
    assert slugs(game, position, "L +c3^L") == set()
    filled = put(game, position, "+c3^L")
    assert slugs(game, filled, "D +b1~c1D") == {"flat-not-on-two-blocks"}


def test_t5_a_removal_must_not_leave_a_fourth_unfinished_level() -> None:
    """With level 1 finished and three begun above, no block of level 1 may come away."""
    game = turris()
    position = tower(game, "+a1~a2L +b1^D +b2~b3L +c1~c2D +a3^D +c3^L +a1^L +a1^L")
    earning = "L +a2~b2L"
    assert slugs(game, position, earning) == set()

    assert slugs(game, position, f"{earning} -c1~c2") == {"remove-fourth-unfinished-level"}
    lower = tower(game, "+a1~a2L +b1^D +b2~b3L +c1~c2D +a3^D +c3^L +a1^L")
    assert slugs(game, lower, f"{earning} -c1~c2") == set()


def test_t6_recessed_squares_join_what_they_touch_in_the_view() -> None:
    """South view: light at the front, at the back and at the front again is one group of three."""
    game = turris()
    row = Stacks.of({"a1": "L", "a2": "L", "b3": "L", "c1": "L", "c2": "L", "a3": "L"})
    (position, *_) = game.adopt(game.start(), row, "L")
    south = views(position.filled, position.light, position.dark, 3)[0]

    assert biggest(south.light, south.width) == 3


def test_sight_lines_through_the_tower_separate() -> None:
    """Where the eye goes through, two groups stay two."""
    game = turris()
    (position, *_) = game.adopt(game.start(), Stacks.of({"a1": "LL", "c1": "LL"}), "L")
    south = views(position.filled, position.light, position.dark, 3)[0]

    assert biggest(south.light, south.width) == 2


def walked_score(stacks: Stacks, side: int) -> dict[str, int]:
    """The five views, square by square: the first unit on every line of sight (TUR-R13)."""
    letters = {(*cell, z): letter for (cell, z), letter in stacks.units()}
    top = max((z for *_, z in letters), default=0)
    across, up = range(side), range(1, top + 1)
    lines = [
        {(x, z): [(x, y, z) for y in across] for x in across for z in up},
        {(y, z): [(x, y, z) for x in across] for y in across for z in up},
    ]
    lines += [{at: line[::-1] for at, line in view.items()} for view in lines]
    lines.append({(x, y): [(x, y, z) for z in reversed(up)] for x in across for y in across})
    points = {"L": 0, "D": 0}
    for view in lines:
        seen = {
            at: next((letters[u] for u in line if u in letters), "") for at, line in view.items()
        }
        for colour in points:
            rest = {at for at, letter in seen.items() if letter == colour}
            sizes = [0]
            while rest:
                border = [rest.pop()]
                for x, y in border:
                    near = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & rest
                    rest -= near
                    border += near
                sizes.append(len(border))
            points[colour] += max(sizes)
    return points


@pytest.mark.parametrize("anchor", ["fixed", "floating"])
def test_the_score_is_what_a_walk_along_every_line_of_sight_finds(anchor: str) -> None:
    """At every moment of whole games, whatever is taken away on the way."""
    game, rng = turris(anchor=anchor), random.Random(13)
    for _ in range(3):
        position = game.start()
        while turn := game.random_turn(position, rng):
            position = checked_apply(game, position, turn)
            assert game.score(position) == walked_score(position.stacks, game.side)


def test_t7_the_edge_of_a_level_comes_before_its_middle() -> None:
    """The own other half at the edge does not count; a block there before does."""
    game = turris()
    position = tower(game, f"{FIRST} {THIRD}")
    assert slugs(game, position, "D +b1~b2D") == {"middle-before-edge"}

    assert owed(game, tower(game, f"{FIRST} {THIRD} +a1~a2D"), "D +b1~b2D") == {"bonus"}


@pytest.mark.parametrize(("strict", "broken"), [("both", {"middle-before-edge"}), ("lower", set())])
def test_t8_upright_in_the_middle(strict: str, broken: set[str]) -> None:
    """Level 1 has a block at its edge, level 2 has none."""
    game = turris(middleStrict=strict)

    assert slugs(game, tower(game, FIRST), "D +b2^D") == broken


# --- every reason --------------------------------------------------------------------------------

ILLEGAL = {
    "pass": ("D pass", {"pass-not-allowed"}),
    "claim": ("D claim X", {"malformed"}),
    "other colour": ("D +a1~a2L", {"wrong-colour"}),
    "unknown letter": ("D +a1~a2X", {"wrong-colour"}),
    "a single square": ("D +a3D", {"bad-shape"}),
    "apart": ("D +a1~c1D", {"bad-shape"}),
    "beside the felt": ("D +d1^D", {"footprint"}),
    "half beside": ("D +c2~d2D", {"footprint"}),
    "off the raster, twice": ("D +d1~d2X", {"wrong-colour", "footprint"}),
    "nothing but a removal": ("L -c2^", {"malformed"}),
    "put back": ("L -c2^ +c2^D", {"pass-not-allowed"}),
    "half in the air": ("D +a2~a3D", {"over-empty"}),
    "no bonus": ("D +a1~a2D +a3^D", {"bonus-not-earned"}),
    "no bonus to remove": (
        "D +a1~a2D -a2~b2",
        {"bonus-not-earned", "remove-covered", "remove-last-placed"},
    ),
    "three blocks": ("D +a1~a2D +b1~b2D +a3^D", {"bonus-not-earned"}),
}


@pytest.mark.parametrize(("text", "broken"), ILLEGAL.values(), ids=ILLEGAL)
def test_every_broken_rule_is_told(text: str, broken: set[str]) -> None:
    """Each way of going wrong has its code, and all of them are told together."""
    game = turris()

    assert slugs(game, tower(game, EXAMPLE), text) == broken


def test_an_upright_block_apart_touches_nothing() -> None:
    """On the felt, away from all others, it breaks rules a and c; a flat one only a."""
    game = turris()
    position = tower(game, "+a1~a2L")

    assert slugs(game, position, "D +c3^D") == {"no-contact", "upright-no-side-contact"}
    assert slugs(game, position, "D +c2~c3D") == {"no-contact"}


def test_the_first_block_needs_no_contact_but_may_not_take_the_middle() -> None:
    """It may stand alone; the middle waits for the edge."""
    game = turris()

    assert slugs(game, game.start(), "L +c3^L") == set()
    assert slugs(game, game.start(), "L +b2^L") == {"middle-before-edge"}
    assert slugs(game, game.start(), "L +b2~b3L") == {"middle-before-edge"}


# light is to move; b1~b2 on level 2 takes the middle and earns a bonus
BONUS = "+a1~b1L +c1^D +a2~b2L +c2^D +a1~a2D +c3^D"
EARNING = "L +b1~b2L"


BONUSES = {
    "declined": ("", set()),
    "placed": ("+b3^L", set()),
    "taken": ("-c2^", set()),
    "taken, by the first name": ("-a2~a1", set()),
    "taken, with the colour": ("-c1^D", set()),
    "placed, two in all": ("+b3^L +a3^L", {"bonus-not-earned"}),
    "placed and taken": ("+b3^L -c2^", {"bonus-not-earned"}),
    "two taken": ("-c2^ -c1^", {"bonus-not-earned"}),
    "wrong colour": ("+b3^D", {"bonus-wrong-colour"}),
    "bad shape": ("+b3L", {"bonus-bad-shape"}),
    "beside the felt": ("+d2^L", {"bonus-footprint"}),
    "over empty": ("+b3~c3L", {"bonus-over-empty"}),
    "on one block": ("+b1~b2L", {"bonus-flat-not-on-two-blocks", "bonus-middle-before-edge"}),
    "no side": (
        "+b2^L",
        {
            "bonus-upright-no-side-contact",
            "bonus-middle-before-edge",
            "bonus-fourth-unfinished-level",
        },
    ),
    "no such block": ("-a3^", {"remove-nothing"}),
    "a single square": ("-c2", {"remove-nothing"}),
    "beside the felt, taken": ("-d2^", {"remove-nothing"}),
    "other colour than said": ("-c2^L", {"remove-nothing"}),
    "own and covered": ("-a2~b2", {"remove-own", "remove-covered"}),
    "own": ("-b1~b2", set()),  # what was just put down is taken back: nothing was done
    "the last one": ("-c3^", {"remove-last-placed"}),
}


@pytest.mark.parametrize(("bonus", "broken"), BONUSES.values(), ids=BONUSES)
def test_a_bonus_is_placed_or_taken_or_declined(bonus: str, broken: set[str]) -> None:
    """Every rule for the bonus is told with a code of its own."""
    game = turris()
    position = tower(game, BONUS)
    if bonus == "-b1~b2":
        assert slugs(game, position, f"{EARNING} {bonus}") == {"pass-not-allowed"}
        return

    assert slugs(game, position, f"{EARNING} {bonus}") == broken


def test_the_order_in_which_a_turn_is_done_does_not_matter() -> None:
    """The bonus may be put down or taken away first."""
    game = turris()
    position = tower(game, BONUS)
    for other in ("+b3^L", "-c2^"):
        earning = EARNING.split()[1]
        plain = game.judge(position._replace(player="L"), Turn.parse(f"L {earning} {other}"))
        turned = game.judge(position._replace(player="L"), Turn.parse(f"L {other} {earning}"))

        assert plain.legal
        assert turned.legal
        assert plain.after is not None
        assert turned.after is not None
        assert turned.after.stacks == plain.after.stacks


def test_a_block_taken_first_is_unfinished_as_long_as_a_bonus_can_follow() -> None:
    """A hand may take before it puts; what no bonus may take is told at once."""
    game = turris()
    position = tower(game, BONUS)._replace(player="L")

    free = game.judge(position, Turn.parse("L -c2^"))
    last = game.judge(position, Turn.parse("L -c3^"))

    assert (free.legal, free.unfinished) == (False, True)
    assert (last.legal, last.unfinished) == (False, False)


def test_a_block_cannot_go_where_one_has_just_been_taken_from() -> None:
    """The block comes first: its place was still taken."""
    game = turris()
    position = tower(game, "+a1~b1L +a2^D +c1~c2D")

    assert "occupied" in slugs(game, position, "L -a2^ +a2~b2L")


def test_the_map_decides_which_block_is_taken() -> None:
    """Two upright and two flat blocks look alike; only what stands can be taken."""
    game = turris()
    upright = tower(game, f"{FIRST} +a2~b2L +a1^D +a2^D +b1^L +c1^L")
    flat = tower(game, f"{FIRST} +a2~b2L +a1~a2D +a1~a2D +b1^L +c1^L")
    assert upright.stacks == flat.stacks

    for position, text, other in ((upright, "-a1^", "-a1~a2"), (flat, "-a1~a2", "-a1^")):
        assert "remove-nothing" not in slugs(game, position, f"L +b2^L {text}")
        assert "remove-nothing" in slugs(game, position, f"L +b2^L {other}")


def test_freed_squares_stay_free_for_one_turn() -> None:
    """The opponent may not fill them again in his next turn, bonus included; then he may."""
    game = turris()
    position = tower(game, BONUS)._replace(player="L")
    after = checked_apply(game, position, Turn.parse(f"{EARNING} -c2^"))

    assert slugs(game, after, "D +c2^D") == {"refilled"}
    assert all("c2" not in turn.move.split()[0] for turn in game.turns(after) if turn.changes)
    later = checked_apply(
        game, checked_apply(game, after, Turn.parse("D +b3^D")), Turn.parse("L +a3^L")
    )
    assert slugs(game, later, "D +c2^D") == set()


def test_the_ban_holds_for_the_bonus_too() -> None:
    """A bonus block may not fill the freed place either."""
    game = turris()
    position = tower(game, BONUS)._replace(player="L")
    after = checked_apply(game, position, Turn.parse(f"{EARNING} -c2^"))
    found = [
        slugs(game, after, f"{turn} +c2^D") for turn in game.turns(after) if len(turn.changes) == 1
    ]

    assert {"bonus-refilled", "bonus-not-earned"} in found


def test_who_gets_a_block_back_has_it() -> None:
    """Taken blocks return to their owner's supply."""
    game = turris()
    position = tower(game, BONUS)._replace(player="L")
    after = checked_apply(game, position, Turn.parse(f"{EARNING} -c2^"))

    assert (position.left("D"), after.left("D")) == (16, 17)


# --- options -------------------------------------------------------------------------------------


def test_a_bonus_earns_no_bonus_unless_the_table_wants_it() -> None:
    """With the chain a bonus block in the middle allows one more."""
    for chain in (False, True):
        game = turris(bonusChain=chain)
        longest = max(len(t.changes) for seed in range(12) for _, t in random_game(game, seed))
        assert (longest > 2) == chain

    position = tower(turris(), "+a1~b1L +c1^D +c2^L +a2~a3D +a1~b1D")
    turn = "L +b2~b3L +b2~c2L"
    assert slugs(turris(), position, turn) == slugs(turris(bonusChain=True), position, turn)


def test_a_floating_footprint_is_written_around_c3() -> None:
    """The first block covers c3 of five by five; three squares of width and depth are fixed later."""
    game = turris(anchor="floating")
    start = game.start()
    assert (game.lattice.columns, game.lattice.ranks) == (5, 5)
    assert slugs(game, start, "L +a1^L") == {"raster"}
    assert {turn.move for turn in game.turns(start)} == {
        "+c3^L",
        "+b3~c3L",
        "+c3~d3L",
        "+c2~c3L",
        "+c3~c4L",
    }

    position = tower(game, "+c3^L +d3~e3D")
    assert slugs(game, position, "L +b3^L") == {"footprint"}
    assert slugs(game, position, "L +c4^L") == set()
    assert slugs(game, position, "L +e3~f3L") == {"raster"}


def test_a_floating_middle_exists_when_three_by_three_are_used() -> None:
    """Before that nothing is tested and nothing earned."""
    game = turris(anchor="floating")
    early = tower(game, "+c3^L +d3~e3D")
    assert owed(game, early, "L +d4^L") == set()

    assert slugs(game, early, "L +d4^L") == set()

    spanned = tower(game, "+c3^L +d3~e3D +c4~c5L")
    assert owed(game, spanned, "D +d4~d5D") == {"bonus"}
    assert slugs(game, spanned, "D +d4^D") == set()
    high = tower(game, "+c3^L +d3~e3D +c4~c5L +d4~d5D +e3~e4L")
    assert slugs(game, high, "L +d4^L") == {"middle-before-edge"}  # level 3 has no edge yet
    assert owed(game, high, "L +d3~d4L") == {"bonus"}


def test_a_player_stuck_by_the_ban_alone_passes_or_is_stuck() -> None:
    """`banStuck` decides whether the game can end while only the ban keeps a player from placing."""
    wanted = 0
    for seed in range(40):
        game, strict = turris(), turris(banStuck="end")
        for position, _ in random_game(game, seed)[-6:]:
            found = spots(position, 0, strict=True)
            other = spots(position._replace(player=OPPONENT[position.player]), 0, strict=True)
            if len(found) != 1 or other:
                continue
            wanted += 1
            banned = position._replace(banned=found[0].bits)
            assert [turn.move for turn in game.turns(banned)] == ["pass"]
            assert game.outcome(banned) is None
            assert not list(strict.turns(banned))
            assert strict.outcome(banned) is not None
    assert wanted


@pytest.mark.parametrize(
    ("size", "rules"), [(4, {}), (5, {}), (4, {"anchor": "floating"})], ids=str
)
def test_other_footprints_are_refused(size: int, rules: dict[str, Value]) -> None:
    """A tower stands on three by three squares, written on five by five where it floats."""
    lattice = Lattice(size, size, 11, 27.0, (27.0, 27.0, 27.0))
    with pytest.raises(SetupError, match="3 x 3"):
        TurrisGame(Setup(board=Board(lattice), rules=rules))


def test_a_tower_begins_empty() -> None:
    """Nothing stands on the felt before the first turn."""
    game = turris()
    assert game.is_start(Stacks())
    with pytest.raises(SetupError):
        game.start_from(Stacks.of({"a1": "LL"}))


# --- kept turns ----------------------------------------------------------------------------------


def test_old_breaches_are_not_told_again() -> None:
    """A tower left with four unfinished levels may be built on, but no fifth level is begun."""
    game = turris()
    position = tower(game, "+a1~b1L +c1^D +c1^L +c2~b2D")
    assert max(map(len, position.stacks.values())) == 4

    assert "fourth-unfinished-level" not in slugs(game, position, "L +a2^L")
    assert "fourth-unfinished-level" in slugs(game, position, "D +c1^D")


def test_a_kept_turn_keeps_its_blocks_and_which_came_last() -> None:
    """The turn tells what its squares do not: the blocks, and the one that may not be taken."""
    game = turris()
    position = tower(game, "+a1~b1L +c1^D")._replace(player="L")
    kept = game.judge(position, Turn.parse("L +a2^L +a3^L")).kept
    assert kept is not None

    assert kept.player == "D"
    assert game.lattice.columns == 3
    (last,) = [
        block_change(block, add=True)
        for block in game._raster.blocks(kept.standing)
        if game._raster.block_bits(block) == kept.last_light
    ]
    assert last == Change.parse("+a3^L")


def test_an_adopted_tower_bans_what_a_turn_has_just_freed() -> None:
    """Also where the turn that took a block away was not legal."""
    game = turris()
    position = tower(game, BONUS)._replace(player="L")
    seen = {str(cell): stack for cell, stack in position.stacks.items() if str(cell) != "c2"}

    (after, *_) = game.adopt(position, Stacks.of(seen), "D")

    assert slugs(game, after, "D +c2^D") == {"refilled"}


# --- random games --------------------------------------------------------------------------------


def random_game(game: TurrisGame, seed: int) -> list[tuple[TurrisPosition, Turn]]:
    """The positions of a random game, each with the turn that was made there."""
    rng = random.Random(seed)
    position = game.start()
    steps = []
    while (turn := game.random_turn(position, rng)) is not None:
        steps.append((position, turn))
        position = checked_apply(game, position, turn)
    return steps


HOUSES: dict[str, dict[str, Value]] = {
    "default": {},
    "floating": {"anchor": "floating"},
    "chain": {"bonusChain": True},
    "lower": {"middleStrict": "lower", "banStuck": "end"},
}
every_house = pytest.mark.parametrize("rules", HOUSES.values(), ids=HOUSES)


@every_house
def test_invariants_hold_in_random_games(rules: dict[str, Value]) -> None:
    """No gaps, at most three unfinished levels, nine to eleven levels in the end, all blocks in."""
    game = turris(**rules)
    heights: Counter[int] = Counter()
    for seed in range(20):
        steps = random_game(game, seed)
        position = checked_apply(game, *steps[-1])
        for (before, turn), (after, _) in zip(
            steps, [*steps[1:], (position, Turn("L"))], strict=True
        ):
            stacks = after.stacks
            assert not game.impossible(stacks)
            assert "." not in "".join(stacks.values())
            taken = sum(not change.add for change in turn.changes)
            blocks = len(turn.changes) - 2 * taken
            assert before.left("L") + before.left("D") - after.left("L") - after.left("D") == blocks
            if not taken:
                assert not after.banned
        outcome = game.outcome(position)
        assert outcome is not None
        score = game.score(position)
        assert (len(outcome.winners) == 1) == (score["L"] != score["D"])
        assert all(score[winner] == max(score.values()) for winner in outcome.winners)
        heights[max(map(len, position.stacks.values()))] += 1

    assert set(heights) <= {9, 10, 11}
    assert heights[10] > 10


@every_house
def test_only_listed_turns_are_judged_legal(rules: dict[str, Value]) -> None:
    """Whatever block is put anywhere, it is legal just where it is listed."""
    game = turris(**rules)
    cells = list(game.lattice.cells())
    texts = [f"+{cell}^" for cell in cells]
    texts += [f"+{a}~{b}" for a in cells for b in cells if a < b and a.touches(b)]
    for seed in range(3):
        for position, _ in random_game(game, seed):
            player = position.player
            legal = {
                f"{text}{player}"
                for text in texts
                if not game.judge(position, Turn.parse(f"{player} {text}{player}")).breaks
            }
            listed = {turn.move for turn in game.turns(position) if len(turn.changes) == 1}
            assert legal == listed


@every_house
def test_only_listed_bonuses_are_judged_legal(rules: dict[str, Value]) -> None:
    """Every second change is tried after a block that earns a bonus."""
    game = turris(**rules)
    cells = list(game.lattice.cells())
    shapes = [f"{cell}^" for cell in cells]
    shapes += [f"{a}~{b}" for a in cells for b in cells if a < b and a.touches(b)]
    rng = random.Random(5)
    for position, _ in random_game(game, 8)[::2]:
        player = position.player
        listed = {turn.move for turn in game.turns(position) if len(turn.changes) == 2}
        firsts = [turn for turn in game.turns(position) if len(turn.changes) == 1]
        turn = rng.choice(firsts)
        second = [f"+{shape}{player}" for shape in shapes] + [f"-{shape}" for shape in shapes]
        for text in second:
            both = f"{turn.move} {text}"
            verdict = game.judge(position, Turn.parse(f"{player} {both}"))
            if both in listed:
                assert verdict.legal
            elif verdict.legal:
                # legal the other way round
                assert f"{text} {turn.move}" in listed


def test_what_stands_is_adopted_with_its_blocks() -> None:
    """Turn by turn the block map is kept; without any history squares and score are."""
    game = turris()
    for seed in range(6):
        for position, turn in random_game(game, seed):
            after = checked_apply(game, position, turn)
            maps = [way.standing for way in game.adopt(position, after.stacks, after.player)]
            assert after.standing in maps
            for way in game.adopt(game.start(), after.stacks, after.player):
                assert way.stacks == after.stacks
                assert game.score(way) == game.score(after)


def test_two_turns_in_one_look_are_taken_apart() -> None:
    """The first of two legal turns is among the ways to begin, or another with the same result."""
    game = turris()
    for seed in range(6):
        steps = random_game(game, seed)
        for (position, turn), (middle, then) in pairwise(steps):
            if not turn.changes or not then.changes:
                continue
            seen = checked_apply(game, middle, then).stacks
            firsts = list(game.first_of_two(position, seen))
            assert len(firsts) < 100
            assert middle in [game.judge(position, first).after for first in firsts]


def test_a_tower_turned_by_a_quarter_has_the_same_score() -> None:
    """Turning the felt changes neither groups nor points."""
    game = turris()
    for seed in range(4):
        position = random_game(game, seed)[-1][0]
        turned = {
            str(Cell(2 - cell.rank, cell.file)): stack for cell, stack in position.stacks.items()
        }
        (way, *_) = game.adopt(game.start(), Stacks.of(turned), "L")
        assert game.score(way) == game.score(position)


def test_who_takes_his_bonus_first_owes_the_block_that_earns_it() -> None:
    """That one must touch the middle; there is nothing left that he may do besides."""
    game = turris()
    position = tower(game, "+a1~b1L +c1^D +a2~b2L +c2^D")

    verdict = game.judge(position, Turn.parse("L -c1^"))

    assert verdict.unfinished
    assert verdict.owed == (Owed("L", "stack", ((Cell.parse("b2"), 1),)),)


def test_a_bonus_with_the_last_block_is_played_before_the_end() -> None:
    """Only taking is left then, and it brings the opponent back into the game."""
    game = turris()
    found = 0
    for seed in range(150):
        for position, _ in random_game(game, seed):
            if position.left("L") + position.left("D") != 1:
                continue
            for turn in game.turns(position):
                if len(turn.changes) == 2:
                    found += 1
                    short = Turn(turn.player, turn.changes[:1])
                    verdict = game.judge(position, short)
                    assert verdict.owed
                    assert verdict.after is not None
                    assert game.outcome(verdict.after) is not None
                    longer = checked_apply(game, position, turn)
                    assert longer.player == OPPONENT[turn.player]
                    assert not turn.changes[1].add
    assert found


IMPOSSIBLE = {
    "a gap": ({"a1": "LL.LL"}, {"over-empty", "fourth-unfinished-level"}),
    "odd squares": ({"a1": "LLD"}, {"bad-shape"}),
    "beside the felt": ({"a1": "LL", "d1": "DD"}, {"footprint"}),
    "too many levels": ({"a1": "LLDD"}, {"fourth-unfinished-level"}),
    "too many": (
        {f"{f}{r}": "LLLLL" for f in "abc" for r in "123"},
        {"no-block-left", "bad-shape"},
    ),
}


@pytest.mark.parametrize(("stacks", "broken"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_towers_are_told(stacks: dict[str, str], broken: set[str]) -> None:
    """What no game can lead to is told with every reason."""
    game = turris()
    found = {b.rule.removeprefix("turris.") for b in game.impossible(Stacks.of(stacks))}

    assert found == broken


def counts() -> list[tuple[str, int, int]]:
    """The lines of the file of counts: house rules, depth, number of successions."""
    lines = (HERE / "counts" / "turris.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(",") for line in lines if line and not line.startswith("#"))
    return [(name.strip(), int(depth), int(count)) for name, depth, count in rows]


@pytest.mark.parametrize(("name", "depth", "count"), counts())
def test_the_number_of_games_does_not_change(name: str, depth: int, count: int) -> None:
    """How many successions of turns there are is a fingerprint of the rules."""
    game = turris(**HOUSES[name])

    assert perft(game, game.start(), depth) == count


@pytest.mark.parametrize(
    "path", sorted((HERE / "games").glob("turris-*.txt")), ids=lambda p: p.stem
)
def test_the_example_games_are_judged_as_annotated(path: Path) -> None:
    """Comments name the codes of the lines they stand in, and the points at the end."""
    text = path.read_text(encoding="utf-8")
    noted = [
        set(line.partition("illegal:")[2].partition(";")[0].split())
        for line in text.splitlines()
        if line[:2] in ("L ", "D ")
    ]
    events = list(judge_record(parse_record(text)))
    turns = [event.data for event in events if event.event == "turn"]

    told = [{b["rule"].partition(".")[2] for b in turn["breaks"]} for turn in turns]
    assert told == noted
    (over,) = [event.data for event in events if event.event == "over"]
    assert f"# L {over['score']['L']}, D {over['score']['D']}" in text


def test_the_spec_is_the_box() -> None:
    """Forty blocks in two colours, light first."""
    game = SPEC.set_up()

    assert game.players == ("L", "D")
    assert (game.lattice.columns, game.lattice.ranks, game.lattice.levels) == (3, 3, 11)


def test_a_position_takes_little_memory() -> None:
    """A recorded turn stays well under two kilobytes."""
    game = turris()
    position, _ = random_game(game, 1)[-1]

    assert sys.getsizeof(position) + sum(map(sys.getsizeof, position)) < 1024
