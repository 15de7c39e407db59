"""Reading traced sample tables: the whole chain from lens pictures to stacks, as a user goes it."""

import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import typer

from calibration.camera import Camera
from calibration.cv import Image, read_image
from rules.cells import Cell
from rules.errors import KiebitzError
from rules.pieces import Extent, Placed
from rules.stacks import Stacks
from service.bench.read import ReadRow, count_reading
from service.commands import calibrate
from service.commands.calibrate_colours import colours
from service.table_eyes import table_reader
from service.table_folder import read_table
from vision.virtual.placing import stacks_of

FILE = "truth.json"


def traced_tables(folder: Path) -> list[Path]:
    """The tables below a folder that have a truth beside their pictures."""
    return sorted(path.parent for path in folder.glob(f"**/{FILE}"))


def traced_rows(folder: Path, games: Container[str], *, lens: bool = True) -> Iterator[ReadRow]:
    """Calibrates every table as a user would, and reads it: by all cameras, and by each."""
    for source in traced_tables(folder):
        truth = json.loads((source / FILE).read_text("utf-8"))
        if truth["game"] not in games:
            continue
        with tempfile.TemporaryDirectory() as place:
            work = Path(place)
            yield from _table_rows(source, work, list(truth["cameras"]), lens=lens)


def _table_rows(source: Path, work: Path, cameras: list[str], *, lens: bool) -> Iterator[ReadRow]:
    try:
        calibrate_like_a_user(source, work, lens=lens)
    except (KiebitzError, typer.Exit) as error:
        sys.stderr.write(f"{source.name}: not all cameras could be calibrated ({error})\n")
    rigs: list[tuple[str, ...]] = [tuple(cameras)]
    if len(cameras) > 1:
        rigs += [(name,) for name in cameras]
    for rig in rigs:
        try:
            yield traced_rig(source, work, rig)
        except KiebitzError as error:
            sys.stderr.write(f"{source.name} {' '.join(rig)}: not read: {error}\n")


def traced_rig(source: Path, work: Path, rig: Sequence[str]) -> ReadRow:
    """The positions of a calibrated table, read by some of its cameras."""
    truth = json.loads((source / FILE).read_text("utf-8"))
    row = ReadRow(str(truth["game"]), rig_name(rig, truth))
    reader = table_reader(work, rig)
    true = {name: true_camera(truth["cameras"][name]) for name in rig}
    stills = {"empty": {"stacks": {}, "pieces": []}} | truth["stills"]
    for number, (name, still) in enumerate(stills.items()):
        images = pictures(source, name, rig)
        stacks = Stacks.of(still["stacks"])
        title = f"{source.parent.name}/{source.name} {name}"
        before = one_piece_less(still["pieces"], number)
        count_reading(row, reader, title, images, stacks, before, true)
    return row


def true_camera(values: Mapping[str, Any]) -> Camera:
    """The camera that took the pictures."""
    width, height = values["size"]
    return Camera(
        (width, height),
        np.array(values["matrix"]),
        np.array(values["distortion"]),
        np.array(values["rotation"]),
        np.array(values["translation_mm"]),
    )


def rig_name(rig: Sequence[str], truth: Mapping[str, Any]) -> str:
    """How a rig is called in the table: `two`, or the camera's name where it is one of several."""
    words = ("none", "one", "two", "three", "four")
    if len(rig) == 1 and len(truth["cameras"]) > 1:
        return f"{rig[0]} alone"
    return words[len(rig)]


def calibrate_like_a_user(source: Path, work: Path, *, lens: bool = True) -> None:
    """Lenses, places and colours by the commands themselves; what they say is not shown."""
    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "table.toml", work / "table.toml")
    cameras = list(read_table(work).scene.cameras)
    known = json.loads((source / FILE).read_text("utf-8"))["colours"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for name in cameras if lens else ():
            views = sorted(source.glob(f"lens*.{name}.jpg"))
            try:
                calibrate.lens(work, name, views)
            except KiebitzError:
                continue  # without a lens the place is found all the same
        calibrate.pose(work, [f"{name}={source / f'empty.{name}.jpg'}" for name in cameras])
        words = [f"{name}={source / f'colours.{name}.jpg'}" for name in cameras]
        colours(work, words, json.dumps(known))


def pictures(source: Path, name: str, rig: Sequence[str]) -> dict[str, Image]:
    """The pictures of one moment."""
    return {camera: read_image(source / f"{name}.{camera}.jpg") for camera in rig}


def one_piece_less(pieces: Sequence[Sequence[Any]], seed: int) -> Stacks:
    """A position without one of its pieces on which nothing stands: as it was a turn earlier."""
    placed = [Placed(Cell.parse(c), level, Extent(*e), letter) for c, level, e, letter in pieces]
    whole = stacks_of(placed)
    free = [
        piece
        for piece in placed
        if all(whole.height(unit.cell) == _top(piece) for unit in piece.units())
    ]
    if not free:
        return whole
    gone = random.Random(seed).choice(free)
    return stacks_of([piece for piece in placed if piece is not gone])


def _top(piece: Placed) -> int:
    return piece.level + piece.extent.height - 1
