"""How the camera leans over a single row of cells: the edges of its sheet tell, where seen.

A row is long and narrow. Its cells tell exactly where they lie, but hardly how the camera leans
across them; from straight above it could even lean to the other side. The edges of the sheet run
farther out. How far out is never exactly known, and sheets have lines printed along their edges:
so the edges are looked for with the cells held in their place, each at a distance of its own.
"""

from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from calibration.cell_fit import BORDER, CellFit
from calibration.cv import rotation_of
from calibration.grid_pose import Sight, board_corners, centre_of
from calibration.outline_fit import Known, fit_outline, sheet_plan
from calibration.solve import SizePrior, Solution, solve
from rules.lattice import Board

_MARGIN_ERROR_MM = 2.0  # margins are "never needed to be exact"
_SURE_EDGES = 0.8
_REACHES_PX = (8, 6, 4, 3)
_AGREE_PX = 0.35
_AS_WELL = 1.3  # times as far off on average: as good an explanation
_OVER = 0.64  # 40 degrees past straight down: nobody's picture is upright from there
_EXACT_PX = 0.05  # no picture is more exact, however well a few lines happen to fit


@dataclass(frozen=True, slots=True, eq=False)
class Lean:
    """The pose by a row of cells, and one that leans otherwise and explains the picture as well."""

    solution: Solution
    other: Solution | None


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """The camera leaning to one side, and whether the sheet's edges are seen as it has them."""

    solution: Solution
    with_edges: bool


def lean_of(fit: CellFit, sight: Sight, board: Board) -> Lean:
    """The pose by a row of cells and its sheet, whichever way it leans."""
    ways = [_with_edges(_cells(fit, board), fit.solution, sight, board)]
    camera = _mirrored(fit.solution.camera, board)
    if camera is not None:
        known = _cells(fit, board)
        trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
        turned = solve(camera, known.evidence, sight.doubt, trusted=trusted, sizes=known.sizes)
        if _as_well(turned, fit.solution):
            ways.append(_with_edges(known, turned, sight, board))
    ways = [way for way in ways if not _head_over(way.solution.camera)] or ways
    # Where the edges of the sheet are seen only as one way has them, that one is right.
    ways.sort(key=lambda way: (not way.with_edges, way.solution.rms_px))
    best = ways[0]
    others = [
        way.solution
        for way in ways[1:]
        if way.with_edges == best.with_edges and _as_well(way.solution, best.solution)
    ]
    return Lean(best.solution, others[0] if others else None)


def _as_well(one: Solution, other: Solution) -> bool:
    return one.rms_px < _AS_WELL * max(other.rms_px, _EXACT_PX)


def _head_over(camera: Camera) -> bool:
    """Whether what stands on the board would hang down in the picture."""
    return float(camera.rotation[1, 2]) > _OVER


def _cells(fit: CellFit, board: Board) -> Known:
    errors = np.array([1e3, BORDER * board.lattice.pitch_mm])
    return Known(fit.evidence, SizePrior(np.zeros(2), errors))


def _with_edges(known: Known, cells: Solution, sight: Sight, board: Board) -> _Way:
    """The pose by the cells and the edges of their sheet; by the cells where these do not agree."""
    plan = sheet_plan(board_corners(board, board.margin_mm))
    seen = fit_outline(
        cells.camera,
        sight,
        plan,
        sizes=([0.0] * 4, [_MARGIN_ERROR_MM] * 4),
        innermost=False,
        reaches_px=_REACHES_PX,
        besides=known,
    )
    # Lines of something else would pull the cells off their places.
    agree = seen is not None and seen.merit >= _SURE_EDGES
    if seen is None or not agree or seen.solution.rms_px > max(3 * cells.rms_px, _AGREE_PX):
        return _Way(cells, with_edges=False)
    return _Way(seen.solution, with_edges=True)


def _mirrored(camera: Camera, board: Board) -> Camera | None:
    """The camera leaning to the other side; None where it hardly leans.

    What is small and seen from straight above hardly shows perspective: two places explain it, and
    how exactly each is known says nothing of the other one.
    """
    middle = camera.rotation @ centre_of(board) + camera.translation_mm
    sight_line = middle / np.linalg.norm(middle)
    normal = camera.rotation[:, 2]
    mirrored = 2 * float(sight_line @ normal) * sight_line - normal
    axis = np.cross(normal, mirrored)
    size = float(np.linalg.norm(axis))
    if size < 1e-6:
        return None
    turn = rotation_of(axis / size * np.arctan2(size, float(normal @ mirrored)))
    rotation = turn @ camera.rotation
    return Camera.of(camera.lens, rotation, middle - rotation @ centre_of(board))
