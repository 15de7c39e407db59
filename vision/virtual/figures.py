"""Hands, arms and people: tapered rods with round ends, drawn over a finished view."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.virtual.aiming import clock_direction
from vision.virtual.values import F32, F64, Rgb, Solid, Xyz, f32, linear_rgb

SKINS = tuple(linear_rgb(c) for c in ("#e3b796", "#c68f68", "#8d5a3c", "#f0cdb4", "#a8714d"))
SLEEVES = tuple(
    linear_rgb(c)
    for c in ("#2f4a7a", "#8c2f39", "#3d3d40", "#d9d5cc", "#4f7a4a", "#c9a23d", "#e3b796")
)
_LAYERS = (
    (1.0, 0.8),
    (0.86, 0.87),
    (0.7, 0.94),
    (0.5, 1.0),
    (0.28, 1.05),
)  # part of the radius, brightness
_COARSE = 4  # shadows of arms are drawn so much smaller
_FIXED = 4  # bits of OpenCV's sub-pixel positions
_FAR_PX = 20_000.0  # beyond the widest picture
_CIRCLE = np.stack([f(np.arange(16) * np.pi / 8) for f in (np.cos, np.sin)], axis=1)


@dataclass(frozen=True, slots=True)
class Rod:
    """A tapered rod with round ends."""

    name: str
    start: Xyz
    end: Xyz
    first_mm: float
    last_mm: float
    rgb: Rgb


@dataclass(frozen=True, slots=True)
class Reach:
    """A hand on its way: over which point, from which hour, how far in (0 out, 1 there)."""

    target_mm: Xyz
    clock: float
    part: float
    seed: int = 0
    held: Solid | None = None


def hand_tip(reach: Reach, middle: tuple[float, float]) -> Xyz:
    """Where the fingers are."""
    out = clock_direction(reach.clock)
    entry = np.array([middle[0] + 420 * out[0], middle[1] + 420 * out[1], 150.0])
    part = reach.part * reach.part * (3 - 2 * reach.part)
    tip = entry * (1 - part) + np.array(reach.target_mm) * part
    tip[2] += 45 * math.sin(math.pi * part)
    return float(tip[0]), float(tip[1]), float(tip[2])


def arm(reach: Reach, middle: tuple[float, float]) -> tuple[Rod, ...]:
    """Forearm, palm and fingers of a hand on its way."""
    rng = np.random.default_rng([reach.seed, 81])
    skin = SKINS[int(rng.integers(len(SKINS)))]
    sleeve = SLEEVES[int(rng.integers(len(SLEEVES)))]
    size = float(rng.uniform(0.85, 1.1))
    swing = float(rng.normal(0, 0.25))
    flat = clock_direction(reach.clock)
    turn = np.array([[math.cos(swing), -math.sin(swing)], [math.sin(swing), math.cos(swing)]])
    out = np.array([*(turn @ flat), 0.0])
    side = np.array([-out[1], out[0], 0.0])
    up = np.array([0.0, 0.0, 1.0])
    tip = np.array(hand_tip(reach, middle))
    knuckles = tip + size * (52 * out + 42 * up)
    wrist = tip + size * (118 * out + 62 * up)
    elbow = wrist + size * (300 * out + 35 * up + 40 * side)
    shoulder = elbow + size * (330 * out + 190 * up)
    rods = [
        _rod("sleeve", shoulder, elbow, 62 * size, 48 * size, sleeve),
        _rod("sleeve", elbow, wrist + 20 * out, 48 * size, 33 * size, sleeve),
        _rod("skin", wrist + 30 * out, wrist, 25 * size, 24 * size, skin),
    ]
    for shift in (-20, -7, 7, 20):
        top = knuckles + size * shift * side
        bottom = tip + size * (0.45 * shift * side + abs(shift) * 0.5 * out)
        bend = (top + bottom) / 2 + size * (6 * up - 8 * out)
        rods.append(
            _rod("skin", wrist + 0.6 * size * shift * side, top, 19 * size, 12 * size, skin)
        )
        rods.append(_rod("skin", top, bend, 11 * size, 9 * size, skin))
        rods.append(_rod("skin", bend, bottom, 9 * size, 7.5 * size, skin))
    thumb = wrist + size * (-34 * out - 30 * side)
    rods.append(_rod("skin", wrist - 8 * side, thumb, 17 * size, 12 * size, skin))
    rods.append(
        _rod("skin", thumb, tip + size * (14 * out - 8 * side), 12 * size, 8.5 * size, skin)
    )
    return tuple(rods)


def person(at_mm: tuple[float, float], rgb: Rgb, seed: int) -> tuple[Rod, ...]:
    """Somebody who stands or walks behind the table."""
    rng = np.random.default_rng([seed, 82])
    skin = SKINS[int(rng.integers(len(SKINS)))]
    tall = float(rng.uniform(0.9, 1.1))
    x, y = at_mm

    def at(z: float, shift: float = 0.0) -> F64:
        return np.array([x + shift, y, z * tall])

    return (
        _rod("jumper", at(-500), at(420), 190 * tall, 210 * tall, rgb),
        _rod("jumper", at(380, -230), at(-200, -260), 75, 60, rgb),
        _rod("jumper", at(380, 230), at(-200, 260), 75, 60, rgb),
        _rod("skin", at(650), at(760), 95 * tall, 100 * tall, skin),
    )


def _rod(name: str, start: F64, end: F64, first: float, last: float, rgb: Rgb) -> Rod:
    return Rod(
        name,
        (float(start[0]), float(start[1]), float(start[2])),
        (float(end[0]), float(end[1]), float(end[2])),
        float(first),
        float(last),
        rgb,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """What covers a part of the picture: rows and columns, square roots of light, and how much."""

    where: tuple[slice, slice]
    root: F32
    cover: F32


def _hulls(camera: Camera, rods: Sequence[Rod]) -> tuple[F64, F64, F64]:
    """Pixels of both ends (n, 2, 2), radii in pixels (n, 2), and depths (n, 2)."""
    ends = np.array([[rod.start, rod.end] for rod in rods], dtype=np.float64)
    depth = (ends @ camera.rotation.T + camera.translation_mm)[..., 2]
    px = camera.project(ends)
    radius = np.array([[rod.first_mm, rod.last_mm] for rod in rods]) * camera.lens.focal_px
    return px, radius / np.maximum(depth, 1.0), depth


def _outline(px: F64, radius: F64) -> NDArray[np.int32]:
    points = np.concatenate([px[n] + radius[n] * _CIRCLE for n in (0, 1)])
    near = np.clip(points, -_FAR_PX, _FAR_PX)  # an arm right before the lens
    hull = cv2.convexHull(np.round(near * (1 << _FIXED)).astype(np.int32))
    return np.asarray(hull, dtype=np.int32)


def overlay(
    camera: Camera,
    rods: Sequence[Rod],
    depth: F32,
    light: Rgb,
    held: Sequence[Solid] = (),
) -> Overlay | None:
    """Rods and held pieces as they cover the picture; None where nothing of them is seen.

    `depth` is that of the scene: what is nearer than a rod covers it.
    """
    px, radius, far = _hulls(camera, rods)
    seen = np.asarray(np.isfinite(px).all(axis=(1, 2)) & (far > 30).all(axis=1))
    if not seen.any():
        return None
    reach = np.concatenate([px[seen] - radius[seen][..., None], px[seen] + radius[seen][..., None]])
    height, width = depth.shape
    low = np.clip(np.floor(reach.min(axis=(0, 1))) - 4, 0, [width, height]).astype(int)
    high = np.clip(np.ceil(reach.max(axis=(0, 1))) + 5, 0, [width, height]).astype(int)
    if bool(np.any(high - low < 2)):
        return None
    where = (slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0])))
    canvas = np.zeros((*(int(v) for v in (high - low)[::-1]), 3), np.uint8)
    cover = np.zeros(canvas.shape[:2], np.uint8)
    near = depth[where]
    order = [n for n in np.argsort(-far.mean(axis=1)) if seen[n]]
    for solid in held:
        _draw_box(canvas, cover, camera, solid, low, light)
    for n in order:
        _draw_rod(canvas, cover, rods[n], px[n] - low, radius[n], light)
    nearest = float(far[order].mean())
    hidden = near < nearest - 40 if len(rods) < 6 else _behind(near, far[order], px[order] - low)
    cover[hidden] = 0
    soft = cv2.GaussianBlur(cover, (0, 0), 0.8).astype(np.float32) * f32(1 / 255)
    root = cv2.GaussianBlur(canvas, (0, 0), 0.9).astype(np.float32) * f32(1 / 128)
    return Overlay(where, f32(root), f32(soft))


def _behind(near: F32, far: F64, px: F64) -> NDArray[np.bool_]:
    """Where the scene is nearer than the part of the arm that is next to it."""
    rows, columns = np.mgrid[: near.shape[0] : 8, : near.shape[1] : 8]
    middles, depths = px.mean(axis=1), far.mean(axis=1)
    gaps = (columns[..., None] - middles[:, 0]) ** 2 + (rows[..., None] - middles[:, 1]) ** 2
    arm_depth = f32(depths[gaps.argmin(axis=-1)])
    full = cv2.resize(arm_depth, near.shape[::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(near < full - 25)


def _tone(rgb: Rgb, light: Rgb, factor: float) -> tuple[float, ...]:
    return tuple(
        float(min(255.0, 128 * math.sqrt(c * w * 0.8) * factor))
        for c, w in zip(rgb[::-1], light[::-1], strict=True)
    )


def _draw_rod(
    canvas: NDArray[np.uint8],
    cover: NDArray[np.uint8],
    rod: Rod,
    px: F64,
    radius: F64,
    light: Rgb,
) -> None:
    for part, tone in _LAYERS:
        lifted = px - np.array([0.12, 0.22]) * (1 - part) * radius[:, None]
        hull = _outline(lifted, np.maximum(radius * part, 0.4))
        cv2.fillConvexPoly(canvas, hull, _tone(rod.rgb, light, tone), cv2.LINE_AA, _FIXED)
        if part == 1.0:
            cv2.fillConvexPoly(cover, hull, 255, cv2.LINE_AA, _FIXED)


_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def _draw_box(
    canvas: NDArray[np.uint8],
    cover: NDArray[np.uint8],
    camera: Camera,
    solid: Solid,
    low: NDArray[np.int_],
    light: Rgb,
) -> None:
    corners = solid.corners()
    px = camera.project(corners) - low
    if not np.isfinite(px).all():
        return
    middle = corners.mean(axis=0)
    for face in _FACES:
        centre = corners[list(face)].mean(axis=0)
        normal = centre - middle
        if float(normal @ (camera.position_mm - centre)) <= 0:
            continue
        tone = 0.8 + 0.25 * float(normal[2]) / float(np.linalg.norm(normal))
        shape = np.round(px[list(face)] * (1 << _FIXED)).astype(np.int32)
        cv2.fillConvexPoly(canvas, shape, _tone(solid.paint.rgb, light, tone), cv2.LINE_AA, _FIXED)
        cv2.fillConvexPoly(cover, shape, 255, cv2.LINE_AA, _FIXED)


@dataclass(frozen=True, slots=True, eq=False)
class Shadow:
    """Where an arm keeps a lamp's light from the table: rows and columns, and how much of it."""

    where: tuple[slice, slice]
    dark: F32


def shadow(camera: Camera, rods: Sequence[Rod], lamp_mm: Xyz, floor_mm: float) -> Shadow | None:
    """The shadow of an arm on the table; None where none is in the picture."""
    lamp = np.array(lamp_mm)
    width, height = camera.size
    ends = np.array([[rod.start, rod.end] for rod in rods])
    drop = (ends[..., 2] - floor_mm) / np.maximum(lamp[2] - ends[..., 2], 50.0)
    ground = ends + (ends - lamp) * drop[..., None]
    px = camera.project(ground) / _COARSE
    depth = (ground @ camera.rotation.T + camera.translation_mm)[..., 2]
    sizes = np.array([[rod.first_mm, rod.last_mm] for rod in rods]) * camera.lens.focal_px
    mask = np.zeros((height // _COARSE, width // _COARSE), np.uint8)
    for some, far, size in zip(px, depth, sizes, strict=True):
        if np.isfinite(some).all() and (far >= 60).all():
            outline = _outline(some, size / far / _COARSE)
            cv2.fillConvexPoly(mask, outline, 255, cv2.LINE_AA, _FIXED)
    x, y, wide, high = cv2.boundingRect(mask)
    if not wide:
        return None
    soft = cv2.GaussianBlur(mask, (0, 0), 5.0)
    rim = 16  # the blur reaches so far
    rows = slice(max(0, y - rim), min(mask.shape[0], y + high + rim))
    columns = slice(max(0, x - rim), min(mask.shape[1], x + wide + rim))
    where = tuple(slice(_COARSE * part.start, _COARSE * part.stop) for part in (rows, columns))
    size = (where[1].stop - where[1].start, where[0].stop - where[0].start)
    dark = cv2.resize(soft[rows, columns], size).astype(np.float32)
    return Shadow((where[0], where[1]), f32(dark * f32(1 / 255)))
