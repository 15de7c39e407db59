"""Blocks of two units: a position must fall into pairs of neighbours of one colour.

One column's height or colour that is read wrongly nearly always leaves a unit without partner.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rules.lattice import Lattice
from vision.certainty import Doubts
from vision.evidence import State
from vision.position import Position, Stack

LONELY = 8.0  # what the score must gain for every unit that has no partner
TRIED = 14  # doubtful alternatives that are combined in pairs
SIDE_BY_SIDE = 4  # ways that are followed at once
ROUNDS = 6  # alternatives, or pairs of them, that are taken one after the other


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
    """Takes doubtful alternatives that leave fewer units alone; what is nearly as good is doubted.

    Several ways are followed side by side: the first thing that helps may be the wrong one, and
    the right one may need three stacks to change.
    """
    lattice = position.evidence.lattice
    alone = lonely_units(position.state[:-1], lattice)
    if not alone:
        return
    options = [(column, stack) for column, stack, _ in doubts.options()[: 3 * TRIED]]
    ways = _Ways(position, options, many=position.anchor is None)
    found: dict[_Key, _Way] = {(): _Way({}, -LONELY * alone, alone)}
    open_ = list(found.values())
    for _ in range(ROUNDS):
        further = {_key(new.changes): new for way in open_ for new in ways.longer(way)}
        left = [way for key, way in further.items() if key not in found]
        open_ = sorted(left, key=_worth, reverse=True)[: ways.side_by_side]
        if not open_:
            break
        found |= {_key(way.changes): way for way in open_}
    best = max(found.values(), key=_worth)
    before = {column: position.stack(column) for way in found.values() for column in way.changes}
    if best.changes:
        position.change(best.changes)
        doubts.moved(best.changes)
    for way in found.values():
        back = {column: before[column] for column in best.changes} | way.changes
        others = {
            column: {tuple(int(c) for c in stack): way.worth - best.worth}
            for column, stack in back.items()
        }
        doubts.add(others)


def doubt_alone(position: Position, doubts: Doubts) -> None:
    """Where units are left over something is wrong, however well they are seen.

    Each unit that may be the one without partner is doubted, with all that stands on it; and so are
    places beside it where its partner may stand, if nobody knows what stood there before: things
    before the board hide it, and look like the empty table.
    """
    lattice, state = position.evidence.lattice, position.state[:-1]
    alone = lonely_units(state, lattice)
    for unit in np.flatnonzero(state) if alone else ():
        without = state.copy()
        without[unit] = 0
        if lonely_units(without, lattice) >= alone:
            continue
        column, level = divmod(int(unit), lattice.levels)
        own = _stack(position, column)
        doubts.add({column: {own[:level]: -LONELY}})
        for beside in _columns_beside(column, lattice) if position.anchor is None else ():
            other = _stack(position, beside)
            if len(other) == level:  # its partner would be the next one to stand there
                doubts.add({beside: {(*other, own[level]): -LONELY}})


def _stack(position: Position, column: int) -> tuple[int, ...]:
    return tuple(int(c) for c in position.stack(column))


def _columns_beside(column: int, lattice: Lattice) -> list[int]:
    """The columns with which a block that lies on this one may be shared."""
    rank, file = divmod(column, lattice.columns)
    places = ((rank, file - 1), (rank, file + 1), (rank - 1, file), (rank + 1, file))
    return [
        r * lattice.columns + f
        for r, f in places
        if 0 <= r < lattice.ranks and 0 <= f < lattice.columns
    ]


@dataclass(frozen=True, slots=True)
class _Way:
    """Stacks to change, what that gains less what units without partner cost, and these units."""

    changes: dict[int, Stack]
    worth: float
    alone: int


_Key = tuple[tuple[int, tuple[int, ...]], ...]


def _key(changes: Mapping[int, Stack]) -> _Key:
    return tuple(sorted((column, tuple(stack.tolist())) for column, stack in changes.items()))


def _worth(way: _Way) -> float:
    return way.worth


class _Ways:
    """What options lead to; each combination is looked at once, in whatever order it is met."""

    def __init__(
        self, position: Position, options: Sequence[tuple[int, Stack]], *, many: bool
    ) -> None:
        """`many`: there is time to follow several ways, and to begin with pairs."""
        self._position = position
        self._options = options
        self._many = many
        self._alone: dict[_Key, int] = {}
        self._worth: dict[_Key, float] = {}
        self.side_by_side = SIDE_BY_SIDE if many else 1

    def longer(self, way: _Way) -> list[_Way]:
        """The way with one option more; with two at first, and where no single one helps."""
        if not way.alone:
            return []
        left = [(column, stack) for column, stack in self._options if column not in way.changes]
        found = self._fewer(way, [{column: stack} for column, stack in left])
        if not found or (self._many and not way.changes):
            pairs = combinations(left[:TRIED], 2)
            found += self._fewer(way, [{a: s, b: t} for (a, s), (b, t) in pairs if a != b])
        return found

    def _fewer(self, way: _Way, more: Sequence[dict[int, Stack]]) -> list[_Way]:
        """The ways that leave fewer units alone, and are worth it."""
        found = []
        for change in more:
            changes = way.changes | change
            key = _key(changes)
            if key not in self._alone:
                state = self._position.with_changes(changes)
                self._alone[key] = lonely_units(state, self._position.evidence.lattice)
            alone = self._alone[key]
            if alone >= way.alone:
                continue
            if key not in self._worth:
                self._worth[key] = self._position.gain(changes) - LONELY * alone
            if self._worth[key] > way.worth:
                found.append(_Way(changes, self._worth[key], alone))
        return found
