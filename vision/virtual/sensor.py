"""A webcam's sensor: exposure and white balance, vignette, sharpening, noise, JPEG."""

from dataclasses import dataclass
from itertools import product
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import ImageBGR
from vision.virtual.values import F32, Rgb, Sensor, f32

_NOISE_PX = 64  # as wide and high are parts of a picture whose noise lies together
_ASTRAY = 0.18


@dataclass(frozen=True, slots=True)
class Gain:
    """Exposure and white balance in force: a factor for blue, green and red light."""

    bgr: tuple[float, float, float]

    def toward(self, other: "Gain", part: float) -> "Gain":
        """A gain on the way to another one."""
        b, g, r = (a ** (1 - part) * c**part for a, c in zip(self.bgr, other.bgr, strict=True))
        return Gain((b, g, r))


def metered(light: F32, sensor: Sensor, white: Rgb) -> Gain:
    """The gain that the automatics strive for, given linear light (height, width, 3).

    `white` is what a white sheet sends back. Webcams guess it from lamps that they know, and are
    led astray by what fills the picture, though not as far as to call a red table grey.
    """
    small = cv2.resize(light, (64, 36), interpolation=cv2.INTER_AREA).reshape(-1, 3)
    mean = np.maximum(small.mean(axis=0), 1e-5)
    lamp = np.maximum(f32(white[::-1]), 1e-5)
    guess = lamp * (mean / lamp) ** _ASTRAY
    balance = (guess[1] / guess) ** sensor.balance
    balance /= balance[1]
    tinted = balance * f32(sensor.tint[::-1])
    exposure = sensor.exposure / max(1e-5, float((mean * tinted) @ f32([0.11, 0.59, 0.30])))
    # Automatics give way before large bright things are burnt out.
    bright = float(np.percentile((small * tinted * exposure).max(axis=1), 97))
    exposure /= max(1.0, bright / 0.8)
    b, g, r = (float(v) for v in tinted * exposure)
    return Gain((b, g, r))


class Development:
    """Turns linear light into the pictures of one webcam; keeps its vignette, curve and noise."""

    def __init__(self, sensor: Sensor, size: tuple[int, int], seed: int) -> None:
        self.sensor = sensor
        width, height = size
        rows, columns = np.mgrid[:height, :width].astype(np.float32)
        off = np.hypot((columns - width / 2) / width, (rows - height / 2) / width) / 0.57
        # Applied to square roots of light, hence half of the fall in light.
        self._vignette = (1 - 0.5 * sensor.vignette * off * off).astype(np.float32)
        self._vignette = np.asarray(cv2.merge([self._vignette] * 3), np.float32)
        value = np.arange(256, dtype=np.float64) / 255
        light = value * value
        srgb = np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
        curved = srgb + sensor.contrast * (srgb - 0.5) * srgb * (1 - srgb) * 2
        self._curve = np.clip(np.round(255 * curved), 0, 255).astype(np.uint8)
        self._noise = self._noise_tile(size, np.random.default_rng([seed, 71]))

    def _noise_tile(self, size: tuple[int, int], rng: np.random.Generator) -> NDArray[np.int16]:
        width, height = (side + _NOISE_PX for side in size)
        fine = rng.standard_normal((height, width, 3), np.float32) * self.sensor.noise
        fine = cv2.GaussianBlur(fine, (0, 0), 0.55) * 1.7
        coarse = rng.standard_normal((height // 4 + 1, width // 4 + 1, 3), np.float32)
        coarse *= self.sensor.blotch
        blotch = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(np.round(self._sharpened(fine) + blotch), dtype=np.int16)

    def _sharpened(self, picture: F32) -> F32:
        if not self.sensor.sharpen:
            return picture
        soft = cv2.GaussianBlur(picture, (0, 0), 1.3)
        return np.asarray(
            cv2.addWeighted(picture, 1 + self.sensor.sharpen, soft, -self.sensor.sharpen, 0),
            dtype=np.float32,
        )

    def exposed(self, light: F32) -> F32:
        """Light through lens and sharpening, as square roots: the part that can be kept."""
        root = cv2.sqrt(cv2.threshold(light, 0, 0, cv2.THRESH_TOZERO)[1])
        if self.sensor.blur_px > 0.2:
            root = cv2.GaussianBlur(root, (0, 0), self.sensor.blur_px)
        return f32(cv2.multiply(self._sharpened(f32(root)), self._vignette))

    def developed(self, root: F32, gain: Gain, rng: np.random.Generator) -> ImageBGR:
        """The finished picture of kept light; the generator gives noise, never the scene."""
        factor = np.array([*(255 * v**0.5 for v in gain.bgr), 0.0])
        scaled = cv2.multiply(root, factor, dtype=cv2.CV_8U)
        picture = cv2.LUT(scaled, self._curve)
        # In small parts: noise that was shifted as a whole could be followed like a thing.
        noisy = np.empty_like(picture)
        for top, left in product(*(range(0, many, _NOISE_PX) for many in picture.shape[:2])):
            part = picture[top : top + _NOISE_PX, left : left + _NOISE_PX]
            (high, wide), (height, width) = part.shape[:2], self._noise.shape[:2]
            y, x = (int(v) for v in rng.integers(0, (height - high, width - wide)))
            own = self._noise[y : y + high, x : x + wide]
            noisy[top : top + high, left : left + wide] = cv2.add(part, own, dtype=cv2.CV_8U)
        return cast("ImageBGR", noisy)

    def compressed(self, picture: ImageBGR) -> bytes:
        """The picture as the webcam's JPEG."""
        done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, self.sensor.jpeg])
        if not done:
            raise ValueError(f"a picture of {picture.shape} cannot be written as JPEG")
        return data.tobytes()
