"""Feeding a pipeline: recordings as fast as the machine allows, live cameras as they come."""

import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.cv import upright
from calibration.scene import CameraPlace
from rules.events import Event
from service.camera_settings import settings_of
from service.pipeline import Pipeline, camera_event
from service.table_reader import TableError, UnknownCamera
from service.virtual_plays import is_game, virtual_cameras
from vision.ahead import ahead
from vision.errors import SourceError
from vision.frame import Frame, Recorded, Source
from vision.pairing import moments
from vision.seen import CameraNote
from vision.sources import LiveSource, open_source
from vision.sources.files import RECORDING
from vision.sources.recording import Recorder, recorded_cameras

_IDLE_S = 0.01
_AHEAD_MB = 150.0  # of unpacked pictures that wait; a second or two, while a reading takes less
_FASTEST_S = 1 / 20  # live frames are looked at no more often than this

Progress = Callable[[float], None]
Keeper = Callable[[float, Mapping[str, Frame]], None]


def wanted_sources(
    words: list[str], cameras: Mapping[str, CameraPlace]
) -> dict[str, int | str | None]:
    """The cameras and sources that `overhead=a.mp4 side` names, all cameras if nothing is named.

    A recording by `--record` may stand alone: it holds its cameras' names.
    """
    found: dict[str, int | str | None] = {}
    for word in words or list(cameras):
        name, equals, source = word.partition("=")
        alone = not equals and name not in cameras
        if alone and (Path(word).suffix.lower() == RECORDING or Path(word).is_file()):
            if not Path(word).is_file():
                raise SourceError(f"there is no recording {word!r}")
            shown = _inside(word, cameras)
            inside = [camera for camera in shown if camera in cameras]
            if not shown:
                raise SourceError(f"the recording {word!r} ends before its first whole picture")
            if not inside:
                raise SourceError(
                    f"the recording {word!r} shows none of the cameras {', '.join(cameras)}; "
                    f"it shows {', '.join(shown)}"
                )
            if twice := [camera for camera in inside if camera in found]:
                raise TableError(
                    f"camera {twice[0]!r} is named twice, as the recording {word!r} shows it, too; "
                    "give one source a camera"
                )
            found.update({camera: str(Path(word).resolve()) for camera in inside})
            continue
        if alone and Path(word).suffix:
            raise SourceError(
                f"there is no file {word!r}; a video is given as {next(iter(cameras))}={word}"
            )
        if name not in cameras:
            raise UnknownCamera(name, cameras)
        if name in found:
            raise TableError(f"camera {name!r} is named twice; give one source a camera")
        found[name] = _absolute(source) if equals else cameras[name].source
    return found


def _inside(word: str, cameras: Mapping[str, CameraPlace]) -> list[str]:
    try:
        return list(recorded_cameras(Path(word)))
    except SourceError as error:
        if Path(word).suffix.lower() == RECORDING:
            raise
        camera = next(iter(cameras))
        raise SourceError(f"{error}; if it is a video, say of which camera: {camera}={word}") from (
            error
        )


def _absolute(source: str) -> str:
    """Files count from where the user stands; those that a table names count from its folder."""
    kind, colon, rest = source.partition(":")
    if kind == "virtual" and colon and not is_game(Path(), rest):
        return f"virtual:{Path(rest).resolve()}"
    return str(Path(source).resolve()) if Path(source).exists() else source


def open_cameras(
    wanted: Mapping[str, int | str | None], cameras: Mapping[str, CameraPlace], folder: Path
) -> dict[str, Source]:
    """The sources by camera; raises SourceError."""
    opened: dict[str, Source] = {}
    plays: dict[str, Mapping[str, Source]] = {}
    for name, source in wanted.items():
        text = str(source)
        if source is None or text == "phone":
            raise SourceError(
                f"camera {name!r} is a phone, which sends its pictures to the page; "
                f"use `kiebitz serve`, or give {name}=SOURCE"
                if source is not None
                else f"camera {name!r} has no source in table.toml; give {name}=SOURCE"
            )
        if text.startswith("virtual:"):
            file = text.removeprefix("virtual:")
            if file not in plays:
                together = [camera for camera, other in wanted.items() if other == source]
                plays[file] = virtual_cameras(folder, file, together)
            if name not in plays[file]:
                known = ", ".join(plays[file])
                raise SourceError(f"the virtual table has no camera {name!r}; it has {known}")
            opened[name] = plays[file][name]
        else:
            place = cameras[name]
            if "/" in text and "://" not in text and not _exists(folder, text):
                raise SourceError(f"there is no file or folder {text!r} for camera {name!r}")
            opened[name] = open_source(
                name,
                source,
                folder=folder,
                offset_s=place.offset_s,
                settings=settings_of(folder, place),
            )
    return opened


def _exists(folder: Path, source: str) -> bool:
    return Path(source).exists() or (folder / source).exists()


def watch(
    pipeline: Pipeline,
    sources: Mapping[str, Source],
    rotate: Mapping[str, int],
    *,
    recorder: Recorder | None = None,
    progress: Progress = lambda _: None,
    keep: Keeper = lambda _t, _frames: None,
) -> Generator[Event]:
    """The events of recordings until their end, or of live cameras until nobody asks any more."""
    recorded = [source for source in sources.values() if isinstance(source, Recorded)]
    if recorded and len(recorded) < len(sources):
        raise SourceError("recordings and live cameras cannot be watched together; give either")
    played: Generator[_Shown | Event]
    if recorded:
        played = ahead(_recorded(recorded, rotate), _AHEAD_MB, _megabytes)
    else:
        played = _live(pipeline, sources, rotate)
    with closing(played):
        for shown in played:
            if isinstance(shown, Event):
                yield shown
                continue
            if recorder is not None:
                for frame in shown.came.values():
                    recorder.keep(frame)
            keep(shown.t, shown.came)
            progress(shown.t)
            yield from pipeline.see(shown.t, shown.upright)


@dataclass(frozen=True, slots=True)
class _Shown:
    """One moment: the frames as they came, and as they are looked at."""

    t: float
    came: Mapping[str, Frame]
    upright: Mapping[str, Frame]


def _recorded(sources: Iterable[Recorded], rotate: Mapping[str, int]) -> Generator[_Shown | Event]:
    """Moments of recordings, with whatever can be done before they are looked at."""
    for t, frames in moments(sources):
        upright = {n: f.prepared() for n, f in _upright(frames, rotate).items()}
        yield _Shown(t, frames, upright)


def _megabytes(shown: _Shown | Event) -> float:
    if isinstance(shown, Event):
        return 0.0
    # Pictures that were turned wait twice: as they came, too, for whoever keeps them.
    both = (*shown.came.values(), *shown.upright.values())
    return sum({id(frame.image): frame.bytes for frame in both}.values()) / 1e6


def _upright(frames: Mapping[str, Frame], rotate: Mapping[str, int]) -> dict[str, Frame]:
    return {
        name: replace(frame, image=upright(frame.image, by), small=None) if by else frame
        for name, frame in frames.items()
        for by in (rotate.get(name),)
    }


def _live(
    pipeline: Pipeline, sources: Mapping[str, Source], rotate: Mapping[str, int]
) -> Generator[_Shown | Event]:
    """Moments of live cameras, and what happens to the cameras themselves."""
    began = time.monotonic()
    last: dict[str, Frame] = {}
    while True:
        now = time.monotonic() - began
        frames: dict[str, Frame] = {}
        for name, source in sources.items():
            if isinstance(source, LiveSource):
                for change in source.changes():
                    note = CameraNote(now, name, change.state, change.why)
                    yield camera_event(note, pipeline.language)
            frame = source.latest()
            if frame is not None and frame is not last.get(name):
                last[name] = frame
                frames[name] = replace(frame, seconds=now)
        yield _Shown(now, frames, _upright(frames, rotate))
        time.sleep(max(_IDLE_S, _FASTEST_S - (time.monotonic() - began - now)))
