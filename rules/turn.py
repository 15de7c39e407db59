"""A turn as the physical changes on the table, and its one text form.

`+d4B` one unit on top of d4, `-d4` its top unit off, `+a1~b1L` a flat block, `+a1^L` an upright
one, `+c3:2x3x1R` a cuboid (lower left cell, width x depth x height), `-` for taking away,
`pass`, and `claim CARD`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from rules.cells import Cell
from rules.errors import ImpossibleChange, NotationError
from rules.lattice import Lattice
from rules.pieces import Extent, Placed
from rules.stacks import Stacks

_CHANGE = re.compile(
    r"(?P<sign>[+-])(?P<cell>[a-z][1-9][0-9]?)"
    r"(?:~(?P<other>[a-z][1-9][0-9]?)|(?P<upright>\^)|:(?P<size>[1-9]x[1-9]x[1-9]))?"
    r"(?P<letter>[A-Z?]?)\Z"
)
_ONE = Extent(1, 1, 1)
_UPRIGHT = Extent(1, 1, 2)
_MAX_CHANGES = 99


class Change(NamedTuple):
    """One piece put down or taken away.

    `other` is the far cell of a piece written with `~`; unless it adjoins `cell` there is no such
    piece, and the rules say so (the camera cannot report one, a written record can).
    """

    add: bool
    cell: Cell
    letter: str = ""
    extent: Extent = _ONE
    other: Cell | None = None

    def __str__(self) -> str:
        sign = "+" if self.add else "-"
        if self.other is not None:
            return f"{sign}{self.cell}~{self.other}{self.letter}"
        width, depth, height = self.extent
        if width * depth * height == 1:
            return f"{sign}{self.cell}{self.letter}"
        if self.extent == _UPRIGHT:
            return f"{sign}{self.cell}^{self.letter}"
        return f"{sign}{self.cell}:{width}x{depth}x{height}{self.letter}"

    @staticmethod
    def parse(text: str) -> Change:
        """The change of a text such as `+d4B`; raises NotationError."""
        match = _CHANGE.match(text)
        if match is None:
            raise NotationError(f"{text[:30]!r} is no change; changes look like '+d4B' or '-d4'")
        add = match["sign"] == "+"
        letter = match["letter"]
        if add and not letter:
            raise NotationError(f"{text[:30]!r} lacks the colour's letter, as in '{text[:30]}B'")
        cell = Cell.parse(match["cell"])
        if match["other"]:
            return flat(add, cell, Cell.parse(match["other"]), letter)
        if match["upright"]:
            return Change(add, cell, letter, _UPRIGHT)
        if match["size"]:
            return Change(add, cell, letter, Extent(*map(int, match["size"].split("x"))))
        return Change(add, cell, letter)

    @property
    def one_piece(self) -> bool:
        """Whether the cells named are those of one connected piece."""
        return self.other is None or self.cell.touches(self.other)

    def cells(self) -> tuple[Cell, ...]:
        """The footprint; of a piece written with `~` the two cells named."""
        if self.other is not None:
            return self.cell, self.other
        return tuple(Placed(self.cell, 1, self.extent, self.letter).cells())


def flat(add: bool, cell: Cell, other: Cell, letter: str = "") -> Change:
    """A two-unit piece lying across two cells, in whichever order they are named."""
    low, high = min(cell, other), max(cell, other)
    extent = Extent(2, 1, 1) if low.rank == high.rank else Extent(1, 2, 1)
    return Change(add, low, letter, extent, high)


class Turn(NamedTuple):
    """What one player did; without changes and without a claim it is a pass."""

    player: str
    changes: tuple[Change, ...] = ()
    claim: str = ""

    def __str__(self) -> str:
        return f"{self.player} {self.move}"

    @property
    def move(self) -> str:
        """The text after the player: the form used in records and events."""
        if self.claim:
            return f"claim {self.claim}"
        return " ".join(map(str, self.changes)) if self.changes else "pass"

    @staticmethod
    def parse(text: str) -> Turn:
        """The turn of a text such as `B +c5B +d5B`; raises NotationError."""
        player, _, move = text.strip().partition(" ")
        return Turn(player, *parse_move(move))


def parse_move(text: str) -> tuple[tuple[Change, ...], str]:
    """Changes and claim of the text after the player; raises NotationError."""
    words = text.split()
    if not words:
        raise NotationError("a turn needs changes such as '+d4B', or 'pass'")
    if words == ["pass"]:
        return (), ""
    if words[0] == "claim":
        if len(words) != 2:
            raise NotationError("a claim names one card, as in 'claim YB/RY'")
        return (), words[1]
    if len(words) > _MAX_CHANGES:
        raise NotationError(f"a turn of {len(words)} changes; at most {_MAX_CHANGES}")
    return tuple(Change.parse(word) for word in words), ""


def landing(stacks: Stacks, change: Change) -> Placed:
    """Where a piece comes to rest when it is put down: on the highest stack under it."""
    level = max(stacks.height(cell) for cell in change.cells()) + 1
    return Placed(change.cell, level, change.extent, change.letter)


def after_change(stacks: Stacks, change: Change, lattice: Lattice) -> Stacks:
    """What stands on the table after one change; raises ImpossibleChange."""
    cells = change.cells()
    outside = [cell for cell in cells if cell not in lattice]
    if outside:
        raise ImpossibleChange(f"{outside[0]} is not on the board")
    if not change.one_piece:
        raise ImpossibleChange(
            f"{cells[0]} and {cells[-1]} do not adjoin; no piece covers just them"
        )
    new = dict(stacks)
    high = change.extent.height
    if change.add:
        base = max(stacks.height(cell) for cell in cells)
        if base + high > 99:
            raise ImpossibleChange(f"no stack on {cells[0]} can be that high")
        for cell in cells:
            new[cell] = new.get(cell, "").ljust(base, ".") + change.letter * high
        return Stacks(new)
    top = stacks.height(cells[0])
    for cell in cells:
        stack = new.get(cell, "")
        if len(stack) != top or top < high or "." in stack[-high:]:
            raise ImpossibleChange(f"there is no such piece to take away at {change}")
        new[cell] = stack[:-high].rstrip(".")
    return Stacks(new)


def after_changes(stacks: Stacks, changes: Iterable[Change], lattice: Lattice) -> Stacks:
    """What stands on the table after these changes, one after another; raises ImpossibleChange."""
    for change in changes:
        stacks = after_change(stacks, change, lattice)
    return stacks
