"""What is wrong with a picture in which nothing was found: too dark, too bright, blurred."""

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv

_DARK, _DIM = 70, 25  # the brightest hundredth, the middle
_CLIPPED, _MUCH = 250, 0.3
_BLUR = 0.64  # 0 is as sharp as can be, 1 has no edge at all
_SMOOTHED = 9


def picture_faults(image: cv.Image) -> tuple[str, ...]:
    """Each fault with what to do about it; none where the picture is as it should be."""
    grey = cv.grey(image)
    faults = []
    if is_dark(image):
        faults.append("the picture is very dark: switch on a lamp, or take the cover off the lens")
    elif (grey >= _CLIPPED).mean() > _MUCH:
        faults.append("the picture is overexposed: turn lamps away or the camera's exposure down")
    if blur_of(grey) > _BLUR:
        faults.append("the picture is blurred: focus the camera, clean its lens, hold it still")
    return tuple(faults)


def is_dark(image: cv.Image) -> bool:
    """Whether hardly anything of a picture is lit."""
    grey = cv.grey(image)
    return bool(np.percentile(grey, 99) < _DARK or np.median(grey) < _DIM)


def around(image: cv.Image, corners_px: NDArray[np.float64]) -> cv.Image:
    """The part of a picture that holds given corners; all of it where they lie outside."""
    height, width = image.shape[:2]
    low = np.clip(corners_px.min(axis=0), 0, [width, height]).astype(int)
    high = np.clip(corners_px.max(axis=0) + 1, 0, [width, height]).astype(int)
    part = image[low[1] : high[1], low[0] : high[0]]
    return part if part.size else image


def blur_of(grey: NDArray[np.uint8]) -> float:
    """How little a picture changes when it is smoothed further, 0 to 1 (after Crete and others).

    The sharper direction counts: boards have edges both ways, shaken pictures lose one of them.
    """
    plane = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 0.8)  # noise is no sharpness
    shares = []
    for axis, kernel in ((1, (_SMOOTHED, 1)), (0, (1, _SMOOTHED))):
        soft = cv2.blur(plane, kernel)
        here = np.abs(np.diff(plane, axis=axis))
        there = np.abs(np.diff(soft, axis=axis))
        strong = here > np.percentile(here, 97)
        change = here[strong].sum()
        lost = np.maximum(here - there, 0)[strong].sum()
        shares.append(float(1 - lost / change) if change > 0 else 1.0)
    return max(shares)
