"""Sources of frames: whatever a table names as a camera's source."""

import os
from pathlib import Path

import cv2

from vision.errors import SourceError
from vision.frame import Source
from vision.sources.device import DeviceGrabber
from vision.sources.files import FileSource, open_file
from vision.sources.live import LiveSource
from vision.sources.pushed import PushedGrabber
from vision.sources.stream import HttpGrabber, RtspGrabber

# What cannot be opened is told in sentences; the libraries' own lines would stand between them.
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")

__all__ = ["FileSource", "LiveSource", "open_source"]


def open_source(
    camera: str,
    source: int | str,
    *,
    folder: Path = Path(),
    fps: float = 15.0,
    offset_s: float = 0.0,
    size: tuple[int, int] = (1280, 720),
    settings: dict[str, float] | None = None,
) -> Source:
    """The source that a table names; paths count from `folder`; raises SourceError.

    Live sources open in their own thread, so a camera that is missing now is welcomed later.
    """
    text = str(source)
    if isinstance(source, int) or text.isdigit():
        return LiveSource(camera, DeviceGrabber(int(source), size, fps, settings))
    scheme = text.partition(":")[0].lower()
    if scheme in ("http", "https"):
        return LiveSource(camera, HttpGrabber(text))
    if scheme in ("rtsp", "rtsps", "rtmp", "udp"):
        return LiveSource(camera, RtspGrabber(text))
    if text == "phone":
        return LiveSource(camera, PushedGrabber())
    if scheme == "virtual":
        raise SourceError(
            f"camera {camera!r} is virtual; the virtual table opens all its cameras together"
        )
    if scheme == "usb":
        return LiveSource(camera, DeviceGrabber(text.partition(":")[2], size, fps, settings))
    path = Path(text)
    return open_file(camera, path if path.is_absolute() else folder / path, fps, offset_s)
