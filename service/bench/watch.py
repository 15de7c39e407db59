"""How well whole games are followed: virtual tables that no number was tuned on, frame by frame.

Every game is drawn once, at 15 frames a second and camera, as JPEG; then it is followed as a
recording would be. The time that counts is the processor's, for unpacking and following: a second
of it for each second of video is one core. Recordings are unpacked beside, on another core: how
fast they are followed is told by the slower of the two.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from rules.events import Event
from rules.game import GameSpec
from service.bench.followed import Counts, compare
from service.bench.read import interval
from service.pipeline import Pipeline
from service.virtual_follower import virtual_reader
from vision.pairing import moments
from vision.sources.jpeg import decode
from vision.virtual.games import Mischief, random_script
from vision.virtual.live import VirtualTable, play_scene
from vision.virtual.play import rehearse
from vision.virtual.scene import Kind

RIGS = {
    "kewbz": "two",
    "qbq": "two",
    "ksar": "two",
    "kwinty": "two",
    "turris": "corners",
    "cube": "corners",
}


@dataclass(frozen=True, slots=True)
class WatchRow:
    """One line of the table."""

    game: str
    family: str
    counts: Counts

    HEAD = (
        "game",
        "pictures",
        "games",
        "without a mistake",
        "turns",
        "turns right %",
        "invented",
        "illegal flagged %",
        "false flags in legal turns",
        "taken back or kept right",
        "asked",
        "s to verdict, median / 95 %",
        "x real time",
        "% of one core, live",
    )

    def texts(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        c = self.counts
        median, late = (
            np.percentile(c.verdicts_s, (50, 95)) if c.verdicts_s else (float("nan"), float("nan"))
        )
        return (
            self.game,
            self.family,
            str(c.games),
            f"{c.whole} of {c.games}",
            str(c.turns),
            _share(c.right, c.turns),
            str(c.invented),
            _share(c.flagged, c.illegal),
            f"{c.false_flags} of {c.legal} ({_range(c.false_flags, c.legal)})",
            f"{c.fates_right} of {c.fates}",
            str(c.asked),
            f"{median:.2f} / {late:.2f}",
            f"{c.seconds / c.follow_s:.1f}" if c.follow_s else "-",
            f"{100 * c.work_s / c.seconds:.0f}" if c.seconds else "-",
        )


def follow_game(
    spec: GameSpec, seed: int, turns: int, *, family: str = "check", turned: bool = False
) -> Counts:
    """One whole game on a virtual table, from the first turn to the last."""
    rig = RIGS.get(spec.name, "two")
    mischief = Mischief(turned=0.2 if turned and Kind.of(spec).turned else 0.0)
    script = random_script(spec, seed, turns, family=family, rig=rig, mischief=mischief)
    table = VirtualTable(play_scene(script), rehearse(script))
    game = spec.set_up(script.record.setup)
    pipeline = Pipeline(virtual_reader(table, spec), game)
    told, see_s, decode_s = watched(pipeline, table)
    late_s = max(sensor.delay_s for sensor in table.scene.sensors.values())
    found = compare(f"{spec.name} {seed}", table.truth, told, late_s)
    found.seconds, found.work_s = table.play.seconds, see_s + decode_s
    found.follow_s = max(see_s, decode_s)  # recordings are decoded beside
    return found


def watched(pipeline: Pipeline, table: VirtualTable) -> tuple[list[Event], float, float]:
    """What is told of a play; the processor's seconds for that, and for decoding the pictures."""
    told: list[Event] = []
    see_s = decode_s = 0.0
    for t, frames in moments(table.sources.values()):
        began = time.process_time()
        unpacked = {
            name: replace(frame, image=image).prepared()
            for name, frame in frames.items()
            if frame.jpeg and (image := decode(frame.jpeg)) is not None
        }
        decoded = time.process_time()
        told += pipeline.see(t, unpacked)
        decode_s += decoded - began
        see_s += time.process_time() - decoded
    return told, see_s, decode_s


def rows(
    specs: Sequence[GameSpec], games: int, turns: int, seed: int, *, turned: bool = False
) -> Iterator[WatchRow]:
    """One row a game, and one for all."""
    cv2.setNumThreads(1)
    total = Counts()
    for spec in specs:
        counts = Counts()
        for number in range(games):
            counts.add(follow_game(spec, seed + number, turns, turned=turned))
        total.add(counts)
        yield WatchRow(spec.name, "virtual", counts)
    if len(specs) > 1:
        yield WatchRow("all", "virtual", total)


def _share(part: int, whole: int) -> str:
    if not whole:
        return "-"
    return f"{100 * part / whole:.1f} ({part} of {whole}; {_range(part, whole)})"


def _range(part: int, whole: int) -> str:
    low, high = interval(part, whole)
    return f"{low:.1f} to {high:.1f}"
