"""Weighing: the odds of many scenes against what was read, most of them told by their parts.

A game may expect a thousand turns, put together from a few dozen changes of single cells. A change
that the pictures rule out by itself rules out every turn that has it, and is weighed once; only
where other changes of the same turn are seen in the same place they may make up for it.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from rules.cells import Cell, Unit
from rules.stacks import Stacks
from vision.history import common
from vision.play_area import Mask, PlayArea
from vision.reader import Reader
from vision.sight import distance

HOPELESS = 1e-3  # of a changed cell: the odds below which, on average, no turn is likely
_FEW = 24  # scenes that are weighed as fast as their parts
_EACH = 2  # pixel of a small picture tells whether two changes are seen in one place

_Part = tuple[Cell, str]
_Place = tuple[Cell, int, int]  # from the lowest level to the highest
Floats = NDArray[np.float64]


class Weighing:
    """Weighs scenes by the pictures that a reader has read last."""

    def __init__(self, reader: Reader, areas: Collection[PlayArea]) -> None:
        """`areas` are what the cameras see that were read."""
        self._reader = reader
        self._areas = areas

    def odds(self, read: Stacks, others: Sequence[Stacks]) -> list[float]:
        """The odds of other scenes, each as a whole; 0 where parts of them rule them out.

        `read` is what was read, or nearly so.
        """
        if len(others) <= _FEW:
            return self._reader.weigh(others)
        hopeless = self._hopeless(read, others)
        left = [other for other in others if other not in hopeless]
        found = dict(zip(left, self._reader.weigh(left), strict=True))
        return [found.get(other, 0.0) for other in others]

    def _hopeless(self, read: Stacks, others: Sequence[Stacks]) -> set[Stacks]:
        """The scenes that some of their changes rule out, whatever the others can make up for."""
        parts = {other: _parts(read, other) for other in others}
        every = dict.fromkeys(part for own in parts.values() for part in own)
        if not every:
            return set()
        number = {part: k for k, part in enumerate(every)}
        scenes = [read, *(read.with_stack(cell, stack) for cell, stack in every)]
        base, *odds = self._reader.weigh(scenes)
        if base < HOPELESS:
            return set()  # something else was read, and tells nothing about changes of this
        worth = np.log(np.maximum(odds, 1e-300) / base)
        # Many parts differ only in colours, and are seen in the same place.
        place = {part: _place(read, part) for part in every}
        places = {known: k for k, known in enumerate(dict.fromkeys(place.values()))}
        shared = self._shared(read, list(places))
        found = set()
        for other, own in parts.items():
            numbers = [number[part] for part in own]
            seen = [places[place[part]] for part in own]
            alone = 1 - np.minimum(shared[np.ix_(seen, seen)].sum(axis=1), 1)
            total = np.where(worth[numbers] < 0, alone, 1) @ worth[numbers]
            if total < len(numbers) * math.log(HOPELESS):
                found.add(other)
        return found

    def _shared(self, read: Stacks, places: Sequence[_Place]) -> Floats:
        """The part of what cameras see of a change that lies where another one is seen."""
        both = np.zeros((len(places), len(places)))
        seen = np.zeros(len(places))
        for area in self._areas:
            view = _View(area, read)
            whole = np.array([view.whole(place) for place in places])
            free = np.array([view.free(place) for place in places])
            some = np.flatnonzero(whole.any(axis=0))
            whole, free = (masks[:, some].astype(np.float32) for masks in (whole, free))
            both += free @ whole.T
            seen += free.sum(axis=1)
        shared = both / np.maximum(seen, 1)[:, None]
        np.fill_diagonal(shared, 0)
        shared[seen == 0] = 1  # nobody sees it: it proves nothing
        return shared


class _View:
    """What one camera sees of changes, in few pixels."""

    def __init__(self, area: PlayArea, read: Stacks) -> None:
        self._area = area
        units = [unit for unit, _ in read.units()]
        self._nearer = [
            (distance(area, unit), unit.cell, self._mask(unit.cell, unit.level, unit.level))
            for unit in units
        ]

    def whole(self, place: _Place) -> Mask:
        """The place of the units that a change concerns, be they hidden or not (pixels)."""
        return self._mask(*place)

    def free(self, place: _Place) -> Mask:
        """The same without what stands before it on other cells."""
        own, low, _ = place
        far = distance(self._area, Unit(own, low))
        free = self.whole(place).copy()
        for near, cell, mask in self._nearer:
            if near < far and cell != own:
                free &= ~mask
        return free

    def _mask(self, cell: Cell, low: int, high: int) -> Mask:
        return self._area.units(cell, low, high)[::_EACH, ::_EACH].ravel()


def _parts(read: Stacks, other: Stacks) -> list[_Part]:
    return [(cell, other.get(cell, "")) for cell in read.differing(other)]


def _place(read: Stacks, part: _Part) -> _Place:
    """The levels of a cell that a change concerns."""
    cell, now = part
    before = read.get(cell, "")
    high = max(len(before), len(now))
    return cell, min(common(before, now) + 1, high), high
