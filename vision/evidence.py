"""What the pictures of one moment say: the score of a position, and the gain of every stack.

Rays of all cameras form one problem. For a state (a colour for each unit, or none) every ray has
a density, mixed front to back over the units it may meet and what lies behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from rules.lattice import Lattice
from vision.columns import RayTable
from vision.likelihood import RayLooks
from vision.shading import Urns

State = NDArray[np.int8]  # (U,) 0 for none, else 1 + number of the colour


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What the search believes before it looks."""

    unit_cost: float = 2.0  # a unit must explain at least this much
    change_cost: float = 3.0  # a column that is not as it was last known to be
    mix_cost: float = 0.0  # two colours in one stack; above 0 where the game never mixes them
    sweeps: int = 40
    weight: float = 0.45  # of one ray: neighbours share grain, shadow and compression
    # Rays that usual light is worth against what a face's rays share; infinite: they share none.
    alike: float = 100.0


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
    joined_edge: Floats32  # (E,) the same where the face continues on the next unit
    behind_edge: Floats32  # (N,)
    edges: Floats32  # (Z, N) for every zone
    weight: Floats32  # (N,) of a ray's logarithm in the score
    scale: np.float32  # of the weights
    sharp: Floats32  # (N,) how much of a ray is worth anything: less where it is clipped
    best: Floats32  # (N,) logarithm of the density of what would fit the ray best
    shade: NDArray[np.int8]  # (C, E) class of brightness of each entry
    behind_shade: NDArray[np.int8]  # (N,) the same where no piece is met
    urns: Urns | None  # how often classes of brightness occur where rays show the same

    @staticmethod
    def of(
        table: RayTable,
        looks: RayLooks,
        settings: SearchSettings,
        shades: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> "View":
        """The evidence of one camera's densities."""
        entry = table.entry_densities(looks.piece, looks.band)
        best_entry = entry.max(axis=0)
        best = looks.nothing.copy()
        for start, many in table.rays.slots:
            np.maximum(best[:many], best_entry[start : start + many], out=best[:many])
        return View(
            table,
            _with_none(entry),
            _with_none(best_entry),
            looks.nothing,
            _with_none(looks.edge.take(table.edge_index)),
            _with_none(looks.edge.take(table.joined_index)),
            looks.nothing_edge,
            looks.edge,
            looks.weight * np.float32(settings.weight),
            np.float32(settings.weight),
            looks.weight,
            np.log(best * looks.edge.max(axis=0)),
            _with_none(table.entry_shades(looks.shade, looks.band)),
            looks.nothing_shade,
            None
            if np.isinf(settings.alike)
            else Urns.of(
                np.where(np.arange(table.groups)[:, None] < table.face_groups, *shades),
                settings.alike,
            ),
        )

    def renew(self, rays: NDArray[np.int64], looks: RayLooks) -> None:
        """Takes over what some rays show now."""
        table = self.table
        entries, densities, row = table.densities_of(rays, looks.piece, looks.band)
        self.entry[:, entries] = densities
        band = looks.band[table.rays.unit[entries] % table.lattice.levels]
        self.shade[:, entries] = looks.shade[:, band, table.rays.face[entries], row]
        self.behind_shade[rays] = looks.nothing_shade
        best_entry = densities.max(axis=0)
        self.best_entry[entries] = best_entry
        best = looks.nothing.copy()
        np.maximum.at(best, row, best_entry)
        self.best[rays] = np.log(best * looks.edge.max(axis=0))
        zone = table.edge_index[entries] // table.count
        joined = table.joined_index[entries] // table.count
        self.entry_edge[entries] = looks.edge[zone, row]
        self.joined_edge[entries] = looks.edge[joined, row]
        self.edges[:, rays] = looks.edge
        self.behind[rays], self.behind_edge[rays] = looks.nothing, looks.nothing_edge
        self.sharp[rays] = looks.weight
        self.weight[rays] = looks.weight * self.scale


def _with_none(values: Any) -> Any:
    """The values with one more for the entry that stands for no unit."""
    return np.concatenate([values, np.ones_like(values[..., :1])], axis=-1)


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
        self.units = self.columns * lattice.levels


def cost_of(stacks: NDArray[np.int8], settings: SearchSettings) -> float:
    """What stacks (..., levels) must at least explain to be believed."""
    cost = settings.unit_cost * int(np.count_nonzero(stacks))
    if settings.mix_cost > 0:
        upper, lower = stacks[..., 1:], stacks[..., :-1]
        mixed = (upper != lower) & (upper > 0) & (lower > 0)
        cost += settings.mix_cost * int(np.count_nonzero(mixed))
    return cost


class ColumnGains:
    """The gain of stacks, column by column: best stack of each height, and its worth."""

    def __init__(self, gains: NDArray[np.float64], settings: SearchSettings) -> None:
        self.gains = gains  # (C, J, level, height - 1)
        self.settings = settings
        self.best_colour = gains.argmax(axis=0)  # (J, level, height - 1)
        levels = gains.shape[2]
        below = np.triu(np.ones((levels, levels)))  # level <= height
        total = (gains.max(axis=0) * below).sum(axis=1)
        if settings.mix_cost > 0:
            total = self._even_or_mixed(total, below)
        total -= settings.unit_cost * np.arange(1, levels + 1)
        self.by_height = np.concatenate([np.zeros((len(total), 1)), total], axis=1)

    def _even_or_mixed(
        self, total: NDArray[np.float64], below: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The worth by height where a stack of one colour is the rule; sets its colours."""
        both = below[1:] > 0
        change = (self.best_colour[:, 1:] != self.best_colour[:, :-1]) & both[None]
        mixed = total - self.settings.mix_cost * change.sum(axis=1)
        even = (self.gains * below[None, None]).sum(axis=2)  # (C, J, height - 1)
        better = even.max(axis=0) > mixed
        alike = np.broadcast_to(even.argmax(axis=0)[:, None, :], self.best_colour.shape)
        self.best_colour = np.where(better[:, None, :], alike, self.best_colour)
        return np.asarray(np.where(better, even.max(axis=0), mixed))

    def worth(self, column: int, stack: NDArray[np.int8]) -> float:
        """The gain of one stack (colours from below, 1 + number, 0 for a gap) over none."""
        high = len(stack)
        levels = np.flatnonzero(stack)
        if not high:
            return 0.0
        own = self.gains[stack[levels] - 1, column, levels, high - 1]
        return float(own.sum()) - cost_of(stack, self.settings)

    def stack_of_height(self, column: int, high: int) -> NDArray[np.int8]:
        """The best stack of this height on a column."""
        if not high:
            return np.zeros(0, dtype=np.int8)
        return np.asarray(self.best_colour[column, :high, high - 1] + 1, dtype=np.int8)

    def best_stack(self, column: int) -> NDArray[np.int8]:
        """The best stack on a column."""
        return self.stack_of_height(column, int(self.by_height[column].argmax()))

    def worths(self, state: NDArray[np.int8]) -> NDArray[np.float64]:
        """The worth of what stands on every column (J) in a state (J, levels)."""
        levels = np.arange(state.shape[1])
        full = state > 0
        high = np.where(full, levels + 1, 0).max(axis=1)
        columns = np.arange(len(state))[:, None]
        own = self.gains[
            np.maximum(state, 1) - 1, columns, levels[None], np.maximum(high, 1)[:, None] - 1
        ]
        total = np.where(full, own, 0.0).sum(axis=1) - self.settings.unit_cost * full.sum(axis=1)
        if self.settings.mix_cost > 0:
            both = full[:, 1:] & full[:, :-1] & (state[:, 1:] != state[:, :-1])
            total -= self.settings.mix_cost * both.sum(axis=1)
        return np.asarray(total)
