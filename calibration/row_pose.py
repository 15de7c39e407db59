"""A single row of cells on its sheet: the sheet tells how it lies, its cells how large it is.

How far a sheet goes beyond the cells is easily told wrongly, and moves every cell; the lines
between the cells show it.
"""

from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera, Floats
from calibration.cell_fit import CellFit
from calibration.grid_pose import (
    Sight,
    board_corners,
    camera_for,
    centre_of,
    rough_cells,
    settled_cells,
)
from calibration.outline_fit import OutlineFit
from rules.lattice import Board

_CLEAR_MERIT, _CLEAR_SEEN = 0.42, 0.75
SHEET_MARGINS_MM = (10.0, 20.0, 30.0, 45.0)  # tried where cells do not lie as told
_TRUE_MM = 4.0  # margins are told exactly to this


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The cells on a sheet, and the board with the margins that the sheet really has."""

    fit: CellFit
    board: Board
    seen_mm: float  # of the sheet left and right of the cells, on average

    def doubts(self, told: Board) -> tuple[str, ...]:
        """Whether the table tells other margins than are seen; none at all is no statement."""
        told_mm = (told.margin_mm[0] + told.margin_mm[2]) / 2
        if not any(told.margin_mm) or abs(self.seen_mm - told_mm) < _TRUE_MM:
            return ()
        doubt = (
            f"the sheet goes {max(self.seen_mm, 0.0):.0f} mm beyond the first and last cell, not "
            f"{told_mm:.0f} mm as margin_mm in table.toml says"
        )
        return (doubt,)


def row_on(sheet: OutlineFit, sight: Sight, board: Board) -> Row | None:
    """The row of cells in a rectangle; None where none is clearly seen in it."""
    told = board_corners(board, board.margin_mm)
    corners_px = sheet.solution.camera.project(told)
    if not np.isfinite(corners_px).all():
        return None
    cameras = [sheet.solution.camera]
    row = settled_cells(sheet.solution.camera, sight, board)
    if not _clear(row):
        for margin in (0.0, *SHEET_MARGINS_MM):
            camera = _camera_with(corners_px, sight, replace(board, margin_mm=(margin,) * 4))
            if camera is not None:
                cameras.append(camera)
        rough = [r for camera in cameras if (r := rough_cells(camera, sight, board)) is not None]
        best = max(rough, key=lambda fit: fit.merit, default=None)
        row = None if best is None else settled_cells(best.solution.camera, sight, board)
    if row is None or not _clear(row):
        return None
    wide, deep, _ = board.lattice.size_mm
    left, _, right, _ = board.margin_mm
    ends = np.array([[-left, deep / 2, 0.0], [wide + right, deep / 2, 0.0]])
    seen = row.solution.camera.back_project(sheet.solution.camera.project(ends), 0.0)
    beyond = float((seen[1, 0] - seen[0, 0] - wide) / 2)
    if not np.isfinite(beyond):
        return None
    more = beyond - (left + right) / 2
    a, b, c, d = (side + more for side in board.margin_mm)
    measured = replace(board, margin_mm=(a, b, c, d))
    camera = _camera_with(corners_px, sight, measured)
    again = None if camera is None else settled_cells(camera, sight, board)
    if again is not None and again.merit > row.merit - 0.1:
        row = again
    return Row(row, measured, beyond)


def _clear(row: CellFit | None) -> bool:
    return row is not None and row.merit > _CLEAR_MERIT and row.seen > _CLEAR_SEEN


def _camera_with(corners_px: Floats, sight: Sight, board: Board) -> Camera | None:
    """The camera to which a sheet of these margins has its corners there."""
    corners = board_corners(board, board.margin_mm)
    return camera_for(corners_px, corners, sight, centre_of(board), 1.0)
