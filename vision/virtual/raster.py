"""Which solid every picture element shows: exact rays through the full lens, with smooth edges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.virtual.values import F32, Solid, f32

I16 = NDArray[np.int16]
Bools = NDArray[np.bool_]
Bounds = Sequence[tuple[slice, slice] | None]
_PAD_PX = 3
_INSIDE = ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))


@dataclass(frozen=True, slots=True, eq=False)
class Rays:
    """The directions of all picture elements, scaled so that distance is depth."""

    camera: Camera
    origin: F32  # (3,)
    along: F32  # (3, height, width)

    @staticmethod
    def of(camera: Camera) -> "Rays":
        """The rays of a camera."""
        width, height = camera.size
        px = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)
        origin, directions = camera.rays(px)
        depth = directions @ camera.looks_along
        along = np.moveaxis(directions / depth[..., None], -1, 0)
        return Rays(
            camera,
            origin.astype(np.float32),
            np.ascontiguousarray(along, dtype=np.float32),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What the rays of some picture elements meet: the solid, how far, and through which side.

    `side` is 0, 1, 2 for the solid's own x, y, z axis; its sign follows from the point.
    """

    solid: I16
    far: F32
    side: NDArray[np.int8]


def slabs(origin: F32, along: Sequence[F32], solid: Solid) -> tuple[F32, F32, NDArray[np.int8]]:
    """Where rays enter and leave a box, and which side they enter by."""
    turn = solid.rotation().astype(np.float32)
    start = turn.T @ (origin - f32(solid.centre_mm))
    half = f32(solid.size_mm) / 2
    entries = []
    leave = np.full_like(along[0], np.inf)
    for axis in range(3):
        step = along[0] * turn[0, axis] + along[1] * turn[1, axis] + along[2] * turn[2, axis]
        inverse = 1 / np.where(np.abs(step) < 1e-9, f32(1e-9), step)
        size = np.abs(inverse) * half[axis]
        middle = -start[axis] * inverse
        entries.append(middle - size)
        out = middle + size
        leave = np.minimum(leave, out)
    enter = np.maximum(np.maximum(entries[0], entries[1]), entries[2])
    side = np.where(enter == entries[0], 0, np.where(enter == entries[1], 1, 2))
    return enter, leave, side.astype(np.int8)


def bounds_px(camera: Camera, solids: Sequence[Solid]) -> list[tuple[slice, slice] | None]:
    """The rows and columns that each solid can touch; None where it is out of the picture."""
    if not solids:
        return []
    px = camera.project(np.array([solid.corners() for solid in solids]))
    width, height = camera.size
    found: list[tuple[slice, slice] | None] = []
    for some in px:
        if not np.isfinite(some).all():
            found.append(None)
            continue
        (x0, y0), (x1, y1) = some.min(axis=0) - _PAD_PX, some.max(axis=0) + _PAD_PX
        rows = slice(max(0, math.floor(y0)), min(height, math.ceil(y1) + 1))
        columns = slice(max(0, math.floor(x0)), min(width, math.ceil(x1) + 1))
        seen = rows.stop > rows.start and columns.stop > columns.start
        found.append((rows, columns) if seen else None)
    return found


def cast(rays: Rays, solids: Sequence[Solid], bounds: Bounds, behind: F32) -> Hits:
    """The first solid of every picture element's middle, if nearer than what is behind."""
    shape = behind.shape
    owner = np.full(shape, -1, np.int16)
    far = behind.copy()
    sides = np.zeros(shape, np.int8)
    for number, (solid, where) in enumerate(zip(solids, bounds, strict=True)):
        if where is None:
            continue
        along = [rays.along[axis][where] for axis in range(3)]
        enter, leave, side = slabs(rays.origin, along, solid)
        nearest = far[where]
        hit = (enter < leave) & (enter < nearest) & (enter > 0)
        if hit.any():
            nearest[hit] = enter[hit]
            owner[where][hit] = number
            sides[where][hit] = side[hit]
    return Hits(owner, far, sides)


def edges(owner: I16) -> Bools:
    """Picture elements beside another solid or the background."""
    edge = np.zeros(owner.shape, bool)
    across = owner[:, 1:] != owner[:, :-1]
    along = owner[1:] != owner[:-1]
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= along
    edge[:-1] |= along
    return edge


def cast_parts(
    rays: Rays,
    solids: Sequence[Solid],
    bounds: Bounds,
    behind: F32,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> tuple[Hits, F32]:
    """The same for four parts of each given picture element: (4, n) each, and their rays."""
    height, width = behind.shape
    right, below = np.minimum(columns + 1, width - 1), np.minimum(rows + 1, height - 1)
    here = rays.along[:, rows, columns]
    to_right = rays.along[:, rows, right] - here
    to_below = rays.along[:, below, columns] - here
    parts = np.stack([here + dx * to_right + dy * to_below for dx, dy in _INSIDE], axis=1)
    owner = np.full(parts.shape[1:], -1, np.int16)
    far = np.repeat(behind[rows, columns][None], 4, axis=0)
    sides = np.zeros(parts.shape[1:], np.int8)
    for number, (solid, where) in enumerate(zip(solids, bounds, strict=True)):
        if where is None:
            continue
        box_rows, box_columns = where
        first, last = np.searchsorted(rows, [box_rows.start, box_rows.stop])
        inside = (columns[first:last] >= box_columns.start) & (
            columns[first:last] < box_columns.stop
        )
        some = first + np.flatnonzero(inside)
        if not some.size:
            continue
        enter, leave, side = slabs(rays.origin, [parts[axis][:, some] for axis in range(3)], solid)
        hit = (enter < leave) & (enter < far[:, some]) & (enter > 0)
        far[:, some] = np.where(hit, enter, far[:, some])
        owner[:, some] = np.where(hit, np.int16(number), owner[:, some])
        sides[:, some] = np.where(hit, side, sides[:, some])
    return Hits(owner, far, sides), parts
