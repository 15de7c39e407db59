"""The wall of KWINTY as bits: where blocks may go next, lines of five, rows of four.

A spare column between the levels keeps lines of squares from running around the edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rules.blocks import BLOCKS_EACH, OPPONENT, Raster
from rules.stacks import Stacks

WINDOW = 9  # the wall is at most so wide and so high
FLOATING = 17  # columns of a strip on which the window is not fixed
FILE_I = 8  # the first block covers this column of such a strip


class KwintyPosition(NamedTuple):
    """The wall as bits (see `rules.blocks`), the heights of its columns, who is to move.

    `moved` is the colour whose five squares would have won: that of the last turn.
    """

    columns: int
    filled: int
    light: int
    dark: int
    flat: int
    upright: int
    tops: int
    player: str
    moved: str

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        return raster(self.columns).stacks(self.filled, self.light, self.dark)


@cache
def raster(columns: int) -> Raster:
    """How the squares of a wall on so many columns are numbered."""
    return Raster(columns, 1, columns + 1)


def places(position: KwintyPosition) -> Iterator[tuple[int, int, int, bool]]:
    """Each legal block: its bits, its first bit, what it adds to the heights, if it lies."""
    columns, filled, light, dark, flat, upright, tops, player, _ = position
    own = light if player == "L" else dark
    if own.bit_count() >= 2 * BLOCKS_EACH - 1:
        return
    stride = columns + 1
    flat &= own
    upright = (upright & own) << 2 * stride  # where an upright one would stand on another
    lying = flat << 2 | flat >> 2  # where a flat one would abut another
    row = filled & ((1 << columns) - 1)
    beside = row << 1 | row >> 1 if row else _first(columns)
    heights = tops.to_bytes(columns, "little")
    lowest, highest = window(position)
    height_right = -1
    for file in range(highest, lowest - 1, -1):
        height = heights[file]
        if height < WINDOW:
            start = 1 << height * stride + file
            if height == height_right and not lying & start and (height or beside >> file & 3):
                yield start * 3, start, 257 << 8 * file, True
            if height < WINDOW - 1 and not upright & start and (height or beside >> file & 1):
                yield start | start << stride, start, 2 << 8 * file, False
        height_right = height


def window(position: KwintyPosition) -> tuple[int, int]:
    """The first and the last column in which a block may be, as the wall stands now."""
    tops = position.tops
    if position.columns != FLOATING or not tops:
        return 0, position.columns - 1
    left = ((tops & -tops).bit_length() - 1) // 8
    right = (tops.bit_length() - 1) // 8
    reach = WINDOW - 1
    # a wall that was left wider by agreement may be built on, but not widened
    return min(left, max(0, right - reach)), max(right, min(FLOATING - 1, left + reach))


def _first(columns: int) -> int:
    """The columns of which the first block covers one: any, or file i where the wall floats."""
    return 1 << FILE_I if columns == FLOATING else (1 << columns) - 1


def following(position: KwintyPosition) -> str:
    """Who is to move after one more block of the player to move; who has none is skipped."""
    light, dark, player = position.light, position.dark, position.player
    own, other = (light, dark) if player == "L" else (dark, light)
    if other.bit_count() < 2 * BLOCKS_EACH - 1 or own.bit_count() + 2 >= 2 * BLOCKS_EACH - 1:
        return OPPONENT[player]
    return player


def can_place(position: KwintyPosition) -> bool:
    """Whether the player to move can put a block down."""
    return next(places(position), None) is not None


def can_pass(position: KwintyPosition) -> bool:
    """Whether the opponent can go on, of a player who cannot (KWI-R8)."""
    return can_place(position._replace(player=OPPONENT[position.player]))


def passed(position: KwintyPosition) -> KwintyPosition:
    """The position behind a pass."""
    return position._replace(player=OPPONENT[position.player], moved=position.player)


def has_won(position: KwintyPosition) -> bool:
    """Whether the last turn left five squares of its colour in a line (KWI-R6)."""
    own = position.light if position.moved == "L" else position.dark
    return five(own, position.columns + 1)


def is_over(position: KwintyPosition) -> bool:
    """Whether somebody has won or nobody can put a block down."""
    return has_won(position) or not (can_place(position) or can_pass(position))


def five(squares: int, stride: int) -> bool:
    """Whether five squares or more stand in a row, a column or a diagonal."""
    for step in (1, stride, stride + 1, stride - 1):
        pairs = squares & squares >> step
        if pairs & pairs >> 2 * step & squares >> 4 * step:
            return True
    return False


def fours(squares: int, stride: int) -> int:
    """How many runs of exactly four squares there are, in all directions (KWI-R7)."""
    found = 0
    for step in (1, stride, stride + 1, stride - 1):
        pairs = squares & squares >> step
        begins = pairs & pairs >> 2 * step & ~(squares << step) & ~(squares >> 4 * step)
        found += begins.bit_count()
    return found
