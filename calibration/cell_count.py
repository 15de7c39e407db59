"""How many cells a board has: a lattice caught anywhere on it, grown and cut until it ends.

Every cell's four sides look alike, whatever marks them. The lattice is right when its outermost
rows still show that look and the rows beyond them do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.board_pose import apart_mm
from calibration.camera import Camera, Floats
from calibration.cell_fit import CellFit, fit_cells, inside, lags, view_scale
from calibration.cell_sides import Sides, common_look, look_at_sides
from calibration.grid_pose import (
    Sight,
    board_corners,
    camera_for,
    centre_of,
    lattice_candidates,
)
from calibration.lattice_search import Found
from calibration.rectify import top_view
from calibration.segments import find_segments
from rules.lattice import Board, Lattice

_RING = 3  # rows of places that are looked at around a lattice
_SEEN = (0.35, 0.55)  # from a likeness within these bounds on a side counts as seen
_BENT = 0.1  # of the pitch: paper is bent, and lines are not drawn evenly
_HALF = 0.5  # a cell with more sides seen than this speaks for itself
_USUAL = (8, 10, 6)  # where to begin; lattices grow and shrink from there
_TRIED = 2  # places of each way of looking, for each count
_ENOUGH = 2  # counts to begin with, once one has led to cells
_ALIKE = 0.5  # median likeness of a lattice that is worth growing
_SAME = 0.1  # of the pitch: fits nearer to each other are one
_LEAST, _MOST = 3, 26
_GROWN = 5
_FINER = 0.75  # of the sides of a lattice of half the pitch: then that one is meant
_INSIDE, _BEYOND = 0.7, 0.3  # of a row's sides: surely a row of cells, surely none
_CLEAR_INSIDE, _CLEAR_BEYOND = 0.85, 0.2
_WHOLE, _MERIT, _FAIR = 0.85, 0.6, 0.22
_VISIBLE = 0.5  # of a row's sides that must be in the picture


@dataclass(frozen=True, slots=True, eq=False)
class CellCount:
    """A lattice of cells as one picture shows it, and every reason to doubt its counts."""

    board: Board
    camera: Camera
    fit: CellFit
    weakest: float  # part of the sides seen in the outermost row that shows least
    beyond: float  # the same in the row beyond that shows most
    doubts: tuple[str, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """Columns and ranks."""
        return self.board.lattice.columns, self.board.lattice.ranks

    @property
    def sure(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.doubts


def count_cells(sight: Sight, board: Board) -> CellCount | None:
    """The cells of the board in a picture; `board` says where to begin. None where there are none.

    A count that nothing speaks against ends the search; otherwise the best one is given.
    """
    segments = find_segments(sight.lab, sight.lens)
    first = max(board.lattice.columns, board.lattice.ranks)
    best: CellCount | None = None
    for number, count in enumerate(dict.fromkeys((first, *_USUAL))):
        if best is not None and number >= _ENOUGH:
            break
        start = _with_counts(board, count, count)
        known: list[CellFit] = []
        for _, found in lattice_candidates(segments, sight, start):
            for fit in _started(found[:_TRIED], sight, start):
                if any(_same(fit, other, start) for other in known):
                    continue
                known.append(fit)
                counted = _grown(fit, start, sight)
                if counted is not None and (best is None or _better(counted, best)):
                    best = counted
                if best is not None and best.sure:
                    return best
    return best


def _better(one: CellCount, other: CellCount) -> bool:
    return (-len(one.doubts), one.fit.merit) > (-len(other.doubts), other.fit.merit)


def _same(one: CellFit, other: CellFit, board: Board) -> bool:
    apart = apart_mm(one.solution.camera, other.solution.camera, board)
    return apart < _SAME * board.lattice.pitch_mm


def _with_counts(board: Board, columns: int, ranks: int) -> Board:
    """A board of other counts; cells are one pitch wide, whatever that is in millimetres."""
    old = board.lattice
    lattice = Lattice(columns, ranks, old.levels, old.pitch_mm, old.unit_mm)
    return replace(board, lattice=lattice)


def _started(found: Sequence[Found], sight: Sight, board: Board) -> list[CellFit]:
    """Lattices that look alike at most of their sides, in the most likely places."""
    fits = []
    for one in found:
        corners = board_corners(board)
        camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
        fit = None if camera is None else _fitted(camera, sight, board)
        if fit is not None and fit.inside > _ALIKE:
            fits.append(fit)
    return fits


def _fitted(camera: Camera, sight: Sight, board: Board) -> CellFit | None:
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    return fit_cells(camera, sight.lab, board, sight.doubt, trusted=trusted)


def _grown(fit: CellFit, board: Board, sight: Sight) -> CellCount | None:
    """The lattice grown or cut to where its cells end."""
    for _ in range(_GROWN):
        camera = fit.solution.camera
        finer = _finer(camera, sight, board)
        if finer is not None:
            board, camera = finer
        rows = _Rows.of(camera, sight, board)
        if rows is None:
            return None
        (left, right), (front, back) = rows.extent()
        columns, ranks = right - left, back - front
        if not (_LEAST <= columns <= _MOST and _LEAST <= ranks <= _MOST):
            return None
        if finer is None and (left, front, columns, ranks) == (0, 0, *_counts(board)):
            return _judged(fit, board, rows)
        board = _with_counts(board, columns, ranks)
        again = _fitted(_shifted(camera, left, front, board), sight, board)
        if again is None:
            return None
        fit = again
    return None


def _counts(board: Board) -> tuple[int, int]:
    return board.lattice.columns, board.lattice.ranks


def _shifted(camera: Camera, files: int, ranks: int, board: Board) -> Camera:
    """The camera for a lattice that begins so many cells farther on."""
    move = camera.rotation @ (np.array([files, ranks, 0.0]) * board.lattice.pitch_mm)
    return replace(camera, translation_mm=camera.translation_mm + move)


def _finer(camera: Camera, sight: Sight, board: Board) -> tuple[Board, Camera] | None:
    """A lattice of a half or a third of the pitch whose sides are all seen, too."""
    columns, ranks = _counts(board)
    for parts in (2, 3):
        if max(columns, ranks) * parts > _MOST:
            continue
        fine = _with_counts(board, columns * parts, ranks * parts)
        # Cells keep their millimetres: the same view, from farther away.
        near = replace(camera, translation_mm=camera.translation_mm * parts)
        rows = _Rows.of(near, sight, fine)
        if rows is not None and rows.share(inside_only=True) > _FINER:
            return fine, near
    return None


def _judged(fit: CellFit, board: Board, rows: "_Rows") -> CellCount:
    weakest, beyond, unseen = rows.ends()
    columns, ranks = _counts(board)
    doubts = []
    seen = rows.share(inside_only=True)
    ends = weakest > _CLEAR_INSIDE and beyond < _CLEAR_BEYOND
    if fit.merit < (_FAIR if ends else _MERIT) or seen < _WHOLE:
        doubts.append(f"only {100 * seen:.0f} % of the borders of {columns} x {ranks} cells seen")
    if weakest < _INSIDE:
        doubts.append("its outermost row is hardly seen")
    if beyond > _BEYOND:
        doubts.append("the place beyond its outermost row looks like cells, too")
    if unseen:
        doubts.append("it reaches the edge of the picture, and may go on beyond it")
    return CellCount(board, fit.solution.camera, fit, weakest, beyond, tuple(doubts))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """How many of the sides of each place are seen, on the lattice and around it."""

    size: tuple[int, int]
    seen: Floats  # (files, ranks) from -_RING on; nan where the picture ends
    free: Floats  # the same without the sides that places beyond the lattice share with it

    @staticmethod
    def of(camera: Camera, sight: Sight, board: Board) -> "_Rows | None":
        """Looks at all places; None where hardly any is in the picture."""
        wide, deep, _ = board.lattice.size_mm
        edge = (_RING + 0.5) * board.lattice.pitch_mm
        scale = view_scale(camera, board)
        low, high = (-edge, -edge), (wide + edge, deep + edge)
        sides = look_at_sides(top_view(camera, sight.lab, low, high, scale), board.lattice, _RING)
        own = sides.part(inside(sides, board))
        size = _counts(board)
        if len(own.cells) < 2 * size[0] * size[1]:
            return None
        likeness = lags(sides, common_look(own), _BENT * board.lattice.pitch_mm).likeness
        within = inside(sides, board)
        usual = np.median(likeness[within])
        other = np.median(likeness[~within]) if not within.all() else 0.0
        # Digits and thick lines between thin ones make cells less alike, but nothing else is.
        seen = likeness > np.clip((usual + other) / 2, *_SEEN)
        facing = replace(sides, cells=sides.cells + sides.outward)
        free = within | ~inside(facing, board)
        return _Rows(
            size,
            _of_cells(sides, seen.astype(float), size),
            _of_cells(sides.part(free), seen[free].astype(float), size, least=2),
        )

    def share(self, *, inside_only: bool) -> float:
        """The part of all sides that is seen."""
        part = self.seen[_RING:-_RING, _RING:-_RING] if inside_only else self.seen
        return float(np.nanmean(part)) if np.isfinite(part).any() else 0.0

    def extent(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rectangle of places that look like cells: first and last file, and rank."""
        worth = np.nan_to_num(self.seen - _HALF, nan=0.0)
        total = np.pad(worth.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        files = len(worth)
        best, where = -1.0, ((0, self.size[0]), (0, self.size[1]))
        for a in range(files):
            for b in range(a + 1, files + 1):
                column = total[b] - total[a]
                low = np.minimum.accumulate(column)
                gain = column - low
                end = int(gain.argmax())
                if gain[end] > best + 1e-9:
                    start = int(np.flatnonzero(column[: end + 1] == low[end])[-1])
                    best = float(gain[end])
                    where = ((a - _RING, b - _RING), (start - _RING, end - _RING))
        return where

    def ends(self) -> tuple[float, float, bool]:
        """The weakest outermost row, the strongest row beyond, and whether one is out of sight."""
        files, ranks = self.size
        across = self.free[:, _RING:-_RING], self.free[_RING:-_RING].T
        weakest, beyond, unseen = 1.0, 0.0, False
        for rows, count in zip(across, (files, ranks), strict=True):
            for own, next_one in ((_RING, _RING - 1), (_RING + count - 1, _RING + count)):
                weakest = min(weakest, _mean_but_for_a_piece(rows[own]))
                if np.isfinite(rows[next_one]).mean() < _VISIBLE:
                    unseen = True
                else:
                    beyond = max(beyond, _mean(rows[next_one]))
        return weakest, beyond, unseen


def _mean_but_for_a_piece(row: Floats) -> float:
    """The mean without the few places that a piece and its shadow may cover."""
    return _mean(np.sort(row)[len(row) // 4 :])


def _mean(row: Floats) -> float:
    return float(np.nanmean(row)) if np.isfinite(row).any() else 0.0


def _of_cells(sides: Sides, seen: Floats, size: tuple[int, int], least: int = 3) -> Floats:
    """The part of each place's sides that is seen; nan where too few are in view."""
    shape = size[0] + 2 * _RING, size[1] + 2 * _RING
    total, count = np.zeros(shape), np.zeros(shape)
    at = tuple((sides.cells + _RING).astype(int).T)
    np.add.at(total, at, seen)
    np.add.at(count, at, 1.0)
    return np.where(count >= least, total / np.maximum(count, 1), np.nan)
