"""A table is a folder: reading its `table.toml`, and making a new one."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from calibration import store
from calibration.scene import CameraPlace, Scene
from rules.game import GameSpec, Setup
from rules.lattice import Lattice
from service.table import Player, Table
from service.table_reader import TableError, read_table_text
from service.table_writer import table_text

FILE_NAME = "table.toml"


def read_table(folder: Path) -> Table:
    """The table of a folder; raises TableError that tells of all mistakes in its file."""
    path = folder / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8-sig")
    except NotADirectoryError:
        raise TableError(f"{str(folder)!r} is a file; give its folder instead") from None
    except FileNotFoundError:
        raise TableError(
            f"{str(folder)!r} is no table: there is no {FILE_NAME} in it; "
            f"make one with: kiebitz table new {folder} --game kewbz"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TableError(f"{path}, line {line}: this is no text; save the file as UTF-8") from None
    except OSError as error:
        raise TableError(f"cannot read {str(path)!r}: {error.strerror}") from error
    return read_table_text(text, str(path))


def write_table(folder: Path, table: Table) -> Path:
    """Replace the table of a folder, wholly or not at all; the path of its file."""
    path = folder / FILE_NAME
    waiting = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        waiting.write_text(table_text(table), encoding="utf-8")
        waiting.replace(path)
    except OSError as error:
        raise TableError(f"cannot write {str(path)!r}: {error.strerror}") from error
    return path


def new_table(folder: Path, table: Table) -> Path:
    """Write a table where there is none yet; raises TableError where there is one."""
    try:
        there = (folder / FILE_NAME).exists()
    except OSError as error:  # such as a name that is too long
        raise TableError(f"cannot write there: {error.strerror}; give another folder") from error
    if folder.is_file():
        raise TableError(f"{str(folder)!r} is a file; give the name of a new folder")
    if there:
        raise TableError(f"{str(folder)!r} is a table already; edit {str(folder / FILE_NAME)!r}")
    return write_table(folder, table)


def default_table(spec: GameSpec, lattice: Lattice | None = None, first: str = "") -> Table:
    """A table with everything as the game's box has it; raises RulesError where that cannot be."""
    board = replace(spec.board, lattice=lattice) if lattice else spec.board
    setup = Setup(board=board, first=first)
    spec.set_up(setup)
    seats = spec.seats(Setup())
    # A wall is best seen from the front, a board from above.
    name = "front" if board.lattice.ranks == 1 else "overhead"
    camera = CameraPlace(name=name, source=0)
    return Table(
        game=spec.name,
        scene=Scene(board, dict(spec.colours), (), {camera.name: camera}),
        first=first or (seats[0] if seats else ""),
        players=tuple(Player(id_, _name(id_, spec.colours)) for id_ in seats),
        rules={option.key: option.default for option in spec.options},
    )


def _name(player: str, colours: Mapping[str, str]) -> str:
    """What a player is called until somebody says otherwise."""
    return colours[player].capitalize() if player in colours else f"Player {player}"


def like(other: Path, table: Table) -> tuple[Table, store.Calibration]:
    """The table with the cameras of another one, and what is known of their lenses."""
    cameras = read_table(other).scene.cameras
    lenses = store.read(other).lenses
    return replace(table, scene=replace(table.scene, cameras=cameras)), store.Calibration(
        lenses=lenses
    )
