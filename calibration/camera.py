"""The camera: lens and place, from board millimetres to pixels and back."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.errors import CalibrationError, WrongSize

Floats = NDArray[np.float64]
Size = tuple[int, int]

_FIELD = np.linspace(0.0, 3.0, 121)  # tangents of the angle off the axis, to 71 degrees
_ASPECT_TOLERANCE_PX = 1.0


def _frozen(values: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.size != int(np.prod(shape)) or not np.isfinite(array).all():
        raise CalibrationError(f"{what} must be {shape} finite numbers, not {values!r:.80}")
    array = array.reshape(shape)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """Pinhole with distortion: OpenCV's k1 k2 p1 p2 k3, and k4 k5 k6 where eight are given."""

    size: Size
    matrix: Floats
    distortion: Floats

    def __post_init__(self) -> None:
        width, height = (int(v) for v in self.size)
        if width < 2 or height < 2:
            raise WrongSize(f"a picture of {width} x {height} pixels; expected at least 2 x 2")
        object.__setattr__(self, "size", (width, height))
        object.__setattr__(self, "matrix", _frozen(self.matrix, (3, 3), "the camera matrix"))
        if not (self.matrix[0, 0] > 0 and self.matrix[1, 1] > 0):
            raise CalibrationError("the focal lengths of a camera matrix must be positive")
        given = np.array(self.distortion, dtype=np.float64).ravel()
        if given.size > 8:
            raise CalibrationError(f"{given.size} distortion coefficients; at most 8 are known")
        padded = np.zeros(8)
        padded[: given.size] = given
        object.__setattr__(self, "distortion", _frozen(padded, (8,), "the distortion"))

    @staticmethod
    def simple(size: Size, focal_px: float) -> "Lens":
        """A lens without distortion whose axis meets the middle of the picture."""
        cx, cy = (size[0] - 1) / 2, (size[1] - 1) / 2
        return Lens(size, np.array([[focal_px, 0, cx], [0, focal_px, cy], [0, 0, 1]]), np.zeros(5))

    @property
    def focal_px(self) -> float:
        """Mean focal length."""
        return float(self.matrix[0, 0] + self.matrix[1, 1]) / 2

    def _reach(self) -> float:
        """Largest tangent off the axis up to which the picture does not fold back on itself."""
        radius = _FIELD * _radial(self.distortion, _FIELD * _FIELD)
        falling = np.flatnonzero(np.diff(radius) <= 0)
        return float(_FIELD[falling[0]]) if falling.size else np.inf

    def distort(self, tangents: Floats) -> Floats:
        """Pixels of rays given as (x/z, y/z); nan where the lens model does not reach."""
        x, y = bend(self.distortion, tangents[..., 0], tangents[..., 1])
        beyond = np.hypot(tangents[..., 0], tangents[..., 1]) > self._reach()
        pixels = np.stack([x, y], axis=-1) @ self.matrix[:2, :2].T + self.matrix[:2, 2]
        pixels[beyond] = np.nan
        return pixels

    def undistort(self, px: ArrayLike) -> Floats:
        """The rays (x/z, y/z) that meet the picture at these pixels, by Newton's method."""
        points = np.asarray(px, dtype=np.float64)
        goal = (points - self.matrix[:2, 2]) @ np.linalg.inv(self.matrix[:2, :2]).T
        if not self.distortion.any():
            return goal
        x, y = goal[..., 0].copy(), goal[..., 1].copy()
        step = 1e-6
        for _ in range(12):
            fx, fy = bend(self.distortion, x, y)
            ax, ay = bend(self.distortion, x + step, y)
            bx, by = bend(self.distortion, x, y + step)
            a, c, b, d = (ax - fx) / step, (ay - fy) / step, (bx - fx) / step, (by - fy) / step
            ex, ey = goal[..., 0] - fx, goal[..., 1] - fy
            det = a * d - b * c
            det = np.where(np.abs(det) < 1e-9, np.nan, det)
            dx, dy = (d * ex - b * ey) / det, (a * ey - c * ex) / det
            x, y = x + dx, y + dy
            if np.nan_to_num(np.hypot(dx, dy)).max(initial=0.0) < 1e-12:
                break
        return np.stack([x, y], axis=-1)

    def scaled(self, size: Size) -> "Lens":
        """The same lens for pictures of another size of equal aspect; raises WrongSize."""
        if size == self.size:
            return self
        scale = (size[0] / self.size[0], size[1] / self.size[1])
        if abs(scale[0] * self.size[1] - size[1]) > _ASPECT_TOLERANCE_PX:
            raise WrongSize(
                f"the picture is {size[0]} x {size[1]}, but this camera was calibrated at "
                f"{self.size[0]} x {self.size[1]}, another aspect; "
                "set the camera to that size, or calibrate it anew: its lens, where that was "
                "measured, then its place"
            )
        matrix = self.matrix.copy()
        for row, factor in enumerate(scale):
            matrix[row, :2] *= factor
            matrix[row, 2] = (matrix[row, 2] + 0.5) * factor - 0.5
        return Lens(size, matrix, self.distortion)


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A lens in its place: x_camera = rotation @ x_board + translation_mm."""

    size: Size
    matrix: Floats
    distortion: Floats
    rotation: Floats
    translation_mm: Floats

    def __post_init__(self) -> None:
        lens = Lens(self.size, self.matrix, self.distortion)
        object.__setattr__(self, "size", lens.size)
        object.__setattr__(self, "matrix", lens.matrix)
        object.__setattr__(self, "distortion", lens.distortion)
        rotation = _frozen(self.rotation, (3, 3), "the rotation")
        if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-4) or (
            np.linalg.det(rotation) < 0
        ):
            raise CalibrationError("the rotation of a camera must be a rotation matrix")
        object.__setattr__(self, "rotation", rotation)
        place = _frozen(self.translation_mm, (3,), "the translation")
        object.__setattr__(self, "translation_mm", place)

    @staticmethod
    def of(lens: Lens, rotation: ArrayLike, translation_mm: ArrayLike) -> "Camera":
        """A camera of a lens and a place."""
        return Camera(
            lens.size,
            lens.matrix,
            lens.distortion,
            np.asarray(rotation, dtype=np.float64),
            np.asarray(translation_mm, dtype=np.float64),
        )

    @property
    def lens(self) -> Lens:
        """The lens without its place."""
        return Lens(self.size, self.matrix, self.distortion)

    @property
    def position_mm(self) -> Floats:
        """Where the camera is, in board millimetres."""
        return np.asarray(-self.rotation.T @ self.translation_mm)

    @property
    def looks_along(self) -> Floats:
        """Unit vector of the optical axis, on the board."""
        return np.asarray(self.rotation[2])

    def project(self, points_mm: ArrayLike) -> Floats:
        """Pixels of points (..., 3); nan behind the camera and where the lens does not reach."""
        points = np.asarray(points_mm, dtype=np.float64)
        seen = points @ self.rotation.T + self.translation_mm
        depth = np.where(seen[..., 2:] > 1e-6, seen[..., 2:], np.nan)
        return self.lens.distort(seen[..., :2] / depth)

    def rays(self, px: ArrayLike) -> tuple[Floats, Floats]:
        """The camera's place, and the unit directions on the board behind pixels (..., 2)."""
        tangents = self.lens.undistort(px)
        ahead = np.concatenate([tangents, np.ones_like(tangents[..., :1])], axis=-1)
        directions = ahead @ self.rotation
        return self.position_mm, directions / np.linalg.norm(directions, axis=-1, keepdims=True)

    def back_project(self, px: ArrayLike, height_mm: float = 0.0) -> Floats:
        """The points (..., 3) at this height seen at these pixels; nan where there is none."""
        origin, directions = self.rays(px)
        fall = np.where(np.abs(directions[..., 2]) > 1e-9, directions[..., 2], np.nan)
        far = (height_mm - origin[2]) / fall
        return origin + np.where(far > 0, far, np.nan)[..., None] * directions

    def scaled(self, size: Size) -> "Camera":
        """The same camera for pictures of another size of equal aspect; raises WrongSize."""
        lens = self.lens.scaled(size)
        return replace(self, size=lens.size, matrix=lens.matrix)


def bend(k: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Where a lens with these eight coefficients moves the tangents x, y."""
    r2 = x * x + y * y
    radial = _radial(k, r2)
    bent_x = x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x)
    bent_y = y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y
    return bent_x, bent_y


def _radial(k: Floats, r2: Floats) -> Floats:
    above = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))
    below = 1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7]))
    return np.asarray(above / below)
