"""The inside of a KSAR frame in bits: where pieces fit, and what they would touch.

One bit a cell, with a rim of cells around the inside that stands for the frame. Every piece is
known by its lowest left cell, so one number holds all places of one way to put a piece down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from rules.cells import Cell
from rules.pieces import CUBOID, Extent, Placed

EXTENTS = CUBOID.extents  # the six ways in which a piece can stand or lie
HIGHEST = 3

Heights = tuple[int, int, int]  # cells under pieces of height 1, 2 and 3


class Faces(NamedTuple):
    """The cells beside each side face of a piece."""

    west: int
    east: int
    south: int
    north: int

    def adjoining(self, solid: int) -> bool:
        """Whether two faces that share a vertical edge touch something solid (KSA-R1)."""
        along = self.west & solid or self.east & solid
        return bool(along and (self.south & solid or self.north & solid))

    @property
    def around(self) -> int:
        """The cells beside all four faces."""
        return self.west | self.east | self.south | self.north


class Frame:
    """Bit arithmetic inside a frame of one size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.width = width = size + 2
        self.inside = self.box(Cell(0, 0), size, size)
        self.strips = Faces(
            self.box(Cell(-1, 0), 1, size),
            self.box(Cell(size, 0), 1, size),
            self.box(Cell(0, -1), size, 1),
            self.box(Cell(0, size), size, 1),
        )
        self.rim = self.strips.around
        self.feet = tuple(
            sum(1 << x + y * width for x in range(extent.width) for y in range(extent.depth))
            for extent in EXTENTS
        )

    def place(self, cell: Cell) -> int:
        """The number of a cell's bit."""
        return (cell.rank + 1) * self.width + cell.file + 1

    def box(self, cell: Cell, width: int, depth: int) -> int:
        """The cells of a rectangle."""
        row = (1 << width) - 1 << self.place(cell)
        return sum(row << self.width * y for y in range(depth))

    def footprint(self, piece: Placed) -> int:
        """The cells that a piece covers."""
        return self.box(piece.cell, piece.extent.width, piece.extent.depth)

    def cells(self, mask: int) -> Iterator[Cell]:
        """The cells of the bits that are set."""
        while mask:
            bit = mask & -mask
            mask ^= bit
            place = bit.bit_length() - 1
            yield Cell(place % self.width - 1, place // self.width - 1)

    def heights(self, pieces: Iterable[Placed]) -> Heights:
        """The cells under pieces of each height; whatever is higher counts as highest."""
        found = [0, 0, 0]
        for piece in pieces:
            found[min(piece.extent.height, HIGHEST) - 1] |= self.footprint(piece)
        return found[0], found[1], found[2]

    def faces(self, cell: Cell, extent: Extent) -> Faces:
        """The cells beside a piece that is put down here."""
        (file, rank), width, depth = cell, extent.width, extent.depth
        return Faces(
            self.box(Cell(file - 1, rank), 1, depth),
            self.box(Cell(file + width, rank), 1, depth),
            self.box(Cell(file, rank - 1), width, 1),
            self.box(Cell(file, rank + depth), width, 1),
        )

    def openings(self, heights: Heights, *, adjoining: bool) -> tuple[int, ...]:
        """For each of the six ways the places where a piece fits, `EXTENTS` telling the way.

        With `adjoining` two adjoining faces must touch; without, at least one face (the caller
        then counts what it touches).
        """
        row = self.width
        solid = heights[0] | heights[1] | heights[2]
        free = self.inside & ~solid
        solid |= self.rim
        found = []
        for width, depth, height in EXTENTS:
            same = heights[height - 1]
            fits = free
            # a bit of `side` tells what stands beside the piece's lowest left cell
            side = solid << 1 | solid >> width
            equal = same << 1 | same >> width
            for step in range(row, depth * row, row):
                fits &= free >> step
                side |= (solid << 1 | solid >> width) >> step
                equal |= (same << 1 | same >> width) >> step
            deep = depth * row
            front = solid << row | solid >> deep
            level = same << row | same >> deep
            rows = fits
            for step in range(1, width):
                fits &= rows >> step
                front |= (solid << row | solid >> deep) >> step
                level |= (same << row | same >> deep) >> step
            touching = side & front if adjoining else side | front
            found.append(fits & touching & ~equal & ~level)
        return tuple(found)


frame_of = cache(Frame)
