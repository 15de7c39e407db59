"""Watches a camera between readings: has it moved, is it covered, dark or out of focus?

Some dozen small patches with corners in them - on the board and on the table around it - are
remembered from the reference picture at a fraction of its size. In a new frame each is looked for
near its old place; where most of them moved alike, the camera moved. Patches that players cover or
that show a moving thing simply do not take part. All of it costs less than three milliseconds.
"""

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.camera import Camera, Floats
from calibration.cv import Image

State = Literal["steady", "moved", "covered", "dark", "blurred"]
_WATCH_WIDTH = 320  # pictures are watched at this width
_PATCHES = 60
_MOVED_PX = 1.6  # of the full picture: half of what a reader would notice
_LEAST_TRACKED, _LEAST_STILL = 10, 4
_DARK, _DARK_SHARE = 14.0, 0.35  # mean brightness, and as a part of the reference's
_COVERED_SHARE = 0.30  # contrast left, as a part of the reference's
_BLURRED_SHARE = 0.45  # of the reference's sharpness
# Out of focus, things of middle size keep their contrast, and their part in that of the picture;
# before a covered lens even they are washed out.
_MIDDLE_PX = (6.0, 20.0)  # of the watched width, that are wider and narrower than they
_MIDDLE_KEPT, _MIDDLE_PART = 0.6, 0.85
_STILL_SHARE = 0.3
_AGREE_PX = 0.5  # there and back again
_AROUND_PX, _FAINT = 15, 4.0  # over which light is evened out; contrast that counts as none


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of a camera since its reference picture."""

    state: State
    moved_px: float  # of the full picture, in the median of what did not move by itself
    moved_mm: float  # the same on the board
    tracked: int
    say: str


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What is remembered of one camera's reference picture."""

    camera: Camera
    small: Image
    scale: float  # small pixels a full pixel
    corners: NDArray[np.float32]  # (N, 1, 2) in the small picture
    brightness: float
    contrast: float
    sharpness: float
    middling: float

    @staticmethod
    def of(camera: Camera, reference: Image) -> "Watch":
        """Remembers a reference picture, taken where the camera was calibrated."""
        grey = cv.grey(reference)
        small, scale = _small(grey)
        even = evened(small)
        found = cv2.goodFeaturesToTrack(even, _PATCHES, 0.02, 8)
        corners = np.asarray(cv.as_cv_points(cv.points(found), 2))
        return Watch(
            camera=camera,
            small=even,
            scale=scale,
            corners=corners,
            brightness=float(small.mean()),
            contrast=float(small.std()),
            sharpness=_sharpness(small),
            middling=_middling(small),
        )

    def look(self, frame: Image) -> Drift:
        """Compares a frame with the reference."""
        grey = shrunk(frame)
        return self._fault(grey) or self._drifted(grey)

    def _fault(self, grey: Image) -> Drift | None:
        """What keeps anything from being seen."""
        brightness, contrast = float(grey.mean()), float(grey.std())
        if brightness < max(_DARK, _DARK_SHARE * self.brightness) and contrast < self.contrast:
            return Drift("dark", 0.0, 0.0, 0, "the picture has become dark; switch the light on")
        if contrast < _COVERED_SHARE * self.contrast:
            return Drift("covered", 0.0, 0.0, 0, "something covers the camera")
        if _sharpness(grey) >= _BLURRED_SHARE * self.sharpness:
            return None
        kept = _middling(grey) / (self.middling + 1e-6)
        if kept < max(_MIDDLE_KEPT, _MIDDLE_PART * contrast / (self.contrast + 1e-6)):
            return Drift("covered", 0.0, 0.0, 0, "something covers the camera")
        return Drift("blurred", 0.0, 0.0, 0, "the picture is out of focus")

    def _drifted(self, grey: Image) -> Drift:
        """Whether the picture lies where it lay."""
        moves = self._moves(evened(grey))
        still = int((np.hypot(moves[:, 0], moves[:, 1]) < _MOVED_PX * self.scale).sum())
        if len(moves) < _LEAST_TRACKED:
            if still >= _LEAST_STILL and 2 * still > len(moves):
                return Drift("steady", 0.0, 0.0, len(moves), "")
            say = "the camera has moved far, or somebody stands before it"
            return Drift("moved", np.inf, np.inf, len(moves), say)
        # A turn about the axis moves patches in different directions: only lengths count.
        lengths = np.sort(np.hypot(moves[:, 0], moves[:, 1])) / self.scale
        # When the camera moves everything does; pieces and hands leave some patches in place.
        moved = float(lengths[int(_STILL_SHARE * len(lengths))])
        mm = moved * self._mm_a_pixel()
        if moved < _MOVED_PX:
            return Drift("steady", moved, mm, len(moves), "")
        moved = float(np.median(lengths))
        mm = moved * self._mm_a_pixel()
        return Drift("moved", moved, mm, len(moves), f"the camera has moved by {mm:.0f} mm")

    def _mm_a_pixel(self) -> float:
        """On the board below the middle of the picture."""
        middle = (np.array(self.camera.size) - 1) / 2
        a, b = self.camera.back_project(np.stack([middle, middle + np.array([1.0, 0.0])]))
        apart = float(np.linalg.norm(b - a))
        return apart if np.isfinite(apart) else 1.0

    def _moves(self, grey: Image) -> Floats:
        """By how much the patches moved that are found again both ways."""
        if not len(self.corners):
            return np.zeros((0, 2))
        there, found = _followed(self.small, grey, self.corners)
        back, again = _followed(grey, self.small, there)
        off = np.abs(back - self.corners).reshape(-1, 2).max(axis=1)
        good: NDArray[np.bool_] = np.asarray(found & again & (off < _AGREE_PX))
        return cv.points(there - self.corners)[good]


def _followed(
    before: Image, after: Image, corners: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Where patches of one small picture are in another, and which were found."""
    there, found, _ = cv2.calcOpticalFlowPyrLK(
        before, after, corners, np.empty_like(corners), winSize=(13, 13), maxLevel=2
    )
    return np.asarray(there, np.float32), np.asarray(np.asarray(found).ravel() == 1)


def evened(grey: Image) -> Image:
    """A small grey picture free of exposure and slow shadows."""
    fine = grey.astype(np.float32)
    window = (_AROUND_PX, _AROUND_PX)
    mean = cv2.blur(fine, window)
    variance = np.asarray(cv2.blur(fine * fine, window) - mean * mean, np.float32)
    even = (fine - mean) * (40.0 / (np.sqrt(np.maximum(variance, 0)) + _FAINT)) + 128.0
    return np.asarray(np.clip(even, 0, 255), np.uint8)


def shrunk(frame: Image) -> Image:
    """A frame in grey at the width at which it is watched; fast rather than beautiful."""
    scale = _WATCH_WIDTH / frame.shape[1]
    size = (_WATCH_WIDTH, round(frame.shape[0] * scale))
    return np.asarray(cv2.resize(cv.grey(frame), size, interpolation=cv2.INTER_AREA), np.uint8)


def _small(grey: Image) -> tuple[Image, float]:
    return shrunk(grey), _WATCH_WIDTH / grey.shape[1]


def _middling(grey: Image) -> float:
    """The contrast of things of middle size, which focus hardly matters to."""
    fine = grey.astype(np.float32)
    narrow, wide = (cv2.GaussianBlur(fine, (0, 0), width) for width in _MIDDLE_PX)
    return float((narrow - wide).std())


def _sharpness(grey: Image) -> float:
    """How much fine detail there is, whatever the contrast."""
    fine = float(cv2.Laplacian(grey, cv2.CV_16S).std())
    return fine / (float(grey.std()) + 1e-6)
