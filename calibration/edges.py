"""Straight edges near where they are expected: strips across them, and where the edge lies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Floats
from calibration.rectify import Plane, sampled

_ACROSS = 7  # samples over the length of one piece
_STEP_PX = 0.5
_SMOOTH_PX = 0.8
_NOISE_FACTOR, _LEAST_SLOPE = 1.0, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """Slopes of lightness and colour across pieces of expected edges, along their normals."""

    middle_px: Floats  # (N, 2)
    normal: Floats  # (N, 2) unit vectors
    offset_px: Floats  # (steps,) along the normal
    slopes: Floats  # (N, 3, steps) per pixel; nan outside the picture

    @property
    def strength(self) -> Floats:
        """(N, steps) how steep lightness and colour change together."""
        return np.asarray(np.linalg.norm(self.slopes, axis=1))


def look_across(lab: Plane, start_px: Floats, end_px: Floats, reach_px: float) -> Strips:
    """Strips across the pieces from `start_px` to `end_px` (N, 2), to both sides."""
    along = end_px - start_px
    length = np.linalg.norm(along, axis=1, keepdims=True) + 1e-12
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / length
    middle = (start_px + end_px) / 2
    offset = np.arange(-reach_px, reach_px + _STEP_PX / 2, _STEP_PX)
    t = (np.arange(_ACROSS) + 0.5) / _ACROSS - 0.5
    spots = (
        middle[:, None, None, :]
        + t[None, :, None, None] * along[:, None, None, :]
        + offset[None, None, :, None] * normal[:, None, None, :]
    )
    values = sampled(lab, spots.reshape(len(middle), -1, 2))
    mean = np.asarray(values, np.float64).reshape(len(middle), _ACROSS, len(offset), 3).mean(axis=1)
    kernel = np.exp(-0.5 * (np.arange(-3, 4) * _STEP_PX / _SMOOTH_PX) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(mean, ((0, 0), (3, 3), (0, 0)), mode="edge")
    smooth = sum(k * padded[:, i : i + len(offset)] for i, k in enumerate(kernel))
    slopes = np.gradient(np.asarray(smooth), _STEP_PX, axis=1)
    return Strips(middle, normal, offset, np.moveaxis(slopes, 2, 1))


@dataclass(frozen=True, slots=True)
class Line:
    """A straight edge found near an expected one: its offset at both ends, and its support."""

    first_px: float
    last_px: float
    support: float  # part of the pieces that show it
    strength: float  # median slope


def noise_of(lab: Plane) -> float:
    """The slope that most of a picture shows where there is no edge: grain, noise, soft shadows."""
    small = lab[::2, ::2]
    down = np.abs(small[1:] - small[:-1])[:, :-1] / 2
    right = np.abs(small[:, 1:] - small[:, :-1])[:-1] / 2
    slope = np.sqrt((down**2 + right**2).sum(axis=2))
    return float(np.nanmedian(slope)) * _NOISE_FACTOR + _LEAST_SLOPE


def lines_across(strips: Strips, place: Floats, noise: float, most: int = 4) -> list[Line]:
    """Straight edges through a row of strips, best supported first.

    `place` says where each strip lies along the row, 0 to 1. A line may be tilted a little.
    """
    strength = np.nan_to_num(strips.strength)
    peaks = np.zeros_like(strength)
    middle = strength[:, 1:-1]
    peaks[:, 1:-1] = (
        (middle >= strength[:, :-2]) & (middle >= strength[:, 2:]) & (middle > noise)
    ) * (middle / (middle + 2 * noise))  # no single piece counts for much
    offsets = strips.offset_px
    ends = np.arange(len(offsets))
    first, last = np.meshgrid(ends, ends, indexing="ij")
    tilt = np.abs(offsets[first] - offsets[last]) <= max(4.0, 0.5 * float(np.ptp(offsets)))
    first, last = first[tilt], last[tilt]
    row = np.arange(len(place))
    at = np.rint(first[:, None] * (1 - place) + last[:, None] * place).astype(np.int64)
    found: list[Line] = []
    while len(found) < most:
        score = _dilated(peaks, 2)[row, at].mean(axis=1) + 0.5 * peaks[row, at].mean(axis=1)
        k = int(score.argmax())
        support = float((_dilated(peaks, 2)[row, at[k]] > 0).mean())
        if support < 0.3:
            break
        a, b = float(offsets[first[k]]), float(offsets[last[k]])
        found.append(Line(a, b, support, float(np.median(strength[row, at[k]]))))
        # What belongs to this line must not speak for another one.
        taken = np.abs(np.arange(len(offsets))[None] - at[k][:, None]) <= 4
        peaks = np.where(taken, 0.0, peaks)
    return found


def _dilated(values: Floats, reach: int) -> Floats:
    """The highest value within reach along each row."""
    padded = np.pad(values, ((0, 0), (reach, reach)))
    return np.asarray(
        np.max([padded[:, k : k + values.shape[1]] for k in range(2 * reach + 1)], axis=0)
    )


def settle(
    strips: Strips, place: Floats, line: Line, noise: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Where exactly each strip shows the line, and which ones do; offsets in pixels."""
    strength = np.nan_to_num(strips.strength)
    offsets = strips.offset_px
    expected = line.first_px * (1 - place) + line.last_px * place
    near = np.abs(offsets[None] - expected[:, None]) <= 2.0
    masked = np.where(near, strength, -1.0)
    best = np.clip(masked.argmax(axis=1), 1, len(offsets) - 2)
    row = np.arange(len(place))
    left, mid, right = strength[row, best - 1], strength[row, best], strength[row, best + 1]
    bend = np.minimum(left - 2 * mid + right, -1e-9)
    exact = offsets[best] + np.clip(0.5 * (left - right) / bend, -1, 1) * _STEP_PX
    peak = (mid >= left) & (mid >= right) & (mid > noise)
    return exact, np.asarray(peak & (np.abs(exact - expected) <= 2.0))
