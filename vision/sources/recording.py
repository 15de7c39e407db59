"""Kiebitz's own recordings: the JPEG pictures as they came, so that every dispute can be replayed.

A file is a line `kiebitz recording 1`, then one chunk a picture: a line of JSON with the camera,
the seconds and the number of bytes, then these bytes. Nothing is written twice and nothing at the
end, so a recording that was cut off by a power failure plays up to its last whole picture.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vision.errors import SourceError
from vision.frame import Frame
from vision.sources.jpeg import encode

FIRST_LINE = b"kiebitz recording 1\n"
LONGEST_HEAD = 1000


@dataclass(frozen=True, slots=True)
class Shot:
    """One recorded picture."""

    camera: str
    seconds: float
    jpeg: bytes


class Recorder:
    """Appends frames to a recording; pictures that came as JPEG are kept byte for byte."""

    def __init__(self, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("xb")
        except FileExistsError:
            raise SourceError(
                f"the recording {str(path)!r} exists already; choose another name"
            ) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(f"cannot write the recording {str(path)!r}: {reason}") from error
        self._file.write(FIRST_LINE)

    def keep(self, frame: Frame) -> None:
        """Appends one frame."""
        jpeg = frame.jpeg or encode(frame.image)
        head = {"camera": frame.camera, "seconds": round(frame.seconds, 4), "bytes": len(jpeg)}
        self._file.write(json.dumps(head).encode() + b"\n" + jpeg)

    def close(self) -> None:
        """Writes what is still waiting."""
        self._file.close()


def recorded_shots(path: Path) -> Iterator[Shot]:
    """Every whole picture of a recording, in the order of arrival; raises SourceError."""
    for shot in _shots(path):
        if shot is not None:
            yield shot


def is_cut_off(path: Path) -> bool:
    """Whether a recording ends in the middle of a picture."""
    return any(shot is None for shot in _shots(path))


def _shots(path: Path) -> Iterator[Shot | None]:
    """Every whole picture; None at the end if the last one is not."""
    with path.open("rb") as file:
        if file.readline(len(FIRST_LINE)) != FIRST_LINE:
            raise SourceError(f"{str(path)!r} is no recording by Kiebitz")
        while head := file.readline(LONGEST_HEAD):
            if not head.endswith(b"\n"):
                yield None
                return
            try:
                told = json.loads(head)
                camera, seconds, count = told["camera"], float(told["seconds"]), int(told["bytes"])
            except (ValueError, KeyError, TypeError):
                raise SourceError(f"the recording {str(path)!r} is damaged in the middle") from None
            jpeg = file.read(count)
            if len(jpeg) < count:
                yield None
                return
            yield Shot(camera, seconds, jpeg)


def recorded_cameras(path: Path) -> tuple[str, ...]:
    """The cameras of a recording, in the order in which they appear."""
    return tuple(dict.fromkeys(shot.camera for shot in recorded_shots(path)))


def recorded_seconds(path: Path) -> float:
    """The time of the last picture."""
    return max((shot.seconds for shot in recorded_shots(path)), default=0.0)
