"""What stands at a table, as far as cameras care: board, colours, markers, camera places.

Plain values without files and without a game; `service.table_folder` reads them from table.toml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rules.lattice import Board, Millimetres

Quarter = Literal[0, 90, 180, 270]
Source = int | str


@dataclass(frozen=True, slots=True)
class Marker:
    """A printed ArUco marker (DICT_4X4_50) that lies upright for a viewer at 6 o'clock."""

    id: int
    corner_mm: tuple[float, float]  # smallest x and y of the black square, on the board
    size_mm: float
    z_mm: Millimetres = "auto"  # its plane against the surface on which the lowest pieces stand


@dataclass(frozen=True, slots=True)
class CameraPlace:
    """Where a camera's pictures come from, and roughly from where it looks."""

    name: str
    source: Source | None = None  # device number, address, file, folder, "phone", "virtual:FILE"
    clock: float = 6.0  # the board's side nearest to the lower edge of the upright picture
    rotate: Quarter = 0  # what makes a rolled picture upright
    offset_s: float = 0.0  # how much later than the others its recording starts
    settings: Mapping[str, object] = field(default_factory=dict)  # what its device is told


@dataclass(frozen=True, slots=True)
class Scene:
    """The table without the game: what is to be seen, and from where."""

    board: Board
    colours: Mapping[str, str] = field(default_factory=dict)  # letter -> name, as "blue"
    markers: tuple[Marker, ...] = ()
    cameras: Mapping[str, CameraPlace] = field(default_factory=dict)
