"""Least squares with weights and known uncertainties, small enough to see through."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibration.camera import Floats

Residuals = Callable[[Floats], Floats]
Jacobian = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Where the search ended: values, their covariance, the residuals there."""

    values: Floats
    covariance: Floats
    residuals: Floats
    cost: float


def slopes(residuals: Residuals, values: Floats, steps: Floats) -> Floats:
    """The Jacobian by differences."""
    columns = []
    here = residuals(values)
    for i, step in enumerate(steps):
        move = np.zeros_like(values)
        move[i] = step
        columns.append((residuals(values + move) - here) / step)
    return np.stack(columns, axis=1)


def levenberg_marquardt(
    residuals: Residuals,
    start: Floats,
    *,
    steps: Floats | None = None,
    jacobian: Jacobian | None = None,
    rounds: int = 60,
) -> Fit:
    """Least squares from a start; residuals are in units of their standard deviation.

    Prior knowledge of a value is one more residual. Without `jacobian`, `steps` are the moves of
    each value by which slopes are measured.
    """

    def slope(at: Floats) -> Floats:
        if jacobian is not None:
            return jacobian(at)
        return slopes(residuals, at, np.full(at.shape, 1e-6) if steps is None else steps)

    values = np.asarray(start, dtype=np.float64)
    now = residuals(values)
    cost = float(now @ now)
    damping = 1e-3
    for _ in range(rounds):
        J = slope(values)
        normal, gradient = J.T @ J, J.T @ now
        improved = False
        for _ in range(10):
            damped = normal + damping * np.diag(np.diag(normal) + 1e-12)
            move = -_solved(damped, gradient)
            there = residuals(values + move)
            cost_there = float(there @ there)
            if np.isfinite(cost_there) and cost_there < cost:
                improved = True
                break
            damping *= 5
        if not improved:
            break
        done = cost - cost_there < 1e-9 * (1 + cost)
        values, now, cost = values + move, there, cost_there
        damping = max(damping / 8, 1e-9)
        if done:
            break
    J = slope(values)
    covariance = np.linalg.pinv(J.T @ J, hermitian=True).astype(np.float64)
    return Fit(values, covariance, now, cost)


def _solved(matrix: Floats, goal: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, goal))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, goal, rcond=None)[0])


def huber_weights(residuals: Floats, bend: float = 1.5) -> Floats:
    """Weights of iteratively reweighted least squares that stop outliers from pulling."""
    size = np.abs(residuals)
    return np.where(size <= bend, 1.0, bend / np.maximum(size, 1e-12))


def spread(residuals: Floats) -> float:
    """A standard deviation that a minority of outliers does not move."""
    if not residuals.size:
        return 0.0
    return float(1.4826 * np.median(np.abs(residuals)))
