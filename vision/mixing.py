"""Densities mixed front to back along rays: what is met first hides what is behind it.

A ray passes many places and meets few pieces: only filled places are mixed.
"""

from copy import copy

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from vision.columns import RayTable

Place = tuple[NDArray[np.int64], NDArray[np.int64]]  # numbers along rays, and the rays


class Met:
    """What some rays meet: few of all the places that they pass are filled, and only these mix."""

    def __init__(self, table: RayTable, state: NDArray[np.int8], rays: NDArray[np.int32]) -> None:
        self.rays = rays
        self.entries, units = table.entries_of(rays)
        colour = state[units]
        filled = colour > 0
        ray, slot = np.nonzero(filled)
        self.ray = ray
        self.entry = self.entries[ray, slot]
        self.colour = colour[ray, slot]
        self.row = np.arange(len(rays))[:, None]
        self.further = np.cumsum(filled, axis=1)  # filled places up to each one
        self.nearer: NDArray[np.int64] = self.further - filled  # and before it
        self.place: Place = self.nearer[ray, slot], ray
        self.shape = int(self.further[:, -1].max(initial=0)) if units.size else 0, len(rays)


class Mixed:
    """Densities mixed front to back: before each entry, the light through to it, behind it."""

    def __init__(self, table: RayTable) -> None:
        entries = len(table.unit)
        self.before = np.zeros(entries, dtype=np.float32)
        self.through = np.ones(entries, dtype=np.float32)
        self.after = np.zeros(entries, dtype=np.float32)
        self.total = np.ones(table.count, dtype=np.float32)

    def copy(self) -> "Mixed":
        """The same densities on their own."""
        twin = copy(self)
        for name in ("before", "through", "after", "total"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def all(self, table: RayTable, own: Floats32, part: Floats32, behind: Floats32) -> None:
        """Mixes all rays; `own` and `part` are the entries' densities and parts, 0 where empty."""
        shown, clear = part * own, 1 - part
        a, t = np.zeros(table.count, dtype=np.float32), np.ones(table.count, dtype=np.float32)
        for start, many in table.rays.slots:
            s = slice(start, start + many)
            self.before[s], self.through[s] = a[:many], t[:many]
            a[:many] += t[:many] * shown[s]
            t[:many] *= clear[s]
        b = self.total
        b[:] = behind
        for start, many in reversed(table.rays.slots):
            s = slice(start, start + many)
            self.after[s] = b[:many]
            b[:many] *= clear[s]
            b[:many] += shown[s]

    def some(self, met: Met, own: Floats32, part: Floats32, behind: Floats32) -> Floats32:
        """Mixes some rays; `own` and `part` are of the places where something stands.

        Returns the light through to each of these places.
        """
        shown, clear = laid(met.shape, met.place, own, part)
        through, after = light_through(clear), seen_from(shown, clear, behind)
        before = np.zeros_like(through)
        np.cumsum(through[:-1] * shown, axis=0, out=before[1:])
        self.before[met.entries] = before[met.nearer, met.row]
        self.through[met.entries] = through[met.nearer, met.row]
        self.after[met.entries] = after[met.further, met.row]
        self.total[met.rays] = after[0]
        return np.asarray(through[met.place])


def laid(
    shape: tuple[int, int],
    place: Place,
    own: Floats32,
    part: Floats32,
) -> tuple[Floats32, Floats32]:
    """What filled places show by themselves and let through, each in its place of its ray.

    Rays stand side by side in memory, for each place along them: that is the fastest.
    """
    shown, clear = np.zeros(shape, dtype=np.float32), np.ones(shape, dtype=np.float32)
    shown[place] = part * own
    clear[place] = 1 - part
    return shown, clear


def light_through(clear: Floats32) -> Floats32:
    """The light that reaches each place along the rays, and what lies behind the last one."""
    through = np.ones((len(clear) + 1, clear.shape[1]), dtype=np.float32)
    for k, own in enumerate(clear):
        np.multiply(through[k], own, out=through[k + 1])
    return through


def seen_from(shown: Floats32, clear: Floats32, behind: Floats32) -> Floats32:
    """What each place along the rays shows together with all that lies behind it."""
    seen = np.empty((len(clear) + 1, clear.shape[1]), dtype=np.float32)
    seen[-1] = behind
    for k in range(len(clear) - 1, -1, -1):
        np.multiply(seen[k + 1], clear[k], out=seen[k])
        seen[k] += shown[k]
    return seen
