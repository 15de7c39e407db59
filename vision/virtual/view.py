"""One virtual camera: from solids and light to linear pictures, keeping what did not change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import Camera
from vision.virtual.backdrop import (
    LEVEL,
    Backdrop,
    BoardPose,
    Card,
    Ground,
    bare_backdrop,
    falloff,
    with_board,
)
from vision.virtual.light import Block, light_atlas
from vision.virtual.raster import Rays, Scan
from vision.virtual.shade import Faces, Lighting, shaded
from vision.virtual.values import F32, Rgb, Room, Solid, f32


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
        red, green, blue = (a * b for a, b in zip(self.ground.table_rgb, room.white, strict=True))
        return Lighting(room.lamps, room.ambient, (red, green, blue), block, atlas)

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
    """What one camera sees of a stage; keeps its rays, its backdrop and the light on it."""

    def __init__(self, stage: Stage, camera: Camera) -> None:
        self.stage = stage
        self.camera = camera
        self.rays = Rays.of(camera)
        self._bare: Backdrop | None = None
        self._laid: tuple[tuple[BoardPose, bool], Laid] | None = None
        self._scan: tuple[Laid, Scan] | None = None

    def laid(self, pose: BoardPose = LEVEL, *, fine: bool = True) -> "Laid":
        """The picture without pieces, kept for the board's last pose."""
        if self._laid is None or self._laid[0] != (pose, fine):
            if self._bare is None:
                ground, room = self.stage.ground, self.stage.room
                self._bare = bare_backdrop(self.rays, ground, room, self.stage.seed)
            backdrop = with_board(self._bare, self.rays, self.stage.ground, pose, fine=fine)
            made = Laid.of(backdrop, self.stage)
            self._laid = ((pose, fine), made)
        return self._laid[1]

    def light(
        self,
        solids: Sequence[Solid],
        lighting: Lighting,
        pose: BoardPose = LEVEL,
        *,
        fine: bool = True,
    ) -> tuple[F32, F32]:
        """Linear light (height, width, 3) blue, green, red, and the depth of what is seen.

        Not `fine` is quick: the board without smooth lines, for while it is being turned.
        """
        laid = self.laid(pose, fine=fine)
        picture = laid.lit(lighting)
        everything = (*self.stage.fixed, *solids)
        if not everything:
            return picture, laid.backdrop.depth
        if self._scan is None or self._scan[0] is not laid:
            self._scan = (laid, Scan(self.rays, laid.backdrop.depth))
        scan = self._scan[1]
        scan.update(everything)
        eye = self.rays.origin
        faces = Faces.of(scan.solids, eye)
        elements = picture.reshape(-1, 3)
        at, face, points = scan.inside()
        if at.size:
            elements[at] = shaded(faces, face, points, eye, lighting)
        at, parts, points = scan.at_edges()
        # At these picture elements there is still the ground alone.
        colours = np.repeat(elements[at][None], 4, axis=0)
        some = parts >= 0
        if some.any():
            colours[some] = shaded(faces, parts[some], points[:, some], eye, lighting)
        elements[at] = colours.mean(axis=0)
        return picture, scan.far.copy()


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A backdrop with where its picture elements look up their light, at half the resolution."""

    backdrop: Backdrop
    u: F32
    v: F32
    falling: F32  # (height / 2, width / 2, 4): sky and each lamp without shadows

    @staticmethod
    def of(backdrop: Backdrop, stage: Stage) -> "Laid":
        """What can be kept for every position."""
        place = backdrop.place[:, 1::2, 1::2]
        u, v, _, _ = stage.block().atlas(*place)
        falling = np.zeros((*u.shape, 4), np.float32)
        falling[..., 0] = 1
        for number, fall in enumerate(falloff(stage.room.lamps[:3], place), 1):
            falling[..., number] = fall
        return Laid(backdrop, u, v, falling * f32(1 / 255))

    def lit(self, lighting: Lighting) -> F32:
        """Table and board with light and shadows, and the room behind them."""
        reach = cv2.remap(lighting.atlas, self.u, self.v, cv2.INTER_LINEAR).astype(np.float32)
        reach *= self.falling
        columns = [lighting.ambient, *(lamp.rgb for lamp in lighting.lamps[:3])]
        columns += [(0.0, 0.0, 0.0)] * (4 - len(columns))
        light = cv2.transform(reach, np.ascontiguousarray(f32(columns).T[::-1]))
        # Halves were taken at the odd elements, a quarter of an element off the middle.
        height, width = self.backdrop.depth.shape
        move = np.array([[2.0, 0, 1.0], [0, 2.0, 1.0]])
        full = cv2.warpAffine(
            light, move, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return f32(cv2.add(cv2.multiply(full, self.backdrop.albedo), self.backdrop.glow))
