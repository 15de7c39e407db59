"""`kiebitz read`: one position from one picture a camera."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import orjson
import typer

from calibration import store
from calibration.cv import Image, check_place, write_image
from rules.stacks import Stacks
from service.camera_pictures import camera_pictures, showing
from service.stacks_text import check_letters, stacks_from
from service.table_eyes import calibrated_eyes, reader_of, tell_doubtful, tell_unlearned, with_pose
from service.table_folder import read_table
from vision.errors import NoPicture
from vision.familiar import familiar
from vision.overlay import draw_reading
from vision.reader import Reader
from vision.reading import Reading
from vision.watched import fitted_image

_NAMED = 8  # cells on which cameras contradict each other


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    pictures: Annotated[
        list[str],
        typer.Argument(metavar="CAM=IMAGE...", help="A picture a camera; CAM alone takes one."),
    ],
    before: Annotated[
        str,
        typer.Option("--from", metavar="JSON", help="The last known stacks: JSON text or a file."),
    ] = "",
    show: Annotated[
        Path | None,
        typer.Option(metavar="OUT.png", help="Draw what was read onto the pictures."),
    ] = None,
) -> None:
    """Print what stands on the table as JSON: stacks, what is unsure, and the certainty."""
    table = read_table(folder)
    last: Stacks | None = stacks_from(before, table.scene.board.lattice) if before else None
    if last is not None:
        check_letters(last, table.scene.colours, also="?")
    check_place(show)
    images = showing(camera_pictures(pictures, table.scene.cameras, folder))
    calibration = store.read(folder)
    images = _at_size(with_pose(images, calibration, folder), calibration)
    reader, reading = _read(folder, images, last)
    tell_doubtful(folder, sorted(reader.cameras))
    tell_unlearned(folder, sorted(n for n, eye in reader.cameras.items() if not eye.guessed))
    for name in sorted(reading.strange):
        sys.stderr.write(
            f"{name}: no position explains what it shows; has it moved, is something in the way, "
            "was it taken at another moment? if not, calibrate its pose and the colours again\n"
        )
    reading = _agreed(reader, reading)
    sys.stdout.buffer.write(
        orjson.dumps({"game": table.game, **reading.to_json()}, option=orjson.OPT_APPEND_NEWLINE)
    )
    sys.stdout.flush()
    if show is not None:
        drawn = [
            draw_reading(image, reader.cameras[name].camera, reader.lattice, reading)
            for name, image in images.items()
            if name in reader.cameras
        ]
        write_image(show, _side_by_side(drawn))
        sys.stderr.write(f"{show}\n")


def _read(folder: Path, images: Mapping[str, Image], last: Stacks | None) -> tuple[Reader, Reading]:
    """Reads the pictures of the cameras that see this table; says what is wrong with others.

    Where a camera seems to have moved, it is the better explained picture that decides.
    """
    eyes, board, table = calibrated_eyes(folder, images)
    found = familiar(eyes, board, images)
    if not found.eyes:
        _tell(found.told)
        raise NoPicture(
            "no picture shows the table that was calibrated; check the cameras, "
            f"or run `kiebitz calibrate pose {folder} CAM=IMAGE` again"
        )
    shown = {name: images[name] for name in found.eyes}
    reader = reader_of(table, board, found.eyes)
    reading = reader.read(shown, last=last, patient=True)
    if found.moved:
        elsewhere = reader_of(table, board, {**found.eyes, **found.moved})
        other = elsewhere.read(shown, last=last, patient=True)
        if other.misfit < reading.misfit:
            _tell(found.told)
            return elsewhere, other
    _tell({name: why for name, why in found.told.items() if name not in found.moved})
    return reader, reading


def _agreed(reader: Reader, reading: Reading) -> Reading:
    """The reading, unsure of cells on which one camera surely sees something else; says so."""
    aside = reading.hidden.union(*(found.cells for found in reading.covered.values()))
    seen = {} if reading.strange else reader.contradicted()
    seen = {cell: stack for cell, stack in sorted(seen.items()) if cell not in aside}
    if not seen:
        return reading
    cells = " ".join(map(str, list(seen)[:_NAMED])) + (" ..." if len(seen) > _NAMED else "")
    sys.stderr.write(
        f"the cameras contradict each other on {cells}: are these pictures of the same moment? "
        "if they are, a camera may have moved, or its `clock` in table.toml is wrong; run "
        "`kiebitz calibrate pose` again\n"
    )
    open_cells = {
        cell: {reading.stacks.get(cell, ""): 0.5, stack: 0.5}
        for cell, stack in seen.items()
        if stack != reading.stacks.get(cell, "")
    }
    return replace(reading, unsure={**open_cells, **reading.unsure})


def _at_size(images: Mapping[str, Image], calibration: store.Calibration) -> dict[str, Image]:
    """The pictures at the sizes that were calibrated; the reader refuses those of another shape."""
    found = {}
    for name, image in images.items():
        wide, high = calibration.camera(name).size
        fitting = fitted_image(image, (wide, high))
        found[name] = image if fitting is None else fitting
        if found[name] is not image:
            sys.stderr.write(
                f"{name}: its picture is {image.shape[1]} x {image.shape[0]}, and is read as the "
                f"{wide} x {high} that were calibrated; pictures of that size are read better\n"
            )
    return found


def _tell(sentences: Mapping[str, str]) -> None:
    for name, sentence in sentences.items():
        sys.stderr.write(f"{name}: {sentence}\n")


def _side_by_side(
    images: list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """All pictures in one row, as high as the first."""
    height = images[0].shape[0]
    scaled = [
        cv2.resize(
            i, (round(i.shape[1] * height / i.shape[0]), height), interpolation=cv2.INTER_AREA
        )
        for i in images
    ]
    return np.asarray(np.hstack(scaled), dtype=np.uint8)
