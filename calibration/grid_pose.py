"""The pose from the board's own lattice: every likely place is tried, the best one is judged."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.cell_fit import CellFit, fit_cells
from calibration.cell_search import cell_lattices
from calibration.contour_search import contour_rectangles
from calibration.dense_search import dense_lattices
from calibration.lattice_search import Found, Shape, find_lattices
from calibration.quads import clock_of, hours_apart, place_camera, seen_from_above
from calibration.rectify import Plane
from calibration.segments import Segments, vanishing_points
from calibration.solve import LensDoubt
from rules.lattice import Board

Say = Callable[[str], None]  # tells what is looked for, for those who wait

_MOST_TRIED = 6
_MOST_FITTED = 3
_WORTH = 0.6  # of the best fit: what begins worse is not followed
_CLOSER = (0.2, 0.12, 0.08, 0.06)  # of the pitch: how far off borders are looked for
_WORTH_STRETCHING = 1.1  # merit against that of square cells, which tell much more of the lens
_ASIDE_MM = (-2.0, 2.0)  # as far as rim and foot of usual hollows are seen apart
_FAIR, _STRETCH, _MOST_STRETCHED = 0.45, 0.08, 3


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """One camera's picture and what is known of the camera."""

    lab: Plane
    lens: Lens
    doubt: LensDoubt
    clock: float

    @property
    def lens_known(self) -> bool:
        """Whether the lens was measured."""
        return self.doubt.focal < 0.06


def board_corners(board: Board, grow: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Floats:
    """The corners of the cell area (4, 3), grown left, front, right, back; a1's first."""
    wide, deep, _ = board.lattice.size_mm
    left, front, right, back = grow
    low, high = (-left, -front), (wide + right, deep + back)
    return np.array(
        [[low[0], low[1], 0], [high[0], low[1], 0], [high[0], high[1], 0], [low[0], high[1], 0.0]]
    )


def camera_for(
    corners: Floats, corners_mm: Floats, sight: Sight, centre_mm: Floats, factor: float
) -> Camera | None:
    """The camera that sees these corners, of the up to four possible ones the nearest to the clock.

    Where the two sides differ in length only half turns of the board are possible.
    """
    wide = float(np.ptp(corners_mm[:, 0]))
    deep = float(np.ptp(corners_mm[:, 1]))
    around = seen_from_above(corners)

    def turned(turn: int) -> Camera | None:
        rolled = np.roll(around, -turn, axis=0)
        return place_camera(rolled, corners_mm, sight.lens, sight.doubt, factor)

    # The first side is along the files, whichever way round the corners are told.
    turns = (0, 1, 2, 3) if abs(wide - deep) < 0.01 * max(wide, deep) else (0, 2)
    first = turned(0)
    if first is None:
        return None
    # Each quarter turn of the board takes the camera three hours on.
    hour = clock_of(first, centre_mm)
    best = min(turns, key=lambda turn: hours_apart(hour + 3 * turn, sight.clock))
    return first if best == 0 else turned(best)


def lattice_candidates(
    segments: Segments, sight: Sight, board: Board
) -> Iterator[tuple[str, list[Found]]]:
    """Lattices of the board's counts by each way of looking, the quickest way first."""
    lattice = board.lattice
    counts = (lattice.columns, lattice.ranks)
    wide, deep, _ = lattice.size_mm
    shape = Shape((wide, deep), sight.lens, sight.lens_known)
    points = vanishing_points(segments, 2 / sight.lens.focal_px)
    by_lines: list[Found] = []
    for a in range(len(points)):
        for b in range(len(points)):
            if a == b or (counts[0] == counts[1] and a > b):
                continue
            by_lines.extend(find_lattices(segments, points[a], points[b], counts, shape))
    by_lines.sort(key=lambda f: -f.score)
    yield "lines", by_lines
    yield "fields", cell_lattices(sight.lab, counts, shape)
    yield "pattern", dense_lattices(sight.lab, points, counts, shape)
    yield "outlines", contour_rectangles(sight.lab, shape, plain=not has_frame(board))


def has_frame(board: Board) -> bool:
    """Whether the board's edge is a frame: no plain field, for the floor within one may be any."""
    return board.frame_height_mm is not None or board.frame_width_mm is not None


def centre_of(board: Board) -> Floats:
    """The middle of the cell area."""
    wide, deep, _ = board.lattice.size_mm
    return np.array([wide / 2, deep / 2, 0.0])


def fit_lattices(
    candidates: Iterable[tuple[str, Sequence[Found]]],
    sight: Sight,
    board: Board,
    say: Say,
    *,
    stretch: bool = True,
) -> list[CellFit]:
    """The most likely lattices fitted to the cells, the most convincing first.

    `candidates` come from different ways of looking; the first convincing fit ends the search.
    Without one, cells that are not quite square are looked for as well: somebody may have had to
    `stretch` the picture.
    """
    fits: list[CellFit] = []
    seen: list[Sequence[Found]] = []
    for name, found in candidates:
        say(f"cells by their {name}: {len(found)} places")
        seen.append(found)
        fits.extend(_fits(found, sight, board, fits, _MOST_TRIED))
        fits.sort(key=lambda f: -f.merit)
        if fits and fits[0].convincing:
            return fits
    if stretch and not sight.lens_known and (not fits or fits[0].merit < _FAIR):
        # Printed grids whose cells are not quite square, and pictures that somebody stretched.
        say("cells that are not quite square")
        loose = replace(sight, doubt=replace(sight.doubt, aspect=_STRETCH))
        square = list(fits)
        for found in seen:
            stretched = _fits(found, loose, board, fits, _MOST_STRETCHED)
            fits.extend(fit for fit in stretched if _worth_stretching(fit, square, board))
        fits.sort(key=lambda f: -f.merit)
    return fits


def _worth_stretching(fit: CellFit, square: Sequence[CellFit], board: Board) -> bool:
    """Whether no fit of square cells in the same place is nearly as good: it tells much more."""
    corners = board_corners(board)
    seen = fit.solution.camera.project(corners)
    near = 0.5 * board.lattice.pitch_mm
    for other in square:
        off = np.linalg.norm(other.solution.camera.back_project(seen) - corners, axis=1)
        if fit.merit < _WORTH_STRETCHING * other.merit and (off < near).all():
            return False
    return True


def _fits(
    found: Sequence[Found], sight: Sight, board: Board, known: Sequence[CellFit], most: int
) -> list[CellFit]:
    """Fits from the best of some candidates, ending with the first convincing one."""
    corners = board_corners(board)
    starts: list[CellFit] = []
    tried = 0
    for one in found:
        if tried == most:
            break
        if any(_same_place(one, f, sight, board) for f in (*known, *starts)):
            continue
        camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
        if camera is None:
            continue
        tried += 1
        start = rough_cells(camera, sight, board)
        if start is not None:
            starts.append(start)
    starts.sort(key=lambda f: -f.merit)
    fits: list[CellFit] = []
    best = max((f.merit for f in known), default=0.0)
    for start in starts[:_MOST_FITTED]:
        if start.merit < _WORTH * best:
            break
        fit = settled_cells(start.solution.camera, sight, board)
        if fit is not None:
            fits.append(fit)
            best = max(best, fit.merit)
            if fit.convincing:
                break
    return fits


def rough_cells(camera: Camera, sight: Sight, board: Board) -> CellFit | None:
    """A first quick fit to the cells, enough to compare places."""
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    return fit_cells(
        camera, sight.lab, board, sight.doubt, trusted=trusted, rounds=(0.25, 0.2), coarse=True
    )


def settled_cells(camera: Camera, sight: Sight, board: Board) -> CellFit | None:
    """The exact fit that a rough place leads to.

    The rim of hollows is easily taken for their foot, which lies beside it: of what is fitted from
    around the place, all sides look alike only where they are what they seem to be.
    """
    fits = []
    for aside in (0.0,) if board.recess_mm is None else (0.0, *_ASIDE_MM):
        start = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
        moved = _towards_eye(camera, aside, board) if aside else camera
        fit = fit_cells(moved, sight.lab, board, sight.doubt, trusted=start, rounds=_CLOSER)
        if fit is not None:
            fits.append(fit)
    return max(fits, key=lambda fit: fit.merit, default=None)


def _towards_eye(camera: Camera, by_mm: float, board: Board) -> Camera:
    """The camera that would see the board so much nearer to it."""
    way = camera.position_mm - centre_of(board)
    way[2] = 0.0
    way *= by_mm / (np.linalg.norm(way) + 1e-9)
    return replace(camera, translation_mm=camera.translation_mm - camera.rotation @ way)


def _same_place(one: Found, fit: CellFit, sight: Sight, board: Board) -> bool:
    """Whether a good fit already covers what a candidate would lead to."""
    if fit.merit < _FAIR:
        return False
    there = fit.solution.camera.project(board_corners(board))
    here = sight.lens.distort(one.corners)
    apart = min(
        float(np.abs(np.roll(here[::way], turn, axis=0) - there).max())
        for way in (1, -1)
        for turn in range(4)
    )
    size = float(np.hypot(*np.ptp(there, axis=0)))
    return bool(apart < 0.2 * size / max(board.lattice.columns, board.lattice.ranks))
