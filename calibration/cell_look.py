"""What all cells show in the same place - dots, bars, faint lines - and where each shows it.

Borders may be too faint to be seen one by one, or look different on each side of a wall. But a
board's cells are alike: wherever one shows some edge, so do the others, a pitch away.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.cell_fit import depth_prior
from calibration.grid_pose import Sight
from calibration.look_extent import spans
from calibration.rectify import Plane, top_view
from calibration.solve import Evidence, SizePrior, Solution, solve
from rules.cells import Cell
from rules.lattice import Board

_ELEMENTS, _FINE = 24, 48  # of a cell, along each axis
_REACH = 7  # elements that a cell may lie beside its place
_SOFT = (2.5, 1.8, 1.2, 0.8)  # elements, in each round: what is soft may lie farther off
_ALIKE, _USED = 0.5, 0.35  # from this likeness on a cell counts as like the others; and is used
_LOUD = 2.0  # times the usual change: louder edges count for no more
_HIDDEN = 0.1  # of the board that may be out of the picture
_LEAST_CELLS, _SETTLE = 6, 3
_OFF_PX = 0.3  # how exactly one cell's place is seen
_SHIFT, _SHIFT_MM = 0.3, 0.8  # where in its cell the look lies: of the pitch, and once it is seen
_SPAN = (-0.5, 0.25)  # cells by which what is seen of the look may be shorter or longer
_PARTS = (2, 3)  # into which a cell must not fall: then it is several


@dataclass(frozen=True, slots=True, eq=False)
class CellLook:
    """A camera fitted to what all cells have in common, and how surely they are the board's."""

    solution: Solution
    likeness: Floats  # (ranks, columns) of each cell with the others
    beyond: float  # part of the places around the board that look like its cells
    several: float  # how much a part of a cell looks like the other parts
    whole: bool  # whether the look begins and ends with the board

    @property
    def seen(self) -> float:
        """The part of the cells that look like the others."""
        return float((self.likeness > _ALIKE).mean())

    @property
    def unlike(self) -> tuple[Cell, ...]:
        """The cells that look unlike the others."""
        ranks, files = np.nonzero(self.likeness <= _ALIKE)
        return tuple(Cell(int(f), int(r)) for f, r in zip(files, ranks, strict=True))

    @property
    def merit(self) -> float:
        """For choosing among fits: 1 where all cells look the same, and nothing around does."""
        return float(np.median(self.likeness)) * self.seen * (1 - self.beyond)


def glance(camera: Camera, sight: Sight, board: Board) -> float:
    """How alike the cells would look from a rough place, and nothing around them."""
    cells = _patches(camera, sight.lab, board, _SOFT[0])
    if cells is None:
        return 0.0
    own, around = cells
    likeness = float(np.mean(_compared(own)[1]))
    return likeness * (1 - _beyond(own, around)) if likeness > _ALIKE else 0.0


def fit_looks(camera: Camera, sight: Sight, board: Board) -> CellLook | None:
    """The camera to which all cells look alike; None where too few of them do.

    Cells that are alike are so from a place beside it as well: only where the look begins and
    ends tells which of these it is.
    """
    wide = _SHIFT * board.lattice.pitch_mm
    rounds = [(soft, wide) for soft in _SOFT] + [(_SOFT[-1], _SHIFT_MM)] * _SETTLE
    for number, (soft, shift_mm) in enumerate(rounds, 1):
        if shift_mm < wide:
            shift = _shift(camera, sight, board)
            if shift is None:
                return None
            camera = _moved(camera, shift[0])
        cells = _patches(camera, sight.lab, board, soft)
        if cells is None:
            return None
        off, likeness = _compared(cells[0])
        solution = _solved(camera, sight, board, off, likeness.ravel(), shift_mm)
        if solution is None:
            return None
        if number == len(rounds):
            return _judged(solution, cells, likeness, sight, board)
        camera = solution.camera
    return None


def _judged(
    solution: Solution,
    cells: tuple[NDArray[np.float32], NDArray[np.float32]],
    likeness: Floats,
    sight: Sight,
    board: Board,
) -> CellLook:
    own, around = cells
    shift = _shift(solution.camera, sight, board)
    middle = own.mean(axis=(0, 1))[_REACH:-_REACH, _REACH:-_REACH]
    several = max(_like_its_parts(middle, parts) for parts in _PARTS)
    whole = shift is not None and shift[1]
    return CellLook(solution, likeness, _beyond(own, around), several, whole)


def _beyond(own: NDArray[np.float32], around: NDArray[np.float32]) -> float:
    """The part of the places around the board that look like its cells."""
    look = own.mean(axis=(0, 1))
    return float(np.mean([_found_in(cell, look)[1] > _ALIKE for cell in around]))


def _changes(
    camera: Camera, lab: Plane, board: Board, soft: float, elements: int
) -> NDArray[np.float32] | None:
    """Bounded change across both axes, seen from above, with more than a cell around the board."""
    pitch = board.lattice.pitch_mm
    scale = elements / pitch
    edge = pitch + (_REACH + 1) / scale
    wide, deep, _ = board.lattice.size_mm
    rim = (depth_prior(board) or (0.0, 0.0))[0]
    view = top_view(camera, lab, (-edge, -edge), (wide + edge, deep + edge), scale, rim)
    unseen = np.asarray(~np.isfinite(view.lab).all(axis=2), np.uint8)
    within = slice(elements, -elements)
    if unseen[within, within].mean() > _HIDDEN:
        return None
    colours = cv2.GaussianBlur(np.nan_to_num(view.lab), (0, 0), soft)
    hidden = np.asarray(cv2.dilate(unseen, np.ones((5, 5), np.uint8))) > 0
    planes = []
    for way in ((1, 0), (0, 1)):
        slope = np.linalg.norm(cv2.Sobel(colours, cv2.CV_32F, *way, scale=0.125), axis=2)
        bound = _LOUD * float(np.median(slope[within, within])) + 1e-3
        planes.append(np.where(hidden, 0, slope / (slope + bound)))
    return np.stack(planes, axis=-1).astype(np.float32)


def _patches(
    camera: Camera, lab: Plane, board: Board, soft: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """The changes in each cell (ranks, columns, n, n, 2) and in each place around the board."""
    changes = _changes(camera, lab, board, soft, _ELEMENTS)
    if changes is None:
        return None
    size = _ELEMENTS + 2 * _REACH
    every = np.lib.stride_tricks.sliding_window_view(changes[1:, 1:], (size, size), axis=(0, 1))
    count = (board.lattice.ranks + 2, board.lattice.columns + 2)
    places = np.moveaxis(every[::_ELEMENTS, ::_ELEMENTS][: count[0], : count[1]], 2, -1)
    rim = np.concatenate([places[0], places[-1], places[1:-1, 0], places[1:-1, -1]])
    return places[1:-1, 1:-1], rim


def _compared(cells: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Where in each cell lies what the others show (N, 2), in cells, and how alike that is."""
    ranks, columns = cells.shape[:2]
    flat = cells.reshape(-1, *cells.shape[2:])
    total = flat.sum(axis=0)
    off, likeness = np.zeros((len(flat), 2)), np.zeros(len(flat))
    for k, cell in enumerate(flat):
        # Compared with itself as well anything would look alike.
        off[k], likeness[k] = _found_in(cell, (total - cell) / (len(flat) - 1))
    return off, likeness.reshape(ranks, columns)


def _found_in(cell: NDArray[np.float32], look: NDArray[np.float32]) -> tuple[Floats, float]:
    part = np.ascontiguousarray(look[_REACH:-_REACH, _REACH:-_REACH])
    found = cv2.matchTemplate(np.ascontiguousarray(cell), part, cv2.TM_CCOEFF_NORMED)
    score = np.nan_to_num(np.asarray(found, dtype=np.float64))
    row, column = np.unravel_index(int(score.argmax()), score.shape)
    at = np.array([_peak(score[row], int(column)), _peak(score[:, column], int(row))])
    return (at - _REACH) / _ELEMENTS, float(score[row, column])


def _peak(scores: Floats, best: int) -> float:
    """Where between its elements a row is highest."""
    if not 0 < best < len(scores) - 1:
        return float(best)
    left, middle, right = (float(s) for s in scores[best - 1 : best + 2])
    bend = left - 2 * middle + right
    return best + (0.5 * (left - right) / bend if bend < -1e-9 else 0.0)


def _like_its_parts(look: NDArray[np.float32], parts: int) -> float:
    """How alike a cell's look is when it is moved by a part of a cell, along its worse axis."""
    step = _ELEMENTS // parts
    flat = (look - look.mean(axis=(0, 1))).ravel()
    moved = (np.roll(look, step, axis=axis) for axis in (0, 1))
    return min(float(np.corrcoef(flat, (m - m.mean(axis=(0, 1))).ravel())[0, 1]) for m in moved)


def _shift(camera: Camera, sight: Sight, board: Board) -> tuple[Floats, bool] | None:
    """How far from the middle of what shows the common look the board is, and if its size fits."""
    changes = _changes(camera, sight.lab, board, _FINE / _ELEMENTS * _SOFT[-1], _FINE)
    if changes is None:
        return None
    counts = np.array([board.lattice.columns, board.lattice.ranks])
    first = 1 + _REACH
    seen = spans(changes[first:, first:], board.lattice, _FINE)
    longer = seen[:, 1] - seen[:, 0] - counts
    fits = bool((longer > _SPAN[0]).all() and (longer < _SPAN[1]).all())
    return (seen.sum(axis=1) - counts) / 2 * board.lattice.pitch_mm, fits


def _moved(camera: Camera, shift_mm: Floats) -> Camera:
    """The camera for a board that begins so much farther on."""
    move = camera.rotation @ np.append(shift_mm, 0.0)
    return replace(camera, translation_mm=camera.translation_mm + move)


def _solved(
    camera: Camera, sight: Sight, board: Board, off: Floats, likeness: Floats, shift_mm: float
) -> Solution | None:
    """Middles of cells shifted to where the picture shows them; how far all are is a prior."""
    lattice = board.lattice
    height, error = depth_prior(board) or (0.0, 1e-3)
    files, ranks = np.meshgrid(np.arange(lattice.columns), np.arange(lattice.ranks))
    middle = (np.stack([files.ravel(), ranks.ravel()], axis=1) + 0.5) * lattice.pitch_mm
    keep = (likeness > _USED) & (np.abs(off) < _REACH / _ELEMENTS).all(axis=1)
    if keep.sum() < _LEAST_CELLS:
        return None
    at = np.column_stack([middle, np.full(len(middle), height)])[keep]
    moved = at + np.column_stack([off * lattice.pitch_mm, np.zeros(len(off))])[keep]
    shown = Evidence.of_points(at, camera.project(moved), _OFF_PX)
    shape = np.broadcast_to(np.eye(3), (len(shown.px), 3, 3)).copy()
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    sizes = SizePrior(np.zeros(3), np.array([shift_mm, shift_mm, error]))
    return solve(camera, replace(shown, shape=shape), sight.doubt, trusted=trusted, sizes=sizes)
