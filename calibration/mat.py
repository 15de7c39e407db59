"""Mats: where printed markers lie, on cards at a board's corners or on a sheet under the pieces.

All places are board coordinates. Marker ids tell the kinds apart: 0 to 3 cards at the corners of
a board, 4 to 7 a sheet under a wall, 8 to 11 a sheet the size of a felt.
"""

from dataclasses import dataclass
from typing import Literal

from calibration.errors import CalibrationError
from calibration.scene import Marker
from rules.lattice import Board, Millimetres

Kind = Literal["cards", "sheet", "felt"]
Paper = Literal["a4", "letter"]
PAPERS: dict[Paper, tuple[float, float]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
FIRST_ID: dict[Kind, int] = {"cards": 0, "sheet": 4, "felt": 8}

CARD_MARKER_MM = 40.0
QUIET_MM = 8.0  # white around a marker, without which it is not found
NOTCH_MM = 20.0  # the arms of a card along the board's edges
PRINTER_MM = 6.0  # what printers leave white at the edge of the paper
SHEET_MARKER_MM = 36.0
FELT_MARKER_MM = 32.0


@dataclass(frozen=True, slots=True)
class Mat:
    """What is printed for one table: the markers, and for sheets the margin around the cells."""

    kind: Kind
    markers: tuple[Marker, ...]
    margin_mm: tuple[float, float, float, float]


def kind_for(board: Board) -> Kind:
    """Cards beside a board, a sheet under a wall one cell deep, a sheet in place of a wide felt."""
    if board.lattice.ranks == 1:
        return "sheet"
    return "felt" if min(board.margin_mm) >= FELT_MARKER_MM + QUIET_MM else "cards"


def mat_for(board: Board, paper: Paper) -> Mat:
    """The mat for this board on this paper; raises CalibrationError where it does not fit."""
    kind = kind_for(board)
    if kind == "cards":
        return _cards(board)
    return _sheet(board, paper) if kind == "sheet" else _felt(board, paper)


def _cards(board: Board) -> Mat:
    """The inner corner of each marker lies diagonally off the board's corner."""
    frame = board.frame_width_mm if isinstance(board.frame_width_mm, int | float) else 0.0
    left, front, right, back = (margin + frame + QUIET_MM for margin in board.margin_mm)
    wide, deep, _ = board.lattice.size_mm
    size = CARD_MARKER_MM
    places = [
        (-left - size, -front - size),
        (wide + right, -front - size),
        (wide + right, deep + back),
        (-left - size, deep + back),
    ]
    return Mat("cards", _markers("cards", places, size, "auto"), board.margin_mm)


def _sheet(board: Board, paper: Paper) -> Mat:
    """A landscape sheet with the strip in its middle, markers near its corners."""
    high, wide = PAPERS[paper]
    cells, deep, _ = board.lattice.size_mm
    side, ahead = (wide - cells) / 2, (high - deep) / 2
    if side < PRINTER_MM:
        raise CalibrationError(
            f"a strip of {cells:.0f} mm is too long for this paper ({wide:.0f} mm); "
            "use the window of nine squares (columns = 9), or four corners"
        )
    size = SHEET_MARKER_MM
    low = PRINTER_MM + QUIET_MM
    left, front = -side + low, -ahead + low
    right, back = cells + side - low - size, deep + ahead - low - size
    places = [(left, front), (right, front), (right, back), (left, back)]
    return Mat("sheet", _markers("sheet", places, size, 0.0), (side, ahead, side, ahead))


def _felt(board: Board, paper: Paper) -> Mat:
    """A sheet of the felt's size with markers in its corners, clear of the cells."""
    left, front, right, back = board.margin_mm
    wide, deep, _ = board.lattice.size_mm
    if wide + left + right > PAPERS[paper][0] - 2 * PRINTER_MM:
        raise CalibrationError(
            f"a mat of {wide + left + right:.0f} mm is too wide for this paper; "
            "make margin_mm in table.toml smaller"
        )
    size = FELT_MARKER_MM
    x0, y0 = -left + QUIET_MM, -front + QUIET_MM
    x1, y1 = wide + right - QUIET_MM - size, deep + back - QUIET_MM - size
    places = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return Mat("felt", _markers("felt", places, size, 0.0), board.margin_mm)


def _markers(
    kind: Kind, places: list[tuple[float, float]], size: float, z: Millimetres
) -> tuple[Marker, ...]:
    first = FIRST_ID[kind]
    return tuple(
        Marker(first + i, (round(x, 2), round(y, 2)), size, z) for i, (x, y) in enumerate(places)
    )
