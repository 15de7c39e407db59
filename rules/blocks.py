"""Blocks of two units: where they stand, as bits, and which units form one.

KWINTY and TURRIS share these blocks. A position holds integers in which each unit of the lattice
has one bit, level above level, so that support and contact are a few operations. A camera reports
units only; `adopted` keeps the blocks that are known and finds every way to cut the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import NamedTuple

from rules.cells import Cell, Unit
from rules.errors import ImpossibleChange
from rules.lattice import Lattice
from rules.pieces import Extent, KitPiece, Placed
from rules.stacks import Stacks
from rules.turn import Change, after_changes, flat

ALONG = Extent(2, 1, 1)  # flat, along the files
ACROSS = Extent(1, 2, 1)  # flat, along the ranks
UPRIGHT = Extent(1, 1, 2)
COLOURS = ("L", "D")
OPPONENT = {"L": "D", "D": "L"}
BLOCKS_EACH = 20

_TILINGS = 12  # the most ways of cutting units into blocks that are followed
_STEPS = 1000  # the most steps of looking for them, fewer where each has more to look at
_FEW = 3  # so many pieces are tried in every order


class Standing(NamedTuple):
    """What stands, a bit a unit: all units, those of each colour, and where blocks begin.

    `along`, `across` and `upright` mark the lowest, leftmost, nearest unit of each block. A unit
    of unknown colour is in `filled` alone.
    """

    filled: int
    light: int
    dark: int
    along: int
    across: int
    upright: int


@dataclass(frozen=True, slots=True)
class Raster:
    """How units are numbered as bits; `stride` bits from one level to the next."""

    columns: int
    ranks: int
    stride: int

    def place(self, unit: Unit) -> int:
        """The number of a unit's bit."""
        cell, level = unit
        return (level - 1) * self.stride + cell.rank * self.columns + cell.file

    def unit(self, place: int) -> Unit:
        """The unit of a bit's number."""
        level, rest = divmod(place, self.stride)
        return Unit(_cells(self.columns, self.ranks)[rest], level + 1)

    def bits(self, units: Iterable[Unit]) -> int:
        """The bits of several units."""
        found = 0
        for unit in units:
            found |= 1 << self.place(unit)
        return found

    def units(self, bits: int) -> Iterator[Unit]:
        """The units of several bits, lowest first."""
        return (self.unit(place) for place in bit_places(bits))

    def step(self, extent: Extent) -> int:
        """From the first to the second unit of a block."""
        width, depth, _ = extent
        return 1 if width == 2 else self.columns if depth == 2 else self.stride

    def block_bits(self, block: Placed) -> int:
        """The two bits of a block."""
        first = 1 << self.place(Unit(block.cell, block.level))
        return first | first << self.step(block.extent)

    def tops(self, filled: int) -> int:
        """The height of each cell in eight bits, gaps under a piece included."""
        heights = [0] * (self.columns * self.ranks)
        for place in bit_places(filled):  # lowest first, so that the highest stays
            level, cell = divmod(place, self.stride)
            heights[cell] = level + 1
        return int.from_bytes(bytes(heights), "little")

    def stacks(self, filled: int, light: int, dark: int) -> Stacks:
        """What stands on the table, with letters."""
        stacks = [""] * self.stride
        for place in bit_places(filled):
            level, cell = divmod(place, self.stride)
            letter = "L" if light >> place & 1 else "D" if dark >> place & 1 else "?"
            stacks[cell] = stacks[cell].ljust(level, ".") + letter
        return Stacks(zip(_cells(self.columns, self.ranks), stacks, strict=False))

    def blocks(self, standing: Standing) -> Iterator[Placed]:
        """Every block of a position."""
        _, light, dark, along, across, upright = standing
        for starts, extent in ((along, ALONG), (across, ACROSS), (upright, UPRIGHT)):
            step = self.step(extent)
            for place in bit_places(starts):
                cell, level = self.unit(place)
                halves = 1 << place | 1 << place + step
                letter = "L" if light & halves else "D" if dark & halves else "?"
                yield Placed(cell, level, extent, letter)

    def standing(self, units: Mapping[Unit, str], blocks: Iterable[Placed]) -> Standing:
        """The bits of units with letters and of the blocks that they form."""
        starts = dict.fromkeys((ALONG, ACROSS, UPRIGHT), 0)
        for block in blocks:
            starts[block.extent] |= 1 << self.place(Unit(block.cell, block.level))
        light = self.bits(unit for unit, letter in units.items() if letter == "L")
        dark = self.bits(unit for unit, letter in units.items() if letter == "D")
        return Standing(self.bits(units), light, dark, *starts.values())


@cache
def _cells(columns: int, ranks: int) -> tuple[Cell, ...]:
    """The cells of one level in the order of their bits."""
    return tuple(Cell(file, rank) for rank in range(ranks) for file in range(columns))


def bit_places(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def block_change(block: Placed, *, add: bool) -> Change:
    """The change of a turn that puts this block down or takes it away."""
    letter = block.letter if add else ""
    if block.extent == UPRIGHT:
        return Change(add, block.cell, letter, UPRIGHT)
    first, second = block.cells()
    return flat(add, first, second, letter)


def is_block(change: Change) -> bool:
    """Whether a change is about two adjoining units."""
    return change.extent in (ALONG, ACROSS, UPRIGHT) and change.one_piece


def named_cells(*changes: Change) -> tuple[Cell, ...]:
    """The cells that changes are about, each once, as far as they have a name."""
    cells = dict.fromkeys(cell for change in changes for cell in change.cells())
    return tuple(cell for cell in cells if cell.file < 26 and cell.rank < 99)


def changed(before: Stacks, after: Stacks) -> tuple[dict[Unit, str], dict[Unit, str]]:
    """The units that went and those that came; an unknown colour agrees with any."""
    gone: dict[Unit, str] = {}
    come: dict[Unit, str] = {}
    for cell in before.differing(after):
        old, new = before.get(cell, ""), after.get(cell, "")
        for level in range(1, max(len(old), len(new)) + 1):
            was, now = old[level - 1 : level], new[level - 1 : level]
            if was == now or (was and now and "?" in was + now and "." not in was + now):
                continue
            if was not in ("", "."):
                gone[Unit(cell, level)] = was
            if now not in ("", "."):
                come[Unit(cell, level)] = now
    return gone, come


def ways_between(
    before: Stacks, after: Stacks, known: Iterable[Placed], lattice: Lattice
) -> list[tuple[Change, ...]]:
    """The ways in which blocks can have been taken away and put down to make a difference.

    Whole blocks where that is possible, else loose units. Never empty; without a difference the
    one way is no change at all.
    """
    gone, come = changed(before, after)
    away, loose = _taken(gone, known)
    away += [Change(False, unit.cell) for unit in sorted(loose, key=_level, reverse=True)]
    ways: list[tuple[Change, ...]] = []
    for way in tilings(come):
        pieces = [(block.level, block_change(block, add=True)) for block in way.blocks]
        pieces += [(unit.level, Change(True, unit.cell, come[unit])) for unit in way.singles]
        lowest_first = tuple(change for _, change in sorted(pieces))
        for put in permutations(lowest_first) if len(pieces) <= _FEW else (lowest_first,):
            ways += [(*put, *away), (*away, *put)] if put and away else [(*put, *away)]
    exact = [way for way in ways if _leads_to(before, way, after, lattice)]
    return exact or [_unit_changes(before, after)]


def _level(unit: Unit) -> int:
    return unit.level


def _taken(gone: Mapping[Unit, str], known: Iterable[Placed]) -> tuple[list[Change], set[Unit]]:
    """The known blocks that went, highest first, and the units that went otherwise."""
    loose = set(gone)
    blocks = [block for block in known if loose.issuperset(block.units())]
    for block in blocks:
        loose.difference_update(block.units())
    blocks.sort(key=lambda block: block.level, reverse=True)
    return [block_change(block, add=False) for block in blocks], loose


def _leads_to(before: Stacks, changes: tuple[Change, ...], after: Stacks, lattice: Lattice) -> bool:
    try:
        return changed(after_changes(before, changes, lattice), after) == ({}, {})
    except ImpossibleChange:
        return False


def _unit_changes(before: Stacks, after: Stacks) -> tuple[Change, ...]:
    """The difference unit by unit, for what no player does with whole blocks."""
    away: list[Change] = []
    put: list[Change] = []
    for cell in before.differing(after):
        old, new = before.get(cell, ""), after.get(cell, "")
        same = 0
        while same < min(len(old), len(new)) and (
            old[same] == new[same] or "?" in old[same] + new[same]
        ):
            same += 1
        away += [Change(False, cell)] * (len(old) - same)
        put += [Change(True, cell, letter) for letter in new[same:] if letter != "."]
    return (*away, *put)


# --- which units form a block ------------------------------------------------------------------


class Tiling(NamedTuple):
    """Units cut into blocks; `singles` are those that found no partner."""

    blocks: tuple[Placed, ...]
    singles: tuple[Unit, ...] = ()


def tilings(units: Mapping[Unit, str], known: Iterable[Placed] = ()) -> list[Tiling]:
    """The ways to cut units into blocks of one colour, as few singles as possible.

    Blocks that are `known` come first. The number of ways is bounded.
    """
    partners = {unit: _partners(unit, units) for unit in units}
    wish = {}
    for block in known:
        first, second = block.units()
        if second in partners.get(first, ()):
            wish[first], wish[second] = second, first
    best = _matching(partners, wish)
    spare = len(units) - len(best)
    found = [_tiling(units, pairs) for pairs in _Cutter(partners, wish, spare).ways()]
    if not found:
        found = [_tiling(units, [pair for pair in best.items() if pair[0] < pair[1]])]
    return found


def can_be_blocks(units: Mapping[Unit, str]) -> bool:
    """Whether units can be cut into blocks without a rest."""
    partners = {unit: _partners(unit, units) for unit in units}
    return len(_matching(partners, {})) == len(units)


def all_blocks(kit: Sequence[KitPiece]) -> bool:
    """Whether every piece of a kit fills exactly two units."""
    extents = [extent for piece in kit for extent in piece.shape.extents]
    return bool(extents) and all(e.width * e.depth * e.height == 2 for e in extents)


def torn(kit: Sequence[KitPiece], stacks: Stacks) -> bool:
    """Whether half a block stands there, of a kit that has nothing but blocks."""
    return all_blocks(kit) and not can_be_blocks(dict(stacks.units()))


def adopted(known: Iterable[Placed], before: Stacks, units: Mapping[Unit, str]) -> list[Tiling]:
    """The ways to see units as blocks: known blocks stay where they still fit.

    Where the rest cannot be cut alone, what it touches is cut anew. An unknown colour counts as
    that of what stood there.
    """
    letters = dict(units)
    for unit, letter in before.units():
        if letters.get(unit) == "?":
            letters[unit] = letter
    blocks = [block for block in known if _fits(block, letters)]
    rest = dict(letters)
    for block in blocks:
        for unit in block.units():
            del rest[unit]
    ways = tilings(rest)
    if ways[0].singles:
        near = _touching(rest, letters)
        loose = [block for block in blocks if next(block.units()) in near]
        again = tilings({unit: letters[unit] for unit in near}, loose)
        if len(again[0].singles) < len(ways[0].singles):
            blocks = [block for block in blocks if next(block.units()) not in near]
            ways = again
    return [Tiling((*blocks, *way.blocks), way.singles) for way in ways]


def _fits(block: Placed, letters: Mapping[Unit, str]) -> bool:
    seen = {letters.get(unit, ".") for unit in block.units()}
    return seen <= {block.letter, "?"}


def _agree(one: str, other: str) -> bool:
    return one == other or "?" in (one, other)


def _neighbours(unit: Unit) -> Iterator[Unit]:
    (file, rank), level = unit
    yield Unit(Cell(file, rank), level + 1)
    yield Unit(Cell(file + 1, rank), level)
    yield Unit(Cell(file, rank + 1), level)
    yield Unit(Cell(file, rank), level - 1)
    yield Unit(Cell(file - 1, rank), level)
    yield Unit(Cell(file, rank - 1), level)


def _partners(unit: Unit, units: Mapping[Unit, str]) -> tuple[Unit, ...]:
    letter = units[unit]
    return tuple(n for n in _neighbours(unit) if n in units and _agree(letter, units[n]))


def _touching(rest: Iterable[Unit], letters: Mapping[Unit, str]) -> set[Unit]:
    """All units that hang together with the rest by colours that agree."""
    near = set(rest)
    border = list(near)
    while border:
        for unit in _partners(border.pop(), letters):
            if unit not in near:
                near.add(unit)
                border.append(unit)
    return near


def _matching(
    partners: Mapping[Unit, tuple[Unit, ...]], wish: Mapping[Unit, Unit]
) -> dict[Unit, Unit]:
    """As many pairs as there can be, by augmenting paths: a lattice has two kinds of units."""
    pairs = dict(wish)
    for unit in partners:
        if unit not in pairs and _is_even(unit):
            _augment(unit, partners, pairs)
    return pairs


def _is_even(unit: Unit) -> bool:
    return (unit.cell.file + unit.cell.rank + unit.level) % 2 == 0


def _augment(
    start: Unit, partners: Mapping[Unit, tuple[Unit, ...]], pairs: dict[Unit, Unit]
) -> None:
    """One more pair that begins at an even unit, if there is a path to a free odd one."""
    came_from: dict[Unit, Unit] = {}
    border = [start]
    for even in border:
        for odd in partners[even]:
            if odd in came_from:
                continue
            came_from[odd] = even
            if odd in pairs:
                border.append(pairs[odd])
                continue
            end: Unit | None = odd
            while end is not None:
                before = came_from[end]
                following = pairs.get(before)
                pairs[end], pairs[before] = before, end
                end = following
            return


class _Cutter:
    """Looks for all ways of pairing units, in bounded time."""

    def __init__(
        self,
        partners: Mapping[Unit, tuple[Unit, ...]],
        wish: Mapping[Unit, Unit],
        spare: int,
    ) -> None:
        self.partners = partners
        self.wish = wish
        self.spare = spare
        many = len(partners) or 1
        self.steps = min(_STEPS, many + 40_000 // many)
        self.free = dict.fromkeys(sorted(partners))
        self.pairs: list[tuple[Unit, Unit]] = []

    def ways(self) -> Iterator[list[tuple[Unit, Unit]]]:
        """The pairs of each way."""
        for number, way in enumerate(self._cut(self.spare), 1):
            yield way
            if number == _TILINGS:
                return

    def _cut(self, spare: int) -> Iterator[list[tuple[Unit, Unit]]]:
        self.steps -= 1
        if self.steps < 0:
            return
        if not self.free:
            yield list(self.pairs)
            return
        unit, choices = self._narrowest()
        del self.free[unit]
        for partner in choices:
            del self.free[partner]
            self.pairs.append((min(unit, partner), max(unit, partner)))
            yield from self._cut(spare)
            self.pairs.pop()
            self.free[partner] = None
        if spare:
            yield from self._cut(spare - 1)
        self.free[unit] = None

    def _narrowest(self) -> tuple[Unit, list[Unit]]:
        """The free unit with the fewest free partners; a wished one before all others."""
        best: tuple[Unit, list[Unit]] | None = None
        for unit in self.free:
            choices = [p for p in self.partners[unit] if p in self.free]
            if best is None or len(choices) < len(best[1]):
                best = unit, choices
                if len(choices) < 2:
                    break
        if best is None:
            raise AssertionError("asked only while units are free")
        wished = self.wish.get(best[0])
        best[1].sort(key=lambda partner: partner != wished)
        return best


def _tiling(units: Mapping[Unit, str], pairs: Iterable[tuple[Unit, Unit]]) -> Tiling:
    blocks = []
    single = dict(units)
    for first, second in sorted(pairs):
        blocks.append(block_of(first, second, units))
        del single[first], single[second]
    return Tiling(tuple(blocks), tuple(sorted(single)))


def block_of(first: Unit, second: Unit, units: Mapping[Unit, str]) -> Placed:
    """The block of two adjoining units."""
    low, high = min(first, second), max(first, second)
    extent = (
        UPRIGHT if low.cell == high.cell else ALONG if low.cell.rank == high.cell.rank else ACROSS
    )
    letter = units[low] if units[low] != "?" else units[high]
    return Placed(low.cell, low.level, extent, letter)
