"""The sample tables: which game stands in which room, and what their folders hold."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rules import pieces as shapes
from rules.lattice import Board, Lattice
from rules.pieces import KitPiece, Placed
from vision.virtual.cards import MARKER_MM, marker_corners
from vision.virtual.placing import random_pieces
from vision.virtual.scene import SIZE, Family, Kind, Scene

HERE = Path(__file__).parent
_SHAPES = {
    "cube": shapes.CUBE,
    "block": shapes.BLOCK,
    "cuboid": shapes.CUBOID,
    "twin": shapes.TWIN,
}


@dataclass(frozen=True, slots=True)
class Table:
    """One sample table."""

    name: str
    family: Family
    game: str
    scene: Scene
    counts: tuple[int, ...]
    one_colour: bool
    flat: bool  # pieces are not put on others
    excerpt: tuple[str, ...]  # the cameras of its recorded excerpt

    @property
    def folder(self) -> Path:
        """Where its pictures lie."""
        return HERE.parent / self.family / self.name

    def position(self, number: int) -> tuple[Placed, ...]:
        """The pieces of one of its single positions."""
        kind = self.scene.kind
        pieces = random_pieces(
            kind.board.lattice,
            kind.kit,
            self.counts[number],
            np.random.default_rng([self.scene.seed, 900, number]),
            one_colour=self.one_colour,
        )
        return tuple(p for p in pieces if p.level == 1) if self.flat else pieces


def tables(family: Family) -> tuple[Table, ...]:
    """All sample tables of a family."""
    games = tomllib.loads((HERE / "games.toml").read_text("utf-8"))
    listed = tomllib.loads((HERE / f"{family}.toml").read_text("utf-8"))["tables"]
    return tuple(_table(family, values, games[values["game"]]) for values in listed)


def _table(family: Family, values: Mapping[str, Any], game: Mapping[str, Any]) -> Table:
    board = _board({**game["board"], **values.get("board", {})})
    kit = tuple(KitPiece(_SHAPES[name], letter, count) for name, letter, count in game["kit"])
    kind = Kind(board, game["colours"], kit, game.get("corners", {}))
    width, height = values.get("size", SIZE)
    scene = Scene.from_seed(
        values["seed"],
        kind,
        family=family,
        rig=values["rig"],
        markers=values["markers"],
        size=(width, height),
        chosen=values["chosen"],
    )
    return Table(
        values["name"],
        family,
        values["game"],
        scene,
        tuple(game["counts"]),
        game.get("one_colour", False),
        game.get("flat", False),
        tuple(values.get("excerpt", ())),
    )


def _board(values: Mapping[str, Any]) -> Board:
    unit = values["unit_mm"]
    lattice = Lattice(
        values["columns"],
        values["ranks"],
        values["levels"],
        values["pitch_mm"],
        (unit[0], unit[1], unit[2]),
    )
    margin = values["margin_mm"]
    return Board(
        lattice,
        (margin,) * 4,
        values.get("frame_height_mm"),
        values.get("frame_width_mm"),
        values.get("recess_mm"),
    )


def table_toml(table: Table) -> str:
    """The table file as a person would write it."""
    scene = table.scene
    board, lattice = scene.kind.board, scene.kind.board.lattice
    margins = set(board.margin_mm)
    lines = [
        f'game = "{table.game}"',
        "",
        "[board]",
        f"columns = {lattice.columns}",
        f"ranks = {lattice.ranks}",
        f"pitch_mm = {lattice.pitch_mm}",
        f"unit_mm = {list(lattice.unit_mm)}",
        f"margin_mm = {margins.pop() if len(margins) == 1 else list(board.margin_mm)}",
    ]
    sizes = ("frame_height_mm", "frame_width_mm", "recess_mm")
    lines += [f"{n} = {getattr(board, n)}" for n in sizes if getattr(board, n) is not None]
    lines += ["", "[colours]"]
    lines += [f'{letter} = "{name}"' for letter, name in scene.kind.colours.items()]
    if scene.markers:
        for number, x, y in marker_corners(board):
            lines += ["", "[[markers]]", f"id = {number}", f"corner_mm = [{x}, {y}]"]
            lines += [f"size_mm = {MARKER_MM}", f"z_mm = {0.1 - scene.look.thickness_mm}"]
    for name, camera in scene.cameras.items():
        lines += ["", f"[cameras.{name}]", 'source = "files"', f"clock = {clock(camera)}"]
    return "\n".join(lines) + "\n"


def clock(camera: Any) -> float:
    """The hour whose side of the board is at the lower edge of a camera's picture."""
    down = camera.rotation[1][:2]
    return round(float(np.degrees(np.arctan2(down[0], down[1])) / 30) % 12, 1)
