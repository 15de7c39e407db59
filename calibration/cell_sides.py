"""The board's own lattice in a picture: how alike the sides of all cells look, and how far off.

Whatever marks a cell - a printed line, a recess, a tile, another colour - marks all four sides of
all cells alike, seen from the inside outwards. That one look is learnt from the picture itself.
"""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Floats
from calibration.rectify import TopView
from rules.lattice import Lattice

_ALONG = (0.2, 0.8)  # part of a side that is looked at; crossings look different
_INWARD, _OUTWARD = 0.40, 0.30  # reach of the profiles, in pitches
_STEPS = 57
_POWERS = 40
OUTWARDS = ((-1, 0), (1, 0), (0, -1), (0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Brightness slopes across the sides of cells, from inside to outside, in a top view."""

    cells: Floats  # (N, 2) file and rank of each side's cell; may lie outside the lattice
    outward: Floats  # (N, 2) unit vector
    middle_mm: Floats  # (N, 2) middle of the cell's border
    profiles: Floats  # (N, 3, steps) slopes per mm of lightness and colour
    reach_mm: Floats  # (steps,) how far outside of the border each step is

    def part(self, keep: NDArray[Any]) -> "Sides":
        """Some of the sides."""
        return Sides(
            self.cells[keep],
            self.outward[keep],
            self.middle_mm[keep],
            self.profiles[keep],
            self.reach_mm,
        )


def look_at_sides(view: TopView, lattice: Lattice, ring: int = 1) -> Sides:
    """The sides of all cells and of `ring` rows of places around them, where they are in view."""
    pitch = lattice.pitch_mm
    reach = np.linspace(-_INWARD, _OUTWARD, _STEPS) * pitch
    along = np.linspace(*_ALONG, int(np.clip(0.6 * pitch * view.px_per_mm, 5, 15))) - 0.5
    files, ranks = np.meshgrid(
        np.arange(-ring, lattice.columns + ring), np.arange(-ring, lattice.ranks + ring)
    )
    places = np.stack([files.ravel(), ranks.ravel()], axis=1).astype(np.float64)
    cells, outwards, middles, profiles = [], [], [], []
    for ox, oy in OUTWARDS:
        out = np.array([ox, oy], dtype=np.float64)
        tangent = np.array([-oy, ox], dtype=np.float64)
        middle = (places + 0.5 + out / 2) * pitch
        spots = (
            middle[:, None, None, :]
            + (along * pitch)[None, :, None, None] * tangent
            + reach[None, None, :, None] * out
        )
        values = _sample(view, spots)  # (cells, along, steps, 3)
        mean = values.mean(axis=1)
        slope = np.gradient(mean, reach, axis=1)
        cells.append(places)
        outwards.append(np.broadcast_to(out, places.shape))
        middles.append(middle)
        profiles.append(np.moveaxis(slope, 2, 1))
    sides = Sides(
        np.concatenate(cells),
        np.concatenate(outwards),
        np.concatenate(middles),
        np.concatenate(profiles),
        reach,
    )
    return sides.part(np.asarray(np.isfinite(sides.profiles).all(axis=(1, 2))))


def _sample(view: TopView, spots: Floats) -> Floats:
    """Bilinear values of the top view; nan outside."""
    table = spots.reshape(len(spots), -1, 2)
    columns, rows = view.column(table[..., 0]), view.row(table[..., 1])
    value = cv2.remap(
        view.lab,
        columns.astype(np.float32),
        rows.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(np.nan, np.nan, np.nan),
    )
    return np.asarray(value, dtype=np.float64).reshape(*spots.shape[:-1], 3)


@dataclass(frozen=True, slots=True, eq=False)
class CommonLook:
    """The slope profile that most sides share, and how much of theirs it explains."""

    profile: Floats  # (3, steps), unit length
    explained: float  # part of the sides' energy, 0 to 1


def common_look(sides: Sides, loudest: float = 2.0) -> CommonLook:
    """The one profile that explains most of all sides, each with its own strength and sign.

    No side counts for more than `loudest` usual ones.
    """
    flat = sides.profiles.reshape(len(sides.profiles), -1)
    # Strong sides (an edge of the board, a shadow, a lamp mirrored in it) must not decide alone.
    energy = np.linalg.norm(flat, axis=1, keepdims=True)
    cap = loudest * np.median(energy) + 1e-9
    flat = flat * np.minimum(1, cap / np.maximum(energy, 1e-9))
    total = float((flat**2).sum())
    both = flat.T @ flat
    # The leading direction by repeated multiplication: only this one is needed.
    row = both[:, int(np.diag(both).argmax())]
    for _ in range(_POWERS):
        row = both @ (row / (np.linalg.norm(row) + 1e-300))
    strength = float(np.linalg.norm(row))
    explained = strength / total if total > 0 else 0.0
    return CommonLook((row / (strength + 1e-300)).reshape(sides.profiles.shape[1:]), explained)
