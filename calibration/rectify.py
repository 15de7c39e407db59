"""The board seen from straight above: a picture warped through a camera, with known millimetres."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.cv import Image

Plane = NDArray[np.float32]
_KNOTS = 4
_FAR_PX = -1e4  # out of every picture


@dataclass(frozen=True, slots=True, eq=False)
class TopView:
    """Board seen from above: column i is at x = low[0] + i / px_per_mm, row j at y likewise."""

    low_mm: tuple[float, float]
    px_per_mm: float
    lab: Plane  # (rows, columns, 3) lightness and two colour axes; nan outside the picture

    def column(self, x_mm: Floats | float) -> Floats:
        """The column, with fraction, at these x."""
        return np.asarray((np.asarray(x_mm) - self.low_mm[0]) * self.px_per_mm)

    def row(self, y_mm: Floats | float) -> Floats:
        """The row, with fraction, at these y."""
        return np.asarray((np.asarray(y_mm) - self.low_mm[1]) * self.px_per_mm)


def lab_of(image: Image) -> Plane:
    """Lightness and colour of a picture in equal steps, single precision, slightly smoothed."""
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    soft = cv2.GaussianBlur(image, (0, 0), 0.7)
    return np.asarray(cv2.cvtColor(soft.astype(np.float32) / 255, cv2.COLOR_BGR2Lab), np.float32)


def scale_on_board(camera: Camera, centre_mm: Floats) -> float:
    """Pixels a millimetre around a place on the board, the geometric mean of both directions."""
    around = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]) + centre_mm
    a, b, c = camera.project(around)
    area = abs(float(np.cross(np.append(b - a, 0), np.append(c - a, 0))[2]))
    return float(np.sqrt(area)) if np.isfinite(area) else 0.0


def sampled(lab: Plane, px: NDArray[np.floating]) -> Plane:
    """Colours at places (rows, columns, 2) of a picture, between its pixels; nan outside."""
    at = np.nan_to_num(px, nan=_FAR_PX).astype(np.float32)
    outside = (np.nan, np.nan, np.nan)
    return np.asarray(
        cv2.remap(
            lab,
            at[..., 0],
            at[..., 1],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=outside,
        ),
        np.float32,
    )


def _between(count: int) -> Floats:
    """The matrix that fills `count` places from every fourth one; a lens is smooth enough."""
    at = np.arange(count) / _KNOTS
    knots = np.arange(int(np.ceil(at[-1])) + 1 if count > 1 else 1)
    return np.asarray(np.maximum(0.0, 1 - np.abs(at[:, None] - knots)))


def top_view(
    camera: Camera,
    lab: Plane,
    low_mm: tuple[float, float],
    high_mm: tuple[float, float],
    px_per_mm: float,
    height_mm: float = 0.0,
) -> TopView:
    """The part of a picture that shows this rectangle at a height."""
    wide, deep = high_mm[0] - low_mm[0], high_mm[1] - low_mm[1]
    columns, rows = int(wide * px_per_mm) + 1, int(deep * px_per_mm) + 1
    across, down = _between(columns), _between(rows)
    x = low_mm[0] + _KNOTS * np.arange(across.shape[1]) / px_per_mm
    y = low_mm[1] + _KNOTS * np.arange(down.shape[1]) / px_per_mm
    spots = np.stack([*np.meshgrid(x, y), np.full((len(y), len(x)), height_mm)], axis=-1)
    knots = np.clip(np.nan_to_num(camera.project(spots), nan=_FAR_PX), _FAR_PX, -_FAR_PX)
    px = np.stack([down @ knots[..., k] @ across.T for k in (0, 1)], axis=-1)
    return TopView(low_mm, px_per_mm, sampled(lab, px))
