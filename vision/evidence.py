"""What the pictures of one moment say: the score of a position, and the gain of every stack.

Rays of all cameras form one problem. For a state (a colour for each unit, or none) every ray has
a density, mixed front to back over the units it may meet and what lies behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from rules.lattice import Lattice
from vision.columns import RayTable
from vision.likelihood import RayLooks

State = NDArray[np.int8]  # (U,) 0 for none, else 1 + number of the colour


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What the search believes before it looks."""

    unit_cost: float = 1.5  # a unit must explain at least this much
    sweeps: int = 40
    weight: float = 0.3  # of one ray: neighbours share grain, shadow and compression


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What the search believes before it looks."""

    unit_cost: float = 1.5  # a unit must explain at least this much
    sweeps: int = 40
    weight: float = 0.3  # of one ray: neighbours share grain, shadow and compression


@dataclass(slots=True, eq=False)
class View:
    """One camera's evidence in one picture.

    Colours and contrast are mixed separately: a ray that passes beside a piece may show either
    colour, but in both cases an edge.
    """

    table: RayTable
    entry: Floats32  # (C, E) density of the colour of each entry
    best_entry: Floats32  # (E,) of the colour that fits best
    behind: Floats32  # (N,) the same where no piece is met
    entry_edge: Floats32  # (E,) density of the contrast
    behind_edge: Floats32  # (N,)
    weight: Floats32  # (N,) of a ray's logarithm in the score
    sharp: Floats32  # (N,) how much of a ray is worth anything: less where it is clipped

    @staticmethod
    def of(table: RayTable, looks: RayLooks, settings: SearchSettings) -> "View":
        """The evidence of one camera's densities."""
        entry = table.entry_densities(looks.piece)
        return View(
            table,
            entry,
            entry.max(axis=0),
            looks.nothing,
            looks.edge.take(table.edge_index),
            looks.nothing_edge,
            looks.weight * np.float32(settings.weight),
            looks.weight,
        )

    def mix(self, state: State) -> tuple["Mixed", "Mixed"]:
        """Colours and contrast for a state."""
        table = self.table
        colour = state.take(table.rays.unit)
        index = np.flatnonzero(colour)
        own = self.entry[colour[index] - 1, index]
        return (
            Mixed.of(table, index, own, table.rays.part[index], self.behind),
            Mixed.of(
                table, index, self.entry_edge[index], table.edge_part[index], self.behind_edge
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Densities of a state: before each entry and the light through to it, behind it, in all."""

    before: Floats32  # (E,)
    through: Floats32  # (E,)
    after: Floats32  # (E,)
    total: Floats32  # (N,)

    @staticmethod
    def of(
        table: RayTable,
        index: NDArray[np.intp],
        own: Floats32,
        own_part: Floats32,
        behind: Floats32,
    ) -> "Mixed":
        """Mixes the filled entries `index` front to back."""
        size = len(table.rays.unit)
        shown = np.zeros(size, dtype=np.float32)
        clear = np.ones(size, dtype=np.float32)
        shown[index] = own_part * own
        clear[index] = 1 - own_part
        before, through = np.empty_like(shown), np.empty_like(shown)
        after = np.empty_like(shown)
        a, t = np.zeros(table.count, dtype=np.float32), np.ones(table.count, dtype=np.float32)
        for start, many in table.rays.slots:
            s = slice(start, start + many)
            before[s], through[s] = a[:many], t[:many]
            a[:many] += t[:many] * shown[s]
            t[:many] *= clear[s]
        b = behind.copy()
        for start, many in reversed(table.rays.slots):
            s = slice(start, start + many)
            after[s] = b[:many]
            b[:many] *= clear[s]
            b[:many] += shown[s]
        return Mixed(before, through, after, b)


class Evidence:
    """Everything the pictures of one moment say about one lattice."""

    def __init__(
        self,
        views: Sequence[View],
        lattice: Lattice,
        colours: int,
        settings: SearchSettings | None = None,
    ) -> None:
        self.views = views
        self.lattice = lattice
        self.colours = colours
        self.settings = settings or SearchSettings()
        self.columns = lattice.columns * lattice.ranks

    def score(self, state: State) -> float:
        """How well a state explains the pictures."""
        total = -self.settings.unit_cost * int((state > 0).sum())
        for view in self.views:
            colour, edge = view.mix(state)
            total += float(view.weight @ np.log(colour.total * edge.total))
        return total

    def columns_gain(self, state: State) -> "ColumnGains":
        """For every column the gain of each stack over an empty place, all else as it is."""
        levels, many = self.lattice.levels, self.colours
        units = self.columns * levels
        sums = np.zeros((many, units, levels + 2))
        for view in self.views:
            c = view.table.configurations
            colour, edge = view.mix(state)
            weight = view.weight[c.ray]
            start = c.unit * (levels + 2) + c.low
            stop = c.unit * (levels + 2) + c.high + 1
            base, rest, cover = _around(colour, c.first, c.last, c.part, c.other_part)
            # Where two units of the column share a ray, the other one may have any colour.
            rest += colour.through[c.first] * c.other_part * view.best_entry[c.other]
            edge_base, edge_rest, edge_cover = _around(edge, c.first, c.last, c.edge_part)
            with_edge = edge_rest + edge_cover * view.entry_edge[c.entry]
            known = with_edge / (base * edge_base)
            for k in range(many):
                gain = weight * np.log((rest + cover * view.entry[k][c.entry]) * known)
                flat = sums[k].reshape(-1)
                flat += np.bincount(start, gain, minlength=flat.size)
                flat -= np.bincount(stop, gain, minlength=flat.size)
        by_height = np.cumsum(sums, axis=2)[:, :, 1 : levels + 1]  # (C, U, H)
        return ColumnGains(by_height.reshape(many, self.columns, levels, levels), self.settings)


def _around(
    mixed: Mixed,
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    part: Floats32,
    more: Floats32 | float = 0.0,
) -> tuple[Floats32, Floats32, Floats32]:
    """A ray without one column, what shows past a stack there, and how much a unit covers."""
    through, behind = mixed.through[first], mixed.after[last]
    base = mixed.before[first] + through * behind
    return base, base - through * (part + more) * behind, through * part


class ColumnGains:
    """The gain of stacks, column by column: best stack of each height, and its worth."""

    def __init__(self, gains: NDArray[np.float64], settings: SearchSettings) -> None:
        self.gains = gains  # (C, J, level, height)
        self.best_colour = gains.argmax(axis=0)  # (J, level, height)
        best = gains.max(axis=0)
        levels = best.shape[1]
        below = np.tril(np.ones((levels, levels))).T  # level <= height
        total = (best * below[None]).sum(axis=1)  # (J, height)
        total -= settings.unit_cost * np.arange(1, levels + 1)
        self.by_height = np.concatenate([np.zeros((len(total), 1)), total], axis=1)

    def worth(self, column: int, stack: NDArray[np.int8], cost: float) -> float:
        """The gain of one stack (colours from below, 1 + number) over the empty place."""
        high = len(stack)
        if not high:
            return 0.0
        own = self.gains[stack - 1, column, np.arange(high), high - 1]
        return float(own.sum() - cost * high)

    def best_stack(self, column: int) -> NDArray[np.int8]:
        """The best stack on a column."""
        high = int(self.by_height[column].argmax())
        return (self.best_colour[column, :high, high - 1] + 1).astype(np.int8)
