"""Pictures of a scene: empty, with pieces, for colours and for the lens."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import cv2
import numpy as np

from rules.cells import Cell
from rules.pieces import Extent, Placed
from rules.stacks import Stacks
from vision.frame import ImageBGR
from vision.virtual.backdrop import LEVEL, TABLE_PX_PER_MM, BoardPose, Ground, with_card
from vision.virtual.cards import lens_board, marker_cards
from vision.virtual.placing import USUAL, Sloppiness, pieces_of, solids_of, stacks_of
from vision.virtual.scene import Kind, Scene
from vision.virtual.sensor import Development, Gain, metered
from vision.virtual.texture import board_picture, cover_picture
from vision.virtual.values import F32, Paint, Solid, linear_rgb
from vision.virtual.view import Stage, View

Pictures = dict[str, ImageBGR]


def ground_of(scene: Scene) -> Ground:
    """Table and board of a scene as pictures."""
    rng = np.random.default_rng([scene.seed, 21])
    x, y, width, depth = scene.table_mm
    shape = (round(depth * TABLE_PX_PER_MM), round(width * TABLE_PX_PER_MM))
    table = cover_picture(scene.table, rng, shape, TABLE_PX_PER_MM)
    corners = {c: scene.paints[letter].rgb for c, letter in scene.kind.corners.items()}
    return Ground(
        scene.kind.board,
        board_picture(scene.look, scene.kind.board, rng, corners),
        scene.look.thickness_mm,
        scene.look.edge,
        table,
        (x, y),
        open_top=scene.kind.surface == "frame",
        recess_mm=scene.recess_mm,
        hole_mm=scene.hole_mm,
        cards=marker_cards(scene.kind.board, scene.look.thickness_mm) if scene.markers else (),
    )


def frame_solids(scene: Scene) -> tuple[Solid, ...]:
    """The four strips around the cells, none where the board has no frame."""
    wide, high = scene.frame_mm
    if not wide:
        return ()
    across, deep, _ = scene.kind.board.lattice.size_mm
    gloss = scene.look.cover.gloss
    paint = Paint(scene.look.edge, 0.16 if scene.look.cover.kind == "wood" else 0.0, gloss)
    strips = (
        (across / 2, -wide / 2, across + 2 * wide, wide),
        (across / 2, deep + wide / 2, across + 2 * wide, wide),
        (-wide / 2, deep / 2, wide, deep),
        (across + wide / 2, deep / 2, wide, deep),
    )
    return tuple(
        Solid((x, y, high / 2), (dx, dy, high), paint, bevel_mm=1.2, seed=scene.seed * 4 + n)
        for n, (x, y, dx, dy) in enumerate(strips)
    )


def spare_solids(
    scene: Scene, pieces: Sequence[Placed], seed: int, *, most: int = 7
) -> tuple[Solid, ...]:
    """Pieces of the supply beside the board: what is left of each colour, at most so many."""
    rng = np.random.default_rng([scene.seed, 31, seed])
    kind, lattice = scene.kind, scene.kind.board.lattice
    left, _, right, _ = kind.board.margin_mm
    taken: list[tuple[float, float]] = []
    solids: list[Solid] = []
    for number, kit in enumerate(kind.kit):
        used = sum(1 for p in pieces if p.letter == kit.letter)
        side = -1 if number % 2 == 0 else 1
        edge = -left if side < 0 else lattice.size_mm[0] + right
        if scene.markers:
            edge += side * 62.0
        for _ in range(min(most, max(0, kit.count - used))):
            extent = kit.shape.extents[int(rng.integers(len(kit.shape.extents)))]
            size = tuple(n * u for n, u in zip(extent, lattice.unit_mm, strict=True))
            room = 0.75 * math.hypot(size[0], size[1]) + 4
            for _ in range(20):
                x = edge + side * (26 + room + float(rng.uniform(0, 130)))
                y = lattice.size_mm[1] / 2 + float(rng.normal(0, 0.3 * lattice.size_mm[0] + 30))
                if all(math.hypot(x - a, y - b) > 2 * room for a, b in taken):
                    taken.append((x, y))
                    solids.append(
                        Solid(
                            (x, y, -scene.look.thickness_mm + size[2] / 2),
                            (size[0], size[1], size[2]),
                            scene.paints[kit.letter],
                            turn_deg=float(rng.uniform(0, 360)),
                            bevel_mm=0.9,
                            seed=int(rng.integers(1 << 20)),
                        )
                    )
                    break
    return tuple(solids)


def clutter_solids(scene: Scene) -> tuple[Solid, ...]:
    """A box, a book, a pen, a phone: what lies about on a table."""
    rng = np.random.default_rng([scene.seed, 41])
    lattice = scene.kind.board.lattice
    kinds = (
        ((150, 105, 22), "#3b4c63", 0.05),
        ((205, 140, 30), "#a23b34", 0.1),
        ((140, 8, 8), "#d8b23a", 0.2),
        ((148, 72, 8), "#17181a", 0.4),
        ((95, 66, 17), "#e8e4da", 0.1),
        ((120, 120, 4), "#c8bfae", 0.0),
    )
    solids: list[Solid] = []
    for _ in range(int(rng.integers(1, 4))):
        size, colour, gloss = kinds[int(rng.integers(len(kinds)))]
        far = 0.5 * max(lattice.size_mm[:2]) + 150 + 0.5 * max(size) + float(rng.uniform(0, 90))
        angle = float(rng.uniform(-0.2, math.pi + 0.2))  # beside and behind, not in front
        x = lattice.size_mm[0] / 2 + far * math.cos(angle)
        y = lattice.size_mm[1] / 2 + far * math.sin(angle)
        solids.append(
            Solid(
                (x, y, -scene.look.thickness_mm + size[2] / 2),
                (float(size[0]), float(size[1]), float(size[2])),
                Paint(linear_rgb(colour), 0.02, gloss),
                turn_deg=float(rng.uniform(0, 360)),
                seed=int(rng.integers(1 << 20)),
            )
        )
    return tuple(solids)


def turned(solids: Sequence[Solid], pose: BoardPose, middle: tuple[float, float]) -> list[Solid]:
    """Solids carried along with the board."""
    if pose == LEVEL:
        return list(solids)
    carried = []
    for solid in solids:
        x, y = pose.to_table(solid.centre_mm[0], solid.centre_mm[1], middle)
        carried.append(
            replace(
                solid,
                centre_mm=(x, y, solid.centre_mm[2]),
                turn_deg=solid.turn_deg + pose.turn_deg,
            )
        )
    return carried


@dataclass(frozen=True, slots=True)
class Colours:
    """The colour picture: its pictures by camera, and what stands in them."""

    pictures: Pictures
    stacks: Stacks


class Studio:
    """Takes pictures of one scene with all its cameras."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.ground = ground_of(scene)
        self.stage = Stage(
            self.ground, scene.room, (*frame_solids(scene), *clutter_solids(scene)), scene.seed
        )
        self.views = {name: View(self.stage, c) for name, c in scene.cameras.items()}
        self.developments = {
            name: Development(sensor, scene.cameras[name].size, scene.seed)
            for name, sensor in scene.sensors.items()
        }
        self._gains: dict[str, Gain] = {}

    def gain(self, name: str) -> Gain:
        """Exposure and white balance as the camera settled on the empty table."""
        if name not in self._gains:
            light, _ = self.views[name].light((), self.stage.lighting(()))
            self._gains[name] = metered(light, self.scene.sensors[name], self.scene.room.white)
        return self._gains[name]

    def finish(self, name: str, light: F32, seed: int, gain: Gain | None = None) -> ImageBGR:
        """The webcam's picture of linear light."""
        development = self.developments[name]
        rng = np.random.default_rng([self.scene.seed, 51, seed])
        root = development.exposed(light)
        picture = development.developed(root, gain or self.gain(name), rng)
        data = development.compressed(picture)
        return cast("ImageBGR", cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR))

    def shot(self, solids: Sequence[Solid], seed: int, pose: BoardPose = LEVEL) -> Pictures:
        """One picture a camera of these boxes."""
        lighting = self.stage.lighting(solids)
        return {
            name: self.finish(name, view.light(solids, lighting, pose)[0], seed)
            for name, view in self.views.items()
        }

    def empty(self, seed: int = 0, *, spare: bool = True) -> Pictures:
        """The table before the game."""
        return self.shot(spare_solids(self.scene, (), seed) if spare else (), seed)

    def still(
        self,
        position: Stacks | Sequence[Placed],
        seed: int = 0,
        *,
        sloppy: Sloppiness = USUAL,
        spare: bool = True,
        pose: BoardPose = LEVEL,
        moment: int | None = None,
    ) -> Pictures:
        """A position; pieces stand as sloppily as said, differently with each seed.

        Another `moment`: the same pieces with the noise of another picture.
        """
        pieces = self.pieces(position)
        solids = solids_of(pieces, self.scene.kind.board.lattice, self.scene.paints, sloppy, seed)
        carried = turned(solids, pose, self.ground.middle)
        beside = spare_solids(self.scene, pieces, seed) if spare else ()
        return self.shot((*carried, *beside), seed if moment is None else moment, pose)

    def pieces(self, position: Stacks | Sequence[Placed]) -> tuple[Placed, ...]:
        """The pieces of a position, guessed from stacks where only those are given."""
        if isinstance(position, Stacks):
            return pieces_of(position, {kit.shape for kit in self.scene.kind.kit})
        return tuple(position)

    def colour_picture(self, seed: int = 0) -> Colours:
        """Each colour in two opposite places, in one of them as a stack of two."""
        pieces = colour_pieces(self.scene.kind)
        return Colours(self.still(pieces, seed, spare=False), stacks_of(pieces))

    def lens_views(self, count: int = 7) -> dict[str, list[ImageBGR]]:
        """The lens board held before each camera, each time elsewhere."""
        views: dict[str, list[ImageBGR]] = {}
        for number, (name, view) in enumerate(self.views.items()):
            rng = np.random.default_rng([self.scene.seed, 61, number])
            pictures = []
            empty, _ = view.light((), self.stage.lighting(()))
            for shot in range(count):
                card = lens_board(view.camera, shot, rng)
                light = with_card(empty, view.rays, card, self.stage.light_on(card))
                pictures.append(self.finish(name, light, 100 + shot))
            views[name] = pictures
        return views


def colour_pieces(kind: Kind) -> tuple[Placed, ...]:
    """Known pieces on known cells: each colour near two opposite corners of the board."""
    lattice = kind.board.lattice
    shapes: Mapping[str, Extent] = {
        kit.letter: min(kit.shape.extents, key=lambda e: (e.height != 2, e.width * e.depth))
        for kit in reversed(kind.kit)
    }
    letters = list(dict.fromkeys(kit.letter for kit in kind.kit))
    pieces: list[Placed] = []
    used: set[Cell] = set()
    for turn in (0, 1):
        for number, letter in enumerate(letters):
            extent = shapes[letter]
            cell = _colour_cell(kind, number, len(letters), extent, mirrored=bool(turn))
            trial = Placed(cell, 1, extent, letter)
            if used & set(trial.cells()):
                continue
            used |= set(trial.cells())
            pieces.append(trial)
            if turn == 0 and extent.height == 1 and lattice.levels > 1:
                pieces.append(trial._replace(level=2))
    return tuple(pieces)


def _colour_cell(kind: Kind, number: int, count: int, extent: Extent, *, mirrored: bool) -> Cell:
    lattice = kind.board.lattice
    columns, ranks = lattice.columns - extent.width, lattice.ranks - extent.depth
    if ranks <= 0:
        file = round(columns * (0.5 * number / max(1, count)))
        return Cell(columns - file, 0) if mirrored else Cell(file, 0)
    # Along the left edge one way, along the right edge the other way round.
    step = (number + 0.5) / count
    file = round(columns * 0.1) if number % 2 == 0 else round(columns * 0.4)
    rank = round(ranks * step)
    cell = Cell(file, rank)
    return Cell(columns - cell.file, ranks - cell.rank) if mirrored else cell
