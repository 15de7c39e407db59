"""Follows a written game instead of a table: no camera, and the page says so."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rules.game import Game
from rules.record import PositionLine, Record, TurnLine
from rules.stacks import Stacks
from rules.turn import after_change
from service.follower import CameraView, Feed, Picture, Seen, SourceKind


class RecordFollower:
    """Plays a record scene by scene, as a camera would tell it, again and again."""

    kind: SourceKind = "record"

    def __init__(
        self, record: Record, *, pace_s: float = 2.5, again_s: float | None = 20.0
    ) -> None:
        self._record = record
        self._pace_s = pace_s
        self._again_s = again_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, feed: Feed) -> None:
        """Begin with the empty table."""
        self._thread = threading.Thread(target=self._run, args=(feed,), name="record", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(10)

    def cameras(self) -> Sequence[CameraView]:
        return ()

    def picture(self, camera: str) -> Picture | None:  # noqa: ARG002  there is no camera
        return None

    def believe(self, stacks: Stacks) -> None:
        """A record knows what stands there; nobody can tell it otherwise."""

    def seconds(self) -> float:
        return time.monotonic()

    def _run(self, feed: Feed) -> None:
        while not self._stop.is_set():
            for stacks in scenes(self._record):
                feed.observed(Seen(stacks))
                if self._stop.wait(self._pace_s):
                    return
            if self._again_s is None or self._stop.wait(self._again_s):
                return


def scenes(record: Record) -> Iterator[Stacks]:
    """What stands on the table whenever no hand is over it, from the first scene to the last."""
    game = record.spec.set_up(record.setup)
    stacks: Stacks = game.start().stacks
    yield stacks
    position = game.start()
    for line in record.lines:
        if isinstance(line, PositionLine):
            if line.stacks != stacks and game.is_start(line.stacks):
                stacks, position = line.stacks, game.start_from(line.stacks)
                yield stacks
            continue
        before = stacks
        for change in line.turn.changes:
            stacks = after_change(stacks, change, game.lattice)
            yield stacks
        position, back = _behind(game, position, line, stacks)
        if back:
            stacks = before
            yield stacks


def _behind(game: Game[Any], position: Any, line: TurnLine, stacks: Stacks) -> tuple[Any, bool]:
    """The position after a line, and whether the turn is illegal and goes back."""
    verdict = game.judge(position, line.turn)
    if verdict.after is not None and verdict.legal:
        return verdict.after, False
    if line.kept and verdict.kept is not None:
        return verdict.kept, False
    if line.kept:
        return game.adopt(position, stacks, game.next_player(position, line.turn))[0], False
    return position, True
