"""CUBE's task cards, and the five views in which a position fulfils them.

A card is written in rows from top to bottom, `YB/RY`, with `.` for a place that it does not name:
four coloured places within a window of four by four. A card may be turned but not mirrored, so its
four rotations are one card; its name is the flattest of them, the first in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from rules.cells import Cell, Unit
from rules.errors import NotationError
from rules.stacks import Stacks

SIDE = 4  # fields along each side, and the most cubes on one field
COLOURS = ("R", "Y", "G", "B")
VIEWS = ("above", "south", "east", "north", "west")
UNKNOWN_CARD = "?"

Rows = tuple[str, ...]
_LONGEST = 40  # a window of 4 x 4 takes 19 characters

# One bit a colour, so that a place of unknown colour can hold all four.
_BITS = {"R": 1, "Y": 2, "G": 4, "B": 8, "r": 1, "y": 2, "g": 4, "b": 8, "?": 15}


class Card(NamedTuple):
    """A task card, turned so that it has the same rows however it was written."""

    rows: Rows

    def __str__(self) -> str:
        return "/".join(self.rows)

    @staticmethod
    def parse(text: str) -> Card:
        """The card of a text such as `YB/RY`; raises NotationError."""
        rows = text[:_LONGEST].split("/")
        letters = "".join(rows).replace(".", "")
        even = len({len(row) for row in rows}) == 1 and len(text) <= _LONGEST
        if not letters or set(letters) - set(COLOURS) or not even:
            raise NotationError(
                f"{text[:30]!r} is no card; cards are rows of equal length from top to bottom, "
                f"with {' '.join(COLOURS)} and '.' for places not named, as in 'YB/RY'"
            )
        upright = _trimmed(rows)
        if len(letters) != SIDE or max(len(upright), len(upright[0])) > SIDE:
            raise NotationError(
                f"{text[:30]!r} is no card; a card names four places within a window of 4 x 4"
            )
        return Card(min(_turned(upright), key=lambda turned: (len(turned), turned)))


def _trimmed(rows: Sequence[str]) -> Rows:
    """The rows without empty ones at the edges."""
    for _ in range(4):
        while not rows[0].strip("."):
            rows = rows[1:]
        rows = _quarter_turn(rows)
    return tuple(rows)


def _quarter_turn(rows: Sequence[str]) -> Rows:
    return tuple("".join(column) for column in zip(*reversed(rows), strict=True))


def _turned(rows: Rows) -> tuple[Rows, ...]:
    """The rows in each of the four directions."""
    found = [rows]
    for _ in range(3):
        found.append(_quarter_turn(found[-1]))
    return tuple(found)


@lru_cache(maxsize=1024)
def _patterns(card: Card) -> tuple[int, ...]:
    """The card in every direction at every place of a view, four bits a place."""
    found: dict[int, None] = {}
    for rows in _turned(card.rows):
        named = [(x, y, c) for y, row in enumerate(rows) for x, c in enumerate(row) if c != "."]
        for right in range(SIDE - len(rows[0]) + 1):
            for down in range(SIDE - len(rows) + 1):
                places = (((y + down) * SIDE + x + right, letter) for x, y, letter in named)
                found[sum(_BITS[letter] << 4 * place for place, letter in places)] = None
    return tuple(found)


@cache
def _sight_lines(view: str) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each place of a view, row by row from the top: the units (column, level), nearest first.

    Columns are counted rank by rank from a1. The viewer at the south sees file a on his left.
    """
    ahead, back = range(SIDE), range(SIDE - 1, -1, -1)

    def lane(left: int) -> list[int]:
        """The columns behind the left-th place of a row, nearest first."""
        return {
            "south": [SIDE * rank + left for rank in ahead],
            "north": [SIDE * rank + 3 - left for rank in back],
            "east": [SIDE * left + file for file in back],
            "west": [SIDE * (3 - left) + file for file in ahead],
        }[view]

    if view == "above":
        columns = [SIDE * rank + file for rank in back for file in ahead]
        return tuple(tuple((column, level) for level in back) for column in columns)
    return tuple(tuple((c, level) for c in lane(left)) for level in back for left in ahead)


def look(columns: Sequence[str], view: str) -> tuple[tuple[int, int] | None, ...]:
    """The nearest unit (column, level) at each place of a view, row by row from the top."""
    return tuple(
        next(((c, z) for c, z in line if z < len(columns[c]) and columns[c][z] != "."), None)
        for line in _sight_lines(view)
    )


def view_rows(stacks: Stacks, view: str) -> Rows:
    """What a viewer sees, top row first, `.` where nothing stands."""
    columns = columns_of(stacks)
    seen = ["." if unit is None else columns[unit[0]][unit[1]] for unit in look(columns, view)]
    return tuple("".join(seen[SIDE * row : SIDE * row + SIDE]) for row in range(SIDE))


def columns_of(stacks: Stacks) -> tuple[str, ...]:
    """The sixteen columns, rank by rank from a1; what stands elsewhere is left out."""
    return tuple(stacks.get(Cell(i % SIDE, i // SIDE), "") for i in range(SIDE * SIDE))


@lru_cache(maxsize=256)
def _pictures(columns: tuple[str, ...]) -> tuple[int, ...]:
    """All five views, four bits a place."""
    return tuple(
        sum(
            _BITS.get(columns[unit[0]][unit[1]], 0) << 4 * place
            for place, unit in enumerate(look(columns, view))
            if unit is not None
        )
        for view in VIEWS
    )


def fulfils(columns: tuple[str, ...], card: Card) -> bool:
    """Whether one of the five views shows the card, turned as one likes."""
    patterns = _patterns(card)
    return any(
        picture & pattern == pattern for picture in _pictures(columns) for pattern in patterns
    )


class Sighting(NamedTuple):
    """Where a card shows: the view, and the four units that make it up."""

    view: str
    units: tuple[Unit, ...]


def sightings(stacks: Stacks, card: Card) -> Iterator[Sighting]:
    """Every way in which the position shows the card."""
    columns = columns_of(stacks)
    for view, picture in zip(VIEWS, _pictures(columns), strict=True):
        seen = look(columns, view)
        for pattern in _patterns(card):
            if picture & pattern == pattern:
                named = (unit for place, unit in enumerate(seen) if pattern >> 4 * place & 15)
                yield Sighting(view, tuple(_unit(*unit) for unit in named if unit))


def _unit(column: int, level: int) -> Unit:
    return Unit(Cell(column % SIDE, column // SIDE), level + 1)


def fulfilled_together(stacks: Stacks, cards: Iterable[Card]) -> tuple[Card, ...]:
    """Those of the cards that the position fulfils all at once: the puzzle for one player."""
    columns = columns_of(stacks)
    return tuple(card for card in cards if fulfils(columns, card))
