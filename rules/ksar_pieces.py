"""KSAR pieces out of units: which cuboids can make up what a camera saw, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from rules.cells import Cell, Unit
from rules.ksar_frame import EXTENTS
from rules.pieces import Extent, Placed
from rules.stacks import Stacks

UNITS = 6  # in one piece
MOST_WAYS = 8  # of dividing the units into pieces, the most likely first
_MOST_STEPS = 1000  # of the search for them

Units = dict[Unit, str]


def is_piece(extent: Extent) -> bool:
    """Whether a cuboid of this size is in the box."""
    return extent in EXTENTS


def as_stacks(pieces: Iterable[Placed]) -> Stacks:
    """What stands on the table when these pieces do."""
    stacks: dict[Cell, str] = {}
    for piece in sorted(pieces, key=lambda piece: piece.level):
        for cell in piece.cells():
            below = stacks.get(cell, "").ljust(piece.level - 1, ".")
            stacks[cell] = below + piece.letter * piece.extent.height
    return Stacks(stacks)


def still_standing(pieces: Iterable[Placed], units: Units) -> list[Placed]:
    """The pieces whose units are all there; their units are taken out of `units`."""
    kept = []
    for piece in pieces:
        own = list(piece.units())
        if all(units.get(unit) in (piece.letter, "?") for unit in own):
            kept.append(piece)
            for unit in own:
                del units[unit]
    return kept


def divisions(units: Units) -> list[tuple[Placed, ...]]:
    """The ways to divide units into pieces, the most likely first; never none.

    What can be no piece is told as boxes of other sizes.
    """
    parts = [_ways(part) for part in _lumps(units)]
    whole = [tuple(p for way in ways for p in way) for ways in islice(product(*parts), MOST_WAYS)]
    return sorted(whole, key=_unlikely)


def _unlikely(pieces: tuple[Placed, ...]) -> tuple[int, int, int]:
    """How little sense a division makes: wrong sizes, pieces on others, equal heights."""
    wrong = sum(not is_piece(piece.extent) for piece in pieces)
    raised = sum(piece.level > 1 for piece in pieces)
    return wrong, raised, len(pieces)


def _lumps(units: Units) -> list[Units]:
    """The units in lumps of one colour that share faces."""
    left = dict(units)
    found = []
    while left:
        first = next(iter(left))
        lump = {first: left.pop(first)}
        edge = [first]
        while edge:
            unit = edge.pop()
            for near in neighbours(unit):
                if near in left and (left[near] == lump[unit] or "?" in (left[near], lump[unit])):
                    lump[near] = left.pop(near)
                    edge.append(near)
        found.append(lump)
    return found


def neighbours(unit: Unit) -> Iterator[Unit]:
    """The six units that share a face with this one."""
    (file, rank), level = unit
    for step in (-1, 1):
        yield Unit(Cell(file + step, rank), level)
        yield Unit(Cell(file, rank + step), level)
        yield Unit(Cell(file, rank), level + step)


def _ways(lump: Units) -> list[tuple[Placed, ...]]:
    """Exact divisions of one lump, or one into boxes where there is none."""
    order = sorted(lump, key=lambda unit: (unit.level, unit.cell.rank, unit.cell.file))
    found: list[tuple[Placed, ...]] = []
    steps = 0
    whole = len(lump) % UNITS == 0
    work: list[tuple[Units, tuple[Placed, ...], int]] = [(lump, (), 0)] if whole else []
    while work and len(found) < MOST_WAYS and steps < _MOST_STEPS:
        steps += 1
        left, pieces, start = work.pop()
        while start < len(order) and order[start] not in left:
            start += 1
        if start == len(order):
            found.append(pieces)
            continue
        for extent in EXTENTS:
            piece = _box(left, order[start], extent)
            if piece:
                rest = dict(left)
                for unit in piece.units():
                    del rest[unit]
                work.append((rest, (*pieces, piece), start))
    return found or [_boxes(lump, order)]


def _box(units: Mapping[Unit, str], corner: Unit, extent: Extent) -> Placed | None:
    """The piece of this size on this corner, if its units are there and of one colour."""
    piece = Placed(corner.cell, corner.level, extent, "?")
    letters = set()
    for unit in piece.units():
        letter = units.get(unit)
        if letter is None:
            return None
        letters.add(letter)
    letters.discard("?")
    if len(letters) > 1:
        return None
    return piece._replace(letter=letters.pop()) if letters else piece


def _boxes(lump: Units, order: list[Unit]) -> tuple[Placed, ...]:
    """Boxes of any size, each grown as far as it goes; for what can be no pieces."""
    left = dict(lump)
    found = []
    for corner in order:
        if corner not in left:
            continue
        size = [1, 1, 1]
        for side in range(3):
            while True:
                size[side] += 1
                if size[side] > 9 or not _box(left, corner, Extent(*size)):
                    size[side] -= 1
                    break
        piece = _box(left, corner, Extent(*size))
        if piece:
            for unit in piece.units():
                del left[unit]
            found.append(piece)
    return tuple(found)
