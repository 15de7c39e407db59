"""What a reading tells: the stacks as texts, and what of them is unsure, inferred or hidden."""

import math
from collections.abc import Sequence

from rules.cells import Cell, Unit
from rules.lattice import Lattice
from rules.stacks import Stacks
from vision.certainty import CellDoubt
from vision.position import Position
from vision.reading import SURE, Reading


class Telling:
    """Tells positions of one lattice, in the letters of its kit."""

    def __init__(self, lattice: Lattice, letters: Sequence[str], *, whole: bool) -> None:
        """`whole`: what is seen of a stack, or piece, tells the letters of the rest."""
        self._lattice = lattice
        self._letters = letters
        self._whole = whole

    def reading(
        self, cells: Sequence[CellDoubt], position: Position, last: Stacks | None
    ) -> Reading:
        """The reading of a position, given the doubt about every column."""
        columns = self._lattice.columns
        stacks: dict[Cell, str] = {}
        unsure: dict[Cell, dict[str, float]] = {}
        inferred: set[Unit] = set()
        hidden: set[Cell] = set()
        chances: list[float] = []  # that a cell is right, of those that are told as certain
        for column, doubt in enumerate(cells):
            cell = Cell(column % columns, column // columns)
            texts = [
                self._text(stack, cell, last, inferred if not i else None)
                for i, stack in enumerate(doubt.stacks)
            ]
            if self._whole and "?" in texts[0] and not doubt.hidden:
                texts[0] = self._completed(
                    texts[0], position.stack(column).tolist(), cell, inferred
                )
            if texts[0]:
                stacks[cell] = texts[0]
            if doubt.hidden:
                hidden.add(cell)
            elif doubt.chances[0] < SURE:
                unsure[cell] = _shares(texts, doubt.chances)
            else:
                chances.append(doubt.chances[0])
        return Reading(
            stacks=Stacks(stacks),
            unsure=unsure,
            inferred=frozenset(inferred),
            hidden=frozenset(hidden),
            # Where nothing is certain nothing is certainly right.
            certainty=math.prod(chances) if chances else 0.0,
        )

    def _text(
        self, stack: Sequence[int], cell: Cell, last: Stacks | None, inferred: set[Unit] | None
    ) -> str:
        """The letters of a stack; units that nobody sees are as they were, or unknown."""
        before = last.get(cell, "") if last else ""
        letters = ""
        for k, colour in enumerate(stack):
            if colour > 0:
                letters += self._letters[colour - 1]
            elif k < len(before) and before[k] not in "?.":
                letters += before[k]
                if inferred is not None:
                    inferred.add(Unit(cell, k + 1))
            else:
                letters += "?"
        return letters

    def _completed(self, text: str, stack: Sequence[int], cell: Cell, inferred: set[Unit]) -> str:
        """A stack with the letters that units out of sight must have, being parts of pieces."""
        letters = ""
        for k, letter in enumerate(text):
            known = letter != "?" or stack[k] <= 0
            letters += letter if known else self._letters[stack[k] - 1]
            if not known:
                inferred.add(Unit(cell, k + 1))
        return letters


def _shares(texts: Sequence[str], chances: Sequence[float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for text, chance in zip(texts, chances, strict=True):
        total[text] = total.get(text, 0.0) + chance
    return {text: chance for text, chance in total.items() if chance >= 0.005}
