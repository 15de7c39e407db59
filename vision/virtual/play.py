"""Plays: a script rehearsed into moments, with the truth about every turn."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rules.cells import Unit
from rules.events import Event
from rules.judge_record import judge_record
from rules.pieces import Extent, Placed
from rules.record import PositionLine, TurnLine
from rules.stacks import Stacks
from rules.turn import Change, landing
from vision.virtual.backdrop import LEVEL, BoardPose
from vision.virtual.placing import pieces_of, stacks_of
from vision.virtual.script import Clockwork, Cue, Script, Stretch

START_S = 2.5
END_S = 2.5
_SEATS = {1: (6.0,), 2: (6.0, 12.0), 3: (6.0, 9.0, 12.0), 4: (6.0, 9.0, 12.0, 3.0)}


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of the table at one time."""

    pieces: int  # the number of the snapshot that stands
    pose: BoardPose
    lamps: tuple[tuple[int, float], ...]
    bumps: tuple[tuple[str, float], ...]
    hands: tuple[tuple[Stretch, float], ...]  # with the part of the way done
    passers: tuple[tuple[Cue, float], ...]
    dropped: frozenset[str]
    turning: bool


@dataclass(frozen=True, slots=True)
class Play:
    """Everything that happens, and when."""

    snapshots: tuple[tuple[float, tuple[Placed, ...]], ...]
    stretches: tuple[Stretch, ...]
    cues: tuple[Cue, ...]
    truth: tuple[Event, ...]
    seconds: float

    def moment(self, seconds: float) -> Moment:
        """The state at a time; before the beginning and after the end nothing moves."""
        number = bisect_right([t for t, _ in self.snapshots], seconds) - 1
        pose, lamps, bumps = LEVEL, dict[int, float](), list[tuple[str, float]]()
        passers, dropped, turning = [], set(), False
        for cue in self.cues:
            if cue.start > seconds:
                break
            part = 1.0 if cue.end <= seconds else (seconds - cue.start) / (cue.end - cue.start)
            kind, *words = cue.words
            if kind == "turn-board":
                pose = _turned(pose, words, part)
                turning = part < 1
            elif kind == "lamp":
                lamps[int(words[0]) - 1] = float(words[1])
            elif kind == "bump":
                bumps.append((words[0], float(words[1])))
            elif kind == "passer" and part < 1:
                passers.append((cue, part))
            elif kind == "drop" and part < 1:
                dropped.add(words[0])
        hands = tuple(
            (s, (seconds - s.start) / (s.end - s.start))
            for s in self.stretches
            if s.start <= seconds < s.end
        )
        return Moment(
            max(0, number),
            pose,
            tuple(sorted(lamps.items())),
            tuple(bumps),
            hands,
            tuple(passers),
            frozenset(dropped),
            turning,
        )

    def busy(self, seconds: float) -> bool:
        """Whether a hand is at the table or the board is being turned."""
        moment = self.moment(seconds)
        return bool(moment.hands) or moment.turning


def _turned(pose: BoardPose, words: list[str], part: float) -> BoardPose:
    smooth = part * part * (3 - 2 * part)
    degrees, x, y = (float(word) * smooth for word in (*words, "0", "0")[:3])
    return BoardPose(pose.turn_deg + degrees, (pose.shift_mm[0] + x, pose.shift_mm[1] + y))


def pieces_after(pieces: tuple[Placed, ...], change: Change) -> tuple[Placed, ...]:
    """The pieces after one physical change; a longer piece may lose a unit if that is said."""
    stacks = stacks_of(pieces)
    if change.add:
        return (*pieces, landing(stacks, change))
    tops = {Unit(cell, stacks.height(cell)) for cell in change.cells()}
    for piece in pieces:
        units = set(piece.units())
        if tops <= units and piece.extent == change.extent:
            return tuple(p for p in pieces if p != piece)
    hit = [p for p in pieces if tops & set(p.units())]
    left = [
        Placed(unit.cell, unit.level, Extent(1, 1, 1), piece.letter)
        for piece in hit
        for unit in piece.units()
        if unit not in tops
    ]
    return (*(p for p in pieces if p not in hit), *left)


def undone(stacks: Stacks, changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that take others back, given what stood before them."""
    back: list[Change] = []
    now = pieces_of(stacks, ())
    for change in changes:
        if change.add:
            back.append(replace_change(change, add=False, letter=""))
        else:
            top = stacks_of(now).get(change.cell, "?")[-1]
            back.append(replace_change(change, add=True, letter=top))
        now = pieces_after(now, change)
    return tuple(reversed(back))


def replace_change(change: Change, *, add: bool, letter: str) -> Change:
    """The same piece, put down or taken away."""
    return change._replace(add=add, letter=letter)


def rehearse(script: Script) -> Play:
    """The play of a script: every movement drawn from its seed, every truth with its time."""
    seed = int(script.scene.get("seed", "0"))
    clockwork = Clockwork(seed, float(script.scene.get("pace", "1")))
    record = script.record
    game = record.spec.set_up(record.setup)
    seats = _SEATS.get(len(game.players), _SEATS[4])
    events = iter(judge_record(record))
    truth = [replace(next(events), t=0.0)]
    pieces = pieces_of(game.start().stacks, {kit.shape for kit in record.spec.kit})
    lines = list(record.lines)
    if lines and isinstance(lines[0], PositionLine):
        pieces = pieces_of(lines[0].stacks, {kit.shape for kit in record.spec.kit})
    snapshots = [(-1e9, pieces)]
    clockwork.now = START_S
    waiting = list(script.directions)
    turns = [line for line in lines if isinstance(line, TurnLine)]
    for line, told in zip(turns, _by_turn(events), strict=True):
        while waiting and waiting[0].line < line.line:
            _direct(clockwork, waiting.pop(0).words, truth)
        # A stranger's turn is judged like any other; somebody's hand must do it.
        player = line.turn.player
        seat = game.players.index(player) if player in game.players else 0
        clock = seats[seat % len(seats)] + float(clockwork.rng.normal(0, 0.5))
        hand = seat + 10 * seed
        clockwork.wait(0.3, 1.4)
        before = pieces
        if line.turn.changes:
            clockwork.hand(clock, line.turn.changes, hand)
            pieces = _taken(clockwork, snapshots, pieces)
        truth += [replace(e, t=clockwork.now) for e in told if e.event != "taken-back"]
        clockwork.wait(1.3, 2.2)
        if any(e.event == "taken-back" for e in told):
            clockwork.hand(clock, undone(stacks_of(before), line.turn.changes), hand)
            _taken(clockwork, snapshots, pieces)
            pieces = before
            snapshots[-1] = (snapshots[-1][0], before)
            truth += [replace(e, t=clockwork.now) for e in told if e.event == "taken-back"]
            clockwork.wait(1.0, 1.6)
    for direction in waiting:
        _direct(clockwork, direction.words, truth)
    return Play(
        tuple(snapshots),
        tuple(clockwork.stretches),
        tuple(sorted(clockwork.cues, key=lambda c: c.start)),
        tuple(sorted(truth, key=lambda e: e.t)),
        clockwork.now + END_S,
    )


def _by_turn(events: Iterable[Event]) -> Iterator[list[Event]]:
    """The events of each line that is a turn."""
    group: list[Event] = []
    for event in events:
        if event.event == "turn" and group:
            yield group
            group = []
        group.append(event)
    if group:
        yield group


def _taken(
    clockwork: Clockwork,
    snapshots: list[tuple[float, tuple[Placed, ...]]],
    pieces: tuple[Placed, ...],
) -> tuple[Placed, ...]:
    """Adds a snapshot for each touch that waits."""
    for touch in clockwork.touches:
        pieces = pieces_after(pieces, touch.change)
        snapshots.append((touch.seconds, pieces))
    clockwork.touches.clear()
    return pieces


def _direct(clockwork: Clockwork, words: tuple[str, ...], truth: list[Event]) -> None:
    clockwork.direct(words)
    cue = clockwork.cues[-1] if clockwork.cues else None
    if words[0] == "turn-board" and cue is not None:
        degrees = float(words[1])
        data = {"degrees": degrees, "quarters": round(degrees / 90) % 4}
        truth.append(Event("turned", cue.end, data))
    elif words[0] == "bump" and cue is not None:
        truth.append(Event("camera", cue.start, {"camera": words[1], "state": "moved"}))


def random_bump(
    name: str, degrees: float, number: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The small turn of a camera that was bumped, as a rotation vector."""
    rng = np.random.default_rng([number, *name.encode()])
    direction = rng.standard_normal(3)
    return np.asarray(np.radians(degrees) * direction / np.linalg.norm(direction))
