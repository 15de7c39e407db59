"""What every source of frames must do, recorded or live."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import SourceError, SourceLost
from vision.frame import Frame, ImageBGR, Recorded, Source
from vision.sources import FileSource, LiveSource, open_source
from vision.sources.device import device_number
from vision.sources.jpeg import decode, encode
from vision.sources.live import Shot, Watch
from vision.sources.pushed import PushedGrabber
from vision.sources.recording import Recorder, is_cut_off, recorded_cameras, recorded_shots
from vision.sources.stream import HttpGrabber, RtspGrabber, masked

COUNT = 6


def picture(number: int, size: tuple[int, int] = (64, 48)) -> ImageBGR:
    """A picture whose brightness tells its number."""
    return np.full((size[1], size[0], 3), 20 + 30 * number, dtype=np.uint8)


def number_of(frame: Frame) -> int:
    """The number of a picture, also after JPEG."""
    return round((float(frame.image.mean()) - 20) / 30)


def as_folder(path: Path) -> Path:
    """Pictures in name order."""
    folder = path / "pictures"
    folder.mkdir()
    for i in range(COUNT):
        (folder / f"{i:03}.jpg").write_bytes(encode(picture(i)))
    return folder


def as_timed_folder(path: Path) -> Path:
    """Pictures whose times stand in a table, in another order than their names."""
    folder = as_folder(path)
    lines = [f"{i:03}.jpg,{i / 10}" for i in reversed(range(COUNT))]
    (folder / "times.csv").write_text("file,seconds\n" + "\n".join(lines) + "\n")
    return folder


def as_mjpeg(path: Path) -> Path:
    """JPEG pictures in one file."""
    file = path / "clip.mjpeg"
    file.write_bytes(b"".join(encode(picture(i)) for i in range(COUNT)))
    return file


def as_video(path: Path) -> Path:
    """A container that OpenCV writes and reads."""
    file = path / "clip.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"MJPG"), 15.0, (64, 48))
    for i in range(COUNT):
        writer.write(picture(i))
    writer.release()
    return file


def as_recording(path: Path) -> Path:
    """Our own recording, with another camera in between."""
    file = path / "evening.kiebitz"
    recorder = Recorder(file)
    for i in range(COUNT):
        recorder.keep(Frame(picture(i), i / 15, "overhead", encode(picture(i))))
        recorder.keep(Frame(picture(0), i / 15 + 0.01, "side"))
    recorder.close()
    return file


RECORDED: dict[str, Callable[[Path], Path]] = {
    "folder": as_folder,
    "folder with times": as_timed_folder,
    "mjpeg": as_mjpeg,
    "video": as_video,
    "recording": as_recording,
}


@pytest.mark.parametrize("make", RECORDED.values(), ids=RECORDED)
def test_a_recording_gives_its_frames_in_order_and_again(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    """Frames come in order of time, with the camera's name, the same each time they are played."""
    source = open_source("overhead", str(make(tmp_path)))
    assert isinstance(source, Recorded)

    first = list(source.frames())
    second = list(source.frames())

    assert [number_of(frame) for frame in first] == list(range(COUNT))
    assert [f.seconds for f in first] == [f.seconds for f in second]
    assert all(a.seconds < b.seconds for a, b in pairwise(first))
    assert {frame.camera for frame in first} == {"overhead"}
    source.close()
    source.close()


@pytest.mark.parametrize("make", RECORDED.values(), ids=RECORDED)
def test_latest_walks_through_a_recording(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Taken one by one, the frames end with none."""
    source = open_source("overhead", str(make(tmp_path)))

    seen = []
    while (frame := source.latest()) is not None:
        seen.append(number_of(frame))

    assert seen == list(range(COUNT))


def test_an_offset_moves_the_times(tmp_path: Path) -> None:
    """Recordings that were started later are put where they belong."""
    source = open_source("overhead", str(as_mjpeg(tmp_path)), fps=10, offset_s=2.5)
    assert isinstance(source, Recorded)

    assert [round(f.seconds, 3) for f in source.frames()][:2] == [2.5, 2.6]


def test_damaged_pictures_are_passed_over(tmp_path: Path) -> None:
    """A truncated JPEG in the middle costs one frame and nothing else."""
    folder = as_folder(tmp_path)
    data = (folder / "002.jpg").read_bytes()
    (folder / "002.jpg").write_bytes(data[: len(data) // 2])
    (folder / "003.jpg").write_bytes(b"")
    source = open_source("overhead", str(folder))
    assert isinstance(source, Recorded)

    assert [number_of(f) for f in source.frames()] == [0, 1, 4, 5]


def played(file: Path) -> FileSource:
    """A source that was played to its end."""
    source = open_source("overhead", str(file))
    assert isinstance(source, FileSource)
    for _ in source.frames():
        pass
    return source


@pytest.mark.parametrize("make", RECORDED.values(), ids=RECORDED)
def test_nothing_is_said_of_a_whole_recording(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """What was shown to its end has lost nothing."""
    assert played(make(tmp_path)).lost.told() == []


def test_damaged_pictures_are_named(tmp_path: Path) -> None:
    """Who looks for a dispute must know which pictures are missing."""
    folder = as_folder(tmp_path)
    for name in ("002.jpg", "003.jpg"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-5])

    told = played(folder).lost.told()

    assert told == ["2 pictures are damaged, and left out: 002.jpg, 003.jpg"]


def test_an_mjpeg_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    """Its last picture is not whole."""
    file = as_mjpeg(tmp_path)
    file.write_bytes(file.read_bytes()[:-5])

    (told,) = played(file).lost.told()

    assert "was cut off in the middle of its last picture" in told


def long_video(path: Path) -> Path:
    """Six seconds of noise, as AVI or MP4 by its name."""
    code = "MJPG" if path.suffix == ".avi" else "mp4v"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), 15.0, (64, 48))
    rng = np.random.default_rng(1)
    for _ in range(90):
        writer.write(rng.integers(0, 255, (48, 64, 3), dtype=np.uint8))
    writer.release()
    return path


def test_a_video_that_was_cut_off_is_told(tmp_path: Path) -> None:
    """Its header tells how long it was once."""
    file = long_video(tmp_path / "clip.avi")
    assert played(file).lost.told() == []
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])

    (told,) = played(file).lost.told()

    assert "was cut off" in told
    assert "6.0 s" in told


def test_an_mp4_without_its_end_is_told(tmp_path: Path) -> None:
    """Nobody can play it, and whoever copied it can do something about that."""
    file = long_video(tmp_path / "clip.mp4")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])

    with pytest.raises(SourceError, match="cut off, or is still being recorded or copied"):
        played(file)


def test_a_recording_that_was_cut_off_plays_to_its_last_whole_picture(tmp_path: Path) -> None:
    """A power failure costs at most one picture."""
    file = as_recording(tmp_path)
    data = file.read_bytes()
    assert not is_cut_off(file)
    for cut in (1, 300, 700):
        file.write_bytes(data[:-cut])

        shots = list(recorded_shots(file))

        assert 2 * COUNT - 3 <= len(shots) < 2 * COUNT
        assert is_cut_off(file)
    assert recorded_cameras(file) == ("overhead", "side")


def test_a_recording_keeps_jpeg_bytes_untouched(tmp_path: Path) -> None:
    """What came from the camera is what is replayed."""
    shots = [shot for shot in recorded_shots(as_recording(tmp_path)) if shot.camera == "overhead"]

    assert [shot.jpeg for shot in shots] == [encode(picture(i)) for i in range(COUNT)]


WRONG: dict[str, tuple[str, bytes | None, str]] = {
    "nothing there": ("none.mp4", None, "there is no file or folder"),
    "no video": ("notes.mp4", b"hello", "cannot be played"),
    "no pictures in it": ("clip.mjpeg", b"hello", "holds no JPEG pictures"),
    "another format": ("x.kiebitz", b"hello\n", "is no recording by Kiebitz"),
}


@pytest.mark.parametrize(("name", "content", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_told_in_a_sentence(
    name: str, content: bytes | None, told: str, tmp_path: Path
) -> None:
    """Missing and foreign files are refused with what was expected."""
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(SourceError, match=told):
        open_source("overhead", name, folder=tmp_path).latest()


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    """A folder without pictures is a mistake, not an endless wait."""
    source = open_source("overhead", str(tmp_path))

    with pytest.raises(SourceError, match="holds no pictures"):
        source.latest()


# --- live sources ----------------------------------------------------------------------------


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Script:
    """A camera that does what the test says: each entry is a picture, a loss or damage."""

    def __init__(self) -> None:
        self.entries: list[ImageBGR | str] = []
        self.opened = 0
        self.ready = threading.Condition()
        self.taken = 0

    def open(self) -> None:
        """Counts how often it was opened."""
        self.opened += 1

    def grab(self) -> Shot | None:
        """The next entry, as soon as the test gives one."""
        with self.ready:
            self.ready.wait_for(lambda: self.entries, timeout=5)
            entry = self.entries.pop(0) if self.entries else "lost"
        self.taken += 1
        if isinstance(entry, str):
            if entry == "lost":
                raise SourceLost("unplugged")
            return None
        return entry, None

    def close(self) -> None:
        """Nothing to close."""

    def feed(self, *entries: ImageBGR | str) -> None:
        """Gives entries and waits until all of them were taken."""
        target = self.taken + len(entries)
        with self.ready:
            self.entries += entries
            self.ready.notify_all()
        deadline = time.monotonic() + 5
        while self.taken < target and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(0.01)


@pytest.fixture
def stage() -> Iterator[tuple[Script, Clock, LiveSource]]:
    """A scripted camera on a clock of its own."""
    script, clock = Script(), Clock()
    source = LiveSource("side", script, watch=Watch(first_pause_s=0.01), clock=clock)
    yield script, clock, source
    source._stop.set()
    script.feed("lost")
    source.close()


Stage = tuple[Script, Clock, LiveSource]


def test_the_newest_frame_wins(stage: Stage) -> None:
    """Nobody waits for old pictures."""
    script, _, source = stage
    assert source.latest() is None

    script.feed(picture(1), picture(2))

    frame = source.latest()
    assert frame is not None
    assert number_of(frame) == 2
    assert isinstance(source, Source)


def test_a_lost_camera_is_told_once_and_welcomed_back(stage: Stage) -> None:
    """Unplugged, tried again, back: two sentences."""
    script, clock, source = stage
    script.feed(picture(1), "lost")
    clock.now += 0.1
    assert source.latest() is None
    script.feed("lost", "lost", picture(2))

    assert [c.state for c in source.changes()] == ["lost", "back"]
    assert source.latest() is not None
    assert script.opened >= 2


def test_silence_is_noticed_within_two_seconds(stage: Stage) -> None:
    """A driver that hangs is a lost camera too."""
    script, clock, source = stage
    script.feed(picture(1))
    clock.now += 1.9

    assert source.latest() is None
    assert [c.state for c in source.changes()] == ["lost"]


def test_a_frozen_picture_is_never_shown_as_live(stage: Stage) -> None:
    """The very same picture for too long is told, and the first new one ends it."""
    script, clock, source = stage
    for _ in range(4):
        script.feed(picture(1))
        clock.now += 0.5

    assert source.latest() is None
    assert [c.state for c in source.changes()] == ["frozen"]
    script.feed(picture(2))
    assert [c.state for c in source.changes()] == ["back"]


def test_garbage_alone_is_no_camera(stage: Stage) -> None:
    """Damaged pictures do not count as a sign of life."""
    script, clock, source = stage
    script.feed(picture(1))
    for _ in range(4):
        clock.now += 0.5
        script.feed("damaged")

    assert source.latest() is None
    assert [c.state for c in source.changes()] == ["lost"]


def test_another_size_is_told(stage: Stage) -> None:
    """A camera that changes its size does not fit its calibration any more."""
    script, _, source = stage
    script.feed(picture(1), picture(2, (128, 96)))

    changes = source.changes()

    assert [c.state for c in changes] == ["resized"]
    assert "128 x 96" in changes[0].say


def test_the_rate_is_measured(stage: Stage) -> None:
    """What arrives counts, not what was promised."""
    script, clock, source = stage
    for i in range(5):
        script.feed(picture(i))
        clock.now += 0.1

    assert source.rate == pytest.approx(10, rel=0.01)


def test_a_phone_pushes_its_newest_picture() -> None:
    """Pushed pictures arrive; an older one that still waits is dropped."""
    grabber = PushedGrabber()
    grabber.push(encode(picture(1)))
    grabber.push(encode(picture(2)))

    shot = grabber.grab()

    assert shot is not None
    assert round((float(shot[0].mean()) - 20) / 30) == 2


class _Stream(BaseHTTPRequestHandler):
    """Sends a few pictures as MJPEG if name and password are right."""

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Basic bmFtZTpzZWNyZXQ=":
            self.send_error(401)
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        for i in range(COUNT):
            jpeg = encode(picture(i))
            self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\n\r\n" + jpeg + b"\r\n")

    def log_message(self, *args: object) -> None:
        """Keeps quiet."""


@pytest.fixture
def stream() -> Iterator[str]:
    """The address of a camera on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Stream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}/video"
    server.shutdown()
    server.server_close()


def test_an_http_camera_gives_every_picture_untouched(stream: str) -> None:
    """The JPEG bytes arrive as they were sent, and the end is a lost camera."""
    grabber = HttpGrabber(f"http://name:secret@{stream}")
    grabber.open()

    shots = [grabber.grab() for _ in range(COUNT)]

    assert [shot and shot[1] for shot in shots] == [encode(picture(i)) for i in range(COUNT)]
    with pytest.raises(SourceLost):
        grabber.grab()
    grabber.close()


def test_a_password_is_never_told(stream: str) -> None:
    """Error messages and logs show stars."""
    with pytest.raises(SourceError) as caught:
        HttpGrabber(f"http://name:wrong@{stream}").open()

    assert "wrong" not in str(caught.value)
    assert "401" in str(caught.value)
    assert masked("rtsp://me:pass@cam/1") == "rtsp://***@cam/1"


def test_an_address_that_nobody_answers_is_told() -> None:
    """No network camera there: one sentence."""
    with pytest.raises(SourceError, match="cannot be reached"):
        HttpGrabber("http://127.0.0.1:9/video").open()
    with pytest.raises(SourceError, match="cannot be opened"):
        RtspGrabber("rtsp://127.0.0.1:9/x").open()


def test_an_unknown_camera_name_lists_the_connected_ones() -> None:
    """A name that no camera has is answered with those that there are."""
    with pytest.raises(SourceError, match="no camera is called 'nonsense'"):
        device_number("nonsense")
    assert device_number("2") == 2


@pytest.mark.parametrize("cut", [0, 3, 100], ids=["empty", "three bytes", "half"])
def test_a_truncated_jpeg_is_no_picture(cut: int) -> None:
    """Half a picture is never half believed."""
    assert decode(encode(picture(1))[:cut]) is None


def test_a_folder_that_is_called_like_a_picture_is_passed_over(tmp_path: Path) -> None:
    """Only files are pictures."""
    folder = as_folder(tmp_path)
    (folder / "0005.jpg").mkdir()
    source = open_source("overhead", str(folder))

    assert isinstance(source, Recorded)
    assert [number_of(frame) for frame in source.frames()] == list(range(COUNT))


def test_a_recording_without_a_whole_picture_is_told(tmp_path: Path) -> None:
    """It ended before anything was written; silence would look like an empty game."""
    file = tmp_path / "cut.kiebitz"
    file.write_bytes(b'kiebitz recording 1\n{"camera": "overhead", "sec')
    source = open_source("overhead", str(file))

    assert isinstance(source, Recorded)
    with pytest.raises(SourceError, match="holds no whole picture of 'overhead'"):
        list(source.frames())
