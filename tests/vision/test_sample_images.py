"""The committed sample pictures: whole, in the form that is promised, and true."""

import json
import tomllib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from calibration import cv
from calibration.camera import Camera
from rules.cells import Cell
from rules.events import Event
from rules.judge_record import judge_record
from rules.pieces import Extent, Placed
from rules.stacks import Stacks
from vision.errors import SourceError
from vision.virtual.excerpt import NAME, excerpt_sources, read_excerpt
from vision.virtual.live import virtual_sources
from vision.virtual.placing import stacks_of
from vision.virtual.script import parse_script

SAMPLES = Path(__file__).parents[2] / "sample_images"
FOLDERS = sorted(path.parent for path in SAMPLES.glob("*/*/truth.json"))
EXCERPTS = sorted(SAMPLES.glob(f"*/*/excerpt/{NAME}"))
MOST_BYTES = 100_000_000
POSITIONS = 10


def name_of(path: Path) -> str:
    """Family and table, as a test's id."""
    return "-".join(path.relative_to(SAMPLES).parts[:2])


def truth_of(folder: Path) -> dict[str, Any]:
    """The truth beside the pictures of a table."""
    found: dict[str, Any] = json.loads((folder / "truth.json").read_text("utf-8"))
    return found


def camera_of(values: dict[str, Any]) -> Camera:
    """The camera of its JSON."""
    width, height = values["size"]
    return Camera(
        (width, height),
        np.array(values["matrix"]),
        np.array(values["distortion"]),
        np.array(values["rotation"]),
        np.array(values["translation_mm"]),
    )


def test_there_are_sample_tables_of_both_families() -> None:
    """Both families have tables, and no table is in both rooms."""
    rooms = {folder.parent.name: set[str]() for folder in FOLDERS}
    for folder in FOLDERS:
        rooms[folder.parent.name].add(truth_of(folder)["room"])

    assert rooms.keys() == {"tune", "check"}
    assert not rooms["tune"] & rooms["check"]


def test_all_pictures_together_stay_small() -> None:
    """The pictures stay under 100 MB in all."""
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*.jpg")) < MOST_BYTES


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_table_is_whole(folder: Path) -> None:
    """Every camera has its lens views, the empty table, the colours and ten positions."""
    truth = truth_of(folder)
    table = tomllib.loads((folder / "table.toml").read_text("utf-8"))
    shots = [f"lens{n:02}" for n in range(6)] + ["empty", "colours", *truth["stills"]]

    assert set(table["cameras"]) == set(truth["cameras"])
    assert len(truth["stills"]) == POSITIONS
    for name, camera in truth["cameras"].items():
        for shot in shots:
            picture = cv.read_image(folder / f"{shot}.{name}.jpg")
            assert list(picture.shape[1::-1]) == camera["size"], (shot, name)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_pieces_and_stacks_agree(folder: Path) -> None:
    """The truth tells the same position twice."""
    for still in truth_of(folder)["stills"].values():
        pieces = [
            Placed(Cell.parse(cell), level, Extent(*extent), letter)
            for cell, level, extent, letter in still["pieces"]
        ]
        assert stacks_of(pieces) == Stacks.of(still["stacks"])


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_markers_lie_where_the_table_says(folder: Path) -> None:
    """Every marker that is found on the empty table is within half a picture element."""
    table = tomllib.loads((folder / "table.toml").read_text("utf-8"))
    if "markers" not in table:
        pytest.skip("a table without markers")
    markers = {m["id"]: m for m in table["markers"]}
    how = cv2.aruco.DetectorParameters()
    how.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    off = []
    for name, values in truth_of(folder)["cameras"].items():
        picture = cv.grey(cv.read_image(folder / f"empty.{name}.jpg"))
        found, ids = cv.detect_markers(picture, cv.dictionary_of("DICT_4X4_50"), how)
        for corners, number in zip(found, ids, strict=True):
            (x, y), size = markers[int(number)]["corner_mm"], markers[int(number)]["size_mm"]
            z = markers[int(number)]["z_mm"]
            square = [(x + dx, y + dy, z) for dx in (0, size) for dy in (0, size)]
            middle = camera_of(values).project(square).mean(axis=0)
            off.append(float(np.linalg.norm(corners.mean(axis=0) - middle)))

    assert len(off) >= 2
    assert np.median(off) < 0.5


@pytest.mark.parametrize("path", EXCERPTS, ids=name_of)
def test_an_excerpt_plays(path: Path) -> None:
    """Each camera's keyframes are there, and the truth has both kinds of illegal turns."""
    excerpt = read_excerpt(path)

    for name, source in virtual_sources(path).items():
        assert source.latest() is not None
        for _, key in excerpt.shown:
            assert (path.parent / f"{key}.{name}.jpg").is_file()
    told = {event.event for event in excerpt.truth}
    assert sum(event.event == "turn" for event in excerpt.truth) >= 8
    assert {"turn", "taken-back", "kept", "camera"} <= told


@pytest.mark.parametrize("path", EXCERPTS, ids=name_of)
def test_the_truth_of_an_excerpt_is_what_the_referee_says(path: Path) -> None:
    """Judged anew, the turns of its script have the same verdicts and leave the same stacks."""
    script = parse_script((path.parent / "script.txt").read_bytes())

    judged = list(judge_record(script.record))

    told = [event for event in read_excerpt(path).truth if event.event not in ("camera", "turned")]
    assert [gist(event) for event in told] == [gist(event) for event in judged]


def gist(event: Event) -> tuple[object, ...]:
    """What of an event is no wording and no time."""
    data = event.data
    broken = [broken["rule"] for broken in data.get("breaks", ())]
    same = [data.get(key) for key in ("n", "player", "move", "legal", "stacks", "score")]
    return (event.event, *same, broken)


def small_excerpt(folder: Path) -> Path:
    """An excerpt of two keyframes."""
    for number, grey in enumerate((60, 180)):
        picture = np.full((90, 160, 3), grey, np.uint8)
        cv.write_image(folder / f"key{number:03}.side.jpg", picture)
    faults = {"noise": 2.0, "blotch": 1.0, "jpeg": 80, "delay_s": 0.1}
    data = {
        "seconds": 2.0,
        "seed": 4,
        "shown": [[0.0, "key000"], [1.0, "key001"]],
        "faults": {"side": faults},
        "truth": [{"event": "phase", "t": 0.0, "phase": "play"}],
    }
    path = folder / NAME
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_keyframes_are_shown_in_time_with_noise(tmp_path: Path) -> None:
    """A keyframe is shown from its moment on, later by the camera's delay; no two are equal."""
    source = excerpt_sources(small_excerpt(tmp_path))["side"]

    frames = list(source.frames())

    bright = [frame.seconds for frame in frames if frame.image.mean() > 120]
    assert len(frames) == 30
    assert min(bright) == pytest.approx(1.1, abs=0.07)
    assert not np.array_equal(frames[3].image, frames[4].image)
    assert [f.jpeg for f in frames] == [f.jpeg for f in source.frames()]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seconds": 1}'], ids=range(4))
def test_a_damaged_excerpt_is_told(tmp_path: Path, text: str) -> None:
    """Whatever is no excerpt is an error in words."""
    path = tmp_path / NAME
    path.write_text(text, "utf-8")

    with pytest.raises(SourceError, match="is no excerpt"):
        read_excerpt(path)
