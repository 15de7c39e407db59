"""How pixels move when a camera's place, turn or lens changes: exact slopes, all points at once."""

import numpy as np

from calibration.camera import Floats, bend

_STEP = 1e-6  # of a tangent, for the slope of a bent lens


def pixel_slopes(
    matrix: Floats, distortion: Floats, turn: Floats, turned: Floats, place: Floats
) -> tuple[Floats, Floats]:
    """Slopes of pixels (N, 2, 12) by the values of `solve.moved`, and (N, 2, 3) by the place seen.

    `turned` are points on the board's axes already turned (N, 3), `place` is what is added to
    them; all must be in front of the camera. `turn` is the rotation vector among the values.
    """
    seen = turned + place
    depth = seen[:, 2]
    x, y = seen[:, 0] / depth, seen[:, 1] / depth
    u, v = bend(distortion, x, y)
    u_x, v_x = bend(distortion, x + _STEP, y)
    u_y, v_y = bend(distortion, x, y + _STEP)
    focal = np.array([matrix[0, 0], matrix[1, 1]])
    by_tangent = np.empty((len(seen), 2, 2))
    by_tangent[:, 0, 0], by_tangent[:, 0, 1] = (u_x - u) / _STEP, (u_y - u) / _STEP
    by_tangent[:, 1, 0], by_tangent[:, 1, 1] = (v_x - v) / _STEP, (v_y - v) / _STEP
    by_tangent *= focal[:, None]
    by_seen = np.empty((len(seen), 2, 3))
    by_seen[:, :, :2] = by_tangent / depth[:, None, None]
    by_seen[:, :, 2] = -(by_tangent[:, :, 0] * x[:, None] + by_tangent[:, :, 1] * y[:, None])
    by_seen[:, :, 2] /= depth[:, None]
    slopes = np.zeros((len(seen), 2, 12))
    # A small further turn moves a point by the cross product with it.
    slopes[:, :, :3] = -by_seen @ _crosses(turned) @ _turning(turn)
    slopes[:, :, 3:6] = by_seen
    slopes[:, 0, 6], slopes[:, 1, 6] = focal[0] * u, focal[1] * v
    slopes[:, 0, 7] = slopes[:, 1, 8] = 1.0
    r2 = x * x + y * y
    below = 1 + r2 * (distortion[5] + r2 * (distortion[6] + r2 * distortion[7]))
    for k, power in ((9, r2), (10, r2 * r2)):
        slopes[:, 0, k], slopes[:, 1, k] = (
            focal[0] * x * power / below,
            focal[1] * y * power / below,
        )
    slopes[:, 0, 11], slopes[:, 1, 11] = focal[0] * u / 2, -focal[1] * v / 2
    return slopes, by_seen


def _crosses(vectors: Floats) -> Floats:
    """Matrices (N, 3, 3) that take the cross product with each vector."""
    result = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    result[:, 0, 1], result[:, 0, 2] = -z, y
    result[:, 1, 0], result[:, 1, 2] = z, -x
    result[:, 2, 0], result[:, 2, 1] = -y, x
    return result


def _turning(turn: Floats) -> Floats:
    """By how much a rotation turns further when its rotation vector grows."""
    angle = float(np.linalg.norm(turn))
    cross = _crosses(turn[None])[0]
    if angle < 1e-4:
        return np.asarray(np.eye(3) + cross / 2)
    return np.asarray(
        np.eye(3)
        + (1 - np.cos(angle)) / angle**2 * cross
        + (angle - np.sin(angle)) / angle**3 * cross @ cross
    )
