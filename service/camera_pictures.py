"""`CAM=IMAGE` on the command line: one picture a camera, from a file or from the camera itself."""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from calibration.cv import Image, read_image, upright
from calibration.errors import CalibrationError
from calibration.scene import CameraPlace
from rules.errors import UnknownName
from service.table_reader import TableError
from vision.errors import NoPicture, SourceError
from vision.health import shows_nothing
from vision.sources import open_source

_FAULTS = {"dark": "dark", "covered": "of one colour, as of a covered lens"}
PATIENCE_S = 8.0  # a device that wakes up and adjusts to the light


def camera_pictures(
    words: Sequence[str], cameras: Mapping[str, CameraPlace], folder: Path
) -> dict[str, Image]:
    """The upright pictures of `overhead=a.jpg side`; raises KiebitzError."""
    pictures: dict[str, Image] = {}
    for word in words:
        name, equals, file = word.partition("=")
        if name not in cameras:
            raise UnknownName("camera", name, cameras)
        if name in pictures:
            raise TableError(f"camera {name!r} is named twice; give one picture a camera")
        if equals and not file:
            raise TableError(f"{word!r} names no picture; give {name}=IMAGE, or {name} alone")
        place = cameras[name]
        taken = read_image(Path(file)) if equals else take_picture(place, folder)
        pictures[name] = upright(taken, place.rotate)
    if not pictures:
        known = " ".join(f"{name}=IMAGE" for name in cameras)
        raise TableError(f"no camera is named; give pictures such as: {known}")
    return pictures


def take_picture(place: CameraPlace, folder: Path) -> Image:
    """A fresh picture of a camera's own source; raises SourceError."""
    if place.source is None:
        raise CalibrationError(
            f"camera {place.name!r} has no source in table.toml; give {place.name}=IMAGE"
        )
    source = open_source(place.name, place.source, folder=folder)
    try:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            frame = source.latest()
            if frame is not None:
                return frame.image
            time.sleep(0.05)
    finally:
        source.close()
    raise SourceError(
        f"camera {place.name!r} gave no picture within {PATIENCE_S:.0f} seconds; "
        f"see `kiebitz doctor`, or give {place.name}=IMAGE"
    )


def showing(images: Mapping[str, Image]) -> dict[str, Image]:
    """The pictures without dark and covered ones; an empty board would be read in them."""
    good = {}
    for name, image in images.items():
        small = cv2.resize(image, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
        fault = (
            shows_nothing(np.asarray(small, dtype=np.uint8)) if min(image.shape[:2]) > 8 else None
        )
        if fault is None:
            good[name] = image
        else:
            sys.stderr.write(f"{name}: left out, its picture is {_FAULTS[fault]}\n")
    if not good:
        raise NoPicture(
            "no picture shows anything, they are all dark or of one colour; "
            "take the cover off the lens, switch on a lamp and take another picture"
        )
    return good
