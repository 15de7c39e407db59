"""The virtual table at any moment of a play: what stands, what shines, whose hand is there."""

from dataclasses import replace

import numpy as np

from calibration import cv
from calibration.camera import Camera
from rules.cells import Cell
from rules.events import Event
from vision.virtual.figures import Reach, Rod, arm, hand_tip, person
from vision.virtual.placing import USUAL, Layout, Sloppiness
from vision.virtual.play import Moment, Play, random_bump
from vision.virtual.scene import Scene
from vision.virtual.script import Stretch
from vision.virtual.shade import Lighting
from vision.virtual.studio import Studio, spare_solids, turned
from vision.virtual.values import Paint, Rgb, Room, Solid, Xyz


class Stand:
    """A table while a play goes on; `truth` tells what really happens."""

    def __init__(self, scene: Scene, play: Play, sloppy: Sloppiness = USUAL) -> None:
        self.scene = scene
        self.play = play
        self.studio = Studio(scene)
        layout = Layout(scene.kind.board.lattice, scene.paints, sloppy, scene.seed)
        self._solids = [layout.solids(pieces) for _, pieces in play.snapshots]
        self._beside = spare_solids(scene, play.snapshots[-1][1], scene.seed)
        self._lighting: tuple[object, Lighting] | None = None

    @property
    def truth(self) -> tuple[Event, ...]:
        """The events that a perfect onlooker would tell, with the seconds of the play."""
        return self.play.truth

    def solids(self, moment: Moment) -> list[Solid]:
        """The boxes that stand at a moment."""
        carried = turned(self._solids[moment.pieces], moment.pose, self.studio.ground.middle)
        return [*carried, *self._beside]

    def room(self, moment: Moment) -> Room:
        """The room with its lamps as they burn."""
        if not moment.lamps:
            return self.scene.room
        factors = dict(moment.lamps)
        lamps = tuple(
            replace(lamp, rgb=dimmed(lamp.rgb, factors.get(n, 1.0)))
            for n, lamp in enumerate(self.scene.room.lamps)
        )
        mean = sum(factors.get(n, 1.0) for n in range(len(lamps))) / max(1, len(lamps))
        ambient = dimmed(self.scene.room.ambient, 0.6 + 0.4 * mean)
        return replace(self.scene.room, lamps=lamps, ambient=ambient)

    def camera(self, name: str, moment: Moment) -> tuple[int, Camera]:
        """How often a camera was bumped until a moment, and how it stands since."""
        camera = self.scene.cameras[name]
        mine = [degrees for bumped, degrees in moment.bumps if bumped == name]
        for number, degrees in enumerate(mine):
            turn = cv.rotation_of(random_bump(name, degrees, number))
            camera = replace(
                camera,
                rotation=turn @ camera.rotation,
                translation_mm=turn @ camera.translation_mm,
            )
        return len(mine), camera

    def reaching(self, moment: Moment) -> list[tuple[tuple[Rod, ...], list[Solid]]]:
        """The arms at the table, each with the pieces in its hand."""
        middle = self.studio.ground.middle
        found = []
        for stretch, part in moment.hands:
            reach = self.tip(stretch, part)
            found.append((arm(reach, middle), self.held(stretch, hand_tip(reach, middle))))
        return found

    def lighting(self, moment: Moment) -> Lighting:
        """Light and shadows at a moment, kept for all cameras."""
        key = (moment.pieces, moment.pose, moment.lamps)
        if self._lighting is None or self._lighting[0] != key:
            made = self.studio.stage.lighting(self.solids(moment), self.room(moment))
            self._lighting = (key, made)
        return self._lighting[1]

    def tip(self, stretch: Stretch, part: float) -> Reach:
        """Where a hand is on its way."""
        lattice = self.scene.kind.board.lattice
        # A hand that turns the board goes round with it.
        now = stretch.start + part * (stretch.end - stretch.start)
        pose = self.play.moment(now).pose

        def over(cell: Cell | None) -> Xyz:
            if cell is None:
                return (0.0, 0.0, 0.0)
            moment = self.play.moment(stretch.start)
            pieces = self.play.snapshots[moment.pieces][1]
            high = max(
                (p.level + p.extent.height - 1 for p in pieces if cell in p.cells()), default=0
            )
            x, y = lattice.centre_mm(cell)
            x, y = pose.to_table(x, y, self.studio.ground.middle)
            return (x, y, (high + 1.2) * lattice.unit_mm[2])

        if stretch.source is None:
            return Reach(over(stretch.goal), stretch.clock, part, stretch.seed)
        if stretch.goal is None:
            return Reach(over(stretch.source), stretch.clock, 1 - part, stretch.seed)
        a, b = over(stretch.source), over(stretch.goal)
        between = tuple(u * (1 - part) + v * part for u, v in zip(a, b, strict=True))
        return Reach((between[0], between[1], between[2]), stretch.clock, 1.0, stretch.seed)

    def held(self, stretch: Stretch, at: Xyz) -> list[Solid]:
        """The piece in the hand."""
        change = stretch.held
        if change is None:
            return []
        lattice = self.scene.kind.board.lattice
        size = tuple(n * u for n, u in zip(change.extent, lattice.unit_mm, strict=True))
        paint = self.scene.paints.get(change.letter, Paint((0.5, 0.5, 0.5)))
        place = (at[0], at[1], at[2] - 0.4 * size[2])
        return [Solid(place, (size[0], size[1], size[2]), paint, turn_deg=12.0 * stretch.clock)]

    def passing(self, moment: Moment) -> list[tuple[Rod, ...]]:
        """The people who walk behind the table."""
        x0, y0, width, depth = self.scene.table_mm
        figures = []
        for number, (cue, part) in enumerate(moment.passers):
            rng = np.random.default_rng([self.scene.seed, int(cue.start * 10), number])
            ways = (part, 1 - part)
            along = ways[int(rng.integers(2))]
            x = x0 - 500 + (width + 1000) * along
            colours = self.scene.room.people or ((0.3, 0.3, 0.35),)
            rgb = colours[int(rng.integers(len(colours)))]
            figures.append(person((x, y0 + depth + 320), rgb, int(rng.integers(1 << 16))))
        return figures


def dimmed(rgb: Rgb, factor: float) -> Rgb:
    """A colour or light at a part of its strength."""
    return rgb[0] * factor, rgb[1] * factor, rgb[2] * factor
