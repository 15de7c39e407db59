"""Recorded sources: folders of pictures, video files and Kiebitz's own recordings."""

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

import cv2
import numpy as np

from vision.errors import SourceError
from vision.frame import Frame, ImageBGR
from vision.sources.jpeg import decode
from vision.sources.recording import recorded_seconds, recorded_shots

PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp"})
MJPEG = frozenset({".mjpeg", ".mjpg"})
RECORDING = ".kiebitz"
_NAMED = 4  # damaged pictures that are named, if there are more
_SHORT_S, _SHORT = 1.0, 0.05  # a video that ends so much sooner than it tells was cut off


@dataclass(slots=True)
class Lost:
    """What of a recording could not be shown."""

    damaged: list[str] = field(default_factory=list)  # pictures, by name or place
    cut: str = ""  # how it ends too early

    def told(self) -> list[str]:
        """Sentences; none where everything was shown."""
        found = []
        if many := len(self.damaged):
            which = ", ".join(self.damaged[:_NAMED]) + (" ..." if many > _NAMED else "")
            what = "1 picture is" if many == 1 else f"{many} pictures are"
            found.append(f"{what} damaged, and left out: {which}")
        if self.cut:
            found.append(self.cut)
        return found


class FileSource:
    """A recording with times of its own; `latest` gives one frame after another.

    `lost` tells, once it has been played, what of it could not be shown.
    """

    def __init__(
        self,
        camera: str,
        shots: Callable[[Lost], Iterator[Frame]],
        offset_s: float,
        length_s: Callable[[], float] = float,
    ) -> None:
        self.camera = camera
        self._shots = shots
        self._length_s = length_s
        self._offset_s = offset_s
        self._playing: Iterator[Frame] | None = None
        self.lost = Lost()

    def frames(self) -> Iterator[Frame]:
        """Every frame in order of time, from the first one."""
        self.lost = Lost()
        for frame in self._shots(self.lost):
            yield replace(frame, seconds=frame.seconds + self._offset_s, camera=self.camera)

    def latest(self) -> Frame | None:
        """The next frame; None after the last one."""
        if self._playing is None:
            self._playing = self.frames()
        return next(self._playing, None)

    def length_s(self) -> float:
        """How long it takes, 0 where that is not known."""
        return self._length_s() + self._offset_s

    def close(self) -> None:
        """Begins again at the next call; nothing else is held open."""
        self._playing = None


def open_file(camera: str, path: Path, fps: float, offset_s: float) -> FileSource:
    """The source of a file or folder; raises SourceError where it is neither."""
    length: Callable[[], float] = float  # not known
    if path.is_dir():
        shots: Callable[[Lost], Iterator[Frame]] = partial(_folder, path, camera, fps)
        length = partial(_folder_length, path, fps)
    elif not path.exists():
        raise SourceError(f"there is no file or folder {str(path)!r} for camera {camera!r}")
    elif path.suffix.lower() == RECORDING:
        shots = partial(_recording, path, camera)
        length = partial(recorded_seconds, path)
    elif path.suffix.lower() in MJPEG:
        shots = partial(_mjpeg, path, camera, fps)
    elif path.suffix.lower() in PICTURES:
        shots = partial(_pictures, [(path, 0.0)], camera)
    else:
        shots = partial(_video, path, camera)
        length = partial(_video_length, path)
    return FileSource(camera, shots, offset_s, length)


def _folder(path: Path, camera: str, fps: float, lost: Lost) -> Iterator[Frame]:
    """The pictures of a folder in name order, or by the times of its `times.csv`."""
    listed = _listed(path, fps)
    if not listed:
        raise SourceError(
            f"the folder {str(path)!r} holds no pictures; expected .jpg or .png files"
        )
    yield from _pictures(listed, camera, lost)


def _listed(path: Path, fps: float) -> list[tuple[Path, float]]:
    table = path / "times.csv"
    if table.is_file():
        return _times(table)
    names = sorted(p for p in path.iterdir() if p.suffix.lower() in PICTURES and p.is_file())
    return [(name, i / fps) for i, name in enumerate(names)]


def _folder_length(path: Path, fps: float) -> float:
    listed = _listed(path, fps)
    return listed[-1][1] if listed else 0.0


def _times(table: Path) -> list[tuple[Path, float]]:
    """Pictures and seconds of a `times.csv` with the columns file and seconds."""
    found: list[tuple[Path, float]] = []
    try:
        with table.open(newline="", encoding="utf-8-sig") as lines:
            rows = csv.DictReader(lines)
            found.extend((table.parent / r["file"], _finite(r["seconds"])) for r in rows)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read {str(table)!r}: {reason}") from error
    except (csv.Error, KeyError, TypeError, ValueError):
        raise SourceError(
            f"{str(table)!r} line {len(found) + 2}: expected the columns 'file,seconds'"
        ) from None
    return sorted(found, key=lambda entry: entry[1])


def _finite(text: str) -> float:
    """A number of seconds; raises ValueError."""
    seconds = float(text)
    if math.isfinite(seconds):
        return seconds
    raise ValueError(text)


def _pictures(listed: list[tuple[Path, float]], camera: str, lost: Lost) -> Iterator[Frame]:
    """Pictures one after another; damaged ones are passed over, as a live camera would."""
    any_good = False
    for path, seconds in listed:
        try:
            data = path.read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(f"cannot read the picture {str(path)!r}: {reason}") from error
        is_jpeg = data[:2] == b"\xff\xd8"
        image = decode(data) if is_jpeg else _any_picture(data)
        if image is None:
            lost.damaged.append(path.name)
            continue
        any_good = True
        yield Frame(image, seconds, camera, data if is_jpeg else None)
    if listed and not any_good:
        raise SourceError(f"{str(listed[0][0])!r} is no picture that can be read; use JPEG or PNG")


def _any_picture(data: bytes) -> ImageBGR | None:
    if not data:
        return None
    image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
    return cast("ImageBGR | None", image)


def _mjpeg(path: Path, camera: str, fps: float, lost: Lost) -> Iterator[Frame]:
    """JPEG pictures that stand one behind another in a file."""
    data = path.read_bytes()
    at = count = 0
    while (begin := data.find(b"\xff\xd8\xff", at)) >= 0:
        following = data.find(b"\xff\xd8\xff", begin + 3)
        at = len(data) if following < 0 else following
        jpeg = data[begin:at]
        image = decode(jpeg)
        if image is not None:
            yield Frame(image, count / fps, camera, jpeg)
        elif following < 0:
            lost.cut = f"{str(path)!r} was cut off in the middle of its last picture"
        else:
            lost.damaged.append(f"the one at {count / fps:.1f} s")
        count += 1
    if not count:
        raise SourceError(f"{str(path)!r} holds no JPEG pictures")


def _video(path: Path, camera: str, lost: Lost) -> Iterator[Frame]:
    """The frames of a video file, at the container's own times."""
    capture = cv2.VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise SourceError(_unplayable(path))
        any_seen, seconds = False, 0.0
        while True:
            done, image = capture.read()
            if not done and not any_seen:
                raise SourceError(f"{str(path)!r} holds no picture that can be shown")
            if not done:
                lost.cut = _too_short(path, seconds)
                return
            any_seen = True
            seconds = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
            yield Frame(cast("ImageBGR", image), seconds, camera)
    finally:
        capture.release()


def _unplayable(path: Path) -> str:
    """Why a file is no video; one of a phone that was cut off lacks what stands at its end."""
    with path.open("rb") as file:
        data = file.read(12)
    if data[4:8] == b"ftyp":
        return (
            f"{str(path)!r} is a video without the index that is written at its end: it was cut "
            "off, or is still being recorded or copied; copy it again, or repair it first"
        )
    return f"{str(path)!r} cannot be played; expected a video, a folder of pictures or MJPEG"


def _too_short(path: Path, seconds: float) -> str:
    """That a video ends sooner than it tells, or nothing."""
    whole = _video_length(path)
    if whole - seconds < max(_SHORT_S, _SHORT * whole):
        return ""
    return (
        f"{str(path)!r} was cut off, or is damaged: it should take {whole:.1f} s, and nothing "
        f"is seen after {seconds:.1f} s"
    )


def _video_length(path: Path) -> float:
    capture = cv2.VideoCapture(str(path))
    try:
        rate = capture.get(cv2.CAP_PROP_FPS)
        return capture.get(cv2.CAP_PROP_FRAME_COUNT) / rate if rate > 0 else 0.0
    finally:
        capture.release()


def _recording(path: Path, camera: str, lost: Lost) -> Iterator[Frame]:
    """What `--record` kept of this camera."""
    any_seen = False
    for shot in recorded_shots(path):
        if shot.camera == camera:
            image = decode(shot.jpeg)
            if image is None:
                lost.damaged.append(f"the one at {shot.seconds:.1f} s")
                continue
            any_seen = True
            yield Frame(image, shot.seconds, camera, shot.jpeg)
    if not any_seen:
        raise SourceError(f"the recording {str(path)!r} holds no whole picture of {camera!r}")
