"""How large a piece is against its cell, from one cube that stands on one of the cells.

What the board looks like without the piece is put together from its other cells; the edges of a
cube of any size are then looked for in what is new.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.rectify import Plane, top_view
from rules.cells import Cell
from rules.lattice import Board

_ELEMENTS = 48  # of a cell's picture, along each side
_STANDS_OUT = 3.0  # times the usual difference between two cells
_MOST_CELLS = 3
_SIZES = np.arange(0.46, 1.011, 0.03)  # of the pitch
_OFF = 0.24  # of the pitch: how far beside the middle a piece may stand
_TWISTS = np.radians((-15.0, -7.5, 0.0, 7.5, 15.0))
_FINE_TWISTS = np.radians((-3.0, 0.0, 3.0))
_STEPS = np.arange(-0.06, 0.0601, 0.01)
_ALONG = np.linspace(0.08, 0.92, 10)[:, None]
_LEAST_ERROR = 0.012
_RIM = 0.06  # of the pitch: the outermost line may be drawn beside the cells
_LOUD = 0.35
_STRANGE, _DEEPEST = 9.0, 0.35  # of colour, as in Lab; the darkest shadow
_COVERED, _COVERED_TRIED = 0.8, 10  # worth of the outline's colour against its edges
_BARE = 0.15  # of a cube's edges that must be seen beside lines
_LEAST_DRAWN = 0.7  # loudness along a cube's edges and newness within them
_RIVAL, _RIVAL_APART = 0.93, 0.08  # another size nearly as good
_DRAWN_WITHIN = 0.97  # of the best: sizes that cannot be told from it


@dataclass(frozen=True, slots=True, eq=False)
class PieceSize:
    """A cube on a cell: its edge in parts of the pitch, and how surely."""

    cell: Cell
    share: float
    error: float
    drawn: float  # how well its edges are seen, 0 to 1
    corners_mm: Floats  # (8, 3), lower four first
    doubts: tuple[str, ...]


def measure_piece(lab: Plane, camera: Camera, board: Board) -> PieceSize | None:
    """The cube that stands on a cell of an otherwise empty board; None where none is seen."""
    cells, empty = _usual_cells(lab, camera, board)
    if empty is None or not cells:
        return None
    loud, new = _news(lab, camera, board, empty)
    tried = [
        _Search(cell, camera, board, loud, _strangeness(new, cell, camera, board)).measured()
        for cell in cells
    ]
    best = max(tried, key=lambda t: t.drawn)
    return best if best.drawn > _LEAST_DRAWN else None


def _usual_cells(
    lab: Plane, camera: Camera, board: Board
) -> tuple[list[Cell], NDArray[np.float32] | None]:
    """Cells unlike the others, and the picture (2, n, n, 3) of the usual cell of either parity."""
    lattice = board.lattice
    wide, deep, _ = lattice.size_mm
    scale = _ELEMENTS / lattice.pitch_mm
    view = top_view(camera, lab, (0.0, 0.0), (wide - 0.5 / scale, deep - 0.5 / scale), scale)
    tall, long = lattice.ranks * _ELEMENTS, lattice.columns * _ELEMENTS
    if view.lab.shape[0] < tall or view.lab.shape[1] < long:
        return [], None
    parts = (
        view.lab[:tall, :long]
        .reshape(lattice.ranks, _ELEMENTS, lattice.columns, _ELEMENTS, 3)
        .swapaxes(1, 2)
    )
    odd = np.add.outer(np.arange(lattice.ranks), np.arange(lattice.columns)) % 2
    usual = np.stack([_median(parts[odd == p]) for p in (0, 1)])
    middle = slice(_ELEMENTS // 4, -(_ELEMENTS // 4))
    off = np.linalg.norm(parts - usual[odd], axis=4)[:, :, middle, middle].mean(axis=(2, 3))
    off = np.where(np.isfinite(off), off, 0.0)
    usually = float(np.median(off)) + 1.0
    strange = np.argwhere(off > _STANDS_OUT * usually)
    order = sorted(strange.tolist(), key=lambda at: -off[at[0], at[1]])
    return [Cell(file, rank) for rank, file in order[:_MOST_CELLS]], usual


def _median(cells: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.median(cells, axis=0), dtype=np.float32)


def _news(
    lab: Plane, camera: Camera, board: Board, usual: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Two maps of the picture: how much changes at each pixel, and how new its colour is.

    Where the board itself has an edge a change proves nothing: nan. Beside the cells nothing is
    known of the board: nothing is new there.
    """
    height, width = lab.shape[:2]
    u, v = np.meshgrid(np.arange(width), np.arange(height))
    places = camera.back_project(np.stack([u, v], axis=-1).astype(np.float64))
    at = places[..., :2].copy() / board.lattice.pitch_mm
    size = np.array([board.lattice.columns, board.lattice.ranks])
    at[~np.isfinite(at)] = -9.0
    around: NDArray[np.bool_] = np.all((at > -_RIM) & (at < size + _RIM), axis=2)
    cell = np.floor(at).astype(int)
    place = ((at - cell) * _ELEMENTS).astype(int).clip(0, _ELEMENTS - 1)
    which = cell.sum(axis=2) % 2, place[..., 1], place[..., 0]
    lines = np.stack([_own_edges(one) for one in usual])
    loud = _loudness(lab)
    loud[around & lines[which]] = np.nan
    new = np.where(around, _unlike(lab, usual[which]), np.nan)
    return loud, np.asarray(new, np.float32)


def _unlike(lab: Plane, empty: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far each pixel's colour is from the empty board's, whatever shadow falls on it."""
    shade = np.clip(lab[..., 0] / np.maximum(empty[..., 0], 1.0), _DEEPEST, 1.1)[..., None]
    return np.asarray(np.linalg.norm(lab - empty * shade, axis=2), np.float32)


def _strangeness(
    new: NDArray[np.float32], cell: Cell, camera: Camera, board: Board
) -> NDArray[np.float32]:
    """How much each pixel looks like what stands on a cell, 0 to 1.

    A pixel half of the piece and half of the board counts as half: blur must not make it larger.
    """
    x, y = board.lattice.centre_mm(cell)
    reach = np.linspace(-0.15, 0.15, 5) * board.lattice.pitch_mm
    spots = np.stack(np.meshgrid(x + reach, y + reach, [0.7 * board.lattice.pitch_mm]), axis=-1)
    px = np.nan_to_num(camera.project(spots.reshape(-1, 3))).round().astype(int)
    height, width = new.shape
    inner = new[px[:, 1].clip(0, height - 1), px[:, 0].clip(0, width - 1)]
    typical = float(np.nanmedian(inner)) if np.isfinite(inner).any() else 0.0
    strange = max(_STRANGE, typical / 2)
    return np.asarray(new**4 / (new**4 + strange**4), np.float32)


def _own_edges(usual: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Where the usual cell changes; its rim at least, as borders are where lines are."""
    tiled = np.tile(np.nan_to_num(usual), (3, 3, 1))
    loud = _loudness(np.asarray(tiled, np.float32))[_ELEMENTS:-_ELEMENTS, _ELEMENTS:-_ELEMENTS]
    found = np.zeros(loud.shape, dtype=np.bool_)
    found[loud > _LOUD] = True
    found[[0, -1]] = found[:, [0, -1]] = True
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Trials:
    """Cubes of one size in many places, and how well the edges of each are seen."""

    drawn: Floats  # (T,)
    places: Floats  # (T, 3) shift in x and y, twist
    size: float

    @property
    def best(self) -> tuple[float, Floats]:
        """The best of them: how well it is seen, and where it stands."""
        which = int(self.drawn.argmax())
        return float(self.drawn[which]), np.asarray(self.places[which])


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Looks for a cube around one cell."""

    cell: Cell
    camera: Camera
    board: Board
    loud: NDArray[np.float32]
    new: NDArray[np.float32]
    pieces: int = 1  # that stand on each other

    def corners(self, size: float, places: Floats) -> Floats:
        """The corners (T, 8, 3) of cubes of a size, lower four first."""
        lattice = self.board.lattice
        edge = size * lattice.pitch_mm
        square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * edge / 2
        c, s = np.cos(places[:, 2]), np.sin(places[:, 2])
        turn = np.stack([np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)], axis=-2)
        flat = square @ turn + (np.array(lattice.centre_mm(self.cell)) + places[:, :2])[:, None]
        low = np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2)
        tall = self.pieces * edge * lattice.unit_mm[2] / lattice.unit_mm[0]
        rise = np.array([0.0, 0.0, tall])
        return np.concatenate([low, low + rise], axis=1)

    def look(self, size: float, start: Floats, reach: float, steps: int, twists: Floats) -> _Trials:
        """Cubes of a size in places around one."""
        shifts = np.linspace(-reach, reach, steps)
        moves = np.stack(np.meshgrid(shifts, shifts, twists), axis=-1).reshape(-1, 3)
        places = start + moves
        corners = self.corners(size, places)
        ends, seen = _edges(corners, self.camera.position_mm)
        spots = ends[:, :, :1] * (1 - _ALONG) + ends[:, :, 1:] * _ALONG
        px = np.nan_to_num(self.camera.project(spots), nan=-9.0).astype(np.float32)
        found = cv2.remap(
            self.loud,
            px[..., 0].reshape(len(px), -1),
            px[..., 1].reshape(len(px), -1),
            cv2.INTER_NEAREST,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(np.nan,),
        ).reshape(px.shape[:3])
        told: NDArray[np.bool_] = np.isfinite(found) & seen[..., None]
        many = seen.sum(axis=1) * len(_ALONG)
        drawn = np.einsum("tes->t", np.where(told, found, 0))
        drawn = drawn / np.maximum(np.einsum("tes->t", told.astype(int)), _BARE * many)
        likely = np.argsort(-drawn)[:_COVERED_TRIED]
        covered = np.full(len(drawn), -1.0)
        covered[likely] = [self._covered(self.camera.project(corners[k])) for k in likely]
        drawn = drawn + _COVERED * covered
        return _Trials(np.asarray(drawn, dtype=np.float64), places, size)

    def _covered(self, px: Floats) -> float:
        """How much newer the picture is within a cube's outline than just around it, -1 to 1."""
        if not np.isfinite(px).all():
            return -1.0
        low = np.maximum(px.min(axis=0) - 1, 0).astype(int)
        high = px.max(axis=0).astype(int) + 2
        wide = float(np.ptp(px, axis=0).mean())
        rim = max(2, round(0.12 * wide))
        low = np.maximum(low - rim, 0)
        part = self.new[low[1] : high[1] + rim, low[0] : high[0] + rim]
        hull = cv2.convexHull(np.round(px - low).astype(np.int32))
        within = cv2.fillConvexPoly(np.zeros(part.shape, np.uint8), hull, 1)
        around = cv2.dilate(within, np.ones((2 * rim + 1, 2 * rim + 1), np.uint8)) > within
        told = np.isfinite(part)
        inner, outer = told & (within > 0), told & around
        if not inner.any() or not outer.any():
            return -1.0
        return float(part[inner].mean() - part[outer].mean())

    def best_of(self, size: float, start: Floats) -> tuple[float, Floats]:
        """The best cube of a size near a place, looked for ever closer."""
        pitch = self.board.lattice.pitch_mm
        _, place = self.look(size, start, 0.08 * pitch, 5, _FINE_TWISTS).best
        return self.look(size, place, 0.03 * pitch, 5, _FINE_TWISTS / 3).best

    def rough(self) -> list[_Trials]:
        """Cubes of all sizes, here and there around the cell."""
        reach = _OFF * self.board.lattice.pitch_mm
        return [self.look(size, np.zeros(3), reach, 7, _TWISTS) for size in _SIZES]

    def best_size(self) -> tuple[float, float]:
        """The size whose edges are seen best, and how well."""
        top = max(self.rough(), key=lambda t: float(t.drawn.max()))
        return max((self.best_of(s, top.best[1])[0], s) for s in top.size + _STEPS)[::-1]

    def measured(self) -> PieceSize:
        """The cube whose edges are seen best."""
        rough = self.rough()
        top = max(rough, key=lambda t: float(t.drawn.max()))
        sizes = top.size + _STEPS
        near = [self.best_of(s, top.best[1]) for s in sizes]
        drawn = np.array([d for d, _ in near])
        which = int(drawn.argmax())
        alike = sizes[drawn > _DRAWN_WITHIN * drawn[which]]
        share = float((alike.min() + alike.max()) / 2)
        error = float(np.hypot(np.ptp(alike) / 2, _LEAST_ERROR))
        place = near[which][1]
        doubts = []
        for other in rough:
            if other.drawn.max() > _RIVAL * drawn[which] and abs(other.size - share) > _RIVAL_APART:
                doubts.append(f"it could also be {other.size:.2f} of a cell wide")
                break
        width, stacked = replace(self, pieces=2).best_size()
        if stacked > _DRAWN_WITHIN * drawn[which]:
            doubts.append(f"it could also be two on each other, {width:.2f} of a cell wide")
        corners = self.corners(share, place[None])[0]
        return PieceSize(self.cell, share, error, float(drawn[which]), corners, tuple(doubts))


def _edges(corners: Floats, eye: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The twelve edges (T, 12, 2, 3) of cubes, and which of them the eye sees."""
    low, high = corners[:, :4], corners[:, 4:]
    next_low, next_high = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    along = next_low - low
    out = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    facing = ((eye[:2] - low[..., :2]) * out).sum(axis=-1) > 0
    top = np.stack([high, next_high], axis=2)
    upright = np.stack([low, high], axis=2)
    base = np.stack([low, next_low], axis=2)
    seen = np.concatenate(
        [np.ones_like(facing), facing | np.roll(facing, 1, axis=1), facing], axis=1
    )
    return np.concatenate([top, upright, base], axis=1), seen


def _loudness(new: Plane) -> NDArray[np.float32]:
    """How much changes at each pixel, bounded so that no single edge decides."""
    soft = cv2.GaussianBlur(new, (0, 0), 1.0)
    dx = np.linalg.norm(cv2.Sobel(soft, cv2.CV_32F, 1, 0, scale=0.125), axis=2)
    dy = np.linalg.norm(cv2.Sobel(soft, cv2.CV_32F, 0, 1, scale=0.125), axis=2)
    slope = np.hypot(dx, dy)
    return np.asarray(slope / (slope + 4.0), np.float32)
