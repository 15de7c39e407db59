"""A position of CUBE, and what can be read off its columns: the bag, the locks, room for a twin."""

from __future__ import annotations

from typing import NamedTuple

from rules.cube_acts import CELLS, NEIGHBOURS, Columns
from rules.cube_cards import COLOURS, SIDE
from rules.cube_table import CardTable
from rules.stacks import Stacks

CUBES_A_COLOUR = 8
CUBES = CUBES_A_COLOUR * len(COLOURS)
Place = tuple[int, int]  # a column, and a level counted from 0


class CubePosition(NamedTuple):
    """What stands where and whose turn it is; `player` claims cards while `claiming`."""

    player: str
    columns: Columns  # rank by rank from a1, bottom to top; halves of twins are small letters
    ply: int  # turns taken so far
    taboo: int  # the column whose top cube nobody may move now, or -1
    used: str  # the players whose twins stand
    start: tuple[Place, ...]  # the start cubes, as long as they may not be moved
    cards: CardTable
    mover: str  # who took the last turn
    claiming: bool = False

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        columns = zip(CELLS, self.columns, strict=True)
        return Stacks((cell, column.upper()) for cell, column in columns)


class Bag(NamedTuple):
    """What the bag still holds: the colours, and how many cubes in all."""

    letters: tuple[str, ...]
    cubes: int


def bag_of(columns: Columns) -> Bag:
    """What is in the bag when this stands on the board; cubes of unknown colour came from it."""
    text = "".join(columns)
    standing = [text.count(letter) for letter in COLOURS]
    count = CUBES - sum(standing) - text.count("?")
    if count <= 0:
        return Bag((), 0)
    pairs = zip(COLOURS, standing, strict=True)
    return Bag(tuple(letter for letter, n in pairs if n < CUBES_A_COLOUR), count)


def in_closed_row(columns: Columns, column: int, level: int) -> bool:
    """Whether the unit is one of four in a line on its level."""
    rank, file = divmod(column, SIDE)
    along = columns[SIDE * rank : SIDE * rank + SIDE]
    return min(map(len, along)) > level or min(map(len, columns[file::SIDE])) > level


def movable(
    columns: Columns, taboo: int, start: tuple[Place, ...], *, closed_rows: bool
) -> list[int]:
    """The columns whose top cube may be moved."""
    low = min(map(len, columns))
    found = []
    for i, column in enumerate(columns):
        high = len(column)
        if high > low and i != taboo and not column[-1].islower():
            if start and (i, high - 1) in start:
                continue
            if closed_rows and in_closed_row(columns, i, high - 1):
                continue
            found.append(i)
    return found


def twin_places(columns: Columns) -> list[tuple[int, int]]:
    """Where a twin can stand: two neighbouring columns, or twice the same one for an upright."""
    upright = [(i, i) for i, column in enumerate(columns) if len(column) <= SIDE - 2]
    flat = [(i, j) for i, j in NEIGHBOURS if len(columns[i]) == len(columns[j]) < SIDE]
    return upright + flat
