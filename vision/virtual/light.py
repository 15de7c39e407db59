"""Shadows: how much of each lamp, and of the light from everywhere, reaches every place.

A small block of planes over the board is swept once from top to bottom for each lamp sample: the
light of a plane is that of the plane above, moved along the ray and blocked by what stands
between. Its cost does not depend on how many pieces stand, and penumbras widen with distance.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.virtual.values import F32, Lamp, Solid

U8 = NDArray[np.uint8]
Box = tuple[slice, slice]
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


_NEAREST = 1.25  # planes below a lamp; at one the whole plane's light would come from one place


@dataclass(frozen=True, slots=True)
class Move:
    """Where the light of a plane comes from in the plane above: a shrinking and a shift."""

    shrink: float
    across: float
    along: float

    def reach(self, box: Box, part: float) -> Box:
        """Where things of a box of the plane above are seen after a part of the way, with a rim."""
        found = []
        for side, shift in zip(box, (self.along, self.across), strict=True):
            ends = [(v - part * shift) / (1 - part * self.shrink) for v in (side.start, side.stop)]
            found.append(slice(math.floor(min(ends)) - 2, math.ceil(max(ends)) + 2))
        return found[0], found[1]

    def warped(self, plane: U8, box: Box, part: float, border: int) -> U8:
        """A box of the plane above as it arrives after a part of the way."""
        scale = 1 - part * self.shrink
        rows, columns = box
        whole = np.array(
            [
                [scale, 0, scale * columns.start + part * self.across],
                [0, scale, scale * rows.start + part * self.along],
            ]
        )
        size = (columns.stop - columns.start, rows.stop - rows.start)
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return _u8(cv2.warpAffine(plane, whole, size, flags=how, borderValue=border))


def _down(block: Block, filled: U8, moves: Sequence[Move]) -> Iterator[tuple[int, Box, U8]]:
    """What reaches each plane from above, plane by plane, where that is not everything."""
    planes, rows, columns = block.shape
    above = np.full((rows, columns), 255, np.uint8)
    dimmed: Box | None = None
    for plane in range(planes - 2, -1, -1):
        move = moves[plane]
        inside = _filled_box(filled[plane])
        reached = [move.reach(box, part) for box, part in ((dimmed, 1.0), (inside, 0.75)) if box]
        if inside:
            reached.append(move.reach(inside, 0.25))
        dimmed = _clipped(reached, rows, columns)
        if dimmed is None:
            continue
        light = move.warped(above, dimmed, 1.0, 255)
        if inside:
            shade = move.warped(filled[plane], dimmed, 0.25, 0)
            cv2.max(shade, move.warped(filled[plane], dimmed, 0.75, 0), shade)
            light = _u8(cv2.multiply(light, 255 - shade, scale=1 / 255))
        above = np.full((rows, columns), 255, np.uint8)
        above[dimmed] = light
        yield plane, dimmed, light


def _filled_box(plane: U8) -> Box | None:
    """The rows and columns in which anything stands."""
    x, y, width, height = cv2.boundingRect(plane)
    return (slice(y, y + height), slice(x, x + width)) if width else None


def _clipped(boxes: Sequence[Box], rows: int, columns: int) -> Box | None:
    """The smallest box that holds these, as far as it is on the plane."""
    if not boxes:
        return None
    found = []
    for axis, most in ((0, rows), (1, columns)):
        low = max(0, min(box[axis].start for box in boxes))
        high = min(most, max(box[axis].stop for box in boxes))
        if low >= high:
            return None
        found.append(slice(low, high))
    return found[0], found[1]


def _seen(block: Block, filled: U8, ways: Sequence[Sequence[Move]]) -> U8:
    """The mean light over some ways down, for all planes."""
    dark = np.zeros(block.shape, np.uint16)
    for moves in ways:
        for plane, box, light in _down(block, filled, moves):
            dark[plane][box] += 255 - light
    return np.stack([255 - _u8(cv2.convertScaleAbs(plane, alpha=1 / len(ways))) for plane in dark])


def _lamp_moves(block: Block, at: tuple[float, float, float]) -> list[Move]:
    u = (at[0] - block.low_mm[0]) / block.texel_mm - 0.5
    v = (at[1] - block.low_mm[1]) / block.texel_mm - 0.5
    # What stands as high as the lamp is lit from the side, and not from a single point.
    nearest = _NEAREST * block.step_mm
    shrink = [
        block.step_mm / max(nearest, at[2] - block.low_mm[2] - plane * block.step_mm)
        for plane in range(block.shape[0])
    ]
    return [Move(a, a * u, a * v) for a in shrink]


def _sky_moves(block: Block, azimuth: float, height: float) -> list[Move]:
    far = block.step_mm / math.tan(height) / block.texel_mm
    return [Move(0.0, far * math.cos(azimuth), far * math.sin(azimuth))] * block.shape[0]


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
    columns = block.shape[2]
    filled = occupancy(block, solids)
    parts = [_sky(block, filled)]
    parts += [
        _seen(block, filled, [_lamp_moves(block, at) for at in _samples(lamp)])
        for lamp in lamps[:3]
    ]
    parts += [np.full(block.shape, 255, np.uint8)] * (4 - len(parts))
    for part in parts:
        # Places beyond the block look up its rim, which therefore is in full light.
        part[:, [0, -1]] = part[:, :, [0, -1]] = 255
    return _u8(cv2.merge([part.reshape(-1, columns) for part in parts]))


def _sky(block: Block, filled: U8) -> U8:
    """The part of the sky seen, found on a grid of half the resolution."""
    planes, rows, columns = block.shape
    small_size = (columns // 2, rows // 2)
    small = np.stack([cv2.resize(p, small_size, interpolation=cv2.INTER_AREA) for p in filled])
    half = Block(block.low_mm, 2 * block.texel_mm, block.step_mm, (planes, *small_size[::-1]))
    seen = _seen(half, small, [_sky_moves(half, *sky) for sky in _SKY])
    return np.stack([_u8(cv2.resize(plane, (columns, rows))) for plane in seen])


def _u8(picture: Any) -> U8:
    return np.asarray(picture, dtype=np.uint8)
