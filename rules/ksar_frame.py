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

    def has(self, cell: Cell) -> bool:
        """Whether a cell is inside the frame."""
        return 0 <= cell.file < self.size and 0 <= cell.rank < self.size

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

    def openings(self, heights: Heights, objects: Iterable[int] | None = None) -> tuple[int, ...]:
        """For each of the six ways the places where a piece fits, `EXTENTS` telling the way.

        Two adjoining faces must touch; or, where `objects` are given, two of these anywhere.
        """
        solid = heights[0] | heights[1] | heights[2]
        free = self.inside & ~solid
        things = None if objects is None else list(objects)
        found = []
        for width, depth, height in EXTENTS:
            fits = free
            for step in range(self.width, depth * self.width, self.width):
                fits &= free >> step
            rows = fits
            for step in range(1, width):
                fits &= rows >> step
            if fits:
                beside, before = self._touching(heights[height - 1], width, depth)
                fits &= ~(beside | before)
            if things is None:
                beside, before = self._touching(solid | self.rim, width, depth)
                found.append(fits & beside & before)
            else:
                found.append(fits & self._meeting_two(things, width, depth))
        return tuple(found)

    def _touching(self, solid: int, width: int, depth: int) -> tuple[int, int]:
        """The places where a piece touches something with its west or east, south or north face."""
        row = self.width
        # a bit of `sides` tells what stands beside the piece's lowest left cell
        sides = beside = solid << 1 | solid >> width
        for step in range(row, depth * row, row):
            beside |= sides >> step
        ends = before = solid << row | solid >> depth * row
        for step in range(1, width):
            before |= ends >> step
        return beside, before

    def _meeting_two(self, things: list[int], width: int, depth: int) -> int:
        """The places where a piece touches at least two different things."""
        once = twice = 0
        for thing in things:
            beside, before = self._touching(thing, width, depth)
            twice |= once & (beside | before)
            once |= beside | before
        return twice


frame_of = cache(Frame)
