"""`CAM=IMAGE` on the command line: one picture a camera, from a file or from the camera itself."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from calibration.cv import Image, read_image, upright
from calibration.errors import CalibrationError
from calibration.scene import CameraPlace
from service.table_folder import read_table
from service.table_reader import TableError, UnknownCamera
from service.virtual_plays import virtual_cameras
from vision.errors import NoPicture, SourceError
from vision.frame import Frame, Source
from vision.health import shows_nothing
from vision.sources import LiveSource, open_source

_FAULTS = {"dark": "dark", "covered": "of one colour, as of a covered lens"}
PATIENCE_S = 8.0  # a device that wakes up and adjusts to the light
LEAST_PX = 32  # no board can be seen in less
SETTLING_S = 2.0  # until exposure and white balance have found their values


def camera_pictures(
    words: Sequence[str],
    cameras: Mapping[str, CameraPlace],
    folder: Path,
    take: Callable[[CameraPlace, Path], Image] | None = None,
) -> dict[str, Image]:
    """The upright pictures of `overhead=a.jpg side`; raises KiebitzError.

    `take` takes one from the camera itself where no file is named.
    """
    take = take or take_picture
    pictures: dict[str, Image] = {}
    for word in words:
        name, equals, file = word.partition("=")
        if name not in cameras:
            if not equals and Path(name).is_file() and cameras:
                raise TableError(f"{name!r} is a picture; say whose: {next(iter(cameras))}={name}")
            raise UnknownCamera(name, cameras)
        if name in pictures:
            raise TableError(f"camera {name!r} is named twice; give one picture a camera")
        if equals and not file:
            raise TableError(f"{word!r} names no picture; give {name}=IMAGE, or {name} alone")
        place = cameras[name]
        taken = read_image(Path(file)) if equals else take(place, folder)
        if min(taken.shape[:2]) < LEAST_PX:
            raise TableError(
                f"the picture of camera {name!r} has only {taken.shape[1]} x {taken.shape[0]} "
                "pixels; give one as large as the camera takes it"
            )
        pictures[name] = upright(taken, place.rotate)
    if not pictures:
        known = " ".join(f"{name}=IMAGE" for name in cameras)
        raise TableError(f"no camera is named; give pictures such as: {known}")
    return pictures


def take_picture(place: CameraPlace, folder: Path) -> Image:
    """A fresh picture of a camera's own source; raises SourceError."""
    source = _opened(place, folder)
    try:
        return _fresh(place, source)
    finally:
        source.close()


def take_settled_picture(place: CameraPlace, folder: Path) -> tuple[Image, dict[str, float]]:
    """A picture after exposure, white balance and focus were locked, and what they were locked to.

    What the camera refuses to lock is said; a source without such settings gives its picture.
    """
    source = _opened(place, folder)
    try:
        image = _fresh(place, source)
        if not isinstance(source, LiveSource) or not source.settles:
            return image, {}
        time.sleep(SETTLING_S)
        chosen = source.settle()
        image = _fresh(place, source, newer_than=source.latest())
        for change in source.changes():
            if change.state == "refused":
                sys.stderr.write(
                    f"{change.say}; in changing light its colours may be misread, so lock it "
                    "with the camera's own program if it has one\n"
                )
        return image, chosen
    finally:
        source.close()


def _opened(place: CameraPlace, folder: Path) -> Source:
    if place.source is None:
        raise CalibrationError(
            f"camera {place.name!r} has no source in table.toml; give {place.name}=IMAGE"
        )
    kind, _, file = str(place.source).partition(":")
    if kind != "virtual":
        return open_source(place.name, place.source, folder=folder)
    cameras = read_table(folder).scene.cameras
    together = [name for name, other in cameras.items() if other.source == place.source]
    found = virtual_cameras(folder, file, together)
    if place.name not in found:
        raise SourceError(
            f"the virtual table has no camera {place.name!r}; it has {', '.join(found)}"
        )
    return found[place.name]


def _fresh(place: CameraPlace, source: Source, newer_than: Frame | None = None) -> Image:
    """The source's next picture."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        frame = source.latest()
        if frame is not None and frame is not newer_than:
            return frame.image
        time.sleep(0.05)
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
