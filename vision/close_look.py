"""A closer look at slivers: all pixels around a doubtful place, drawn as two answers would look.

Sample rays lie several pixels apart; what decides on a unit between others is often a strip of a
few rows. Here a small part of each picture is drawn pixel by pixel under either answer, with the
pieces around as they stand and moved until they fit, faces in the colours that they show beside,
and blurred as a lens does. By how much one drawing explains the picture better are two witnesses.
"""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from rules.lattice import Lattice
from vision.drawing import CloseSettings, Drawn, noise_of
from vision.patch import REACH_MM, Boxes, CloseView, Faces, Ints, Offset, Offsets, Patch, State

__all__ = ["CloseLook", "CloseSettings", "CloseView"]


class CloseLook:
    """Compares answers pixel by pixel."""

    def __init__(
        self, lattice: Lattice, views: Sequence[CloseView], settings: CloseSettings | None = None
    ) -> None:
        self._lattice = lattice
        self._settings = settings or CloseSettings()
        self._faces = [Faces(view, lattice) for view in views]
        self._boxes = [Boxes(view, lattice) for view in views]

    def gain(self, state: State, other: State, by_rays: float) -> float | None:
        """What the pictures gain by another state, which rays say gains so much.

        None where too few pixels tell.
        """
        patches = [
            patch
            for faces, boxes in zip(self._faces, self._boxes, strict=True)
            if (patch := self._patch(faces, boxes, state, other)) is not None
        ]
        if not patches:
            return None
        cfg = self._settings
        one, two = self._both_fitted(patches, state, other)
        # Where neither drawing looks like the picture, nothing is to be learned from the two.
        pixels = sum(int(np.count_nonzero(patch.near)) for patch in patches)
        unlike = -max(one, two) / (cfg.weight * cfg.bound * pixels)
        good, bad = cfg.unlike
        trust = float(np.clip((bad - unlike) / (bad - good), 0.0, 1.0))
        fitted = trust * _within(two - one, cfg.most_fitted)
        if not np.array_equal(state > 0, other > 0):
            return by_rays + cfg.worth_of_heights * fitted
        # Only colours differ: what stands there has been moved until it fits, and tells once more.
        before, after = (self._fitted(patches, s, {}, ())[0] for s in (state, other))
        unmoved = trust * _within(after - before, cfg.most)
        return cfg.rays * by_rays + cfg.worth * unmoved + cfg.worth_fitted * fitted

    def _both_fitted(
        self, patches: Sequence[Patch], state: State, other: State
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

    def _patch(self, faces: Faces, boxes: Boxes, one: State, other: State) -> Patch | None:
        """The part of a picture in which two answers differ, if it is large enough."""
        cfg = self._settings
        corners = boxes.corners(np.flatnonzero(one != other))
        if not np.isfinite(corners).all():
            return None
        corners = corners.reshape(-1, 2)
        margin = cfg.margin_px
        low = np.floor(corners.min(axis=0)).astype(int) - margin
        high = np.ceil(corners.max(axis=0)).astype(int) + margin
        patch = self._cut(faces, boxes, low, high, one, other)
        if patch is None:
            return None
        differ = patch.differ(one, other)
        if int(differ.sum()) < cfg.least_px:
            return None
        ys, xs = np.nonzero(differ)
        x, y = patch.corner
        low = np.maximum((x + xs.min() - margin, y + ys.min() - margin), low)
        high = np.minimum((x + xs.max() + margin, y + ys.max() + margin), high)
        patch = self._cut(faces, boxes, low, high, one, other)
        if patch is None:
            return None
        size = np.ones((2 * margin + 1, 2 * margin + 1), dtype=np.uint8)
        patch.near = cv2.dilate(patch.differ(one, other).astype(np.uint8), size) > 0
        patch.noise = min(noise_of(patch, state, cfg) for state in (one, other))
        return patch

    def _cut(
        self, faces: Faces, boxes: Boxes, low: Ints, high: Ints, one: State, other: State
    ) -> Patch | None:
        low = np.maximum(low, 0)
        high = np.minimum(high, np.array(faces.view.camera.size) - 1)
        if (high - low < 4).any():
            return None
        units = np.flatnonzero((one > 0) | (other > 0))
        corners = boxes.corners(units)
        near = np.isfinite(corners).all(axis=(1, 2))
        near &= (corners.min(axis=1) <= high + 6).all(axis=1)
        near &= (corners.max(axis=1) >= low - 6).all(axis=1)
        return Patch(faces, boxes, low, high, units[near])

    def _fitted(
        self,
        patches: Sequence[Patch],
        state: State,
        start: Offsets,
        steps: Sequence[float],
    ) -> tuple[float, Offsets]:
        """How well the pieces around explain the patches, moved by such steps until they fit."""
        cfg, levels = self._settings, self._lattice.levels
        units = sorted({unit for patch in patches for unit in patch.owners(state, start)})
        off = {unit: start.get(unit, (0.0, 0.0)) for unit in units}
        drawn = [Drawn(patch, state, start, cfg) for patch in patches]
        best = sum(d.score for d in drawn) - self._cost(off, state)
        for step in steps:
            for group in _groups(units, levels, alone=step < steps[0]):
                best, off = self._pushed(drawn, group, state, step, best, off)
            for d in drawn:
                d.learn()
            best = sum(d.score for d in drawn) - self._cost(off, state)
        return best, off

    def _pushed(
        self,
        drawn: Sequence[Drawn],
        group: Sequence[int],
        state: State,
        step: float,
        best: float,
        off: dict[int, Offset],
    ) -> tuple[float, dict[int, Offset]]:
        """The same with some units, which move together, pushed as far as that is better."""
        held = [d.hold(group, off) for d in drawn]
        for axis in (0, 1):
            for by in (step, -step):
                gained = False
                while True:
                    trial = {**off, **{unit: _further(off[unit], axis, by) for unit in group}}
                    if any(abs(trial[unit][axis]) > REACH_MM for unit in group):
                        break
                    new = [
                        d.moved(own, trial) if own is not None else None
                        for d, own in zip(drawn, held, strict=True)
                    ]
                    scores = zip(drawn, new, strict=True)
                    worth = sum(d.score if own is None else own.score for d, own in scores)
                    worth -= self._cost(trial, state)
                    if worth <= best + 0.02:
                        break
                    best, off, gained = worth, trial, True
                    for d, own in zip(drawn, new, strict=True):
                        if own is not None:
                            d.take(own)
                if gained:
                    break  # the other way lies what was left
        return best, off

    def _cost(self, off: Offsets, state: State) -> float:
        """What it costs that pieces stand so far off."""
        cfg, levels = self._settings, self._lattice.levels
        stack, level = 1 / cfg.stack_mm**2, 1 / cfg.level_mm**2
        total = 0.0
        for unit, (x, y) in off.items():
            below = off.get(unit - 1) if unit % levels and state[unit - 1] else None
            if below is None:
                total += (x * x + y * y) * stack
            else:
                total += ((x - below[0]) ** 2 + (y - below[1]) ** 2) * level
        return 0.5 * total


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)


def _groups(units: Sequence[int], levels: int, *, alone: bool) -> Iterator[list[int]]:
    """What moves together: a unit with those on it, and each unit `alone`."""
    for unit in units:
        carried = [u for u in units if u // levels == unit // levels and u >= unit]
        if len(carried) == 1 or unit == min(u for u in units if u // levels == unit // levels):
            yield carried
        elif alone:
            yield carried
            yield [unit]


def _further(off: Offset, axis: int, by: float) -> Offset:
    x, y = off
    return (x + by, y) if axis == 0 else (x, y + by)
