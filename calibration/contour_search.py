"""Looks for four-sided outlines in a thresholded picture: finds what is bent or scribbled on.

Lines of a grid on paper are no straight lines any more when the paper is bent, but together they
are still one dark figure with four corners.
"""

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Floats
from calibration.lattice_search import Found, Shape
from calibration.quads import misfit
from calibration.rectify import Plane

_BLOCKS = (0.02, 0.05, 0.12)  # of the picture's width: what is compared with its surroundings
_LEAST_AREA = 0.03
_FILLED = 0.88  # of the four-sided figure that the outline fills
_BENT = 0.22  # misfit to a rectangle that bent paper may have
_MOST = 6


def contour_rectangles(lab: Plane, shape: Shape) -> list[Found]:
    """Figures of a rectangle's shape, the largest first."""
    grey = np.clip(lab[..., 0] * 2.55, 0, 255).astype(np.uint8)
    height, width = grey.shape
    corners_px: list[Floats] = []
    for part in _BLOCKS:
        block = max(3, int(part * width)) | 1
        for invert in (cv2.THRESH_BINARY_INV, cv2.THRESH_BINARY):
            flat = cv2.adaptiveThreshold(
                grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, invert, block, 6 if invert else -6
            )
            for thick in (0, 3):
                mask = cv2.dilate(flat, np.ones((thick, thick), np.uint8)) if thick else flat
                found = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[0]
                for contour in found:
                    corners = _four_corners(cv.points(contour), _LEAST_AREA * width * height)
                    if corners is not None:
                        corners_px.append(corners)
    if not corners_px:
        return []
    corners_px.sort(key=lambda c: -_area(c))
    kept: list[Floats] = []
    for corners in corners_px:
        near = 0.02 * np.sqrt(_area(corners))
        if all(_apart(corners, other) > near for other in kept):
            kept.append(corners)
    quads = shape.lens.undistort(np.array(kept))
    off, factors = misfit(quads, *shape.size, shape.lens, lens_known=shape.lens_known)
    found_all = [
        Found(q, _area(c) / (width * height), float(f))
        for q, c, o, f in zip(quads, kept, off, factors, strict=True)
        if o < _BENT
    ]
    return found_all[:_MOST]


def _area(corners: Floats) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return abs(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2


def _apart(one: Floats, other: Floats) -> float:
    return min(
        float(np.abs(np.roll(one[::way], k, axis=0) - other).max())
        for way in (1, -1)
        for k in range(4)
    )


def _four_corners(contour: Floats, least: float) -> Floats | None:
    """The four corners of an outline; None where it has not just four."""
    if len(contour) < 4:
        return None
    hull = cv.points(cv2.convexHull(cv.as_cv_points(contour, 2)))
    full = _area(hull)
    if full < least:
        return None
    around = float(np.hypot(*(hull - np.roll(hull, 1, axis=0)).T).sum())
    for part in (0.02, 0.035, 0.05, 0.07):
        few = cv.points(cv2.approxPolyDP(cv.as_cv_points(hull, 2), part * around, True))
        if len(few) == 4 and min(_area(few), full) > _FILLED * max(_area(few), full):
            return few
        if len(few) < 4:
            return None
    return None
