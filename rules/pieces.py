"""Pieces: what a player takes into the hand, and the units of the lattice that it fills."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from rules.cells import Cell, Unit


class Extent(NamedTuple):
    """How many units a placed piece is wide (along the files), deep (along the ranks) and high."""

    width: int
    depth: int
    height: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of piece with every way in which it can be put down."""

    name: str
    extents: tuple[Extent, ...]


CUBE = Shape("cube", (Extent(1, 1, 1),))
BLOCK = Shape("block", (Extent(2, 1, 1), Extent(1, 2, 1), Extent(1, 1, 2)))
CUBOID = Shape("cuboid", tuple(Extent(*sides) for sides in permutations((1, 2, 3))))
TWIN = Shape("twin", BLOCK.extents)


@dataclass(frozen=True, slots=True)
class KitPiece:
    """What the box holds: so many pieces of one shape and colour."""

    shape: Shape
    letter: str
    count: int


class Placed(NamedTuple):
    """A piece on the board: its lowest left front unit, and how far it reaches from there."""

    cell: Cell
    level: int
    extent: Extent
    letter: str

    def cells(self) -> Iterator[Cell]:
        """The cells of its footprint."""
        for rank in range(self.cell.rank, self.cell.rank + self.extent.depth):
            for file in range(self.cell.file, self.cell.file + self.extent.width):
                yield Cell(file, rank)

    def units(self) -> Iterator[Unit]:
        """Every unit that it fills."""
        for cell in self.cells():
            for level in range(self.level, self.level + self.extent.height):
                yield Unit(cell, level)
