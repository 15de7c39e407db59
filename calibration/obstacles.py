"""What stands on the board for good and hides things behind it: the frame around the cells."""

import numpy as np
from numpy.typing import NDArray

from rules.lattice import Board


def frame_boxes(board: Board) -> NDArray[np.float64]:
    """Lowest and highest corners (4, 2, 3) of the frame's strips; (0, 2, 3) where there is none."""
    if board.frame_height_mm is None:
        return np.zeros((0, 2, 3))
    # Where nobody measured the frame: about as high as a piece is flat, and nearly as wide.
    unit = board.lattice.unit_mm[2]
    high = unit if board.frame_height_mm == "auto" else board.frame_height_mm
    wide = board.frame_width_mm
    wide = 0.8 * unit if wide is None or wide == "auto" else wide
    width, depth, _ = board.lattice.size_mm
    left, front, right, back = -wide, -wide, width + wide, depth + wide
    strips = (
        (left, front, right, 0.0),
        (left, depth, right, back),
        (left, 0.0, 0.0, depth),
        (width, 0.0, right, depth),
    )
    return np.array([((x0, y0, -1.0), (x1, y1, high)) for x0, y0, x1, y1 in strips])
