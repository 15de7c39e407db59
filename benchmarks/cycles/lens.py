"""Where a camera stands, its lens after Brown and Conrady, and what its sensor makes of light."""

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sensor:
    """What happens to light between the lens and the file."""

    mean: float  # linear brightness that automatic exposure aims at
    balance: tuple[float, float, float]
    noise: tuple[float, float]  # of light, and of reading
    blur: float
    vignette: float
    sharpen: float
    saturation: float
    jpeg: int


@dataclass(frozen=True)
class Lens:
    """OpenCV's conventions: x_camera = rotation x_board + translation."""

    size: tuple[int, int]
    matrix: Floats
    distortion: Floats
    rotation: Floats
    translation: Floats
    sensor: Sensor

    @property
    def place(self) -> Floats:
        """Where it stands on the table."""
        return -self.rotation.T @ self.translation

    def project(self, points: Floats) -> Floats:
        """Board millimetres to pixels."""
        turn, _ = cv2.Rodrigues(self.rotation)
        return cv2.projectPoints(
            points.astype(float), turn, self.translation, self.matrix, self.distortion
        )[0][:, 0]

    def clock(self, centre: tuple[float, float]) -> float:
        """The side of the board nearest to the lower edge of its picture."""
        x, y = self.place[:2] - centre
        if self.rotation[2, 2] < -0.9:  # steep: what counts is the picture's downward direction
            x, y = self.rotation[1, :2]
        return (3 - math.degrees(math.atan2(y, x)) / 30) % 12

    def truth(self) -> dict[str, Any]:
        """As calibrations are written."""
        return {
            "size": list(self.size),
            "matrix": self.matrix.tolist(),
            "distortion": [*self.distortion.tolist(), 0.0, 0.0, 0.0],
            "rotation": self.rotation.tolist(),
            "translation_mm": self.translation.tolist(),
        }

    def pinhole(self) -> tuple[tuple[int, int], float]:
        """Size and focal length of an undistorted picture with all rays of the distorted one."""
        width, height = self.size
        u, v = np.arange(0, width, 8.0), np.arange(0, height, 8.0)
        edge = [(a, b) for a in (*u, width - 1) for b in (0, height - 1)] + [
            (a, b) for a in (0, width - 1) for b in (*v, height - 1)
        ]
        rays = self._rays(np.array(edge, float))
        focal = float(self.matrix[0, 0]) * 1.04
        half = np.abs(rays).max(0) * focal + 3
        return (2 * math.ceil(half[0]), 2 * math.ceil(half[1])), focal

    def distort(self, picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The picture through the lens, from that of the pinhole."""
        (wide, high), focal = self.pinhole()
        width, height = self.size
        u, v = np.meshgrid(np.arange(width, dtype=float), np.arange(height, dtype=float))
        rays = self._rays(np.stack([u.ravel(), v.ravel()], 1))
        at = (
            (rays * focal + [(wide - 1) / 2, (high - 1) / 2])
            .astype(np.float32)
            .reshape(height, width, 2)
        )
        return cv2.remap(picture, at, None, cv2.INTER_CUBIC)  # type: ignore[return-value]

    def _rays(self, pixels: Floats) -> Floats:
        stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-10)
        return cv2.undistortPointsIter(
            pixels[:, None], self.matrix, self.distortion, np.eye(3), np.eye(3), stop
        )[:, 0]


def aimed(
    box: Floats, hour: float, elevation: float, size: tuple[int, int], rng: np.random.Generator
) -> Lens:
    """A camera at a clock hour and elevation, as far away as the box (8 corners) needs."""
    width, height = size
    focal = rng.uniform(0.75, 1.1) * width
    matrix = np.array(
        [
            [focal, 0, width / 2 + rng.normal(0, 0.01) * width],
            [0, focal, height / 2 + rng.normal(0, 0.01) * width],
            [0, 0, 1],
        ]
    )
    k1 = rng.uniform(-0.11, 0.03)
    distortion = np.array([k1, -0.5 * k1 + rng.normal(0, 0.01), *rng.normal(0, 6e-4, 2), 0.0])
    angle, up = math.radians(90 - 30 * hour), math.radians(elevation)
    towards = np.array(
        [math.cos(angle) * math.cos(up), math.sin(angle) * math.cos(up), math.sin(up)]
    )
    middle = box.mean(0) * [1, 1, 0.8] + rng.normal(0, 10, 3) * [1, 1, 0.3]
    roll, fill = rng.normal(0, math.radians(2.5)), rng.uniform(0.68, 0.9)
    sensor = _sensor(rng)

    def at(distance: float) -> Lens:
        forward = -towards
        right = np.cross(forward, [0, 0, 1])
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        c, s = math.cos(roll), math.sin(roll)
        rotation = np.stack([c * right + s * down, -s * right + c * down, forward])
        return Lens(
            size, matrix, distortion, rotation, -rotation @ (middle + towards * distance), sensor
        )

    near, far = np.linalg.norm(np.ptp(box, axis=0)) * 0.75, 4000.0
    for _ in range(30):
        half = (near + far) / 2
        seen = np.abs(at(half).project(box) - [width / 2, height / 2]).max(0) / [
            width / 2,
            height / 2,
        ]
        near, far = (half, far) if seen.max() > fill else (near, half)
    return at(far)


def _sensor(rng: np.random.Generator) -> Sensor:
    red, blue = rng.normal(1, 0.045, 2)
    return Sensor(
        float(rng.uniform(0.13, 0.24)),
        (float(red), 1.0, float(blue)),
        (float(rng.uniform(0.003, 0.012)), float(rng.uniform(0.001, 0.005))),
        float(rng.uniform(0.3, 0.85)),
        float(rng.uniform(0.03, 0.2)),
        float(rng.choice([0.0, 0.0, 0.4])),
        float(rng.uniform(0.95, 1.2)),
        int(rng.integers(75, 93)),
    )


def exposure(lens: Lens, light: npt.NDArray[np.float32], dimmed: float) -> float:
    """The gain that automatic exposure would choose; `dimmed` below 1 is a dark room."""
    grey = light.mean(2)
    return lens.sensor.mean * dimmed / float(np.minimum(grey, np.quantile(grey, 0.97)).mean())


def develop(
    lens: Lens, light: npt.NDArray[np.float32], gain: float, white: Floats, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """An 8-bit BGR picture from linear RGB light; `white` is what white balance divides by."""
    s = lens.sensor
    height, width = light.shape[:2]
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]  # type: ignore[misc]
    image = (
        light
        * gain
        * np.array(s.balance)
        / white
        * (1 - s.vignette * (x * x + y * y) / 2)[..., None]
    )
    image = cv2.GaussianBlur(np.minimum(image, 4.0), (0, 0), s.blur)
    speckle = rng.normal(0, 1, image.shape) * np.sqrt(
        s.noise[0] ** 2 * np.maximum(image, 0) + s.noise[1] ** 2
    )
    image = np.maximum(image + cv2.GaussianBlur(speckle, (0, 0), 0.5) * 1.6, 0)
    image = np.where(
        image > 0.7, 0.7 + 0.3 * np.tanh((image - 0.7) / 0.45), image
    )  # highlights roll off
    grey = image.mean(2, keepdims=True)
    image = np.clip(grey + (image - grey) * s.saturation, 0, 1)
    image = np.where(image <= 0.0031308, 12.92 * image, 1.055 * image ** (1 / 2.4) - 0.055)
    if s.sharpen:
        image = image + s.sharpen * (image - cv2.GaussianBlur(image, (0, 0), 1.2))
    return (np.clip(image[..., ::-1], 0, 1) * 255 + 0.5).astype(np.uint8)
