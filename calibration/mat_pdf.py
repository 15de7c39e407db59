"""The PDF of a mat, true to scale: pages in millimetres, markers as shapes and not as pictures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from calibration import cv
from calibration.errors import CalibrationError
from calibration.lens_board import LensBoard
from calibration.mat import CARD_MARKER_MM, NOTCH_MM, PAPERS, QUIET_MM, Mat, Paper
from calibration.scene import Marker
from rules.lattice import Board

CARD_MM = CARD_MARKER_MM + 2 * QUIET_MM + NOTCH_MM
HINT = "Print at 100 %, not 'fit to page'. Measure the ruler: it must be exactly 100 mm."


def write_mat(path: Path, mat: Mat, board: Board, lens: LensBoard, paper: Paper) -> None:
    """Writes the marker pages and the lens board; the same table gives the same bytes."""
    canvas = Canvas(str(path), invariant=1)
    canvas.setTitle("Kiebitz: markers and lens board")
    canvas.setCreator("Kiebitz")
    if mat.kind == "cards":
        _card_page(canvas, mat, paper)
    else:
        _sheet_page(canvas, mat, board, paper)
    _lens_page(canvas, lens, paper)
    try:
        canvas.save()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CalibrationError(f"cannot write {str(path)!r}: {reason}") from error


def _card_places(paper: Paper) -> Iterator[tuple[int, float, float]]:
    """Number of each card and where its lower left corner is on the page."""
    wide, high = PAPERS[paper]
    gap = (wide - 2 * CARD_MM) / 3
    bottom = high - 2 * CARD_MM - 2 * gap
    # as they lie around the board: 3 and 2 behind, 0 and 1 in front
    for number, column, row in ((0, 0, 0), (1, 1, 0), (2, 1, 1), (3, 0, 1)):
        yield number, gap + column * (CARD_MM + gap), bottom + row * (CARD_MM + gap)


def _card_page(canvas: Canvas, mat: Mat, paper: Paper) -> None:
    """Four cards with a notch into which a corner of the board is pushed."""
    canvas.setPageSize((PAPERS[paper][0] * mm, PAPERS[paper][1] * mm))
    for number, x, y in _card_places(paper):
        _card(canvas, number, mat.markers[number], x, y)
    _ruler(canvas, 20.0, 22.0)
    _text(canvas, 20.0, 14.0, HINT)
    _text(canvas, 20.0, 8.0, "Cut along the lines and push each notch against its board corner.")
    canvas.showPage()


def _card(canvas: Canvas, number: int, marker: Marker, x: float, y: float) -> None:
    """One card; its notch looks to the board's middle, and its marker away from it."""
    on_right, behind = number in (1, 2), number in (2, 3)
    notch_x = x if on_right else x + CARD_MM - NOTCH_MM
    notch_y = y if behind else y + CARD_MM - NOTCH_MM
    canvas.setLineWidth(0.3)
    canvas.rect(x * mm, y * mm, CARD_MM * mm, CARD_MM * mm)
    canvas.rect(notch_x * mm, notch_y * mm, NOTCH_MM * mm, NOTCH_MM * mm)
    _text(canvas, notch_x + 2, notch_y + 9, f"cut out; corner {number}", size=5)
    left = x + QUIET_MM + (NOTCH_MM if on_right else 0.0)
    low = y + QUIET_MM + (NOTCH_MM if behind else 0.0)
    _marker(canvas, marker, left, low)


def _sheet_page(canvas: Canvas, mat: Mat, board: Board, paper: Paper) -> None:
    """A sheet under the pieces, with the cells and lines before and behind them."""
    high, wide = PAPERS[paper]
    left, front, right, back = mat.margin_mm
    cells, deep, _ = board.lattice.size_mm
    if mat.kind == "felt":
        wide, high = high, wide
    canvas.setPageSize((wide * mm, high * mm))
    x0 = (wide - cells - left - right) / 2 + left
    y0 = (high - deep - front - back) / 2 + front
    canvas.setLineWidth(0.5)
    for file in range(board.lattice.columns + 1):
        x = x0 + file * board.lattice.pitch_mm
        canvas.line(x * mm, y0 * mm, x * mm, (y0 + deep) * mm)
    for rank in range(board.lattice.ranks + 1):
        y = y0 + rank * board.lattice.pitch_mm
        canvas.line(x0 * mm, y * mm, (x0 + cells) * mm, y * mm)
    if mat.kind == "felt":
        canvas.rect((x0 - left) * mm, (y0 - front) * mm, (cells + left + right) * mm,
                    (deep + front + back) * mm)  # fmt: skip
    else:
        for y in (y0 - 0.75 * front, y0 + deep + 0.75 * back):
            from_x = x0 + mat.markers[0].corner_mm[0] + mat.markers[0].size_mm + QUIET_MM
            to_x = x0 + mat.markers[1].corner_mm[0] - QUIET_MM
            canvas.line(from_x * mm, y * mm, to_x * mm, y * mm)
    for marker in mat.markers:
        _marker(canvas, marker, x0 + marker.corner_mm[0], y0 + marker.corner_mm[1])
    ruler_x = x0 + cells / 2 - 50
    ruler_y = y0 - 0.45 * front if mat.kind == "sheet" else y0 - front - 20
    _ruler(canvas, ruler_x, ruler_y)
    _text(canvas, ruler_x, ruler_y - 6, HINT, size=6)
    canvas.showPage()


def _lens_page(canvas: Canvas, lens: LensBoard, paper: Paper) -> None:
    """The lens board in the middle of a landscape page."""
    high, wide = PAPERS[paper]
    canvas.setPageSize((wide * mm, high * mm))
    across, along = lens.columns * lens.square_mm, lens.rows * lens.square_mm
    if across > wide - 10 or along > high - 20:
        raise CalibrationError(
            f"a lens board of {across:.0f} x {along:.0f} mm does not fit on this paper"
        )
    x0, y1 = (wide - across) / 2, (high + along) / 2 + 5
    squares = canvas.beginPath()
    for row in range(lens.rows):
        for column in range(lens.columns):
            if (row + column) % 2 == 0:
                x, y = x0 + column * lens.square_mm, y1 - (row + 1) * lens.square_mm
                squares.rect(x * mm, y * mm, lens.square_mm * mm, lens.square_mm * mm)
    canvas.drawPath(squares, stroke=0, fill=1)
    board = lens.charuco()
    for corners, number in zip(board.getObjPoints(), np.ravel(board.getIds()), strict=True):
        low = np.asarray(corners).reshape(-1, 3)
        x, y = x0 + float(low[:, 0].min()), y1 - float(low[:, 1].max())
        _bits(canvas, _marker_bits(lens.dictionary, int(number)), x, y, lens.marker_mm)
    _ruler(canvas, x0, y1 - along - 12)
    _text(canvas, x0 + 110, y1 - along - 12, "Lens board: glue it on something flat. " + HINT, 6)
    canvas.showPage()


def _marker(canvas: Canvas, marker: Marker, x: float, y: float) -> None:
    _bits(canvas, _marker_bits("DICT_4X4_50", marker.id), x, y, marker.size_mm)
    _text(canvas, x, y - 5, f"{marker.id}", size=6)


def _marker_bits(dictionary: str, number: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The black modules of a marker, rim included, row by row from the top."""
    book = cv.dictionary_of(dictionary)
    modules = int(book.markerSize) + 2
    return np.asarray(cv2.aruco.generateImageMarker(book, number, modules)) < 128


def _bits(
    canvas: Canvas, black: np.ndarray[Any, np.dtype[np.bool_]], x: float, y: float, size: float
) -> None:
    """Black modules as one shape, so that no viewer leaves seams between them."""
    step = size / len(black)
    path = canvas.beginPath()
    for row, line in enumerate(black):
        for column, is_black in enumerate(line):
            if is_black:
                left, low = x + column * step, y + size - (row + 1) * step
                path.rect(left * mm, low * mm, step * mm, step * mm)
    canvas.drawPath(path, stroke=0, fill=1)


def _ruler(canvas: Canvas, x: float, y: float) -> None:
    """A hundred millimetres to lay a real ruler against."""
    canvas.setLineWidth(0.3)
    canvas.line(x * mm, y * mm, (x + 100) * mm, y * mm)
    for tick in range(0, 101, 5):
        high = 4 if tick % 50 == 0 else 2.5 if tick % 10 == 0 else 1.5
        canvas.line((x + tick) * mm, y * mm, (x + tick) * mm, (y + high) * mm)
    _text(canvas, x + 102, y, "100 mm", size=6)


def _text(canvas: Canvas, x: float, y: float, text: str, size: float = 8) -> None:
    canvas.setFont("Helvetica", size)
    canvas.drawString(x * mm, y * mm, text)
