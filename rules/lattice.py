"""Where pieces can stand: the lattice of unit places over a board, in millimetres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rules.cells import Cell, Unit
from rules.errors import SetupError

Millimetres = float | Literal["auto"]
Box = tuple[tuple[float, float, float], tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Lattice:
    """Cells of one pitch, levels of one height; the origin is the outer corner of `a1`."""

    columns: int
    ranks: int
    levels: int
    pitch_mm: float
    unit_mm: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not (1 <= self.columns <= 26 and 1 <= self.ranks <= 99 and 1 <= self.levels <= 99):
            raise SetupError(
                f"a lattice of {self.columns} x {self.ranks} x {self.levels} places; "
                "1 to 26 columns, 1 to 99 ranks and levels"
            )
        if not (0 < self.pitch_mm < 1000 and all(0 < edge < 1000 for edge in self.unit_mm)):
            raise SetupError(
                f"pitch {self.pitch_mm!r} and unit {self.unit_mm!r} must be millimetres"
            )

    def __contains__(self, cell: Cell) -> bool:
        return 0 <= cell.file < self.columns and 0 <= cell.rank < self.ranks

    def cells(self) -> Iterator[Cell]:
        """All cells, rank by rank from `a1`."""
        return (Cell(f, r) for r in range(self.ranks) for f in range(self.columns))

    @property
    def size_mm(self) -> tuple[float, float, float]:
        """Width, depth and height of the volume in which pieces can stand."""
        height = self.levels * self.unit_mm[2]
        return self.columns * self.pitch_mm, self.ranks * self.pitch_mm, height

    def centre_mm(self, cell: Cell) -> tuple[float, float]:
        """The middle of a cell on the board."""
        return (cell.file + 0.5) * self.pitch_mm, (cell.rank + 0.5) * self.pitch_mm

    def box_mm(self, unit: Unit) -> Box:
        """Lowest and highest corner of one unit standing exactly in the middle of its cell."""
        x, y = self.centre_mm(unit.cell)
        dx, dy, dz = self.unit_mm
        low = (x - dx / 2, y - dy / 2, (unit.level - 1) * dz)
        return low, (x + dx / 2, y + dy / 2, unit.level * dz)


@dataclass(frozen=True, slots=True)
class Board:
    """The lattice and what the board around it looks like; `auto` is measured at calibration."""

    lattice: Lattice
    margin_mm: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # left, front, right, back
    frame_height_mm: Millimetres | None = None
    frame_width_mm: Millimetres | None = None
    recess_mm: Millimetres | None = None
