"""A closer look at slivers: all pixels around a doubtful place, drawn as two answers would look.

Sample rays lie several pixels apart; what decides on a unit between others is often a strip of a
few rows. Here a small part of each picture is drawn pixel by pixel under either answer, with the
pieces around moved until they fit, faces in the colours that they show beside, and blurred as a
lens does. By how much one drawing explains the picture better is one more witness.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
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
Offsets = dict[int, Floats]  # of units, sideways in millimetres

_BACK = np.linalg.inv(AXES).astype(np.float32)
_SHADES = np.linspace(-2.4, 0.3, 19).astype(np.float32)  # of a face, logarithms of light
_SHADED = 14  # the one of them that is likeliest where nothing tells
_SOME = 4  # pixels of a unit, and it can be fitted
_DOWN_AND_UP = ((0, 1), (0, -1), (1, 1), (1, -1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseSettings:
    """How far around a place is looked at, and how much a pixel tells."""

    margin_px: int = 7  # around the pixels in which two answers differ
    least_px: int = 6  # that differ, or nothing can be told
    blur_px: float = 0.8  # of lens and sensor, one standard deviation
    weight: float = 0.12  # of a pixel: neighbours err alike
    bound: float = 6.0  # of what one pixel says
    noise: tuple[float, float] = (5.0, 18.0)  # of 255; least and most that faces vary by
    smooth_px: float = 3.0  # over so far light on a face changes, one standard deviation
    shadow: tuple[float, float] = (0.4, 1.3)  # least and most of a face's usual bytes in it
    shadow_like: float = 0.25  # how far light on a face usually varies, logarithm of bytes
    shadow_cost: float = 2.0  # of a pixel in other light than its face, at most
    level_mm: float = 0.35  # how far one unit stands off the next below, usually
    stack_mm: float = 1.2  # how far a stack's place is still unsure
    steps_mm: tuple[float, ...] = (1.0, 0.5, 0.25)
    inside: int = 14  # pixels well inside a face tell its colour
    hue: float = 0.10  # how far a face's hue may lie off its colour's, one deviation
    hue_cost: float = 4.0  # of a face with another hue, at most
    hue_most: float = 2.0  # such deviations, and no face of the colour looks so
    plain: float = 40.0  # what differs by so much as pieces stand need not be fitted
    worth: float = 0.25  # of a difference here against one in the score by rays
    most: float = 40.0  # of such differences
    unlike: tuple[float, float] = (0.50, 0.65)  # how little a drawing may look like the picture
    reach: float = 12.0  # by rays; answers that are so much worse are not looked at
    asked: int = 24  # answers that are looked at in one picture
    enough: float = 0.3  # gain by which another answer is taken


@dataclass(frozen=True, slots=True, eq=False)
class CloseView:
    """What one camera gives to the closer look."""

    camera: Camera
    image: ImageBGR
    empty: ImageBGR
    followed: Followed
    change: Floats32  # of the light since the empty table
    moved_mm: Floats  # (U, 2) how far each unit is seen off its place


class CloseLook:
    """Compares answers pixel by pixel."""

    def __init__(
        self, lattice: Lattice, views: Sequence[CloseView], settings: CloseSettings | None = None
    ) -> None:
        self._lattice = lattice
        self._settings = settings or CloseSettings()
        self._low, self._high = unit_boxes(lattice)
        self._faces = [_Faces(view, lattice) for view in views]

    def gain(self, state: State, other: State) -> float | None:
        """What the pictures gain by another state; None where too few pixels tell."""
        patches = [
            patch
            for faces in self._faces
            if (patch := self._patch(faces, state, other)) is not None
        ]
        if not patches:
            return None
        one, two = 0.0, 0.0
        recoloured = np.array_equal(state > 0, other > 0)
        if recoloured:  # what stands there has been moved until it fits; another height has not
            one, two = (self._fitted(patches, s, {}, ())[0] for s in (state, other))
        if abs(two - one) < self._settings.plain:
            one, two = self._both_fitted(patches, state, other)
        # Where neither drawing looks like the picture, nothing is to be learned from the two.
        cfg = self._settings
        pixels = sum(int(np.count_nonzero(patch.near)) for patch in patches)
        unlike = -max(one, two) / (cfg.weight * cfg.bound * pixels)
        good, bad = cfg.unlike
        trust = float(np.clip((bad - unlike) / (bad - good), 0.0, 1.0))
        return cfg.worth * trust * float(np.clip(two - one, -cfg.most, cfg.most))

    def _both_fitted(
        self, patches: Sequence["_Patch"], state: State, other: State
    ) -> tuple[float, float]:
        """How well either answer explains the patches, with its pieces moved until they fit."""
        steps = self._settings.steps_mm
        one, places = self._fitted(patches, state, {}, steps)
        two, others = self._fitted(patches, other, {}, steps)
        # Neither answer may lose because its pieces were fitted from a worse beginning.
        if one < two:
            one = max(one, self._fitted(patches, state, others, steps)[0])
        else:
            two = max(two, self._fitted(patches, other, places, steps)[0])
        return one, two

    def _patch(self, faces: "_Faces", one: State, other: State) -> "_Patch | None":
        """The part of a picture in which two answers differ, if it is large enough."""
        cfg = self._settings
        differing = np.flatnonzero(one != other)
        corners = self._corners(faces, differing)
        if not np.isfinite(corners).all():
            return None
        corners = corners.reshape(-1, 2)
        margin = cfg.margin_px
        low = np.floor(corners.min(axis=0)).astype(int) - margin
        high = np.ceil(corners.max(axis=0)).astype(int) + margin
        patch = self._cut(faces, low, high, one, other)
        if patch is None:
            return None
        differ = patch.differ(one, other)
        if int(differ.sum()) < cfg.least_px:
            return None
        ys, xs = np.nonzero(differ)
        x, y = patch.corner
        low = np.maximum((x + xs.min() - margin, y + ys.min() - margin), low)
        high = np.minimum((x + xs.max() + margin, y + ys.max() + margin), high)
        patch = self._cut(faces, low, high, one, other)
        if patch is None:
            return None
        size = np.ones((2 * margin + 1, 2 * margin + 1), dtype=np.uint8)
        near = cv2.dilate(patch.differ(one, other).astype(np.uint8), size)
        patch.near = near.ravel() > 0
        patch.noise = min(_Drawn(patch, state, cfg).noise for state in (one, other))
        return patch

    def _cut(
        self, faces: "_Faces", low: Ints, high: Ints, one: State, other: State
    ) -> "_Patch | None":
        low = np.maximum(low, 0)
        high = np.minimum(high, np.array(faces.view.camera.size) - 1)
        if (high - low < 4).any():
            return None
        units = np.flatnonzero((one > 0) | (other > 0))
        corners = self._corners(faces, units)
        near = np.isfinite(corners).all(axis=(1, 2))
        near &= (corners.min(axis=1) <= high + 6).all(axis=1)
        near &= (corners.max(axis=1) >= low - 6).all(axis=1)
        return _Patch(faces, low, high, units[near], *self._boxes(faces, units[near]))

    def _boxes(self, faces: "_Faces", units: Ints) -> tuple[Floats, Floats]:
        moved = np.zeros((len(units), 3))
        moved[:, :2] = faces.view.moved_mm[units]
        return self._low[units] + moved, self._high[units] + moved

    def _corners(self, faces: "_Faces", units: Ints) -> Floats:
        low, high = self._boxes(faces, units)
        pick = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) > 0
        return faces.view.camera.project(np.where(pick[None], high[:, None], low[:, None]))

    def _fitted(
        self,
        patches: Sequence["_Patch"],
        state: State,
        start: Offsets,
        steps: Sequence[float],
    ) -> tuple[float, Offsets]:
        """How well the pieces around explain the patches, moved by such steps until they fit."""
        cfg, levels = self._settings, self._lattice.levels
        for patch in patches:
            patch.lay(start)
        units = sorted({unit for patch in patches for unit in patch.owners(state)})
        off = {unit: start.get(unit, np.zeros(2)) for unit in units}
        drawn = [_Drawn(patch, state, cfg) for patch in patches]
        parts = [d.score() for d in drawn]
        best = sum(parts) - self._cost(off, state)
        for step in steps:
            for group in _groups(units, levels, alone=step < steps[0]):
                touched = [i for i, patch in enumerate(patches) if patch.holds(group)]
                for axis, sign in _DOWN_AND_UP:
                    while True:
                        trial = {**off, **{u: _pushed(off[u], axis, sign * step) for u in group}}
                        for i in touched:
                            patches[i].push(group, axis, sign * step)
                        new = [d.score() if i in touched else parts[i] for i, d in enumerate(drawn)]
                        worth = sum(new) - self._cost(trial, state)
                        if worth <= best + 0.02:
                            for i in touched:
                                patches[i].push(group, axis, -sign * step)
                            break
                        best, parts, off = worth, new, trial
            for d in drawn:
                d.learn()
            parts = [d.score() for d in drawn]
            best = sum(parts) - self._cost(off, state)
        return best, off

    def _cost(self, off: Offsets, state: State) -> float:
        """What it costs that pieces stand so far off."""
        cfg, levels = self._settings, self._lattice.levels
        total = 0.0
        for unit, own in off.items():
            below = off.get(unit - 1) if unit % levels and state[unit - 1] else None
            if below is None:
                total += float(own @ own) / cfg.stack_mm**2
            else:
                total += float((own - below) @ (own - below)) / cfg.level_mm**2
        return 0.5 * total


def _groups(units: Sequence[int], levels: int, *, alone: bool) -> Iterator[list[int]]:
    """What moves together: a unit with those on it, and each unit `alone`."""
    for unit in units:
        carried = [u for u in units if u // levels == unit // levels and u >= unit]
        if len(carried) == 1 or unit == min(u for u in units if u // levels == unit // levels):
            yield carried
        elif alone:
            yield carried
            yield [unit]


def _pushed(off: Floats, axis: int, by: float) -> Floats:
    moved = off.copy()
    moved[axis] += by
    return moved


class _Patch:
    """A small part of a picture with the boxes that its rays may meet."""

    def __init__(
        self, faces: "_Faces", low_px: Ints, high_px: Ints, units: Ints, low: Floats, high: Floats
    ) -> None:
        self.faces = faces
        self.corner = int(low_px[0]), int(low_px[1])
        view, lattice = faces.view, faces.lattice
        u, v = np.meshgrid(
            np.arange(low_px[0], high_px[0] + 1), np.arange(low_px[1], high_px[1] + 1)
        )
        self.shape = u.shape
        origin, along = view.camera.rays(np.stack([u.ravel(), v.ravel()], axis=1).astype(float))
        self._origin = origin
        self._slow = np.where(np.abs(along) < 1e-9, 1e-9, along).T
        self._side = along.T < 0
        self.units = units
        self._index = {int(unit): i for i, unit in enumerate(units)}
        self._first = low, high
        self._off: Offsets = {}
        part = (slice(v[0, 0], v[-1, 0] + 1), slice(u[0, 0], u[0, -1] + 1))
        self.seen = view.image[part].reshape(-1, 3).astype(np.float32)
        self.bare = light_of(view.empty[part].reshape(-1, 3)) * faces.gains
        point = origin[:2] - (origin[2] / self._slow[2] * self._slow[:2]).T
        self._dimming = faces.dimming(point)
        self._shades: dict[tuple[int, int, int], Floats32] = {}
        # Groups of pixels: the faces of each box, then the room, then the cells of the board.
        self.ground = len(units) * len(FACES)
        cell = np.floor(point / lattice.pitch_mm).astype(int)
        inside = (cell >= 0).all(axis=1) & (cell < (lattice.columns, lattice.ranks)).all(axis=1)
        inside &= self._slow[2] < 0
        self.groups_of_ground = self.ground + np.where(
            inside, 1 + cell[:, 1] * lattice.columns + cell[:, 0], 0
        )
        self.every = self.ground + 1 + lattice.columns * lattice.ranks
        self.near = np.ones(len(along), dtype=bool)
        self.noise = 0.0  # of 255, once it is known
        many = len(units), len(along)
        self._enter = np.empty(many, dtype=np.float32)
        self._face = np.empty(many, dtype=np.int8)
        self._near = np.empty((3, *many), dtype=np.float32)  # where each ray comes in, by axis
        self._far = np.empty((3, *many), dtype=np.float32)
        for i in range(len(units)):
            for axis in range(3):
                self._cut(i, axis)
            self._meet(i)

    def lay(self, off: Offsets) -> None:
        """Puts all boxes so far off their first places."""
        for unit in {*off, *self._off}:
            i = self._index.get(unit)
            here, there = self._off.get(unit), off.get(unit)
            if i is None or (here is not None and there is not None and (here == there).all()):
                continue
            self._off[unit] = np.zeros(2) if there is None else there.copy()
            for axis in (0, 1):
                self._cut(i, axis)
            self._meet(i)

    def push(self, units: Sequence[int], axis: int, by: float) -> None:
        """Moves some boxes sideways."""
        for unit in units:
            i = self._index.get(unit)
            if i is not None:
                self._off[unit] = _pushed(self._off.get(unit, np.zeros(2)), axis, by)
                self._cut(i, axis)
                self._meet(i)

    def _cut(self, i: int, axis: int) -> None:
        off = self._off.get(int(self.units[i]))
        by = 0.0 if off is None or axis == 2 else off[axis]
        a = (self._first[0][i, axis] + by - self._origin[axis]) / self._slow[axis]
        b = (self._first[1][i, axis] + by - self._origin[axis]) / self._slow[axis]
        np.minimum(a, b, out=self._near[axis, i])
        np.maximum(a, b, out=self._far[axis, i])

    def _meet(self, i: int) -> None:
        x, y, z = self._near[:, i]
        enter = np.maximum(np.maximum(x, y), z)
        leave = np.minimum(np.minimum(self._far[0, i], self._far[1, i]), self._far[2, i])
        self._enter[i] = np.where((enter < leave) & (leave > 0), enter, np.inf)
        sideways = np.where(enter == x, 1 + self._side[0], 3 + self._side[1])
        self._face[i] = np.where(enter == z, 0, sideways)

    def holds(self, units: Sequence[int]) -> bool:
        """Whether any of these units may be seen here."""
        return any(unit in self._index for unit in units)

    def groups(self, state: State) -> Ints:
        """What every pixel shows: the face of a box, or the ground."""
        there = np.flatnonzero(state[self.units] > 0)
        if not len(there):
            return self.groups_of_ground
        enter = self._enter[there]
        first = enter.argmin(axis=0)
        at = np.arange(enter.shape[1])
        box = there[first]
        own = box * len(FACES) + self._face[box, at]
        return np.where(enter[first, at] < np.inf, own, self.groups_of_ground)

    def shades(self, letter: int, face: int, level: int) -> Floats32:
        """The colours (S, 3) of a face here, as bytes, in all its shades."""
        found = self._shades.get((letter, face, level))
        if found is None:
            found = _bytes(self.faces.shades(letter, face, level) / self._dimming)
            self._shades[letter, face, level] = found
        return found

    def owners(self, state: State) -> set[int]:
        """The units that are seen near what differs."""
        groups = self.groups(state)[self.near]
        boxes = np.bincount(groups[groups < self.ground] // len(FACES), minlength=len(self.units))
        return set(self.units[boxes >= _SOME].tolist())

    def differ(self, one: State, other: State) -> NDArray[np.bool_]:
        """Where two states show different pieces, or colours."""
        a, b = self.groups(one), self.groups(other)
        units = np.append(self.units, 0)
        box = np.minimum(a // len(FACES), len(self.units))
        recoloured = (a < self.ground) & (one[units[box]] != other[units[box]])
        return np.asarray((a != b) | recoloured).reshape(self.shape)


class _Faces:
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
            places = np.column_stack([mean[0] + _SHADES, hue_when_darker(mean, mean[0] + _SHADES)])
            found = np.maximum(np.exp(places @ _BACK.T) - DARKEST, 0) * self.gains
            self._known[colour, face, level] = np.asarray(found, dtype=np.float32)
        return self._known[colour, face, level]


class _Drawn:
    """A patch drawn under one answer, against what the camera shows."""

    def __init__(self, patch: _Patch, state: State, settings: CloseSettings) -> None:
        self._patch, self._state, self._cfg = patch, state, settings
        self.noise = patch.noise or settings.noise[0]
        self._seen = patch.seen[patch.near]
        self.learn()

    def learn(self) -> None:
        """Takes the colours of faces from the picture, as they are drawn now."""
        cfg, patch = self._cfg, self._patch
        groups = patch.groups(self._state)
        inner = _well_inside(groups.reshape(patch.shape)).ravel()
        self._colour = self._likely()
        share = np.ones((patch.every, 3), dtype=np.float32)
        self._cost = 0.0
        off: list[Floats32] = []
        wide: list[tuple[int, NDArray[np.bool_]]] = []
        for group in np.flatnonzero(np.bincount(groups, minlength=patch.every)).tolist():
            here = groups == group
            inside = here & inner
            enough = int(np.count_nonzero(inside)) >= cfg.inside
            if group >= patch.ground:
                share[group] = self._light_on_ground(inside if enough else here)
            elif enough:
                middle = np.median(patch.seen[inside], axis=0)
                self._colour[group] = self._own(group, middle)
                off.append(patch.seen[inside] - middle)
            else:
                self._colour[group] = self._guess(group, here)
                continue
            if enough:
                wide.append((group, here))
        self._bare = _bytes(patch.bare * share[patch.groups_of_ground])
        if off and not patch.noise:
            spread = float(np.sqrt(np.mean(np.minimum(np.concatenate(off) ** 2, 900.0))))
            self.noise = float(np.clip(1.2 * spread, *cfg.noise))
        self._shine(wide)

    def _shine(self, wide: Sequence[tuple[int, NDArray[np.bool_]]]) -> None:
        """Takes from the picture how light changes over faces and cells: shadows lie on them."""
        cfg, patch = self._cfg, self._patch
        many = patch.every
        self._row = np.zeros(many, dtype=np.int64)  # of each group; in the first nothing changes
        self._shine_of = np.ones((1 + len(wide), len(patch.seen)), dtype=np.float32)
        self._shine_cost = np.zeros_like(self._shine_of)
        seen = patch.seen.sum(axis=1)
        for row, (group, here) in enumerate(wide, 1):
            drawn = self._bare.sum(axis=1) if group >= patch.ground else self._colour[group].sum()
            both = np.stack([here * seen, here * drawn], axis=1, dtype=np.float32)
            near = cv2.GaussianBlur(both.reshape(*patch.shape, 2), (0, 0), cfg.smooth_px)
            a, b = near.reshape(-1, 2).T
            share = np.clip((a + 1.0) / (b + 1.0), *cfg.shadow)
            self._row[group] = row
            self._shine_of[row] = share
            unusual = 0.5 * np.square(np.log(share) / cfg.shadow_like)
            self._shine_cost[row] = np.minimum(unusual, cfg.shadow_cost)

    def _likely(self) -> Floats32:
        """What faces look like of which nothing is known."""
        patch = self._patch
        table = np.zeros((patch.every, 3), dtype=np.float32)
        for i, unit in enumerate(patch.units):
            if self._state[unit]:
                for face in range(len(FACES)):
                    group = i * len(FACES) + face
                    table[group] = self._shades(group)[_SHADED]
        return table

    def _shades(self, group: int) -> Floats32:
        box, face = divmod(group, len(FACES))
        unit = int(self._patch.units[box])
        level = unit % self._patch.faces.lattice.levels
        return self._patch.shades(int(self._state[unit]) - 1, face, level)

    def _own(self, group: int, seen: Floats32) -> Floats32:
        """The colour that a face of this piece may have that is nearest to what is seen of it.

        What it costs that a face looks so is counted; what no such face shows, its pixels pay.
        """
        cfg = self._cfg
        own = of_light(_light(seen[None]))[0]
        curve = of_light(_light(self._shades(group)))
        nearest = int(np.abs(curve[:, 0] - own[0]).argmin())
        off = own[1:] - curve[nearest, 1:]
        far = float(np.hypot(*off))
        beyond = max(0.0, abs(float(curve[nearest, 0] - own[0])) - 0.1)
        usual = cfg.hue * (1.0 + 2.0 * float(np.exp(-(own[0] + 5.2))))
        self._cost += min(0.5 * (far / usual) ** 2 + 5 * beyond, cfg.hue_cost)
        self._cost += 0.5 * float(_rarity(own[0] - (curve[-1, 0] - _SHADES[-1])))
        most = cfg.hue_most * usual
        if far <= most and not beyond:
            return seen
        place = curve[nearest].copy()
        place[0] = np.clip(own[0], place[0] - 0.1, place[0] + 0.1)
        place[1:] += off * np.float32(min(1.0, most / max(far, 1e-6)))
        return np.asarray(_bytes(np.exp(place[None] @ _BACK.T) - np.float32(DARKEST))[0])

    def _guess(self, group: int, here: NDArray[np.bool_]) -> Floats32:
        """The shade in which a sliver explains its pixels best."""
        cfg, shades = self._cfg, self._shades(group)
        away = ((self._patch.seen[here][None] - shades[:, None]) ** 2).sum(axis=2)
        told = np.minimum(0.5 * away / (1.5 * self.noise) ** 2, cfg.bound).sum(axis=1)
        pick = int((cfg.weight * told + _rarity(_SHADES)).argmin())
        self._cost += float(_rarity(_SHADES[pick]))
        return np.asarray(shades[pick])

    def _light_on_ground(self, inside: NDArray[np.bool_]) -> Floats32:
        """In which light the bare board is here."""
        seen = _light(np.median(self._patch.seen[inside], axis=0)[None])[0] + DARKEST
        bare = np.median(self._patch.bare[inside], axis=0) + DARKEST
        share = np.log(seen / bare)
        bright = float(np.clip(share.mean(), -2.2, 0.3))
        tint = share - share.mean()
        hue = np.clip(tint, -0.35, 0.35)
        self._cost += float(_rarity(bright)) + min(float(((tint - hue) ** 2).sum()) / 0.02, 6.0)
        return np.asarray(np.exp(bright + hue), dtype=np.float32)

    def score(self) -> float:
        """How well the drawing explains the picture."""
        cfg, patch = self._cfg, self._patch
        groups = patch.groups(self._state)
        drawn = self._colour.take(groups, axis=0)
        ground = groups >= patch.ground
        drawn[ground] = self._bare[ground]
        light = self._row[groups], np.arange(len(groups))
        drawn *= self._shine_of[light][:, None]
        smooth = cv2.GaussianBlur(drawn.reshape(*patch.shape, 3), (0, 0), cfg.blur_px)
        away = smooth.reshape(-1, 3)[patch.near] - self._seen
        told = np.einsum("pc,pc->p", away, away) * np.float32(0.5 / self.noise**2)
        told += self._shine_cost[light][patch.near]
        return -cfg.weight * float(np.minimum(told, cfg.bound).sum()) - self._cost


def _well_inside(grid: Ints) -> NDArray[np.bool_]:
    """Which pixels have none of another group within two pixels across and along."""
    same = np.ones(grid.shape, dtype=bool)
    for step in (1, 2):
        for axis in (0, 1):
            same &= (np.roll(grid, step, axis) == grid) & (np.roll(grid, -step, axis) == grid)
    return same


def _rarity(bright: Floats32 | float) -> Floats:
    """What it costs that a face lies in so much more or less light than learned."""
    off = np.asarray(bright, dtype=np.float64)
    darker = 0.5 * np.maximum(-off - 0.2, 0.0)
    return np.asarray(np.minimum(np.where(off < 0, darker, 0.5 * (off / 0.2) ** 2), 3.0))


def _bytes(light: Floats32) -> Floats32:
    """Values of sRGB up to 255 of light, not rounded."""
    v = np.clip(light, 0, 1)
    curved = 1.055 * np.maximum(v, 1e-9) ** np.float32(1 / 2.4) - 0.055
    return np.asarray(255 * np.where(v <= 0.0031308, 12.92 * v, curved), dtype=np.float32)


def _light(values: Floats32) -> Floats32:
    """Light of such values."""
    v = np.asarray(values, dtype=np.float32) / 255
    curved = ((np.maximum(v, 0) + 0.055) / 1.055) ** 2.4
    return np.asarray(np.where(v <= 0.04045, v / 12.92, curved), dtype=np.float32)
