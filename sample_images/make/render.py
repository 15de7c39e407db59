"""A scene of the virtual table in Mitsuba: linear pictures, path-traced, through the true lens."""

import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import Camera
from sample_images.make.denoise import denoised
from sample_images.make.mesh import Mesh, box, capsule, moved, sheet
from vision.virtual.backdrop import (
    LEVEL,
    TABLE_PX_PER_MM,
    BoardPose,
    Card,
    Ground,
    panorama,
)
from vision.virtual.figures import Rod
from vision.virtual.texture import fractal, wood_grain
from vision.virtual.values import F32, Lamp, Paint, Room, Solid, f32

_GRAIN_MM = 128.0
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1", "/usr/lib/llvm-19/lib/libLLVM.so")


def mitsuba() -> Any:
    """The Mitsuba module with its fast variant; versions 15 and 16 of LLVM would abort."""
    for library in _LIBRARIES:
        if Path(library).exists():
            os.environ.setdefault("DRJIT_LIBLLVM_PATH", library)
    import mitsuba as mi

    mi.set_variant("llvm_ad_rgb")
    return mi


class Tracer:
    """Traces pictures of one table; what stays is loaded once."""

    def __init__(
        self,
        ground: Ground,
        room: Room,
        paints: Mapping[str, Paint],
        fixed: Sequence[Solid],
        seed: int,
        table_gloss: float,
    ) -> None:
        self.mi = mitsuba()
        self.ground = ground
        self.room = room
        self.paints = dict(paints)
        self.seed = seed
        self.table_gloss = table_gloss
        self._folder = tempfile.TemporaryDirectory()
        self._count = 0
        self._static = self._ground() | self._lamps(room) | self._solids("fixed", fixed)

    def trace(
        self,
        camera: Camera,
        solids: Sequence[Solid],
        *,
        samples: int,
        cards: Sequence[Card] = (),
        rods: Sequence[Rod] = (),
        lamps: Room | None = None,
        pose: BoardPose = LEVEL,
        seed: int = 0,
    ) -> F32:
        """Linear light (height, width, 3) blue, green, red as one camera gets it."""
        mi = self.mi
        parts: dict[str, Any] = {"type": "scene", **self._static}
        if lamps is not None:
            parts |= self._lamps(lamps)
        if pose != LEVEL:
            parts |= self._board(pose)
        parts |= self._solids("piece", solids)
        for number, card in enumerate(cards):
            parts |= self._card(f"card{number}", card)
        if rods:
            parts |= self._rods(rods)
        parts["integrator"] = {
            "type": "aov",
            "aovs": "albedo:albedo,normal:sh_normal,depth:depth",
            "img": {"type": "path", "max_depth": 5},
        }
        pinhole = Pinhole(camera)
        parts["sensor"] = pinhole.sensor(mi, samples)
        scene = mi.load_dict(parts)
        layers = f32(np.array(mi.render(scene, spp=samples, seed=seed + 1)))
        return pinhole.bent(denoised(layers))[..., ::-1] * f32(math.pi)

    # --- what stays ----------------------------------------------------------------------------

    def _ground(self) -> dict[str, Any]:
        ground = self.ground
        x, y = ground.table_low_mm
        rows, columns = ground.table.shape[:2]
        width, depth = columns / TABLE_PX_PER_MM, rows / TABLE_PX_PER_MM
        floor = ground.floor_mm
        table = sheet(np.array([x, y, floor]), np.array([width, 0, 0]), np.array([0, depth, 0]))
        rough = 0.55 - 2.5 * self.table_gloss
        parts = {
            "table": self._shape(table, self._bitmap(ground.table, rough)),
            "room": self._room(),
        }
        for number, card in enumerate(ground.cards):
            parts |= self._card(f"marker{number}", card)
        return parts | self._board(LEVEL)

    def _board(self, pose: BoardPose) -> dict[str, Any]:
        ground = self.ground
        if ground.open_top:
            return {}
        left, front, right, back = ground.board.margin_mm
        wide, deep, _ = ground.board.lattice.size_mm
        size = (left + wide + right, front + deep + back)
        low = (-left, -front)
        top = self._bitmap(ground.board_top, 0.5)

        def slab(x0: float, y0: float, x1: float, y1: float, z0: float, z1: float) -> Mesh:
            solid = Solid(
                ((x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2), (x1 - x0, y1 - y0, z1 - z0),
                Paint((1, 1, 1)), bevel_mm=min(0.5, 0.25 * (z1 - z0)),
            )  # fmt: skip
            mesh = box(solid, 100.0)
            uv = (mesh.points[:, :2] - f32(low)) / f32(size)
            return Mesh(mesh.points, mesh.normals, f32(uv), mesh.faces)

        x1, y1 = low[0] + size[0], low[1] + size[1]
        base = slab(low[0], low[1], x1, y1, ground.floor_mm, 0.0)
        if not ground.recess_mm:
            return {"board": self._shape(moved(base, pose, ground.middle), top)}
        dim = self._bitmap(ground.board_top * f32(0.72), 0.6)
        bars = [
            slab(a, low[1], b, y1, 0.0, ground.recess_mm) for a, b in self._bars(wide, low[0], x1)
        ]
        bars += [
            slab(a, c, b, d, 0.0, ground.recess_mm)
            for c, d in self._bars(deep, low[1], y1)
            for a, b in self._holes(wide)
        ]
        rim = moved(Mesh.joined(bars), pose, ground.middle)
        return {
            "board": self._shape(moved(base, pose, ground.middle), dim),
            "bars": self._shape(rim, top),
        }

    def _holes(self, size: float) -> list[tuple[float, float]]:
        pitch, half = self.ground.board.lattice.pitch_mm, self.ground.hole_mm / 2
        count = round(size / pitch)
        return [((n + 0.5) * pitch - half, (n + 0.5) * pitch + half) for n in range(count)]

    def _bars(self, size: float, low: float, high: float) -> list[tuple[float, float]]:
        edges = [low, *(v for hole in self._holes(size) for v in hole), high]
        return [(edges[n], edges[n + 1]) for n in range(0, len(edges), 2)]

    def _room(self) -> dict[str, Any]:
        """Walls all around; they give the light that comes from everywhere."""
        picture = panorama(self.room, np.random.default_rng([self.seed, 11]))
        picture = f32(cv2.resize(picture, (512, 256), interpolation=cv2.INTER_CUBIC))
        rise = (np.arange(256) / 256 - 0.5) * np.pi
        weight = (np.maximum(0, np.sin(rise)) * np.cos(rise))[:, None, None]
        mean = (picture * weight).sum((0, 1)) / (weight.sum() * 512)
        scaled = picture / np.maximum(mean, 1e-6) * f32(self.room.ambient) / math.pi
        # Mitsuba's map has up first, and its columns run the other way round.
        upright = np.ascontiguousarray(scaled[::-1, ::-1])
        return {
            "type": "envmap",
            "bitmap": self.mi.Bitmap(f32(np.maximum(upright, 1e-4))),
            "to_world": self.mi.ScalarTransform4f().rotate([1, 0, 0], 90),
        }

    def _lamps(self, room: Room) -> dict[str, Any]:
        return {f"lamp{n}": self._lamp(lamp) for n, lamp in enumerate(room.lamps)}

    def _lamp(self, lamp: Lamp) -> dict[str, Any]:
        far = float(np.linalg.norm(lamp.at_mm))
        strength = far * far / (math.pi * lamp.radius_mm**2) / math.pi
        return {
            "type": "sphere",
            "center": list(lamp.at_mm),
            "radius": lamp.radius_mm,
            "emitter": {
                "type": "area",
                "radiance": {"type": "rgb", "value": [v * strength for v in lamp.rgb]},
            },
        }

    # --- what comes and goes -------------------------------------------------------------------

    def _solids(self, name: str, solids: Sequence[Solid]) -> dict[str, Any]:
        """One mesh for each paint: equal paints of different brightness share one."""
        groups: dict[str, list[Mesh]] = {}
        paints: dict[str, Paint] = {}
        for solid in solids:
            key = f"{name}-{self._paint_name(solid.paint)}"
            groups.setdefault(key, []).append(box(solid, _GRAIN_MM))
            paints.setdefault(key, solid.paint)
        return {
            key: self._shape(Mesh.joined(meshes), self._painted(paints[key]))
            for key, meshes in groups.items()
        }

    def _paint_name(self, paint: Paint) -> str:
        for letter, known in self.paints.items():
            ratio = np.array(paint.rgb) / np.maximum(np.array(known.rgb), 1e-3)
            if known.grain == paint.grain and np.ptp(ratio) < 0.02 and 0.6 < ratio[0] < 1.6:
                return letter
        return "-".join(f"{round(255 * v)}" for v in paint.rgb)

    def _painted(self, paint: Paint) -> dict[str, Any]:
        rng = np.random.default_rng(5)
        shape = (512, 512)
        # Mirrored, so that the picture repeats without a seam.
        grain = wood_grain(rng, (256, 256), 2.0) if paint.grain else np.zeros((256, 256))
        tone = 0.06 * fractal(rng, (256, 256), (90, 90))
        weight = 1 + paint.grain * grain + tone + 0.015 * rng.standard_normal((256, 256))
        weight = np.block([[weight, weight[:, ::-1]], [weight[::-1], weight[::-1, ::-1]]])
        picture = np.clip(weight.reshape(*shape, 1) * f32(paint.rgb), 0.003, 0.97)
        return self._bitmap(f32(picture), max(0.12, 0.55 - 1.1 * paint.gloss), paint.gloss)

    def _card(self, name: str, card: Card) -> dict[str, Any]:
        rows, columns = card.picture.shape[:2]
        flat = sheet(
            np.array(card.corner_mm),
            np.array(card.right) * columns / card.px_per_mm,
            np.array(card.down) * rows / card.px_per_mm,
        )
        return {name: self._shape(flat, self._bitmap(card.picture, 0.7))}

    def _rods(self, rods: Sequence[Rod]) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        for name in sorted({rod.name for rod in rods}):
            mine = [rod for rod in rods if rod.name == name]
            mesh = Mesh.joined(
                [capsule(np.array(r.start), np.array(r.end), r.first_mm, r.last_mm) for r in mine]
            )
            picture = np.broadcast_to(f32(mine[0].rgb), (4, 4, 3)).copy()
            parts[f"rod-{name}"] = self._shape(mesh, self._bitmap(picture, 0.6))
        return parts

    # --- Mitsuba's dictionaries ----------------------------------------------------------------

    def _shape(self, mesh: Mesh, material: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        path = mesh.write(Path(self._folder.name) / f"{self._count}.ply")
        return {"type": "ply", "filename": str(path), "material": material}

    def _bitmap(self, picture: F32, rough: float, coat: float = 0.0) -> dict[str, Any]:
        bitmap = self.mi.Bitmap(np.ascontiguousarray(picture))
        return {
            "type": "twosided",
            "bsdf": {
                "type": "principled",
                "base_color": {"type": "bitmap", "bitmap": bitmap, "raw": True},
                "roughness": float(np.clip(rough, 0.1, 0.9)),
                "specular": 0.4,
                "clearcoat": min(1.0, 2.0 * coat),
                "clearcoat_gloss": 0.75,
            },
        }


class Pinhole:
    """A camera without distortion that holds everything the true one sees."""

    def __init__(self, camera: Camera) -> None:
        self.camera = camera
        width, height = camera.size
        px = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1)
        tangents = camera.lens.undistort(px)
        focal = camera.lens.focal_px
        low = np.floor(tangents.min((0, 1)) * focal).astype(int) - 3
        high = np.ceil(tangents.max((0, 1)) * focal).astype(int) + 4
        self.size = (int(high[0] - low[0]), int(high[1] - low[1]))
        self.focal = focal
        self.centre = (-float(low[0]), -float(low[1]))  # of pixel middles, as in OpenCV
        where = tangents * focal + np.array(self.centre)
        self._map = f32(where)

    def sensor(self, mi: Any, samples: int) -> dict[str, Any]:
        """Mitsuba's camera."""
        camera = self.camera
        width, height = self.size
        matrix = np.eye(4)
        # Mitsuba's camera looks along z with x to the left and y up.
        matrix[:3, :3] = camera.rotation.T @ np.diag([-1.0, -1.0, 1.0])
        matrix[:3, 3] = camera.position_mm
        return {
            "type": "perspective",
            "fov": math.degrees(2 * math.atan(width / (2 * self.focal))),
            "fov_axis": "x",
            "near_clip": 10.0,
            "far_clip": 1e6,
            "principal_point_offset_x": 0.5 - (self.centre[0] + 0.5) / width,
            "principal_point_offset_y": 0.5 - (self.centre[1] + 0.5) / height,
            "to_world": mi.ScalarTransform4f(matrix),
            "film": {
                "type": "hdrfilm",
                "width": width,
                "height": height,
                "rfilter": {"type": "box"},
                "pixel_format": "rgb",
                "component_format": "float32",
            },
            "sampler": {"type": "multijitter", "sample_count": samples},
        }

    def bent(self, picture: F32) -> F32:
        """The picture as the true lens throws it on the sensor."""
        return f32(
            cv2.remap(picture, self._map[..., 0], self._map[..., 1], cv2.INTER_CUBIC).clip(0)
        )
