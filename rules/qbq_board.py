"""The QBQ board and its positions in numbers: four bits a cell.

One number holds the height of every stack of one colour, and a set of cells is the same kind of
number with ones in it. A cube that moves from A to B is then `heights - A + B`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rules.cells import Cell
from rules.stacks import Stacks

CUBES = 9  # of each player
_BITS = 4  # of one cell
_HIGHEST = 15  # that they can hold


class Geometry:
    """Sets of cells on a board of one size; a column of nowhere follows the last one."""

    def __init__(self, columns: int, ranks: int) -> None:
        self.columns, self.ranks = columns, ranks
        self.row = row = _BITS * (columns + 1)
        self.bit_of = {
            Cell(f, r): 1 << _BITS * f + row * r for r in range(ranks) for f in range(columns)
        }
        self.cell_of = {bit: cell for cell, bit in self.bit_of.items()}
        self.all = sum(self.cell_of)
        self.steps = (_BITS, -_BITS, row, -row)

    def beside(self, cells: int) -> int:
        """The cells that share a side with one of these (and some of these)."""
        row = self.row
        return (cells << 4 | cells >> 4 | cells << row | cells >> row) & self.all

    def cornering(self, cells: int) -> int:
        """The cells that share a corner with one of these."""
        row = self.row
        sideways = cells << 4 | cells >> 4
        return (sideways << row | sideways >> row) & self.all

    def moved(self, cell: int, step: int) -> int:
        """The cell one step further, 0 beyond the edge."""
        return (cell << step if step > 0 else cell >> -step) & self.all

    def group(self, cells: int, seed: int) -> int:
        """Those of the cells that hang together with the seed."""
        row = self.row
        found = seed
        while True:
            grown = (found | found << 4 | found >> 4 | found << row | found >> row) & cells
            if grown == found:
                return found
            found = grown

    def groups(self, cells: int) -> list[int]:
        """The cells in groups that hang together (QBQ-R2)."""
        found = []
        while cells:
            group = self.group(cells, cells & -cells)
            found.append(group)
            cells ^= group
        return found

    def cells(self, cells: int) -> tuple[Cell, ...]:
        """The names of a set of cells."""
        return tuple(self.cell_of[bit] for bit in bits(cells))

    def box(self, corner: Cell, size: int) -> int:
        """A square of cells in a corner of the board, or anywhere from its lowest left cell."""
        file, rank = (
            min(at, most - size)
            for at, most in zip(corner, (self.columns, self.ranks), strict=True)
        )
        return sum(
            self.bit_of[Cell(f, r)]
            for r in range(rank, rank + size)
            for f in range(file, file + size)
        )

    def corners(self) -> tuple[Cell, ...]:
        """The four corners, clockwise from a1."""
        far, high = self.columns - 1, self.ranks - 1
        return Cell(0, 0), Cell(0, high), Cell(far, high), Cell(far, 0)


geometry_of = cache(Geometry)


def bits(cells: int) -> Iterator[int]:
    """The cells of a set, one by one."""
    while cells:
        bit = cells & -cells
        yield bit
        cells ^= bit


class Layout:
    """Who sits in which corner: the cells to start from, and the formations that win."""

    def __init__(self, geometry: Geometry, corners: dict[str, Cell]) -> None:
        self.geometry = geometry
        self.players = tuple(corners)
        self.corners = corners
        self.starts = tuple(geometry.box(corner, 2) for corner in corners.values())
        targets = [
            Cell(geometry.columns - 1 - file, geometry.ranks - 1 - rank)
            for file, rank in corners.values()
        ]
        self.targets = tuple(geometry.box(corner, 3) for corner in targets)
        self.wins = tuple(frozenset(self._formations(target)) for target in self.targets)

    def _formations(self, target: int) -> Iterator[int]:
        """The heights of 4, 8 and 9 cubes that win (QBQ-R17)."""
        yield target
        for cell in self.geometry.cells(target):
            if cell.file + 1 < self.geometry.columns and cell.rank + 1 < self.geometry.ranks:
                square = self.geometry.box(cell, 2)
                if not square & ~target:
                    yield square
                    yield square * 2

    def heights(self, stacks: Stacks) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
        """The heights of each player's stacks, and apart the stacks that are of no one colour."""
        found = dict.fromkeys(self.players, 0)
        odd = []
        for cell, stack in stacks.items():
            bit = self.geometry.bit_of.get(cell, 0)
            letter = stack[0]
            if letter in found and stack == letter * len(stack) and len(stack) <= _HIGHEST:
                found[letter] += bit * len(stack)
            elif bit:
                odd.append((bit, stack))
        return tuple(found.values()), tuple(sorted(odd))


class Trail(NamedTuple):
    """The positions so far, newest first; only where a third repetition ends the game."""

    key: tuple[str, tuple[int, ...]]
    before: Trail | None


class View(NamedTuple):
    """The board as the player to move sees it."""

    own: int  # cells on which the top cube is his
    deep: int  # of these the ones with a second own cube below it
    high: int  # and with a third
    foreign: int
    cubes: int  # own ones on the board


class QbqPosition(NamedTuple):
    """The heights of each player's stacks in turn order, and who is to move.

    `odd` holds mixed stacks, which only a kept illegal turn leaves behind.
    """

    player: str
    heights: tuple[int, ...]
    layout: Layout
    odd: tuple[tuple[int, str], ...] = ()
    trail: Trail | None = None

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        cell_of = self.layout.geometry.cell_of
        found = {cell_of[bit]: stack for bit, stack in self.odd}
        for letter, heights in zip(self.layout.players, self.heights, strict=True):
            left = heights
            while left:
                place = ((left & -left).bit_length() - 1) // _BITS * _BITS
                height = left >> place & _HIGHEST
                found[cell_of[1 << place]] = letter * height
                left ^= height << place
        return Stacks(found)

    @property
    def seat(self) -> int:
        """The number of the player to move."""
        return self.layout.players.index(self.player)

    def height(self, bit: int) -> int:
        """The height of whatever stack stands on a cell."""
        for heights in self.heights:
            height = heights & bit * _HIGHEST
            if height:
                return height // bit
        return next((len(stack) for cell, stack in self.odd if cell == bit), 0)

    def view(self) -> View:
        """The board as the player to move sees it."""
        layout = self.layout
        seat = self.seat
        ones = layout.geometry.all
        foreign = 0
        for other, heights in enumerate(self.heights):
            if other != seat:
                foreign |= heights | heights >> 1 | heights >> 2 | heights >> 3
        foreign &= ones
        mine = self.heights[seat]
        two, four, eight = mine >> 1, mine >> 2, mine >> 3
        own = (mine | two | four | eight) & ones
        deep = (two | four | eight) & ones
        high = (two & mine | four | eight) & ones
        cubes = count_cubes(mine, ones)
        for bit, stack in self.odd:
            cubes += stack.count(self.player)
            run = len(stack) - len(stack.rstrip(self.player))
            own |= bit * (run > 0)
            deep |= bit * (run > 1)
            high |= bit * (run > 2)
            foreign |= bit * (run == 0)
        return View(own, deep, high, foreign, cubes)


def count_cubes(heights: int, ones: int) -> int:
    """The sum of all heights."""
    return sum((heights >> place & ones).bit_count() << place for place in range(_BITS))
