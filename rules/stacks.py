"""Stacks: what stands on the board, cell by cell, in the two forms that people read and write.

As a mapping `{"a1": "B", "d4": "BYB"}`, letters from bottom to top; as one line after Tak's TPS,
`x3/x,BYB,x/B,x2`, ranks from the far one to rank 1. `?` is a piece of unknown colour, `.` a place
that is empty under something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rules.cells import Cell, Unit
from rules.errors import NotationError

_STACK = re.compile(r"[A-Z?.]*[A-Z?]\Z")
MAX_HEIGHT = 99


class Stacks(Mapping[Cell, str]):
    """An immutable mapping from cell to letters, bottom to top; empty cells are left out."""

    __slots__ = ("_cells", "_hash")

    def __init__(self, cells: Mapping[Cell, str] | Iterable[tuple[Cell, str]] = ()) -> None:
        given: dict[Cell, str] = dict(cells)
        self._cells = {cell: stack for cell, stack in given.items() if stack}
        self._hash: int | None = None

    def __getitem__(self, cell: Cell) -> str:
        return self._cells[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __eq__(self, other: object) -> bool:
        return self._cells == other._cells if isinstance(other, Stacks) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._cells.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Stacks.of({self.to_json()!r})"

    @staticmethod
    def of(cells: Mapping[str, str]) -> Stacks:
        """The stacks of a mapping with names, `{"d4": "BYB"}`; raises NotationError."""
        found: dict[Cell, str] = {}
        for name, stack in cells.items():
            if stack:
                found[Cell.parse(name)] = check_stack(stack)
        return Stacks(found)

    def to_json(self) -> dict[str, str]:
        """The mapping with names, by file and then rank."""
        return {str(cell): self._cells[cell] for cell in sorted(self._cells)}

    @staticmethod
    def parse(text: str) -> Stacks:
        """The stacks of the one-line form; raises NotationError."""
        return parse_position(text)[0]

    def line(self, columns: int, ranks: int) -> str:
        """The one-line form on a board of this size."""
        outside = [c for c in self._cells if c.file >= columns or c.rank >= ranks]
        if outside:
            raise NotationError(f"{outside[0]} lies outside a board of {columns} x {ranks}")
        return "/".join(self._rank_text(rank, columns) for rank in range(ranks - 1, -1, -1))

    def _rank_text(self, rank: int, columns: int) -> str:
        texts: list[str] = []
        empty = 0
        for file in range(columns):
            stack = self._cells.get(Cell(file, rank), "")
            if stack and empty:
                texts.append("x" if empty == 1 else f"x{empty}")
                empty = 0
            if stack:
                texts.append(stack)
            else:
                empty += 1
        if empty:
            texts.append("x" if empty == 1 else f"x{empty}")
        return ",".join(texts)

    def height(self, cell: Cell) -> int:
        """How many levels the stack on this cell reaches up."""
        return len(self._cells.get(cell, ""))

    def units(self) -> Iterator[tuple[Unit, str]]:
        """Every occupied unit with its letter."""
        for cell, stack in self._cells.items():
            for level, letter in enumerate(stack, 1):
                if letter != ".":
                    yield Unit(cell, level), letter

    def count(self, letter: str) -> int:
        """How many units have this letter."""
        return sum(stack.count(letter) for stack in self._cells.values())

    def with_stack(self, cell: Cell, stack: str) -> Stacks:
        """The same stacks, but for this cell."""
        return Stacks({**self._cells, cell: stack})

    def differing(self, other: Stacks) -> list[Cell]:
        """The cells on which the two do not agree, in order."""
        return sorted({cell for cell, _ in self._cells.items() ^ other._cells.items()})


def check_stack(stack: str) -> str:
    """The stack itself if it is well formed; raises NotationError."""
    if not _STACK.match(stack):
        raise NotationError(
            f"{stack[:20]!r} is no stack; letters from bottom to top, such as 'BYB', "
            "'?' for an unknown colour, '.' for a gap under a piece"
        )
    if len(stack) > MAX_HEIGHT:
        raise NotationError(f"a stack of {len(stack)} units is no stack; at most {MAX_HEIGHT}")
    return stack


def parse_position(text: str) -> tuple[Stacks, int, int]:
    """Stacks, columns and ranks of the one-line form; raises NotationError."""
    rows = text.strip().split("/")
    if len(rows) > 99:
        raise NotationError(f"a board of {len(rows)} ranks; at most 99")
    cells: dict[Cell, str] = {}
    columns = -1
    for rank, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        file = 0
        for entry in map(str.strip, row.split(",")):
            if entry[:1] == "x":
                many = entry[1:]
                if many and not (many.isascii() and many.isdigit() and 0 < int(many[:3]) < 27):
                    raise NotationError(f"{entry[:20]!r} is no run of empty cells such as 'x3'")
                file += int(many) if many else 1
            else:
                if file > 25:
                    raise NotationError("a rank has at most 26 cells, a to z")
                cells[Cell(file, rank)] = check_stack(entry)
                file += 1
        if file > 26:
            raise NotationError("a rank has at most 26 cells, a to z")
        if columns not in (-1, file):
            raise NotationError(f"rank {rank + 1} has {file} cells, the ranks before {columns}")
        columns = file
    return Stacks(cells), columns, len(rows)
