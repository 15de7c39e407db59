"""Excerpts: the key moments of a short game, and the files that play them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rules.game import Setup
from rules.record import Record, TurnLine
from rules.registry import find_game
from sample_images.make.tables import Table
from vision.virtual.excerpt import NAME, Faults
from vision.virtual.games import Mischief, random_record
from vision.virtual.play import Play, rehearse
from vision.virtual.script import Direction, Script
from vision.virtual.values import Sensor

TURNS = 10
_MISCHIEF = Mischief(illegal=0.25, kept=0.5)


@dataclass(frozen=True, slots=True)
class Key:
    """One keyframe: shown from `start` on, drawn as the table is at `at`."""

    start: float
    at: float
    name: str


def excerpt_record(table: Table) -> Record:
    """A short game in which one illegal turn is taken back and another one is kept."""
    spec = find_game(table.game)
    setup = Setup(board=table.scene.kind.board)
    for seed in range(1000):
        record = random_record(
            spec, table.scene.seed * 1000 + seed, TURNS, setup=setup, mischief=_MISCHIEF
        )
        wrong = _wrong(record)
        if len(wrong) == 2 and {line.kept for line in wrong} == {True, False}:
            return record
    raise AssertionError("some seed has both kinds of illegal turns")


def _wrong(record: Record) -> list[TurnLine]:
    truth = rehearse(Script(record)).truth
    legal = [event.data["legal"] for event in truth if event.event == "turn"]
    lines = [line for line in record.lines if isinstance(line, TurnLine)]
    if len(legal) < TURNS:
        return []
    return [line for line, fine in zip(lines, legal, strict=True) if not fine]


def excerpt_script(table: Table, cameras: Sequence[str]) -> Script:
    """The game with a bump, a dimmed lamp, and a turn of the board where boards turn."""
    record = excerpt_record(table)
    lines = []
    directions = []
    number = 0
    turns = 0
    for line in record.lines:
        if isinstance(line, TurnLine):
            turns += 1
            for words in _directions(table, cameras, turns):
                number += 1
                directions.append(Direction(words, number))
        number += 1
        lines.append(replace(line, line=number))
    scene = {"seed": str(table.scene.seed), "family": table.family}
    return Script(replace(record, lines=tuple(lines)), tuple(directions), scene)


def _directions(table: Table, cameras: Sequence[str], turn: int) -> Iterator[tuple[str, ...]]:
    if turn == 4:
        yield ("bump", cameras[-1], "0.5")
    if turn == 6 and table.scene.kind.turned:
        yield ("turn-board", "90", "9", "-6")
    if turn == 8:
        yield ("lamp", "1", "0.6")


def keys(play: Play) -> list[Key]:
    """The moments to draw: three a hand that comes and goes, one for every rest in between."""
    moments: list[tuple[float, float]] = [(0.0, 0.0)]
    for stretch in play.stretches:
        long = stretch.end - stretch.start
        part = 0.7 if stretch.source is None else 0.3 if stretch.goal is None else 0.5
        moments.append((stretch.start, stretch.start + part * long))
        moments.append((stretch.end, stretch.end + 0.01))
    for cue in play.cues:
        if cue.words[0] == "turn-board":
            moments += [
                (cue.start + part * (cue.end - cue.start),) * 2 for part in (0.25, 0.5, 0.75)
            ]
        moments.append((cue.end, cue.end + 0.01))
    moments.sort()
    # A hand that goes on at once leaves no time in which the table would be seen at rest.
    following = [start for start, _ in moments[1:]] + [play.seconds]
    lasting = [m for m, after in zip(moments, following, strict=True) if after - m[0] > 1e-6]
    names: dict[object, str] = {}
    found: list[Key] = []
    for start, at in lasting:
        now = play.moment(at)
        standing = frozenset(play.snapshots[now.pieces][1])
        state = (standing, now.pose, now.lamps, now.bumps, now.hands)
        name = names.setdefault(state, f"key{len(names):03}")
        if not found or found[-1].name != name:
            found.append(Key(start, at, name))
    return found


def excerpt_json(table: Table, play: Play, cameras: Sequence[str]) -> str:
    """What the player of an excerpt needs."""
    data: dict[str, Any] = {
        "game": table.game,
        "seed": table.scene.seed,
        "seconds": round(play.seconds, 3),
        "shown": [[round(key.start, 3), key.name] for key in keys(play)],
        "faults": {name: asdict(_faults(table.scene.sensors[name])) for name in cameras},
        "truth": [event.as_dict() for event in play.truth],
    }
    return json.dumps(data, indent=1) + "\n"


def _faults(sensor: Sensor) -> Faults:
    return Faults(sensor.noise, sensor.blotch, sensor.jpeg, round(sensor.delay_s, 3))


__all__ = ["NAME", "Key", "excerpt_json", "excerpt_record", "excerpt_script", "keys"]
