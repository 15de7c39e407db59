"""How many of a frame's edges a picture shows where many cameras would have them, at a glance.

A rectangle that is found in a picture of a frame may be any of its edges, or some of one kind and
some of another, and a frame may be of any height and width: there are many hundred ways to read it.
A glance at each tells which of them are worth a fit.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.outline_fit import frame_edges
from calibration.rectify import Plane

_WIDE_PX = 640  # pictures are looked at no larger
_BINS = 12  # directions of edges
_SPOTS = 16  # on each edge
_ENDS = 0.05
_SOFT_PX = 1.0
_ROUGH_PX, _FINE_PX = 5, 1  # how far beside its place an edge counts, of a small picture
_GRAIN, _LEAST_SLOPE = 4.0, 0.05  # of the usual change in the picture: an edge is more
_BETWEEN = 0.5  # of an edge's worth, that one costs where none is
_FACE_PX = 6.0  # how wide a face must be seen for that, in a small picture
_WEAKEST = 0.2  # quantile: a frame has all its edges


class FrameGlance:
    """One picture, and a frame round a cell area of a known size."""

    def __init__(self, lab: Plane, size_mm: tuple[float, float]) -> None:
        self.scale = min(1.0, _WIDE_PX / lab.shape[1])
        self.rough, self.fine = _edge_maps(lab, self.scale)
        flat, high, broad = (
            np.array([[e.start_mm, e.end_mm] for e in frame_edges(*size_mm, np.array(sizes))])
            for sizes in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        )
        t = np.linspace(_ENDS, 1 - _ENDS, _SPOTS)[:, None]
        # All spots of a frame are these and so many times its height and its width.
        self.spots, self.rise, self.grow = (
            ends[:, :1] * (1 - t) + ends[:, 1:] * t for ends in (flat, high - flat, broad - flat)
        )
        # Between the edges of a face there are none; else a frame without height would do as well.
        pairs = [(4 * k + i, 4 * k + j) for k in range(4) for i, j in ((0, 1), (0, 2), (1, 3))]
        first, second = np.array(pairs).T
        self.first, self.second = first, second
        self.spots, self.rise, self.grow = (
            np.concatenate([every, (every[first] + every[second]) / 2])
            for every in (self.spots, self.rise, self.grow)
        )
        edges = frame_edges(*size_mm, np.zeros(3))
        self.inward = np.array([e.inward for e in edges])
        self.start = np.array([e.start_mm for e in edges])
        self.foot = np.array(["foot" in e.name for e in edges])
        self.outer = np.array(["outer" in e.name for e in edges])

    def score(self, camera: Camera, height: float, width: float) -> float:
        """Up to 1 where all edges that the camera would see of such a frame are seen nearby."""
        spots = self.spots + height * self.rise + width * self.grow  # (lines, spots, 3)
        px = (camera.project(spots.reshape(-1, 3)).reshape(*spots.shape[:2], 2) + 0.5) * self.scale
        px -= 0.5
        along = px[:, -1] - px[:, 0]
        angle = np.arctan2(along[:, 0], -along[:, 1])  # of the normal
        bins = np.rint(np.nan_to_num(angle) / np.pi * _BINS).astype(int) % _BINS
        shown = self._shown(camera, height, width)
        edges = len(shown)
        seen = _found(self.rough, px[:edges], bins[:edges])[shown]
        score = 0.5 * seen.mean() + 0.5 * np.quantile(seen, _WEAKEST)
        between = _found(self.fine, px[edges:], bins[edges:])
        # What is seen so much aslant that its edges nearly meet has nothing between them.
        apart = np.linalg.norm(px[self.first] - px[self.second], axis=2).min(axis=1)
        told = shown[self.second] & (apart > _FACE_PX)
        return float(score - _BETWEEN * (between[told].mean() if told.any() else 1.0))

    def _shown(self, camera: Camera, height: float, width: float) -> NDArray[np.bool_]:
        """Which edges are not hidden by the frame itself."""
        inside = ((camera.position_mm - self.start) * self.inward).sum(axis=1)
        foot = np.where(self.outer, -inside - width > height, inside > height)
        return np.asarray(~self.foot | foot)


def _found(maps: NDArray[np.float32], px: Floats, bins: NDArray[np.int_]) -> Floats:
    """The part of each line of spots that is seen; none of what is out of sight."""
    rows, columns = maps.shape[1:]
    at = np.rint(np.nan_to_num(px, nan=-1.0, posinf=-1.0, neginf=-1.0)).astype(int)
    x, y = at[..., 0], at[..., 1]
    within = (x >= 0) & (y >= 0) & (x < columns) & (y < rows)
    found = maps[bins[:, None], np.clip(y, 0, rows - 1), np.clip(x, 0, columns - 1)]
    return np.asarray(np.where(within, found, 0.0).mean(axis=1))


def _edge_maps(lab: Plane, scale: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """For each direction (directions, rows, columns) whether an edge across it is near, 0 to 1."""
    small = cv2.resize(lab, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), _SOFT_PX)
    dx = np.asarray(cv2.Sobel(soft, cv2.CV_32F, 1, 0, scale=0.125))
    dy = np.asarray(cv2.Sobel(soft, cv2.CV_32F, 0, 1, scale=0.125))
    xx, xy, yy = (dx * dx).sum(axis=2), (dx * dy).sum(axis=2), (dy * dy).sum(axis=2)
    usual = _GRAIN * float(np.median(xx + yy)) + _LEAST_SLOPE
    # Change along an edge counts against it: grain and noise change every way.
    across = [
        np.clip(((xx - yy) * np.cos(2 * a) + 2 * xy * np.sin(2 * a)) / (xx + yy + usual), 0, None)
        for a in np.arange(_BINS) * np.pi / _BINS
    ]
    rough, fine = (
        np.stack([cv2.dilate(one, np.ones((2 * n + 1, 2 * n + 1), np.uint8)) for one in across])
        for n in (_ROUGH_PX, _FINE_PX)
    )
    return np.asarray(rough, np.float32), np.asarray(fine, np.float32)
