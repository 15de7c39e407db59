"""Four-sided figures as pictures of a rectangle: whether they can be, and from where."""

import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats, Lens
from calibration.solve import Evidence, LensDoubt, solve

_FOCAL_RANGE = (0.5, 1.25)  # picture widths that webcams have
_UNIT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def unit_square_to(quads: Floats) -> Floats:
    """Homographies (N, 3, 3) from the unit square to four-sided figures (N, 4, 2)."""
    a, b, c, d = (quads[:, k] for k in range(4))
    dx = np.stack([b - c, d - c, a - b + c - d], axis=1)  # (N, 3, 2)
    det = dx[:, 0, 0] * dx[:, 1, 1] - dx[:, 1, 0] * dx[:, 0, 1]
    det = np.where(np.abs(det) < 1e-15, np.nan, det)
    g = (dx[:, 2, 0] * dx[:, 1, 1] - dx[:, 1, 0] * dx[:, 2, 1]) / det
    h = (dx[:, 0, 0] * dx[:, 2, 1] - dx[:, 2, 0] * dx[:, 0, 1]) / det
    H = np.empty((len(quads), 3, 3))
    H[:, :2, 0] = b - a + g[:, None] * b
    H[:, :2, 1] = d - a + h[:, None] * d
    H[:, :2, 2] = a
    H[:, 2, 0], H[:, 2, 1], H[:, 2, 2] = g, h, 1.0
    return H


def focal_factors(lens: Lens, *, lens_known: bool) -> Floats:
    """By what the focal length may have to be multiplied, where nobody measured it."""
    if lens_known:
        return np.ones(1)
    low, high = (r * lens.size[0] / lens.focal_px for r in _FOCAL_RANGE)
    return np.geomspace(low, high, 15)


def misfit(
    quads: Floats, wide: float, deep: float, lens: Lens, *, lens_known: bool
) -> tuple[Floats, Floats]:
    """How far figures (tangents) are from a rectangle of these sides, and the best focal factor.

    0 is a perfect rectangle; 0.1 is 6 degrees off square or 10 % off in the ratio of the sides.
    """
    H = unit_square_to(quads)
    factors = focal_factors(lens, lens_known=lens_known)
    best = np.full(len(quads), np.inf)
    which = np.ones(len(quads))
    for factor in factors:
        one, two = H[:, :, 0].copy(), H[:, :, 1].copy()
        one[:, :2] /= factor
        two[:, :2] /= factor
        length = np.linalg.norm(one, axis=1) / wide, np.linalg.norm(two, axis=1) / deep
        square = (one * two).sum(axis=1) / (length[0] * wide * length[1] * deep)
        off = np.hypot(square, np.log(length[0] / length[1]))
        better = off < best
        best[better], which[better] = off[better], factor
    return np.nan_to_num(best, nan=np.inf), which


def place_camera(
    corners: Floats,
    corners_mm: Floats,
    lens: Lens,
    doubt: LensDoubt,
    factor: float = 1.0,
) -> Camera | None:
    """The camera that sees four points of a plane (4, 3) at tangents (4, 2)."""
    height = float(corners_mm[0, 2])
    H = unit_square_to(corners[None])[0]
    toward = H @ np.linalg.inv(unit_square_to(corners_mm[None, :, :2])[0])
    toward[:2] /= factor
    if not np.isfinite(toward).all():
        return None
    toward /= np.sqrt(np.linalg.norm(toward[:, 0]) * np.linalg.norm(toward[:, 1]))
    middle = toward @ np.append(corners_mm[:, :2].mean(axis=0), 1)
    if middle[2] < 0:
        toward = -toward
    R = np.stack([toward[:, 0], toward[:, 1], np.cross(toward[:, 0], toward[:, 1])], axis=1)
    u, _, v = np.linalg.svd(R)
    R = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
    place = toward[:, 2] - R[:, 2] * height
    matrix = lens.matrix.copy()
    matrix[0, 0] *= factor
    matrix[1, 1] *= factor
    scaled = Lens(lens.size, matrix, lens.distortion)
    camera = Camera.of(scaled, R, place)
    if camera.position_mm[2] <= height or not np.isfinite(camera.project(corners_mm)).all():
        return None
    px = lens.distort(corners)
    evidence = Evidence.of_points(corners_mm, px, 1.0)
    narrow = LensDoubt(max(doubt.focal, 1e-4), 1e-5, 1e-5, 1e-5)
    camera = solve(camera, evidence, narrow, trusted=Camera.of(lens, R, place), rounds=1).camera
    return camera if camera.position_mm[2] > height else None


def seen_from_above(corners: Floats) -> Floats:
    """The corners in the order in which a board's corners appear to somebody above it."""
    x, y = corners[:, 0], corners[:, 1]
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return corners if area < 0 else corners[::-1]


def clock_of(camera: Camera, centre_mm: Floats) -> float:
    """The hour of the board's side that is nearest to the lower edge of the picture."""
    around = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]) + centre_mm
    o, x, y = camera.project(around)
    move = np.stack([x - o, y - o], axis=1)
    if not np.isfinite(move).all() or abs(np.linalg.det(move)) < 1e-12:
        return float("nan")
    down = np.linalg.solve(move, np.array([0.0, 1.0]))
    return float((3 - np.degrees(np.arctan2(down[1], down[0])) / 30) % 12)


def hours_apart(a: float, b: float) -> float:
    """How many hours two clock places differ, 0 to 6."""
    return abs((a - b + 6) % 12 - 6)


def orientation_vector(camera: Camera) -> Floats:
    """Rotation vector, for printing and comparing."""
    return cv.vector_of(camera.rotation)
