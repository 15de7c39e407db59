"""Which rules of CUBE an action on the board breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rules.cells import Cell
from rules.cube_acts import Act, Columns, column_of
from rules.cube_cards import SIDE
from rules.cube_house import House
from rules.cube_position import Bag, CubePosition, in_closed_row
from rules.game import Break


def act_breaks(
    house: House, position: CubePosition, player: str, act: Act, bag: Bag
) -> Iterator[Break]:
    """Every rule that one action breaks."""
    named = (act.source, *act.cells) if act.source else act.cells
    outside = [cell for cell in named if column_of(cell) is None]
    if outside:
        # a piece put down on file z sticks out to where cells have no names
        yield Break("cube.off-board", tuple(dict.fromkeys(c for c in outside if c.file < 26)))
    if act.kind == "other":
        yield Break("cube.malformed")
    elif act.kind == "nothing":
        yield Break("cube.must-play")
    elif act.kind == "fixed":
        yield from _taken_twin_breaks(position.columns, act)
    elif act.kind == "draw":
        yield from _draw_breaks(position.columns, act, bag)
    elif act.kind == "twin":
        yield from _twin_breaks(house, position, player, act)
    else:
        yield from _source_breaks(house, position, act)
        if act.cells == (act.source,):
            yield Break("cube.same-place", act.cells)
        else:
            yield from _full(position.columns, act.cells, 1)
    if act.kind in ("move", "lift", "twin") and house.draws_only(position):
        yield Break("cube.draw-only")


def _draw_breaks(columns: Columns, act: Act, bag: Bag) -> Iterator[Break]:
    """The rules about a cube from the bag."""
    yield from _full(columns, act.cells, 1)
    if act.letter not in bag.letters and not (act.letter == "?" and bag.cubes):
        yield Break("cube.colour-not-in-bag", act.cells)


def _source_breaks(house: House, position: CubePosition, act: Act) -> Iterator[Break]:
    """The rules about the cube that is taken from its place (CUB-R6)."""
    source, level = cast("Cell", act.source), act.level
    place, here = column_of(source), (source,)
    if place is None:
        return
    if level < 0:
        yield Break("cube.no-cube-there", here)
        return
    columns = position.columns
    column = columns[place]
    if column[level].islower():
        yield Break("cube.twin-fixed", here)
    if level < len(column) - 1:
        yield Break("cube.covered", here)
    elif place == position.taboo:
        yield Break("cube.taboo", here)
    if (place, level) in position.start:
        yield Break("cube.start-cube", here)
    if min(map(len, columns)) > level:
        yield Break("cube.closed-level", here, (("level", level + 1),))
    if house.closed_rows and in_closed_row(columns, place, level):
        yield Break("cube.closed-row", here)


def _twin_breaks(house: House, position: CubePosition, player: str, act: Act) -> Iterator[Break]:
    """The rules about playing a twin (CUB-R4, CUB-R10)."""
    columns = position.columns
    if player in position.used or act.letter not in (house.twins[player], "?"):
        yield Break("cube.twin-used", act.cells)
    if not house.may_use_twin(position, player):
        yield Break("cube.twin-too-early", act.cells)
    if len(act.cells) == 1:
        yield from _full(columns, act.cells, 2)
        return
    one, other = act.cells
    if not one.touches(other):
        yield Break("cube.twin-not-adjacent", tuple(dict.fromkeys(act.cells)))
    here, there = column_of(one), column_of(other)
    if here is not None and there is not None and len(columns[here]) != len(columns[there]):
        yield Break("cube.twin-uneven", act.cells)
    yield from _full(columns, act.cells, 1)


def _full(columns: Columns, cells: tuple[Cell, ...], height: int) -> Iterator[Break]:
    """The columns that cannot take so much more (CUB-R4, CUB-R5)."""
    places = {cell: column_of(cell) for cell in cells}
    full = [c for c, i in places.items() if i is not None and len(columns[i]) + height > SIDE]
    if full:
        yield Break("cube.column-full", tuple(full))


def _taken_twin_breaks(columns: Columns, act: Act) -> Iterator[Break]:
    """What is wrong with taking a two-unit piece away."""
    tops = [columns[place][-1:] for cell in act.cells if (place := column_of(cell)) is not None]
    if any(top.islower() for top in tops):
        yield Break("cube.twin-fixed", act.cells)
    elif not all(tops):
        yield Break("cube.no-cube-there", act.cells)
    elif tops:
        yield Break("cube.malformed")
