"""What the players of a demo say: cards laid down and passes, which no camera can see."""

import logging
import threading
from collections.abc import Iterator

from rules.errors import KiebitzError
from rules.record import PositionLine, Record
from rules.stacks import Stacks
from rules.turn import Turn
from service.inputs import Json
from service.session import GameSession

_log = logging.getLogger(__name__)
_THINKING_S = 1.2


class DemoPlayers:
    """Hears what is told of a game, and says what the record says at that point."""

    def __init__(self, session: GameSession, record: Record, wait_s: float = _THINKING_S) -> None:
        self._session = session
        self._wait_s = wait_s
        self._said = list(_spoken(record))
        self._left = list(self._said)

    def hear(self, event: Json) -> None:
        """One event of the session; called from its thread, so nothing is said at once."""
        if event["event"] == "phase" and event["phase"] == "play":
            self._left = list(self._said)
        if event["event"] != "turn" or not event["legal"] or not self._left:
            return
        stacks, turns = self._left[0]
        if stacks.to_json() == event["stacks"]:
            self._left.pop(0)
            timer = threading.Timer(self._wait_s, self._say, [turns])
            timer.daemon = True
            timer.start()

    def _say(self, turns: list[Turn]) -> None:
        for turn in turns:
            try:
                if turn.claim:
                    self._session.claim(turn.player, turn.claim)
                else:
                    self._session.pass_turn(turn.player)
            except KiebitzError as error:
                _log.info("a demo player was too late: %s", error)


def _spoken(record: Record) -> Iterator[tuple[Stacks, list[Turn]]]:
    """The positions after which something is said, and what."""
    game = record.spec.set_up(record.setup)
    position, said = game.start(), list[Turn]()
    for line in record.lines:
        if isinstance(line, PositionLine):
            if game.is_start(line.stacks):
                position = game.start_from(line.stacks)
            continue
        verdict = game.judge(position, line.turn)
        if not (verdict.legal and verdict.after is not None):
            continue  # it is taken back
        if line.turn.changes:
            if said:
                yield position.stacks, said
            said = []
        else:
            said.append(line.turn)
        position = verdict.after
    if said:
        yield position.stacks, said
