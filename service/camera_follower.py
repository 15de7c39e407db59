"""Follows a table through its cameras: frames in, believed scenes out, in a thread of its own."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cv2

from calibration.camera import Camera
from calibration.cv import upright
from rules.errors import KiebitzError
from rules.stacks import Stacks
from service.follower import CameraView, Feed, Needs, Picture, SourceKind
from service.onlooker import TICK_S, Onlooker
from vision.frame import Frame, Source
from vision.reader import Reader
from vision.sources import LiveSource

_log = logging.getLogger(__name__)
_PATIENCE_S = 5.0  # for a thread that is to end; a reading takes a fraction, a new reader more


@dataclass(frozen=True, slots=True)
class Eye:
    """One camera of the table: where its pictures come from, and how the page sees it."""

    source: Source
    view: CameraView
    rotate: int = 0


class CameraFollower:
    """Reads the newest frames of all cameras again and again; a slow reading skips frames.

    Where the table cannot be read yet (`make_reader` raises KiebitzError), pictures are shown
    and nothing is told. `over` says when a recording has ended; then it begins anew. `clock` is
    the time of the pictures: that of the day, or of a play that waits until they are drawn.
    """

    def __init__(
        self,
        make_reader: Callable[[], Reader],
        eyes: Sequence[Eye],
        *,
        kind: SourceKind = "camera",
        over: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
        per_second: float = 12.0,
        turnable: bool = False,
    ) -> None:
        self.kind: SourceKind = kind
        self._make_reader = make_reader
        self._eyes = {eye.view.name: eye for eye in eyes}
        self._over = over
        self._clock = clock
        self._pause_s = 1 / per_second
        self._turnable = turnable
        self._frames: dict[str, Frame] = {}
        self._pictures: dict[str, Picture] = {}
        self._believed: Stacks | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, feed: Feed) -> None:
        self._thread = threading.Thread(target=self._run, args=(feed,), name="eyes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE_S)
        for eye in self._eyes.values():
            eye.source.close()

    def cameras(self) -> Sequence[CameraView]:
        return [eye.view for eye in self._eyes.values()]

    def picture(self, camera: str) -> Picture | None:
        return self._pictures.get(camera)

    def settle(self) -> dict[str, dict[str, float]]:
        """Locks exposure, white balance and focus of every device, and tells them by camera."""
        return {
            name: eye.source.settle()
            for name, eye in self._eyes.items()
            if isinstance(eye.source, LiveSource)
        }

    def believe(self, stacks: Stacks) -> None:
        self._believed = stacks

    def seconds(self) -> float:
        return self._clock()

    def _run(self, feed: Feed) -> None:
        cv2.setNumThreads(1)  # one core reads; the others belong to the cameras and the page
        try:
            self._follow(feed, self._reader(feed))
        except Exception as error:  # noqa: BLE001  the page must say it, whatever it is
            if self._stop.is_set():
                return  # everything is being closed, and nobody listens
            _log.exception("the cameras cannot be followed any more")
            for name in self._eyes:
                feed.camera(name, "lost", f"reading has ended: {error}")

    def _reader(self, feed: Feed) -> Reader | None:
        """The reader; making it takes seconds, and a recording must not play before."""
        try:
            return self._make_reader()
        except KiebitzError as error:
            for name in self._eyes:
                feed.camera(name, "uncalibrated", "")
            _log.info("the cameras only show their pictures: %s", error)
            return None

    def _follow(self, feed: Feed, reader: Reader | None) -> None:
        onlooker = self._onlooker(feed, reader)
        began, looked = self._clock(), 0.0
        while not self._stop.is_set():
            turn = time.monotonic()
            now = self._clock() - began
            frames = self._newest(now)
            if onlooker is not None:
                self._look(onlooker, now, frames)
            if now - looked >= TICK_S:
                looked = now
                self._tell_changes(feed)
            if self._over is not None and self._over():
                for eye in self._eyes.values():
                    eye.source.close()
                began, looked = self._clock(), 0.0
                onlooker = self._onlooker(feed, reader)
            self._stop.wait(max(0.002, self._pause_s - (time.monotonic() - turn)))

    def _onlooker(self, feed: Feed, reader: Reader | None) -> Onlooker | None:
        return None if reader is None else Onlooker(reader, feed, turnable=self._turnable)

    def _look(self, onlooker: Onlooker, now: float, frames: Mapping[str, Frame]) -> None:
        believed, self._believed = self._believed, None
        if believed is not None:
            onlooker.believe(believed)
        onlooker.see(now, frames)

    def _newest(self, now: float) -> dict[str, Frame]:
        """The frames that came since the last call, all on this follower's clock."""
        found: dict[str, Frame] = {}
        for name, eye in self._eyes.items():
            frame = eye.source.latest()
            if frame is None or frame is self._frames.get(name):
                continue
            self._frames[name] = frame
            image = upright(frame.image, eye.rotate) if eye.rotate else frame.image
            before = self._pictures.get(name)
            self._pictures[name] = Picture(before.number + 1 if before else 0, image)
            found[name] = Frame(image, now, name, frame.jpeg)
        return found

    def _tell_changes(self, feed: Feed) -> None:
        for name, eye in self._eyes.items():
            if isinstance(eye.source, LiveSource):
                for change in eye.source.changes():
                    feed.camera(name, change.state, change.say)


def view_of(name: str, kind: str, camera: Camera, needs: Needs = "") -> CameraView:
    """A calibrated camera as the page draws over its picture."""
    model = {
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.ravel().tolist(),
        "rotation": camera.rotation.tolist(),
        "translation_mm": camera.translation_mm.ravel().tolist(),
    }
    return CameraView(name, kind, camera.size, model, needs)
