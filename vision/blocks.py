"""Blocks of two units: a position must fall into pairs of neighbours of one colour.

One column's height or colour that is read wrongly nearly always leaves a unit without partner.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from rules.lattice import Lattice
from rules.pieces import KitPiece
from vision.certainty import Doubts
from vision.evidence import State
from vision.position import Position, Stack

LONELY = 8.0  # what the score must gain for every unit that has no partner
TRIED = 14  # doubtful alternatives that are combined in pairs


def all_blocks(kit: Sequence[KitPiece]) -> bool:
    """Whether every piece of a kit fills exactly two units."""
    extents = [extent for piece in kit for extent in piece.shape.extents]
    return bool(extents) and all(e.width * e.depth * e.height == 2 for e in extents)


def lonely_units(state: State, lattice: Lattice) -> int:
    """How many units are left over when as many as possible are paired."""
    levels, columns = lattice.levels, lattice.columns
    grid = state.reshape(lattice.ranks, columns, levels)
    filled = [tuple(int(v) for v in unit) for unit in np.argwhere(grid > 0)]
    colours = {unit: int(grid[unit]) for unit in filled}
    even = [unit for unit in filled if sum(unit) % 2 == 0]
    partner: dict[tuple[int, ...], tuple[int, ...]] = {}
    paired = sum(_pair(unit, colours, partner, set()) for unit in even)
    return len(filled) - 2 * paired


def _pair(
    unit: tuple[int, ...],
    colours: dict[tuple[int, ...], int],
    partner: dict[tuple[int, ...], tuple[int, ...]],
    visited: set[tuple[int, ...]],
) -> bool:
    """Finds a partner for a unit, moving others where that helps."""
    for axis in range(3):
        for side in (-1, 1):
            other = (*unit[:axis], unit[axis] + side, *unit[axis + 1 :])
            if colours.get(other) != colours[unit] or other in visited:
                continue
            visited.add(other)
            if other not in partner or _pair(partner[other], colours, partner, visited):
                partner[other] = unit
                return True
    return False


def pair_up(position: Position, doubts: Doubts) -> None:
    """Takes doubtful alternatives, one or two at a time, that leave fewer units alone."""
    lattice = position.evidence.lattice
    for _ in range(6):
        alone = lonely_units(position.state[:-1], lattice)
        if not alone:
            return
        options = doubts.options()[: 3 * TRIED]
        best = _best(position, lattice, alone, [{c: s} for c, s, _ in options])
        if best is None:
            pairs = combinations(options[:TRIED], 2)
            best = _best(
                position,
                lattice,
                alone,
                [{a[0]: a[1], b[0]: b[1]} for a, b in pairs if a[0] != b[0]],
            )
        if best is None:
            return
        position.change(best)
        doubts.moved(best)


def _best(
    position: Position, lattice: Lattice, alone: int, changes: list[dict[int, Stack]]
) -> dict[int, Stack] | None:
    """The change whose worth, counting lonely units, is best; None where none gains."""
    best, most = None, 0.0
    for change in changes:
        fewer = alone - lonely_units(position.with_changes(change), lattice)
        if fewer <= 0 or LONELY * fewer <= most:
            continue
        gain = position.gain(change) + LONELY * fewer
        if gain > most:
            best, most = change, gain
    return best
