"""The pose by what all cells show alike, where their borders are not seen well enough."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from calibration.camera import Camera, Floats
from calibration.cell_look import CellLook, fit_looks, glance
from calibration.grid_pose import Sight, board_corners, camera_for, centre_of
from calibration.lattice_search import Found
from rules.lattice import Board

_LEAST_ROW = 3  # cells; fewer are alike by chance
_MOST_NOTED, _MOST_FITTED = 6, 3  # places of each way of looking; the best ones of all
_LEAST_GLANCE = 0.5
_LEAST_MERIT, _LEAST_SEEN, _MOST_BEYOND, _SEVERAL = 0.6, 0.85, 0.1, 0.5
_SAME = 0.1  # of the pitch: corners nearer to each other are one place


def by_looks(
    found: Iterable[tuple[Sequence[Found], Floats]],
    cameras: Iterable[Camera],
    sight: Sight,
    board: Board,
) -> CellLook | None:
    """The best of what rough places lead to; None where no cells are alike, or others as well.

    `found` are figures with the corners (4, 3) that each would be the picture of.
    """
    if min(board.lattice.columns, board.lattice.ranks) < _LEAST_ROW:
        return None
    rated = [(glance(camera, sight, board), camera) for camera in _starts(found, sight, board)]
    rated += [(glance(camera, sight, board), camera) for camera in cameras]
    best: CellLook | None = None
    for rate, camera in _apart(sorted(rated, key=lambda r: -r[0]), board)[:_MOST_FITTED]:
        look = fit_looks(camera, sight, board) if rate > _LEAST_GLANCE else None
        if look is not None and is_board(look) and (best is None or look.merit > best.merit):
            best = look
    return best


def noted(
    candidates: Iterable[tuple[str, list[Found]]], places: list[Found]
) -> Iterator[tuple[str, list[Found]]]:
    """The same candidates, the best of each way of looking noted in `places` once looked at."""
    for name, found in candidates:
        places.extend(found[:_MOST_NOTED])
        yield name, found


def is_board(look: CellLook) -> bool:
    """Whether nearly all cells are alike, and nothing of that kind goes on around them.

    Cloths are alike everywhere, books nowhere, and a lattice of larger cells is one of parts.
    """
    alike = look.merit > _LEAST_MERIT and look.seen > _LEAST_SEEN
    return alike and look.beyond < _MOST_BEYOND and look.several < _SEVERAL and look.whole


def _starts(
    found: Iterable[tuple[Sequence[Found], Floats]], sight: Sight, board: Board
) -> Iterable[Camera]:
    for figures, corners in found:
        for one in figures:
            camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
            if camera is not None:
                yield camera


def _apart(rated: Sequence[tuple[float, Camera]], board: Board) -> list[tuple[float, Camera]]:
    """The best ones of different places."""
    corners = board_corners(board)
    kept: list[tuple[float, Camera]] = []
    for one in rated:
        seen = one[1].project(corners)
        near = _SAME * float(np.hypot(*np.ptp(seen, axis=0))) / board.lattice.columns
        if all(np.abs(seen - other.project(corners)).max() > near for _, other in kept):
            kept.append(one)
    return kept
