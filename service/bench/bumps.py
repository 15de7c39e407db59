"""Whether bumped cameras are noticed and found again: how often, and how exactly.

Virtual tables with pieces on the board, and a hand over it or not. Each camera is turned and pushed
in a direction by chance; the light is drawn anew, as the camera sees it from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Camera
from calibration.cv import Image
from calibration.drift import Watch
from calibration.realign import Remembered
from rules.errors import UnknownName
from rules.lattice import Board
from rules.registry import find_game
from vision.virtual.placing import USUAL, solids_of
from vision.virtual.scene import Family, Kind, Scene
from vision.virtual.studio import Studio, colour_pieces, spare_solids
from vision.virtual.view import View

BUMPS = ((5.0, 1.0), (25.0, 5.0), (50.0, 10.0))  # millimetres, degrees
WRONG_MM = 4.0  # at 100 mm height
_HEIGHT_MM = 100.0


@dataclass(slots=True)
class BumpRow:
    """Bumps of one size in one game."""

    HEAD = ("game", "bump", "noticed", "found again", "median mm", "worst mm", "wrong")

    game: str
    bump: str
    noticed: int = 0
    bumps: int = 0
    off_mm: list[float] = field(default_factory=list)  # of those found again, at 100 mm height

    @property
    def wrong(self) -> int:
        """Places that were told and are not right."""
        return sum(mm > WRONG_MM for mm in self.off_mm)

    def texts(self) -> tuple[str, ...]:
        """The row of the table."""
        middle = f"{np.median(self.off_mm):.1f}" if self.off_mm else "-"
        worst = f"{max(self.off_mm):.1f}" if self.off_mm else "-"
        found = f"{len(self.off_mm)} of {self.bumps}"
        noticed = f"{self.noticed} of {self.bumps}"
        return (self.game, self.bump, noticed, found, middle, worst, str(self.wrong))


def rows(
    games: Sequence[str],
    scenes: int,
    family: str,
    seed: int,
    *,
    bumps: Sequence[tuple[float, float]] = BUMPS,
    size: tuple[int, int] = (1280, 720),
) -> Iterator[BumpRow]:
    """Every game's cameras bumped, a row for each size of bump."""
    if family not in get_args(Family):
        raise UnknownName("family", family, get_args(Family))
    for game in games:
        kind = Kind.of(find_game(game))
        found = [BumpRow(game, f"{mm:g} mm, {degrees:g} deg") for mm, degrees in bumps]
        for n in range(scenes):
            scene = Scene.from_seed(
                seed + n, kind, family=cast("Family", family), rig="two", size=size
            )
            _measure(scene, found, bumps, np.random.default_rng([seed, n]))
        yield from found


def _measure(
    scene: Scene,
    found: Sequence[BumpRow],
    bumps: Sequence[tuple[float, float]],
    rng: np.random.Generator,
) -> None:
    """Adds the cameras of one scene."""
    studio = Studio(scene)
    board, pieces = scene.kind.board, colour_pieces(scene.kind)
    solids = (
        *solids_of(studio.pieces(pieces), board.lattice, scene.paints, USUAL, 5),
        *spare_solids(scene, studio.pieces(pieces), 5),
    )
    lighting = studio.stage.lighting(solids)
    empty = studio.empty(1)
    for name, camera in scene.cameras.items():
        watch = Watch.of(camera, empty[name])
        remembered = Remembered(camera, empty[name], board, turnable=scene.kind.turned)
        for row, (mm, degrees) in zip(found, bumps, strict=True):
            true = bumped(camera, mm, degrees, rng)
            light = View(studio.stage, true).light(solids, lighting)[0]
            frame = studio.finish(name, light, 7)
            for picture in (frame, _reached(frame)):
                row.bumps += 1
                row.noticed += watch.look(picture).state == "moved"
                again = remembered.realigned(picture)
                if again is not None:
                    row.off_mm.append(off_mm(again, true, board))


def bumped(camera: Camera, mm: float, degrees: float, rng: np.random.Generator) -> Camera:
    """The camera pushed and turned in directions by chance."""
    push, axis = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    rotation = cv.rotation_of(axis * np.radians(degrees)) @ camera.rotation
    return Camera.of(camera.lens, rotation, -rotation @ (camera.position_mm + push * mm))


def off_mm(found: Camera, true: Camera, board: Board, height_mm: float = _HEIGHT_MM) -> float:
    """How far things above the board are off at most."""
    wide, deep, _ = board.lattice.size_mm
    places = np.array([(x * wide, y * deep, height_mm) for x in (0, 0.5, 1) for y in (0, 0.5, 1)])
    back = found.back_project(true.project(places), height_mm)
    return float(np.nanmax(np.linalg.norm(back - places, axis=1)))


def _reached(picture: Image) -> Image:
    """The picture with a forearm and a hand over the board."""
    height, width = picture.shape[:2]
    drawn, hand = picture.copy(), (int(0.45 * width), int(0.45 * height))
    arm, skin = int(0.08 * width), (120, 150, 205)
    cv2.line(drawn, (width, int(0.7 * height)), hand, skin, arm, cv2.LINE_AA)
    cv2.circle(drawn, hand, arm * 3 // 4, skin, -1, cv2.LINE_AA)
    return drawn
