"""Everything that stays while pieces come and go: room, table, board, cards, seen by one camera."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.lattice import Board
from vision.virtual.raster import Rays, bounds_px, slabs
from vision.virtual.texture import BOARD_PX_PER_MM, fractal, mixed
from vision.virtual.values import F32, Lamp, Paint, Rgb, Room, Solid, Xyz, f32

TABLE_PX_PER_MM = 1.0
CARD_PX_PER_MM = 4.0
_FAR_MM = 1e6
_PARTS = tuple((a, b) for b in (-0.33, 0.0, 0.33) for a in (-0.33, 0.0, 0.33))
_MIDDLE = (0.0, 0.0)
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A flat picture somewhere in space: a marker, a sheet of paper, the lens board."""

    picture: F32  # reflectance, (height, width, 3) red, green, blue
    corner_mm: Xyz  # of the picture's row 0, column 0
    right: Xyz  # unit vector along the columns
    down: Xyz  # unit vector along the rows
    px_per_mm: float = CARD_PX_PER_MM


@dataclass(frozen=True, slots=True)
class BoardPose:
    """How the board lies on the table: turned about its middle, then shifted."""

    turn_deg: float = 0.0
    shift_mm: tuple[float, float] = (0.0, 0.0)

    def to_board(self, x: F32, y: F32, middle: tuple[float, float]) -> tuple[F32, F32]:
        """Board coordinates of places on the table."""
        a = math.radians(self.turn_deg)
        cos, sin = f32(math.cos(a)), f32(math.sin(a))
        u = x - f32(middle[0] + self.shift_mm[0])
        v = y - f32(middle[1] + self.shift_mm[1])
        return cos * u + sin * v + f32(middle[0]), cos * v - sin * u + f32(middle[1])

    def to_table(self, x: float, y: float, middle: tuple[float, float]) -> tuple[float, float]:
        """The place on the table of a place on the board."""
        a = math.radians(self.turn_deg)
        u, v = x - middle[0], y - middle[1]
        return (
            math.cos(a) * u - math.sin(a) * v + middle[0] + self.shift_mm[0],
            math.sin(a) * u + math.cos(a) * v + middle[1] + self.shift_mm[1],
        )


LEVEL = BoardPose()


@dataclass(frozen=True, eq=False)
class Ground:
    """The table and the board as pictures, with where they are."""

    board: Board
    board_top: F32
    thickness_mm: float
    edge: Rgb
    table: F32
    table_low_mm: tuple[float, float]
    open_top: bool  # the table shows inside the frame
    recess_mm: float
    hole_mm: float
    cards: tuple[Card, ...] = ()

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the cells."""
        wide, deep, _ = self.board.lattice.size_mm
        return wide / 2, deep / 2

    @property
    def floor_mm(self) -> float:
        """The height of the table."""
        return -self.thickness_mm

    @cached_property
    def table_rgb(self) -> Rgb:
        """The table's mean colour."""
        red, green, blue = (float(v) for v in self.table.mean(axis=(0, 1)))
        return red, green, blue


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """What one camera sees without pieces: reflectance, where it is, and the light of the room."""

    albedo: F32  # (height, width, 3) blue, green, red
    glow: F32  # light of the room behind the table, the same form
    place: F32  # (3, height, width) points on table or board
    depth: F32
    room: Bools


def _sampled(picture: F32, u: F32, v: F32) -> F32:
    return np.asarray(
        cv2.remap(picture, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        dtype=np.float32,
    )


def panorama(room: Room, rng: np.random.Generator) -> F32:
    """Walls and furniture by direction: 64 rows from straight down to up, 512 columns around."""
    weight = fractal(rng, (64, 512), (40, 120))
    picture = mixed(room.walls[0], room.walls[1 % len(room.walls)], 0.5 + 0.25 * weight)
    for _ in range(14):
        x, wide = int(rng.integers(0, 500)), int(rng.integers(8, 60))
        top = int(rng.integers(26, 46))
        shade = f32(room.walls[int(rng.integers(len(room.walls)))]) * rng.uniform(0.2, 1.1)
        picture[:top, x : x + wide] = shade
    picture[:24] *= 0.45
    picture *= f32(0.6) * f32(room.ambient)
    for lamp in room.lamps:
        angle = math.atan2(lamp.at_mm[1], lamp.at_mm[0]) % (2 * math.pi)
        across = np.abs(
            (np.arange(512) / 512 * 2 * math.pi - angle + math.pi) % (2 * math.pi) - math.pi
        )
        picture += 0.12 * (1 + np.cos(across))[None, :, None] * f32(lamp.rgb) * picture.mean()
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.6), dtype=np.float32)


def bare_backdrop(rays: Rays, ground: Ground, room: Room, seed: int) -> Backdrop:
    """Draws room, table and cards without the board, nine samples a picture element."""
    shape = rays.along.shape[1:]
    walls = panorama(room, np.random.default_rng([seed, 11]))
    slope_y, slope_x = (np.gradient(rays.along, axis=axis) for axis in (1, 2))
    albedo = np.zeros((*shape, 3), np.float32)
    glow = np.zeros((*shape, 3), np.float32)
    for dx, dy in _PARTS:
        along = f32(rays.along + f32(dx) * slope_x + f32(dy) * slope_y)
        colour, far, beyond = _table(rays.origin, along, ground)
        for card in ground.cards:
            _lay(card, rays.origin, along, colour, far)
        colour[beyond] = 0
        albedo += colour
        if beyond.any():
            glow += _wall(walls, along) * beyond[..., None]
    _, far, beyond = _table(rays.origin, rays.along, ground)
    share = f32(1 / len(_PARTS))
    return Backdrop(
        np.ascontiguousarray(albedo[..., ::-1]) * share,
        np.ascontiguousarray(glow[..., ::-1]) * share,
        rays.origin[:, None, None] + rays.along * np.where(beyond, 0, far),
        np.where(beyond, f32(_FAR_MM), far),
        beyond,
    )


def _wall(walls: F32, along: F32) -> F32:
    azimuth = np.mod(np.arctan2(along[1], along[0]), 2 * np.pi) * f32(512 / (2 * np.pi))
    height = np.arctan2(along[2], np.hypot(along[0], along[1])) * f32(64 / np.pi) + 32
    return _sampled(walls, f32(azimuth), f32(height))


def with_board(
    bare: Backdrop, rays: Rays, ground: Ground, pose: BoardPose, *, fine: bool = True
) -> Backdrop:
    """Lays the board on the table; coarse while it moves."""
    if ground.open_top:
        return bare
    where = bounds_px(rays.camera, [_slab(ground, pose)])[0]
    if where is None:
        return bare
    near = rays.along[:, where[0], where[1]]
    slope_y, slope_x = (np.gradient(near, axis=axis) for axis in (1, 2))
    total = np.zeros((*near.shape[1:], 3), np.float32)
    covered = np.zeros(near.shape[1:], np.float32)
    middle = _board(rays.origin, near, ground, pose)
    parts = _PARTS if fine else (_MIDDLE,)
    for dx, dy in parts:
        along = f32(near + f32(dx) * slope_x + f32(dy) * slope_y)
        part = middle if (dx, dy) == _MIDDLE else _board(rays.origin, along, ground, pose)
        total += part[0] * part[1][..., None]
        covered += part[1]
    share = f32(1 / len(parts))
    albedo, glow, place, depth = (
        layer.copy() for layer in (bare.albedo, bare.glow, bare.place, bare.depth)
    )
    room = bare.room.copy()
    open_part = (1 - covered * share)[..., None]
    albedo[where] = albedo[where] * open_part + total[..., ::-1] * share
    glow[where] *= open_part
    _, on, reach = middle
    points = rays.origin[:, None, None] + near * reach
    spot = place[:, where[0], where[1]]
    spot[:, on] = points[:, on]
    depth[where][on] = reach[on]
    room[where][on] = False
    return Backdrop(albedo, glow, place, depth, room)


def _reach(origin: F32, along: F32, height: float) -> F32:
    """How far rays go to a level plane; negative or huge where they do not meet it."""
    fall = np.where(np.abs(along[2]) < 1e-7, f32(1e-7), along[2])
    return np.asarray((f32(height) - origin[2]) / fall, dtype=np.float32)


def _table(origin: F32, along: F32, ground: Ground) -> tuple[F32, F32, Bools]:
    far = _reach(origin, along, ground.floor_mm)
    safe = np.where((far > 0) & (far < 1e5), far, 0)
    x = origin[0] + along[0] * safe
    y = origin[1] + along[1] * safe
    u = (x - f32(ground.table_low_mm[0])) * f32(TABLE_PX_PER_MM)
    v = (y - f32(ground.table_low_mm[1])) * f32(TABLE_PX_PER_MM)
    rows, columns = ground.table.shape[:2]
    on_table = (safe > 0) & (u >= 0) & (v >= 0) & (u < columns) & (v < rows)
    return _sampled(ground.table, u, v), far, ~on_table


def _board(origin: F32, along: F32, ground: Ground, pose: BoardPose) -> tuple[F32, Bools, F32]:
    """The colour of the board's top and edges, which rays meet it, and how far they go."""
    left, front, right, back = ground.board.margin_mm
    wide, deep, _ = ground.board.lattice.size_mm
    reach = _reach(origin, along, ground.recess_mm)
    x, y = pose.to_board(origin[0] + along[0] * reach, origin[1] + along[1] * reach, ground.middle)
    on = (reach > 0) & (x >= -left) & (y >= -front) & (x < wide + right) & (y < deep + back)
    scale = f32(BOARD_PX_PER_MM)
    painted = _sampled(ground.board_top, (x + left) * scale - 0.5, (y + front) * scale - 0.5)
    if ground.recess_mm > 0:
        _holes(origin, along, ground, pose, painted, (x, y), reach)
    if ground.thickness_mm + ground.recess_mm > 1.0:
        enter, leave, side = slabs(origin, [along[0], along[1], along[2]], _slab(ground, pose))
        edge = (enter < leave) & (enter > 0) & (side != 2) & ~on
        painted[edge] = f32(ground.edge) * f32(0.7)
        reach[edge] = enter[edge]
        on |= edge
    return painted, on, reach


def _holes(
    origin: F32,
    along: F32,
    ground: Ground,
    pose: BoardPose,
    painted: F32,
    at: tuple[F32, F32],
    reach: F32,
) -> None:
    """Sinks the fields: floor or wall where a ray enters the hole of a field."""
    lattice = ground.board.lattice
    pitch, half = f32(lattice.pitch_mm), f32(ground.hole_mm / 2)
    wide, deep, _ = lattice.size_mm

    def off_middle(v: F32, size: float) -> tuple[F32, F32]:
        """How far places are from the middle of their field, far for those on none; the field."""
        field = np.floor(v * (1 / pitch))
        off = np.abs(v - (field + f32(0.5)) * pitch)
        off[(v < 0) | (v >= f32(size))] = pitch
        return off, field

    (off_x, column), (off_y, rank) = off_middle(at[0], wide), off_middle(at[1], deep)
    hole = (off_x < half) & (off_y < half)
    down = _reach(origin, along, 0.0)
    x, y = pose.to_board(origin[0] + along[0] * down, origin[1] + along[1] * down, ground.middle)
    (off_x, column_below), (off_y, rank_below) = off_middle(x, wide), off_middle(y, deep)
    floor = hole & (off_x < half) & (off_y < half) & (column == column_below) & (rank == rank_below)
    scale = f32(BOARD_PX_PER_MM)
    left, front, _, _ = ground.board.margin_mm
    deeper = _sampled(ground.board_top, (x + left) * scale, (y + front) * scale)
    near_wall = half - np.maximum(off_x, off_y)
    dim = f32(0.62) + f32(0.16) * np.clip(near_wall / 3, 0, 1)
    painted[hole] = f32(ground.edge) * f32(0.42)
    painted[floor] = deeper[floor] * dim[floor][:, None]
    reach[floor] = down[floor]


def _slab(ground: Ground, pose: BoardPose) -> Solid:
    left, front, right, back = ground.board.margin_mm
    wide, deep, _ = ground.board.lattice.size_mm
    x, y = pose.to_table((wide + right - left) / 2, (deep + back - front) / 2, ground.middle)
    high = ground.thickness_mm + ground.recess_mm
    return Solid(
        (x, y, ground.recess_mm - high / 2),
        (wide + left + right, deep + front + back, high),
        Paint(ground.edge),
        turn_deg=pose.turn_deg,
    )


def _on_card(card: Card, origin: F32, along: F32) -> tuple[F32, Bools, F32, F32]:
    """How far rays go to a card, whether they meet it, and where on its picture."""
    right, down = f32(card.right), f32(card.down)
    normal = np.cross(right, down)
    fall = along[0] * normal[0] + along[1] * normal[1] + along[2] * normal[2]
    fall = np.where(np.abs(fall) < 1e-7, f32(1e-7), fall)
    reach = f32(normal @ (f32(card.corner_mm) - origin)) / fall
    at = origin[:, None, None] + along * reach - f32(card.corner_mm)[:, None, None]
    u = (at[0] * right[0] + at[1] * right[1] + at[2] * right[2]) * f32(card.px_per_mm)
    v = (at[0] * down[0] + at[1] * down[1] + at[2] * down[2]) * f32(card.px_per_mm)
    rows, columns = card.picture.shape[:2]
    on = (reach > 0) & (u >= 0) & (v >= 0) & (u < columns) & (v < rows)
    return f32(reach), on, f32(u), f32(v)


def _lay(card: Card, origin: F32, along: F32, colour: F32, far: F32) -> None:
    """Paints a card where it is the nearest thing."""
    reach, on, u, v = _on_card(card, origin, along)
    on &= reach <= far + 1.0
    if on.any():
        colour[on] = _sampled(card.picture, u - 0.5, v - 0.5)[on]
        far[on] = reach[on]


def with_card(picture: F32, rays: Rays, card: Card, light: Rgb) -> F32:
    """The picture with a card held before everything; `light` falls on it."""
    rows, columns = card.picture.shape[:2]
    corner, right, down = (f32(v) for v in (card.corner_mm, card.right, card.down))
    wide, high = right * columns / card.px_per_mm, down * rows / card.px_per_mm
    px = rays.camera.project([corner, corner + wide, corner + high, corner + wide + high])
    shape = picture.shape[:2]
    low = np.clip(np.nan_to_num(px.min(axis=0), nan=0) - 3, 0, None).astype(int)
    top = np.nan_to_num(px.max(axis=0), nan=max(shape)) + 4
    where = (
        slice(int(low[1]), int(min(top[1], shape[0]))),
        slice(int(low[0]), int(min(top[0], shape[1]))),
    )
    near = rays.along[:, where[0], where[1]]
    slope_y, slope_x = (np.gradient(near, axis=axis) for axis in (1, 2))
    total = np.zeros((*near.shape[1:], 3), np.float32)
    covered = np.zeros(near.shape[1:], np.float32)
    for dx, dy in _PARTS:
        along = near + f32(dx) * slope_x + f32(dy) * slope_y
        _, on, u, v = _on_card(card, rays.origin, f32(along))
        total += _sampled(card.picture, u - 0.5, v - 0.5) * on[..., None]
        covered += on
    share = f32(1 / len(_PARTS))
    result = picture.copy()
    bgr = total[..., ::-1] * share * f32(light[::-1])
    result[where] = result[where] * (1 - covered[..., None] * share) + bgr
    return result


def falloff(lamps: Sequence[Lamp], place: F32) -> list[F32]:
    """The light of each lamp on level ground at points (3, height, width), shadows apart."""
    found = []
    for lamp in lamps:
        to_lamp = f32(lamp.at_mm)[:, None, None] - place
        square = (to_lamp * to_lamp).sum(axis=0)
        whole = f32(np.dot(lamp.at_mm, lamp.at_mm))
        found.append(
            np.asarray(np.maximum(0, to_lamp[2]) * whole / (square * np.sqrt(square)), np.float32)
        )
    return found
