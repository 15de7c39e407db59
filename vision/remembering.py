"""Remembering: a reading completed by what was known before it, cell by cell.

What no camera has seen change is as it was; what nobody sees well is as it was seen best.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from rules.cells import Cell, Unit
from rules.stacks import Stacks
from vision.history import as_remembered, common, completed, hearsay, with_history
from vision.reading import SURE, Reading
from vision.seen import Scene
from vision.sight import WEAK, seen_share
from vision.watched import WatchedCamera

MOST_WEAK = 3  # units whose colours are inferred at once
CHANGED = 0.1  # of a place in a picture, from which on it may show another piece


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What was known when a scene was read, and the cameras that show what has changed since."""

    believed: Stacks
    told: Scene | None  # the last scene, with its doubt
    cameras: Collection[WatchedCamera]
    heights: Collection[int]  # of the pieces of this game

    def scene(self, t: float, reading: Reading, hands: frozenset[Cell]) -> Scene:
        """The reading, with what was known where nothing has changed or nobody sees anything."""
        believed, hidden = self.believed, reading.hidden | hands
        stacks, unsure = dict(reading.stacks), dict(reading.unsure)
        new = self._new(reading.stacks)
        for cell in {*reading.stacks.differing(believed), *unsure}:
            before = believed.get(cell, "")
            choices = (stacks.get(cell, ""), *unsure.get(cell, ()))
            if cell in hands or not self._could_change(cell, before, choices, new):
                stacks[cell], doubt = self._as_told(cell, before, reading, hidden)
                unsure.pop(cell, None)
                if doubt:
                    unsure[cell] = doubt
                if "?" in stacks[cell]:  # what nobody could see then may be seen now
                    stacks[cell] = completed(stacks[cell], reading.stacks.get(cell, ""))
            elif cell in unsure:
                unsure[cell] = with_history(unsure[cell], before, self.heights)
                stacks[cell], chance = next(iter(unsure[cell].items()))
                if chance >= SURE:
                    del unsure[cell]
            if now := stacks.get(cell):
                stacks[cell] = self._remembered(cell, before, now, reading.stacks)
                if cell in unsure:
                    unsure[cell] = respelled(unsure[cell], now, stacks[cell])
        return Scene(t, Stacks(stacks), unsure, hidden, reading.certainty)

    def inferred(
        self, stacks: Stacks, letters: Sequence[str], explains: Callable[[Stacks], bool]
    ) -> Stacks | None:
        """The scene with other colours of new units that hardly anybody sees, if that is fine."""
        weak: list[Unit] = []
        for cell in self.believed.differing(stacks):
            new = stacks.get(cell, "")
            for k in range(common(self.believed.get(cell, ""), new), len(new) - 1):
                unit = Unit(cell, k + 1)
                if not self._well_seen(unit, stacks):
                    weak.append(unit)
        if not 0 < len(weak) <= MOST_WEAK:
            return None
        found = []
        for colours in product(letters, repeat=len(weak)):
            other = stacks
            for (cell, level), letter in zip(weak, colours, strict=True):
                stack = other[cell]
                other = other.with_stack(cell, stack[: level - 1] + letter + stack[level:])
            if explains(other):
                found.append(other)
        return found[0] if len(found) == 1 else None

    def may_have_changed(self, cell: Cell, stacks: Stacks) -> bool:
        """Whether anything may have come to a cell or gone, by the pictures and what was read."""
        before, new = self.believed.get(cell, ""), self._new(stacks)
        others = ["", *(before + "?" * height for height in self.heights or (1,))]
        return "?" in before or any(
            self._could_change(cell, before, (other,), new) for other in others if other != before
        )

    def _new(self, stacks: Stacks) -> list[Unit]:
        """The units that would have come, or become others."""
        return [unit for unit, letter in stacks.units() if letter != _at(self.believed, unit)]

    def _as_told(
        self, cell: Cell, before: str, reading: Reading, hidden: Collection[Cell]
    ) -> tuple[str, Mapping[str, float]]:
        """What stands on a cell that looks as it did, and what was doubtful and still is."""
        told = self.told
        if told is None or completed(told.stacks.get(cell, ""), before) != before:
            return before, {}  # since then somebody has said what stands there
        doubt = told.unsure.get(cell, {})
        now = reading.stacks.get(cell, "")
        if now in doubt and cell not in reading.unsure and cell not in hidden:
            return now, {}
        return before, doubt

    def _remembered(self, cell: Cell, before: str, now: str, stacks: Stacks) -> str:
        """What was read on a cell, with what is known of units that hardly anybody sees."""
        now = completed(now, before)
        before = completed(before, now)
        now = as_remembered(before, now)
        for k in hearsay(before, now):
            if not self._well_seen(Unit(cell, k + 1), stacks):
                now = now[:k] + before[k] + now[k + 1 :]
        return now

    def _well_seen(self, unit: Unit, stacks: Stacks) -> bool:
        return any(seen_share(camera.area, stacks, unit) >= WEAK for camera in self.cameras)

    def _could_change(
        self, cell: Cell, old: str, choices: Sequence[str], new: Sequence[Unit]
    ) -> bool:
        """Whether some camera's picture has changed where a cell's pieces may differ."""
        same = min(common(old, now) for now in choices)
        high = max(len(old), same + 1, *map(len, choices))
        others = [unit for unit in new if unit.cell != cell]
        seen = [camera.changed_at(cell, same + 1, high, others) for camera in self.cameras]
        known = [share for share in seen if share is not None]
        return not known or max(known) > CHANGED


def _at(stacks: Stacks, unit: Unit) -> str:
    return stacks.get(unit.cell, "")[unit.level - 1 : unit.level]


def respelled(choices: Mapping[str, float], read: str, told: str) -> Mapping[str, float]:
    """The chances of what may stand on a cell, where what was read is told with other colours."""
    if read == told or read not in choices:
        return choices
    found: dict[str, float] = {}
    for stack, chance in choices.items():
        name = told if stack == read else stack
        found[name] = found.get(name, 0.0) + chance
    return found
