"""`kiebitz watch`: a recording in, the contract's events out."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from calibration.scene import CameraPlace
from rules.events import Event
from service import cli
from service.bench.followed import compare
from service.onlooker import Onlooker
from service.pipeline import table_pipeline
from service.session import GameSession
from service.sessions import TableFeed
from service.setup_json import game_of
from service.store import Store
from service.table_eyes import table_reader
from service.table_folder import read_table
from service.table_reader import TableError
from service.tables import setup_of
from service.watching import open_cameras, wanted_sources
from tests.service.virtual_tables import calibrated_folder, virtual_table
from vision.errors import SourceError
from vision.frame import Frame, Recorded
from vision.pairing import moments
from vision.sources.jpeg import encode
from vision.sources.recording import Recorder

SCRIPT = """game = kewbz
size = 8
players = B Y

@ scene seed=5
B +d4B
@ passer 2
Y +d5Y
@ hand 3 f6
B +f1B
B +c5B +d5B
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Event, ...]]:
    """A calibrated table with a recorded game, and what really happened."""
    table = virtual_table(SCRIPT)
    folder = calibrated_folder(tmp_path_factory.mktemp("tables") / "kewbz", table, SCRIPT)
    return folder, table.truth


def watched(folder: Path, capfd: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    assert cli.main(["watch", str(folder), *words]) == 0
    return capfd.readouterr().out


def as_event(line: str) -> Event:
    """A printed line as the event that it was."""
    data: dict[str, Any] = json.loads(line)
    return Event(data.pop("event"), data.pop("t"), data)


@pytest.mark.slow
def test_a_recorded_game_is_followed_from_first_to_last_turn(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str]
) -> None:
    """Legal turns, one illegal turn that goes back, idle hands and passers: all told right."""
    folder, truth = played
    told = [as_event(line) for line in watched(folder, capfd).splitlines()]

    found = compare("kewbz", truth, told, 0.3)
    assert found.mistakes == []
    assert (found.right, found.invented, found.flagged, found.false_flags) == (4, 0, 1, 0)
    assert max(found.verdicts_s) < 0.5


@pytest.mark.slow
def test_the_same_recording_gives_the_same_bytes(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing depends on the clock or on chance; watching what was recorded while watching, too."""
    folder, _ = played
    again = folder / "again.kiebitz"

    first = watched(folder, capfd, "--record", str(again))

    assert watched(folder, capfd, str(again)) == first


def heard(session: GameSession) -> list[dict[str, Any]]:
    """Everything that a session will tell from now on."""
    told: list[dict[str, Any]] = []
    session.listeners.append(told.append)
    return told


def scenes(told: list[dict[str, Any]]) -> list[object]:
    """What stood there, one scene after another; a session keeps none that is as before."""
    stood = (event["stacks"] for event in told if event["event"] == "settled")
    return [stacks for stacks, _ in groupby(stood)]


def without_page_words(told: Any) -> Any:
    """What was told, without what only the page needs: other languages, and whose turn it is."""
    if isinstance(told, list):
        return [without_page_words(one) for one in told]
    if isinstance(told, dict):
        more = ("says", "next", "may_pass")
        return {key: without_page_words(one) for key, one in told.items() if key not in more}
    return told


@pytest.mark.slow
def test_the_page_is_told_the_same(played: tuple[Path, tuple[Event, ...]]) -> None:
    """A live session hears of the same pictures what `watch` prints, word by word and in time."""
    folder, _ = played
    table = read_table(folder)
    now = [0.0]
    store = Store(None)
    setup = setup_of(table, str(folder))
    store.open_session("s", setup, created=0.0)
    session = GameSession("s", game_of(setup), store, lambda: now[0])
    events = heard(session)
    onlooker = Onlooker(table_reader(folder), TableFeed(session))
    pipeline = table_pipeline(folder)
    printed: list[Event] = []
    sources = open_cameras(wanted_sources([], table.scene.cameras), table.scene.cameras, folder)

    for t, frames in moments([s for s in sources.values() if isinstance(s, Recorded)]):
        now[0] = t
        onlooker.see(t, frames)
        printed += pipeline.see(t, frames)

    wanted = [{"event": e.event, "t": round(e.t, 3), **e.data} for e in printed]
    told = [without_page_words(event) for event in events if event["event"] != "settled"]
    assert told == [event for event in wanted if event["event"] != "settled"]
    assert scenes(events) == scenes(wanted)


@pytest.mark.slow
def test_people_can_read_it(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str]
) -> None:
    """`--pretty` shows turns, the board and why a turn is illegal, in the chosen language."""
    folder, _ = played
    text = watched(folder, capfd, "--pretty", "--language", "de")

    assert "1. Blue +d4B  gültig" in text
    assert "regelwidrig" in text
    assert "a  b  c" in text


WRONG = [
    pytest.param(["nose=clip.mp4"], "unknown camera 'nose'", id="no such camera"),
    pytest.param(["overhead=none.mp4"], "no file or folder", id="no such file"),
    pytest.param(["overhead", "overhead"], "named twice", id="named twice"),
    pytest.param(["other.kiebitz"], "no recording", id="no such recording"),
    pytest.param(["evening.mp4"], "a video is given as overhead=evening.mp4", id="no camera named"),
    pytest.param(["overhead=h/none.mp4"], "no file or folder 'h/none.mp4'", id="path as typed"),
    pytest.param(["overhead=virtual:chess"], "or a game: kewbz, qbq", id="no such virtual game"),
    pytest.param(["--language", "xx"], "unknown language 'xx'", id="no such language"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), WRONG)
def test_mistakes_are_told_in_a_sentence(
    played: tuple[Path, tuple[Event, ...]],
    capfd: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    """Wrong use ends with code 2 and a sentence, never with a traceback."""
    folder, _ = played

    assert cli.main(["watch", str(folder), *words]) == 2
    assert said in capfd.readouterr().err


@pytest.mark.slow
def test_a_video_that_shows_nothing_still_is_told(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Single pictures are no recording; that there is no event is said, with what to do instead."""
    folder, _ = played
    for name in ("overhead", "side"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.full((360, 640, 3), 90, dtype=np.uint8))

    assert cli.main(["watch", str(folder), f"overhead={tmp_path}"]) == 0

    told = capfd.readouterr()
    assert told.out == ""
    assert "single pictures are read by `kiebitz read" in told.err


@pytest.mark.slow
def test_a_recording_that_was_cut_off_is_told(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its events end early; who looks for a dispute must know why."""
    folder, _ = played
    cut = tmp_path / "cut.kiebitz"
    recorder = Recorder(cut)
    for name in ("overhead", "side"):
        recorder.keep(Frame(np.full((360, 640, 3), 90, dtype=np.uint8), 0.0, name))
    recorder.close()
    cut.write_bytes(cut.read_bytes()[:-10])

    assert cli.main(["watch", str(folder), f"overhead={cut}"]) == 0

    assert "was cut off" in capfd.readouterr().err


def _recording(path: Path) -> Path:
    recorder = Recorder(path)
    for t in (0.0, 0.1):
        recorder.keep(Frame(np.full((36, 64, 3), 90, dtype=np.uint8), t, "side"))
    recorder.close()
    return path


def test_two_recordings_of_one_camera_are_refused(tmp_path: Path) -> None:
    """Only one of them would be played, and nobody would know which."""
    one, two = (_recording(tmp_path / f"{name}.kiebitz") for name in ("one", "two"))

    with pytest.raises(TableError, match=r"named twice.*two.kiebitz.*give one source"):
        wanted_sources([str(one), str(two)], {"side": CameraPlace("side")})


def test_a_damaged_recording_is_not_taken_for_a_video(tmp_path: Path) -> None:
    """What to do with a video is no help then."""
    damaged = _recording(tmp_path / "damaged.kiebitz")
    data = bytearray(damaged.read_bytes())
    at = data.index(b"\xff\xd9") + 2  # behind the first picture
    data[at : at + 8] = b"\0" * 8
    damaged.write_bytes(bytes(data))

    with pytest.raises(SourceError, match=r"damaged in the middle$"):
        wanted_sources([str(damaged)], {"side": CameraPlace("side")})


def _pressed(*_: object, **__: object) -> Iterator[Event]:
    """Ctrl-C before anything was told."""
    yield from ()
    raise KeyboardInterrupt


@pytest.mark.slow
def test_live_cameras_are_left_by_ctrl_c(
    played: tuple[Path, tuple[Event, ...]],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """That is how it ends, and nothing went wrong; what was recorded is told."""
    folder, _ = played
    kept = tmp_path / "evening.kiebitz"
    monkeypatch.setattr("service.commands.watch.open_cameras", lambda *_: {})
    monkeypatch.setattr("service.commands.watch.watch", _pressed)

    assert cli.main(["watch", str(folder), "--record", str(kept)]) == 0
    assert str(kept) in capfd.readouterr().err


@pytest.mark.slow
def test_a_stopped_recording_says_what_was_kept(
    played: tuple[Path, tuple[Event, ...]],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Ctrl-C in the middle is no end, but what was recorded until then is there."""
    folder, _ = played
    kept = tmp_path / "part.kiebitz"
    monkeypatch.setattr("service.commands.watch.watch", _pressed)

    assert cli.main(["watch", str(folder), "--record", str(kept)]) == cli.INTERRUPTED
    said = capfd.readouterr().err
    assert "stopped before the recording ended" in said
    assert f"until then is recorded in {kept}" in said


@pytest.mark.slow
def test_damaged_pictures_are_told(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Which are left out, and that some are damaged; never in the words of an image library."""
    folder, _ = played
    rng = np.random.default_rng(1)
    whole = encode(rng.integers(0, 255, (360, 640, 3), dtype=np.uint8))
    (tmp_path / "0.jpg").write_bytes(whole)
    (tmp_path / "1.jpg").write_bytes(whole[:-2000])
    (tmp_path / "2.jpg").write_bytes(whole[:50_000] + b"\0" * 400 + whole[50_400:])

    assert cli.main(["watch", str(folder), f"overhead={tmp_path}"]) == 0

    said = capfd.readouterr().err
    assert "overhead: 1 picture is damaged, and left out: 1.jpg" in said
    assert "some pictures are damaged" in said
    assert "Corrupt" not in said


@pytest.mark.slow
def test_why_nothing_was_read_is_told(
    played: tuple[Path, tuple[Event, ...]], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Pictures of another shape stand still for ever; the sizes say what is wrong with them."""
    folder, _ = played
    for number in range(15):
        picture = np.full((480, 640, 3), 90, dtype=np.uint8)
        cv2.imwrite(str(tmp_path / f"{number:02}.png"), picture)

    assert cli.main(["watch", str(folder), f"overhead={tmp_path}"]) == 0

    said = capfd.readouterr().err
    assert "nothing was read" in said
    assert "(640 x 480, not 640 x 360)" in said
    assert "stood still" not in said


def test_a_folder_without_a_table_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sentence says how to make a table."""
    assert cli.main(["watch", str(tmp_path)]) == 2
    assert "kiebitz table new" in capfd.readouterr().err
