"""Makes sample pictures: `python -m sample_images.make FAMILY [TABLE ...]`.

Needs the extra `sim` and LLVM 19. Pictures that exist are kept, so that a run can be broken off.
"""

import argparse
import json
import sys
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import Camera
from sample_images.make.excerpts import NAME, excerpt_json, excerpt_script, keys
from sample_images.make.hands import holding
from sample_images.make.render import Tracer
from sample_images.make.sheet import contact_sheet
from sample_images.make.tables import Table, table_toml, tables
from vision.virtual.cards import lens_board
from vision.virtual.live import VirtualTable
from vision.virtual.placing import USUAL, solids_of, stacks_of
from vision.virtual.play import rehearse
from vision.virtual.sensor import Development, Gain, metered
from vision.virtual.studio import Studio, colour_pieces, spare_solids
from vision.virtual.values import F32, Solid

KEY_JPEG = 90
LENS_VIEWS = 6
POSITIONS = 10


class Maker:
    """Makes the pictures of one table."""

    def __init__(self, table: Table, samples: int) -> None:
        self.table = table
        self.samples = samples
        self.studio = Studio(table.scene)
        self._tracer: Tracer | None = None
        self._gains: dict[str, Gain] = {}
        table.folder.mkdir(parents=True, exist_ok=True)

    @property
    def tracer(self) -> Tracer:
        """The path tracer, loaded when the first picture is missing."""
        if self._tracer is None:
            scene = self.table.scene
            self._tracer = Tracer(
                self.studio.ground,
                scene.room,
                scene.paints,
                self.studio.stage.fixed,
                scene.seed,
                scene.table.gloss,
            )
        return self._tracer

    def gain(self, name: str) -> Gain:
        """Exposure and white balance, settled on the empty table."""
        if name not in self._gains:
            light = self.tracer.trace(
                self.table.scene.cameras[name], spare_solids(self.table.scene, (), 0), samples=4
            )
            self._gains[name] = metered(
                light, self.table.scene.sensors[name], self.table.scene.room.white
            )
        return self._gains[name]

    def save(self, path: Path, name: str, light: F32, seed: int, gain: Gain) -> None:
        """Develops and writes one picture as its webcam's JPEG."""
        development = self.studio.developments[name]
        rng = np.random.default_rng([self.table.scene.seed, 51, seed])
        picture = development.developed(development.exposed(light), gain, rng)
        path.write_bytes(development.compressed(picture))

    def path(self, shot: str, name: str) -> Path:
        """The file of one picture."""
        return self.table.folder / f"{shot}.{name}.jpg"

    def solids(self, number: int) -> tuple[Solid, ...]:
        """The boxes of a single position and of the supply beside it."""
        scene = self.table.scene
        pieces = self.table.position(number)
        board = solids_of(pieces, scene.kind.board.lattice, scene.paints, USUAL, number + 1)
        return (*board, *spare_solids(scene, pieces, number + 1))

    def make(self, cameras: Collection[str]) -> None:
        """Everything of these cameras that is missing."""
        scene = self.table.scene
        (self.table.folder / "table.toml").write_text(table_toml(self.table), "utf-8")
        lattice = scene.kind.board.lattice
        colours = solids_of(colour_pieces(scene.kind), lattice, scene.paints, USUAL, 0)
        shots = {
            "empty": spare_solids(scene, (), 0),
            "colours": colours,
            **{f"still{n:02}": self.solids(n) for n in range(POSITIONS)},
        }
        for seed, (shot, solids) in enumerate(shots.items()):
            for name in cameras:
                self.shot(shot, name, scene.cameras[name], solids, seed)
        self.lens_views(cameras)
        whole = [*shots, *(f"lens{n:02}" for n in range(LENS_VIEWS))]
        if not all(self.path(shot, name).exists() for shot in whole for name in scene.cameras):
            return
        # Written last: a folder with its truth is whole.
        truth = json.dumps(self.truth(), indent=1) + "\n"
        (self.table.folder / "truth.json").write_text(truth, "utf-8")

    def lens_views(self, cameras: Collection[str]) -> None:
        """The lens board in somebody's hand, each time elsewhere; exposure follows it."""
        scene = self.table.scene
        for number, (name, camera) in enumerate(scene.cameras.items()):
            rng = np.random.default_rng([scene.seed, 61, number])
            for shot in range(LENS_VIEWS):
                card = lens_board(camera, shot, rng)
                rods = holding(card, np.random.default_rng([scene.seed, 62, number, shot]))
                path = self.path(f"lens{shot:02}", name)
                if path.exists() or name not in cameras:
                    continue
                start = time.perf_counter()
                light = self.tracer.trace(
                    camera,
                    (),
                    samples=self.samples,
                    cards=[card],
                    rods=rods,
                    seed=100 + shot,
                )
                gain = metered(light, scene.sensors[name], scene.room.white)
                self.save(path, name, light, 100 + shot, gain)
                _say(f"{self.table.family}/{self.table.name} {path.stem}", start)

    def excerpt(self, part: int, parts: int) -> None:
        """The keyframes of a short game, traced but without noise, and the files to play them.

        Several programs can share the work, each with a part of its own.
        """
        table, folder = self.table, self.table.folder / "excerpt"
        folder.mkdir(exist_ok=True)
        script = excerpt_script(table, table.excerpt)
        play = rehearse(script)
        (folder / "script.txt").write_text(str(script), "utf-8")
        virtual = VirtualTable(table.scene, play)
        drawn = list({key.name: key for key in keys(play)}.values())
        for name in table.excerpt:
            quiet = replace(table.scene.sensors[name], noise=0.0, blotch=0.0, jpeg=KEY_JPEG)
            development = Development(quiet, table.scene.cameras[name].size, 0)
            for key in drawn[part - 1 :: parts]:
                path = folder / f"{key.name}.{name}.jpg"
                if path.exists():
                    continue
                start = time.perf_counter()
                moment = play.moment(key.at)
                arms = virtual.reaching(moment)
                light = self.tracer.trace(
                    virtual.camera(name, moment)[1],
                    [*virtual.solids(moment), *(s for _, held in arms for s in held)],
                    samples=self.samples,
                    rods=[rod for rods, _ in arms for rod in rods],
                    lamps=virtual.room(moment),
                    pose=moment.pose,
                    seed=int(key.name[3:]),
                )
                root = development.exposed(light)
                picture = development.developed(root, self.gain(name), np.random.default_rng(0))
                path.write_bytes(development.compressed(picture))
                _say(f"{table.family}/{table.name} {path.stem}", start)
        there = {path.name for path in folder.glob("*.jpg")}
        if there >= {f"{key.name}.{name}.jpg" for key in drawn for name in table.excerpt}:
            (folder / NAME).write_text(excerpt_json(table, play, table.excerpt), "utf-8")

    def shot(
        self, shot: str, name: str, camera: Camera, solids: tuple[Solid, ...], seed: int
    ) -> None:
        """One picture, unless it is there."""
        if self.path(shot, name).exists():
            return
        start = time.perf_counter()
        light = self.tracer.trace(camera, solids, samples=self.samples, seed=seed)
        self.save(self.path(shot, name), name, light, seed, self.gain(name))
        _say(f"{self.table.family}/{self.table.name} {shot}.{name}", start)

    def truth(self) -> dict[str, Any]:
        """What the pictures show: cameras, stacks, and the parts of the scene."""
        scene = self.table.scene
        return {
            "game": self.table.game,
            "family": self.table.family,
            "seed": scene.seed,
            "room": scene.room.name,
            "cameras": {name: camera_json(c) for name, c in scene.cameras.items()},
            "colours": stacks_of(colour_pieces(scene.kind)).to_json(),
            "stills": {
                f"still{n:02}": {
                    "stacks": stacks_of(self.table.position(n)).to_json(),
                    "pieces": [
                        [str(p.cell), p.level, list(p.extent), p.letter]
                        for p in self.table.position(n)
                    ],
                }
                for n in range(POSITIONS)
            },
        }


def camera_json(camera: Camera) -> dict[str, Any]:
    """A camera in the form of `calibration.json`."""
    return {
        "size": list(camera.size),
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
        "rotation": camera.rotation.tolist(),
        "translation_mm": camera.translation_mm.tolist(),
    }


def _say(what: str, start: float) -> None:
    took = time.perf_counter() - start
    print(f"{what}: {took:.1f} s", file=sys.stderr, flush=True)  # noqa: T201  # a program


def main() -> int:
    """Makes what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", choices=["tune", "check"])
    parser.add_argument("table", nargs="*", help="names of tables; all where left out")
    parser.add_argument("--camera", action="append", help="only this one; all where left out")
    parser.add_argument("--samples", type=int, default=6, help="paths a picture element")
    parser.add_argument("--excerpts", action="store_true", help="the recorded excerpts instead")
    parser.add_argument("--part", default="1/1", help="such as 2/3: this part of the keyframes")
    parser.add_argument("--sheet", action="store_true", help="the contact sheet instead")
    given = parser.parse_args()
    if given.sheet:
        contact_sheet()
        return 0
    cv2.setNumThreads(1)
    for table in tables(given.family):
        if given.table and table.name not in given.table:
            continue
        maker = Maker(table, given.samples)
        if not given.excerpts:
            maker.make(given.camera or table.scene.cameras)
        elif table.excerpt:
            part, _, parts = given.part.partition("/")
            maker.excerpt(int(part), int(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
