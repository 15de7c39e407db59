"""How plain a picture is from place to place: a felt of its cloth's own colour has no pattern.

What is plain is seen at a scale of a few pixels, and only where it is larger than the plain squares
of which patterns are made.
"""

import cv2
import numpy as np

from calibration.rectify import Plane

_WIDE_PX = 640  # pictures are looked at no larger
_GRAIN_PX = 9  # of a small picture: within so many a pattern changes
_LEAST_GRAIN = 0.3  # of lightness and colour: less is the noise of a picture, or none
_PER_LOG = 5.0  # what a pattern e times as strong in variance is worth, beside lightness


def plainness(lab: Plane, part: float) -> Plane:
    """How plain each place of a picture is, in about as many steps as there are of lightness.

    A small picture; what is plain over less than that part of its width counts as patterned.
    """
    scale = min(1.0, _WIDE_PX / lab.shape[1])
    small = cv2.resize(lab, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    mean = cv2.blur(small, (_GRAIN_PX, _GRAIN_PX))
    variance = (cv2.blur(small**2, (_GRAIN_PX, _GRAIN_PX)) - mean**2).sum(axis=2)
    plain = -_PER_LOG * np.log(np.maximum(variance, _LEAST_GRAIN**2))
    size = round(part * small.shape[1])
    # A pattern is seen half a grain within what is plain: that comes back with the rest.
    disc, wider = (
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (n, n)) for n in (size, size + _GRAIN_PX - 1)
    )
    return np.asarray(cv2.dilate(cv2.erode(plain, disc), wider), np.float32)


def with_plainness(lab: Plane, part: float) -> Plane:
    """A picture whose places have a fourth colour: how plain it is there."""
    plain = plainness(lab, part)
    height, width = lab.shape[:2]
    return np.dstack([lab, cv2.resize(plain, (width, height), interpolation=cv2.INTER_LINEAR)])
