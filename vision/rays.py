"""Sample rays of one camera: which units of the lattice each one passes, in which order.

Everything here depends on the camera and the lattice alone; it is computed once a calibration.
No picture is ever undistorted: the rays go through the full lens model.
"""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.obstacles import frame_boxes
from rules.lattice import Board, Lattice

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int32]

ZONES = (0.5, 1.0, 2.0, 3.0)  # distances from an edge, in standard deviations of placement
_STEEP = 1.702  # of the logistic curve that is nearest to the normal distribution's integral
FACES = 5  # top, then the sides towards smaller x, larger x, smaller y, larger y


@dataclass(frozen=True, slots=True, kw_only=True)
class RaySettings:
    """How densely a picture is sampled and how far pieces may stand from their places."""

    rays: int = 4500  # a camera; more see finer detail and take longer
    least_step_px: float = 2.0  # closer pixels say the same thing twice
    slop_mm: float = 1.0  # sideways, one standard deviation at the lowest level (0.5 to 3)
    slop_level_mm: float = 0.25  # more a level
    fitted_mm: float = 0.5  # what is left of both after every stack was moved to fit (0.3 to 1)
    fitted_level_mm: float = 0.15
    height_mm: float = 0.4  # up and down: pieces are as high as they are
    blur_px: float = 0.7  # lens, sharpening and calibration
    least_part: float = 0.02  # units that a ray meets less than this are left out


@dataclass(frozen=True, slots=True, eq=False)
class Rays:
    """The rays of one camera, those that pass most units first.

    Entries (a ray meets a unit) stand slot by slot: slot k holds the k-th unit, from the front, of
    rays 0 to n_k - 1. `part` is how surely the unit is met where pieces stand a little off,
    `face` the face through which it is entered, `other` the face next to it, `share` the first
    one's share.
    """

    px: Ints  # (N, 2) column and row in the picture
    ground_mm: Floats32  # (N, 2) where the ray meets the board's plane, held within the board
    on_board: NDArray[np.bool_]  # ends on the board, not in the room
    step_px: float
    slots: tuple[tuple[int, int], ...]  # (first entry, number of rays)
    unit: Ints
    part: Floats32
    face: NDArray[np.int8]
    other: NDArray[np.int8]
    share: Floats32
    zone: NDArray[np.int8]  # how near the ray passes to an edge of the face: 0 at it, 4 well inside
    beside: Ints  # the unit that continues the face across that edge, -1 for none
    before: Ints  # the unit in front of that one, as the face looks
    fit: "FitTerms"


@dataclass(frozen=True, slots=True, eq=False)
class FitTerms:
    """How `part` and `zone` of each entry follow when its stack is moved sideways by (x, y).

    In standard deviations: `depth` inside the unit and `gap` to the next face, with their
    changes a millimetre; `wide` tells how much larger the deviation was before the fit.
    """

    depth: Floats32
    depth_x: Floats32
    depth_y: Floats32
    gap: Floats32
    gap_x: Floats32
    gap_y: Floats32
    wide: Floats32


def unit_boxes(lattice: Lattice) -> tuple[Floats, Floats]:
    """Lowest and highest corners (U, 3); unit number = (rank * columns + file) * levels + level."""
    dx, dy, dz = lattice.unit_mm
    rank, file, level = np.meshgrid(
        np.arange(lattice.ranks),
        np.arange(lattice.columns),
        np.arange(lattice.levels),
        indexing="ij",
    )
    x = (file.ravel() + 0.5) * lattice.pitch_mm
    y = (rank.ravel() + 0.5) * lattice.pitch_mm
    z = level.ravel() * dz
    low = np.stack([x - dx / 2, y - dy / 2, z], axis=1)
    return low, low + np.array([dx, dy, dz])


def sample_rays(camera: Camera, board: Board, settings: RaySettings | None = None) -> Rays:
    """The rays of a camera that pass through the volume in which pieces can stand."""
    settings = settings or RaySettings()
    px, step = _sample_points(camera, board.lattice, settings)
    origin, direction = camera.rays(px)
    keep = np.isfinite(direction).all(axis=1) & (np.abs(direction[:, 2]) > 1e-4)
    px, direction = px[keep], direction[keep]
    table = _meetings(camera, origin, direction, board, settings)
    count = (table.unit >= 0).sum(axis=1)
    order = np.argsort(-count, kind="stable")
    order = order[count[order] > 0]
    ground, on_board = _ground(origin, direction[order], board)
    columns = [(k, int((count[order] > k).sum())) for k in range(int(count.max(initial=0)))]
    slots: list[tuple[int, int]] = []
    first = 0
    for _, many in columns:
        slots.append((first, many))
        first += many

    def packed(values: NDArray[np.generic]) -> NDArray[np.generic]:
        if not columns:
            return values[:0, 0]
        return np.concatenate([values[order[:many], k] for k, many in columns])

    return Rays(
        px=px[order].round().astype(np.int32),
        ground_mm=ground.astype(np.float32),
        on_board=on_board,
        step_px=step,
        slots=tuple(slots),
        unit=packed(table.unit).astype(np.int32),
        part=packed(table.part).astype(np.float32),
        face=packed(table.face).astype(np.int8),
        other=packed(table.other).astype(np.int8),
        share=packed(table.share).astype(np.float32),
        zone=packed(table.zone).astype(np.int8),
        beside=packed(table.beside).astype(np.int32),
        before=packed(table.before).astype(np.int32),
        fit=FitTerms(*(packed(t).astype(np.float32) for t in table.fit)),
    )


def _sample_points(camera: Camera, lattice: Lattice, settings: RaySettings) -> tuple[Floats, float]:
    """A grid of pixels over the picture of the lattice's volume, and its step."""
    width, depth, height = lattice.size_mm
    along = np.linspace(0.0, 1.0, 9)
    corners = [
        (x * width, y * depth, z * height)
        for x in along
        for y in along
        for z in (0.0, 0.5, 1.0)
        if min(x, y) == 0.0 or max(x, y) == 1.0
    ]
    seen = camera.project(np.array(corners))
    seen = seen[np.isfinite(seen).all(axis=1)]
    w, h = camera.size
    if len(seen) < 3:
        return np.zeros((0, 2)), settings.least_step_px
    hull = cv2.convexHull(seen.astype(np.float32)).reshape(-1, 2)
    frame = np.array([[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]], dtype=np.float32)
    area, met = cv2.intersectConvexConvex(hull, frame)
    if area <= 0:  # the camera looks past the board
        return np.zeros((0, 2)), settings.least_step_px
    inside = np.asarray(met, dtype=np.float32).reshape(-1, 2)
    step = max(settings.least_step_px, float(np.sqrt(area / settings.rays)))
    low = np.maximum(inside.min(axis=0), 1)
    high = np.minimum(inside.max(axis=0), (w - 2, h - 2))
    u, v = np.meshgrid(
        np.arange(low[0], high[0] + 0.5, step), np.arange(low[1], high[1] + 0.5, step)
    )
    grid = np.stack([u.ravel(), v.ravel()], axis=1).round()
    mask = np.zeros((h, w), dtype=np.uint8)
    cv2.fillConvexPoly(mask, inside.round().astype(np.int32), 1)
    picked = mask[grid[:, 1].astype(int), grid[:, 0].astype(int)] > 0
    return grid[picked], step


def _ground(origin: Floats, direction: Floats, board: Board) -> tuple[Floats, NDArray[np.bool_]]:
    """Where rays meet the board's plane, and whether the board (with its margin) is there."""
    far = -origin[2] / direction[:, 2]
    point = origin[:2] + far[:, None] * direction[:, :2]
    width, depth, _ = board.lattice.size_mm
    left, front, right, back = board.margin_mm
    low, high = np.array([-left, -front]), np.array([width + right, depth + back])
    inside = (far > 0) & (point >= low).all(axis=1) & (point <= high).all(axis=1)
    point = np.where(far[:, None] > 0, point, origin[:2] + 1e4 * direction[:, :2])
    return point.clip(low, high), inside


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    unit: Ints  # (N, K), -1 where there is none
    part: Floats32
    face: NDArray[np.int8]
    other: NDArray[np.int8]
    share: Floats32
    zone: NDArray[np.int8]
    beside: Ints
    before: Ints
    fit: tuple[Floats32, ...]


def _meetings(
    camera: Camera, origin: Floats, direction: Floats, board: Board, settings: RaySettings
) -> _Table:
    """Units that each ray meets, front to back."""
    blocks = [
        _meet_block(camera, origin, direction[i : i + 500], board, settings)
        for i in range(0, max(len(direction), 1), 500)
    ]
    most = max(b.unit.shape[1] for b in blocks)

    def joined(parts: list[Any], fill: float) -> Any:
        return np.concatenate(
            [np.pad(p, ((0, 0), (0, most - p.shape[1])), constant_values=fill) for p in parts]
        )

    fills = {"unit": -1, "share": 1, "beside": -1, "before": -1}
    names = ("unit", "part", "face", "other", "share", "zone", "beside", "before")
    whole = {n: joined([getattr(b, n) for b in blocks], fills.get(n, 0)) for n in names}
    return _Table(**whole, fit=tuple(joined([b.fit[i] for b in blocks], 0) for i in range(7)))


def _meet_block(
    camera: Camera, origin: Floats, direction: Floats, board: Board, settings: RaySettings
) -> _Table:
    low, high = unit_boxes(board.lattice)
    slow = np.where(np.abs(direction) < 1e-7, 1e-7, direction)
    inverse = 1.0 / slow
    spread_mm, narrow_mm = _off_mm(camera, origin, board.lattice, settings)
    ray, unit = _near(low - origin, high - origin, inverse, float(spread_mm.max()), settings)
    far_off = np.abs(inverse)[ray]
    every = np.arange(len(ray))
    one, other_side = (low - origin)[unit] * inverse[ray], (high - origin)[unit] * inverse[ray]
    near, far = np.minimum(one, other_side), np.maximum(one, other_side)
    enter, leave = near.max(axis=1), far.min(axis=1)
    at, out = near.argmax(axis=1), far.argmin(axis=1)
    spread = spread_mm[unit] * far_off
    width = spread[every, at] + spread[every, out]
    depth_in = (leave - enter) / width  # how deep the ray passes inside, in standard deviations
    part = normal(depth_in)
    part[(leave < 0) | (part < settings.least_part)] = 0
    part[enter > _frame_before(origin, slow, board)[ray]] = 0

    # Only pairs that meet count from here on, those of each ray from the front to the back.
    met = np.flatnonzero(part > 0)
    met = met[np.lexsort(((enter[met] + leave[met]) / 2, ray[met]))]
    ray, unit, enter, leave, at, out = (v[met] for v in (ray, unit, enter, leave, at, out))
    near, spread, width, depth_in, part = (v[met] for v in (near, spread, width, depth_in, part))
    far_off = far_off[met]
    every = np.arange(len(met))

    second = near.copy()
    second[every, at] = -np.inf
    next_at = second.argmax(axis=1)
    gap_mm = enter - near[every, next_at]
    gap = gap_mm / (spread[every, at] + spread[every, next_at])
    narrow = narrow_mm[unit] * far_off
    fit_width = narrow[every, at] + narrow[every, out]
    gap_width = narrow[every, at] + narrow[every, next_at]
    moved = [inverse[ray, a] for a in (0, 1)]
    fit = (
        (leave - enter) / fit_width,
        *(((out == a) * moved[a] - (at == a) * moved[a]) / fit_width for a in (0, 1)),
        gap_mm / gap_width,
        *(((at == a) * moved[a] - (next_at == a) * moved[a]) / gap_width for a in (0, 1)),
        width / fit_width,
    )

    # The nearest edge of the entered face: towards the face next to it, or where the ray leaves.
    backwards = direction[ray] < 0
    inner = gap < 2 * depth_in
    edge_axis = np.where(inner, next_at, out)
    edge_side = np.where(backwards[every, edge_axis] == inner, 1, -1)
    beside = _neighbour(board.lattice, unit, edge_axis, edge_side)
    beside = np.where(edge_axis == at, -1, beside)
    before = _neighbour(board.lattice, beside, at, np.where(backwards[every, at], 1, -1))

    count = np.bincount(ray, minlength=len(direction))
    slot = every - (np.cumsum(count) - count)[ray]
    size = (len(direction), max(int(count.max(initial=0)), 1))

    def table(values: NDArray[Any], kind: type[np.generic], fill: float = 0) -> NDArray[Any]:
        found = np.full(size, fill, dtype=kind)
        found[ray, slot] = values
        return found

    return _Table(
        unit=table(unit, np.int32, -1),
        part=table(part, np.float32),
        face=table(_face_of(at, backwards), np.int8),
        other=table(_face_of(next_at, backwards), np.int8),
        share=table(normal(np.maximum(gap, 0)), np.float32, 1),
        zone=table(np.digitize(np.minimum(gap, 2 * depth_in), ZONES), np.int8),
        beside=table(beside, np.int32, -1),
        before=table(before, np.int32, -1),
        fit=tuple(table(term, np.float32) for term in fit),
    )


def _off_mm(
    camera: Camera, origin: Floats, lattice: Lattice, settings: RaySettings
) -> tuple[Floats, Floats]:
    """How far off units may stand along each axis (U, 3), before stacks are fitted and after."""
    low, high = unit_boxes(lattice)
    level = np.arange(len(low)) % lattice.levels
    distance = np.linalg.norm((low + high) / 2 - origin, axis=1)
    pixel_mm = settings.blur_px * distance / camera.lens.focal_px
    sideways = np.hypot(settings.slop_mm + settings.slop_level_mm * level, pixel_mm)
    fitted = np.hypot(settings.fitted_mm + settings.fitted_level_mm * level, pixel_mm)
    upward = np.hypot(settings.height_mm, pixel_mm)
    spread_mm, narrow_mm = (np.stack([way, way, upward], axis=1) for way in (sideways, fitted))
    return spread_mm, narrow_mm


def _near(
    low: Floats, high: Floats, inverse: Floats, spread_mm: float, settings: RaySettings
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rays and units that may meet: all pairs but those that are too far from each other.

    Corners count from the camera.
    """
    enter = np.full((len(inverse), len(low)), -np.inf)
    leave = np.full((len(inverse), len(low)), np.inf)
    for axis in range(3):
        a, b = (np.multiply.outer(inverse[:, axis], c[:, axis]) for c in (low, high))
        np.maximum(enter, np.minimum(a, b), out=enter)
        np.minimum(leave, np.maximum(a, b), out=leave)
    odds = settings.least_part / (1 - settings.least_part)
    depth = np.log(odds) / _STEEP - 0.01  # as deep inside it must pass, or as near: then it counts
    widest = 2 * spread_mm * np.abs(inverse).max(axis=1)
    ray, unit = np.nonzero((leave >= 0) & (leave - enter >= (depth * widest)[:, None]))
    return ray, unit


def _neighbour(lattice: Lattice, unit: Any, axis: Any, side: Any) -> Any:
    """The unit next to a unit along an axis, -1 where the lattice ends (or there was none)."""
    levels, columns = lattice.levels, lattice.columns
    level = unit % levels + (axis == 2) * side
    file = unit // levels % columns + (axis == 0) * side
    rank = unit // levels // columns + (axis == 1) * side
    inside = (unit >= 0) & (level >= 0) & (level < levels)
    inside &= (file >= 0) & (file < columns) & (rank >= 0) & (rank < lattice.ranks)
    return np.where(inside, (rank * columns + file) * levels + level, -1)


def _frame_before(origin: Floats, slow: Floats, board: Board) -> Floats:
    """How far each ray goes until it meets the frame around the cells, if there is one."""
    first = np.full(len(slow), np.inf)
    for low, high in frame_boxes(board):
        # A little larger than it is: rays that just pass it would show its wood all the same.
        a, b = (low - 1.0 - origin) / slow, (high + 1.0 - origin) / slow
        enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
        met = (enter < leave) & (leave > 0)
        first = np.where(met, np.minimum(first, enter), first)
    return first


def _face_of(axis: NDArray[np.intp], backwards: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The face through which a ray enters along an axis; undersides count as tops."""
    sign = backwards[np.arange(len(axis)), axis]
    # Going towards smaller x, a ray enters through the face at larger x.
    return np.where(axis == 2, 0, 1 + 2 * axis + sign)


def normal(x: Any) -> Any:
    """The normal distribution's integral, by the logistic curve that stays within 0.01 of it."""
    return 1.0 / (1.0 + np.exp(-_STEEP * np.clip(x, -30, 30)))
