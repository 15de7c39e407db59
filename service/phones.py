"""Phones that lend their camera: pictures arrive one by one, the newest wins."""

import time
from collections import deque
from collections.abc import Callable

from vision.sources import LiveSource
from vision.sources.pushed import PushedGrabber

MOST_A_SECOND = 40
_LONGEST_SIDE = 4096
_JPEG = b"\xff\xd8\xff"


class PhoneCamera:
    """One phone; `take` is called by the network, its `source` is read by the follower."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self._grabber = PushedGrabber()
        self._clock = clock
        self._arrivals: deque[float] = deque(maxlen=MOST_A_SECOND)
        self.taken = 0

    def source(self) -> LiveSource:
        """The pictures of this phone as a source like any other camera's."""
        return LiveSource(self.name, self._grabber)

    def take(self, data: bytes, largest: int) -> str | None:
        """Take a JPEG in; what is wrong with it, or None. Only sensible sizes are ever decoded."""
        now = self._clock()
        if len(self._arrivals) == MOST_A_SECOND and now - self._arrivals[0] < 1:
            return f"more than {MOST_A_SECOND} pictures a second are not taken"
        self._arrivals.append(now)
        if len(data) > largest:
            return f"the picture has {len(data)} bytes; at most {largest}"
        if not data.startswith(_JPEG):
            return "only JPEG pictures are taken"
        size = jpeg_size(data)
        if size is None or not 16 <= min(size) <= max(size) <= _LONGEST_SIDE:
            return f"the picture's size {size} cannot be used; at most {_LONGEST_SIDE} a side"
        self._grabber.push(data)
        self.taken += 1
        return None


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height from a JPEG's header, before anything is unpacked."""
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = data[at + 5 : at + 7], data[at + 7 : at + 9]
            return int.from_bytes(width), int.from_bytes(height)
        if marker == 0xFF or 0xD0 <= marker <= 0xD9:
            at += 1 if marker == 0xFF else 2
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
