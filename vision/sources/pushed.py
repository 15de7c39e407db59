"""Frames that somebody else brings, such as the phone of a player."""

import queue

from vision.errors import SourceLost
from vision.sources.jpeg import decode
from vision.sources.live import Shot

WAIT_S = 1.0


class PushedGrabber:
    """Takes JPEG pictures from outside; only the newest one waits."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[bytes] = queue.Queue(maxsize=1)

    def push(self, jpeg: bytes) -> None:
        """Brings one picture; an older one that still waits is dropped."""
        while True:
            try:
                self._waiting.put_nowait(jpeg)
            except queue.Full:
                try:
                    self._waiting.get_nowait()
                except queue.Empty:
                    continue
            else:
                return

    def open(self) -> None:
        """Nothing needs to be opened."""

    def grab(self) -> Shot | None:
        """The next picture; raises SourceLost where none comes."""
        try:
            data = self._waiting.get(timeout=WAIT_S)
        except queue.Empty:
            raise SourceLost(
                "the phone sends nothing; is its page open and its screen on?"
            ) from None
        image = decode(data)
        return None if image is None else (image, data)

    def close(self) -> None:
        """Nothing needs to be closed."""
