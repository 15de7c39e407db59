"""Phones that lend their camera: pictures arrive one by one, the newest wins."""

import threading
import time

import cv2
import numpy as np

from service.follower import ImageBGR, Picture

_LONGEST_SIDE = 4096
_JPEG = b"\xff\xd8\xff"
_STALE_S = 5.0


class PhoneCamera:
    """One phone; `take` is called by the network, `latest` by whoever follows the table."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._picture: Picture | None = None
        self._at = 0.0
        self._lock = threading.Lock()

    def take(self, data: bytes, largest: int) -> str | None:
        """Take a JPEG in; what is wrong with it, or None. Nothing but JPEG is ever decoded."""
        if len(data) > largest:
            return f"the picture has {len(data)} bytes; at most {largest}"
        if not data.startswith(_JPEG):
            return "only JPEG pictures are taken"
        size = jpeg_size(data)
        if size is None or max(size) > _LONGEST_SIDE:
            return f"the picture's size {size} cannot be used; at most {_LONGEST_SIDE} a side"
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
        if image is None:
            return "the picture is damaged"
        with self._lock:
            number = self._picture.number + 1 if self._picture else 0
            self._picture = Picture(number, as_image(image))
            self._at = time.monotonic()
        return None

    def latest(self) -> Picture | None:
        """The newest picture, None where none came lately; never waits."""
        with self._lock:
            return self._picture if time.monotonic() - self._at < _STALE_S else None


def as_image(image: object) -> ImageBGR:
    """OpenCV's answer, as our own type of picture."""
    return np.asarray(image, dtype=np.uint8)


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
