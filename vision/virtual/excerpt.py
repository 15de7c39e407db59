"""Recorded excerpts: keyframes of a game, played at a webcam's rate with a webcam's noise.

A folder holds `excerpt.json` and one picture a keyframe and camera, traced without noise. What a
webcam adds from frame to frame is added here, by seed.
"""

import json
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np

from rules.events import Event
from vision.errors import SourceError
from vision.frame import Frame, ImageBGR
from vision.virtual.timed import FPS, TimedSource

NAME = "excerpt.json"
_PAD = 64


@dataclass(frozen=True, slots=True)
class Faults:
    """What one webcam adds: noise in grey levels, JPEG quality, and how late it is."""

    noise: float
    blotch: float
    jpeg: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The keyframes of an excerpt with the moment from which each is shown, and the truth."""

    folder: Path
    seconds: float
    shown: tuple[tuple[float, str], ...]
    faults: Mapping[str, Faults]
    truth: tuple[Event, ...]
    seed: int

    def name_at(self, seconds: float) -> str:
        """The keyframe that is shown at a time."""
        number = bisect_right([start for start, _ in self.shown], seconds) - 1
        return self.shown[max(0, number)][1]


def read_excerpt(path: Path) -> Excerpt:
    """The excerpt of a file; raises SourceError."""
    try:
        data = json.loads(path.read_text("utf-8"))
        faults = {name: Faults(**values) for name, values in data["faults"].items()}
        truth = tuple(_event(values) for values in data["truth"])
        shown = tuple((float(start), str(name)) for start, name in data["shown"])
        return Excerpt(path.parent, float(data["seconds"]), shown, faults, truth, data["seed"])
    except OSError as error:
        raise SourceError(
            f"cannot read the excerpt {str(path)!r}: {(error.strerror or str(error)).lower()}"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{str(path)!r} is no excerpt: {error!s:.120}") from error


def _event(values: dict[str, Any]) -> Event:
    rest = {key: value for key, value in values.items() if key not in ("event", "t")}
    return Event(values["event"], values["t"], rest)


class ExcerptSource(TimedSource):
    """One camera of an excerpt."""

    def __init__(
        self, excerpt: Excerpt, camera: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(camera, excerpt.seconds, clock)
        self._excerpt = excerpt
        self._faults = excerpt.faults[camera]
        self._kept: tuple[str, ImageBGR] | None = None
        self._noise: np.ndarray[tuple[int, ...], np.dtype[np.int16]] | None = None
        draw = np.random.default_rng([excerpt.seed, 97, *camera.encode()])
        self._waves = draw.uniform(0.02, 0.09, 3), draw.uniform(0, 2 * np.pi, 3)

    def restart(self) -> None:
        """Nothing is carried over from frame to frame."""

    def frame(self, number: int) -> Frame:
        """The keyframe of this moment, with noise, drifting white balance and JPEG."""
        seconds = number / FPS
        picture = self._key(self._excerpt.name_at(seconds - self._faults.delay_s))
        rng = np.random.default_rng([self._excerpt.seed, 98, number, *self.camera.encode()])
        drift = 1 + 0.012 * np.sin(2 * math.pi * self._waves[0] * seconds + self._waves[1])
        drifted = cv2.multiply(picture, np.array([*drift, 0.0]), dtype=cv2.CV_8U)
        noise = self._tile(picture)
        x, y = (int(v) for v in rng.integers(0, _PAD, 2))
        height, width = picture.shape[:2]
        noisy = cv2.add(drifted, noise[y : y + height, x : x + width], dtype=cv2.CV_8U)
        quality = [cv2.IMWRITE_JPEG_QUALITY, self._faults.jpeg]
        _, data = cv2.imencode(".jpg", noisy, quality)
        image = cast("ImageBGR", cv2.imdecode(data, cv2.IMREAD_COLOR))
        return Frame(image, round(seconds, 4), self.camera, data.tobytes())

    def _key(self, name: str) -> ImageBGR:
        if self._kept is None or self._kept[0] != name:
            path = self._excerpt.folder / f"{name}.{self.camera}.jpg"
            picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
            if picture is None:
                raise SourceError(f"the excerpt lacks its picture {path.name!r}")
            self._kept = (name, cast("ImageBGR", picture))
        return self._kept[1]

    def _tile(self, picture: ImageBGR) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
        if self._noise is None:
            rng = np.random.default_rng([self._excerpt.seed, 99, *self.camera.encode()])
            height, width = picture.shape[0] + _PAD, picture.shape[1] + _PAD
            fine = rng.standard_normal((height, width, 3), np.float32) * self._faults.noise
            coarse = rng.standard_normal((height // 4, width // 4, 3), np.float32)
            blotch = cv2.resize(coarse * self._faults.blotch, (width, height))
            self._noise = np.round(fine + blotch).astype(np.int16)
        return self._noise


def excerpt_sources(path: Path) -> dict[str, ExcerptSource]:
    """The cameras of an excerpt, by name."""
    excerpt = read_excerpt(path)
    return {name: ExcerptSource(excerpt, name) for name in excerpt.faults}
