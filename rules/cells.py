"""Cells of the board: `d4` is the fourth file, the fourth rank."""

from __future__ import annotations

import re
from typing import NamedTuple

from rules.errors import NotationError

_CELL = re.compile(r"([a-z])([1-9][0-9]?)\Z")


class Cell(NamedTuple):
    """A place on the board; both numbers count from 0, so `a1` is `Cell(0, 0)`."""

    file: int
    rank: int

    def __str__(self) -> str:
        return f"{chr(97 + self.file)}{self.rank + 1}"

    @staticmethod
    def parse(text: str) -> Cell:
        """The cell of a name such as `d4`; raises NotationError."""
        match = _CELL.match(text)
        if match is None:
            raise NotationError(f"{text[:20]!r} is no cell; cells look like 'd4'")
        return Cell(ord(match[1]) - 97, int(match[2]) - 1)

    def touches(self, other: Cell) -> bool:
        """Whether the two cells share a side."""
        return abs(self.file - other.file) + abs(self.rank - other.rank) == 1


class Unit(NamedTuple):
    """One unit of the lattice; `level` counts from 1, so the lowest one on d4 is `d4.1`."""

    cell: Cell
    level: int

    def __str__(self) -> str:
        return f"{self.cell}.{self.level}"

    @staticmethod
    def parse(text: str) -> Unit:
        """The unit of a name such as `d4.2`; raises NotationError."""
        name, dot, level = text.partition(".")
        if not (dot and level.isascii() and level.isdigit() and 0 < int(level) < 100):
            raise NotationError(f"{text[:20]!r} is no unit; units look like 'd4.2'")
        return Unit(Cell.parse(name), int(level))
