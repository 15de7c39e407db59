"""Whole games by seed: random legal turns, with illegal ones taken back or kept in between."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rules.blocks import torn
from rules.cells import Cell
from rules.errors import KiebitzError
from rules.game import Game, GameSpec, Setup
from rules.judge_record import judge_turn, standing
from rules.record import Line, PositionLine, Record, TurnLine
from rules.turn import Change, Turn, after_changes
from vision.virtual.script import Direction, Script

_TRIES = 80


@dataclass(frozen=True, slots=True)
class Mischief:
    """How much goes wrong in a game: parts of all turns, and how many things happen besides."""

    illegal: float = 0.1
    kept: float = 0.3  # of the illegal ones
    idle_hands: float = 0.1
    passers: float = 0.05
    bumps: float = 0.0
    lamps: float = 0.0
    turned: float = 0.0
    dropped: float = 0.03
    held: float = 0.0  # of the boards that are turned, by a hand that is seen


CALM = Mischief(0, 0, 0, 0, 0, 0, 0, 0)
TURNABLE = Mischief(turned=0.25, bumps=0.02, lamps=0.02)


def random_record(
    spec: GameSpec,
    seed: int,
    turns: int,
    *,
    setup: Setup | None = None,
    mischief: Mischief = CALM,
) -> Record:
    """A game of so many turns, fewer where it ends before."""
    setup = setup or Setup()
    rng = random.Random(seed)
    game = spec.set_up(setup)
    position = game.start()
    lines: list[Line] = []
    if position.stacks:
        lattice = game.lattice
        lines.append(PositionLine(position.stacks, lattice.columns, lattice.ranks))
    while sum(isinstance(line, TurnLine) for line in lines) < turns:
        if game.outcome(position) is not None:
            break
        wrong = _illegal(game, position, rng) if rng.random() < mischief.illegal else None
        if wrong is not None:
            kept = rng.random() < mischief.kept
            lines.append(TurnLine(wrong, kept))
            if kept:
                position = _after_kept(game, position, wrong)
            continue
        turn = game.random_turn(position, rng)
        if turn is None:
            break
        lines.append(TurnLine(turn))
        position = judge_turn(game, position, turn).after
    return Record(spec, setup, tuple(lines))


def _after_kept(game: Game[Any], position: Any, turn: Turn) -> Any:
    verdict = judge_turn(game, position, turn)
    if verdict.kept is not None:
        return verdict.kept
    player = game.next_player(position, turn)
    return game.adopt(position, standing(game, position, turn), player)[0]


def _illegal(game: Game[Any], position: Any, rng: random.Random) -> Turn | None:
    """A turn that hands can do and the rules forbid: a legal one done in the wrong place."""
    cells = list(game.lattice.cells())
    for _ in range(_TRIES):
        turn = game.random_turn(position, rng)
        if turn is None or not turn.changes:
            continue
        number = rng.randrange(len(turn.changes))
        changed = _elsewhere(turn.changes[number], rng.choice(cells))
        changes = (*turn.changes[:number], changed, *turn.changes[number + 1 :])
        if rng.random() < 0.5:
            changes = changes[: number + 1]
        trial = turn._replace(changes=changes)
        if _possible(game, position, trial):
            verdict = judge_turn(game, position, trial)
            if verdict.breaks and not verdict.unfinished:
                return trial
    return None


def _elsewhere(change: Change, cell: Cell) -> Change:
    if change.other is None:
        return change._replace(cell=cell)
    other = Cell(
        cell.file + change.other.file - change.cell.file,
        cell.rank + change.other.rank - change.cell.rank,
    )
    return change._replace(cell=cell, other=other)


def _possible(game: Game[Any], position: Any, turn: Turn) -> bool:
    """Whether such pieces would stand: whole, on the board, flat, and not too high."""
    stacks = position.stacks
    try:
        for change in turn.changes:
            stacks = after_changes(stacks, [change], game.lattice)
            if any("." in stack or len(stack) > game.lattice.levels for stack in stacks.values()):
                return False
            if torn(game.spec.kit, stacks):
                return False  # nobody saws a block through to take a half of it away
    except KiebitzError:
        return False
    return bool(stacks != position.stacks)


def random_script(
    spec: GameSpec,
    seed: int,
    turns: int,
    *,
    family: str = "tune",
    rig: str = "two",
    setup: Setup | None = None,
    mischief: Mischief = CALM,
) -> Script:
    """A whole game as a script, with everything that happens at a table."""
    record = random_record(spec, seed, turns, setup=setup, mischief=mischief)
    rng = random.Random(seed * 7 + 1)
    lattice = record.spec.set_up(record.setup).lattice
    cells = list(lattice.cells())
    lines: list[Line] = []
    directions: list[Direction] = []
    cameras = _cameras(rig, flat=lattice.ranks == 1)
    number = 0
    lies = (0, 0)
    for line in record.lines:
        number += 1
        for chance, words in (
            (
                mischief.idle_hands,
                ("hand", f"{rng.uniform(4, 14) % 12:.1f}", str(rng.choice(cells))),
            ),
            (mischief.passers, ("passer", f"{rng.uniform(2, 5):.1f}")),
            (mischief.bumps, ("bump", rng.choice(cameras), f"{rng.uniform(0.2, 0.9):.2f}")),
            (mischief.lamps, ("lamp", "1", f"{rng.uniform(0.3, 1.3):.2f}")),
            (mischief.turned, _turning(rng, lies, cells, mischief.held)),
            (mischief.dropped, ("drop", rng.choice(cameras), f"{rng.uniform(0.1, 0.5):.2f}")),
        ):
            if rng.random() < chance:
                directions.append(Direction(words, number))
                number += 1
                if words[0] == "turn-board":
                    lies = (lies[0] + int(words[2]), lies[1] + int(words[3]))
        lines.append(replace(line, line=number))
    scene = {"seed": str(seed), "family": family, "rig": rig}
    return Script(replace(record, lines=tuple(lines)), tuple(directions), scene)


def _cameras(rig: str, *, flat: bool) -> tuple[str, ...]:
    """The cameras of a rig, some of them named twice so that every rig has two or three."""
    return {
        "one": ("front", "front") if flat else ("camera", "camera"),
        "two": ("overhead", "front", "front") if flat else ("overhead", "side", "side"),
        "corners": ("front", "camera", "camera") if flat else ("left", "right", "right"),
    }.get(rig, ("front", "camera", "overhead") if flat else ("left", "right", "overhead"))


def _turning(
    rng: random.Random, lies: tuple[int, int], cells: Sequence[Cell], held: float
) -> tuple[str, ...]:
    """About a quarter turn or two, to a place not far from where the board lay at first."""
    degrees = rng.choice((90, -90, 180, 90)) + rng.gauss(0, 6)
    shift = [f"{rng.uniform(-25, 25) - at:.0f}" for at in lies]
    hand = (str(cells[0]),) if held and rng.random() < held else ()
    return ("turn-board", f"{degrees:.0f}", *shift, *hand)
