"""Cameras in their places: far enough away that the whole table fits into the picture."""

import math

import numpy as np

from calibration.camera import Camera, Floats, Lens


def clock_direction(clock: float) -> Floats:
    """Unit vector on the table from its middle to an hour: 6 is the front, 3 the right."""
    angle = math.radians(30 * clock)
    return np.array([math.sin(angle), math.cos(angle)])


def camera_toward(
    lens: Lens, target_mm: Floats, clock: float, height_deg: float, far_mm: float, roll_deg: float
) -> Camera:
    """A camera at this hour and height that looks at a point; the hour's side is at its bottom."""
    flat = clock_direction(clock)
    rise = math.radians(height_deg)
    back = np.array([*(flat * math.cos(rise)), math.sin(rise)])
    ahead = -back
    # Upright pictures: away from the hour is up, which also holds straight from above.
    up = np.array([*(-flat * math.sin(rise)), math.cos(rise)])
    right = np.cross(ahead, up)
    roll = math.radians(roll_deg)
    across = math.cos(roll) * right - math.sin(roll) * up
    down = np.cross(ahead, across)
    rotation = np.stack([across, down, ahead])
    return Camera.of(lens, rotation, -rotation @ (target_mm + far_mm * back))


def fitting_camera(
    lens: Lens,
    region_mm: Floats,
    target_mm: Floats,
    clock: float,
    height_deg: float,
    roll_deg: float,
    fill: float,
) -> Camera:
    """The nearest such camera whose picture holds the points (n, 3) within its part `fill`."""
    low, high = 80.0, 4000.0
    middle = np.array(lens.size) / 2

    def fits(far_mm: float) -> bool:
        px = camera_toward(lens, target_mm, clock, height_deg, far_mm, roll_deg).project(region_mm)
        off = np.abs(px - middle) / middle
        return bool(np.isfinite(off).all() and (off <= fill).all())

    for _ in range(40):
        half = (low + high) / 2
        low, high = (low, half) if fits(half) else (half, high)
    return camera_toward(lens, target_mm, clock, height_deg, high, roll_deg)


def lens_of(
    size: tuple[int, int],
    focal: float,
    distortion: tuple[float, ...],
    axis: tuple[float, float],
) -> Lens:
    """A lens by its focal length in picture widths and its axis off the middle in widths."""
    width, height = size
    matrix = np.array(
        [
            [focal * width, 0, (width - 1) / 2 + axis[0] * width],
            [0, focal * width, (height - 1) / 2 + axis[1] * width],
            [0, 0, 1],
        ]
    )
    return Lens(size, matrix, np.array(distortion))
