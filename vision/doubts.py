"""Doubts: what else could have stood on a cell, by what was read since it was seen to change."""

from collections.abc import Iterable

from rules.cells import Cell
from rules.stacks import Stacks
from vision.reading import Reading
from vision.weighing import Weighing

MOST_MISSING = 3  # cells of one turn that are out of sight at once


class Doubts:
    """Remembers, cell by cell, the chances of what was not believed."""

    def __init__(self, least: float) -> None:
        """What is less likely than `least` is forgotten."""
        self._least = least
        self._chances: dict[Cell, dict[str, float]] = {}

    def all(self) -> dict[Cell, dict[str, float]]:
        """The chances of everything that could have stood there, by cell."""
        return {cell: dict(chances) for cell, chances in self._chances.items()}

    def forget(self, cells: Iterable[Cell]) -> None:
        """Something else stands on these cells now."""
        for cell in cells:
            self._chances.pop(cell, None)

    def note(self, readings: Iterable[Reading]) -> None:
        """What these readings leave open, be they told or not."""
        for reading in readings:
            for cell, choices in reading.unsure.items():
                for stack, chance in choices.items():
                    self._keep(cell, stack, chance)

    def note_missing(self, seen: Stacks, turns: Iterable[Stacks], weighing: Weighing) -> None:
        """What whole turns have besides what was seen, where it may only be out of sight."""
        whole = [stacks for stacks in turns if _has_more(stacks, seen)]
        for stacks, odd in zip(whole, weighing.odds(seen, whole), strict=True):
            for cell in seen.differing(stacks):
                self._keep(cell, stacks[cell], odd / (1.0 + odd))

    def _keep(self, cell: Cell, stack: str, chance: float) -> None:
        if chance >= self._least:
            known = self._chances.setdefault(cell, {})
            known[stack] = max(known.get(stack, 0.0), chance)


def _has_more(stacks: Stacks, seen: Stacks) -> bool:
    """Whether a little stands there besides what is seen."""
    cells = seen.differing(stacks)
    more = all(stacks.get(cell, "").startswith(seen.get(cell, "")) for cell in cells)
    return 0 < len(cells) <= MOST_MISSING and more
