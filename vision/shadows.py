"""Shadows of what stands on the board, for light from every direction of the sky.

Stacks have no holes, so a map of heights is all: for a direction every place has a height up to
which it lies in shadow. Twice as far is looked in each step, so that a direction costs next to
nothing.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from calibration.obstacles import frame_boxes
from rules.lattice import Board

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RINGS = ((16, 14), (28, 18), (40, 16), (52, 14), (64, 10), (76, 6), (88, 3))  # degrees, directions
_EVERY = 5  # of the directions: the first ones are spread over all of the sky
_LOWEST = 0.05  # sine of a lamp's height
_TEXEL_MM = 1.5  # of the map of heights
_SOFT_MM = 3.0  # over so much height a shadow ends
OFF_MM = 0.7  # so far off a face light is looked up, that no face shades itself
# Outwards from faces, as rays number them.
NORMALS = np.array([(0, 0, 1), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0)], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Sky:
    """Directions from which light may come, and the share of the sky that each stands for."""

    towards: Floats  # (K, 3)
    share: Floats  # (K,)

    @staticmethod
    def whole() -> "Sky":
        heights = [height for height, _ in _RINGS]
        edges = [0.0, *((a + b) / 2 for a, b in pairwise(heights)), 90.0]
        towards, share = [], []
        for number, (height, many) in enumerate(_RINGS):
            low, high = (math.sin(math.radians(e)) for e in edges[number : number + 2])
            up = math.radians(height)
            for k in range(many):
                around = 2 * math.pi * (k + 0.5 * (number % 2)) / many
                flat = math.cos(up)
                towards.append((flat * math.cos(around), flat * math.sin(around), math.sin(up)))
                share.append((high - low) / many)
        some = np.arange(len(share)) % _EVERY == _EVERY // 2
        order = np.concatenate([np.flatnonzero(some), np.flatnonzero(~some)])
        return Sky(np.array(towards)[order], np.array(share)[order])


SKY = Sky.whole()
SOME = slice(0, len(SKY.share) // _EVERY)  # directions that tell how much of the sky is seen


def unit_vector(direction: Floats) -> Floats:
    """The direction alone."""
    return np.asarray(direction / np.linalg.norm(direction))


def around(direction: Floats, degrees: float) -> Floats:
    """A direction and two rings around it, so many degrees apart, as far as above the horizon."""
    upright = (0.0, 0.0, 1.0) if direction[2] < 0.9 else (1.0, 0.0, 0.0)
    across = unit_vector(np.cross(direction, upright))
    along = np.cross(across, direction)
    found = [direction]
    for ring in (1, 2):
        away = math.radians(degrees * ring)
        for turn in np.arange(6 * ring) * (2 * math.pi / (6 * ring)):
            aside = math.cos(turn) * across + math.sin(turn) * along
            found.append(math.cos(away) * direction + math.sin(away) * aside)
    every = np.array(found)
    return np.asarray(every[every[:, 2] > _LOWEST])


class Heights:
    """How high things stand everywhere on the board, and the shadows that they cast."""

    def __init__(self, board: Board, low: Floats, high: Floats) -> None:
        lattice = board.lattice
        frame = frame_boxes(board)
        low, high = np.concatenate([low, frame[:, 0]]), np.concatenate([high, frame[:, 1]])
        self._texel = max(_TEXEL_MM, lattice.pitch_mm / 14)
        rim = 4 * self._texel
        rim += float(frame[:, 1, 0].max()) - lattice.size_mm[0] if len(frame) else 0.0
        self._corner = -rim
        wide, deep = (math.ceil((s + 2 * rim) / self._texel) for s in lattice.size_mm[:2])
        self._high = np.zeros((deep, wide), dtype=np.float32)
        self._shadows: dict[bytes, Floats32] = {}
        first = np.ceil((low[:, :2] - self._corner) / self._texel - 0.5).astype(int).clip(0)
        last = np.ceil((high[:, :2] - self._corner) / self._texel - 0.5).astype(int)
        for (x0, y0), (x1, y1), top in zip(first, last, high[:, 2], strict=True):
            own = self._high[y0:y1, x0:x1]
            np.maximum(own, np.float32(top), out=own)

    def fall(self, points: Floats, face: Ints, towards: Floats) -> Floats32:
        """How much light (K, N) falls on points of faces from each direction, if it gives one."""
        normals = NORMALS[face]
        # Looked up a little before the face, that nothing stands in its own shadow.
        place = points[:, :2] + normals[:, :2] * self._texel * 0.75 - self._corner
        deep, wide = self._high.shape
        column, row = (place / self._texel).astype(np.int64).T
        at = row.clip(0, deep - 1) * wide + column.clip(0, wide - 1)
        over = ((points[:, 2] - OFF_MM) / _SOFT_MM + 1).astype(np.float32)
        found = np.maximum(towards @ normals.T, 0).astype(np.float32)
        for number, direction in enumerate(towards):
            key = direction.tobytes()
            if key not in self._shadows:  # another camera may have asked before
                self._shadows[key] = self._shadow(direction)
            shadow = self._shadows[key].take(at)
            found[number] *= (over - shadow * np.float32(1 / _SOFT_MM)).clip(0, 1)
        return found

    def _shadow(self, direction: Floats) -> Floats32:
        """The height up to which every place lies in the shadow of light from a direction."""
        flat = max(math.hypot(direction[0], direction[1]), 1e-6)
        across, along = direction[0] / flat, direction[1] / flat
        drop = direction[2] / flat * self._texel
        shadow, far = self._high, 1
        reach = float(shadow.max(initial=0.0)) / drop
        deep, wide = shadow.shape
        while far <= reach:
            x, y = round(across * far), round(along * far)
            longer = shadow.copy()
            if abs(x) < wide and abs(y) < deep:
                own = slice(max(-y, 0), deep - max(y, 0)), slice(max(-x, 0), wide - max(x, 0))
                from_ = slice(max(y, 0), deep + min(y, 0)), slice(max(x, 0), wide + min(x, 0))
                further = shadow[from_] - np.float32(drop * far)
                np.maximum(longer[own], further, out=longer[own])
            shadow, far = longer, 2 * far
        return shadow
