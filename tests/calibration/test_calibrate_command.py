"""`kiebitz calibrate`: what is stored stays where a new picture tells less."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from calibration.cv import read_image, write_image
from service.cli import main

TUNE = Path(__file__).resolve().parents[2] / "sample_images" / "tune" / "kewbz-one"
Said = pytest.CaptureFixture[str]
TWO = TUNE.parent / "kewbz-two"
STACKS = json.loads((TUNE / "truth.json").read_text(encoding="utf-8"))["colours"]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample table with its camera's place and its colours."""
    folder = tmp_path_factory.mktemp("table")
    shutil.copy(TUNE / "table.toml", folder)
    assert main(["calibrate", "pose", str(folder), f"camera={TUNE / 'empty.camera.jpg'}"]) == 0
    assert colours(folder, STACKS) == 0
    return folder


def colours(folder: Path, stacks: dict[str, str], *more: str) -> int:
    """Learns the colours of the sample table's colour picture; the exit code."""
    picture = f"camera={TUNE / 'colours.camera.jpg'}"
    return main(
        ["calibrate", "colours", str(folder), picture, "--stacks", json.dumps(stacks), *more]
    )


@pytest.fixture
def table(calibrated: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return Path(shutil.copytree(calibrated, tmp_path / "table"))


def stored(folder: Path) -> tuple[bytes, bytes]:
    """Everything that a pose writes."""
    return (folder / "calibration.json").read_bytes(), (folder / "empty.camera.png").read_bytes()


def dark(folder: Path) -> Path:
    """The empty table by night."""
    image = read_image(TUNE / "empty.camera.jpg").astype(float) * 0.2
    write_image(folder / "dark.png", image.astype(np.uint8))
    return folder / "dark.png"


@pytest.mark.parametrize("what", ["dark", "pieces on it"])
def test_a_doubtful_picture_leaves_a_good_place_alone(what: str, table: Path, capsys: Said) -> None:
    """It is told why, and the answer of the command is no."""
    picture = dark(table) if what == "dark" else TUNE / "colours.camera.jpg"
    before = stored(table)

    code = main(["calibrate", "pose", str(table), f"camera={picture}"])

    assert code == 1
    assert stored(table) == before
    said = capsys.readouterr().err
    assert "was kept" in said
    assert "--force" in said


def test_a_doubtful_place_is_stored_by_force(table: Path, capsys: Said) -> None:
    """Who insists gets it, told as doubtful."""
    before = stored(table)

    code = main(["calibrate", "pose", str(table), f"camera={dark(table)}", "--force"])

    assert code == 0
    assert stored(table) != before
    assert "DOUBTFUL" in capsys.readouterr().out


def test_stacks_told_one_cell_aside_teach_nothing(table: Path, capsys: Said) -> None:
    """Neither colours nor heights are taken from a picture that contradicts what was told."""
    before = stored(table)
    aside = {f"{chr(ord(cell[0]) + 1)}{cell[1]}": stack for cell, stack in STACKS.items()}

    code = colours(table, aside)

    assert code == 1
    assert stored(table) == before
    assert "one cell to the left" in capsys.readouterr().err


@pytest.mark.parametrize(
    "corners", ["20,340,150,340,140,270,40,270", "700,520,930,520,900,430,720,430"]
)
def test_a_board_that_is_taken_to_lie_elsewhere_is_told(
    corners: str, table: Path, capsys: Said
) -> None:
    """Pieces stand beside it, even where one of them reaches into it: no stacks were told wrongly."""
    empty = f"camera={TUNE / 'empty.camera.jpg'}"
    wrong = ["--corners", f"camera={corners}", "--force"]
    assert main(["calibrate", "pose", str(table), empty, *wrong]) == 0
    before = stored(table)
    capsys.readouterr()

    assert colours(table, STACKS) == 1
    assert stored(table) == before
    said = capsys.readouterr().err
    assert "something is elsewhere in the picture of camera" in said
    assert "would fit better" not in said


def test_doubtful_colours_leave_good_ones_alone(table: Path, capsys: Said) -> None:
    """One stack too few is a doubt; with --force it is stored all the same."""
    before = stored(table)
    fewer = dict(list(STACKS.items())[1:])

    assert colours(table, fewer) == 1
    assert stored(table) == before
    assert "were kept" in capsys.readouterr().err
    assert colours(table, fewer, "--force") == 0
    assert stored(table) != before


def test_nothing_is_advised_that_was_just_done(calibrated: Path) -> None:
    """After the colour picture no verdict asks for the colour picture."""
    assert "colour picture" not in (calibrated / "calibration.json").read_text(encoding="utf-8")


def test_a_known_camera_is_found_among_many_pieces(table: Path, capsys: Said) -> None:
    """Where pieces hide most of the board its old picture tells where the camera stands."""
    crowded = TUNE / "still09.camera.jpg"
    before = stored(table)[1]

    code = main(["calibrate", "pose", str(table), f"camera={crowded}", "--occupied"])

    assert code == 0
    assert "found by its picture of the empty table" in capsys.readouterr().out
    assert stored(table)[1] == before


def test_a_new_camera_is_told_what_hides_the_board(tmp_path: Path, capsys: Said) -> None:
    """Nothing is known of it: the pieces must make room."""
    shutil.copy(TUNE / "table.toml", tmp_path)
    crowded = TUNE / "still09.camera.jpg"

    code = main(["calibrate", "pose", str(tmp_path), f"camera={crowded}", "--occupied"])

    assert code == 1
    assert "the pieces hide too much of the board" in capsys.readouterr().err


def test_a_poor_lens_leaves_a_better_one_alone(table: Path, capsys: Said) -> None:
    """One picture tells little; a lens that takes another's place asks for the pose again."""
    views = [str(path) for path in sorted(TUNE.glob("lens*.camera.jpg"))]
    assert main(["calibrate", "lens", str(table), "camera", *views]) == 0
    assert "calibrate pose" in capsys.readouterr().err
    before = stored(table)
    one = str(TUNE.parent / "cube-corners" / "lens00.left.jpg")

    assert main(["calibrate", "lens", str(table), "camera", one]) == 1
    assert stored(table) == before
    assert "--force" in capsys.readouterr().err
    assert main(["calibrate", "lens", str(table), "camera", one, "--force"]) == 0
    assert stored(table) != before


@pytest.mark.parametrize(
    ("line", "other", "what"),
    [
        ("pitch_mm = 22", "pitch_mm = 25", "pitch_mm = 22"),
        ("columns = 8\nranks = 8", "columns = 9\nranks = 9", "columns = 8"),
        ("clock = 5.5", "clock = 11.5", "clock = 5.5"),
    ],
)
@pytest.mark.parametrize("command", ["read", "colours"])
def test_a_table_described_anew_is_calibrated_anew(
    line: str, other: str, what: str, command: str, table: Path, capsys: Said
) -> None:
    """Cells lie elsewhere then: nothing is read, and it is told what to do."""
    file = table / "table.toml"
    text = file.read_text(encoding="utf-8")
    assert line in text
    file.write_text(text.replace(line, other), encoding="utf-8")
    before = stored(table)
    picture = f"camera={TUNE / 'still03.camera.jpg'}"

    code = main(["read", str(table), picture]) if command == "read" else colours(table, STACKS)

    assert code in (1, 2)
    said = capsys.readouterr()
    assert not said.out
    assert f"was calibrated with {what}, and table.toml says" in said.err
    assert "camera=IMAGE" in said.err
    assert stored(table) == before


def test_corners_in_the_dark_are_not_believed(table: Path, capsys: Said) -> None:
    """By a black picture nobody would know the table again."""
    before = stored(table)
    corners = "camera=300,500,600,500,600,200,300,200"

    code = main(["calibrate", "pose", str(table), f"camera={dark(table)}", "--corners", corners])

    assert code == 1
    assert stored(table) == before
    assert "very dark" in capsys.readouterr().err


def test_it_is_told_when_heights_are_known_less_well(table: Path, capsys: Said) -> None:
    """A new place without a lens forgets what the colour picture told."""
    file = table / "calibration.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["cameras"]["camera"]["error_mm"]["100"] = 0.4
    file.write_text(json.dumps(data), encoding="utf-8")

    assert main(["calibrate", "pose", str(table), f"camera={TUNE / 'empty.camera.jpg'}"]) == 0

    said = capsys.readouterr().err
    assert "more exactly before" in said
    assert "calibrate colours" in said


def test_a_smaller_colour_picture_is_checked_as_well(table: Path, capsys: Said) -> None:
    """Stacks told one cell aside are refused at any size."""
    image = read_image(TUNE / "colours.camera.jpg")
    smaller = np.ascontiguousarray(image[::2, ::2])
    write_image(table / "smaller.png", smaller)
    aside = {f"{chr(ord(cell[0]) + 1)}{cell[1]}": stack for cell, stack in STACKS.items()}
    picture = f"camera={table / 'smaller.png'}"

    code = main(["calibrate", "colours", str(table), picture, "--stacks", json.dumps(aside)])

    assert code == 1
    assert "one cell to the left" in capsys.readouterr().err


def test_a_cell_is_named_once(table: Path, capsys: Said) -> None:
    """Which of two stacks would be meant nobody knows."""
    picture = f"camera={TUNE / 'colours.camera.jpg'}"
    twice = '{"b3": "BB", "b3": "YY"}'

    assert main(["calibrate", "colours", str(table), picture, "--stacks", twice]) == 2
    assert "'b3' is named twice" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["found.xyz", "nowhere/found.png"])
def test_where_nothing_can_be_drawn_nothing_is_stored(name: str, table: Path, capsys: Said) -> None:
    """A picture that cannot be written is told before any work is done."""
    before = stored(table)
    picture = f"camera={TUNE / 'empty.camera.jpg'}"

    assert main(["calibrate", "pose", str(table), picture, "--show", str(table / name)]) == 2
    assert stored(table) == before
    assert "cannot write" in capsys.readouterr().err


def test_a_picture_without_its_camera_is_known_as_one(table: Path, capsys: Said) -> None:
    """Whoever forgets CAM= is told how to write it."""
    picture = str(TUNE / "empty.camera.jpg")

    assert main(["calibrate", "pose", str(table), picture]) == 2
    assert f"camera={picture}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "other", "picture", "said"),
    [
        ("", "", "empty", ""),
        ("columns = 8\nranks = 8", "columns = 9\nranks = 9", "empty", "outermost row or column"),
        ("columns = 8\nranks = 8", "columns = 7\nranks = 7", "empty", "seems to go on"),
        ("pitch_mm = 22", "pitch_mm = 25", "empty", "hardly any cell is seen"),
        ("", "", "still03", "hardly any cell is seen"),
    ],
    ids=["as it is", "too many cells", "too few", "wrong pitch", "pieces on it"],
)
def test_cards_do_not_hide_what_is_wrong_with_the_cells(
    line: str, other: str, picture: str, said: str, tmp_path: Path, capsys: Said
) -> None:
    """Cards tell where the camera stands whatever the table says of the board between them."""
    cards = TUNE.parent / "kewbz-two"
    text = (cards / "table.toml").read_text(encoding="utf-8")
    assert line in text
    (tmp_path / "table.toml").write_text(text.replace(line, other), encoding="utf-8")

    code = main(["calibrate", "pose", str(tmp_path), f"side={cards / picture}.side.jpg"])

    found = capsys.readouterr()
    assert code == 0
    assert "by its markers" in found.out
    assert said in found.out + found.err
    assert bool(found.err or "DOUBTFUL" in found.out) == bool(said)


@pytest.mark.slow
def test_a_wrong_clock_of_one_of_two_cameras_is_told_with_its_name(
    tmp_path: Path, capsys: Said
) -> None:
    """Nothing is learned from it; by force it is, and whoever plays is reminded of it."""
    words = re.sub(r"\[\[markers\]\]\n(?:.+\n)*", "", (TWO / "table.toml").read_text("utf-8"))
    (tmp_path / "table.toml").write_text(words.replace("clock = 5.0", "clock = 8.0"), "utf-8")
    known = json.loads((TWO / "truth.json").read_text("utf-8"))["colours"]
    table = str(tmp_path)

    def shown(what: str) -> list[str]:
        return [f"{name}={TWO / f'{what}.{name}.jpg'}" for name in ("overhead", "side")]

    assert main(["calibrate", "pose", table, *shown("empty")]) == 0
    learn = ["calibrate", "colours", table, *shown("colours"), "--stacks", json.dumps(known)]
    capsys.readouterr()

    assert main(learn) == 1
    assert "correct the `clock` of side" in capsys.readouterr().err
    assert main([*learn, "--force"]) == 0
    assert "this is what side shows, but not overhead" in capsys.readouterr().out
    for again in (["read", table, *shown("still00")], ["watch", table, shown("still00")[1]]):
        assert main(again) == 0
        said = capsys.readouterr().err
        assert "the colours are doubtful: " in said
        assert "what side shows, but not overhead" in said


def test_of_two_cameras_the_one_with_a_wrong_board_is_named(tmp_path: Path, capsys: Said) -> None:
    """The other one shows the pieces where they were told to stand, and its `clock` is right."""
    words = re.sub(r"\[\[markers\]\]\n(?:.+\n)*", "", (TWO / "table.toml").read_text("utf-8"))
    (tmp_path / "table.toml").write_text(words, "utf-8")
    known = json.loads((TWO / "truth.json").read_text("utf-8"))["colours"]
    empty, shown = (
        [f"{name}={TWO / f'{what}.{name}.jpg'}" for name in ("overhead", "side")]
        for what in ("empty", "colours")
    )
    wrong = ["--corners", "side=20,640,350,640,340,500,40,500", "--force"]
    assert main(["calibrate", "pose", str(tmp_path), *empty, *wrong]) == 0
    capsys.readouterr()

    code = main(["calibrate", "colours", str(tmp_path), *shown, "--stacks", json.dumps(known)])

    assert code == 1
    said = capsys.readouterr().err
    assert "something is elsewhere in the picture of side:" in said
    assert "clock" not in said
