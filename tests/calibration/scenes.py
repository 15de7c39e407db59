"""Simple scenes drawn by casting rays through the full lens: boxes and a textured board, no files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.cv import Image

Paint = Callable[[Floats, Floats], Floats]  # x, y in mm on the top -> (..., 3) linear BGR, 0 to 1


@dataclass(frozen=True)
class Box:
    """A box with a painted top, turned about the vertical through its middle."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    top: Paint
    side: tuple[float, float, float]
    turn_deg: float = 0.0


def plain(b: float, g: float, r: float) -> Paint:
    """One colour everywhere."""
    return lambda x, y: np.broadcast_to(np.array([b, g, r]), (*x.shape, 3)).astype(float)


@dataclass(frozen=True)
class Look:
    """Light and the faults of the camera."""

    sun: tuple[float, float, float] = (0.3, -0.4, 1.0)
    ambient: float = 0.5
    shadow: bool = True
    blur_px: float = 0.7
    noise: float = 3.0
    jpeg: int = 88
    gain: float = 1.0
    glow: float = 0.25  # how much darker the picture's corners are
    table: Paint = field(default=plain(0.22, 0.25, 0.2))


def grain(paint: Paint, strength: float, seed: int = 0, scale: float = 1.0) -> Paint:
    """Wood grain along x over another paint."""
    noise = np.random.default_rng(seed).normal(size=(128, 512)).astype(np.float32)
    noise = np.asarray(cv2.GaussianBlur(noise, (0, 0), sigmaX=18, sigmaY=0.8), dtype=np.float32)
    noise /= noise.std()

    def mixed(x: Floats, y: Floats) -> Floats:
        u = np.mod(x * scale, 510).astype(np.float32)
        v = np.mod(y * scale * 1.3, 126).astype(np.float32)
        shade = cv2.remap(noise, u.reshape(len(u), -1), v.reshape(len(v), -1), cv2.INTER_LINEAR)
        return paint(x, y) * (1 + strength * shade.reshape(x.shape)[..., None])

    return mixed


def lines(
    base: Paint, line: Sequence[float], pitch: float, counts: tuple[int, int], width: float
) -> Paint:
    """Printed lines round every cell."""

    def drawn(x: Floats, y: Floats) -> Floats:
        inside = (x > -width) & (x < counts[0] * pitch + width)
        inside &= (y > -width) & (y < counts[1] * pitch + width)
        near_x = np.abs(x - pitch * np.round(x / pitch)) < width / 2
        near_y = np.abs(y - pitch * np.round(y / pitch)) < width / 2
        on = inside & (near_x | near_y)
        on &= (x > -width / 2) & (x < counts[0] * pitch + width / 2)
        on &= (y > -width / 2) & (y < counts[1] * pitch + width / 2)
        return np.where(on[..., None], np.array(line), base(x, y))

    return drawn


def cells(
    base: Paint,
    colour: Callable[[np.ndarray, np.ndarray], Floats],
    pitch: float,
    counts: tuple[int, int],
    gap: float,
) -> Paint:
    """Tiles or recesses: a coloured square in each cell, `gap` mm smaller than the pitch."""

    def drawn(x: Floats, y: Floats) -> Floats:
        i, j = np.floor(x / pitch).astype(int), np.floor(y / pitch).astype(int)
        u, v = x / pitch - i - 0.5, y / pitch - j - 0.5
        half = 0.5 - gap / 2 / pitch
        on = (i >= 0) & (i < counts[0]) & (j >= 0) & (j < counts[1])
        on &= (np.abs(u) < half) & (np.abs(v) < half)
        return np.where(on[..., None], colour(i, j), base(x, y))

    return drawn


def cube(x: float, y: float, z: float, edge: float, bgr: Sequence[float], turn: float = 0) -> Box:
    """A cube standing on the table, its middle at x and y."""
    half = edge / 2
    b, g, r = bgr
    return Box(
        (x - half, y - half, z), (x + half, y + half, z + edge), plain(b, g, r), (b, g, r), turn
    )


def look_at(
    size: tuple[int, int],
    focal: float,
    at: Sequence[float],
    to: Sequence[float],
    *,
    roll_deg: float = 0.0,
    distortion: Sequence[float] = (0, 0, 0, 0, 0),
    up: Sequence[float] = (0, 0, 1),
) -> Camera:
    """A camera at a place that looks to a place."""
    ahead = np.subtract(to, at).astype(float)
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, np.asarray(up, float))
    if np.linalg.norm(right) < 1e-6:
        right = np.array([1.0, 0, 0])
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    c, s = np.cos(np.radians(roll_deg)), np.sin(np.radians(roll_deg))
    R = np.stack([c * right + s * down, -s * right + c * down, ahead])
    lens = Lens(size, Lens.simple(size, focal).matrix, np.asarray(distortion, float))
    return Camera.of(lens, R, -R @ np.asarray(at, float))


def draw(camera: Camera, boxes: Sequence[Box], floor_mm: float, look: Look, seed: int = 0) -> Image:
    """The picture that a webcam would take."""
    width, height = camera.size
    v, u = np.mgrid[0:height, 0:width].astype(float)
    total = np.zeros((height, width, 3))
    offsets = ((-0.25, -0.1), (0.25, 0.1), (-0.1, 0.25), (0.1, -0.25))
    for du, dv in offsets:
        origin, d = camera.rays(np.stack([u + du, v + dv], axis=-1))
        total += _shade(origin, d, boxes, floor_mm, look)
    light = total / len(offsets) * look.gain
    r2 = ((u / width - 0.5) ** 2 + (v / height - 0.5) ** 2)[..., None]
    light *= 1 - look.glow * r2 * 2
    light = np.asarray(cv2.GaussianBlur(light, (0, 0), max(look.blur_px, 0.01)), dtype=np.float64)
    grey = 255 * np.clip(light, 0, 1) ** (1 / 2.2)
    grey += np.random.default_rng(seed).normal(scale=look.noise, size=grey.shape)
    picture = np.clip(np.round(grey), 0, 255).astype(np.uint8)
    data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, look.jpeg])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def _hit(origin: Floats, d: Floats, box: Box) -> tuple[Floats, np.ndarray, Floats, Floats]:
    a = np.radians(box.turn_deg)
    turn = np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])
    middle = (np.array(box.low) + np.array(box.high)) / 2
    o = (origin - middle) @ turn.T
    e = d @ turn.T
    e = np.where(np.abs(e) < 1e-9, 1e-9, e)
    half = (np.array(box.high) - np.array(box.low)) / 2
    near, far = (-half - o) / e, (half - o) / e
    enter, leave = np.minimum(near, far), np.maximum(near, far)
    side = enter.argmax(axis=-1)
    t = enter.max(axis=-1)
    t = np.where((t < leave.min(axis=-1)) & (t > 1e-6), t, np.inf)
    axis = np.eye(3)[side] * -np.sign(np.take_along_axis(e, side[..., None], -1))
    where = o + np.where(np.isfinite(t), t, 0)[..., None] * e
    return t, side, axis @ turn, where + middle


def _shade(origin: Floats, d: Floats, boxes: Sequence[Box], floor_mm: float, look: Look) -> Floats:
    fall = (floor_mm - origin[2]) / np.where(np.abs(d[..., 2]) < 1e-9, 1e-9, d[..., 2])
    t = np.where((fall > 0) & (fall < 4000), fall, np.inf)
    spot = origin + np.where(np.isfinite(t), t, 0)[..., None] * d
    colour = np.where(np.isfinite(t)[..., None], look.table(spot[..., 0], spot[..., 1]), 0.35)
    normal = np.broadcast_to(np.array([0.0, 0, 1]), d.shape).copy()
    for box in boxes:
        far, side, n, where = _hit(origin, d, box)
        first = far < t
        if not first.any():
            continue
        top = first & (side == 2)
        colour[first] = box.side
        if top.any():
            colour[top] = box.top(where[..., 0], where[..., 1])[top]
        normal[first], t[first] = n[first], far[first]
    sun = np.array(look.sun) / np.linalg.norm(look.sun)
    lit = np.maximum(normal @ sun, 0)
    if look.shadow:
        spot = origin + np.where(np.isfinite(t), t, 0)[..., None] * d + 1e-2 * normal
        flat, dark = spot.reshape(-1, 3), np.zeros(spot[..., 0].size, bool)
        rays = np.broadcast_to(sun, flat.shape)
        for box in boxes:
            a, e = np.array(box.low), np.array(box.high)
            reach = 3 * (e[2] - a[2]) + np.abs(e - a).max()
            near = (np.abs(flat[:, :2] - (a + e)[:2] / 2) < reach).all(axis=1) & ~dark
            if near.any():
                far = _shadow(flat[near], rays[near], box)
                dark[near] |= far
        lit = lit * ~dark.reshape(lit.shape)
    shade = look.ambient + (1 - look.ambient) * lit
    return np.asarray(colour * shade[..., None])


def _shadow(spots: Floats, rays: Floats, box: Box) -> np.ndarray:
    a = np.radians(box.turn_deg)
    turn = np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])
    middle = (np.array(box.low) + np.array(box.high)) / 2
    o, e = (spots - middle) @ turn.T, rays @ turn.T
    e = np.where(np.abs(e) < 1e-9, 1e-9, e)
    half = (np.array(box.high) - np.array(box.low)) / 2
    near, far = (-half - o) / e, (half - o) / e
    enter, leave = np.minimum(near, far).max(axis=-1), np.maximum(near, far).min(axis=-1)
    return np.asarray((enter < leave) & (leave > 1e-6))
