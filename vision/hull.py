"""The hull of what stands: all units that no camera sees the empty table through.

A search that comes from below can end with a wide tower half as high as it is: a single column
that grows explains little while its neighbours still seem to show the room behind. The hull is
too large instead of too small, so another search begins there, from above.
"""

import numpy as np
from numpy.typing import NDArray

from vision.evidence import State
from vision.position import HALF, Position, Sight

CLEARLY = 1.0  # log-odds from which a ray shows the table or the room, and no piece
SHARE = 0.35  # of a unit's rays in one camera that must, where nothing stands
CLIPPED = 0.4  # rays that are worth less than this tell nothing


def hull(position: Position) -> State:
    """A state that fills what may be filled, in the colours that its outer faces show."""
    levels = position.levels
    many = position.evidence.columns * levels
    free = np.zeros(many, dtype=np.bool_)
    for sight in position.sights:
        free |= _seen_through(sight, many)
    columns = free.reshape(-1, levels)
    high = np.where(columns.any(axis=1), columns.argmax(axis=1), levels)
    filled = (np.arange(levels) < high[:, None]).ravel()
    worth = np.zeros((position.evidence.colours, many))
    for sight in position.sights:
        worth += _outer_colours(sight, filled)
    return np.where(filled, worth.argmax(axis=0) + 1, 0).astype(np.int8)


def _seen_through(sight: Sight, many: int) -> NDArray[np.bool_]:
    """The units behind which this camera sees what was there when the table was empty."""
    view, table = sight.view, sight.table
    piece = np.full(table.count, 1e-9, dtype=np.float32)
    for start, rays in table.rays.slots:
        np.maximum(piece[:rays], view.best_entry[start : start + rays], out=piece[:rays])
    clear = (np.log(view.behind / piece) > CLEARLY) & (view.sharp > CLIPPED)
    met = table.rays.part > HALF
    unit, ray = table.rays.unit[met], table.entry_ray[met]
    through = np.bincount(unit, clear[ray], many)
    return np.asarray(through > SHARE * np.maximum(np.bincount(unit, minlength=many), 1))


def _outer_colours(sight: Sight, filled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What every colour explains (C, U) of the rays that meet each of these units first."""
    view, table = sight.view, sight.table
    found = np.zeros((len(view.entry), len(filled)))
    open_ = np.ones(table.count, dtype=np.bool_)
    for start, rays in table.rays.slots:
        unit = table.rays.unit[start : start + rays]
        part = table.rays.part[start : start + rays]
        at = np.flatnonzero(filled[unit] & open_[:rays] & (part > HALF))
        told = np.log(view.entry[:, start + at]) * view.weight[at]
        for colour, own in enumerate(told):
            found[colour] += np.bincount(unit[at], own, len(filled))
        open_[at] = False
    return found
