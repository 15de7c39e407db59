"""Wrong words, files and pictures on the command line: one sentence, and the right exit code."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration import store
from calibration.camera import Camera, Lens
from calibration.store import Calibration, CameraRecord
from service.cli import main
from service.table_folder import read_table

Said = pytest.CaptureFixture[str]
MATRIX = np.array([[300.0, 0, 159.5], [0, 300, 119.5], [0, 0, 1]])


@pytest.fixture
def table(tmp_path: Path, capsys: Said) -> Path:
    """A table of KEWBZ whose one camera looks straight down."""
    folder = tmp_path / "table"
    main(["table", "new", str(folder), "--game", "kewbz"])
    lens = Lens((320, 240), MATRIX, np.zeros(5))
    camera = Camera.of(lens, np.diag([1.0, -1, -1]), [-88.0, 88.0, 400.0])
    record = CameraRecord(camera, "corners", 0.5, "usable")
    store.write(folder, Calibration(cameras={"overhead": record}))
    capsys.readouterr()
    return folder


def picture(
    folder: Path, name: str, image: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]"
) -> str:
    """`CAM=IMAGE` of a picture written beside the table."""
    path = folder / name
    cv2.imwrite(str(path), image)
    return f"overhead={path}"


def bright(folder: Path) -> str:
    """`CAM=IMAGE` of a picture that shows something."""
    ramp = np.tile(np.linspace(0, 255, 320).astype(np.uint8)[None, :, None], (240, 1, 3))
    return picture(folder, "bright.png", ramp)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--pitch", "19"], "do not fit side by side", id="pieces wider than pitch"),
        pytest.param(["--unit", "23"], "do not fit side by side", id="pieces too wide"),
        pytest.param(["--unit", "0.5"], "1 to 999 mm", id="pieces too small"),
        pytest.param(["--pitch", "0"], "--pitch", id="no pitch"),
        pytest.param(["--pitch", "1e-9"], "--pitch", id="tiny pitch"),
        pytest.param(["--size", "0"], "1 to 26 columns", id="no cells"),
        pytest.param(["--levels", "0"], "--levels", id="no levels"),
        pytest.param(["--levels", "3"], "always has 5 levels", id="levels of a game with rules"),
    ],
)
def test_no_table_is_written_that_cannot_be_read(
    words: list[str], said: str, tmp_path: Path, capsys: Said
) -> None:
    """What reading a table would refuse is refused before its file is written."""
    folder = tmp_path / "t"

    code = main(["table", "new", str(folder), "--game", "kewbz", *words])

    assert code == 2
    assert said in capsys.readouterr().err
    assert not folder.exists()


def test_a_strip_keeps_its_one_rank(tmp_path: Path) -> None:
    """`--size 17` for KWINTY's strip means 17 x 1, as the game itself plays it."""
    main(["table", "new", str(tmp_path / "t"), "--game", "kwinty", "--size", "17"])

    lattice = read_table(tmp_path / "t").scene.board.lattice
    assert (lattice.columns, lattice.ranks) == (17, 1)


@pytest.mark.parametrize("name", ["a" * 300, "taken"], ids=["too long", "a file"])
def test_a_folder_that_cannot_be_is_told(name: str, tmp_path: Path, capsys: Said) -> None:
    """Names too long for the disk, and names of files, end in a sentence."""
    (tmp_path / "taken").write_text("", encoding="utf-8")

    code = main(["table", "new", str(tmp_path / name), "--game", "kewbz"])

    said = capsys.readouterr().err
    assert code == 2
    assert "inside Kiebitz" not in said
    assert "folder" in said


@pytest.mark.parametrize("value", [0, 255], ids=["dark", "covered"])
def test_a_picture_that_shows_nothing_is_no_empty_board(
    value: int, table: Path, capsys: Said
) -> None:
    """A dark or covered camera is told; it never reads as an empty board."""
    blank = np.full((240, 320, 3), value, dtype=np.uint8)

    code = main(["read", str(table), picture(table, "blank.png", blank)])

    out, said = capsys.readouterr()
    assert code == 2
    assert not out
    assert "no picture shows anything" in said


@pytest.mark.parametrize(
    ("before", "said"),
    [
        pytest.param("x" * 5000, "no run of empty cells", id="longer than a file name"),
        pytest.param('{"a":' * 20000, "cannot be read as stacks", id="deeply nested"),
        pytest.param("{b3:BB}", """they look like '{"a1": "B", "d4""", id="quotes lost"),
        pytest.param('{"a1": "Q"}', "the table's colours are B Y", id="unknown letter"),
    ],
)
def test_strange_last_stacks_are_told(before: str, said: str, table: Path, capsys: Said) -> None:
    """What `--from` cannot mean ends in a sentence."""
    code = main(["read", str(table), "overhead=none.png", "--from", before])

    told = capsys.readouterr().err
    assert code == 2
    assert said in told
    assert "inside Kiebitz" not in told


def test_a_camera_without_its_picture_is_told(table: Path, capsys: Said) -> None:
    """`overhead=` names no picture, and says so."""
    code = main(["read", str(table), "overhead="])

    assert code == 2
    assert "names no picture" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    ["[" * 100000, '{"version": 1, "cameras": {"overhead": {"size": [1e999, 2]}}}', "\udcff"],
    ids=["deeply nested", "infinite size", "no text"],
)
def test_a_damaged_calibration_is_told(text: str, table: Path, capsys: Said) -> None:
    """A damaged calibration.json says to delete it and to calibrate again."""
    (table / store.FILE_NAME).write_bytes(text.encode("utf-8", "surrogateescape"))

    code = main(["read", str(table), bright(table)])

    assert code == 2
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("colours", [float("nan"), [1], {"version": 1, "cameras": [1]}])
def test_damaged_colours_are_told(colours: object, table: Path, capsys: Said) -> None:
    """Colours that are none say to calibrate them again."""
    path = table / store.FILE_NAME
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "colours": colours}), encoding="utf-8")

    code = main(["read", str(table), bright(table)])

    assert code == 2
    assert "stored colours are damaged" in capsys.readouterr().err


def test_a_lens_board_with_more_markers_than_there_are_is_told(table: Path, capsys: Said) -> None:
    """A dictionary too small for the board is told before anything is printed."""
    board = "charuco:20x20:8:6:DICT_4X4_50"

    code = main(["mat", str(table), "-o", str(table / "m.pdf"), "--lens-board", board])

    assert code == 2
    assert "needs 200 markers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jpg", b"hello"), ("a.png", b""), ("times.csv", b"file,seconds\na.jpg,nan\n")],
    ids=["text", "empty", "times that are no numbers"],
)
def test_a_recording_without_pictures_is_told(
    name: str, content: bytes, table: Path, tmp_path: Path, capsys: Said
) -> None:
    """Watching files in which no picture can be read is no success."""
    films = tmp_path / "films"
    films.mkdir()
    (films / name).write_bytes(content)

    code = main(["watch", str(table), f"overhead={films}"])

    assert code == 2
    assert name in capsys.readouterr().err


def test_a_failed_pose_leaves_no_calibration(table: Path) -> None:
    """Where no camera was found, nothing is written."""
    (table / store.FILE_NAME).unlink()
    word = picture(table, "grey.png", np.full((240, 320, 3), 99, dtype=np.uint8))

    code = main(["calibrate", "pose", str(table), word, "--corners", "overhead=0,0,0,0,0,0,0,0"])

    assert code == 1
    assert not (table / store.FILE_NAME).exists()


@pytest.mark.parametrize(
    ("value", "stacks", "said"),
    [
        pytest.param(0, '{"a1": "B"}', "no picture shows anything", id="dark"),
        pytest.param(128, "{}", "no piece stands", id="no pieces"),
    ],
)
def test_colours_are_not_learned_from_nothing(
    value: int, stacks: str, said: str, table: Path, capsys: Said
) -> None:
    """A dark picture, and a board without pieces, leave the known colours as they are."""
    before = (table / store.FILE_NAME).read_bytes()
    word = picture(table, "blank.png", np.full((240, 320, 3), value, dtype=np.uint8))

    code = main(["calibrate", "colours", str(table), word, "--stacks", stacks])

    assert code == 2
    assert said in capsys.readouterr().err
    assert (table / store.FILE_NAME).read_bytes() == before


def test_markers_that_cannot_be_noted_are_told(
    table: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table.toml that may not be written ends in a sentence."""

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)

    code = main(["mat", str(table), "-o", str(table / "mat.pdf")])

    assert code == 2
    assert "cannot write the markers into" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stacks", "said"),
    [
        pytest.param('{"a9": "B"}', "a9 is no cell of this board of 8 x 8; the cells are a1 to h8"),
        pytest.param('{"a1": "BBBBBB"}', "'BBBBBB' on a1 is 6 high; stacks here have 5 levels"),
    ],
    ids=["cell beyond the board", "stack too high"],
)
def test_stacks_that_cannot_stand_here_are_told(
    stacks: str, said: str, table: Path, capsys: Said
) -> None:
    """A wrong cell is told as such, with the cells that there are; so is a stack too high."""
    code = main(["read", str(table), bright(table), "--from", stacks])

    assert code == 2
    assert said in capsys.readouterr().err


def test_a_picture_of_one_pixel_is_told(table: Path, capsys: Said) -> None:
    """A picture far too small for a board is refused before anything computes with it."""
    dot = picture(table, "dot.png", np.full((1, 1, 3), 200, np.uint8))

    code = main(["read", str(table), dot])

    assert code == 2
    assert "'overhead' has only 1 x 1 pixels" in capsys.readouterr().err


def test_games_may_be_named_as_they_are_printed(tmp_path: Path, capsys: Said) -> None:
    """`--game KEWBZ` and `referee KEWBZ` are as good as the small letters."""
    record = tmp_path / "game.txt"
    record.write_text("game = kewbz\nplayers = B Y\n\nB +d4B\n")

    assert main(["table", "new", str(tmp_path / "t"), "--game", "KEWBZ"]) == 0
    assert main(["referee", "KEWBZ", str(record)]) == 0
    assert read_table(tmp_path / "t").game == "kewbz"
    assert '"move":"+d4B"' in capsys.readouterr().out


@pytest.mark.parametrize(("word", "meant"), [("yes", "true"), ("no", "false"), ("True", "true")])
def test_yes_and_no_are_told_how_they_are_written(
    word: str, meant: str, table: Path, capsys: Said
) -> None:
    """Who writes `yes` without quotes is told to write `true`, not a text that is refused next."""
    file = table / "table.toml"
    file.write_text(file.read_text().replace("endByStacking = true", f"endByStacking = {word}"))

    code = main(["mat", str(table), "-o", str(table / "mat.pdf")])

    assert code == 2
    assert f"{word!r} is written {meant}, as in endByStacking = {meant}" in capsys.readouterr().err


def test_a_recording_may_have_any_name(table: Path, capsys: Said) -> None:
    """A file that stands alone is looked into, whatever it is called, and not taken for a camera."""
    (table / "evening").write_bytes(b"no recording")

    code = main(["watch", str(table), str(table / "evening")])

    assert code == 2
    assert "is no recording by Kiebitz" in capsys.readouterr().err
