"""Light on solids: which colour each hit point sends to the camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.virtual.light import U8, Block
from vision.virtual.texture import wood_grain
from vision.virtual.values import F32, Lamp, Rgb, Solid, f32

_GRAIN_PX_PER_MM = 4.0
_GRAIN_SIZE = 512
_CLEAR_MM = 2.2  # shadows are looked up so far off a face, so that no solid shades itself
_ROW = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Lighting:
    """Everything that shines on the table at one moment."""

    lamps: tuple[Lamp, ...]
    ambient: Rgb
    bounce: Rgb  # what the table throws back up
    block: Block
    atlas: U8

    def reaching(self, x: F32, y: F32, z: F32) -> F32:
        """The part of the sky and of each lamp that points (n,) see, (n, 4)."""
        u, lower, upper, weight = self.block.atlas(x, y, z)
        below = _looked_up(self.atlas, u, lower)
        above = _looked_up(self.atlas, u, upper)
        return np.asarray(
            (below + (above - below) * weight[:, None]) * np.float32(1 / 255), dtype=np.float32
        )


def _looked_up(atlas: U8, u: F32, v: F32) -> F32:
    """Bilinear samples of a tall picture at (n,) places; OpenCV wants them in rows."""
    n = u.size
    rows = -(-n // _ROW)
    x = np.zeros(rows * _ROW, np.float32)
    y = np.zeros(rows * _ROW, np.float32)
    x[:n], y[:n] = u, v
    found = cv2.remap(
        atlas, x.reshape(rows, _ROW), y.reshape(rows, _ROW), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return found.reshape(rows * _ROW, -1)[:n].astype(np.float32)


@lru_cache(maxsize=1)
def _grains() -> F32:
    """Long grain and end grain, (512, 512, 2)."""
    rng = np.random.default_rng(5)
    shape = (_GRAIN_SIZE, _GRAIN_SIZE)
    long = wood_grain(rng, shape, _GRAIN_PX_PER_MM)
    rows, columns = np.mgrid[:_GRAIN_SIZE, :_GRAIN_SIZE].astype(np.float32)
    ring = np.sin(2 * np.pi * np.hypot(rows - 60, columns + 90) / (2.6 * _GRAIN_PX_PER_MM))
    end = 0.45 * ring + 0.35 * rng.standard_normal(shape)
    return np.ascontiguousarray(np.stack([long, end], axis=-1), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Solids as arrays, one row each."""

    turn: F32
    centre: F32
    half: F32
    rgb: F32
    grain: F32
    gloss: F32
    bevel: F32
    axis: NDArray[np.int8]  # along which the wood has grown
    offset: F32

    @staticmethod
    def of(solids: Sequence[Solid]) -> "Batch":
        """The arrays of these solids."""
        sizes = np.array([s.size_mm for s in solids], np.float32)
        seeds = np.array([s.seed for s in solids], np.int64)
        spread = sizes.max(axis=1) > 1.2 * sizes.min(axis=1)
        axis = np.where(spread, sizes.argmax(axis=1), seeds % 3)
        offset = np.stack([seeds * 7919 % 1009, seeds * 104729 % 997], axis=1)
        return Batch(
            np.array([s.rotation() for s in solids], np.float32),
            np.array([s.centre_mm for s in solids], np.float32),
            f32(sizes / 2),
            np.array([s.paint.rgb for s in solids], np.float32),
            np.array([s.paint.grain for s in solids], np.float32),
            np.array([s.paint.gloss for s in solids], np.float32),
            np.array([s.bevel_mm for s in solids], np.float32),
            axis.astype(np.int8),
            offset.astype(np.float32),
        )


def shaded(
    batch: Batch,
    owner: NDArray[np.int16],
    side: NDArray[np.int8],
    points: F32,
    eye: F32,
    light: Lighting,
) -> F32:
    """Linear blue, green, red of points (3, n) on solids."""
    n = owner.size
    turn = batch.turn[owner]
    own = np.einsum("nji,jn->in", turn, points - batch.centre[owner].T)
    half = batch.half[owner].T
    to_edge = half - np.abs(own)
    row = np.arange(n)
    signs = np.where(own < 0, f32(-1), f32(1))
    flat = np.zeros((3, n), np.float32)
    flat[side, row] = signs[side, row]
    bevel = np.maximum(batch.bevel[owner], 1e-3)
    tilt = np.clip(1 - to_edge / bevel, 0, 1) * signs * 0.8
    tilt[side, row] = 0
    bent = flat + tilt
    bent /= np.linalg.norm(bent, axis=0)
    normal = np.einsum("nij,jn->in", turn, bent)
    face = np.einsum("nij,jn->in", turn, flat)

    colour = batch.rgb[owner].T * (1 + batch.grain[owner] * _grain_at(batch, owner, side, own))
    to_edge[side, row] = 9.0
    worn = 1 - 0.3 * np.clip(1 - to_edge.min(axis=0) / (0.4 * bevel), 0, 1)
    off = points + _CLEAR_MM * face
    reach = light.reaching(off[0], off[1], off[2])
    up = normal[2]
    result = np.empty((3, n), np.float32)
    sky = reach[:, 0] * (0.55 + 0.45 * up)
    floor = 0.5 * np.clip(0.5 - 0.5 * up, 0, 1) * (0.4 + 0.6 * reach[:, 0])
    for c in range(3):
        result[c] = light.ambient[c] * sky + light.bounce[c] * floor
    shine = np.zeros((3, n), np.float32)
    view = eye[:, None] - points
    view /= np.linalg.norm(view, axis=0)
    for number, lamp in enumerate(light.lamps, 1):
        to_lamp = f32(lamp.at_mm)[:, None] - points
        square = (to_lamp * to_lamp).sum(axis=0)
        to_lamp /= np.sqrt(square)
        fall = f32(np.dot(lamp.at_mm, lamp.at_mm)) / square * reach[:, number]
        lit = np.maximum(0, (normal * to_lamp).sum(axis=0)) * fall
        between = to_lamp + view
        between /= np.linalg.norm(between, axis=0)
        glint = np.maximum(0, (normal * between).sum(axis=0)) ** 40 * fall * batch.gloss[owner]
        for c in range(3):
            result[c] += lamp.rgb[c] * lit
            shine[c] += lamp.rgb[c] * glint
    result *= colour * worn
    result += shine
    return np.ascontiguousarray(result[::-1].T)


def _grain_at(batch: Batch, owner: NDArray[np.int16], side: NDArray[np.int8], own: F32) -> F32:
    """Wood grain at points of solids, about 0."""
    axis = batch.axis[owner]
    row = np.arange(owner.size)
    across = np.where((axis == 0) | (side == 0), 1, 0)
    across = np.where((across == axis) | (across == side), 2, across)
    across = np.where((across == axis) | (across == side), 3 - axis - side, across)
    end = side == axis
    along = np.where(end, (axis + 1) % 3, axis)
    across = np.where(end, (axis + 2) % 3, np.clip(across, 0, 2))
    offset = batch.offset[owner]
    u = own[along, row] * _GRAIN_PX_PER_MM + offset[:, 0]
    v = own[across, row] * _GRAIN_PX_PER_MM + offset[:, 1]
    found = _looked_up_wrapped(_grains(), u, v)
    return np.where(end, found[:, 1], found[:, 0])


def _looked_up_wrapped(texture: F32, u: F32, v: F32) -> F32:
    size = f32(_GRAIN_SIZE - 1)
    whole = 2 * size
    u = size - np.abs(np.mod(u, whole) - size)
    v = size - np.abs(np.mod(v, whole) - size)
    n = u.size
    rows = -(-n // _ROW)
    x = np.zeros(rows * _ROW, np.float32)
    y = np.zeros(rows * _ROW, np.float32)
    x[:n], y[:n] = u, v
    found = cv2.remap(
        texture, x.reshape(rows, _ROW), y.reshape(rows, _ROW), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return f32(found.reshape(rows * _ROW, -1)[:n])
