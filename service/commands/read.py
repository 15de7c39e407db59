"""`kiebitz read`: one position from one picture a camera."""

import sys
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import orjson
import typer

from calibration.cv import write_image
from rules.stacks import Stacks
from service.camera_pictures import camera_pictures, showing
from service.stacks_text import check_letters, stacks_from
from service.table_eyes import table_reader
from service.table_folder import read_table
from vision.overlay import draw_reading


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
    images = showing(camera_pictures(pictures, table.scene.cameras, folder))
    reader = table_reader(folder, images)
    reading = reader.read(images, last=last)
    if show is not None:
        drawn = [
            draw_reading(image, reader.cameras[name].camera, reader.lattice, reading)
            for name, image in images.items()
        ]
        write_image(show, _side_by_side(drawn))
        sys.stderr.write(f"{show}\n")
    sys.stdout.buffer.write(
        orjson.dumps({"game": table.game, **reading.to_json()}, option=orjson.OPT_APPEND_NEWLINE)
    )


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
