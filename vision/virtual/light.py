"""Shadows: how much of each lamp, and of the light from everywhere, reaches every place.

A small block of planes over the board is swept once from top to bottom for each lamp sample: the
light of a plane is that of the plane above, moved along the ray and blocked by what stands
between. Its cost does not depend on how many pieces stand, and penumbras widen with distance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.virtual.values import F32, Lamp, Solid

U8 = NDArray[np.uint8]
_REACH_MM = 170.0  # shadows are followed so far around the board
_LAMP_SAMPLES = ((0.0, 0.0), (0.75, 0.1), (-0.45, 0.65), (-0.35, -0.7))
_SKY = (*((math.radians(60 * k + 17), math.radians(38)) for k in range(6)), (0.0, 1.5))


@dataclass(frozen=True, slots=True)
class Block:
    """The planes: lowest corner, size of a texel, distance of planes, and their numbers."""

    low_mm: tuple[float, float, float]
    texel_mm: float
    step_mm: float
    shape: tuple[int, int, int]  # planes, rows, columns

    @staticmethod
    def over(wide: float, deep: float, high: float, floor: float, step: float) -> "Block":
        """The block over a board of this size; `floor` is the height of the table."""
        texel = 2.0 if max(wide, deep) < 320 else 2.5
        planes = math.ceil((high - floor) / step) + 1
        rows, columns = (math.ceil((s + 2 * _REACH_MM) / texel) for s in (deep, wide))
        return Block((-_REACH_MM, -_REACH_MM, floor), texel, step, (planes, rows, columns))

    def atlas(self, x: F32, y: F32, z: F32) -> tuple[F32, F32, F32, F32]:
        """Column, row in the lower and in the upper plane, and the weight of the upper one."""
        planes, rows, columns = self.shape
        u = np.clip((x - self.low_mm[0]) / self.texel_mm - 0.5, 0, columns - 1)
        v = np.clip((y - self.low_mm[1]) / self.texel_mm - 0.5, 0, rows - 1)
        w = np.clip((z - self.low_mm[2]) / self.step_mm, 0, planes - 1.001)
        plane = np.floor(w)
        return u, v + plane * rows, v + np.minimum(plane + 1, planes - 1) * rows, w - plane


def occupancy(block: Block, solids: Sequence[Solid]) -> U8:
    """How much of each slab between two planes the solids fill, 0 to 255."""
    planes, rows, columns = block.shape
    filled = np.zeros((planes, rows, columns), np.uint8)
    for solid in solids:
        corners = solid.corners()
        low, high = float(corners[:, 2].min()), float(corners[:, 2].max())
        foot = (corners[:4, :2] + corners[4:, :2]) / 2
        px = (foot[[0, 1, 3, 2]] - block.low_mm[:2]) / block.texel_mm - 0.5
        px_fixed = np.round(px * 16).astype(np.int32)
        first = max(0, math.floor((low - block.low_mm[2]) / block.step_mm + 1e-6))
        last = min(planes - 1, math.ceil((high - block.low_mm[2]) / block.step_mm - 1e-6))
        for plane in range(first, last):
            bottom = block.low_mm[2] + plane * block.step_mm
            part = (min(high, bottom + block.step_mm) - max(low, bottom)) / block.step_mm
            if part > 0.04:
                value = min(255, round(255 * part))
                cv2.fillConvexPoly(filled[plane], px_fixed, value, cv2.LINE_AA, 4)
    return filled


def _down(block: Block, filled: U8, moves: Sequence[tuple[float, float, float]]) -> U8:
    """What reaches each plane from above; `moves` has (shrink, across, along) for each slab."""
    planes, rows, columns = block.shape
    light = np.full((planes, rows, columns), 255, np.uint8)
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    blocked = False
    used = filled.reshape(planes, -1).max(axis=1)
    for plane in range(planes - 2, -1, -1):
        shrink, across, along = moves[plane]
        if blocked:
            whole = np.array([[1 - shrink, 0, across], [0, 1 - shrink, along]])
            cv2.warpAffine(
                light[plane + 1], whole, (columns, rows), light[plane], how, borderValue=255
            )
        if not used[plane]:
            continue
        shade = np.zeros((rows, columns), np.uint8)
        for part in (0.25, 0.75):
            some = np.array(
                [[1 - part * shrink, 0, part * across], [0, 1 - part * shrink, part * along]]
            )
            cv2.max(shade, cv2.warpAffine(filled[plane], some, (columns, rows), flags=how), shade)
        light[plane] = cv2.multiply(light[plane], 255 - shade, scale=1 / 255)
        blocked = True
    return light


def _lamp_moves(block: Block, at: tuple[float, float, float]) -> list[tuple[float, float, float]]:
    u = (at[0] - block.low_mm[0]) / block.texel_mm - 0.5
    v = (at[1] - block.low_mm[1]) / block.texel_mm - 0.5
    shrink = [
        block.step_mm / max(block.step_mm, at[2] - block.low_mm[2] - plane * block.step_mm)
        for plane in range(block.shape[0])
    ]
    return [(a, a * u, a * v) for a in shrink]


def _sky_moves(block: Block, azimuth: float, height: float) -> list[tuple[float, float, float]]:
    far = block.step_mm / math.tan(height) / block.texel_mm
    return [(0.0, far * math.cos(azimuth), far * math.sin(azimuth))] * block.shape[0]


def _samples(lamp: Lamp) -> list[tuple[float, float, float]]:
    """Places on the lamp's disc, which faces the board."""
    if lamp.radius_mm < 8:
        return [lamp.at_mm]
    ahead = -np.array(lamp.at_mm) / np.linalg.norm(lamp.at_mm)
    side = np.cross(ahead, [0.0, 0.0, 1.0])
    side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-3 else np.array([1.0, 0, 0])
    other = np.cross(ahead, side)
    places = (
        np.array(lamp.at_mm) + lamp.radius_mm * (a * side + b * other) for a, b in _LAMP_SAMPLES
    )
    return [(float(p[0]), float(p[1]), float(p[2])) for p in places]


def light_atlas(block: Block, solids: Sequence[Solid], lamps: Sequence[Lamp]) -> U8:
    """For every place of the block the part of the sky and of each lamp that it sees.

    One tall picture, plane under plane; channel 0 is the sky, then up to three lamps.
    """
    planes, rows, columns = block.shape
    filled = occupancy(block, solids)
    atlas = np.full((planes * rows, columns, 4), 255, np.uint8)
    atlas[..., 0] = _sky(block, filled).reshape(-1, columns)
    for channel, lamp in enumerate(lamps[:3], 1):
        places = _samples(lamp)
        total = np.zeros((planes, rows, columns), np.uint16)
        for at in places:
            total += _down(block, filled, _lamp_moves(block, at))
        seen = (total // len(places)).astype(np.uint8).reshape(-1, columns)
        atlas[..., channel] = seen
    # Places beyond the block look up its rim, which therefore is in full light.
    planed = atlas.reshape(planes, rows, columns, 4)
    planed[:, [0, -1]] = planed[:, :, [0, -1]] = 255
    return atlas


def _sky(block: Block, filled: U8) -> U8:
    """The part of the sky seen, found on a grid of half the resolution."""
    planes, rows, columns = block.shape
    small_size = (columns // 2, rows // 2)
    small = np.stack([cv2.resize(p, small_size, interpolation=cv2.INTER_AREA) for p in filled])
    half = Block(block.low_mm, 2 * block.texel_mm, block.step_mm, (planes, *small_size[::-1]))
    total = np.zeros(small.shape, np.uint16)
    for azimuth, height in _SKY:
        total += _down(half, small, _sky_moves(half, azimuth, height))
    seen = (total // len(_SKY)).astype(np.uint8)
    return np.stack([cv2.resize(p, (columns, rows)) for p in seen])
