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
    level = np.arange(len(low)) % board.lattice.levels
    slow = np.where(np.abs(direction) < 1e-7, 1e-7, direction)
    inverse = (1.0 / slow)[:, None, :]
    a, b = (low - origin)[None] * inverse, (high - origin)[None] * inverse
    near, far = np.minimum(a, b), np.maximum(a, b)
    enter, leave = near.max(axis=2), far.min(axis=2)
    at, out = near.argmax(axis=2), far.argmin(axis=2)

    # How far off a unit may stand, in millimetres along each axis: placement and the pixel's size.
    middle = (low + high) / 2
    distance = np.linalg.norm(middle - origin, axis=1)
    pixel_mm = settings.blur_px * distance / camera.lens.focal_px
    sideways = np.hypot(settings.slop_mm + settings.slop_level_mm * level, pixel_mm)
    upward = np.hypot(settings.height_mm, pixel_mm)
    spread = np.stack([sideways, sideways, upward], axis=1)[None] * np.abs(inverse)

    def along(values: Floats, axis: NDArray[np.intp]) -> Floats:
        return np.take_along_axis(values, axis[..., None], axis=2)[..., 0]

    width = along(spread, at) + along(spread, out)
    depth_in = (leave - enter) / width  # how deep the ray passes inside, in standard deviations
    part = normal(depth_in)
    part[(leave < 0) | (part < settings.least_part)] = 0
    part[enter > _frame_before(origin, slow, board)[:, None]] = 0

    second = near.copy()
    np.put_along_axis(second, at[..., None], -np.inf, axis=2)
    next_at = second.argmax(axis=2)
    gap = (enter - along(near, next_at)) / (along(spread, at) + along(spread, next_at))
    share = normal(np.maximum(gap, 0))

    fitted = np.hypot(settings.fitted_mm + settings.fitted_level_mm * level, pixel_mm)
    narrow = np.stack([fitted, fitted, upward], axis=1)[None] * np.abs(inverse)
    fit_width = along(narrow, at) + along(narrow, out)
    gap_width = along(narrow, at) + along(narrow, next_at)
    moved = [np.broadcast_to(inverse[..., a], at.shape) for a in (0, 1)]
    fit = (
        (leave - enter) / fit_width,
        *(((out == a) * moved[a] - (at == a) * moved[a]) / fit_width for a in (0, 1)),
        (enter - along(near, next_at)) / gap_width,
        *(((at == a) * moved[a] - (next_at == a) * moved[a]) / gap_width for a in (0, 1)),
        width / fit_width,
    )

    most = int((part > 0).sum(axis=1).max(initial=0))
    most = max(most, 1)
    depth = np.where(part > 0, (enter + leave) / 2, np.inf)
    order = np.argsort(depth, axis=1, kind="stable")[:, :most]

    def pick(values: Floats) -> Floats:
        return np.take_along_axis(values, order, axis=1)

    met = pick(part) > 0
    face = _face_of(at, direction)
    other = _face_of(next_at, direction)
    rim = np.minimum(gap, 2 * depth_in)
    # The nearest edge of the entered face: towards the face next to it, or where the ray leaves.
    inner = gap < 2 * depth_in
    edge_axis = np.where(inner, next_at, out)
    backwards = np.take_along_axis(
        np.broadcast_to((direction < 0)[:, None, :], near.shape), edge_axis[..., None], axis=2
    )[..., 0]
    edge_side = np.where(backwards == inner, 1, -1)
    units = np.broadcast_to(np.arange(len(low)), at.shape)
    beside = _neighbour(board.lattice, units, edge_axis, edge_side)
    beside = np.where(edge_axis == at, -1, beside)
    entered = np.take_along_axis(
        np.broadcast_to((direction < 0)[:, None, :], near.shape), at[..., None], axis=2
    )[..., 0]
    before = _neighbour(board.lattice, beside, at, np.where(entered, 1, -1))
    return _Table(
        unit=np.where(met, order, -1).astype(np.int32),
        part=np.where(met, pick(part), 0).astype(np.float32),
        face=pick(face).astype(np.int8),
        other=pick(other).astype(np.int8),
        share=pick(share).astype(np.float32),
        zone=np.digitize(pick(rim), ZONES).astype(np.int8),
        beside=pick(beside).astype(np.int32),
        before=pick(before).astype(np.int32),
        fit=tuple(pick(term).astype(np.float32) for term in fit),
    )


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


def _face_of(axis: NDArray[np.intp], direction: Floats) -> Floats:
    """The face through which a ray enters along an axis; undersides count as tops."""
    sign = np.take_along_axis(
        np.broadcast_to((direction < 0)[:, None, :], (*axis.shape, 3)), axis[..., None], axis=2
    )[..., 0]
    # Going towards smaller x, a ray enters through the face at larger x.
    return np.where(axis == 2, 0, 1 + 2 * axis + sign).astype(np.float64)


def normal(x: Any) -> Any:
    """The normal distribution's integral, by the logistic curve that stays within 0.01 of it."""
    return 1.0 / (1.0 + np.exp(-1.702 * np.clip(x, -30, 30)))
