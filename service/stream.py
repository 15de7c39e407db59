"""Publish and subscribe: numbered events to any number of pages, pictures newest first.

Nobody has a queue of his own. A subscriber remembers the last number he was sent and reads on in
the channel's ring; who falls behind the ring gets a new snapshot. So a sleeping browser tab costs
nothing, and skipping pictures is harmless.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

RING = 2000


@dataclass(frozen=True, slots=True)
class Message:
    """One event as it goes over the wire; `player` names the only one who may see it."""

    seq: int
    text: str
    player: str | None = None


class Wire(Protocol):
    """What can be sent to: a WebSocket, or a list in a test."""

    async def send_text(self, data: str) -> None: ...


class Channel:
    """The events of one session. `publish` may be called from any thread."""

    def __init__(self) -> None:
        self._ring: deque[Message] = deque(maxlen=RING)
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self.restarts = 0  # counts how often everybody needs a new snapshot

    def publish(self, message: Message) -> None:
        self._ring.append(message)
        self._wake()

    def restart(self) -> None:
        """Everything may have changed: send each subscriber a snapshot."""
        self._ring.clear()
        self.restarts += 1
        self._wake()

    def _wake(self) -> None:
        for loop, event in tuple(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def behind(self, seq: int) -> list[Message] | None:
        """The messages after this number, or None where the ring no longer holds them all."""
        ring = tuple(self._ring)
        if not ring or ring[-1].seq <= seq:
            return []
        if ring[0].seq > seq + 1:
            return None
        return [message for message in ring if message.seq > seq]

    async def follow(
        self,
        wire: Wire,
        snapshot: Callable[[], tuple[int, str]],
        player: str | None = None,
        since: int | None = None,
    ) -> None:
        """Send a snapshot (or what came after `since`), then every event, until cancelled."""
        changed = asyncio.Event()
        key = (asyncio.get_running_loop(), changed)
        self._waiting.add(key)
        try:
            seq, restarts = since, self.restarts
            while True:
                changed.clear()
                missed = None if seq is None or restarts != self.restarts else self.behind(seq)
                if missed is None:
                    restarts = self.restarts
                    seq, text = snapshot()
                    await wire.send_text(text)
                    continue
                for message in missed:
                    if message.player in (None, player):
                        await wire.send_text(message.text)
                    seq = message.seq
                if not missed:
                    await changed.wait()
        finally:
            self._waiting.discard(key)
