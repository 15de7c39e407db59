"""Told stacks against pictures: pieces that look like the table, and shadows with a hue."""

import json
from pathlib import Path

import numpy as np
import pytest

from calibration.camera import Camera, Floats, Lens
from calibration.colour_fit import ColourView
from calibration.cv import Image, read_image
from calibration.told_stacks import ToldCheck, check_told, new_elsewhere
from rules.cells import Cell
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from service.bench.traced import FILE, true_camera
from service.table_folder import read_table

SAMPLES = Path(__file__).resolve().parents[2] / "sample_images"
BOARD = Board(Lattice(5, 5, 1, 20.0, (16.0, 16.0, 1.0)))
WOOD, ORANGE, BLUE = (0.12, 0.22, 0.30), (0.02, 0.16, 0.70), (0.45, 0.10, 0.02)
SKY = (0.34, 0.25, 0.20)  # what a shadow leaves of blue, green and red
PX = 2.0  # of a millimetre


def above() -> Camera:
    """A camera straight above the board, with a hand's breadth of table around it."""
    away = 400.0
    lens = Lens.simple((360, 360), PX * away)
    return Camera.of(lens, np.diag([1.0, -1.0, -1.0]), np.array([-50.0, 50.0, away]))


def shaded(light: Floats) -> Image:
    """The picture of linear light, with a little noise."""
    noise = np.random.default_rng(3).normal(0, 1.0, light.shape)
    return np.asarray(255 * np.clip(light, 0, 1) ** (1 / 2.2) + noise).clip(0, 255).astype(np.uint8)


def part(cell: str, left: float = 0.1, right: float = 0.9) -> tuple[slice, slice]:
    """The pixels of a piece on a cell, or of a part of it from left to right."""
    file, rank = Cell.parse(cell).file, Cell.parse(cell).rank
    x, y = 20 * (file + left) - 50, 20 * (rank + 0.1) - 50
    rows = slice(round(179.5 - PX * (y + 16)), round(179.5 - PX * y))
    return rows, slice(round(179.5 + PX * x), round(179.5 + PX * (x + 20 * (right - left))))


def checked(light: Floats, empty: Floats, told: dict[str, str]) -> ToldCheck:
    """What is said of told stacks, between two pictures."""
    views = [ColourView(above(), shaded(light), shaded(empty))]
    return check_told(views, BOARD, Stacks.of(told))


def test_a_piece_on_a_field_of_its_own_colour_is_believed() -> None:
    """Where the board was as orange as the piece nothing changed, and nothing is missing."""
    empty = np.full((360, 360, 3), WOOD)
    empty[part("b2", 0.4)] = ORANGE
    light = empty.copy()
    light[part("b2")] = light[part("d4")] = ORANGE

    assert checked(light, empty, {"b2": "O", "d4": "O"}).fits
    missing = checked(light, empty, {"b2": "O", "c4": "O"})
    assert Cell.parse("c4") in missing.absent


def test_a_shadow_that_the_sky_fills_is_no_piece() -> None:
    """Bluish shadows beside the pieces are nothing that stands there; a piece in them is."""
    empty = np.full((360, 360, 3), WOOD)
    light = empty.copy()
    light[part("b2")] = light[part("d4")] = ORANGE
    for cell in ("c2", "e4"):
        light[part(cell, 0.0, 1.0)] *= SKY

    assert checked(light, empty, {"b2": "O", "d4": "O"}).fits
    light[part("a5")] = BLUE
    assert checked(light, empty, {"b2": "O", "d4": "O"}).strange == (Cell.parse("a5"),)


def test_pieces_beside_the_place_of_the_board_are_told() -> None:
    """Where the cloth was taken for the board they stand elsewhere; noise and shadows do not."""
    empty = np.full((360, 360, 3), WOOD)
    light = empty.copy()
    told = Stacks.of({"b2": "O", "d4": "O"})
    light[20:60, 20:120] *= 0.4

    assert not new_elsewhere(ColourView(above(), shaded(light), shaded(empty)), BOARD, told)
    light[310:342, 20:52] = ORANGE
    assert new_elsewhere(ColourView(above(), shaded(light), shaded(empty)), BOARD, told)


@pytest.mark.parametrize("table", ["tune/turris-three", "check/turris-corners"])
def test_dark_wood_on_a_grey_felt_is_no_shadow(table: str) -> None:
    """Much of it could be one; but the felt is seen nowhere where it stands."""
    folder = SAMPLES / table
    truth = json.loads((folder / FILE).read_text(encoding="utf-8"))
    board = read_table(folder).scene.board
    views = [
        ColourView(
            true_camera(camera),
            read_image(folder / f"colours.{name}.jpg"),
            read_image(folder / f"empty.{name}.jpg"),
        )
        for name, camera in truth["cameras"].items()
    ]

    assert check_told(views, board, Stacks.of(truth["colours"])).fits
    higher = truth["colours"] | {"b3": "DDDD"}
    assert Cell.parse("b3") in check_told(views, board, Stacks.of(higher)).partly
