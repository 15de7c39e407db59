"""KWINTY: the worked examples of the rulings, every reason, and what must hold in every game."""

import random
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from rules.cells import Cell
from rules.errors import SetupError
from rules.game import Setup, checked_apply, perft
from rules.judge_record import judge_record
from rules.kwinty import SPEC, KwintyGame
from rules.kwinty_wall import KwintyPosition, five, fours
from rules.lattice import Board, Lattice
from rules.record import parse_record
from rules.stacks import Stacks
from rules.turn import Turn

HERE = Path(__file__).parent


def kwinty(columns: int = 9, first: str = "") -> KwintyGame:
    """KWINTY on a strip of so many columns."""
    lattice = Lattice(columns, 1, 9, 27.0, (27.0, 27.0, 27.0))
    return KwintyGame(Setup(board=Board(lattice), first=first))


def built(game: KwintyGame, blocks: str) -> KwintyPosition:
    """The wall of these blocks, one after another, whoever's turn it was."""
    position = game.start()
    for text in blocks.split():
        position = put(game, position, text)
    return position


def put(game: KwintyGame, position: KwintyPosition, text: str) -> KwintyPosition:
    """The wall with one more block of either colour, legal or not."""
    verdict = game.judge(position._replace(player=text[-1]), Turn.parse(f"{text[-1]} {text}"))
    after = verdict.after or verdict.kept
    assert after is not None, verdict
    return after


def slugs(game: KwintyGame, position: KwintyPosition, text: str) -> set[str]:
    """What is wrong with a turn of whoever it names."""
    turn = Turn.parse(text)
    verdict = game.judge(position._replace(player=turn.player), turn)
    return {b.rule.removeprefix("kwinty.") for b in verdict.breaks}


# --- worked examples -----------------------------------------------------------------------------

EXAMPLES = {
    "T2 flat end to end": ("+a1~b1L", "L +c1~d1L", {"end-to-end"}),
    "T3 colours differ": ("+a1~b1L", "D +c1~d1D", set()),
    "T4 upright on upright": ("+a1^L", "L +a1^L", {"end-to-end"}),
    "T5 end on a long side": ("+a1~b1L", "L +a1^L", set()),
    "T6 over uneven columns": ("+b1^D +c1~d1D", "L +b1~c1L", {"over-empty"}),
    "T10 not beside": ("+a1~b1L", "D +d1~e1D", {"no-contact"}),
    "T10 beside, but in line": ("+a1~b1L", "L +c1~d1L", {"end-to-end"}),
    "T10 beside": ("+a1~b1L", "L +c1^L", set()),
}


@pytest.mark.parametrize(("wall", "turn", "broken"), EXAMPLES.values(), ids=EXAMPLES)
def test_the_worked_examples(wall: str, turn: str, broken: set[str]) -> None:
    """Each drawing is judged as the rulings say."""
    game = kwinty()

    assert slugs(game, built(game, wall), turn) == broken


def test_t1_five_in_a_row_win() -> None:
    """Flat, upright, flat in the lowest row: both ends meet a long side, and light wins."""
    game = kwinty()
    position = put(game, built(game, "+a1~b1L +c1^L"), "+d1~e1L")

    outcome = game.outcome(position)

    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("L",), "kwinty.five")
    assert not list(game.turns(position))


def test_t1_five_upright_blocks_win() -> None:
    """Side by side they make two rows of five at once."""
    game = kwinty()
    position = built(game, "+a1^L +b1^L +c1^L +d1^L")
    assert game.outcome(position) is None

    outcome = game.outcome(put(game, position, "+e1^L"))

    assert outcome is not None
    assert outcome.winners == ("L",)


def test_t7_a_column_of_upright_flat_upright_wins() -> None:
    """Two and one and two squares stand in one column, and no ends meet."""
    game = kwinty()
    position = built(game, "+b1^D +a1^L +a1~b1L")
    assert slugs(game, position, "L +a1^L") == set()

    outcome = game.outcome(put(game, position, "+a1^L"))

    assert outcome is not None
    assert outcome.winners == ("L",)


@pytest.mark.parametrize("step", [1, -1], ids=["rising", "falling"])
def test_five_in_a_diagonal_win(step: int) -> None:
    """A diagonal counts like a row, in both directions."""
    names = "abcde"[::step]
    squares = {f"{file}1": "D" * height + "L" for height, file in enumerate(names)}
    game = kwinty()
    (position, *_) = game.adopt(game.start(), Stacks.of(squares), "D")

    outcome = game.outcome(position._replace(moved="L"))

    assert outcome is not None
    assert outcome.winners == ("L",)


def test_a_line_does_not_run_around_the_edge() -> None:
    """Squares at the right end of one row and at the left end of the next are no neighbours."""
    edge = Stacks.of({"h1": "L", "i1": "L", "a1": "DLL", "b1": "DL", "c1": "DL"})
    game = kwinty()
    (position, *_) = game.adopt(game.start(), edge, "L")

    assert not five(position.light, position.columns + 1)
    assert fours(position.light, position.columns + 1) == 0


@pytest.mark.parametrize(
    ("columns", "wall", "turn", "slug"),
    [
        (9, "+a1~b1L +c1~d1D +e1~f1L +g1~h1D +i1^L", "D +j1^D", "too-wide"),
        (9, "", "L +i1~j1L", "too-wide"),
        (17, "+i1~j1L +k1~l1D +m1^L +h1^D +g1^L +f1^D +e1^L", "D +d1^D", "too-wide"),
        (17, "+i1~j1L +k1~l1D +m1^L +h1^D +g1^L +f1^D +e1^L", "D +n1^D", "too-wide"),
        (17, "+i1~j1L +k1~l1D +m1^L +h1^D +g1^L +f1^D +e1^L", "D +m1~n1D", "too-wide"),
    ],
    ids=["strip", "strip, half", "floating, left", "floating, right", "floating, half"],
)
def test_t8_the_wall_is_at_most_nine_wide(columns: int, wall: str, turn: str, slug: str) -> None:
    """On nine columns the strip is the window; on seventeen it is fixed when nine are used."""
    game = kwinty(columns)

    assert slug in slugs(game, built(game, wall), turn)


def test_t8_at_height_eight_only_a_flat_block_fits() -> None:
    """An upright one would reach level ten."""
    game = kwinty()
    position = built(game, "+a1^L +b1^D +a1^D +b1^L +a1^L +b1^D +a1^D +b1^L")

    assert slugs(game, position, "L +a1^L") == {"too-high"}
    assert slugs(game, position, "L +a1~b1L") == set()
    assert slugs(game, put(game, position, "+a1~b1L"), "D +a1~b1D") == {"too-high"}


def test_t9_fours_are_maximal_runs_of_exactly_four() -> None:
    """A row and a column that share a square are two; runs of three or five count nothing."""
    game = kwinty()
    corner = Stacks.of({"a1": "L", "b1": "L", "c1": "L", "d1": "LLLL", "f1": "LLL"})
    (position, *_) = game.adopt(game.start(), corner, "L")
    assert game.score(position) == {"L": 2, "D": 0}

    longer = Stacks.of({f"{file}1": "L" for file in "abcde"})
    (position, *_) = game.adopt(game.start(), longer, "L")
    assert game.score(position)["L"] == 0


# --- every reason --------------------------------------------------------------------------------

ILLEGAL = {
    "pass": ("L pass", {"pass-not-allowed"}),
    "claim": ("L claim X", {"malformed"}),
    "other colour": ("L +f1^D", {"wrong-colour"}),
    "unknown letter": ("L +f1^X", {"wrong-colour"}),
    "two blocks": ("L +f1^L +g1^L", {"malformed"}),
    "taken away": ("L -c1~d1", {"malformed"}),
    "taken away from nothing": ("L -i1~h1", {"malformed"}),
    "a single square": ("L +f1L", {"bad-shape"}),
    "across the strip": ("L +f1~f2L", {"bad-shape"}),
    "apart": ("L +f1~h1L", {"bad-shape"}),
    "a cuboid": ("L +f1:2x3x1L", {"bad-shape"}),
    "behind the strip": ("L +f2^L", {"raster"}),
    "wrong and far": ("L +h1~i1D", {"wrong-colour", "no-contact"}),
    "half on the table": ("L +e1~f1L", {"over-empty"}),
    "in line on top": ("D +c1~d1D", set()),
}


@pytest.mark.parametrize(("text", "broken"), ILLEGAL.values(), ids=ILLEGAL)
def test_every_broken_rule_is_told(text: str, broken: set[str]) -> None:
    """Each way of going wrong has its code, and all of them are told together."""
    game = kwinty()
    position = built(game, "+a1~b1L +c1~d1D +e1^L")

    assert slugs(game, position, text) == broken


def test_a_cuboid_of_the_right_size_is_a_block() -> None:
    """`2x1x1` is another way to write a flat block."""
    game = kwinty()
    flat = game.judge(game.start(), Turn.parse("L +c1~d1L"))

    assert game.judge(game.start(), Turn.parse("L +c1:2x1x1L")) == flat
    assert game.judge(game.start(), Turn.parse("L +d1~c1L")) == flat


def test_what_is_put_back_does_not_count() -> None:
    """A turn is judged by what it has done in the end."""
    game = kwinty()
    position = built(game, "+a1~b1L +c1~d1D")
    plain = game.judge(position, Turn.parse("L +e1^L"))

    assert game.judge(position, Turn.parse("L +f1^L -f1^ +e1^L")) == plain
    assert game.judge(position, Turn.parse("L -c1~d1 +c1~d1D +e1^L")) == plain
    assert slugs(game, position, "L +e1^L -e1^") == {"pass-not-allowed"}


@pytest.mark.parametrize(
    ("turn", "broken"),
    [
        ("L +i1~j1L", set()),
        ("L +h1~i1L", set()),
        ("L +i1^L", set()),
        ("L +a1^L", {"raster"}),
        ("L +j1~k1L", {"raster"}),
        ("L +q1~r1L", {"raster"}),
    ],
)
def test_the_first_block_of_a_floating_wall_covers_file_i(turn: str, broken: set[str]) -> None:
    """Where a floating wall begins is a matter of writing, not of rules."""
    game = kwinty(17)

    assert slugs(game, game.start(), turn) == broken


def test_without_a_table_the_wall_floats() -> None:
    """A record without a size is written on seventeen columns; one that tells nine is a strip."""
    assert SPEC.set_up().lattice.columns == 17
    for header, columns in (("", 17), ("columns = 9\n", 9), ("size = 9\n", 9)):
        record = parse_record(f"game = kwinty\n{header}\nL +i1^L\n")
        assert record.spec.set_up(record.setup).lattice.columns == columns
        assert str(parse_record(str(record))) == str(record)


@pytest.mark.parametrize(("columns", "ranks"), [(8, 1), (10, 1), (9, 2), (17, 3)])
def test_other_strips_are_refused(columns: int, ranks: int) -> None:
    """There are strips of nine and of seventeen columns, and they are one deep."""
    lattice = Lattice(columns, ranks, 9, 27.0, (27.0, 27.0, 27.0))
    with pytest.raises(SetupError, match="9 x 1"):
        KwintyGame(Setup(board=Board(lattice)))


def test_a_wall_begins_empty() -> None:
    """Nothing stands on the strip before the first turn."""
    game = kwinty()
    assert game.is_start(Stacks())
    with pytest.raises(SetupError):
        game.start_from(Stacks.of({"a1": "LL"}))


# --- kept turns, passing, the end ----------------------------------------------------------------


def test_a_kept_turn_keeps_its_blocks() -> None:
    """Two blocks of one colour in a square are known from the turn, not from the squares."""
    game = kwinty()
    first = built(game, "+a1~b1D")
    upright = game.judge(first, Turn.parse("L +c1^L +d1^L")).kept
    flat = game.judge(first, Turn.parse("L +c1~d1L +c1~d1L")).kept
    assert upright is not None
    assert flat is not None

    assert upright.stacks == flat.stacks
    assert slugs(game, upright, "L +c1^L") == {"end-to-end"}
    assert slugs(game, flat, "L +c1^L") == set()


def test_old_breaches_are_not_told_again() -> None:
    """A wall left too wide may be built on, but not made wider still."""
    game = kwinty(17)
    wide = {f"{file}1": "LD"[i % 2] * 2 for i, file in enumerate("abcdefghijkl")}
    (position, *_) = game.adopt(game.start(), Stacks.of(wide), "L")

    assert slugs(game, position, "L +b1~c1L") == set()
    assert slugs(game, position, "L +m1^L") == {"too-wide"}
    assert all(not game.judge(position, turn).breaks for turn in game.turns(position))


def random_game(game: KwintyGame, seed: int) -> list[tuple[KwintyPosition, Turn]]:
    """The positions of a random game, each with the turn that was made there."""
    rng = random.Random(seed)
    position = game.start()
    steps = []
    while (turn := game.random_turn(position, rng)) is not None:
        steps.append((position, turn))
        position = checked_apply(game, position, turn)
    return steps


def test_who_cannot_place_passes_and_nobody_else() -> None:
    """A pass is the only turn of who is stuck, and is found again before the next block."""
    game = kwinty()
    passes = 0
    for seed in range(250):
        steps = random_game(game, seed)
        for (position, turn), (after, answer) in pairwise(steps):
            if turn.changes:
                assert "pass-not-allowed" in slugs(game, position, f"{position.player} pass")
                continue
            passes += 1
            assert list(game.turns(position)) == [turn]
            assert after.stacks == position.stacks
            assert after.player != position.player
            seen = checked_apply(game, after, answer).stacks
            assert list(game.first_of_two(position, seen)) == [turn]
    assert passes


def test_the_last_block_ends_the_game_and_fours_decide() -> None:
    """With all forty blocks on the wall, or none that fits, more rows of four win."""
    ends: dict[str, int] = {}
    for seed in range(400):
        rng = random.Random(seed)
        game = kwinty(first=rng.choice("LD"))
        position = game.start()
        while (turn := game.random_turn(position, rng)) is not None:
            position = checked_apply(game, position, turn)
        outcome = game.outcome(position)
        assert outcome is not None
        ends[outcome.reason] = ends.get(outcome.reason, 0) + 1
        score = game.score(position)
        if outcome.reason == "kwinty.more-fours":
            (winner,) = outcome.winners
            assert score[winner] > score["LD".replace(winner, "")]
        if outcome.reason == "kwinty.equal-fours":
            assert len(set(score.values())) == 1
            assert not outcome.winners

    assert set(ends) >= {"kwinty.five", "kwinty.more-fours"}
    # of 500 random games of the rulings' author 484 ended by a five
    assert 0.93 < ends["kwinty.five"] / 400 < 0.995


def test_a_player_without_blocks_is_skipped() -> None:
    """After twenty blocks of dark, light goes on alone (KWI-R9)."""
    game = kwinty()
    names = "abcdefghi"
    dark = {f"{file}1": "D" * (4 if i < 8 else 8) for i, file in enumerate(names)}
    (position, *_) = game.adopt(game.start(), Stacks.of(dark), "L")
    position = position._replace(moved="L")
    assert position.dark.bit_count() == 40

    after = checked_apply(game, position, Turn.parse("L +a1~b1L"))

    assert after.player == "L"
    assert slugs(game, after, "L +c1^D") >= {"wrong-colour", "no-block-left"}


# --- every game ----------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [9, 17])
def test_camera_invariants_hold_in_random_games(columns: int) -> None:
    """No holes, even squares, one block a turn, never more than one block ahead without a pass."""
    game = kwinty(columns)
    for seed in range(60):
        rng = random.Random(seed)
        position = game.start()
        passes = 0
        while (turn := game.random_turn(position, rng)) is not None:
            after = checked_apply(game, position, turn)
            passes += not turn.changes
            stacks = after.stacks
            light, dark = stacks.count("L"), stacks.count("D")
            assert not game.impossible(stacks)
            assert "." not in "".join(stacks.values())
            assert light % 2 == dark % 2 == 0
            assert passes or abs(light - dark) <= 2
            assert len(stacks) <= 9
            assert light + dark - position.stacks.count("L") - position.stacks.count("D") in (0, 2)
            position = after


@pytest.mark.parametrize("columns", [9, 17])
def test_only_listed_turns_are_judged_legal(columns: int) -> None:
    """Whatever block is put anywhere, it is legal just where it is listed."""
    game = kwinty(columns)
    cells = [Cell(file, 0) for file in range(columns)]
    for seed in range(12):
        rng = random.Random(seed)
        position = game.start()
        while (turn := game.random_turn(position, rng)) is not None:
            player = position.player
            texts = [f"+{cell}^{player}" for cell in cells]
            texts += [f"+{a}~{b}{player}" for a, b in pairwise(cells)]
            legal = {
                t for t in texts if not game.judge(position, Turn.parse(f"{player} {t}")).breaks
            }
            assert legal == {turn.move for turn in game.turns(position)} - {"pass"}
            position = checked_apply(game, position, turn)


@pytest.mark.parametrize("columns", [9, 17])
def test_what_stands_is_adopted_with_its_blocks(columns: int) -> None:
    """Turn by turn the block map is kept; without any history squares and score are."""
    game = kwinty(columns)
    for seed in range(15):
        rng = random.Random(seed)
        position = game.start()
        while (turn := game.random_turn(position, rng)) is not None:
            after = checked_apply(game, position, turn)
            assert game.adopt(position, after.stacks, after.player)[0] == after
            for way in game.adopt(game.start(), after.stacks, after.player):
                assert way.stacks == after.stacks
                assert game.score(way) == game.score(after)
            position = after


def test_two_turns_in_one_look_are_told_apart_by_colour() -> None:
    """A light and a dark block at once are light's turn and then dark's."""
    game = kwinty()
    position = built(game, "+a1~b1D")
    seen = put(game, put(game, position, "+c1^L"), "+a1~b1D").stacks

    assert list(game.first_of_two(position, seen)) == [Turn.parse("L +c1^L")]


IMPOSSIBLE = {
    "a hole": ({"a1": "LL.DD"}, {"over-empty"}),
    "odd squares": ({"a1": "LLD"}, {"bad-shape"}),
    "no blocks": ({"a1": "LD", "b1": "DL"}, {"bad-shape"}),
    "too high": ({"a1": "LLDDLLDDLL"}, {"too-high"}),
    "two walls": ({"a1": "LL", "c1": "DD"}, {"no-contact"}),
    "one colour": ({"a1": "LL", "b1": "LL", "c1": "LL"}, {"unequal"}),
    "behind": ({"a1": "LL", "a2": "DD"}, {"raster"}),
    "too many": ({f"{f}1": "L" * 6 for f in "abcdefgh"}, {"no-block-left", "unequal"}),
}


@pytest.mark.parametrize(("stacks", "broken"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_walls_are_told(stacks: dict[str, str], broken: set[str]) -> None:
    """What no game can lead to is told with every reason."""
    game = kwinty()
    found = {b.rule.removeprefix("kwinty.") for b in game.impossible(Stacks.of(stacks))}

    assert found == broken


def test_impossible_floating_walls_are_told() -> None:
    """A floating wall stands around file i and is nine wide."""
    game = kwinty(17)
    away = {b.rule for b in game.impossible(Stacks.of({"a1": "LL"}))}
    wide = {b.rule for b in game.impossible(Stacks.of({f"{f}1": "LL" for f in "abcdefghij"}))}

    assert away == {"kwinty.raster"}
    assert "kwinty.too-wide" in wide


def counts() -> list[tuple[int, int, int]]:
    """The lines of the file of counts: columns, depth, number of successions."""
    lines = (HERE / "counts" / "kwinty.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(",") for line in lines if line and not line.startswith("#"))
    return [(int(columns), int(depth), int(count)) for columns, depth, count in rows]


@pytest.mark.parametrize(("columns", "depth", "count"), counts())
def test_the_number_of_games_does_not_change(columns: int, depth: int, count: int) -> None:
    """How many successions of turns there are is a fingerprint of the rules."""
    game = kwinty(columns)

    assert perft(game, game.start(), depth) == count


@pytest.mark.parametrize(
    "path", sorted((HERE / "games").glob("kwinty-*.txt")), ids=lambda p: p.stem
)
def test_the_example_games_are_judged_as_annotated(path: Path) -> None:
    """Comments name the codes of the lines they stand in."""
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
    assert any(event.event == "over" for event in events)


def test_a_position_takes_little_memory() -> None:
    """A recorded turn stays well under two kilobytes."""
    game = kwinty(17)
    position, _ = random_game(game, 1)[-1]

    assert sys.getsizeof(position) + sum(map(sys.getsizeof, position)) < 1024
