"""One virtual camera: from solids and light to linear pictures, keeping what did not change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.virtual.backdrop import LEVEL, Backdrop, BoardPose, Card, Ground, backdrop, falloff
from vision.virtual.light import Block, light_atlas
from vision.virtual.raster import Rays, cast, cast_parts, edges
from vision.virtual.shade import Batch, Lighting, shaded
from vision.virtual.values import F32, Rgb, Room, Solid, f32

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A table in a room: all that its cameras share."""

    ground: Ground
    room: Room
    fixed: tuple[Solid, ...]  # strips of a frame, clutter
    seed: int

    def block(self) -> Block:
        """The planes over this board on which shadows are kept."""
        lattice = self.ground.board.lattice
        wide, deep, high = lattice.size_mm
        tallest = max([high] + [float(s.corners()[:, 2].max()) for s in self.fixed])
        return Block.over(wide, deep, tallest, self.ground.floor_mm, lattice.unit_mm[2] / 2)

    def lighting(self, solids: Sequence[Solid], room: Room | None = None) -> Lighting:
        """The light with these solids standing."""
        room = room or self.room
        block = self.block()
        atlas = light_atlas(block, (*self.fixed, *solids), room.lamps)
        bounce = tuple(float(v) for v in self.ground.table.mean(axis=(0, 1)) * f32(room.white))
        return Lighting(room.lamps, room.ambient, (bounce[0], bounce[1], bounce[2]), block, atlas)

    def light_on(self, card: Card) -> Rgb:
        """The light that falls on a card held over the table, the same on all of it."""
        normal = np.cross(card.down, card.right)
        total = f32(self.room.ambient)
        for lamp in self.room.lamps:
            from_middle = float(f32(lamp.at_mm) @ f32(lamp.at_mm))
            away = f32(lamp.at_mm) - f32(card.corner_mm)
            square = float(away @ away)
            facing = 0.1 + 0.9 * abs(float(normal @ away)) / math.sqrt(square)
            total = total + f32(lamp.rgb) * facing * from_middle / square
        return float(total[0]), float(total[1]), float(total[2])


class View:
    """What one camera sees of a stage; keeps its rays and backdrop."""

    def __init__(self, stage: Stage, camera: Camera) -> None:
        self.stage = stage
        self.camera = camera
        self.rays = Rays.of(camera)
        self._backdrops: dict[BoardPose, Backdrop] = {}

    def backdrop(self, pose: BoardPose = LEVEL) -> Backdrop:
        """The picture without pieces, kept for the board's last pose."""
        if pose not in self._backdrops:
            self._backdrops.clear()
            self._backdrops[pose] = backdrop(
                self.rays, self.stage.ground, self.stage.room, pose, self.stage.seed
            )
        return self._backdrops[pose]

    def light(
        self,
        solids: Sequence[Solid],
        lighting: Lighting,
        pose: BoardPose = LEVEL,
    ) -> tuple[F32, F32]:
        """Linear light (height, width, 3) blue, green, red, and the depth of what is seen."""
        behind = self.backdrop(pose)
        picture = lit_ground(behind, lighting)
        everything = (*self.stage.fixed, *solids)
        if not everything:
            return picture, behind.depth
        hits = cast(self.rays, everything, behind.depth)
        batch = Batch.of(everything)
        eye = self.rays.origin
        edge = edges(hits.solid)
        rows, columns = np.nonzero((hits.solid >= 0) & ~edge)
        points = eye[:, None] + self.rays.along[:, rows, columns] * hits.far[rows, columns]
        if rows.size:
            picture[rows, columns] = shaded(
                batch, hits.solid[rows, columns], hits.side[rows, columns], points, eye, lighting
            )
        rows, columns = np.nonzero(edge)
        if rows.size:
            part_hits, along = cast_parts(self.rays, everything, behind.depth, rows, columns)
            owner = part_hits.solid
            colours = np.repeat(picture[rows, columns][None], 4, axis=0)
            ground = lit_ground_at(behind, lighting, rows, columns)
            colours[:] = ground
            some = owner >= 0
            if some.any():
                spots = eye[:, None] + along[:, some] * part_hits.far[some]
                colours[some] = shaded(
                    batch, owner[some], part_hits.side[some], spots, eye, lighting
                )
            picture[rows, columns] = colours.mean(axis=0)
        return picture, hits.far


def _matrix(lighting: Lighting) -> F32:
    columns = [lighting.ambient, *(lamp.rgb for lamp in lighting.lamps[:3])]
    columns += [(0.0, 0.0, 0.0)] * (4 - len(columns))
    return np.ascontiguousarray(f32(columns).T[::-1])


def lit_ground(behind: Backdrop, lighting: Lighting) -> F32:
    """Table and board with light and shadows, and the room behind them."""
    x, y, z = behind.place
    u, lower, _, _ = lighting.block.atlas(x, y, z)
    reach = cv2.remap(lighting.atlas, u, lower, cv2.INTER_LINEAR).astype(np.float32)
    reach *= np.float32(1 / 255)
    for number, fall in enumerate(falloff(lighting.lamps, behind.place), 1):
        reach[..., number] *= fall
    for number in range(len(lighting.lamps) + 1, 4):
        reach[..., number] = 0
    return np.asarray(cv2.transform(reach, _matrix(lighting)) * behind.albedo + behind.glow)


def lit_ground_at(behind: Backdrop, lighting: Lighting, rows: Places, columns: Places) -> F32:
    """The same for some picture elements, (n, 3)."""
    where = (rows, columns)
    place = behind.place[:, rows, columns]
    reach = lighting.reaching(place[0], place[1], place[2])
    for number, fall in enumerate(falloff(lighting.lamps, place[:, None]), 1):
        reach[:, number] *= fall[0]
    reach[:, len(lighting.lamps) + 1 :] = 0
    return np.asarray(
        reach @ _matrix(lighting).T * behind.albedo[where] + behind.glow[where], dtype=np.float32
    )
