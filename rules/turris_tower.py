"""The tower of TURRIS as bits: where blocks may go next and which may come away.

Units are numbered cell by cell, level above level, on a raster of three cells a side, or of five
where the footprint is not fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from rules.blocks import (
    ACROSS,
    ALONG,
    BLOCKS_EACH,
    OPPONENT,
    UPRIGHT,
    Raster,
    Standing,
    block_change,
)
from rules.cells import Cell
from rules.pieces import Placed
from rules.stacks import Stacks
from rules.turn import Change

FLOATING = 5  # cells a side of the raster on which the footprint is not fixed
SPAN = 3  # the footprint is at most so wide and so deep
FULL = SPAN * SPAN  # squares of a finished level
UNFINISHED = 3  # the most unfinished levels at a time
_EXTENTS = (ALONG, ACROSS, UPRIGHT)
# every unit of the first cell, by squares of a level
_COLUMN = {area: sum(1 << area * level for level in range(200)) for area in (9, 25)}


class TurrisPosition(NamedTuple):
    """The tower as bits (see `rules.blocks`), the heights of its cells, who is to move.

    `last_light` and `last_dark` are the units of the block that each player put down last;
    `banned` the places that the player to move may not fill again in this turn.
    """

    side: int
    filled: int
    light: int
    dark: int
    along: int
    across: int
    upright: int
    tops: int
    player: str
    last_light: int = 0
    last_dark: int = 0
    banned: int = 0

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        return raster(self.side).stacks(self.filled, self.light, self.dark)

    @property
    def standing(self) -> Standing:
        """The units and where their blocks begin."""
        return Standing(*self[1:7])

    def left(self, colour: str) -> int:
        """The blocks of a colour that are not on the tower."""
        own = self.light if colour == "L" else self.dark
        return max(0, BLOCKS_EACH - (own.bit_count() + 1) // 2)


class Spot(NamedTuple):
    """A block that may be put down or taken away: its bits and the first of them.

    `lie` is 0 along the files, 1 along the ranks, 2 upright; `rise` how much higher its cells
    become; `middle` whether it touches the middle of the tower.
    """

    bits: int
    start: int
    lie: int
    rise: int
    middle: bool


class Frame(NamedTuple):
    """Where blocks may be under a footprint, and where its middle and its edge are.

    Flat ones: two cells, their bits on the lowest level, those of their neighbours, along or
    across, how much higher they become. Upright ones: the cell, its bits on two levels, those of
    their neighbours. `middle` is -1 while there is none.
    """

    flats: tuple[tuple[int, int, int, int, int, int], ...]
    uprights: tuple[tuple[int, int, int], ...]
    middle: int
    edge: int


@cache
def raster(side: int) -> Raster:
    """How the units of a tower are numbered."""
    return Raster(side, side, side * side)


@cache
def frame(side: int, footprint: int) -> Frame:
    """What may be built on a footprint, a bit a cell; on three cells a side it is always all."""
    cells = [Cell(f, r) for r in range(side) for f in range(side)]
    number = {cell: i for i, cell in enumerate(cells)}
    used = cells if side == SPAN else [cell for cell in cells if footprint >> number[cell] & 1]
    centre = Cell(side // 2, side // 2)

    def fits(*more: Cell) -> bool:
        if not used:
            return centre in more
        return not widens(used, more)

    def beside(*block: Cell) -> int:
        near = (c for c in cells if c not in block and any(c.touches(b) for b in block))
        return sum(1 << number[c] for c in near)

    area = side * side
    flats = tuple(
        (
            number[a],
            number[b],
            1 << number[a] | 1 << number[b],
            beside(a, b),
            lie,
            1 << 8 * number[a] | 1 << 8 * number[b],
        )
        for a in cells
        for lie, b in enumerate((Cell(a.file + 1, a.rank), Cell(a.file, a.rank + 1)))
        if b in number and fits(a, b)
    )
    uprights = tuple(
        (number[a], (1 << area | 1) << number[a], (1 << area | 1) * beside(a))
        for a in cells
        if fits(a)
    )
    files = [cell.file for cell in used]
    ranks = [cell.rank for cell in used]
    if not used or max(files) - min(files) != SPAN - 1 or max(ranks) - min(ranks) != SPAN - 1:
        return Frame(flats, uprights, -1, 0)
    middle = number[Cell(min(files) + 1, min(ranks) + 1)]
    square = (
        number[Cell(f, r)]
        for f in range(min(files), max(files) + 1)
        for r in range(min(ranks), max(ranks) + 1)
    )
    edge = sum(1 << cell for cell in square if cell != middle)
    return Frame(flats, uprights, middle, edge)


def widens(used: list[Cell], more: tuple[Cell, ...]) -> bool:
    """Whether more cells make a footprint wider or deeper than three, and than it was."""
    for axis in (0, 1):
        before = [cell[axis] for cell in used]
        after = before + [cell[axis] for cell in more]
        if max(after) - min(after) >= max(SPAN, max(before) - min(before) + 1):
            return True
    return False


def footprint(position: TurrisPosition) -> int:
    """The cells on which something stands; only asked where it is not fixed."""
    if position.side == SPAN:
        return 0
    area = position.side * position.side
    rows, seen = position.filled, 0
    while rows:
        seen |= rows & ((1 << area) - 1)
        rows >>= area
    return seen


def frame_of(position: TurrisPosition) -> Frame:
    """The frame of what stands now."""
    return frame(position.side, footprint(position))


def level_counts(filled: int, side: int) -> list[int]:
    """How many squares of each level are filled."""
    area = side * side
    mask = (1 << area) - 1
    counts = []
    while filled:
        counts.append((filled & mask).bit_count())
        filled >>= area
    return counts


def unfinished(filled: int, side: int) -> int:
    """How many levels have been begun and not finished (TUR-R7)."""
    return sum(0 < count < FULL for count in level_counts(filled, side))


class _Levels(NamedTuple):
    """What the levels of a tower allow, from `lowest` up; below it all are finished.

    `flat` and `upright` tell whether such a block may begin on a level without opening one too
    many, `edges` whether something stands at its edge.
    """

    lowest: int
    flat: list[bool]
    upright: list[bool]
    edges: list[int]


_BEGUN = (0, *(1,) * 8, *(0,) * 17)  # whether a level of so many squares is unfinished
# by how much one or two squares more, or less, on a level of so many change the number of
# unfinished levels
_ONE_MORE = (1, *(0,) * 7, -1, *(0,) * 17)
_TWO_MORE = (1, *(0,) * 6, -1, -1, *(0,) * 17)
_ONE_LESS = (0, -1, *(0,) * 7, 1, *(0,) * 16)
_TWO_LESS = (0, 0, -1, *(0,) * 6, 1, 1, *(0,) * 15)


def _levels(position: TurrisPosition, heights: bytes, edge: int) -> _Levels:
    filled, area = position.filled, position.side * position.side
    # without gaps, the lowest cell has all finished levels under it
    lowest = min(heights) if sum(heights) == filled.bit_count() else 0
    mask = (1 << area) - 1
    rows = filled >> lowest * area
    room = UNFINISHED
    one, two, edges = [], [], []
    while rows:
        count = (rows & mask).bit_count()
        room -= _BEGUN[count]
        one.append(_ONE_MORE[count])
        two.append(_TWO_MORE[count])
        edges.append(rows & edge)
        rows >>= area
    one += (1, 1)
    two.append(1)
    edges += (0, 0)
    # a tower left with more by agreement may be built on, but no further level begun (TUR-R7)
    room = max(room, 0)
    flat = [more <= room for more in two]
    upright = [low + high <= room for low, high in pairwise(one)]
    return _Levels(lowest, flat, upright, edges)


def spots(position: TurrisPosition, banned: int, *, strict: bool) -> list[Spot]:
    """Every block that the player to move may put down; `strict` as `middleStrict = both`."""
    own = position.light if position.player == "L" else position.dark
    if own.bit_count() >= 2 * BLOCKS_EACH - 1:
        return []
    around = frame_of(position)
    heights = position.tops.to_bytes(position.side * position.side, "little")
    levels = _levels(position, heights, around.edge)
    found = _upright_spots(position, around, levels, heights, strict=strict)
    found += _flat_spots(position, around, levels, heights)
    return [spot for spot in found if not spot[0] & banned] if banned else found


def _upright_spots(
    position: TurrisPosition, around: Frame, levels: _Levels, heights: bytes, *, strict: bool
) -> list[Spot]:
    filled, area = position.filled, position.side * position.side
    lowest, _, allowed, edges = levels
    middle, new, found = around.middle, tuple.__new__, []
    for cell, base, beside in around.uprights:
        height = heights[cell]
        level = height - lowest
        shift = height * area
        if not allowed[level] or (filled and not filled & beside << shift):
            continue
        inner = cell == middle
        if inner and not (edges[level] and (edges[level + 1] or not strict)):
            continue
        found.append(new(Spot, (base << shift, 1 << shift + cell, 2, 2 << 8 * cell, inner)))
    return found


def _flat_spots(
    position: TurrisPosition, around: Frame, levels: _Levels, heights: bytes
) -> list[Spot]:
    filled, area = position.filled, position.side * position.side
    starts = position.along, position.across
    lowest, allowed, _, edges = levels
    middle, new, found = around.middle, tuple.__new__, []
    for cell, other, base, beside, lie, rise in around.flats:
        height = heights[cell]
        if height != heights[other] or not allowed[height - lowest]:
            continue
        shift = height * area
        if height:
            # both halves on one and the same flat block is rule d
            if starts[lie] >> shift - area + cell & 1:
                continue
        elif filled and not filled & beside:
            continue
        inner = middle in (cell, other)
        if inner and not edges[height - lowest]:
            continue
        found.append(new(Spot, (base << shift, 1 << shift + cell, lie, rise, inner)))
    return found


def removable(position: TurrisPosition) -> Iterator[Spot]:
    """Every block that a bonus may take away from the opponent of the player to move."""
    side, filled, light, dark, along, across, upright, _, player = position[:9]
    other, last = (dark, position.last_dark) if player == "L" else (light, position.last_light)
    area = side * side
    open_above = filled & ~(filled >> area)
    counts = level_counts(filled, side)
    room = max(0, UNFINISHED - sum(0 < count < FULL for count in counts))
    for lie, starts, step in ((0, along, 1), (1, across, side), (2, upright, area)):
        free = open_above >> area if lie == 2 else open_above & open_above >> step
        # a block has the colour of whichever half is known
        found = starts & (other | other >> step) & free
        while found:
            start = found & -found
            found ^= start
            level = (start.bit_length() - 1) // area
            if lie == 2:
                opened = _ONE_LESS[counts[level]] + _ONE_LESS[counts[level + 1]]
            else:
                opened = _TWO_LESS[counts[level]]
            bits = start | start << step
            if opened <= room and bits != last:
                yield Spot(bits, start, lie, 0, middle=False)


def put(position: TurrisPosition, spot: Spot, player: str, banned: int) -> TurrisPosition:
    """The tower with one more block of the player to move; who is then to move, with what ban."""
    side, filled, light, dark, along, across, upright, tops, mover, last_l, last_d, _ = position
    bits, start, lie, rise, _ = spot
    if mover == "L":
        light |= bits
        last_l = bits
    else:
        dark |= bits
        last_d = bits
    if lie == 0:
        along |= start
    elif lie == 1:
        across |= start
    else:
        upright |= start
    filled |= bits
    tops += rise
    return tuple.__new__(
        TurrisPosition,
        (side, filled, light, dark, along, across, upright, tops, player, last_l, last_d, banned),
    )


def built(position: TurrisPosition, spot: Spot) -> TurrisPosition:
    """The tower with one more block of the player to move, whose turn goes on."""
    return put(position, spot, position.player, position.banned)


def take(position: TurrisPosition, spot: Spot, player: str, banned: int) -> TurrisPosition:
    """The tower without a block; who is then to move, with what ban."""
    side, filled, light, dark, along, across, upright, tops, _, last_l, last_d, _ = position
    bits, start, lie, _, _ = spot
    filled &= ~bits
    area = side * side
    cell = (start.bit_length() - 1) % area
    for each in (cell,) if lie == 2 else (cell, cell + (side if lie else 1)):
        height = ((filled & _COLUMN[area] << each).bit_length() + area - 1) // area
        tops = tops & ~(255 << 8 * each) | height << 8 * each
    if lie == 0:
        along &= ~start
    elif lie == 1:
        across &= ~start
    else:
        upright &= ~start
    light &= ~bits
    dark &= ~bits
    return tuple.__new__(
        TurrisPosition,
        (side, filled, light, dark, along, across, upright, tops, player, last_l, last_d, banned),
    )


def with_block(position: TurrisPosition, block: Placed) -> TurrisPosition:
    """The tower with a block wherever the rules may forbid it."""
    bits = raster(position.side).block_bits(block)
    starts = {ALONG: "along", ACROSS: "across", UPRIGHT: "upright"}[block.extent]
    colour = {"L": ("light", "last_light"), "D": ("dark", "last_dark")}.get(block.letter)
    filled = position.filled | bits
    changes = {starts: getattr(position, starts) | bits & -bits, "filled": filled}
    if colour:
        changes |= {colour[0]: getattr(position, colour[0]) | bits, colour[1]: bits}
    return position._replace(**changes, tops=raster(position.side).tops(filled))


def without_block(position: TurrisPosition, block: Placed) -> TurrisPosition:
    """The tower without a block, wherever it is."""
    return take(position, spot_of(position, block), position.player, position.banned)


def pass_on(position: TurrisPosition, banned: int = 0) -> TurrisPosition:
    """The position behind a turn: the opponent is next, unless he has no blocks (TUR-R12)."""
    return position._replace(player=following(position, 0), banned=banned)


def following(position: TurrisPosition, blocks: int) -> str:
    """Who is next when the player to move has put down so many more blocks."""
    player = position.player
    other = OPPONENT[player]
    skipped = not position.left(other) and position.left(player) > blocks
    return player if skipped else other


def placed(position: TurrisPosition, spot: Spot, letter: str) -> Placed:
    """The block of a spot."""
    cell, level = raster(position.side).unit(spot.start.bit_length() - 1)
    return Placed(cell, level, _EXTENTS[spot.lie], letter)


def put_change(position: TurrisPosition, spot: Spot) -> Change:
    """The change of a turn in which the player to move puts this block down."""
    return block_change(placed(position, spot, position.player), add=True)


def spot_of(position: TurrisPosition, block: Placed) -> Spot:
    """The spot of a block, wherever it is on the raster."""
    bits = raster(position.side).block_bits(block)
    middle = frame_of(position).middle
    inner = any(cell.rank * position.side + cell.file == middle for cell in block.cells())
    return Spot(bits, bits & -bits, _EXTENTS.index(block.extent), 0, inner)
