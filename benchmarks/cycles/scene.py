"""The table in Cycles, in millimetres of the board; brightness is left to the sensor."""

import math
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import bpy  # first: it brings bmesh and mathutils

# isort: split
import bmesh
import cv2
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector

from . import painting
from .lens import Floats, Lens
from .positions import Piece, Pose, footprint
from .tables import Paint, Rgb, Table, between, blend, pick

WARM, NEUTRAL, COOL = (1.0, 0.62, 0.32), (1.0, 0.93, 0.84), (0.78, 0.88, 1.0)


def linear(colour: Rgb) -> tuple[float, float, float, float]:
    """What Cycles calculates with, from sRGB."""
    return (*(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour), 1.0)  # type: ignore[return-value]


class Surface:
    """A material put together from nodes."""

    def __init__(self, name: str, roughness: float = 0.7, specular: float = 0.4) -> None:
        self.material = bpy.data.materials.new(name)
        self.material.use_nodes = True
        self.tree = self.material.node_tree
        self.shader = self.tree.nodes["Principled BSDF"]
        self.shader.inputs["Roughness"].default_value = roughness
        self.shader.inputs["Specular IOR Level"].default_value = specular
        self._place: Any = None

    def node(self, kind: str, inputs: dict[str, Any] | None = None, **settings: Any) -> Any:
        """A node; inputs are values or sockets."""
        made = self.tree.nodes.new(f"ShaderNode{kind}")
        for key, value in settings.items():
            setattr(made, key, value)
        for key, value in (inputs or {}).items():
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, made.inputs[key])
            else:
                made.inputs[key].default_value = value
        return made

    def place(self, scale: Sequence[float], each: bool = False) -> Any:
        """Object coordinates, stretched; `each` gives every object another part of the pattern."""
        where = self.node("TexCoord").outputs["Object"]
        if each:
            chance = self.node("ObjectInfo").outputs["Random"]
            shift = self.node(
                "VectorMath", {0: chance, 1: (7919.0, 5077.0, 3391.0)}, operation="MULTIPLY"
            ).outputs[0]
            where = self.node("VectorMath", {0: where, 1: shift}, operation="ADD").outputs[0]
        return self.node("VectorMath", {0: where, 1: tuple(scale)}, operation="MULTIPLY").outputs[0]

    def noise(
        self, where: Any, detail: float = 4, rough: float = 0.6, distortion: float = 0.0
    ) -> Any:
        """Values about 0.5."""
        inputs = {
            "Vector": where,
            "Scale": 1.0,
            "Detail": detail,
            "Roughness": rough,
            "Distortion": distortion,
        }
        return self.node("TexNoise", inputs).outputs[0]

    def ramp(self, value: Any, stops: Sequence[tuple[float, Rgb]]) -> Any:
        """Colours along a value."""
        made = self.node("ValToRGB", {"Fac": value})
        elements = made.color_ramp.elements
        while len(elements) < len(stops):
            elements.new(0.5)
        for element, (at, colour) in zip(elements, stops, strict=True):
            element.position, element.color = at, linear(colour)
        return made.outputs[0]

    def colour(self, value: Any) -> "Surface":
        """The base colour: a socket or an sRGB triple."""
        if isinstance(value, tuple):
            self.shader.inputs["Base Color"].default_value = linear(value)
        else:
            self.tree.links.new(value, self.shader.inputs["Base Color"])
        return self

    def bump(self, height: Any, mm: float) -> "Surface":
        """Unevenness of the surface."""
        normal = self.node("Bump", {"Height": height, "Distance": mm, "Strength": 0.6}).outputs[0]
        self.tree.links.new(normal, self.shader.inputs["Normal"])
        return self

    def picture(self, image: npt.NDArray[np.float32], where: Any | None) -> "Surface":
        """An image (top row far away) as base colour."""
        high, wide = image.shape[:2]
        made = bpy.data.images.new("print", wide, high)
        made.pixels.foreach_set(
            np.dstack([image[::-1], np.ones((high, wide))]).astype(np.float32).ravel()
        )
        made.pack()
        vector = where if where is not None else self.node("TexCoord").outputs["UV"]
        return self.colour(self.node("TexImage", {"Vector": vector}, image=made).outputs[0])


def wood(
    colour: Rgb, roughness: float, strength: float, length: float, each: bool = False, axis: int = 0
) -> Surface:
    """Grain along an axis, `length` mm long; with little strength, paint that lets wood show."""
    made = Surface("wood", roughness)
    scale = [1 / length if i == axis else 9 / length for i in range(3)]
    fibres = made.noise(made.place(scale, each), 6, 0.65, 0.4)
    dark, light = (
        blend(colour, (0.1, 0.05, 0.02), 0.42 * strength),
        blend(colour, (1.0, 0.93, 0.82), 0.2 * strength),
    )
    return made.colour(made.ramp(fibres, [(0.3, dark), (0.5, colour), (0.72, light)])).bump(
        fibres, 0.12 * strength
    )


def mesh(
    name: str, points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]], surface: Surface
) -> Any:
    """An object from corners and faces."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    data.materials.append(surface.material)
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def box(
    name: str, size: Sequence[float], surface: Surface, bevel: float = 0.0, segments: int = 2
) -> Any:
    """A box about (0, 0), standing on z = 0, its edges rounded."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0)
    bmesh.ops.scale(form, vec=size, verts=form.verts)
    bmesh.ops.translate(form, vec=(0, 0, size[2] / 2), verts=form.verts)
    if bevel:
        bmesh.ops.bevel(
            form, geom=form.edges[:], offset=bevel, segments=segments, profile=0.5, affect="EDGES"
        )
    return _finished(form, name, surface, bool(bevel))


def tube(name: str, radius: float, height: float, surface: Surface, bevel: float = 0.0) -> Any:
    """A standing cylinder."""
    form = bmesh.new()
    bmesh.ops.create_cone(
        form, cap_ends=True, segments=40, radius1=radius, radius2=radius, depth=height
    )
    bmesh.ops.translate(form, vec=(0, 0, height / 2), verts=form.verts)
    if bevel:
        rims = [e for e in form.edges if abs(e.verts[0].co.z - e.verts[1].co.z) < 1e-6]
        bmesh.ops.bevel(form, geom=rims, offset=bevel, segments=2, profile=0.5, affect="EDGES")
    return _finished(form, name, surface, True)


def _finished(form: Any, name: str, surface: Surface, smooth: bool) -> Any:
    data = bpy.data.meshes.new(name)
    form.to_mesh(data)
    form.free()
    data.materials.append(surface.material)
    if smooth:
        for face in data.polygons:  # what is flat stays flat, only the rounded edges are smooth
            face.use_smooth = max(map(abs, face.normal)) < 0.9999
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def sheet(x0: float, y0: float, x1: float, y1: float, z: float, surface: Surface) -> Any:
    """A flat rectangle with its picture upright."""
    made = mesh(
        "sheet", [(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], [(0, 1, 2, 3)], surface
    )
    layer = made.data.uv_layers.new()
    for loop, uv in zip(layer.data, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
        loop.uv = uv
    return made


class Stage:
    """A table ready to be photographed; pieces come and go."""

    def __init__(self, table: Table, samples: int, threads: int) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.table, self.board, self.look = table, table.board, table.look
        self.rng = np.random.default_rng([table.seed, 5])
        self.scene = bpy.context.scene
        self._settings(samples, threads)
        self.white: Floats = np.ones(3)
        self.dimmed = 1.0
        self._room()
        self._lights()
        self._table()
        self._board()
        self.painted = {
            (letter, axis): self._paint(paint, axis)
            for letter, paint in self.look.paints.items()
            for axis in range(3)
        }
        self._meshes: dict[tuple[str, tuple[int, int, int]], Any] = {}
        self._pieces: list[Any] = []
        camera = bpy.data.cameras.new("camera")
        camera.clip_start, camera.clip_end, camera.sensor_width = 5, 20000, 36
        self.camera = bpy.data.objects.new("camera", camera)
        self.scene.collection.objects.link(self.camera)
        self.scene.camera = self.camera

    def _settings(self, samples: int, threads: int) -> None:
        render, cycles = self.scene.render, self.scene.cycles
        render.engine = "CYCLES"
        cycles.samples, cycles.use_adaptive_sampling, cycles.adaptive_threshold = (
            samples,
            True,
            0.03,
        )
        cycles.use_denoising, cycles.denoiser, cycles.denoising_input_passes = (
            True,
            "OPENIMAGEDENOISE",
            "RGB_ALBEDO_NORMAL",
        )
        cycles.denoising_quality, cycles.denoising_prefilter = "BALANCED", "FAST"
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 3, 2, 2
        cycles.sample_clamp_indirect, cycles.caustics_reflective = 20, False
        render.use_persistent_data = True
        render.threads_mode, render.threads = "FIXED", threads
        render.image_settings.file_format, render.image_settings.color_depth = "OPEN_EXR", "32"

    def _lamp(self, kind: str, at: Sequence[float], light: float, colour: Rgb, size: float) -> None:
        """A lamp that looks at the board; `light` is what arrives there, 1 like a room's."""
        data = bpy.data.lights.new("lamp", kind)
        wide, deep = self.board.size
        towards = Vector((wide / 2, deep / 2, 0)) - Vector(at)
        data.color = colour
        if kind == "SUN":
            data.energy, data.angle = light * math.pi, size
        elif kind == "AREA":
            data.energy, data.shape, data.size, data.size_y = (
                light * math.pi**2 * towards.length_squared,
                "RECTANGLE",
                size,
                size * 1.3,
            )
        else:
            data.energy, data.shadow_soft_size = (
                light * 4 * math.pi**2 * towards.length_squared,
                size,
            )
        lamp = bpy.data.objects.new("lamp", data)
        lamp.location, lamp.rotation_euler = at, towards.to_track_quat("-Z", "Y").to_euler()
        self.scene.collection.objects.link(lamp)
        self.white = self.white + light * np.array(colour)

    def _lights(self) -> None:
        rng, kind = self.rng, self.look.light
        wide, deep = self.board.size

        def around(
            near: float, far: float, low: float, high: float, side: float | None = None
        ) -> tuple[float, float, float]:
            turn, r = (
                between(rng, 0, 2 * math.pi) if side is None else side + between(rng, -0.4, 0.4),
                between(rng, near, far),
            )
            return (
                wide / 2 + r * math.cos(turn),
                deep / 2 + r * math.sin(turn),
                between(rng, low, high),
            )

        ambient, colour = between(rng, 0.4, 1.0), pick(rng, (NEUTRAL, COOL, (1.0, 1.0, 1.0)))
        self.white = ambient * np.array(colour)
        if kind in ("window", "overcast"):
            self._lamp(
                "AREA", around(1100, 1700, 200, 900), 3.0 if kind == "window" else 1.2, COOL, 900
            )
        if kind in ("window", "sun"):
            at = around(1500, 2500, 900, 2600, between(rng, -2.8, -0.3))  # not through the wall
            self._lamp(
                "SUN",
                at,
                between(rng, 2.5, 8),
                (1.0, 0.9, 0.74),
                math.radians(between(rng, 0.5, 1.6)),
            )
            if kind == "window":
                self._window(at)
        if kind == "bulb":
            self._lamp(
                "POINT",
                around(150, 750, 500, 1100),
                between(rng, 3, 9),
                blend(WARM, NEUTRAL, 0.6),
                between(rng, 8, 30),
            )
        if kind == "spots":
            for _ in range(int(rng.integers(3, 6))):
                self._lamp(
                    "POINT",
                    around(100, 1100, 1200, 1700),
                    between(rng, 0.8, 2.2),
                    blend(WARM, NEUTRAL, 0.75),
                    between(rng, 20, 50),
                )
        if kind == "evening":
            ambient, colour, self.dimmed = 0.12, blend(WARM, NEUTRAL, 0.5), between(rng, 0.4, 0.7)
            self.white = ambient * np.array(colour)
            self._lamp("POINT", around(600, 1300, 350, 900), 1.2, blend(WARM, NEUTRAL, 0.2), 90)
        if kind == "coloured":
            self._lamp("POINT", around(100, 600, 900, 1400), 2.0, NEUTRAL, 60)
            self._lamp(
                "AREA",
                around(800, 1300, 100, 600),
                between(rng, 0.3, 0.9),
                pick(rng, ((0.25, 0.3, 1.0), (1.0, 0.2, 0.7), (0.2, 1.0, 0.6))),
                300,
            )
        world = bpy.data.worlds.new("room")
        self.scene.world = world
        world.use_nodes = True
        tree = world.node_tree
        split = tree.nodes.new("ShaderNodeSeparateXYZ")
        ramp = tree.nodes.new("ShaderNodeValToRGB")
        tree.links.new(tree.nodes.new("ShaderNodeTexCoord").outputs["Generated"], split.inputs[0])
        tree.links.new(split.outputs[pick(rng, (0, 1))], ramp.inputs[0])  # brighter on one side
        ramp.color_ramp.elements[0].color = (*(0.6 * c for c in colour), 1)
        ramp.color_ramp.elements[1].color = (*(1.5 * c for c in colour), 1)
        background = tree.nodes["Background"]
        tree.links.new(ramp.outputs[0], background.inputs["Color"])
        background.inputs["Strength"].default_value = ambient
        share = between(rng, 0.55, 1.0)  # automatic white balance does not go all the way
        self.white = (self.white / self.white[1]) ** share

    def _window(self, sun: Sequence[float]) -> None:
        """A frame with bars between sun and table: the light lies on the table in patches."""
        dark = Surface("frame", 0.8).colour((0.8, 0.8, 0.78))
        wide, deep = self.board.size
        middle = Vector((wide / 2, deep / 2, 0)).lerp(Vector(sun), 0.55)
        turn = (
            (Vector(sun) - Vector((wide / 2, deep / 2, 0)))
            .to_track_quat("Z", "Y")
            .to_matrix()
            .to_4x4()
        )
        shift = between(self.rng, -150, 150)
        bars = [
            (-1600 + shift, -1500, -260 + shift, 1500),
            (260 + shift, -1500, 1600 + shift, 1500),
            (-12 + shift, -1500, 12 + shift, 1500),
            (-260 + shift, 60, 260 + shift, 84),
        ]
        for x0, y0, x1, y1 in bars:
            sheet(x0, y0, x1, y1, 0, dark).matrix_world = Matrix.Translation(middle) @ turn

    def _room(self) -> None:
        wall = Surface("wall", 0.9).colour(
            pick(
                self.rng,
                ((0.80, 0.78, 0.73), (0.62, 0.68, 0.72), (0.74, 0.64, 0.52), (0.45, 0.50, 0.46)),
            )
        )
        floor = wood(pick(self.rng, ((0.55, 0.40, 0.28), (0.40, 0.38, 0.36))), 0.5, 0.7, 300)
        sheet(-3500, -3500, 3500, 3500, -740, floor)
        sheet(-3500, -740, 3500, 1900, 0, wall).matrix_world = Matrix(
            ((1, 0, 0, 0), (0, 0, -1, 2600), (0, 1, 0, 0), (0, 0, 0, 1))
        )
        for _ in range(4):  # furniture, out of focus as it were
            block = box(
                "furniture",
                [between(self.rng, 200, 900) for _ in range(3)],
                Surface("stuff").colour(
                    pick(self.rng, ((0.3, 0.2, 0.15), (0.7, 0.7, 0.68), (0.2, 0.3, 0.4)))
                ),
                5,
            )
            block.location = (between(self.rng, -1800, 1800), between(self.rng, 1500, 2300), -740)

    def _table(self) -> None:
        kind, (first, second), rng = self.look.cloth, self.look.cloth_colours, self.rng
        self.table_z = -self.board.thickness
        if kind == "wood":
            surface = wood(first, pick(rng, (0.25, 0.5, 0.7)), 0.9, between(rng, 150, 500))
        elif kind == "plain":
            surface = Surface("cloth", 0.95, 0.1)
            folds = surface.noise(surface.place((0.012, 0.012, 0.012)), 2)
            weave = surface.noise(surface.place((0.9, 2.5, 1.0)), 2)
            surface.colour(
                surface.ramp(
                    weave,
                    [(0.3, blend(first, (0, 0, 0), 0.18)), (0.7, blend(first, (1, 1, 1), 0.06))],
                )
            ).bump(folds, 5.0)
        elif kind == "laminate":
            surface = Surface("laminate", between(rng, 0.08, 0.25), 0.5).colour(first)
        elif kind == "stone":
            surface = Surface("stone", between(rng, 0.15, 0.5))
            grains = surface.noise(
                surface.place([between(rng, 0.02, 0.25)] * 3), 9, 0.75, between(rng, 0, 2)
            )
            surface.colour(
                surface.ramp(
                    grains,
                    [
                        (0.36, blend(second, (0.2, 0.2, 0.2), 0.6)),
                        (0.5, blend(first, (0.6, 0.58, 0.55), 0.6)),
                        (0.64, (0.85, 0.83, 0.8)),
                    ],
                )
            )
        else:
            image, mm = painting.cloth(kind, (first, second), rng)
            surface = Surface("cloth", 0.92 if kind != "newspaper" else 0.8, 0.15)
            surface.picture(image, surface.place([1 / mm] * 3))
        wide, deep = self.board.size
        long, across = between(rng, 1000, 1700), between(rng, 760, 1000)
        top = box("table", (long, across, 28), surface, 3)
        top.location = (
            wide / 2 + between(rng, -120, 120),
            deep / 2 + between(rng, -60, 120),
            self.table_z - 28,
        )
        top.rotation_euler = (0, 0, math.radians(between(rng, -6, 6)))

    def _board(self) -> None:
        board, look, game = self.board, self.look, self.table.game
        (wide, deep), m = board.size, board.margin
        body = wood(look.base, 0.55, 0.5 + 0.4 * look.board_grain, 120)
        if game == "ksar" and board.frame:
            high, thick = board.frame
            grain = wood(look.base, pick(self.rng, (0.3, 0.6)), 0.9, 90)
            for x, y, turn, length in (
                (wide / 2, -thick / 2, 0, wide + 2 * thick),
                (wide / 2, deep + thick / 2, 0, wide + 2 * thick),
                (-thick / 2, deep / 2, 90, deep),
                (wide + thick / 2, deep / 2, 90, deep),
            ):
                bar = box("frame", (length, thick, high), grain, 0.8)
                bar.location, bar.rotation_euler = (x, y, 0), (0, 0, math.radians(turn))
            return
        if game == "turris":
            felt = Surface("felt", 1.0, 0.05)
            felt.shader.inputs["Sheen Weight"].default_value = 0.35
            fluff = felt.noise(felt.place([0.8] * 3), 8, 0.8, 1.5)
            felt.colour(
                felt.ramp(
                    fluff,
                    [
                        (0.3, blend(look.base, (0, 0, 0), 0.25)),
                        (0.7, blend(look.base, (1, 1, 1), 0.12)),
                    ],
                )
            ).bump(fluff, 0.8)
            slab = box("felt", (wide + 2 * m, deep + 2 * m, board.thickness), felt, 0.6)
            slab.location = (wide / 2, deep / 2, -board.thickness)
            return
        if board.hollow:
            self._hollows(body)
            return
        top = Surface("print", 0.25 if self.rng.random() < 0.25 else 0.6)
        top.picture(painting.board_print(game, board, look, look.paints, self.rng), None)
        if game != "kwinty":
            slab = box("board", (wide + 2 * m, deep + 2 * m, board.thickness - 0.1), body, 0.5)
            slab.location = (wide / 2, deep / 2, -board.thickness)
        edge = 0.0 if game == "kwinty" else 0.4
        sheet(-m + edge, -m + edge, wide + m - edge, deep + m - edge, 0, top)

    def _hollows(self, body: Surface) -> None:
        """A plate whose top is `recess` above the hollows' floors, in one mesh."""
        board = self.board
        inside = (board.pitch - board.hollow) / 2

        def cuts(count: int) -> list[float]:
            ends = [
                v
                for i in range(count)
                for v in (i * board.pitch + inside, (i + 1) * board.pitch - inside)
            ]
            return [-board.margin, *ends, count * board.pitch + board.margin]

        xs, ys = cuts(board.columns), cuts(board.ranks)
        low, high = 0.0, board.recess
        plate, floors = ([], []), ([], [])  # type: ignore[var-annotated]

        def quad(form: tuple[list[Any], list[Any]], *corners: Sequence[float]) -> None:
            form[1].append([len(form[0]) + i for i in range(4)])
            form[0].extend(corners)

        for i, (x0, x1) in enumerate(pairwise(xs)):
            for j, (y0, y1) in enumerate(pairwise(ys)):
                hollow = i % 2 == 1 and j % 2 == 1
                z = low if hollow else high
                quad(
                    floors if hollow else plate, (x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)
                )
                for (ax, ay), (bx, by) in (
                    (
                        ((x0, y0), (x1, y0)),
                        ((x1, y0), (x1, y1)),
                        ((x1, y1), (x0, y1)),
                        ((x0, y1), (x0, y0)),
                    )
                    if hollow
                    else ()
                ):
                    quad(plate, (ax, ay, low), (bx, by, low), (bx, by, high), (ax, ay, high))
        mesh("plate", *plate, body)
        darker = blend(self.look.base, self.look.ink, pick(self.rng, (0.0, 0.15, 0.4)))
        mesh("floors", *floors, wood(darker, 0.6, 0.6, 120))
        x0, y0, x1, y1, foot = xs[0], ys[0], xs[-1], ys[-1], self.table_z
        rim = [
            (x0, y0, foot),
            (x1, y0, foot),
            (x1, y1, foot),
            (x0, y1, foot),
            (x0, y0, high),
            (x1, y0, high),
            (x1, y1, high),
            (x0, y1, high),
        ]
        mesh("sides", rim, [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)], body)

    def _paint(self, paint: Paint, axis: int) -> Surface:
        made = wood(paint.colour, paint.roughness, paint.grain, 34, each=True, axis=axis)
        if paint.grain < 0.3 and paint.roughness < 0.3:
            made.shader.inputs["Coat Weight"].default_value = 0.4
        return made

    def piece(self, extent: tuple[int, int, int], letter: str, at: Pose, keep: bool = False) -> Any:
        """Puts a piece somewhere; it goes with the next `clear` unless it is to be kept."""
        key = (letter, extent)
        unit, look = self.board.unit, self.look
        if key not in self._meshes:
            wide, deep = footprint(self.board, Piece((0, 0), 1, extent, letter))
            if self.table.game == "cube" and extent != (1, 1, 1):
                made = self._twin(extent, letter)
            else:
                made = box(
                    "piece",
                    (wide, deep, extent[2] * unit),
                    self.painted[letter, extent.index(max(extent))],
                    look.bevel,
                    look.segments,
                )
            self._meshes[key] = made.data
        else:
            made = bpy.data.objects.new("piece", self._meshes[key])
            self.scene.collection.objects.link(made)
        made.location, made.rotation_euler = (at.x, at.y, at.z), (0, 0, math.radians(at.degrees))
        if not keep:
            self._pieces.append(made)
        return made

    def _twin(self, extent: tuple[int, int, int], letter: str) -> Any:
        """Two cubes on a dowel, which is seen where they stand apart."""
        unit, pitch = self.board.unit, self.board.pitch
        parts, dowel_wood = [], wood((0.8, 0.65, 0.45), 0.6, 0.5, 30)
        for side in (-0.5, 0.5):
            part = box(
                "twin",
                (unit, unit, unit),
                self.painted[letter, 0],
                self.look.bevel,
                self.look.segments,
            )
            part.location = (
                side * pitch * (extent[0] - 1),
                side * pitch * (extent[1] - 1),
                (side + 0.5) * unit * (extent[2] - 1),
            )
            parts.append(part)
        if extent[2] == 1:
            dowel = box(
                "dowel",
                (pitch if extent[0] > 1 else 8, pitch if extent[1] > 1 else 8, 8),
                dowel_wood,
                3,
            )
            dowel.location = (0, 0, unit / 2 - 4)
            parts.append(dowel)
        bpy.context.view_layer.update()
        form = bmesh.new()
        for index, part in enumerate(parts):
            part.data.transform(part.matrix_world)
            for face in part.data.polygons:
                face.material_index = index // 2
            form.from_mesh(part.data)
            bpy.data.objects.remove(part)
        made = _finished(form, "twin", self.painted[letter, 0], True)
        made.data.materials.append(dowel_wood.material)
        return made

    def clear(self) -> None:
        """Takes away what was put down for one picture."""
        for made in self._pieces:
            bpy.data.objects.remove(made)
        self._pieces = []

    def clutter(self, what: str, x: float, y: float) -> None:
        """Something that lies on the table and has nothing to do with the game."""
        rng, made = self.rng, []
        colour = pick(
            rng,
            (
                (0.85, 0.83, 0.8),
                (0.2, 0.35, 0.55),
                (0.6, 0.15, 0.15),
                (0.1, 0.1, 0.1),
                (0.25, 0.45, 0.3),
            ),
        )
        if what == "mug":
            glaze = Surface("glaze", 0.12).colour(colour)
            radius = between(rng, 34, 44)
            made = [
                tube("mug", radius, 92, glaze, 2),
                tube("tea", radius - 4, 92.3, Surface("tea", 0.05).colour((0.18, 0.09, 0.04))),
            ]
            bpy.ops.mesh.primitive_torus_add(
                major_radius=26,
                minor_radius=5,
                location=(radius, 0, 46),
                rotation=(math.pi / 2, 0, 0),
            )
            made.append(bpy.context.object)
            made[-1].data.materials.append(glaze.material)
        elif what == "book":
            thick = between(rng, 12, 35)
            made = [
                box("book", (130, 195, thick), Surface("cover", 0.5).colour(colour), 1.5),
                box("pages", (131, 189, thick - 5), Surface("pages").colour((0.9, 0.87, 0.78))),
            ]
            made[1].location = (2, 0, 2.5)
        elif what == "phone":
            made = [
                box("phone", (72, 148, 8), Surface("glass", 0.05).colour((0.02, 0.02, 0.025)), 3, 3)
            ]
        elif what == "paper":
            made = [box("paper", (105, 148, 0.4), Surface("paper", 0.9).colour((0.92, 0.91, 0.87)))]
        else:
            for i in range(2):
                die = box("die", (16, 16, 16), Surface("die", 0.3).colour((0.93, 0.92, 0.9)), 2, 3)
                die.location = (24 * i, 9 * i, 0)
                made.append(die)
        place = Matrix.Translation((x, y, self.table_z)) @ Matrix.Rotation(
            between(rng, 0, 6.28), 4, "Z"
        )
        bpy.context.view_layer.update()
        for part in made:
            part.matrix_world = place @ part.matrix_world

    def lens_board(self, lens: Lens, number: int) -> None:
        """Holds the lens board before a camera, each time another way, until the next `clear`."""
        rng = np.random.default_rng([self.table.seed, number, 99])
        image, wide, high = painting.lens_board()
        made = sheet(
            -wide / 2,
            -high / 2,
            wide / 2,
            high / 2,
            0,
            Surface("lens board", 0.6).picture(image, None),
        )
        focal, (width, height) = lens.matrix[0, 0], lens.size
        depth = focal * wide / (width * between(rng, 0.42, 0.6))
        at = (
            np.array(
                [
                    (number % 3 - 1) * 0.22 * width / focal,
                    (number // 3 % 2 - 0.5) * 0.3 * height / focal,
                    1.0,
                ]
            )
            * depth
        )
        tilt = (
            Matrix.Rotation(between(rng, -0.6, 0.6), 4, "X")
            @ Matrix.Rotation(between(rng, -0.6, 0.6), 4, "Y")
            @ Matrix.Rotation(between(rng, -0.3, 0.3), 4, "Z")
        )
        made.matrix_world = self._view(lens) @ Matrix.Translation((at[0], -at[1], -at[2])) @ tilt
        self._pieces.append(made)

    def _view(self, lens: Lens) -> Matrix:
        """Blender's cameras look along -z with y up."""
        turn = np.diag([1.0, -1.0, -1.0]) @ lens.rotation
        return Matrix.Translation(lens.place.tolist()) @ Matrix(turn.T.tolist()).to_4x4()

    def light(self, lens: Lens, seed: int) -> npt.NDArray[np.float32]:
        """What arrives behind a lens: linear RGB."""
        (wide, high), focal = lens.pinhole()
        render = self.scene.render
        render.resolution_x, render.resolution_y, render.resolution_percentage = wide, high, 100
        self.camera.data.sensor_fit, self.camera.data.lens = "HORIZONTAL", focal * 36 / wide
        self.camera.matrix_world = self._view(lens)
        self.scene.cycles.seed = seed
        with tempfile.TemporaryDirectory() as place:
            render.filepath = str(Path(place) / "light.exr")
            bpy.ops.render.render(write_still=True)
            image = cv2.imread(render.filepath, cv2.IMREAD_UNCHANGED)
        return lens.distort(np.ascontiguousarray(image[..., 2::-1], dtype=np.float32))
