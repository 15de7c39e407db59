"""A camera's place: whether it still stands where it was calibrated, and sees the same table.

What does not move on a table, such as its grain, its markers and the board's edge, is followed
from the calibration's picture into the newest one. Pieces, hands and people are outliers. Where a
camera that was bumped stands now is found by `calibration.realign`.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import ImageBGR
from vision.play_area import Mask, PlayArea

_WIDTH_PX = 640
_MOST = 260  # points to follow
_FEWEST = 14  # fewer in agreement prove nothing
_ENOUGH = 150  # fewer things to follow may all be spare pieces, which lie elsewhere by now
_STEADY_PX = 2.0  # at 1280 pixels width: less is no bump but noise
_STAYS_PX = 0.8  # of the small picture; if so many points stay, the camera does:
_STAY = 0.3
_TOGETHER = 0.4  # of the points that were found, when they have moved
_CONTRAST = 4.5  # grey levels around a point worth following
_LIKE = 0.85  # how alike two views of one table are while little stands on it
_UNLIKE = 0.25  # and however much stands there, and hands with it: 0.45
_CHANCE = 1  # so many points seem to stay where they were by chance
_GIST = (64, 36)  # pixels of a picture in which only large things are seen
_SMALLER = 4  # times that pictures are halved to find what has moved far

_Points = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """How the picture lies against the reference: shift in pixels of 1280, and what agrees."""

    shift_px: float
    agreeing: int
    followed: int
    staying: int = 0  # points that were found where they had been
    alike: float = 1.0  # how much the picture is like the reference as a whole, 1 where equal

    @property
    def known(self) -> bool:
        """Whether this is the same view at all; that many things stay where they were proves it."""
        if self.staying >= _FEWEST and self.staying >= self.agreeing:
            return True
        return self.agreeing >= max(_FEWEST, 0.08 * self.followed)

    @property
    def familiar(self) -> bool:
        """Whether this is the same table, be it only by a few things or as a whole."""
        few = self.followed < _ENOUGH and self.alike >= _LIKE
        return self.known or self.staying > _CHANCE or few

    @property
    def strange(self) -> bool:
        """Whether not even a few things were found again, and the picture as a whole is another."""
        return not self.familiar and self.alike < (_LIKE if self.followed >= _ENOUGH else _UNLIKE)

    @property
    def steady(self) -> bool:
        """Whether the camera stands where it stood."""
        return self.shift_px < _STEADY_PX


class Anchor:
    """Follows the unmoving things of one camera's view."""

    def __init__(
        self, camera: Camera, board: Board, reference: ImageBGR, *, board_lies: bool = False
    ) -> None:
        """`board_lies`: nobody turns or shifts the board during play, so that it counts, too."""
        self.camera = camera
        self.reference = reference
        self._scale = min(1.0, _WIDTH_PX / camera.size[0])
        self._grey = _grey(reference, self._scale)
        self._gist = _gist(reference)
        area = PlayArea.of(camera, board, round(camera.size[0] * self._scale))
        around = ~area.reach(Stacks(), board.lattice.levels)
        contrast = _spread(reference, self._scale) > _CONTRAST  # noise has corners, too
        points = [_corners(self._grey, around, contrast)]
        if board_lies:
            # On a plain cloth there may be nothing else that stays where it is.
            points.append(_corners(self._grey, area.play(Stacks()), contrast))
        self._points = np.concatenate(points)

    def sight(self, image: ImageBGR) -> Sighting:
        """Where the unmoving things are in a new picture."""
        alike = float((self._gist * _gist(image)).mean())
        nothing = Sighting(0.0, 0, len(self._points), 0, alike)
        if len(self._points) < _FEWEST:
            return nothing
        now = _grey(image, self._scale)
        # Most cameras stand still, and what has not moved is found without the smaller pictures.
        before, after = self._followed(now, 0)
        keep = _stay(before, after)
        if np.count_nonzero(keep) < max(_FEWEST, _STAY * len(self._points)):
            before, after = self._followed(now, _SMALLER)
            keep = _stay(before, after)
        staying = int(np.count_nonzero(keep))
        nothing = replace(nothing, staying=staying)
        if len(before) < _FEWEST:
            return nothing
        if np.count_nonzero(keep) < max(_FEWEST, _STAY * len(before)):
            inside: object = cv2.findHomography(before, after, cv2.RANSAC, 1.2)[1]
            keep = np.zeros(len(before)) > 0 if inside is None else np.asarray(inside).ravel() > 0
            # A few things always seem to have moved alike, whatever others do.
            if np.count_nonzero(keep) < max(_TOGETHER * len(before), 2 * staying):
                return nothing
        if np.count_nonzero(keep) < _FEWEST:
            return nothing
        shift = float(np.median(np.linalg.norm(after - before, axis=1)[keep])) / self._scale
        shift *= 1280 / self.camera.size[0]
        agreeing = int(np.count_nonzero(keep))
        return Sighting(shift, agreeing, len(self._points), staying, alike)

    def _followed(self, now: NDArray[np.uint8], smaller: int) -> tuple[_Points, _Points]:
        """Points that are found there and back again, and where they are; (N, 2) each.

        `smaller`: how many times pictures are halved for points that have moved far.
        """
        near, ok = _flow(self._grey, now, self._points, smaller)
        back, ok_back = _flow(now, self._grey, near, smaller)
        round_trip = np.abs(back - self._points).reshape(-1, 2).max(axis=1)
        good = ok & ok_back & (round_trip < 0.6)
        return self._points[good].reshape(-1, 2), near[good].reshape(-1, 2)


def _stay(before: _Points, after: _Points) -> NDArray[np.bool_]:
    return np.asarray(np.linalg.norm(after - before, axis=1) < _STAYS_PX)


def _corners(
    grey: NDArray[np.uint8], where: Mask, contrast: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Points worth following within a place, (N, 1, 2)."""
    mask = cv2.erode(where.astype(np.uint8) * 255, np.ones((9, 9), np.uint8))
    mask[~contrast] = 0
    found: object = cv2.goodFeaturesToTrack(grey, _MOST, 0.01, 9, mask=mask)
    points = np.asarray([] if found is None else found, dtype=np.float32)
    return points.reshape(-1, 1, 2)


def _flow(
    one: NDArray[np.uint8], other: NDArray[np.uint8], points: _Points, smaller: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    moved, ok, _ = cv2.calcOpticalFlowPyrLK(
        one, other, points, points.copy(), winSize=(21, 21), maxLevel=smaller
    )
    return np.asarray(moved, dtype=np.float32), np.asarray(ok).ravel() > 0


def _spread(image: ImageBGR, scale: float) -> NDArray[np.float32]:
    """The contrast around each pixel of the small grey picture, in grey levels."""
    fine = _small(image, scale)
    mean = cv2.blur(fine, (9, 9))
    square = np.asarray(cv2.blur(fine * fine, (9, 9)) - mean * mean, dtype=np.float32)
    return np.sqrt(np.maximum(square, 0))


def _gist(image: ImageBGR) -> NDArray[np.float32]:
    """The large things of a picture, free of exposure: its mean is 0 and its square's mean 1."""
    small = cv2.resize(image, _GIST, interpolation=cv2.INTER_AREA).astype(np.float32)
    smooth = cv2.blur(small, (3, 3))
    smooth -= smooth.mean(axis=(0, 1))
    return np.asarray(smooth / (np.sqrt(np.square(smooth).mean()) + 1e-6), dtype=np.float32)


def _small(image: ImageBGR, scale: float) -> NDArray[np.float32]:
    size = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    grey = cv2.cvtColor(cv2.resize(image, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    return np.asarray(grey, dtype=np.float32)


def _grey(image: ImageBGR, scale: float) -> NDArray[np.uint8]:
    """A small grey picture, free of exposure and slow shadows."""
    fine = _small(image, scale)
    mean = cv2.blur(fine, (31, 31))
    spread = np.sqrt(np.maximum(cv2.blur(fine * fine, (31, 31)) - mean * mean, 0)) + 4.0
    return np.asarray(np.clip(128 + 40 * (fine - mean) / spread, 0, 255), dtype=np.uint8)
