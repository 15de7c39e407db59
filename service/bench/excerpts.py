"""Traced excerpts followed as recordings: calibrated as a user would, watched as a file.

The excerpt is played into a recording first, so that the time counted is that of unpacking and
following, as `kiebitz watch` does it. Where the program doubts the place that it has found for a
camera, it is given four corners, as it asks for; they are off by about a pixel.
"""

import contextlib
import io
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import typer

from calibration import store
from calibration.known_pose import corner_places_mm
from rules.errors import KiebitzError
from service.bench.followed import Counts, compare
from service.bench.traced import FILE, true_camera
from service.bench.watch import WatchRow
from service.commands import calibrate
from service.commands.calibrate_colours import colours
from service.pipeline import table_pipeline
from service.table_folder import read_table
from service.watching import open_cameras, watch
from vision.pairing import moments
from vision.sources.recording import Recorder
from vision.virtual.excerpt import NAME, Excerpt, ExcerptSource, read_excerpt

BY_HAND_PX = 1.0  # how far off corners are that a person drags


def excerpt_tables(folder: Path, games: Sequence[str] = ()) -> list[Path]:
    """The sample tables below a folder that have an excerpt, with all its pictures."""
    found = []
    for path in sorted(folder.glob(f"**/excerpt/{NAME}")):
        truth = path.parent.parent / FILE
        game = json.loads(truth.read_text("utf-8"))["game"] if truth.is_file() else ""
        if game and (not games or game in games) and _whole(read_excerpt(path)):
            found.append(truth.parent)
    return found


def _whole(excerpt: Excerpt) -> bool:
    names = {name for _, name in excerpt.shown}
    return all(
        (excerpt.folder / f"{name}.{camera}.jpg").is_file()
        for name in names
        for camera in excerpt.faults
    )


def excerpt_rows(tables: Sequence[Path], work: Path) -> Iterator[WatchRow]:
    """One row a table, and one for all; `work` is an empty folder."""
    total = Counts()
    for source in tables:
        counts, by_hand = follow_excerpt(source, work / source.name)
        total.add(counts)
        family = f"traced, {len(by_hand)} by corners" if by_hand else "traced"
        yield WatchRow(read_table(work / source.name).game, family, counts)
    if len(tables) > 1:
        yield WatchRow("all", "traced", total)


def follow_excerpt(source: Path, work: Path) -> tuple[Counts, list[str]]:
    """What was told of one excerpt, and the cameras whose corners were given."""
    excerpt = read_excerpt(source / "excerpt" / NAME)
    by_hand = _calibrate(source, work, list(excerpt.faults))
    recording = work / "excerpt.kiebitz"
    recorder = Recorder(recording)
    for _, frames in moments([ExcerptSource(excerpt, name) for name in excerpt.faults]):
        for frame in frames.values():
            recorder.keep(frame)
    recorder.close()
    cv2.setNumThreads(1)
    places = read_table(work).scene.cameras
    wanted: dict[str, int | str | None] = {name: str(recording) for name in excerpt.faults}
    began, clock = time.process_time(), time.perf_counter()
    told = list(watch(table_pipeline(work, wanted), open_cameras(wanted, places, work), {}))
    elapsed = time.perf_counter() - clock
    late_s = max(faults.delay_s for faults in excerpt.faults.values())
    counts = compare(source.name, excerpt.truth, told, late_s)
    counts.seconds, counts.work_s = excerpt.seconds, time.process_time() - began
    counts.follow_s = elapsed
    recording.unlink()
    return counts, by_hand


def _calibrate(source: Path, work: Path, cameras: Sequence[str]) -> list[str]:
    """Lenses, places and colours by the commands; the cameras that needed corners are returned."""
    work.mkdir(parents=True)
    shutil.copy(source / "table.toml", work / "table.toml")
    truth = json.loads((source / FILE).read_text("utf-8"))
    empty = [f"{name}={source / f'empty.{name}.jpg'}" for name in cameras]
    coloured = [f"{name}={source / f'colours.{name}.jpg'}" for name in cameras]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for name in cameras:
            with contextlib.suppress(KiebitzError):  # a place is found without a lens, too
                calibrate.lens(work, name, sorted(source.glob(f"lens*.{name}.jpg")))
        with contextlib.suppress(typer.Exit):
            calibrate.pose(work, empty)
        found = store.read(work).cameras
        by_hand = [
            name
            for name in cameras
            if name not in found or found[name].verdict.startswith("DOUBTFUL")
        ]
        if by_hand:
            corners = [_corners(work, truth, name) for name in by_hand]
            calibrate.pose(work, [word for word in empty if word.partition("=")[0] in by_hand],
                           corners)  # fmt: skip
        colours(work, coloured, json.dumps(truth["colours"]))
    return by_hand


def _corners(work: Path, truth: dict[str, dict[str, dict[str, object]]], name: str) -> str:
    """The four corners as a person would drag them to their places."""
    places = corner_places_mm(read_table(work).scene.board)
    seen = true_camera(truth["cameras"][name]).project(places)
    off = np.random.default_rng(5).normal(0.0, BY_HAND_PX, seen.shape)
    return f"{name}=" + ",".join(f"{value:.1f}" for value in (seen + off).ravel())
