"""A small part of a picture, pixel by pixel, with the boxes that may be seen there.

Where a box is met is computed once for each place that it is tried at, and only in the part of the
picture where it can be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour import FACES, light_terms
from calibration.colour_space import (
    AXES,
    DARKEST,
    Floats32,
    gains_of,
    hue_when_darker,
    light_of,
    of_light,
)
from rules.lattice import Lattice
from vision.likelihood import Followed, ImageBGR, above_board
from vision.rays import unit_boxes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
State = NDArray[np.int8]
Offset = tuple[float, float]  # sideways in millimetres
Offsets = Mapping[int, Offset]  # of units
Window = tuple[slice, slice]  # rows and columns of a patch

SHADES = np.linspace(-2.4, 0.3, 19).astype(np.float32)  # of a face, logarithms of light
_SHADED = 14  # the one of them that is likeliest where nothing tells
_BACK = np.linalg.inv(AXES).astype(np.float32)
REACH_MM = 4.0  # so far, along each axis, boxes may be moved: nobody lays them further off
_ROUND_PX = 2  # by how much lenses bend what lies between corners
_SOME = 4  # pixels of a unit, and it can be fitted
_CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) > 0


@dataclass(frozen=True, slots=True, eq=False)
class CloseView:
    """What one camera gives to the closer look."""

    camera: Camera
    image: ImageBGR
    empty: ImageBGR
    followed: Followed
    change: Floats32  # of the light since the empty table
    moved_mm: Floats  # (U, 2) how far each unit is seen off its place


class Boxes:
    """Where the units of a lattice stand, as one camera sees them."""

    def __init__(self, view: CloseView, lattice: Lattice) -> None:
        self.view, self.lattice = view, lattice
        low, high = unit_boxes(lattice)
        moved = np.zeros((len(low), 3))
        moved[:, :2] = view.moved_mm
        self.low, self.high = low + moved, high + moved

    def corners(self, units: Ints, wider_mm: float = 0.0) -> Floats:
        """The corners (U, 8, 2) of units in the picture, or of boxes wider to all sides."""
        more = np.array([wider_mm, wider_mm, 0.0])
        low, high = self.low[units] - more, self.high[units] + more
        return self.view.camera.project(np.where(_CORNERS[None], high[:, None], low[:, None]))


class Faces:
    """The colours that faces of one camera's pieces may have in its picture."""

    def __init__(self, view: CloseView, lattice: Lattice) -> None:
        self.view, self.lattice = view, lattice
        self.gains = gains_of(view.change)
        self._known: dict[tuple[int, int, int], Floats32] = {}
        self._above = above_board(lattice)

    def dimming(self, points_mm: Floats) -> float:
        """How much less light falls here than on the middle of the board."""
        size = self.lattice.size_mm
        terms = light_terms(np.clip(points_mm, (0, 0), size[:2]), size)
        return float(np.exp(-np.median(terms @ self.view.followed.colours.light)))

    def shades(self, colour: int, face: int, level: int) -> Floats32:
        """The light (S, 3) of a face in all its shades."""
        found = self._known.get((colour, face, level))
        if found is None:
            colours = self.view.followed.colours
            mean = colours.mean[colour, face] + colours.clip[colour, face]
            mean = mean + self.view.followed.rise(face, float(self._above[level]))
            places = np.column_stack([mean[0] + SHADES, hue_when_darker(mean, mean[0] + SHADES)])
            found = np.maximum(np.exp(places @ _BACK.T) - DARKEST, 0) * self.gains
            self._known[colour, face, level] = np.asarray(found, dtype=np.float32)
        return self._known[colour, face, level]


class Patch:
    """A small part of a picture with the boxes that its rays may meet."""

    def __init__(
        self, faces: Faces, boxes: Boxes, low_px: Ints, high_px: Ints, units: Ints
    ) -> None:
        self.faces, self.units = faces, units
        self.corner = int(low_px[0]), int(low_px[1])
        view, lattice = faces.view, faces.lattice
        u, v = np.meshgrid(
            np.arange(low_px[0], high_px[0] + 1), np.arange(low_px[1], high_px[1] + 1)
        )
        self.shape = (u.shape[0], u.shape[1])
        self.whole = slice(0, u.shape[0]), slice(0, u.shape[1])
        origin, along = view.camera.rays(np.stack([u.ravel(), v.ravel()], axis=1).astype(float))
        slow = np.where(np.abs(along) < 1e-9, 1e-9, along).T
        self._inverse = (1 / slow).astype(np.float32).reshape(3, *self.shape)
        self._side = (along.T < 0).reshape(3, *self.shape).astype(np.int16)
        self._low, self._high = boxes.low[units] - origin, boxes.high[units] - origin
        self._index = {int(unit): i for i, unit in enumerate(units)}
        self._windows = self._seen_in(boxes.corners(units, REACH_MM))
        self._cuts: dict[tuple[int, int, float], tuple[Floats32, Floats32]] = {}
        self._met: dict[tuple[int, Offset], tuple[Floats32, NDArray[np.int16]]] = {}
        part = (slice(v[0, 0], v[-1, 0] + 1), slice(u[0, 0], u[0, -1] + 1))
        self.seen = view.image[part].reshape(-1, 3).astype(np.float32)
        self.seen_sum = self.seen.sum(axis=1)
        self.bare = light_of(view.empty[part].reshape(-1, 3)) * faces.gains
        point = origin[:2] - (origin[2] / slow[2] * slow[:2]).T
        self._dimming = faces.dimming(point)
        self._shades: dict[tuple[int, int, int], tuple[Floats32, Floats32]] = {}
        # Groups of pixels: the faces of each box, then the room, then the cells of the board.
        self.ground = len(units) * len(FACES)
        cell = np.floor(point / lattice.pitch_mm).astype(int)
        inside = (cell >= 0).all(axis=1) & (cell < (lattice.columns, lattice.ranks)).all(axis=1)
        inside &= slow[2] < 0
        on_ground = np.where(inside, 1 + cell[:, 1] * lattice.columns + cell[:, 0], 0)
        self.groups_of_ground = (self.ground + on_ground).astype(np.int16).reshape(self.shape)
        self.every = self.ground + 1 + lattice.columns * lattice.ranks
        self.near = np.ones(self.shape, dtype=bool)
        self.noise = 0.0  # of 255, once it is known

    def _seen_in(self, corners: Floats) -> list[Window]:
        """The parts of the patch in which boxes with these corners are seen."""
        x, y = self.corner
        height, width = self.shape
        found = []
        for own in corners:
            if not np.isfinite(own).all():
                found.append(self.whole)
                continue
            (left, top), (right, bottom) = own.min(axis=0), own.max(axis=0)
            rows = int(top) - y - _ROUND_PX, int(bottom) + 1 - y + _ROUND_PX
            columns = int(left) - x - _ROUND_PX, int(right) + 1 - x + _ROUND_PX
            found.append(
                (
                    slice(*np.clip(rows, 0, height).tolist()),
                    slice(*np.clip(columns, 0, width).tolist()),
                )
            )
        return found

    def boxes_of(self, units: Sequence[int]) -> list[int]:
        """The numbers of the boxes here among these units."""
        return [self._index[unit] for unit in units if unit in self._index]

    def there(self, state: State) -> list[int]:
        """The numbers of the boxes that stand in a state."""
        return np.flatnonzero(state[self.units] > 0).tolist()

    def window(self, boxes: Sequence[int]) -> Window:
        """The part of the patch in which any of these boxes may be seen."""
        rows, columns = zip(*(self._windows[i] for i in boxes), strict=True)
        return tuple(  # type: ignore[return-value]
            slice(min(s.start for s in own), max(s.stop for s in own)) for own in (rows, columns)
        )

    def put(
        self,
        boxes: Sequence[int],
        off: Offsets,
        window: Window,
        first: Floats32,
        shown: NDArray[np.int16],
    ) -> None:
        """Puts boxes, so far off their places, into a window, before or behind what is there.

        `first` is how far rays go to what they show, `shown` its group; both are changed.
        """
        (rows, columns) = window
        for i in boxes:
            own_rows, own_columns = self._windows[i]
            top, bottom = max(own_rows.start, rows.start), min(own_rows.stop, rows.stop)
            left = max(own_columns.start, columns.start)
            right = min(own_columns.stop, columns.stop)
            if top >= bottom or left >= right:
                continue
            enter, group = self._meet(i, off.get(int(self.units[i]), (0.0, 0.0)))
            here = (
                slice(top - own_rows.start, bottom - own_rows.start),
                slice(left - own_columns.start, right - own_columns.start),
            )
            there = (
                slice(top - rows.start, bottom - rows.start),
                slice(left - columns.start, right - columns.start),
            )
            nearer = enter[here] < first[there]
            # Tops of one height may meet where boxes stand too near: one way or other, always so.
            nearer |= (enter[here] == first[there]) & (group[here] < shown[there])
            np.copyto(first[there], enter[here], where=nearer)
            np.copyto(shown[there], group[here], where=nearer)

    def _meet(self, i: int, off: Offset) -> tuple[Floats32, NDArray[np.int16]]:
        """How far rays go to a box, not a number where they miss it, and the face they enter."""
        found = self._met.get((i, off))
        if found is None:
            x, y, z = (self._cut(i, axis, by) for axis, by in enumerate((*off, 0.0)))
            enter = np.maximum(np.maximum(x[0], y[0]), z[0])
            leave = np.minimum(np.minimum(x[1], y[1]), z[1])
            side = self._side[(slice(None), *self._windows[i])]
            face = np.where(enter == x[0], 1 + side[0], 3 + side[1])
            face = np.where(enter == z[0], 0, face) + np.int16(i * len(FACES))
            enter = np.where((enter < leave) & (leave > 0), enter, np.float32(np.nan))
            found = enter, face.astype(np.int16)
            self._met[i, off] = found
        return found

    def _cut(self, i: int, axis: int, by: float) -> tuple[Floats32, Floats32]:
        """Where rays come between the two sides of a box along an axis, and where they leave."""
        found = self._cuts.get((i, axis, by))
        if found is None:
            inverse = self._inverse[(axis, *self._windows[i])]
            a = np.float32(self._low[i, axis] + by) * inverse
            b = np.float32(self._high[i, axis] + by) * inverse
            found = np.minimum(a, b), np.maximum(a, b)
            self._cuts[i, axis, by] = found
        return found

    def laid(
        self, boxes: Sequence[int], off: Offsets, window: Window | None = None
    ) -> tuple[Floats32, NDArray[np.int16]]:
        """How far rays go to what they show of these boxes or the ground, and its group."""
        window = window or self.whole
        shown = self.groups_of_ground[window].copy()
        first = np.full(shown.shape, np.inf, dtype=np.float32)
        self.put(boxes, off, window, first, shown)
        return first, shown

    def shades(self, letter: int, face: int, level: int) -> tuple[Floats32, Floats32]:
        """The colours (S, 3) of a face here, as bytes, in all its shades; and in colour space."""
        found = self._shades.get((letter, face, level))
        if found is None:
            shades = as_bytes(self.faces.shades(letter, face, level) / self._dimming)
            found = shades, of_light(as_light(shades))
            self._shades[letter, face, level] = found
        return found

    def likely(self, letter: int, face: int, level: int) -> Floats32:
        """The colour of a face of which nothing is known."""
        return np.asarray(self.shades(letter, face, level)[0][_SHADED])

    def owners(self, state: State, off: Offsets) -> set[int]:
        """The units that are seen near what differs, so far off their places."""
        groups = self.laid(self.there(state), off)[1][self.near]
        boxes = np.bincount(groups[groups < self.ground] // len(FACES), minlength=len(self.units))
        return set(self.units[boxes >= _SOME].tolist())

    def differ(self, one: State, other: State) -> NDArray[np.bool_]:
        """Where two states show different pieces, or colours."""
        a, b = (self.laid(self.there(state), {})[1] for state in (one, other))
        units = np.append(self.units, 0)
        box = np.minimum(a // len(FACES), len(self.units))
        recoloured = (a < self.ground) & (one[units[box]] != other[units[box]])
        return np.asarray((a != b) | recoloured)


def as_bytes(light: Floats32) -> Floats32:
    """Values of sRGB up to 255 of light, not rounded."""
    v = np.clip(light, 0, 1)
    curved = 1.055 * np.maximum(v, 1e-9) ** np.float32(1 / 2.4) - 0.055
    return np.asarray(255 * np.where(v <= 0.0031308, 12.92 * v, curved), dtype=np.float32)


def as_light(values: Floats32) -> Floats32:
    """Light of such values."""
    v = np.asarray(values, dtype=np.float32) / 255
    curved = ((np.maximum(v, 0) + 0.055) / 1.055) ** 2.4
    return np.asarray(np.where(v <= 0.04045, v / 12.92, curved), dtype=np.float32)
