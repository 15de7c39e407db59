"""Sources that can say what their camera shows at any frame: live by the clock, or one by one."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from vision.frame import Frame

FPS = 15.0


class TimedSource(ABC):
    """A source with times of its own; a subclass draws the frame of a number."""

    def __init__(
        self, camera: str, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.camera = camera
        self._seconds = seconds
        self._clock = clock
        self._began: float | None = None
        self._last = -1

    @abstractmethod
    def frame(self, number: int) -> Frame | None:
        """The frame of this number; None where it was lost on the way."""

    @abstractmethod
    def restart(self) -> None:
        """Forgets what was carried over from frame to frame."""

    def frames(self) -> Iterator[Frame]:
        """Every frame, in order of time."""
        self.restart()
        for number in range(math.ceil(self._seconds * FPS)):
            frame = self.frame(number)
            if frame is not None:
                yield frame

    def latest(self) -> Frame | None:
        """The newest frame since the first call; the table stands still after the end."""
        now = self._clock()
        if self._began is None:
            self._began = now
        number = math.floor((now - self._began) * FPS)
        if number <= self._last:
            return None
        self._last = number
        return self.frame(number)

    def close(self) -> None:
        """Begins again at the next call."""
        self._began, self._last = None, -1
        self.restart()
