"""Sight: how much of one unit a camera can see behind all that stands before it."""

import numpy as np

from rules.cells import Unit
from rules.stacks import Stacks
from vision.play_area import PlayArea

WEAK = 0.3  # of its outline: less in sight, and what was read of its colour is hearsay


def seen_share(area: PlayArea, stacks: Stacks, unit: Unit) -> float:
    """The part of a unit's outline that nothing nearer to the camera hides."""
    own = area.units(unit.cell, unit.level, unit.level)
    whole = int(np.count_nonzero(own))
    if not whole:
        return 0.0
    far = _distance(area, unit)
    left = own.copy()
    for other, _ in stacks.units():
        if other != unit and _distance(area, other) < far:
            left &= ~area.units(other.cell, other.level, other.level)
    return int(np.count_nonzero(left)) / whole


def _distance(area: PlayArea, unit: Unit) -> float:
    low, high = area.board.lattice.box_mm(unit)
    middle = (np.array(low) + np.array(high)) / 2
    return float(np.linalg.norm(middle - area.camera.position_mm))
