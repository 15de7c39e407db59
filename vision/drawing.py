"""Parts of pictures drawn as they would look under an answer, against what the camera shows.

Faces have the colours that they show beside, in light that changes over them. Where a few boxes are
moved only what they change is drawn again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.colour import FACES
from calibration.colour_space import AXES, DARKEST, Floats32, of_light
from vision.patch import SHADES, Floats, Ints, Offsets, Patch, State, Window, as_bytes, as_light

_BACK = np.linalg.inv(AXES).astype(np.float32)


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
    rays: float = 0.75  # what the score by rays counts where only colours differ,
    worth: float = 0.2  # a difference here as pieces stand,
    most: float = 20.0  # at most so much of it,
    worth_fitted: float = 0.25  # the same with pieces moved until they fit
    most_fitted: float = 40.0
    worth_of_heights: float = 0.25  # of the latter where heights differ; rays count fully there
    unlike: tuple[float, float] = (0.50, 0.65)  # how little a drawing may look like the picture
    reach: float = 12.0  # by rays; answers that are so much worse are not looked at
    asked: int = 24  # answers that are looked at in one picture
    enough: float = 0.3  # gain by which another answer is taken


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """A window of a patch, where what it shows is blurred to, and what that is drawn from."""

    window: Window
    blurred: Window
    drawn: Window
    inside: Window  # the second as a part of the third

    @staticmethod
    def of(window: Window, blur_px: int, shape: tuple[int, int]) -> "_Around":
        """What lies around a window, given over how many pixels it is blurred."""
        blurred = _wider(window, blur_px, shape)
        drawn = _wider(window, 2 * blur_px, shape)
        rows, columns = (
            slice(own.start - wide.start, own.stop - wide.start)
            for own, wide in zip(blurred, drawn, strict=True)
        )
        return _Around(window, blurred, drawn, (rows, columns))


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Some boxes that may be moved, and what is seen where they are if they are gone."""

    boxes: list[int]
    around: _Around
    first: Floats32
    shown: NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class Redrawn:
    """A part of a drawing with some boxes moved, and how well all of it explains the picture."""

    score: float
    around: _Around
    shown: NDArray[np.int16]
    drawn: Floats32
    costs: Floats32
    told: Floats32


class Drawn:
    """A patch drawn under one answer, against what the camera shows."""

    def __init__(self, patch: Patch, state: State, off: Offsets, settings: CloseSettings) -> None:
        self._patch, self._state, self._cfg = patch, state, settings
        self._first_off = off
        self._there = patch.there(state)
        self.shown = patch.laid(self._there, off)[1]
        self._seen = patch.seen.reshape(*patch.shape, 3)
        self._blur_px = _kernel_px(settings.blur_px) // 2
        self._likely = self._likely_colours()
        self.score = 0.0
        self.learn()

    def hold(self, units: Sequence[int], off: Offsets) -> Held | None:
        """Takes some units out, that they may be moved; None where none of them is here."""
        boxes = [i for i in self._patch.boxes_of(units) if i in self._there]
        if not boxes:
            return None
        window = self._patch.window(boxes)
        others = [i for i in self._there if i not in boxes]
        gone = self._patch.laid(others, {**self._first_off, **off}, window)
        return Held(boxes, _Around.of(window, self._blur_px, self._patch.shape), *gone)

    def moved(self, held: Held, off: Offsets) -> Redrawn | None:
        """The drawing with the units that are held so far off their places; None if it is this."""
        around = held.around
        first, shown = held.first.copy(), held.shown.copy()
        self._patch.put(held.boxes, off, around.window, first, shown)
        changed = shown != self.shown[around.window]
        y, x = np.nonzero(changed)
        if not len(y):
            return None
        y, x = y + around.window[0].start, x + around.window[1].start
        value, cost = self._pixels(shown[changed], y * self._patch.shape[1] + x)
        drawn, costs = self._drawn[around.drawn].copy(), self._costs[around.blurred].copy()
        drawn[y - around.drawn[0].start, x - around.drawn[1].start] = value
        costs[y - around.blurred[0].start, x - around.blurred[1].start] = cost
        told = self._told_of(drawn, costs, around)
        more = told.sum(dtype=np.float64) - self._told[around.blurred].sum(dtype=np.float64)
        score = self.score - self._cfg.weight * float(more)
        return Redrawn(score, around, shown, drawn, costs, told)

    def take(self, redrawn: Redrawn) -> None:
        """Goes on with boxes moved so."""
        around = redrawn.around
        self.shown[around.window] = redrawn.shown
        self._drawn[around.drawn] = redrawn.drawn
        self._costs[around.blurred] = redrawn.costs
        self._told[around.blurred] = redrawn.told
        self.score = redrawn.score

    def _pixels(self, groups: NDArray[np.int16], at: Ints) -> tuple[Floats32, Floats32]:
        """What pixels at these places show of these groups, and what the light on them costs."""
        drawn = self._colour.take(groups, axis=0)
        ground = np.flatnonzero(groups >= self._patch.ground)
        drawn[ground] = self._bare[at[ground]]
        light = self._row[groups], at
        drawn *= self._shine_of[light][:, None]
        return drawn, self._shine_cost[light]

    def _told_of(self, drawn: Floats32, costs: Floats32, around: _Around) -> Floats32:
        """How badly each pixel is explained where a window is blurred to."""
        smooth = cv2.GaussianBlur(drawn, (0, 0), self._cfg.blur_px)
        away = smooth[around.inside] - self._seen[around.blurred]
        told = np.einsum("yxc,yxc->yx", away, away)
        told *= np.float32(0.5 / self.noise**2)
        told += costs
        np.minimum(told, np.float32(self._cfg.bound), out=told)
        told *= self._patch.near[around.blurred]
        return np.asarray(told)

    def learn(self) -> None:
        """Takes the colours of faces from the picture, as they are drawn now."""
        cfg, patch = self._cfg, self._patch
        self._colour = self._likely.copy()
        share = np.ones((patch.every, 3), dtype=np.float32)
        self._cost = 0.0
        wide: list[tuple[int, Ints]] = []
        for group, here, inside in _by_group(self.shown):
            enough = len(inside) >= cfg.inside
            if group >= patch.ground:
                share[group] = self._light_on_ground(inside if enough else here)
            elif enough:
                self._colour[group] = self._own(group, _middle(patch.seen[inside]))
            else:
                self._colour[group] = self._guess(group, here)
                continue
            if enough:
                wide.append((group, here))
        self._bare = as_bytes(patch.bare * share[patch.groups_of_ground.ravel()])
        self.noise = patch.noise or cfg.noise[0]
        self._shine(wide)
        self._draw()

    def _draw(self) -> None:
        """Draws everything anew."""
        patch = self._patch
        every = np.arange(self.shown.size)
        drawn, costs = self._pixels(self.shown.ravel(), every)
        self._drawn = drawn.reshape(*patch.shape, 3)
        self._costs = costs.reshape(patch.shape)
        self._told = self._told_of(
            self._drawn, self._costs, _Around.of(patch.whole, 0, patch.shape)
        )
        self.score = -self._cfg.weight * float(self._told.sum(dtype=np.float64)) - self._cost

    def _shine(self, wide: Sequence[tuple[int, Ints]]) -> None:
        """Takes from the picture how light changes over faces and cells: shadows lie on them."""
        cfg, patch = self._cfg, self._patch
        height, width = patch.shape
        self._row = np.zeros(patch.every, dtype=np.int64)  # of each group; in the first no change
        many = 1 + len(wide), height * width
        self._shine_of = np.ones(many, dtype=np.float32)
        self._shine_cost = np.zeros(many, dtype=np.float32)
        reach = _kernel_px(cfg.smooth_px) // 2
        for row, (group, here) in enumerate(wide, 1):
            self._row[group] = row
            y, x = np.divmod(here, width)
            own = slice(int(y[0]), int(y[-1]) + 1), slice(int(x.min()), int(x.max()) + 1)
            part = _wider(own, reach, patch.shape)
            ground = group >= patch.ground
            both = np.zeros((part[0].stop - part[0].start, part[1].stop - part[1].start, 2), "f4")
            y, x = y - part[0].start, x - part[1].start
            both[y, x, 0] = patch.seen_sum[here]
            both[y, x, 1] = self._bare[here].sum(axis=1) if ground else self._colour[group].sum()
            near = cv2.GaussianBlur(both, (0, 0), cfg.smooth_px)
            share = np.clip((near[..., 0] + 1.0) / (near[..., 1] + 1.0), *cfg.shadow)
            self._shine_of[row].reshape(patch.shape)[part] = share
            unusual = 0.5 * np.square(np.log(share) / cfg.shadow_like)
            self._shine_cost[row].reshape(patch.shape)[part] = np.minimum(unusual, cfg.shadow_cost)

    def _likely_colours(self) -> Floats32:
        """What faces look like of which nothing is known."""
        patch = self._patch
        table = np.zeros((patch.every, 3), dtype=np.float32)
        for i in self._there:
            letter, level = self._piece(i)
            for face in range(len(FACES)):
                table[i * len(FACES) + face] = patch.likely(letter, face, level)
        return table

    def _piece(self, box: int) -> tuple[int, int]:
        """Colour and level of a box."""
        unit = int(self._patch.units[box])
        return int(self._state[unit]) - 1, unit % self._patch.faces.lattice.levels

    def _shades(self, group: int) -> tuple[Floats32, Floats32]:
        box, face = divmod(group, len(FACES))
        letter, level = self._piece(box)
        return self._patch.shades(letter, face, level)

    def _own(self, group: int, seen: Floats32) -> Floats32:
        """The colour that a face of this piece may have that is nearest to what is seen of it.

        What it costs that a face looks so is counted; what no such face shows, its pixels pay.
        """
        cfg = self._cfg
        own = of_light(as_light(seen[None]))[0]
        curve = self._shades(group)[1]
        nearest = int(np.abs(curve[:, 0] - own[0]).argmin())
        off = own[1:] - curve[nearest, 1:]
        far = float(np.hypot(*off))
        beyond = max(0.0, abs(float(curve[nearest, 0] - own[0])) - 0.1)
        usual = cfg.hue * (1.0 + 2.0 * float(np.exp(-(own[0] + 5.2))))
        self._cost += min(0.5 * (far / usual) ** 2 + 5 * beyond, cfg.hue_cost)
        self._cost += 0.5 * float(_rarity(own[0] - (curve[-1, 0] - SHADES[-1])))
        most = cfg.hue_most * usual
        if far <= most and not beyond:
            return seen
        place = curve[nearest].copy()
        place[0] = np.clip(own[0], place[0] - 0.1, place[0] + 0.1)
        place[1:] += off * np.float32(min(1.0, most / max(far, 1e-6)))
        return np.asarray(as_bytes(np.exp(place[None] @ _BACK.T) - np.float32(DARKEST))[0])

    def _guess(self, group: int, here: Ints) -> Floats32:
        """The shade in which a sliver explains its pixels best."""
        cfg, shades = self._cfg, self._shades(group)[0]
        off = self._patch.seen[here][None] - shades[:, None]
        away = np.einsum("spc,spc->sp", off, off)
        noise = self._patch.noise or cfg.noise[0]
        told = np.minimum(away * np.float32(0.5 / (1.5 * noise) ** 2), cfg.bound).sum(axis=1)
        pick = int((cfg.weight * told + _RARITY_OF_SHADES).argmin())
        self._cost += float(_RARITY_OF_SHADES[pick])
        return np.asarray(shades[pick])

    def _light_on_ground(self, inside: Ints) -> Floats32:
        """In which light the bare board is here."""
        seen = as_light(_middle(self._patch.seen[inside])[None])[0] + DARKEST
        bare = _middle(self._patch.bare[inside]) + DARKEST
        share = np.log(seen / bare)
        bright = float(np.clip(share.mean(), -2.2, 0.3))
        tint = share - share.mean()
        hue = np.clip(tint, -0.35, 0.35)
        self._cost += float(_rarity(bright)) + min(float(((tint - hue) ** 2).sum()) / 0.02, 6.0)
        return np.asarray(np.exp(bright + hue), dtype=np.float32)


def noise_of(patch: Patch, state: State, settings: CloseSettings) -> float:
    """By how much, of 255, faces vary that are well in sight in a state."""
    off = []
    for group, _, inside in _by_group(patch.laid(patch.there(state), {})[1]):
        if group < patch.ground and len(inside) >= settings.inside:
            seen = patch.seen[inside]
            off.append(seen - _middle(seen))
    if not off:
        return settings.noise[0]
    spread = float(np.sqrt(np.mean(np.minimum(np.concatenate(off) ** 2, 900.0))))
    return float(np.clip(1.2 * spread, *settings.noise))


def _by_group(shown: NDArray[np.int16]) -> list[tuple[int, Ints, Ints]]:
    """For each group its pixels, row by row, and those of them that are well inside."""
    groups = shown.ravel()
    inner = _well_inside(shown).ravel()
    order = np.argsort(groups, kind="stable")
    own = groups[order]
    bounds = [0, *(np.flatnonzero(own[1:] != own[:-1]) + 1).tolist(), len(own)]
    found = []
    for first, last in pairwise(bounds):
        here = order[first:last]
        found.append((int(own[first]), here, here[inner[here]]))
    return found


def _well_inside(grid: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which pixels have none of another group within two pixels across and along."""
    wide = np.pad(grid, 2, mode="wrap")
    height, width = grid.shape
    same = np.ones(grid.shape, dtype=bool)
    for step in (0, 1, 3, 4):
        same &= wide[step : step + height, 2:-2] == grid
        same &= wide[2:-2, step : step + width] == grid
    return same


def _middle(values: Floats32) -> Floats32:
    """The median (3) of colours (N, 3)."""
    half = len(values) // 2
    least = half if len(values) % 2 else half - 1
    ordered = np.partition(np.ascontiguousarray(values.T), (least, half), axis=1)
    return np.asarray((ordered[:, least] + ordered[:, half]) / np.float32(2))


def _kernel_px(sigma: float) -> int:
    """Over how many pixels OpenCV blurs pictures of floats."""
    return round(sigma * 8 + 1) | 1


def _wider(window: Window, by: int, shape: tuple[int, int]) -> Window:
    """A window that reaches further to all sides, as far as there is a picture."""
    rows, columns = (
        slice(max(own.start - by, 0), min(own.stop + by, size))
        for own, size in zip(window, shape, strict=True)
    )
    return rows, columns


def _rarity(bright: Floats32 | float) -> Floats:
    """What it costs that a face lies in so much more or less light than learned."""
    off = np.asarray(bright, dtype=np.float64)
    darker = 0.5 * np.maximum(-off - 0.2, 0.0)
    return np.asarray(np.minimum(np.where(off < 0, darker, 0.5 * (off / 0.2) ** 2), 3.0))


_RARITY_OF_SHADES = _rarity(SHADES)
