"""`kiebitz table`: describes a table in a folder of its own."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from calibration import store
from rules.errors import SetupError
from rules.lattice import Lattice
from rules.registry import GAMES, find_game
from service.commands.table_measure import measure
from service.table import is_open
from service.table_folder import default_table, like, new_table

MOST_COLUMNS = 26  # `a` to `z`

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def table() -> None:
    """Describe your table: game, board, colours, cameras."""


app.command()(measure)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder for this table.")],
    game: Annotated[str, typer.Option(help=f"One of {', '.join(GAMES)}.", metavar="GAME")],
    other: Annotated[
        Path | None,
        typer.Option("--like", metavar="DIR", help="Another table, whose cameras are used here."),
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="N", help="Cells of the board, such as 9, or 17x1.")
    ] = "",
    levels: Annotated[
        int | None,
        typer.Option(metavar="N", help="How high pieces may stand (only for free).", min=1, max=99),
    ] = None,
    pitch: Annotated[
        float | None,
        typer.Option(metavar="MM", help="From the middle of a cell to the next.", min=1, max=999),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="MM", help="Edge of a cube, or width x depth x height: 20x20x10.")
    ] = "",
    first: Annotated[str, typer.Option(metavar="ID", help="Who begins.")] = "",
) -> None:
    """Write a table with the game's usual board, colours and rules, ready to be edited."""
    spec = find_game(game.lower())
    usual = spec.board.lattice
    columns, ranks = _size(size, usual)
    edges = _unit(unit) if unit else usual.unit_mm
    if levels not in (None, usual.levels) and not is_open(spec):
        raise SetupError(f"{spec.title} always has {usual.levels} levels; leave --levels out")
    _check_edges(edges, pitch or usual.pitch_mm)
    lattice = Lattice(columns, ranks, levels or usual.levels, pitch or usual.pitch_mm, edges)
    made = default_table(spec, lattice, first)
    if other is None:
        path = new_table(folder, made)
    else:
        made, lenses = like(other, made)
        path = new_table(folder, made)
        if lenses.lenses:
            store.write(folder, lenses)
    print(path)
    sys.stderr.write("edit it to say what is different at your table\n")


def _size(text: str, usual: Lattice) -> tuple[int, int]:
    """Columns and ranks."""
    if not text:
        return usual.columns, usual.ranks
    match = re.fullmatch(r"(\d{1,2})(?:x(\d{1,2}))?", text)
    if match is None:
        raise typer.BadParameter(
            "expected a number of cells such as 9, or 17x1", param_hint="--size"
        )
    columns = int(match[1])
    ranks = int(match[2] or (1 if usual.ranks == 1 else columns))
    if not (1 <= columns <= MOST_COLUMNS and ranks):
        raise typer.BadParameter(
            f"a board has 1 to {MOST_COLUMNS} columns and at least 1 rank, not {columns} x {ranks}",
            param_hint="--size",
        )
    return columns, ranks


def _unit(text: str) -> tuple[float, float, float]:
    """Width, depth and height of one unit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:x(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?))?", text)
    if match is None:
        raise typer.BadParameter(
            "expected millimetres such as 20, or 20x20x10", param_hint="--unit"
        )
    width = float(match[1])
    return width, float(match[2] or width), float(match[3] or width)


def _check_edges(edges: tuple[float, float, float], pitch: float) -> None:
    """Say what reading the table would say, before there is one."""
    if not all(1 <= edge < 1000 for edge in edges[:2]) or not 0 < edges[2] < 1000:
        raise SetupError("--unit must be from 1 to 999 mm; only its height may be less")
    if max(edges[:2]) > pitch:
        raise SetupError(
            f"pieces of {max(edges[:2]):g} mm do not fit side by side into a pitch of "
            f"{pitch:g} mm; give both --pitch and --unit"
        )
