"""Which solid every picture element shows: exact rays through the full lens, with smooth edges."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.virtual.values import F32, Solid, f32

I16 = NDArray[np.int16]
Bools = NDArray[np.bool_]
Numbers = NDArray[np.intp]
Box = tuple[slice, slice]
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


def slabs(origin: F32, along: Sequence[F32], solid: Solid) -> tuple[F32, F32, NDArray[np.int8]]:
    """Where rays enter and leave a box, and which side they enter by: across its x, y or z."""
    turn = solid.rotation().astype(np.float32)
    start = turn.T @ (origin - f32(solid.centre_mm))
    half = f32(solid.size_mm) / 2
    side = np.zeros(along[0].shape, np.int8)
    enter = leave = along[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        for axis in range(3):
            inverse = along[0] * turn[0, axis]
            inverse += along[1] * turn[1, axis]
            inverse += along[2] * turn[2, axis]
            np.divide(1, inverse, out=inverse)
            size = np.abs(inverse)
            size *= half[axis]
            inverse *= -start[axis]
            into, out = inverse - size, inverse + size
            if axis == 0:
                enter, leave = into, out
                continue
            side[into > enter] = axis
            np.fmax(enter, into, out=enter)
            np.fmin(leave, out, out=leave)
    return enter, leave, side


def bounds_px(camera: Camera, solids: Sequence[Solid]) -> list[Box | None]:
    """The rows and columns that each solid can touch; None where it is out of the picture."""
    if not solids:
        return []
    px = camera.project(np.array([solid.corners() for solid in solids]))
    width, height = camera.size
    found: list[Box | None] = []
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


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What rays meet first: four times the number of the solid and the axis of its face, or -1.

    And how far away that is.
    """

    face: I16
    far: F32


class Scan:
    """What one camera's rays meet; when solids come and go, only what they touch is cast anew.

    What is found does not depend on what stood before.
    """

    def __init__(self, rays: Rays, behind: F32) -> None:
        self._rays = rays
        self._behind = behind
        self._slots: list[Solid | None] = []
        self._bounds: list[Box | None] = []
        self._hits = Hits(np.full(behind.shape, -1, np.int16), behind.copy())
        # The four parts of picture elements at edges; of no meaning elsewhere.
        self._parts = Hits(
            np.full((*behind.shape, 4), -1, np.int16), np.zeros((*behind.shape, 4), np.float32)
        )
        self._edge = np.zeros(behind.shape, bool)

    @property
    def far(self) -> F32:
        """How far away is what each picture element shows."""
        return self._hits.far

    @property
    def solids(self) -> list[Solid]:
        """The solids in the order in which faces are numbered; some may be gone."""
        anything = next(solid for solid in self._slots if solid is not None)
        return [anything if solid is None else solid for solid in self._slots]

    def update(self, solids: Sequence[Solid]) -> None:
        """Casts the rays that solids can touch which were not there before or are there no more."""
        wanted, known = set(solids), {solid for solid in self._slots if solid is not None}
        fresh = [solid for solid in dict.fromkeys(solids) if solid not in known]
        dirty: list[Box] = []
        for number, solid in enumerate(self._slots):
            if solid is not None and solid not in wanted:
                dirty += [b for b in (self._bounds[number],) if b]
                self._slots[number] = self._bounds[number] = None
        free = [number for number, solid in enumerate(self._slots) if solid is None]
        for solid, box in zip(fresh, bounds_px(self._rays.camera, fresh), strict=True):
            if not free:
                free.append(len(self._slots))
                self._slots.append(None)
                self._bounds.append(None)
            number = free.pop()
            self._slots[number], self._bounds[number] = solid, box
            dirty += [b for b in (box,) if b]
        if not dirty:
            return
        stale = np.zeros(self._behind.shape, bool)
        for rows, columns in _merged(dirty):
            self._cast((rows, columns))
            stale[max(0, rows.start - 1) : rows.stop + 1,
                  max(0, columns.start - 1) : columns.stop + 1] = True  # fmt: skip
        before, self._edge = self._edge, edges(self._hits.face >> 2)
        self._cast_parts(np.flatnonzero(self._edge & (stale | ~before)))

    def inside(self) -> tuple[Numbers, Numbers, F32]:
        """Picture elements that show one solid alone, as numbers; its faces, and points (3, n)."""
        at = np.flatnonzero((self._hits.face >= 0) & ~self._edge)
        along = np.take(self._rays.along.reshape(3, -1), at, axis=1)
        along *= np.take(self._hits.far, at)
        along += self._rays.origin[:, None]
        return at, np.take(self._hits.face, at).astype(np.intp), along

    def at_edges(self) -> tuple[Numbers, Numbers, F32]:
        """Picture elements at edges, as numbers; the faces of their parts (4, n), and points."""
        at = np.flatnonzero(self._edge)
        faces = self._parts.face.reshape(-1, 4)[at].T.astype(np.intp)
        far = self._parts.far.reshape(-1, 4)[at].T
        along = self._along_parts(at)
        points = along * far
        points += self._rays.origin[:, None, None]
        return at, faces, points

    def _along_parts(self, at: Numbers) -> F32:
        """The rays of the four parts of picture elements, (3, 4, n)."""
        height, width = self._behind.shape
        rows, columns = np.divmod(at, width)
        along = self._rays.along.reshape(3, -1)
        here = np.take(along, at, axis=1)
        right = np.take(along, at + (columns < width - 1), axis=1) - here
        below = np.take(along, at + width * (rows < height - 1), axis=1) - here
        return np.stack([here + f32(x) * right + f32(y) * below for x, y in _INSIDE], axis=1)

    def _cast(self, box: Box) -> None:
        """Finds what the middles of picture elements in a part of the picture meet."""
        self._hits.face[box] = -1
        self._hits.far[box] = self._behind[box]
        for number, solid, where in self._near(box):
            along = [layer[where] for layer in self._rays.along]
            enter, leave, side = slabs(self._rays.origin, along, solid)
            near = self._hits.far[where]
            hit = (enter < leave) & (enter < near) & (enter > 0)
            np.copyto(near, enter, where=hit)
            np.copyto(self._hits.face[where], side.astype(np.int16) + 4 * number, where=hit)

    def _near(self, box: Box) -> Iterator[tuple[int, Solid, Box]]:
        """The solids that reach into a part of the picture, each with where."""
        for number, (solid, bounds) in enumerate(zip(self._slots, self._bounds, strict=True)):
            if solid is not None and bounds is not None:
                where = _common(bounds, box)
                if where is not None:
                    yield number, solid, where

    def _cast_parts(self, at: Numbers) -> None:
        """The same for the four parts of each of some picture elements."""
        if not at.size:
            return
        rows, columns = np.divmod(at, self._behind.shape[1])
        along = self._along_parts(at)
        face = np.full(along.shape[1:], -1, np.int16)
        far = np.repeat(np.take(self._behind, at)[None], 4, axis=0)
        box = (slice(int(rows[0]), int(rows[-1]) + 1),
               slice(int(columns.min()), int(columns.max()) + 1))  # fmt: skip
        for number, solid, (tall, wide) in self._near(box):
            first, last = np.searchsorted(rows, [tall.start, tall.stop])
            across = columns[first:last]
            some = first + np.flatnonzero((across >= wide.start) & (across < wide.stop))
            enter, leave, side = slabs(
                self._rays.origin, [layer[:, some] for layer in along], solid
            )
            near = far[:, some]
            hit = (enter < leave) & (enter < near) & (enter > 0)
            far[:, some] = np.where(hit, enter, near)
            face[:, some] = np.where(hit, side.astype(np.int16) + 4 * number, face[:, some])
        self._parts.face.reshape(-1, 4)[at] = face.T
        self._parts.far.reshape(-1, 4)[at] = far.T


def _common(a: Box, b: Box) -> Box | None:
    """The part of the picture that two parts share."""
    rows = slice(max(a[0].start, b[0].start), min(a[0].stop, b[0].stop))
    columns = slice(max(a[1].start, b[1].start), min(a[1].stop, b[1].stop))
    return (rows, columns) if rows.start < rows.stop and columns.start < columns.stop else None


def _merged(boxes: Iterable[Box]) -> list[Box]:
    """Boxes that share nothing and together hold all of these."""
    found: list[Box] = []
    waiting = list(boxes)
    while waiting:
        box = waiting.pop()
        other = next((b for b in found if _common(b, box)), None)
        if other is None:
            found.append(box)
            continue
        found.remove(other)
        rows, columns = (
            slice(min(a.start, b.start), max(a.stop, b.stop))
            for a, b in zip(box, other, strict=True)
        )
        waiting.append((rows, columns))
    return found


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
