"""Clips: a short video of each turn and camera, so that people can look at a dispute again."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2

from calibration.cv import upright
from rules.events import Event
from vision.errors import SourceError
from vision.frame import Frame
from vision.sources.jpeg import decode, encode

BEFORE_S = 8.0  # of a turn that are shown at most; a long thought is left out (4 to 20)
AFTER_S = 1.0
FPS = 15.0


@dataclass(frozen=True, slots=True)
class Due:
    """A turn whose clip is to be written when its last moment has been seen."""

    n: int
    legal: bool
    begin: float
    end: float


class Clips:
    """Keeps the newest seconds of every camera, and writes a clip of each turn into a folder.

    A turn that is told anew, as it grows or turns out to be illegal, gets its clip anew.
    """

    def __init__(self, folder: Path, rotate: Mapping[str, int] | None = None) -> None:
        self._folder = folder
        self._rotate = dict(rotate or {})
        self._kept: dict[str, deque[tuple[float, bytes]]] = {}
        self._due: dict[int, Due] = {}
        self._began: dict[int, float] = {}
        self._last = 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(f"cannot write clips to {str(folder)!r}: {reason}") from error

    def keep(self, t: float, frames: Mapping[str, Frame]) -> None:
        """The frames of one moment; clips that end here are written."""
        for name, frame in frames.items():
            kept = self._kept.setdefault(name, deque())
            kept.append((t, frame.jpeg or encode(frame.image)))
            while kept[0][0] < t - BEFORE_S - 2 * AFTER_S:
                kept.popleft()
        for due in [due for due in self._due.values() if due.end <= t]:
            self._write(self._due.pop(due.n))

    def told(self, event: Event) -> None:
        """An event of the game; turns and their changes get clips."""
        if event.event != "turn":
            return
        n, final = event.data["n"], event.data["final"]
        if final and (event.data["legal"] or n in self._began):
            return  # it was made some scenes ago
        if n not in self._began:
            self._began[n] = max(self._last, event.t - BEFORE_S)
        self._last = event.t
        self._due[n] = Due(n, event.data["legal"], self._began[n], event.t + AFTER_S)

    def close(self) -> None:
        """Writes what is still due."""
        while self._due:
            self._write(self._due.popitem()[1])

    def _write(self, due: Due) -> None:
        for name, kept in self._kept.items():
            shots = [shot for shot in kept if due.begin <= shot[0] <= due.end]
            if shots:
                for old in self._folder.glob(f"{due.n:03}-*{name}.avi"):
                    old.unlink()
                word = "" if due.legal else "illegal-"
                self._play(self._folder / f"{due.n:03}-{word}{name}.avi", name, shots)

    def _play(self, path: Path, name: str, shots: list[tuple[float, bytes]]) -> None:
        """A video at a steady rate from pictures with times of their own."""
        video: cv2.VideoWriter | None = None
        shown = 0
        for t, jpeg in shots:
            image = decode(jpeg)
            if image is None:
                continue
            image = upright(image, self._rotate.get(name, 0))
            size = (image.shape[1], image.shape[0])
            if video is None:
                video = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), FPS, size)
                if not video.isOpened():
                    raise SourceError(f"cannot write the clip {str(path)!r}; is the disk full?")
                first = size
            if size != first:
                continue  # the camera has changed its size in the middle
            while shown <= (t - shots[0][0]) * FPS:
                video.write(image)
                shown += 1
        if video is not None:
            video.release()
