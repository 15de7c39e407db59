"""Light on solids: which colour each hit point sends to the camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.virtual.light import U8, Block
from vision.virtual.texture import wood_grain
from vision.virtual.values import F32, Lamp, Rgb, Solid, Xyz, f32

_GRAIN_PX_PER_MM = 4.0
_GRAIN_SIZE = 512
_CLEAR_MM = 2.2  # shadows are looked up so far off a face, so that no solid shades itself
_ROUND = 0.8  # how far a rounded edge turns the light at its very rim
_ROW = 1024

Rays3 = tuple[F32, F32, F32]


@dataclass(frozen=True, slots=True, eq=False)
class Lighting:
    """Everything that shines on the table at one moment."""

    lamps: tuple[Lamp, ...]
    ambient: Rgb
    bounce: Rgb  # what the table throws back up
    block: Block
    atlas: U8

    def reaching(self, x: F32, y: F32, z: F32) -> list[F32]:
        """The part of the sky, then of each lamp, that points (n,) see."""
        u, lower, upper, weight = self.block.atlas(x, y, z)
        above = weight * f32(1 / 255)
        below = f32(1 / 255) - above
        low = _looked_up(self.atlas, u, lower)
        high = _looked_up(self.atlas, u, upper)
        return [f32(low[:, n] * below + high[:, n] * above) for n in range(1 + len(self.lamps[:3]))]


def _looked_up(
    picture: NDArray[Any], u: F32, v: F32, border: int = cv2.BORDER_REPLICATE
) -> NDArray[Any]:
    """Bilinear samples of a picture at (n,) places; OpenCV wants them in rows."""
    n = u.size
    rows = -(-n // _ROW)
    places = np.zeros((2, rows * _ROW), np.float32)
    places[0, :n], places[1, :n] = u, v
    x, y = places.reshape(2, rows, _ROW)
    found = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=border)
    return found.reshape(rows * _ROW, -1)[:n]


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
class Faces:
    """The faces that an eye can see: of each solid one across each of its axes.

    `values` has a row for each property and four columns a solid, of which the last is spare.
    """

    values: F32

    @staticmethod
    def of(solids: Sequence[Solid], eye: F32) -> "Faces":
        """The faces of these solids that are turned to an eye."""
        at = (float(eye[0]), float(eye[1]), float(eye[2]))
        return Faces(np.concatenate([_faces(solid, at) for solid in solids], axis=1))


@lru_cache(maxsize=4096)
def _faces(solid: Solid, eye: Xyz) -> F32:
    """The columns of one solid."""
    return np.ascontiguousarray(f32([_face(solid, axis, eye) for axis in (0, 1, 2, 2)]).T)


def _face(solid: Solid, axis: int, eye: Xyz) -> tuple[float, ...]:
    """The properties of a face, with its own axes: along the grain and across it."""
    turn = solid.rotation()
    middle, half = np.array(solid.centre_mm), np.array(solid.size_mm) / 2
    toward = -1.0 if (np.array(eye) - middle) @ turn[:, axis] < 0 else 1.0
    grown = int(half.argmax()) if half.max() > 1.2 * half.min() else solid.seed % 3
    end = axis == grown
    along = (axis + 1) % 3 if end else grown
    across = 3 - axis - along
    return (
        *(toward * turn[:, axis]),
        *turn[:, along],
        *turn[:, across],
        float(turn[:, along] @ middle),
        float(turn[:, across] @ middle),
        half[along],
        half[across],
        1 / max(solid.bevel_mm, 1e-3),
        *solid.paint.rgb,
        solid.paint.grain,
        solid.paint.gloss,
        solid.seed * 7919 % 1009,
        solid.seed * 104729 % 997,
        end,
    )


def shaded(faces: Faces, face: NDArray[np.intp], points: F32, eye: F32, light: Lighting) -> F32:
    """Linear blue, green, red (n, 3) of points (3, n), each on the face of a number."""
    (
        fx, fy, fz, ux, uy, uz, vx, vy, vz, u_middle, v_middle, u_half, v_half, per_bevel,
        red, green, blue, grain, gloss, u_grain, v_grain, end,
    ) = np.take(faces.values, face, axis=1)  # fmt: skip
    x, y, z = points
    u = ux * x + uy * y + uz * z - u_middle
    v = vx * x + vy * y + vz * z - v_middle
    u_rim, v_rim = (u_half - np.abs(u)) * per_bevel, (v_half - np.abs(v)) * per_bevel
    texture = _looked_up(
        _grains(),
        u * f32(_GRAIN_PX_PER_MM) + u_grain,
        v * f32(_GRAIN_PX_PER_MM) + v_grain,
        cv2.BORDER_REFLECT_101,
    )
    bright = 1 + grain * np.where(end > 0, texture[:, 1], texture[:, 0])
    bright *= 1 - f32(0.3) * np.clip(1 - f32(2.5) * np.minimum(u_rim, v_rim), 0, 1)

    a = np.copysign(f32(_ROUND) * np.clip(1 - u_rim, 0, 1), u)
    b = np.copysign(f32(_ROUND) * np.clip(1 - v_rim, 0, 1), v)
    whole = 1 / np.sqrt(1 + a * a + b * b)
    nx, ny, nz = (
        (f + a * s + b * t) * whole for f, s, t in ((fx, ux, vx), (fy, uy, vy), (fz, uz, vz))
    )
    clear = f32(_CLEAR_MM)
    sky, *seen = light.reaching(x + clear * fx, y + clear * fy, z + clear * fz)
    floor = np.clip(f32(0.25) - f32(0.25) * nz, 0, 1) * (f32(0.4) + f32(0.6) * sky)
    sky *= f32(0.55) + f32(0.45) * nz
    sums = [f32(s) * sky + f32(b) * floor for s, b in zip(light.ambient, light.bounce, strict=True)]
    shine = [np.zeros_like(sky)] * 3
    for lamp, part in zip(light.lamps, seen, strict=False):
        px, py, pz = (f32(c) - p for c, p in zip(lamp.at_mm, points, strict=True))
        square = px * px + py * py + pz * pz
        near = 1 / np.sqrt(square)
        fall = part * f32(np.dot(lamp.at_mm, lamp.at_mm)) / square
        lit = np.maximum(0, nx * px + ny * py + nz * pz) * near * fall
        glint = _glint((nx, ny, nz), (px * near, py * near, pz * near), (x, y, z), eye)
        glint *= fall * gloss
        sums = [total + f32(c) * lit for total, c in zip(sums, lamp.rgb, strict=True)]
        shine = [total + f32(c) * glint for total, c in zip(shine, lamp.rgb, strict=True)]
    result = np.empty((x.size, 3), np.float32)
    for channel, paint in enumerate((red, green, blue)):
        result[:, 2 - channel] = sums[channel] * paint * bright + shine[channel]
    return result


def _glint(normal: Rays3, to_lamp: Rays3, at: Rays3, eye: F32) -> F32:
    """How much of a lamp is mirrored: the 40th power of how well the normal lies between."""
    vx, vy, vz = (f32(e) - p for e, p in zip(eye, at, strict=True))
    near = 1 / np.sqrt(vx * vx + vy * vy + vz * vz)
    bx, by, bz = (a + b * near for a, b in zip(to_lamp, (vx, vy, vz), strict=True))
    square = bx * bx + by * by + bz * bz
    along = np.maximum(0, normal[0] * bx + normal[1] * by + normal[2] * bz)
    second = along * along / square
    fourth = second * second
    eighth = fourth * fourth
    sixteenth = eighth * eighth
    return f32(sixteenth * sixteenth * eighth)
