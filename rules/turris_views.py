"""Scoring TURRIS: what the five views of the tower show, and the biggest groups in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class View(NamedTuple):
    """The squares of each colour that one view shows, `width` bits a row, the lowest row first.

    At least one bit of every row stays empty, so that groups do not run around the edge.
    """

    light: int
    dark: int
    width: int


def views(filled: int, light: int, dark: int, side: int) -> tuple[View, ...]:
    """South, north, west, east and the roof; the first block in each line of sight decides.

    Squares stand in the order of the board's files or ranks in every view: what is mirrored has
    the same groups.
    """
    area = side * side
    tower = filled, light, dark
    levels = (filled.bit_length() + area - 1) // area
    first_cells = sum(1 << area * level for level in range(levels))
    first_ranks = first_cells * ((1 << side) - 1)

    def lying(units: int, file: int) -> int:
        """The units of a file in the bits of those of a rank."""
        return sum((units >> side * r + file & first_cells) << r for r in range(side))

    across = [[units >> side * r & first_ranks for units in tower] for r in range(side)]
    along = [[lying(units, file) for units in tower] for file in range(side)]
    sides = [View(*_seen(p), area) for p in (across, across[::-1], along, along[::-1])]
    storeys = [[units >> area * z & (1 << area) - 1 for units in tower] for z in range(levels)]
    above, above_dark = _seen(storeys[::-1])
    return (*sides, View(_spread(above, side), _spread(above_dark, side), side + 1))


def _seen(planes: Iterable[Iterable[int]]) -> tuple[int, int]:
    """Light and dark squares that are seen of planes (filled, light, dark), the nearest first."""
    hidden = seen_light = seen_dark = 0
    for filled, light, dark in planes:
        seen_light |= light & ~hidden
        seen_dark |= dark & ~hidden
        hidden |= filled
    return seen_light, seen_dark


def _spread(cells: int, side: int) -> int:
    """A level of cells with one empty bit after every rank."""
    rank = (1 << side) - 1
    return sum((cells >> side * r & rank) << (side + 1) * r for r in range(side))


def totals(filled: int, light: int, dark: int, side: int) -> tuple[int, int]:
    """The sum of the biggest groups in the five views, of light and of dark (TUR-R13)."""
    seen = views(filled, light, dark, side)
    return (
        sum(biggest(view.light, view.width) for view in seen),
        sum(biggest(view.dark, view.width) for view in seen),
    )


def biggest(squares: int, width: int) -> int:
    """The size of the biggest group of squares that adjoin."""
    return max((group.bit_count() for group in groups(squares, width)), default=0)


def groups(squares: int, width: int) -> Iterator[int]:
    """The groups of adjoining squares."""
    while squares:
        group = squares & -squares
        while True:
            grown = squares & (group | group << 1 | group >> 1 | group << width | group >> width)
            if grown == group:
                break
            group = grown
        yield group
        squares ^= group
