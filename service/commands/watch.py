"""`kiebitz watch`: follows a game through cameras or recordings, one JSON event a line."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import cv2
import typer

from rules.errors import KiebitzError
from rules.events import Event
from rules.sentences import LANGUAGES
from service.clips import Clips
from service.output import write_event
from service.pipeline import table_pipeline
from service.pretty import Pretty
from service.quiet import quiet_libraries
from service.table_eyes import tell_doubtful, tell_unlearned
from service.table_folder import read_table
from service.watching import Progress, open_cameras, wanted_sources, watch
from vision.frame import Frame, Recorded, Source
from vision.sources.files import RECORDING, FileSource
from vision.sources.recording import Recorder, is_cut_off

WORTH_TELLING_S = 0.05
_WELL = ("back", "realigned")
_UNREAD = ("moved", "swapped", "wrong-table", "resized")  # its pictures are not this table's


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    cameras: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CAM=SOURCE...]",
            help="Other sources than the table's: a video, a folder of pictures, a recording, "
            "an address, a device. CAM alone takes the table's; nothing takes all cameras.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep all pictures untouched, to be watched again."),
    ] = None,
    clips: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a short video of each turn and camera there."),
    ] = None,
    pretty: Annotated[
        bool, typer.Option("--pretty", help="Board, score and alerts to read instead of JSON.")
    ] = False,
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help=f"One of {', '.join(LANGUAGES)}.")
    ] = "en",
) -> None:
    """Follow a game and print what happens: turns, what is owed, the score, broken rules.

    Recordings are watched as fast as possible, with their own times; the same recording gives the
    same events. Live cameras are followed until Ctrl-C.
    """
    if language not in LANGUAGES:
        raise KiebitzError(f"unknown language {language!r}; Kiebitz speaks {', '.join(LANGUAGES)}")
    cv2.setNumThreads(1)
    table = read_table(folder)
    places = table.scene.cameras
    wanted = wanted_sources(cameras or [], places)
    pipeline = table_pipeline(folder, wanted, language)
    tell_doubtful(folder, wanted)
    tell_unlearned(folder, wanted)
    sources = open_cameras(wanted, places, folder)
    rotate = {name: places[name].rotate for name in wanted}
    show = Pretty(pipeline.game, language, names=pipeline.names).show if pretty else write_event
    live = not any(isinstance(source, Recorded) for source in sources.values())
    with contextlib.ExitStack() as stack:
        damaged = stack.enter_context(quiet_libraries(live=live))
        for source in sources.values():
            stack.callback(source.close)
        recorder = Recorder(record) if record else None
        if recorder is not None:
            stack.callback(recorder.close)
        kept = Clips(clips, rotate) if clips else None
        if kept is not None:
            stack.callback(kept.close)
        progress = stack.enter_context(_progress(sources))
        if live:
            sys.stderr.write(f"watching {', '.join(sources)}; stop with Ctrl-C\n")
        keep = kept.keep if kept is not None else _keep_nothing
        events = watch(pipeline, sources, rotate, recorder=recorder, progress=progress, keep=keep)
        heard = _Heard()
        with _until_stopped(record, live=live):
            for event in stack.enter_context(contextlib.closing(events)):
                show(event)
                sys.stdout.flush()
                heard.take(event)
                if kept is not None:
                    kept.told(event)
        if record is not None:
            sys.stderr.write(f"recorded in {record}\n")
        _tell_cut_off(wanted.values())
        _tell_lost(sources.values(), damaged=damaged())
        heard.tell_nothing(folder, sources)
        _tell_lags(pipeline.follower.lags())


@dataclass(slots=True)
class _Heard:
    """Whether anything was read, and the cameras from which nothing can be."""

    nothing: bool = True
    trouble: dict[str, str] = field(default_factory=dict)  # what was said of them

    def take(self, event: Event) -> None:
        """One more event."""
        self.nothing = self.nothing and event.event != "settled"
        if event.event == "camera":
            camera, state = event.data["camera"], event.data["state"]
            if state in _UNREAD:
                self.trouble[camera] = event.data["say"]
            elif state in _WELL:
                self.trouble.pop(camera, None)

    def tell_nothing(self, folder: Path, cameras: Iterable[str]) -> None:
        """Says why nothing was read, if nothing was."""
        if not self.nothing:
            return
        if self.trouble:
            again = " ".join(f"{name}=IMAGE" for name in self.trouble)
            sys.stderr.write(
                f"nothing was read. {' '.join(self.trouble.values())} Give pictures of this table "
                f"as it was calibrated, or run `kiebitz calibrate pose {folder} {again}` first\n"
            )
        if set(cameras) - set(self.trouble):
            sys.stderr.write(
                "nothing stood still for long enough to be read; "
                f"single pictures are read by `kiebitz read {folder} CAM=IMAGE`\n"
            )


@contextlib.contextmanager
def _until_stopped(record: Path | None, *, live: bool) -> Iterator[None]:
    """Ctrl-C ends a live game; for a recording it is told how far that has come."""
    try:
        yield
    except KeyboardInterrupt:
        if live:
            return
        kept = f"; what was watched until then is recorded in {record}" if record else ""
        sys.stderr.write(f"stopped before the recording ended{kept}\n")
        raise


def _tell_lost(sources: Iterable[Source], *, damaged: bool) -> None:
    """Says what of recordings was not shown: who looks for a dispute must know why."""
    for source in sources:
        for sentence in source.lost.told() if isinstance(source, FileSource) else ():
            sys.stderr.write(f"{source.camera}: {sentence}\n")
    if damaged:
        sys.stderr.write("some pictures are damaged, and were looked at as far as they go\n")


def _tell_cut_off(sources: Iterable[int | str | None]) -> None:
    """Says which recordings end in the middle of a picture."""
    for name in sorted({str(source) for source in sources}):
        if (
            Path(name).suffix.lower() == RECORDING
            and Path(name).is_file()
            and is_cut_off(Path(name))
        ):
            sys.stderr.write(
                f"the recording {name!r} was cut off; that is its last whole picture\n"
            )


def _tell_lags(lags: Mapping[str, float]) -> None:
    """Says which cameras show things late; it is known when a recording has been watched."""
    for name, lag_s in lags.items():
        if lag_s >= WORTH_TELLING_S:
            sys.stderr.write(f"{name} shows things {lag_s:.2f} s later than the first camera\n")


def _keep_nothing(_t: float, _frames: Mapping[str, Frame]) -> None:
    """Without clips the pictures are only looked at."""


@contextlib.contextmanager
def _progress(sources: dict[str, Source]) -> Iterator[Progress]:
    """A bar on the terminal while recordings play; nothing where nobody looks."""
    lengths = [source.length_s() for source in sources.values() if isinstance(source, FileSource)]
    if not lengths or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.completed:7.1f} s"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=max(lengths) or None)
        yield lambda t: bar.update(task, completed=t)
