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
    joined_edge: Floats32  # (E,) the same where the face continues on the next unit
    behind_edge: Floats32  # (N,)
    edges: Floats32  # (Z, N) for every zone
    weight: Floats32  # (N,) of a ray's logarithm in the score
    sharp: Floats32  # (N,) how much of a ray is worth anything: less where it is clipped

    @staticmethod
    def of(table: RayTable, looks: RayLooks, settings: SearchSettings) -> "View":
        """The evidence of one camera's densities."""
        entry = table.entry_densities(looks.piece)
        return View(
            table,
            _with_none(entry),
            _with_none(entry.max(axis=0)),
            looks.nothing,
            _with_none(looks.edge.take(table.edge_index)),
            _with_none(looks.edge.take(table.joined_index)),
            looks.nothing_edge,
            looks.edge,
            looks.weight * np.float32(settings.weight),
            looks.weight,
        )


def _with_none(values: Floats32) -> Floats32:
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


class ColumnGains:
    """The gain of stacks, column by column: best stack of each height, and its worth."""

    def __init__(self, gains: NDArray[np.float64], settings: SearchSettings) -> None:
        self.gains = gains  # (C, J, level, height - 1)
        self.cost = settings.unit_cost
        self.best_colour = gains.argmax(axis=0)  # (J, level, height - 1)
        levels = gains.shape[2]
        below = np.triu(np.ones((levels, levels)))  # level <= height
        total = (gains.max(axis=0) * below).sum(axis=1)
        total -= self.cost * np.arange(1, levels + 1)
        self.by_height = np.concatenate([np.zeros((len(total), 1)), total], axis=1)

    def worth(self, column: int, stack: NDArray[np.int8]) -> float:
        """The gain of one stack (colours from below, 1 + number, 0 for a gap) over none."""
        high = len(stack)
        levels = np.flatnonzero(stack)
        if not high:
            return 0.0
        own = self.gains[stack[levels] - 1, column, levels, high - 1]
        return float(own.sum() - self.cost * len(levels))

    def stack_of_height(self, column: int, high: int) -> NDArray[np.int8]:
        """The best stack of this height on a column."""
        if not high:
            return np.zeros(0, dtype=np.int8)
        return (self.best_colour[column, :high, high - 1] + 1).astype(np.int8)

    def best_stack(self, column: int) -> NDArray[np.int8]:
        """The best stack on a column."""
        return self.stack_of_height(column, int(self.by_height[column].argmax()))
