"""Endurance: an evening of frames, cameras that fail at random, and how much memory it takes."""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from rules.registry import find_game
from service.bench.watch import RIGS
from service.pipeline import Pipeline
from service.virtual_follower import virtual_reader
from vision.frame import Frame
from vision.pairing import Moment, moments
from vision.sources.jpeg import decode
from vision.virtual.games import random_script
from vision.virtual.live import VirtualTable, play_scene
from vision.virtual.play import rehearse

WARM_S = 60.0  # of frames, before memory is measured for the first time
GROWTH_MB = 20.0
_BROKEN_S = (2.0, 5.0)


@dataclass(frozen=True, slots=True)
class Soak:
    """What came of it."""

    minutes: float
    frames: int
    broken: int
    lost: int
    back: int
    turns: int
    before_mb: float
    after_mb: float

    HEAD = (
        "minutes of frames",
        "frames",
        "cameras broken",
        "told lost",
        "told back",
        "turns",
        "MB after warm-up",
        "MB at the end",
    )

    @property
    def good(self) -> bool:
        """Whether every failure was told, every return too, and memory stayed where it was."""
        told = self.lost == self.broken and self.back == self.broken
        return told and self.after_mb - self.before_mb < GROWTH_MB

    def texts(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        return (
            f"{self.minutes:.0f}",
            f"{self.frames:,}",
            str(self.broken),
            str(self.lost),
            str(self.back),
            str(self.turns),
            f"{self.before_mb:.0f}",
            f"{self.after_mb:.0f}",
        )


def soak(minutes: float, breaks: int, seed: int, game: str = "kewbz") -> Soak:
    """Plays one recorded game again and again, while cameras break and come back."""
    cv2.setNumThreads(1)
    table, recorded = _recorded(game, seed)
    pipeline = Pipeline(virtual_reader(table, find_game(game)), find_game(game).set_up())
    cameras = tuple(table.scene.cameras)
    failures = _failures(cameras, minutes * 60, breaks, seed)
    counts = {"lost": 0, "back": 0, "turn": 0}
    frames, before = 0, 0.0
    for t, moment in _again_and_again(recorded, minutes * 60):
        if not before and t >= min(WARM_S, 30 * minutes):
            before = memory_mb()
        seen = {
            name: replace(frame, image=image)
            for name, frame in moment.items()
            if not any(camera == name and a <= t < b for camera, a, b in failures)
            and frame.jpeg
            and (image := decode(frame.jpeg)) is not None
        }
        frames += len(seen)
        for event in pipeline.see(t, seen):
            kind = event.data["state"] if event.event == "camera" else event.event
            if kind in counts:
                counts[kind] += 1
    return Soak(
        minutes,
        frames,
        len(failures),
        counts["lost"],
        counts["back"],
        counts["turn"],
        before,
        memory_mb(),
    )


def memory_mb() -> float:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _recorded(game: str, seed: int) -> tuple[VirtualTable, list[Moment]]:
    """A short game as its JPEGs; pictures are unpacked anew each time."""
    script = random_script(find_game(game), seed, 4, family="check", rig=RIGS[game])
    table = VirtualTable(play_scene(script), rehearse(script))
    nothing = np.zeros((1, 1, 3), dtype=np.uint8)
    packed = [
        (t, {name: replace(frame, image=nothing) for name, frame in frames.items()})
        for t, frames in moments(table.sources.values())
    ]
    return table, packed


def _again_and_again(recorded: list[Moment], seconds: float) -> Iterator[Moment]:
    """The recording in a loop, its times going on."""
    begin, length = 0.0, recorded[-1][0] + 1 / 15
    while True:
        for t, frames in recorded:
            now = begin + t
            if now >= seconds:
                return
            moved: dict[str, Frame] = {n: replace(f, seconds=now) for n, f in frames.items()}
            yield now, moved
        begin += length


def _failures(
    cameras: tuple[str, ...], seconds: float, breaks: int, seed: int
) -> list[tuple[str, float, float]]:
    """Which camera is gone from when to when, never twice at the same time."""
    rng = random.Random(seed)
    slot = (seconds - 10) / max(1, breaks)
    found = []
    for number in range(breaks):
        begin = 5 + number * slot + rng.uniform(0, max(0.0, slot - _BROKEN_S[1] - 2))
        found.append((rng.choice(cameras), begin, begin + rng.uniform(*_BROKEN_S)))
    return found
