"""How sure a position is: probabilities of the stacks on each cell, from their scores.

Scores of rays are not independent, so a difference of one is worth less than one unit of
log-odds; how much less was fitted on pictures with known positions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.evidence import ColumnGains
from vision.position import Position

Colours = tuple[int, ...]  # a stack from below, 1 + number of the colour; -1 where unseen
Rivals = dict[Colours, float]  # other stacks, with what the score would gain by them


@dataclass(frozen=True, slots=True, kw_only=True)
class CertaintySettings:
    """The curve from differences of score to probabilities."""

    sharpness: float = 0.28  # log-odds for a difference of one
    least_doubt: float = 2e-5  # no cell is surer than this
    seen_weight: float = 1.0  # a unit in sight of less (in full rays) counts as unseen
    hidden_occupied: float = 0.15  # how often something stands where nobody sees it
    reach: float = 30.0  # stacks that lose more than this are no rivals
    suspicion: float = 0.02  # rivals more likely than this are tried exactly


@dataclass(frozen=True, slots=True, eq=False)
class CellDoubt:
    """One column: its candidate stacks with probabilities, best first.

    `unseen` are the levels (from 0) of the best stack that no camera sees, `hidden` says that
    nothing of the column is seen at all.
    """

    stacks: tuple[Colours, ...]
    chances: tuple[float, ...]
    unseen: frozenset[int]
    hidden: bool


def rivals(
    gains: ColumnGains, column: int, stack: Colours, reach: float, last: Colours | None, hold: float
) -> Rivals:
    """The other stacks that could stand on a column: other heights, and other single colours.

    What differs from `last`, the last known stack, loses `hold`.
    """
    levels = gains.by_height.shape[1] - 1
    high = len(stack)
    now = gains.worth(column, np.array(stack, dtype=np.int8))
    found: Rivals = {}
    for other in range(levels + 1):
        gain = float(gains.by_height[column, other]) - now
        if other != high and gain > -reach:
            found[tuple(int(c) for c in gains.stack_of_height(column, other))] = gain
    for k in range(high):
        by_colour = gains.gains[:, column, k, high - 1]
        for c in np.flatnonzero(by_colour - by_colour[stack[k] - 1] > -reach):
            if c + 1 != stack[k]:
                changed = (*stack[:k], int(c) + 1, *stack[k + 1 :])
                found[changed] = gains.worth(column, np.array(changed, dtype=np.int8)) - now
    if last is not None:
        if last != stack:
            found[last] = gains.worth(column, np.array(last, dtype=np.int8)) - now + hold
        else:
            found = {other: gain - hold for other, gain in found.items()}
    return found


class Doubts:
    """The doubt about every column, all others taken as they are read."""

    def __init__(
        self,
        position: Position,
        gains: ColumnGains,
        settings: CertaintySettings,
        only: Collection[int] | None = None,
    ) -> None:
        """`only`: columns that can have changed; nothing is known of the others then."""
        self._position = position
        self._settings = settings
        self._in_sight = position.sight().reshape(-1, position.levels)
        hold = position.evidence.settings.change_cost
        self._rivals = [
            rivals(gains, c, self._stack(c), settings.reach, self._last(c), hold)
            if only is None or c in only
            else {}
            for c in range(position.evidence.columns)
        ]

    def look_at(self, position: Position) -> None:
        """Goes on with another copy of the position."""
        self._position = position

    def suspects(self) -> list[int]:
        """Columns on which something else is not out of the question, the most doubtful first."""
        cells = [self.cell(column) for column in range(len(self._rivals))]
        open_ = [(1 - cell.chances[0], column) for column, cell in enumerate(cells)]
        least = self._settings.suspicion
        return [column for doubt, column in sorted(open_, reverse=True) if doubt > least]

    def settle(self, columns: list[int], passes: int = 2) -> None:
        """Tries the rivals on these columns exactly, and takes those that are better."""
        for _ in range(passes):
            changed = False
            for column in columns:
                now = self._stack(column)
                pool = {s: g for s, g in self._rivals[column].items() if s != now}
                exact = {s: self._position.gain({column: np.array(s, dtype=np.int8)}) for s in pool}
                best = max(exact, key=lambda s: exact[s], default=now)
                if exact and exact[best] > 0.02:
                    gain = exact.pop(best)
                    self._position.change({column: np.array(best, dtype=np.int8)})
                    exact = {s: g - gain for s, g in exact.items()} | {now: -gain}
                    changed = True
                self._rivals[column] = exact
            if not changed:
                break
        self._in_sight = self._position.sight().reshape(-1, self._position.levels)

    def cell(self, column: int) -> CellDoubt:
        """The candidates of one column with their probabilities."""
        cfg = self._settings
        stack, in_sight = self._stack(column), self._in_sight[column]
        high = len(stack)
        unseen = frozenset(k for k in range(high) if in_sight[k] < cfg.seen_weight)
        hidden = bool(high == 0 and (in_sight < cfg.seen_weight).all())
        best = self._masked(stack, in_sight)
        if hidden:
            return CellDoubt((best,), (1.0,), unseen, hidden)
        odds: dict[Colours, float] = {best: 1.0}
        for other, gain in self._rivals[column].items():
            masked = self._masked(other, in_sight)
            if masked == best:
                continue
            odd = float(np.exp(min(cfg.sharpness * gain, 50.0)))
            if len(other) > high:
                # Places above the stack that nobody sees may be filled without anybody noticing.
                dark = in_sight[high : len(other)] < cfg.seen_weight
                odd *= cfg.hidden_occupied if dark.all() else 1.0
            odds[masked] = max(odds.get(masked, 0.0), odd)
        total = sum(odds.values()) / (1 - cfg.least_doubt)
        ranked = sorted(odds.items(), key=lambda item: (item[0] != best, -item[1]))[:5]
        return CellDoubt(
            tuple(s for s, _ in ranked), tuple(o / total for _, o in ranked), unseen, hidden
        )

    def options(self) -> list[tuple[int, NDArray[np.int8], float]]:
        """Every rival as column, stack and gain, the likeliest first."""
        found = [
            (column, np.array(stack, dtype=np.int8), gain)
            for column, own in enumerate(self._rivals)
            for stack, gain in own.items()
        ]
        return sorted(found, key=lambda option: -option[2])

    def moved(self, changes: Mapping[int, NDArray[np.int8]]) -> None:
        """Other stacks were taken on these columns: what was read before becomes a rival."""
        for column, stack in changes.items():
            taken = tuple(int(c) for c in stack)
            gain = self._rivals[column].pop(taken, 0.0)
            self._rivals[column] = {s: g - gain for s, g in self._rivals[column].items()}
        self._in_sight = self._position.sight().reshape(-1, self._position.levels)

    def take(self, others: Mapping[int, Rivals]) -> None:
        """Uses these rivals instead, for columns that stand and fall together."""
        for column in range(len(self._rivals)):
            self._rivals[column] = dict(others.get(column, {}))

    def cells(self) -> list[CellDoubt]:
        """All columns in order."""
        return [self.cell(column) for column in range(len(self._rivals))]

    def _stack(self, column: int) -> Colours:
        return tuple(int(c) for c in self._position.stack(column))

    def _last(self, column: int) -> Colours | None:
        last = self._position.anchored(column)
        return None if last is None else tuple(int(c) for c in last)

    def _masked(self, stack: Colours, in_sight: NDArray[np.float64]) -> Colours:
        """The stack with -1 for units of which nobody sees the colour."""
        seen = in_sight >= self._settings.seen_weight
        return tuple(c if seen[k] else -1 for k, c in enumerate(stack))
