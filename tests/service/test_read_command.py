"""`kiebitz read`: what is printed, what is said about cameras, and what is drawn."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from calibration import colour_store, store
from calibration.camera import Camera
from calibration.colour_fit import ColourView, fit_colours
from calibration.cv import read_image, write_image
from calibration.scene import CameraPlace
from rules.cells import Cell
from rules.registry import find_game
from rules.stacks import Stacks
from service.cli import main
from service.table_folder import default_table, write_table
from vision.overlay import UNSURE, draw_reading
from vision.reading import Reading
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

POSITION = Stacks.of({"b2": "BY", "c5": "Y", "d4": "BBY", "e4": "Y", "f6": "YB", "g2": "B"})
Said = pytest.CaptureFixture[str]
Image = NDArray[np.uint8]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibrated KEWBZ table of two small cameras, with pictures of one position beside it."""
    place = tmp_path_factory.mktemp("table")
    spec = find_game("kewbz")
    scene = Scene.from_seed(2, Kind.of(spec), family="tune", rig="two", size=(640, 360))
    studio = Studio(scene)
    empty, known = studio.empty(), studio.colour_picture()
    made = default_table(spec)
    places = {name: CameraPlace(name=name) for name in scene.cameras}
    write_table(place, replace(made, scene=replace(made.scene, cameras=places)))
    views = [ColourView(c, known.pictures[n], empty[n]) for n, c in scene.cameras.items()]
    fitted = fit_colours(views, scene.kind.board, scene.kind.colours, known.stacks)
    cameras = {n: store.CameraRecord(c, "markers", 0.3, "good") for n, c in scene.cameras.items()}
    colours = dict(zip(scene.cameras, fitted, strict=True))
    found = colour_store.with_colours(
        store.Calibration(cameras=cameras), colours, date="", source="drawn"
    )
    store.write(place, found)
    for name, image in empty.items():
        colour_store.save_empty(place, name, image)
    for name, image in studio.still(POSITION, 3).items():
        write_image(place / f"{name}.png", image)
    return place


def read(folder: Path, capsys: Said, *words: str, **files: Path) -> tuple[int, Any, str]:
    """Runs the command: its exit code, what it printed, and what it said."""
    names = {"overhead": folder / "overhead.png", "side": folder / "side.png"} | files
    pictures = [f"{name}={path}" for name, path in names.items()]
    code = main(["read", str(folder), *pictures, *words])
    out, said = capsys.readouterr()
    return code, json.loads(out) if out else None, said


def test_prints_what_stands_there(folder: Path, capsys: Said) -> None:
    """The stacks come as JSON on standard output, with nothing said beside it."""
    code, told, said = read(folder, capsys)

    assert code == 0
    assert told["game"] == "kewbz"
    assert told["stacks"] == POSITION.to_json()
    assert not said


def test_pictures_of_two_moments_are_not_mixed_without_a_word(
    folder: Path, tmp_path: Path, capsys: Said
) -> None:
    """One camera still shows what stood there a turn before: what either sees may be."""
    scene = Scene.from_seed(
        2, Kind.of(find_game("kewbz")), family="tune", rig="two", size=(640, 360)
    )
    before = Stacks.of({cell: s for cell, s in POSITION.to_json().items() if cell != "e4"})
    write_image(tmp_path / "before.png", Studio(scene).still(before, 3)["overhead"])

    code, told, said = read(folder, capsys, overhead=tmp_path / "before.png")

    assert code == 0
    assert "contradict each other on e4: are these pictures of the same moment?" in said
    assert told["unsure"]["e4"].keys() == {"Y", ""}
    assert {cell: s for cell, s in told["stacks"].items() if cell != "e4"} == before.to_json()


def test_the_last_position_can_be_given(folder: Path, capsys: Said) -> None:
    """`--from` is a prior; what has changed since is read all the same."""
    last = POSITION.to_json() | {"a8": "Y"}

    code, told, _ = read(folder, capsys, "--from", json.dumps(last))

    assert code == 0
    assert told["stacks"] == POSITION.to_json()


def noise(image: Image) -> Image:
    """Nothing but noise."""
    rng = np.random.default_rng(4)
    return rng.integers(0, 255, image.shape, dtype=np.uint8)


def grey(image: Image) -> Image:
    """A plain wall, with a little noise."""
    rng = np.random.default_rng(4)
    return np.asarray(110 + rng.integers(0, 20, image.shape), dtype=np.uint8)


def upside_down(image: Image) -> Image:
    """The table seen by a camera that was turned over."""
    return np.ascontiguousarray(image[::-1, ::-1])


def mirrored(image: Image) -> Image:
    """The table as a webcam's program shows it to people who want to see themselves."""
    return np.ascontiguousarray(image[:, ::-1])


@pytest.mark.parametrize("spoilt", [noise, grey])
def test_a_strange_picture_is_left_out(
    spoilt: Callable[[Image], Image], folder: Path, tmp_path: Path, capsys: Said
) -> None:
    """A camera that does not show this table is named, and the others are read."""
    write_image(tmp_path / "s.png", spoilt(read_image(folder / "overhead.png")))

    code, told, said = read(folder, capsys, overhead=tmp_path / "s.png")

    assert code == 0
    assert "overhead: left out" in said
    assert told["stacks"] == POSITION.to_json()


TURNED = [
    pytest.param(mirrored, "mirrored; switch mirroring off", id="mirrored"),
    pytest.param(upside_down, "upside down; turn the camera", id="upside down"),
]


def read_changed(
    folder: Path, place: Path, capsys: Said, change: Callable[[Image], Image]
) -> tuple[int, Any, str]:
    """What is read where both pictures were changed in the same way."""
    for name in ("overhead", "side"):
        write_image(place / f"{name}.png", change(read_image(folder / f"{name}.png")))
    return read(folder, capsys, overhead=place / "overhead.png", side=place / "side.png")


@pytest.mark.parametrize(("turn", "why"), TURNED)
def test_a_picture_that_was_turned_over_is_left_out(
    turn: Callable[[Image], Image], why: str, folder: Path, tmp_path: Path, capsys: Said
) -> None:
    """The sentence tells how it lies and what to do, and the other camera is read."""
    write_image(tmp_path / "o.png", turn(read_image(folder / "overhead.png")))

    code, told, said = read(folder, capsys, overhead=tmp_path / "o.png")

    assert code == 0
    assert f"overhead: left out, its picture is {why}" in said
    assert told["stacks"] == POSITION.to_json()


@pytest.mark.parametrize(("turn", "why"), TURNED)
def test_pictures_that_were_all_turned_over_are_no_position(
    turn: Callable[[Image], Image], why: str, folder: Path, tmp_path: Path, capsys: Said
) -> None:
    """A board looks alike from both sides; what lies around it tells that they were turned."""
    code, told, said = read_changed(folder, tmp_path, capsys, turn)

    assert code == 2
    assert told is None
    assert said.count(f"left out, its picture is {why}") == 2


def test_a_camera_without_a_pose_is_left_out(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """What the calibrated cameras see is read, and what the other one lacks is said."""
    half = tmp_path / "half"
    shutil.copytree(folder, half)
    known = store.read(half)
    store.write(half, replace(known, cameras={"overhead": known.cameras["overhead"]}))

    code, told, said = read(half, capsys)

    assert code == 0
    assert told["stacks"] == POSITION.to_json()
    assert "left out: no camera pose is known for 'side'" in said


def test_strange_pictures_alone_are_no_position(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """Where no camera shows the table nothing is printed, and the sentence tells what to do."""
    code, told, said = read_changed(folder, tmp_path, capsys, noise)

    assert code == 2
    assert told is None
    assert "no picture shows the table" in said


def test_swapped_cameras_are_told(folder: Path, capsys: Said) -> None:
    """Pictures given to the wrong cameras are no position either."""
    code, told, said = read(
        folder, capsys, overhead=folder / "side.png", side=folder / "overhead.png"
    )

    assert code == 2
    assert told is None
    assert "overhead: left out" in said
    assert "swapped" in said


def turned(image: Image, camera: Camera, degrees: float) -> Image:
    """The picture after the camera was turned a little on its stand."""
    angle = np.radians(degrees)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    change = camera.matrix @ turn @ np.linalg.inv(camera.matrix)
    seen = cv2.warpPerspective(image, change, camera.size, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, dtype=np.uint8)


def test_a_bumped_camera_is_told(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """A camera that was turned on its stand is told, and the table is read without harm."""
    image = read_image(folder / "side.png")
    write_image(tmp_path / "s.png", turned(image, store.read(folder).camera("side"), 0.8))

    code, told, said = read(folder, capsys, side=tmp_path / "s.png")

    assert code == 0
    assert "side:" in said
    assert "has moved by" in said
    assert set(told["stacks"]) == set(POSITION.to_json())


def test_what_was_read_is_drawn(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """`--show` writes the pictures side by side with outlines in them."""
    out = tmp_path / "out.png"

    code, _, said = read(folder, capsys, "--show", str(out))

    drawn = read_image(out)
    assert code == 0
    assert str(out) in said
    assert drawn.shape == (360, 1280, 3)
    assert (drawn[:, :640] != read_image(folder / "overhead.png")).any()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["attic=a.png"], "unknown camera 'attic'", id="unknown camera"),
        pytest.param(["attic=a.png"], "a block [cameras.attic] in table.toml", id="how it is told"),
        pytest.param(["sid=a.png"], "did you mean 'side'?", id="misspelt camera"),
        pytest.param([], "Missing argument", id="no picture"),
        pytest.param(["overhead=nowhere.png"], "nowhere.png", id="no such file"),
        pytest.param(["overhead=table.toml"], "table.toml", id="no picture file"),
        pytest.param(["side", "side"], "side", id="no source"),
    ],
)
def test_wrong_words_end_in_a_sentence(
    words: list[str], said: str, folder: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong cameras and files are told, without a traceback and without a position."""
    monkeypatch.chdir(folder)

    code = main(["read", str(folder), *words])

    out, told = capsys.readouterr()
    assert code == 2
    assert not out
    assert said in told
    assert "Traceback" not in told


def test_a_picture_of_another_size_is_told(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """One of the same shape is read as well as it can be; of another shape it is refused."""
    image = read_image(folder / "side.png")
    write_image(tmp_path / "s.png", np.asarray(cv2.resize(image, (960, 540)), np.uint8))
    write_image(tmp_path / "square.png", image[:, :360].copy())

    code, told, said = read(folder, capsys, side=tmp_path / "s.png")
    assert code == 0
    assert "960 x 540" in said
    assert told["stacks"] == POSITION.to_json()

    code, told, said = read(folder, capsys, side=tmp_path / "square.png")
    assert code == 2
    assert told is None
    assert "360 x 360" in said


def test_a_picture_that_was_cut_off_is_told(folder: Path, tmp_path: Path, capsys: Said) -> None:
    """It is a picture, so that another format is no advice."""
    whole = (folder / "side.png").read_bytes()
    (tmp_path / "s.png").write_bytes(whole[: len(whole) // 2])

    code, _, said = read(folder, capsys, side=tmp_path / "s.png")

    assert code == 2
    assert "damaged or cut off" in said


@pytest.mark.parametrize("command", ["pose", "colours"])
def test_swapped_pictures_calibrate_nothing(command: str, folder: Path, capsys: Said) -> None:
    """Two cameras of one table: what they saw when they were calibrated tells which is which."""
    before = (folder / "calibration.json").read_bytes()
    swapped = [f"overhead={folder / 'side.png'}", f"side={folder / 'overhead.png'}"]
    more = ["--stacks", json.dumps(POSITION.to_json())] if command == "colours" else []

    code = main(["calibrate", command, str(folder), *swapped, *more])

    assert code == 1
    assert "swapped" in capsys.readouterr().err
    assert (folder / "calibration.json").read_bytes() == before


def test_doubt_is_drawn_where_nothing_was_read(folder: Path) -> None:
    """A cell that is perhaps not empty is marked on the picture."""
    camera, image = store.read(folder).camera("side"), read_image(folder / "side.png")
    lattice = find_game("kewbz").board.lattice
    sure = Reading(Stacks(), {}, frozenset(), frozenset(), 1.0)
    doubtful = replace(sure, unsure={Cell.parse("h8"): {"": 0.6, "B": 0.4}})

    plain = draw_reading(image, camera, lattice, sure)
    marked = draw_reading(image, camera, lattice, doubtful)

    assert (plain == image).all()
    assert (marked == UNSURE).all(axis=2).sum() > 20


def test_nothing_is_certain_from_a_doubtful_place_without_colours(
    folder: Path, tmp_path: Path, capsys: Said
) -> None:
    """The grid of a cloth may have been taken for the board: all may be empty, or look so."""
    place = tmp_path / "table"
    shutil.copytree(folder, place)
    stored = store.read(place)
    doubtful = {
        name: replace(record, more={"doubts": ["the grid could also lie in another place"]})
        for name, record in stored.cameras.items()
    }
    store.write(place, replace(stored, cameras=doubtful, colours=None))

    code, told, said = read(place, capsys)

    assert code == 0
    assert len(told["unsure"]) + len(told["hidden"]) == 64
    assert "its place is doubtful" in said
