"""Flat boards by the commands: one picture given twice, and heights that pieces do not have."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration import colour_store
from calibration.colour_fit import ColourView
from calibration.cv import Image, write_image
from rules.registry import find_game
from rules.stacks import Stacks
from service.cli import main
from service.flat_pieces import lie_flat, not_empty
from tests.vision.test_flat_colours import LEARNED, NAMES, OTHERS, PITCH_PX, drawn, stacks_of
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

Said = pytest.CaptureFixture[str]
FAR = PITCH_PX * 5
CORNERS = f"c={PITCH_PX},{FAR},{FAR},{FAR},{FAR},{PITCH_PX},{PITCH_PX},{PITCH_PX}"
LIGHT = (1.0, 1.0, 1.0)


def table(folder: Path, unit_mm: str) -> Path:
    """A table for flat pieces, with a picture of each of two boards beside it."""
    colours = "".join(f'{letter} = "{name}"\n' for letter, name in NAMES.items())
    (folder / "table.toml").write_text(
        'game = "free"\n[board]\ncolumns = 4\nranks = 4\nlevels = 1\npitch_mm = 20.0\n'
        f'unit_mm = {unit_mm}\n[colours]\n{colours}[cameras.c]\nsource = "files"\nclock = 6\n',
        "utf-8",
    )
    for name, rows in (("learned", LEARNED), ("others", OTHERS)):
        write_image(folder / f"{name}.png", drawn(rows, LIGHT, {}))
    return folder


def wooden_board() -> Image:
    """Nothing but grain and the lines between the cells."""
    grain = np.random.default_rng(2).normal(0, 12, (6 * PITCH_PX, 6)).repeat(PITCH_PX, axis=1)
    board = np.clip(120 + grain, 0, 255).astype(np.uint8)[..., None].repeat(3, axis=2)
    board[PITCH_PX : FAR + 1 : PITCH_PX, PITCH_PX:FAR] = 40
    board[PITCH_PX:FAR, PITCH_PX : FAR + 1 : PITCH_PX] = 40
    return board


def pose(folder: Path, picture: str) -> None:
    """The board's place by its corners; nobody says that pieces lie on it."""
    assert (
        main(["calibrate", "pose", str(folder), f"c={folder / picture}", "--corners", CORNERS]) == 0
    )


def colours(folder: Path, rows: list[str]) -> None:
    """Colours from the first board."""
    told = json.dumps(stacks_of(rows).to_json())
    words = ["calibrate", "colours", str(folder), f"c={folder / 'learned.png'}", "--stacks", told]
    assert main(words) == 0


def read(folder: Path, said: Said) -> dict[str, str]:
    """What lies on the other board."""
    said.readouterr()
    assert main(["read", str(folder), f"c={folder / 'others.png'}"]) == 0
    return dict(json.loads(said.readouterr().out)["stacks"])


@pytest.mark.parametrize("picture", ["learned.png", "others.png"])
def test_full_boards_are_not_taken_for_empty_ones(
    tmp_path: Path, capsys: Said, picture: str
) -> None:
    """Whichever picture is said to show the empty table, pieces are read, and not the table."""
    folder = table(tmp_path, "[15.0, 15.0, 1.0]")
    pose(folder, picture)
    colours(folder, LEARNED)

    assert "no longer taken for the empty table" in capsys.readouterr().out
    assert read(folder, capsys) == stacks_of(OTHERS).to_json()
    pose(folder, "others.png")  # once more, where it lies now: still nothing is empty

    assert "pieces lie on the whole board" in capsys.readouterr().out
    assert read(folder, capsys) == stacks_of(OTHERS).to_json()


def test_an_empty_board_stays_empty_although_the_colours_fill_it(
    tmp_path: Path, capsys: Said
) -> None:
    """To colours alone, plain wood looks like a board full of white pieces."""
    folder = table(tmp_path, "[15.0, 15.0, 1.0]")
    write_image(folder / "empty.png", wooden_board())
    pose(folder, "empty.png")
    colours(folder, LEARNED)
    write_image(folder / "others.png", wooden_board())

    assert colour_store.load_empty(folder, "c") is not None
    assert read(folder, capsys) == {}


def test_an_empty_board_can_be_given_later(tmp_path: Path) -> None:
    """Colours were learned without it; whoever cleans the board can show it then."""
    folder = table(tmp_path, "[15.0, 15.0, 1.0]")
    pose(folder, "learned.png")
    colours(folder, LEARNED)
    assert colour_store.load_empty(folder, "c") is None
    write_image(folder / "empty.png", wooden_board())

    words = ["calibrate", "pose", str(folder), f"c={folder / 'empty.png'}", "--corners", CORNERS]
    assert main([*words, "--force"]) == 0

    assert colour_store.load_empty(folder, "c") is not None


def test_heights_of_flat_pieces_are_not_believed(tmp_path: Path, capsys: Said) -> None:
    """Pieces are said to be as high as wide, and lie flat; so they are read until told anew."""
    folder = table(tmp_path, "[20.0, 20.0, 20.0]")
    pose(folder, "learned.png")
    colours(folder, LEARNED)

    assert "the pieces look flat" in capsys.readouterr().out
    assert read(folder, capsys) == stacks_of(OTHERS).to_json()


def test_thinner_than_a_millimetre(tmp_path: Path, capsys: Said) -> None:
    """Stickers are."""
    folder = table(tmp_path, "[15.0, 15.0, 0.1]")
    pose(folder, "learned.png")
    colours(folder, LEARNED)

    assert read(folder, capsys) == stacks_of(OTHERS).to_json()


def test_one_level_of_cubes_before_an_empty_board() -> None:
    """Cubes are believed to be cubes, and a picture without pieces to show the empty table."""
    kind = Kind.of(find_game("kewbz"))
    scene = Scene.from_seed(4, kind, family="tune", rig="one", size=(640, 360))
    studio = Studio(scene)
    empty = studio.empty()
    told = Stacks.of({"b2": "B", "d4": "Y", "e5": "B", "g7": "Y", "b6": "Y", "g3": "B"})
    shown = studio.still(told, 3)
    board = scene.kind.board
    flat = replace(board, lattice=replace(board.lattice, levels=1))
    views = {n: ColourView(c, shown[n], empty[n]) for n, c in scene.cameras.items()}

    assert not lie_flat(views, flat, scene.kind.colours, told)
    assert not_empty(views, flat, scene.kind.colours, told) == []


def test_an_empty_board_twice_stays_the_empty_one(tmp_path: Path, capsys: Said) -> None:
    """Where no pieces are in either picture, none are learned, and the picture is kept."""
    folder = table(tmp_path, "[15.0, 15.0, 1.0]")
    write_image(folder / "learned.png", wooden_board())
    pose(folder, "learned.png")
    told = json.dumps(stacks_of(LEARNED).to_json())
    words = ["calibrate", "colours", str(folder), f"c={folder / 'learned.png'}", "--stacks", told]

    assert main(words) == 1
    assert "looks like the picture of the empty table" in capsys.readouterr().err
    assert colour_store.load_empty(folder, "c") is not None
