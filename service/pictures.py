"""Pictures on their way to browsers: encoded once for all viewers, the newest wins."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from service.follower import ImageBGR, Picture

QUALITY = 80
SMALL_WIDTH = 480
_LOOK_AGAIN_S = 0.015

Look = Callable[[str], Picture | None]


def jpeg_of(image: ImageBGR, quality: int = QUALITY) -> bytes:
    """A picture as JPEG."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError(f"a picture of shape {image.shape} cannot be encoded")
    return data.tobytes()


def small_jpeg(image: ImageBGR, width: int = SMALL_WIDTH) -> bytes:
    """A thumbnail as JPEG."""
    if image.shape[1] > width:
        height = round(image.shape[0] * width / image.shape[1])
        image = np.asarray(
            cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8
        )
    return jpeg_of(image, 75)


@dataclass(slots=True)
class Newest:
    """The newest JPEG of one camera, shared by all who look."""

    number: int = -1
    jpeg: bytes = b""
    viewers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    pump: asyncio.Task[None] | None = None


class Pictures:
    """The pictures of one table; a camera is encoded only while somebody looks at it."""

    def __init__(self) -> None:
        self._newest: dict[str, Newest] = {}

    async def watch(self, look: Look, camera: str, per_second: float) -> AsyncGenerator[bytes]:
        """The newest picture again and again; a slow viewer skips pictures.

        `look` gives the newest picture of whoever follows the table at that moment.
        """
        newest = self._newest.setdefault(camera, Newest())
        newest.viewers += 1
        if newest.pump is None or newest.pump.done():
            newest.pump = asyncio.create_task(_pump(newest, look, camera, per_second))
        sent = -1
        try:
            while not newest.pump.done():
                if newest.number != sent and newest.jpeg:
                    sent = newest.number
                    yield newest.jpeg
                else:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(newest.changed.wait(), 1)
        finally:
            newest.viewers -= 1
            if newest.viewers == 0:
                newest.pump.cancel()
                self._newest.pop(camera, None)


async def _pump(newest: Newest, look: Look, camera: str, per_second: float) -> None:
    """Encode each new picture, but no more than so many a second."""
    due = time.monotonic()
    last: Picture | None = None
    while True:
        now = time.monotonic()
        picture = look(camera) if now >= due else None
        if picture is not None and picture is not last:
            last = picture
            due = max(due + 1 / per_second, now)
            newest.jpeg = await asyncio.to_thread(jpeg_of, picture.image)
            newest.number += 1
            changed, newest.changed = newest.changed, asyncio.Event()
            changed.set()
        await asyncio.sleep(_LOOK_AGAIN_S)
