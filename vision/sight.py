"""Sight: how much of one unit a camera can see behind all that stands before it."""

from collections.abc import Iterable

import numpy as np

from rules.cells import Unit
from rules.stacks import Stacks
from vision.play_area import Mask, PlayArea

WEAK = 0.3  # of its outline: less in sight, and what was read of its colour is hearsay


def seen_share(area: PlayArea, stacks: Stacks, unit: Unit) -> float:
    """The part of a unit's outline that nothing nearer to the camera hides."""
    own = area.units(unit.cell, unit.level, unit.level)
    whole = int(np.count_nonzero(own))
    if not whole:
        return 0.0
    left = in_sight(area, own, unit, [other for other, _ in stacks.units()])
    return int(np.count_nonzero(left)) / whole


def in_sight(area: PlayArea, where: Mask, unit: Unit, others: Iterable[Unit]) -> Mask:
    """The part of a place that no other unit, nearer to the camera than this one, hides."""
    far = distance(area, unit)
    left = where.copy()
    for other in others:
        if other != unit and distance(area, other) < far:
            left &= ~area.units(other.cell, other.level, other.level)
    return left


def distance(area: PlayArea, unit: Unit) -> float:
    """How far from the camera the middle of a unit is (mm)."""
    low, high = area.board.lattice.box_mm(unit)
    middle = (np.array(low) + np.array(high)) / 2
    return float(np.linalg.norm(middle - area.camera.position_mm))
