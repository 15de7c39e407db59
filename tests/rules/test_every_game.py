"""What every game keeps: the protocol, its own judgement, its texts and its pages.

Nothing here knows a game by name, but for the one without rules. A new game is tested by being in
the registry; `docs/adding-a-game.md` tells what that takes.
"""

import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from rules.cells import Cell
from rules.errors import ImpossibleChange, RulesError, UnknownName
from rules.game import Break, Game, GameSpec, Option, Setup, Value, perft
from rules.pieces import Extent
from rules.record import Record, TurnLine, parse_record
from rules.registry import GAMES, find_game
from rules.sentences import LANGUAGES, catalogue, entry_of, sentence
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes, flat

ROOT = Path(__file__).parents[2]
RULELESS = {"free"}  # every change is legal, so not every legal turn is listed
NAMES = [name for name in GAMES if find_spec(f"rules.{name}") is not None]
TURNS = 70  # of each random game
LOOKS = 9  # positions of a game that are looked at closely
FEW = 8  # legal turns, so that chance must find them all
MOST_TURNS = 250  # turns of one position that are judged one by one


@dataclass(frozen=True, slots=True)
class Table:
    """One game under one set of rulings."""

    name: str
    ruling: str
    setup: Setup

    def __str__(self) -> str:
        return f"{self.name} {self.ruling}"


def tables() -> Iterator[Table]:
    """Every game as it comes, with every number of players, and with each ruling switched."""
    for name in NAMES:
        spec = find_game(name)
        yield Table(name, "as it comes", Setup())
        first = spec.seats(Setup())[-1]
        yield Table(name, f"{first} begins", Setup(first=first))
        fewest, most = spec.fewest_players, min(len(spec.players), 4)
        for count in range(fewest, most + 1):
            yield Table(name, f"{count} players", Setup(players=spec.players[:count]))
        for option in spec.options:
            for value in other_values(option):
                setup = Setup(rules={option.key: value})
                yield Table(name, f"{option.key} {str(value).lower()}", setup)


def other_values(option: Option) -> tuple[Value, ...]:
    """Values of an option that are not its default."""
    if option.choices:
        return tuple(value for value in option.choices if value != option.default)
    if isinstance(option.default, bool):
        return (not option.default,)
    if isinstance(option.default, int):
        return (min(option.least + 5, option.most or option.least + 5),)
    return ()


TABLES = list(tables())
every_table = pytest.mark.parametrize("table", TABLES, ids=str)
every_name = pytest.mark.parametrize("name", NAMES)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a random game."""

    before: Any
    turn: Turn
    after: Any


@cache
def game_at(table: Table) -> Game[Any]:
    """The game of a table."""
    return find_game(table.name).set_up(table.setup)


Table.__hash__ = lambda self: hash(str(self))  # type: ignore[method-assign] # its rules are a dict


@cache
def random_game(table: Table, seed: int = 0) -> tuple[Step, ...]:
    """Some legal turns from the start position."""
    game, rng = game_at(table), random.Random(f"{table} {seed}")
    position = game.start()
    steps: list[Step] = []
    while len(steps) < TURNS and (turn := game.random_turn(position, rng)) is not None:
        verdict = game.judge(position, turn)
        assert verdict.legal, f"{told(table, position, turn)}: {rules(verdict.breaks)}"
        assert verdict.after is not None, told(table, position, turn)
        steps.append(Step(position, turn, verdict.after))
        position = verdict.after
    return tuple(steps)


def some(table: Table) -> Iterator[tuple[Step, random.Random]]:
    """A few steps all along a random game, each with its own chance."""
    steps = random_game(table)
    for i in range(0, len(steps), max(1, len(steps) // LOOKS)):
        yield steps[i], random.Random(f"{table} {i}")


def told(table: Table, position: Any, turn: Turn | None = None) -> str:
    """What a failing message needs: game, ruling, position and turn."""
    lattice = game_at(table).lattice
    try:
        line = position.stacks.line(lattice.columns, lattice.ranks)
    except RulesError as error:
        line = str(error)
    return f"{table}: {line} {position.player} to move, turn {turn}"


def rules(breaks: tuple[Break, ...]) -> set[str]:
    """The codes of some breaks."""
    return {b.rule for b in breaks}


# --- the protocol --------------------------------------------------------------------------------


@every_name
def test_the_spec_is_consistent(name: str) -> None:
    """Names, letters, options and players of a game fit together."""
    spec = find_game(name)
    lattice = spec.board.lattice
    keys = [option.key for option in spec.options]

    assert spec.name == name
    assert spec.title
    assert 1 <= spec.fewest_players <= len(spec.players) == len(set(spec.players))
    assert all(re.fullmatch("[A-Z1-9]", player) for player in spec.players)
    assert all(re.fullmatch("[A-Z]", letter) for letter in spec.colours)
    assert {piece.letter for piece in spec.kit} <= set(spec.colours)
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch("[a-z][A-Za-z]*", key) for key in keys)
    assert spec.sizes[0] <= lattice.columns <= spec.sizes[1]
    assert set(spec.mendable) <= set(catalogue(name))
    for option in spec.options:
        assert option.check(name, option.default) == option.default
        assert all(option.check(name, value) == value for value in other_values(option))


@every_table
def test_the_start_is_a_start(table: Table) -> None:
    """The first player is to move, nothing has ended, and the start position is known as such."""
    game = game_at(table)
    start = game.start()

    assert game.is_start(start.stacks), told(table, start)
    assert game.start_from(start.stacks) == start, told(table, start)
    assert start.player == game.players[0]
    if table.setup.first:
        assert start.player == table.setup.first
    assert set(game.score(start)) == set(game.players)
    assert game.outcome(start) is None
    assert game.impossible(start.stacks) == ()
    assert all(cell in game.lattice for cell in start.stacks)
    assert perft(game, start, 1) == sum(1 for _ in game.turns(start)) > 0


@every_name
def test_wrong_set_ups_are_refused_with_a_sentence(name: str) -> None:
    """Unknown options, details, players and values never get as far as a game."""
    spec: GameSpec = find_game(name)
    wrong = [
        Setup(rules={"nosuchruling": True}),
        Setup(details={"nosuchdetail": "x"}),
        Setup(players=("?", "!")),
        Setup(players=spec.players[:1] * 2),
        Setup(first="?"),
        *(Setup(rules={option.key: ("no", "such")}) for option in spec.options),  # type: ignore[dict-item]
    ]
    for setup in wrong:
        with pytest.raises(RulesError) as raised:
            spec.set_up(setup)
        assert str(raised.value)[0].islower() or str(raised.value).startswith(spec.title)


def test_an_unknown_game_is_told_with_the_nearest_name() -> None:
    """A slip of the pen is answered helpfully."""
    with pytest.raises(UnknownName, match="did you mean 'kewbz'"):
        find_game("kewbs")


# --- legal turns ---------------------------------------------------------------------------------


@every_table
def test_random_turns_are_legal_and_pass_the_turn_on(table: Table) -> None:
    """Each leads to a possible position, says who is next, and can be done on the table."""
    game = game_at(table)
    steps = random_game(table)
    assert steps
    for step in steps:
        where = told(table, step.before, step.turn)
        assert step.turn.player == step.before.player, where
        assert step.after.player == game.next_player(step.before, step.turn), where
        assert set(game.score(step.after)) == set(game.players), where
        assert all(type(points) is int for points in game.score(step.after).values()), where
        assert game.impossible(step.after.stacks) == (), where
        done = after_changes(step.before.stacks, step.turn.changes, game.lattice)
        assert done == step.after.stacks, where


@every_table
def test_older_positions_stay_as_they_were(table: Table) -> None:
    """A turn makes a new position; to undo it is to look at the one before."""
    game = game_at(table)
    steps = random_game(table)
    kept = [(step.before.stacks, game.score(step.before)) for step in steps]
    for step in steps:
        list(islice(game.successors(step.before), 3))
        game.readings(step.before, step.after.stacks)
        game.adopt(step.before, step.after.stacks, step.after.player)

    replayed = game.start()
    for step, (stacks, score) in zip(steps, kept, strict=True):
        assert (step.before.stacks, game.score(step.before)) == (stacks, score)
        assert replayed == step.before, told(table, step.before, step.turn)
        replayed = game.judge(replayed, step.turn).after


@every_table
def test_listed_turns_are_judged_legal_and_lead_to_the_successors(table: Table) -> None:
    """`turns`, `successors` and `judge` are three ways of saying the same."""
    game = game_at(table)
    for step, rng in some(table):
        turns = list(game.turns(step.before))
        successors = list(game.successors(step.before))
        assert len(turns) == len(set(turns)) == len(successors), told(table, step.before)
        assert step.after in successors, told(table, step.before, step.turn)
        chosen = range(len(turns))
        for i in chosen if len(turns) <= MOST_TURNS else rng.sample(chosen, MOST_TURNS):
            verdict = game.judge(step.before, turns[i])
            assert verdict.legal, f"{told(table, step.before, turns[i])} {rules(verdict.breaks)}"
            assert verdict.after == successors[i], told(table, step.before, turns[i])


@every_table
def test_every_listed_turn_can_be_drawn_by_chance_where_there_are_few(table: Table) -> None:
    """Random play leaves no legal turn out."""
    game = game_at(table)
    few = [
        step.before
        for seed in range(2)
        for step in random_game(table, seed)
        if sum(1 for _ in islice(game.turns(step.before), FEW + 1)) <= FEW
    ]
    for position in few[-3:]:
        rng = random.Random(f"{table}")
        drawn = {game.random_turn(position, rng) for _ in range(50 * FEW)}
        reached = {game.judge(position, turn).after for turn in drawn if turn is not None}
        assert reached == set(game.successors(position)), told(table, position)


# --- any turn ------------------------------------------------------------------------------------


def mutations(game: Game[Any], turn: Turn, rng: random.Random) -> Iterator[Turn]:
    """Turns that differ a little from a legal one, most of them wrong."""
    changes = list(turn.changes)
    cells = [*game.lattice.cells(), Cell(24, 40), Cell(0, game.lattice.ranks)]
    letters = [*game.spec.colours, "X", "?"]
    extents = [Extent(*sides) for sides in ((1, 1, 1), (1, 1, 2), (2, 1, 1), (1, 2, 1), (1, 2, 3))]
    yield Turn(turn.player)
    yield Turn(turn.player, (), "X")
    yield Turn("?", turn.changes)
    yield Turn(game.players[-1], turn.changes)
    for i, change in enumerate(changes[:4]):
        rest = changes[:i], changes[i + 1 :]
        cell, other = rng.sample(cells, 2)
        for new in (
            [],
            [change, change],
            [change._replace(letter=rng.choice(letters))],
            [change._replace(add=not change.add, letter=rng.choice(letters))],
            [Change(change.add, cell, change.letter, change.extent)],
            [Change(change.add, cell, change.letter, rng.choice(extents))],
            [flat(change.add, cell, other, rng.choice(letters))],
            [change, Change(True, cell, rng.choice(letters))],
            [change, Change(False, cell)],
            [Change(False, cell), change],
        ):
            yield Turn(turn.player, (*rest[0], *new, *rest[1]))


@every_table
def test_any_turn_is_judged_with_reasons_that_can_be_told(table: Table) -> None:
    """However wrong a turn is, the verdict is whole, and each reason is a sentence for everybody."""
    game = game_at(table)
    for step, rng in some(table):
        for turn in mutations(game, step.turn, rng):
            where = told(table, step.before, turn)
            verdict = game.judge(step.before, turn)
            assert verdict.after is not None or not verdict.legal, where
            assert not (verdict.legal and verdict.unfinished), where
            assert len(rules(verdict.breaks)) <= len(verdict.breaks) < 20, where
            for broken in verdict.breaks:
                assert broken.rule.startswith(f"{table.name}."), where
                assert all(Cell.parse(str(cell)) == cell for cell in broken.cells), where
                for language in LANGUAGES:
                    assert "{" not in broken.say(language), f"{where}: {broken}"
            for owed in verdict.owed:
                assert owed.player in game.players, where
            assert game.next_player(step.before, turn) in game.players, where


@pytest.mark.parametrize("table", [t for t in TABLES if t.name not in RULELESS], ids=str)
def test_what_is_judged_legal_is_listed(table: Table) -> None:
    """A turn that breaks no rule leads where some listed turn leads."""
    game = game_at(table)
    for step, rng in some(table):
        successors = None
        for turn in mutations(game, step.turn, rng):
            named = all(change.letter != "?" for change in turn.changes)
            if turn.player == step.before.player and named:
                verdict = game.judge(step.before, turn)
                if verdict.legal:
                    successors = successors or set(game.successors(step.before))
                    assert verdict.after in successors, told(table, step.before, turn)


@every_table
def test_the_order_of_the_changes_does_not_matter(table: Table) -> None:
    """Where the same pieces end in the same places, the verdict is the same."""
    game = game_at(table)
    for step, rng in some(table):
        if len(step.turn.changes) < 2:
            continue
        for _ in range(3):
            changes = tuple(rng.sample(step.turn.changes, k=len(step.turn.changes)))
            try:
                scenes = list(scenes_of(game, step.before.stacks, changes))
            except ImpossibleChange:
                continue
            if scenes[-1] == step.after.stacks and step.before.stacks not in scenes:
                turn = step.turn._replace(changes=changes)
                verdict = game.judge(step.before, turn)
                why = f"{told(table, step.before, turn)} {rules(verdict.breaks)}"
                assert verdict.after == step.after, why


def scenes_of(game: Game[Any], stacks: Stacks, changes: tuple[Change, ...]) -> Iterator[Stacks]:
    """What stands on the table after each change; raises ImpossibleChange."""
    for change in changes:
        stacks = after_changes(stacks, (change,), game.lattice)
        yield stacks


@every_table
def test_the_beginning_of_a_turn_is_not_complained_about(table: Table) -> None:
    """The changes of a legal turn, as far as they have come, are legal or unfinished."""
    game = game_at(table)
    for step in random_game(table):
        scenes = scenes_of(game, step.before.stacks, step.turn.changes)
        for many, seen in enumerate(scenes, 1):
            if seen in (step.before.stacks, step.after.stacks):
                continue
            begun = step.turn._replace(changes=step.turn.changes[:many])
            verdict = game.judge(step.before, begun)
            assert verdict.legal or verdict.unfinished, told(table, step.before, begun)
            read = [game.judge(step.before, turn) for turn in game.readings(step.before, seen)]
            assert any(v.legal or v.unfinished for v in read), told(table, step.before, begun)


# --- what a camera saw ---------------------------------------------------------------------------


@every_table
def test_a_turn_is_read_from_what_it_leaves(table: Table) -> None:
    """From the units alone the turn is found, or another with the same result."""
    game = game_at(table)
    for step in random_game(table):
        if step.after.stacks == step.before.stacks:
            continue
        readings = game.readings(step.before, step.after.stacks)
        assert readings, told(table, step.before, step.turn)
        verdicts = [game.judge(step.before, turn) for turn in readings]
        assert step.after in [v.after for v in verdicts], told(table, step.before, step.turn)
        assert verdicts[0].legal, told(table, step.before, step.turn)
        for turn in readings:
            assert turn.player in game.players, told(table, step.before, turn)


@every_table
def test_readings_of_any_scene_lead_to_it(table: Table) -> None:
    """Whatever is seen, a reading is a turn after which just that stands there."""
    game = game_at(table)
    for step, rng in some(table):
        cells = list(game.lattice.cells())
        letters = [*game.spec.colours]
        seen = dict(step.before.stacks)
        for _ in range(rng.randrange(1, 4)):
            cell = rng.choice(cells)
            stack = seen.get(cell, "")
            room = len(stack) < game.lattice.levels
            seen[cell] = stack + rng.choice(letters) if rng.random() < 0.6 and room else stack[:-1]
        scene = Stacks({cell: stack.rstrip(".") for cell, stack in seen.items()})
        for turn in game.readings(step.before, scene):
            verdict = game.judge(step.before, turn)
            if verdict.legal:
                assert verdict.after is not None
                assert verdict.after.stacks == scene, told(table, step.before, turn)
            assert turn.player in game.players, told(table, step.before, turn)
        assert game.readings(step.before, step.before.stacks) == (), told(table, step.before)


@every_table
def test_two_turns_at_once_are_taken_apart(table: Table) -> None:
    """Two turns whose traces can still be seen are one legal reading, or a first and a second."""
    game = game_at(table)
    steps = random_game(table)
    for first, second in list(pairwise(steps))[:: max(1, len(steps) // LOOKS)]:
        seen = second.after.stacks
        differing = set(first.before.stacks.differing(seen))
        touched = set(first.before.stacks.differing(first.after.stacks))
        later = set(first.after.stacks.differing(seen))
        hidden = not touched or not later or not touched | later <= differing
        if hidden or second.before.player == first.before.player:
            continue
        where = f"{told(table, first.before, first.turn)} then {second.turn}"
        found = list(islice(game.first_of_two(first.before, seen), 40))
        fine = any(
            game.judge(first.before, turn).legal for turn in game.readings(first.before, seen)
        )
        for turn in found:
            after = game.judge(first.before, turn).after
            assert after is not None, f"{where}: {turn}"
            # a player moves twice only where the other is skipped
            if after.player != first.before.player or after.player == second.turn.player:
                fine = fine or any(
                    game.judge(after, then).legal for then in game.readings(after, seen)
                )
        assert fine, where


@every_table
def test_the_table_is_adopted_as_it_stands(table: Table) -> None:
    """With every unit in place, the same score, and whoever is to move."""
    game = game_at(table)
    for step in random_game(table)[::3]:
        where = told(table, step.before, step.turn)
        ways = game.adopt(step.before, step.after.stacks, step.after.player)
        assert 0 < len(ways) <= 64, where
        for way in ways:
            assert way.stacks == step.after.stacks, where
            assert way.player == step.after.player, where
            assert set(game.score(way)) == set(game.players), where
        assert game.score(step.after) in [game.score(way) for way in ways], where


@every_table
def test_any_disorder_can_be_adopted(table: Table) -> None:
    """A restored tower, a correction, a child's hand: judging goes on from what stands there."""
    game = game_at(table)
    rng = random.Random(f"{table}")
    letters = [*game.spec.colours]
    for step, _ in some(table):
        cells = dict(step.before.stacks)
        for cell in rng.sample(
            list(game.lattice.cells()), k=min(6, len(list(game.lattice.cells())))
        ):
            cells[cell] = "".join(rng.choices(letters, k=rng.randrange(game.lattice.levels + 1)))
        scene = Stacks(cells)
        for player in game.players:
            for way in game.adopt(step.before, scene, player):
                assert way.stacks == scene, told(table, step.before)
                assert way.player == player, told(table, step.before)
                assert set(game.score(way)) == set(game.players)
                game.outcome(way)
                turn = game.random_turn(way, rng)
                if turn is not None:
                    assert game.judge(way, turn).legal, told(table, way, turn)


# --- the end -------------------------------------------------------------------------------------


@every_table
def test_after_the_end_nobody_moves(table: Table) -> None:
    """An outcome names players and a reason; then there are no turns, and all are told why."""
    game, rng = game_at(table), random.Random(f"{table}")
    position = game.start()
    last: tuple[Any, Turn] | None = None
    for _ in range(600):
        outcome = game.outcome(position)
        turn = game.random_turn(position, rng)
        if outcome is not None:
            where = told(table, position, turn)
            assert turn is None, where
            assert not list(game.turns(position)), where
            assert not list(game.successors(position)), where
            assert set(outcome.winners) <= set(game.players), where
            for language in LANGUAGES:
                said = sentence(outcome.reason, language, (), dict(outcome.facts))
                assert "{" not in said, f"{where}: {outcome}"
            if last:
                again = Turn(position.player, last[1].changes)
                assert f"{table.name}.game-over" in rules(game.judge(position, again).breaks), where
            return
        assert turn is not None, told(table, position)
        last = (position, turn)
        position = game.judge(position, turn).after


# --- texts ---------------------------------------------------------------------------------------


@every_table
def test_turns_and_records_can_be_written_and_read(table: Table) -> None:
    """A turn's text is the turn, and a whole game written down is the same game."""
    steps = random_game(table)
    for step in steps:
        assert Turn.parse(str(step.turn)) == step.turn, told(table, step.before, step.turn)
    lines = tuple(TurnLine(step.turn, line=0) for step in steps)
    record = Record(find_game(table.name), table.setup, lines)

    again = parse_record(str(record))

    assert str(again) == str(record)
    assert [line.turn for line in again.lines if isinstance(line, TurnLine)] == [
        s.turn for s in steps
    ]
    assert dict(again.setup.rules) == dict(table.setup.rules)
    assert again.setup.players == table.setup.players


def contract_codes() -> dict[str, list[str]]:
    """The codes that the contract names, by game."""
    found: dict[str, list[str]] = {}
    text = (Path(__file__).parent / "contract_codes.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, colon, slugs = line.partition(":")
        if colon and not line.startswith("#"):
            found.setdefault(name, []).extend(slugs.split())
    return found


def codes_in_source(name: str) -> set[str]:
    """The slugs that a game's modules write as text."""
    source = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob(f"{name}*.py")
    )
    return set(re.findall(rf"[\"']{name}\.([a-z0-9-]+)[\"']", source))


@every_name
def test_every_code_has_its_clause_and_five_sentences(name: str) -> None:
    """The contract's codes and all that the source names stand in the catalogue, whole."""
    wanted = {*contract_codes().get(name, ()), *codes_in_source(name)}

    assert sorted(wanted - set(catalogue(name))) == []
    for slug, entry in catalogue(name).items():
        assert set(entry) == {"clause", *LANGUAGES}, f"{name}.{slug}"
        assert entry_of(f"{name}.{slug}") == entry
        assert all(entry[key].strip() for key in entry), f"{name}.{slug}"
        fields = {language: named_fields(entry[language]) for language in LANGUAGES}
        assert len(set(fields.values())) == 1, f"{name}.{slug} names different facts: {fields}"
        assert all(entry[language][-1] in ".!?" for language in LANGUAGES), f"{name}.{slug}"


def named_fields(text: str) -> frozenset[str]:
    """The places of a sentence that are filled in."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name)


@every_name
def test_the_rules_page_tells_every_code_and_every_ruling(name: str) -> None:
    """Players find each code with its clause, and each ruling they may switch."""
    page = (ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8")
    spec = find_game(name)

    for slug, entry in catalogue(name).items():
        assert f"`{name}.{slug}`" in page, f"{name}.{slug} is not on the page"
        assert entry["clause"] in page, f"the clause of {name}.{slug} is not on the page"
        assert entry["en"] in page, f"the sentence of {name}.{slug} is not on the page"
    for option in spec.options:
        assert f"`{option.key}`" in page, f"the ruling {option.key} is not on the page of {name}"
