"""Virtual cameras as sources: a play seen through webcams, with everything that webcams do."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

import cv2
import numpy as np

from calibration.camera import Camera
from rules.lattice import Board
from vision.errors import SourceError
from vision.frame import Frame, ImageBGR
from vision.virtual.excerpt import excerpt_sources
from vision.virtual.figures import Rod, overlay, shadow
from vision.virtual.play import Moment, rehearse
from vision.virtual.scene import SIZE, Kind, Scene
from vision.virtual.script import Script, parse_script
from vision.virtual.sensor import Gain, metered
from vision.virtual.stand import Stand, dimmed
from vision.virtual.timed import FPS, TimedSource
from vision.virtual.values import F32, Solid, f32
from vision.virtual.view import View

_LOST = 0.003  # the part of all frames that get lost on the way


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """What a camera sees while nothing moves: light through the lens, and its depth."""

    root: F32
    depth: F32


class VirtualTable(Stand):
    """A play at a table, and its cameras."""

    @cached_property
    def sources(self) -> dict[str, "VirtualSource"]:
        """One source a camera."""
        return {name: VirtualSource(self, name) for name in self.scene.cameras}


class VirtualSource(TimedSource):
    """One camera of a virtual table."""

    def __init__(
        self, table: VirtualTable, camera: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(camera, table.play.seconds, clock)
        self._table = table
        self._sensor = table.scene.sensors[camera]
        self._development = table.studio.developments[camera]
        draw = np.random.default_rng([table.scene.seed, 95, *camera.encode()])
        self._phase = float(draw.uniform(0, 1 / FPS))
        self._views: dict[int, View] = {0: table.studio.views[camera]}
        self._still: tuple[object, Still] | None = None
        self._gain: tuple[float, Gain] | None = None

    def restart(self) -> None:
        """Settles exposure and white balance anew."""
        self._gain = None

    def true_camera(self, seconds: float) -> Camera:
        """The camera as it stands at a time, bumps included."""
        moment = self._table.play.moment(seconds - self._sensor.delay_s)
        return self._table.camera(self.camera, moment)[1]

    def frame(self, number: int) -> Frame | None:
        """The frame of this number; None where it was lost on the way."""
        seconds = number / FPS + self._phase
        moment = self._table.play.moment(seconds - self._sensor.delay_s)
        rng = np.random.default_rng([self._table.scene.seed, 96, number, *self.camera.encode()])
        if rng.random() < _LOST or self.camera in moment.dropped:
            return None
        root = self._seen(moment)
        gain = self._adjusted(root, seconds)
        picture = self._development.developed(root, gain, rng)
        jpeg = self._development.compressed(picture)
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        return Frame(cast("ImageBGR", image), round(seconds, 4), self.camera, jpeg)

    def _view(self, moment: Moment) -> View:
        number, camera = self._table.camera(self.camera, moment)
        if number not in self._views:
            self._views[number] = View(self._table.studio.stage, camera)
        return self._views[number]

    def _standing(self, moment: Moment, view: View) -> Still:
        key = (moment.pieces, moment.pose, moment.lamps, moment.turning, view)
        if self._still is None or self._still[0] != key:
            lighting = self._table.lighting(moment)
            light, depth = view.light(
                self._table.solids(moment), lighting, moment.pose, fine=not moment.turning
            )
            self._still = (key, Still(self._development.exposed(light), depth))
        return self._still[1]

    def _seen(self, moment: Moment) -> F32:
        """Square roots of light with hands, their shadows, and people."""
        view = self._view(moment)
        still = self._standing(moment, view)
        if not (moment.hands or moment.passers):
            return still.root
        root = still.root.copy()
        white = self._table.room(moment).white
        for rods in self._table.passing(moment):
            _covered(root, view, rods, still.depth, dimmed(white, 0.5), [])
        for rods, held in self._table.reaching(moment):
            self._shade(root, view, rods)
            _covered(root, view, rods, still.depth, white, held)
        return root

    def _shade(self, root: F32, view: View, rods: tuple[Rod, ...]) -> None:
        lamps = self._table.scene.room.lamps
        white = sum(self._table.scene.room.white)
        for lamp in lamps[:2]:
            dark = shadow(view.camera, rods, lamp.at_mm, self._table.studio.ground.floor_mm)
            if dark is not None:
                rise = lamp.at_mm[2] / math.hypot(*lamp.at_mm)
                share = min(0.9, sum(lamp.rgb) * rise / max(white, 1e-6))
                left = 1 - dark.dark * f32(1 - math.sqrt(1 - share))
                cv2.multiply(root[dark.where], cv2.merge([left] * 3), root[dark.where])

    def _adjusted(self, root: F32, seconds: float) -> Gain:
        """Exposure and white balance, on their way to what the automatics strive for."""
        if self._sensor.obeys and self._gain is not None:
            return self._gain[1]
        small = cv2.resize(root, (64, 36), interpolation=cv2.INTER_AREA)
        goal = metered(f32(small * small), self._sensor, self._table.scene.room.white)
        if self._gain is None:
            self._gain = (seconds, goal)
        before, gain = self._gain
        part = 1 - math.exp(-max(0.0, seconds - before) / self._sensor.lag_s)
        self._gain = (seconds, gain.toward(goal, part))
        return self._gain[1]


def _covered(
    root: F32,
    view: View,
    rods: tuple[Rod, ...],
    depth: F32,
    white: tuple[float, float, float],
    held: list[Solid],
) -> None:
    over = overlay(view.camera, rods, depth, white, held)
    if over is not None:
        part = cv2.merge([over.cover] * 3)
        there = root[over.where]
        cv2.multiply(there, 1 - part, there)
        cv2.add(there, cv2.multiply(over.root, part), there)


def play_scene(script: Script, board: Board | None = None, size: tuple[int, int] = SIZE) -> Scene:
    """The scene that a script names; the board is the record's where none is given."""
    record = script.record
    board = board or record.setup.board or record.spec.board
    lattice = record.spec.set_up(record.setup).lattice
    kind = Kind.of(record.spec, replace(board, lattice=lattice))
    family = script.scene.get("family", "tune")
    rig = script.scene.get("rig", "two")
    if family not in ("tune", "check") or rig not in ("one", "two", "three", "corners"):
        raise SourceError(
            f"scene family={family} rig={rig}: use family=tune or check, "
            "rig=one, two, three or corners"
        )
    return Scene.from_seed(
        int(script.scene.get("seed", "0")),
        kind,
        family=cast("Literal['tune', 'check']", family),
        rig=cast("Literal['one', 'two', 'three', 'corners']", rig),
        size=size,
    )


def open_table(path: Path) -> VirtualTable:
    """The virtual table of a game record or script; raises SourceError and RecordError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"cannot read the script {str(path)!r}: {(error.strerror or str(error)).lower()}"
        ) from error
    script = parse_script(data)
    scene = play_scene(script)
    for direction in script.directions:
        kind, *words = direction.words
        if kind in ("bump", "drop") and words[0] not in scene.cameras:
            raise SourceError(
                f"line {direction.line}: there is no camera {words[0]!r} to {kind}; "
                f"this rig has {', '.join(scene.cameras)}"
            )
    return VirtualTable(scene, rehearse(script))


def virtual_sources(path: Path) -> Mapping[str, TimedSource]:
    """The cameras of `virtual:FILE`, by name: a record, a script, or an excerpt's JSON."""
    if path.suffix == ".json":
        return excerpt_sources(path)
    return open_table(path).sources
