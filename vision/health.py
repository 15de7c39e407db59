"""A camera's health, by its frames and their times: gone, frozen, dark, covered or blurred."""

import cv2
import numpy as np

from vision.frame import ImageBGR
from vision.seen import CameraState

GONE_S = 1.5  # without a frame (1 to 2)
BAD_S = 1.0  # a bad picture must last, as hands and lamps come and go (0.5 to 2)
_DARK, _BRIGHT = 14, 0.05  # grey levels, and the part of a dark picture that may reach them
_DIM = 28  # grey levels on average; in so little light even a table has no contrast
_PLAIN = 4.0  # grey levels of contrast in the whole picture; a covered lens shows less
_BLURRED = 0.35  # of the sharpness that the camera had


class Health:
    """What one camera's pictures are good for."""

    def __init__(self) -> None:
        self.state: CameraState = "back"
        self._seen_at = -np.inf
        self._changed_at = -np.inf
        self._print = b""
        self._bad: tuple[CameraState, float] | None = None
        self._sharpness: float | None = None

    @property
    def good(self) -> bool:
        """Whether its pictures may be read; a blurred one still may."""
        return self.state in ("back", "blurred")

    @property
    def shows_nothing(self) -> bool:
        """Whether the newest picture is dark or covered, be it only for a moment."""
        return self._bad is not None and self._bad[0] != "blurred"

    def seen(self, t: float, image: ImageBGR, small: ImageBGR) -> None:
        """A new frame."""
        self._seen_at = t
        fingerprint = np.ascontiguousarray(image[::37, ::37]).tobytes()
        if fingerprint != self._print:
            self._print, self._changed_at = fingerprint, t
        found = self._fault(small)
        if found is None:
            self._bad = None
        elif self._bad is None or self._bad[0] != found:
            self._bad = (found, t)

    def judged(self, t: float, others_moved_at: float) -> CameraState | None:
        """The state if it is another one now; `others_moved_at` tells a frozen camera."""
        if self._seen_at == -np.inf:
            return None
        now: CameraState = "back"
        if t - self._seen_at >= GONE_S:
            now = "lost"
        elif t - self._changed_at >= GONE_S and self._changed_at < others_moved_at - 0.5:
            now = "frozen"
        elif self._bad is not None and t - self._bad[1] >= BAD_S:
            now = self._bad[0]
        if now == self.state:
            return None
        self.state = now
        return now

    def _fault(self, small: ImageBGR) -> CameraState | None:
        if (nothing := shows_nothing(small)) is not None:
            return nothing
        grey = np.ascontiguousarray(small[:, ::2, 1])
        sharpness = float(cv2.absdiff(grey[1:], grey[:-1]).mean())
        if self._sharpness is None:
            self._sharpness = sharpness
        if sharpness < _BLURRED * self._sharpness:
            return "blurred"
        return None


def shows_nothing(small: ImageBGR) -> CameraState | None:
    """Whether this picture, made small, is dark or of a covered lens: nothing stands in it."""
    grey = cv2.extractChannel(small, 1)
    some = grey[::3, ::3]
    if np.count_nonzero(some >= _DARK) < _BRIGHT * some.size:
        return "dark"
    mean, contrast = (float(found[0, 0]) for found in cv2.meanStdDev(grey))
    if contrast >= _PLAIN:
        return None
    return "dark" if mean < _DIM else "covered"
