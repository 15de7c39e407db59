"""Exposure: by how much a camera made a whole picture lighter, darker or of another tint.

Cameras adjust themselves while people move: then all pixels change, and nothing on the table did.
"""

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import AXES, Floats32, light_of, linear_light

HARDLY = 0.03  # of all light; smaller changes are left to the noise of pixels
_DARK, _BRIGHT = 30, 245  # bytes between which they tell how much light there is
_LEAST_PIXELS = 50
_EVERY = np.arange(256, dtype=np.uint8)
_BETWEEN = linear_light(np.arange(255) + 0.5)  # light between each byte and the next


def common_gains(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> Floats32:
    """The factors of light, by channel, by which most pixels (N, 3) changed; 1 for hardly any."""
    gains = np.ones(3, dtype=np.float32)
    for channel in range(3):
        one, other = before[:, channel], now[:, channel]
        telling = (np.minimum(one, other) > _DARK) & (np.maximum(one, other) < _BRIGHT)
        if np.count_nonzero(telling) >= _LEAST_PIXELS:
            gains[channel] = np.median(light_of(other[telling]) / light_of(one[telling]))
    return gains if np.abs(gains - 1).max() > HARDLY else np.ones(3, dtype=np.float32)


def in_light(bgr: NDArray[np.uint8], gains: Floats32) -> NDArray[np.uint8]:
    """Pixels (N, 3) as they would be shown with so much more light in each channel."""
    if (gains == 1).all():
        return bgr
    found = np.empty_like(bgr)
    for channel, gain in enumerate(gains):
        shown = np.searchsorted(_BETWEEN, np.minimum(light_of(_EVERY) * gain, 1.0))
        found[:, channel] = shown.astype(np.uint8)[bgr[:, channel]]
    return found


def change_of(gains: Floats32) -> Floats32:
    """The change of light, in the space of colours, that these factors mean."""
    return np.asarray(AXES @ np.log(gains), dtype=np.float32)
