"""Live sources: one thread a camera takes pictures, and the newest one wins.

A camera that vanishes, freezes, sends garbage or changes its size is noticed within two seconds,
told once, tried again with growing pauses, and welcomed back.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import cv2
import numpy as np

from vision.errors import SourceError
from vision.frame import Frame, ImageBGR

State = Literal["lost", "back", "frozen", "resized", "refused"]
Shot = tuple[ImageBGR, bytes | None]  # a picture, and its JPEG where it came as one


class Grabber(Protocol):
    """What a thread needs of a device or a stream; everything may take its time."""

    def open(self) -> None:
        """Opens the device; raises SourceError."""

    def grab(self) -> Shot | None:
        """The next picture; None where it was damaged; raises SourceLost where none comes."""

    def close(self) -> None:
        """Gives the device back."""


@runtime_checkable
class Settling(Protocol):
    """A device that changes its picture by itself, and may be told to leave that."""

    refused: tuple[str, ...]  # what it does not let be locked

    def settle(self) -> dict[str, float]:
        """Locks what it has chosen, and tells it."""


@dataclass(frozen=True, slots=True)
class Watch:
    """When a live source loses patience."""

    silent_s: float = 1.5  # no good picture for so long is a lost camera (1 to 2)
    frozen_s: float = 1.5  # the very same picture for so long is a frozen one (1 to 2)
    first_pause_s: float = 0.5
    longest_pause_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Change:
    """A camera went or came back; `say` is a sentence, `why` only the reason, if there is one."""

    state: State
    seconds: float
    say: str
    why: str = ""


class LiveSource:
    """A camera that is read by a thread of its own; `latest` never waits."""

    def __init__(
        self,
        camera: str,
        grabber: Grabber,
        *,
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.camera = camera
        self._grabber = grabber
        self._watch = watch or Watch()
        self._clock = clock
        self._began = clock()
        self._newest: Frame | None = None
        self._changes: deque[Change] = deque(maxlen=100)
        self._arrivals: deque[float] = deque(maxlen=60)
        self._state: Literal["starting", "good", "lost", "frozen"] = "starting"
        self._good_at = self._began
        self._moved_at = self._began
        self._size: tuple[int, int] | None = None
        self._print: bytes = b""
        self._settling = threading.Event()
        self._settled = threading.Event()
        self._chosen: dict[str, float] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"camera {camera}", daemon=True)
        self._thread.start()

    def latest(self) -> Frame | None:
        """The newest frame, at once; None before the first one and while the camera is lost."""
        self._look_at_clock()
        with self._lock:
            return self._newest

    def changes(self) -> list[Change]:
        """What has happened to the camera since the last call."""
        self._look_at_clock()
        with self._lock:
            told = list(self._changes)
            self._changes.clear()
        return told

    @property
    def rate(self) -> float:
        """Frames a second as they really arrive."""
        with self._lock:
            times = list(self._arrivals)
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 2 else 0.0

    @property
    def settles(self) -> bool:
        """Whether there is anything to lock: a device, no stream and no phone."""
        return isinstance(self._grabber, Settling)

    def settle(self, patience_s: float = 6.0) -> dict[str, float]:
        """Locks exposure, white balance and focus as they are now, and tells them.

        Empty where the source has none of them, refuses, or takes longer than that. Pictures
        from then on are taken with these settings.
        """
        if not isinstance(self._grabber, Settling):
            return {}
        self._settled.clear()
        self._settling.set()
        done = self._settled.wait(patience_s)
        self._settling.clear()
        return dict(self._chosen) if done else {}

    def close(self) -> None:
        """Stops the thread and gives the device back; closing twice is harmless."""
        self._stop.set()
        self._thread.join(timeout=5.0)

    # --- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        pause = self._watch.first_pause_s
        while not self._stop.is_set():
            try:
                self._grabber.open()
                self._tell_refused()
                while not self._stop.is_set():
                    if self._settling.is_set():
                        self._lock_settings()
                    shot = self._grabber.grab()
                    if shot is not None:
                        self._take(*shot)
                        pause = self._watch.first_pause_s
            except SourceError as error:
                self._lost(str(error))
            except cv2.error:
                self._lost("what it sends cannot be read")
            finally:
                self._grabber.close()
            self._stop.wait(pause)
            pause = min(pause * 2, self._watch.longest_pause_s)

    def _lock_settings(self) -> None:
        if isinstance(self._grabber, Settling):
            self._chosen = self._grabber.settle()
            self._tell_refused()
        self._settling.clear()
        self._settled.set()

    def _tell_refused(self) -> None:
        """Says what the device does not let be locked."""
        refused = self._grabber.refused if isinstance(self._grabber, Settling) else ()
        if refused:
            what = " and ".join(refused)
            with self._lock:
                self._tell("refused", f"goes on changing its {what} by itself", what)

    def _take(self, image: ImageBGR, jpeg: bytes | None) -> None:
        now = self._clock()
        size = (image.shape[1], image.shape[0])
        fingerprint = np.ascontiguousarray(image[::37, ::37]).tobytes()
        with self._lock:
            self._good_at = now
            self._arrivals.append(now)
            if fingerprint != self._print:
                self._print = fingerprint
                self._moved_at = now
            if self._size not in (None, size):
                why = f"{size[0]} x {size[1]}"
                self._tell("resized", f"sends pictures of {why} now", why)
            self._size = size
            still = now - self._moved_at >= self._watch.frozen_s
            if not still and self._state in ("lost", "frozen"):
                self._tell("back", "is back")
            if not still:
                self._state = "good"
                self._newest = Frame(image, now - self._began, self.camera, jpeg)

    def _lost(self, why: str) -> None:
        with self._lock:
            if self._state != "lost":
                self._state = "lost"
                self._newest = None
                self._tell("lost", f"gives no picture: {why}", why)

    def _look_at_clock(self) -> None:
        """Notices silence and a frozen picture even while the thread hangs in a driver."""
        now = self._clock()
        with self._lock:
            if self._state == "good" and now - self._good_at >= self._watch.silent_s:
                self._state = "lost"
                self._newest = None
                self._tell("lost", "gives no picture any more; check its cable or network")
            elif self._state == "good" and now - self._moved_at >= self._watch.frozen_s:
                self._state = "frozen"
                self._newest = None
                self._tell("frozen", "shows a frozen picture; start it again")

    def _tell(self, state: State, what: str, why: str = "") -> None:
        say = f"camera {self.camera!r} {what}"
        self._changes.append(Change(state, self._clock() - self._began, say, why))
