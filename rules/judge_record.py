"""Judging a written record: the same events as at the table, one line after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rules.errors import ImpossibleChange, RecordError
from rules.events import Event, outcome_event, owed_event, turn_event
from rules.game import Break, Game, Verdict
from rules.record import PositionLine, Record, TurnLine
from rules.stacks import Stacks
from rules.turn import Turn, after_changes


def judge_record(record: Record, language: str = "en") -> Iterator[Event]:
    """The events of a record; raises RecordError where an asserted position does not stand.

    An illegal turn is taken back before the next line unless its line says `kept`.
    """
    game = record.spec.set_up(record.setup)
    position = game.start()
    yield Event("phase", 0.0, {"phase": "play"})
    n = 0
    for line in record.lines:
        if isinstance(line, PositionLine):
            if n == 0 and line.stacks != position.stacks and game.is_start(line.stacks):
                position = game.start_from(line.stacks)
            _check_position(game, position, line)
            continue
        if not line.turn.claim:
            n += 1
        verdict = judge_turn(game, position, line.turn)
        before, position = position, _behind(game, position, line, verdict)
        score = game.score(position)
        yield from _told(game, before, line, verdict, n, score, language)
        # a kept turn can end the game, too; after the end nothing ends it again
        ended = outcome_event(0.0, game, position, language) if position is not before else None
        if ended and game.outcome(before) is None:
            yield ended
            yield Event("phase", 0.0, {"phase": "over"})


def judge_turn(game: Game[Any], position: Any, turn: Turn) -> Verdict[Any]:
    """The judgement on a written turn, which may name a player who is not to move.

    Mostly the pieces tell; where they do not (CUBE, neutral pieces), the name alone is wrong.
    """
    verdict = game.judge(position, turn)
    if verdict.breaks or turn.claim or turn.player == position.player:
        return verdict
    facts = (("player", position.player),)
    return Verdict((Break(f"{game.spec.name}.not-to-move", (), facts),))


def standing(game: Game[Any], position: Any, turn: Turn) -> Stacks:
    """What stands on the table after a turn, legal or not; as before where it cannot be done."""
    try:
        return after_changes(position.stacks, turn.changes, game.lattice)
    except ImpossibleChange:
        stacks: Stacks = position.stacks
        return stacks


def _behind(game: Game[Any], position: Any, line: TurnLine, verdict: Verdict[Any]) -> Any:
    """The position for the next line."""
    if verdict.after is not None and verdict.legal:
        return verdict.after
    if not line.kept:
        return position
    if verdict.kept is not None:
        return verdict.kept
    player = game.next_player(position, line.turn)
    return game.adopt(position, standing(game, position, line.turn), player)[0]


def _told(
    game: Game[Any],
    position: Any,
    line: TurnLine,
    verdict: Verdict[Any],
    n: int,
    score: Mapping[str, int],
    language: str,
) -> Iterator[Event]:
    """The events of one line."""
    after = verdict.after if verdict.legal else None
    yield turn_event(
        0.0,
        n,
        line.turn,
        verdict.breaks,
        final=True,
        score=score,
        stacks=standing(game, position, line.turn) if after is None else after.stacks,
        language=language,
    )
    for owed in verdict.owed if verdict.legal or verdict.unfinished else ():
        yield owed_event(0.0, n, owed)
    if verdict.breaks:
        yield Event("kept" if line.kept else "taken-back", 0.0, {"n": n})


def _check_position(game: Game[Any], position: Any, line: PositionLine) -> None:
    lattice = game.lattice
    if (line.columns, line.ranks) != (lattice.columns, lattice.ranks):
        raise RecordError(
            f"the position has {line.columns} x {line.ranks} cells, "
            f"the board {lattice.columns} x {lattice.ranks}",
            line=line.line,
        )
    differing = line.stacks.differing(position.stacks)
    if differing:
        cell = differing[0]
        raise RecordError(
            f"the position does not stand: {cell} holds {position.stacks.get(cell, 'nothing')!r}, "
            f"not {line.stacks.get(cell, 'nothing')!r} ({len(differing)} cells differ)",
            line=line.line,
        )
