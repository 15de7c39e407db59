"""Scoring TURRIS: what the five views of the tower show, and the biggest groups in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple


class View(NamedTuple):
    """The squares of each colour that one view shows, `width` bits a row, the lowest row first.

    One bit of every row stays empty, so that groups do not run around the edge.
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
    mask = (1 << area) - 1
    width = side + 1
    shown = [[0, 0] for _ in range(4)]
    roof_light = roof_dark = 0
    shift = 0
    while filled:
        row, row_light, row_dark = filled & mask, light & mask, dark & mask
        for seen, (level_light, level_dark) in zip(
            shown, _faces(row, row_light, row_dark, side), strict=True
        ):
            seen[0] |= level_light << shift
            seen[1] |= level_dark << shift
        # what lies higher hides what lies lower
        roof_light = roof_light & ~row | row_light
        roof_dark = roof_dark & ~row | row_dark
        filled, light, dark = filled >> area, light >> area, dark >> area
        shift += width
    sides = (View(seen[0], seen[1], width) for seen in shown)
    return (*sides, View(_spread(roof_light, side), _spread(roof_dark, side), width))


@lru_cache(maxsize=8192)
def _faces(filled: int, light: int, dark: int, side: int) -> tuple[tuple[int, int], ...]:
    """The squares of one level that are seen from the south, north, west and east."""
    return tuple(_seen(lines, filled, light, dark) for lines in _sight_lines(side))


def _seen(
    lines: tuple[tuple[int, ...], ...], filled: int, light: int, dark: int
) -> tuple[int, int]:
    seen_light = seen_dark = 0
    for number, line in enumerate(lines):
        first = next((cell for cell in line if filled >> cell & 1), None)
        if first is not None:
            seen_light |= (light >> first & 1) << number
            seen_dark |= (dark >> first & 1) << number
    return seen_light, seen_dark


@cache
def _sight_lines(side: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each side of the tower, the cells of every line of sight, the nearest first."""
    files = tuple(tuple(range(f, side * side, side)) for f in range(side))
    ranks = tuple(tuple(range(r * side, r * side + side)) for r in range(side))
    return (
        files,
        tuple(line[::-1] for line in files),
        ranks,
        tuple(line[::-1] for line in ranks),
    )


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
