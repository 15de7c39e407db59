"""The pose from the board's outline or frame, where no lattice is to be seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.dense_search import dense_frames
from calibration.frame_glance import FrameGlance
from calibration.grid_pose import Sight, board_corners, camera_for, centre_of, has_frame
from calibration.lattice_search import Found, Shape, find_rectangles
from calibration.outline_fit import (
    DRAWN_WORTH,
    OutlineFit,
    Plan,
    fit_outline,
    frame_plan,
    outline_plan,
)
from calibration.plainness import with_plainness
from calibration.quads import place_camera
from calibration.rectify import Plane
from calibration.segments import Segments, vanishing_points
from calibration.solve import SizePrior, solve
from calibration.standing_out import of_one_wood, rails_alike, seen_nowhere_else, stands_out
from rules.lattice import Board, Millimetres

_MOST_TRIED = 8
_MOST_COMPARED, _MOST_KEPT = 60, 10
_FRAME_GUESSES = (0.6, 0.8, 1.0, 1.3)  # heights of a frame, in units, where nobody measured it
_WIDTHS = tuple(range(6, 31, 3))  # widths of a frame in mm, likewise
_BEST_STARTS, _SAME = 26, 0.005  # of the picture's width
_THICK_MM = (2.5, 1.5)  # usual felts and boards, whose side faces look like their top, and spread
_PAPER_MM = (0.2, 0.2)
_BOTTOM_MM = 4.0  # how thick the bottom of a frame may be, and how far off the fit
_TAKEN_FOR_ONE_PX = 10.0  # apart, two edges may be
_FLOATS_MM = 2.0  # what a fit may be off by chance
_ROUND_MM, _PLAY_MM = 0.4, 0.5  # how rounded a frame's edges are, how loosely pieces lie in it
_LEAST_HIDDEN_MM, _MOST_HIDDEN = 2.0, 0.4  # what walls hide of the floor; of its shorter side
_PLAIN = 0.05  # of the picture's width: plain squares of a cloth are smaller
CUT_MM = 1.1  # how exactly margins are usually kept: felt is cut by scissors, and stretches


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """One way to read a rectangle: from where it would be seen, and with which sizes."""

    camera: Camera
    sizes: tuple[float, float]
    score: float


def rectangles(
    segments: Segments, sight: Sight, sizes: Sequence[tuple[float, float]]
) -> list[list[Found]]:
    """For each size, different rectangles of its shape among the lines, the best drawn first."""
    shapes = [Shape(size, sight.lens, sight.lens_known) for size in sizes]
    points = vanishing_points(segments, 2 / sight.lens.focal_px)
    found: list[list[Found]] = [[] for _ in sizes]
    square = all(abs(wide - deep) < 0.01 * deep for wide, deep in sizes)
    for a in range(len(points)):
        for b in range(len(points)):
            if a < b or (a > b and not square):
                for have, more in zip(
                    found, find_rectangles(segments, points[a], points[b], shapes), strict=True
                ):
                    have.extend(more)
    return [_unlike(sorted(f, key=lambda one: -one.score), most=_MOST_COMPARED) for f in found]


def by_standing_out(found: Sequence[Found], sight: Sight, board: Board) -> list[Found]:
    """Rectangles that differ from what lies around them first: squares of a cloth do not."""
    views = _views(sight, board)
    looks = [_thing(views, one.corners, sight.lens) for one in found]
    worth = [one.score * (DRAWN_WORTH + look.out) for one, look in zip(found, looks, strict=True)]
    return [found[k] for k in np.argsort(-np.array(worth), kind="stable")]


def _views(sight: Sight, board: Board) -> tuple[Plane, Plane]:
    """The picture, and what it shows besides: which places are plain, as felts on a cloth are.

    The sheet of a row of cells is no plain thing, and hardly larger than a cloth's plain squares.
    """
    if has_frame(board) or min(board.lattice.columns, board.lattice.ranks) == 1:
        return sight.lab, sight.lab
    return sight.lab, with_plainness(sight.lab, _PLAIN)


class _Thing(NamedTuple):
    """How far a rectangle stands out, how rare it is, and how much more so by being plain."""

    out: float
    rare: float
    plain: float


def _thing(views: tuple[Plane, Plane], corners: Floats, lens: Lens) -> _Thing:
    """What tells a thing from a pattern: its colours, or that nothing else there is so plain.

    Squares of a cloth are plain between their lines, but all of them are.
    """
    out, plain_out = (stands_out(view, corners, lens) for view in views)
    rare, plain_rare = (seen_nowhere_else(view, corners, lens) for view in views)
    plain = plain_out * plain_rare
    return _Thing(max(out, plain), max(rare, plain_rare), max(0.0, plain - out * rare))


def taking_turns(*lists: Sequence[Found]) -> list[Found]:
    """Different rectangles of several lists, the best of each first."""
    rows = zip_longest(*lists)
    return _unlike([one for row in rows for one in row if one is not None])


def _unlike(found: list[Found], apart: float = 0.008, most: int = _MOST_KEPT) -> list[Found]:
    kept: list[Found] = []
    turned = np.empty((8 * most, 4, 2))  # what is kept, from each corner and either way round
    for one in found:
        if (np.abs(turned[: 8 * len(kept)] - one.corners).max(axis=(1, 2)) > apart).all():
            ways = (np.roll(one.corners[::way], k, axis=0) for way in (1, -1) for k in range(4))
            turned[8 * len(kept) : 8 * len(kept) + 8] = list(ways)
            kept.append(one)
        if len(kept) == most:
            break
    return kept


def outline_size(board: Board) -> tuple[float, float]:
    """Width and depth of the board with its margins."""
    wide, deep, _ = board.lattice.size_mm
    left, front, right, back = board.margin_mm
    return wide + left + right, deep + front + back


def fit_outlines(found: Sequence[Found], sight: Sight, board: Board) -> list[OutlineFit]:
    """The board's outline in every likely place, the most convincing first."""
    corners = board_corners(board, board.margin_mm)
    plan = outline_plan(corners)
    thick = _PAPER_MM if min(board.lattice.columns, board.lattice.ranks) == 1 else _THICK_MM
    views = _views(sight, board)
    fits = []
    for one in found[:_MOST_TRIED]:
        camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
        fit = None if camera is None else _fit(camera, sight, plan, thick)
        if fit is not None:
            seen = fit.solution.camera
            around = seen.lens.undistort(seen.project(corners))
            look = _thing(views, around, seen.lens)
            fits.append(replace(fit, stands_out=look.out, rare=look.rare, plain=look.plain))
    fits.sort(key=lambda f: -f.merit * f.likely)
    return fits


def _fit(
    camera: Camera, sight: Sight, plan: Plan, thickness: tuple[float, float]
) -> OutlineFit | None:
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    thick, error = thickness
    fit = fit_outline(camera, sight, plan, sizes=((thick,), (error,)))
    if fit is None:
        return None
    # Nobody cuts a felt to the tenth of a millimetre: what is told of the error must know that.
    prior = SizePrior(
        np.array([thick - fit.sizes[0], 0, 0, 0, 0]), np.array([error, *[CUT_MM] * 4])
    )
    loose = solve(
        fit.solution.camera, fit.evidence_with_margins(), sight.doubt, trusted=trusted, sizes=prior
    )
    return replace(fit, solution=loose)


def fit_frames(
    found: Sequence[Found], segments: Segments, sight: Sight, board: Board
) -> list[OutlineFit]:
    """The frame in every likely place, whichever of its edges the rectangles are."""
    wide, deep, _ = board.lattice.size_mm
    unit = board.lattice.unit_mm[2]
    heights = _guesses(board.frame_height_mm, [g * unit for g in _FRAME_GUESSES])
    widths = _guesses(board.frame_width_mm, list(_WIDTHS))
    glance = FrameGlance(sight.lab, (wide, deep))

    def ways(one: Found, grow: float, height: float, widths: Sequence[float]) -> Iterator[Start]:
        corners = board_corners(board, (grow,) * 4) + np.array([0, 0, height])
        camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
        if camera is not None:
            for width in widths:
                score = glance.score(camera, height, width)
                yield Start(camera, (height, width), score)

    def floors(one: Found, height: float) -> Iterator[Start]:
        camera = camera_of_floor(one, height, sight, board)
        if camera is not None:
            for width in widths:
                yield Start(camera, (height, width), glance.score(camera, height, width))

    by_rectangle: list[list[Start]] = []
    shape = Shape((wide, deep), sight.lens, sight.lens_known)
    points = vanishing_points(segments, 2 / sight.lens.focal_px)
    for one, part in dense_frames(sight.lab, points, shape, [w / wide for w in widths]):
        by_rectangle.append([s for h in heights for s in ways(one, 0.0, h, [part * wide])])
    for one in found:
        by_rectangle.append([s for h in heights for s in ways(one, 0.0, h, widths)])
        by_rectangle[-1] += [s for h in heights for w in widths for s in ways(one, w, h, [w])]
        by_rectangle[-1] += [s for h in heights for s in floors(one, h)]
    for starts in by_rectangle:
        starts.sort(key=_by_score)
    errors = (
        0.4 if isinstance(board.frame_height_mm, (int, float)) else 0.3 * unit,
        0.6 if isinstance(board.frame_width_mm, (int, float)) else 6.0,
        _BOTTOM_MM,
    )

    starts = _apart(best_and_each_in_turn(by_rectangle), board)
    tried = [_fit_frame(start, sight, board, errors) for start in starts]
    return sorted((fit for fit in tried if fit is not None), key=_by_standing)


def camera_of_floor(one: Found, height: float, sight: Sight, board: Board) -> Camera | None:
    """The camera to which a rectangle is what it sees of the floor between walls of a height.

    Walls on its own side hide a part of the floor: there the rectangle ends at their upper edge.
    """
    corners = board_corners(board)
    wide, deep, _ = board.lattice.size_mm
    camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
    for _ in range(2):  # what is hidden follows from where the camera stands
        if camera is None or camera.position_mm[2] <= height:
            return None
        x, y, z = camera.position_mm
        beyond = np.array([-x, -y, x - wide, y - deep])  # left, front, right, back
        hidden = np.maximum(beyond, 0.0) * height / (z - height)
        if not _LEAST_HIDDEN_MM < hidden.max() < _MOST_HIDDEN * min(wide, deep):
            return None
        left, front, right, back = (-hidden).tolist()
        seen = board_corners(board, (left, front, right, back))
        places = sight.lens.undistort(camera.project(seen))
        order = np.linalg.norm(one.corners - places[:, None], axis=2).argmin(axis=1)
        if len(set(order.tolist())) < len(order):
            return None
        camera = place_camera(one.corners[order], seen, sight.lens, sight.doubt, one.factor)
    return camera


def _fit_frame(
    start: Start, sight: Sight, board: Board, errors: tuple[float, float, float]
) -> OutlineFit | None:
    """The frame as it is seen from about there; None where it could not be made of wood."""
    wide, deep, unit = *board.lattice.size_mm[:2], board.lattice.unit_mm[2]

    def fitted(plan: Plan) -> OutlineFit | None:
        return fit_outline(
            start.camera,
            sight,
            plan,
            sizes=((*start.sizes, 0.0), errors),
            innermost=False,
            reaches_px=(7, 5, 4, 4, 3, 3),
        )

    fit = fitted(frame_plan(wide, deep))
    if fit is not None and float(fit.sizes[2]) < -_BOTTOM_MM and _from_high_above(start, board):
        fit = fitted(frame_plan(wide, deep, outer_feet=False))
    if fit is None or not is_of_wood(fit.sizes, unit):
        return None
    loose = _loose(fit, sight, start.sizes, errors)
    height, width, bottom = (float(size) for size in loose.sizes)
    where = sight.lab, loose.solution.camera, (wide, deep), height, width
    alike = rails_alike(*where) * of_one_wood(*where) * _on_the_table(bottom)
    return replace(loose, stands_out=alike)


def _from_high_above(start: Start, board: Board) -> bool:
    """Whether both edges of an outer wall in sight are seen within reach of each other."""
    wide, deep, _ = board.lattice.size_mm
    sizes = np.array([*start.sizes, 0.0])
    for edge in frame_plan(wide, deep)(start.camera, sizes):
        if edge.name.startswith("outer foot"):
            middle = (edge.start_mm + edge.end_mm) / 2
            rim = middle + np.array([0.0, 0.0, start.sizes[0]])
            ends = start.camera.project(np.stack([middle, rim]))
            if float(np.linalg.norm(ends[1] - ends[0])) < _TAKEN_FOR_ONE_PX:
                return True
    return False


def _by_standing(fit: OutlineFit) -> float:
    return -fit.standing


def _on_the_table(bottom: float) -> float:
    """1 for a frame that stands no higher than its cells; less the farther it floats."""
    return 1 / (1 + max(0.0, -bottom - _FLOATS_MM) / _BOTTOM_MM)


def _by_score(start: Start) -> float:
    return -start.score


def best_and_each_in_turn(by_rectangle: Sequence[Sequence[Start]]) -> list[Start]:
    """The best ways to read any rectangle, and in between the best ways of each in turn.

    Squares of a cloth can be read in many ways that all look good; a frame's own rectangle
    would not come to its turn.
    """
    best = sorted((s for starts in by_rectangle for s in starts), key=_by_score)
    rows = zip_longest(*by_rectangle)
    each = [s for row in rows for s in sorted((s for s in row if s is not None), key=_by_score)]
    return [start for both in zip(best, each, strict=True) for start in both]


def _apart(starts: Sequence[Start], board: Board) -> list[Start]:
    """The best of some ways to read a rectangle, each seen elsewhere than those before."""
    kept: list[Start] = []
    taken: list[Floats] = []
    for start in starts:
        height, width = start.sizes
        outer = board_corners(board, (width,) * 4) + np.array([0.0, 0.0, height])
        corners = start.camera.project(np.concatenate([board_corners(board), outer]))
        if all(np.abs(corners - other).max() > _SAME * start.camera.size[0] for other in taken):
            kept.append(start)
            taken.append(corners)
        if len(kept) == _BEST_STARTS:
            break
    return kept


def _loose(
    fit: OutlineFit, sight: Sight, expected: tuple[float, float], errors: tuple[float, ...]
) -> OutlineFit:
    """The fit with as much doubt of its edges as wood deserves."""
    camera = fit.solution.camera
    count = len(fit.lines)
    prior = SizePrior(
        np.concatenate([np.array([*expected, 0.0]) - fit.sizes, np.zeros(count + 1)]),
        np.array([*errors, *[_ROUND_MM] * count, _PLAY_MM]),
    )
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    loose = solve(camera, fit.evidence_with_slack(), sight.doubt, trusted=trusted, sizes=prior)
    return replace(fit, solution=loose, sizes=fit.sizes + loose.sizes[:3])


def is_of_wood(sizes: Floats, unit: float) -> bool:
    """Whether a frame of these sizes can be made of wood, and stands on the table.

    Nothing stands higher than its cells, but for what the fit may be off.
    """
    height, width, bottom = sizes
    return bool(0.3 * unit < height < 3 * unit and width > 0.25 * unit and bottom > -_BOTTOM_MM)


def _guesses(given: Millimetres | None, otherwise: list[float]) -> list[float]:
    return [float(given)] if isinstance(given, (int, float)) else otherwise
