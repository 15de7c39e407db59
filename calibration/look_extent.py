"""From where to where cells show what they have in common: where the board begins and ends."""

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Floats
from rules.lattice import Lattice

_THERE = 0.5  # of the common look that must be seen in a place
_NOTHING = 0.05  # what a place costs that would show nothing: the shortest span is meant
_UNBROKEN = 0.25  # of its usual strength that lines along an axis show everywhere


def spans(changes: NDArray[np.float32], lattice: Lattice, elements: int) -> Floats:
    """Along both axes the first and the last place of the common look, in cells (2, 2).

    `changes` are those across x and across y, from one cell before the board to one behind it.
    """
    n, columns, ranks = elements, lattice.columns, lattice.ranks
    whole = changes[: (ranks + 2) * n, : (columns + 2) * n]
    cells = whole[n:-n, n:-n].reshape(ranks, n, columns, n, 2)
    look = np.median(cells, axis=(0, 2))
    usual = np.median(look, axis=(0, 1))
    look = np.maximum(look - usual, 0)
    found = []
    for axis in (1, 0):
        part = whole[n:-n] if axis == 1 else whole[:, n:-n]
        tiled = np.tile(look, (part.shape[0] // n, part.shape[1] // n, 1))
        there = (tiled * (part - usual - _THERE * tiled)).sum(axis=1 - axis)
        power = (tiled**2).sum(axis=1 - axis)
        usually = power.mean(axis=0) + 1e-9
        gain, power = there / usually, power / usually
        along = axis  # what changes across y runs along x, and is the last
        # Lines that run from end to end tell best; of others it takes all that there is, and
        # shadows, on one side of each wall, do not begin where they end.
        unbroken = float(power[:, along].min()) > _UNBROKEN
        gain = gain[:, along] if unbroken else gain.sum(axis=1)
        first, last = _best_part(gain - _NOTHING)
        found.append((first / n - 1, last / n - 1))
    return np.array(found)


def _best_part(gain: Floats) -> tuple[int, int]:
    """The first and the last place of the part with the largest sum."""
    best, found, first, total = 0.0, (0, 0), 0, 0.0
    for k, more in enumerate(gain.tolist()):
        if total <= 0:
            first, total = k, 0.0
        total += more
        if total > best:
            best, found = total, (first, k)
    return found
