"""Reconciling: what a scene that surprises the game may be instead, by the same pictures.

Something misread is likelier than something forbidden if it is likely enough by itself; where that
is open, the scene is doubtful in the cells that it depends on.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from rules.blocks import torn
from rules.cells import Cell
from rules.stacks import Stacks
from vision.reader import Reader
from vision.reading import Reading
from vision.seen import Scene
from vision.weighing import Weighing

MOST_MISREAD = 3  # cells in which a scene that surprises may have been misread at once
MOST_CHOICES = 64  # scenes that doubt may stand between before nobody tries them one by one
MOST_HIDDEN = 3  # units of a stack that may have any colour
OVERLAP = 0.6  # of the cells that two turns change, if one may be taken for the other
ALSO = 0.3  # how often what surprises goes on in one more cell
BESIDES = 0.5  # how much rarer two surprises are, as a power of the chance of one
LOST = 1.0  # the same where the second one is that something has gone from sight
TORN = 2.0  # the same where what is left cannot be whole pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How likely things are before anybody looks, and from when on they count."""

    enough: float = 0.6  # of what the game expects, where it expects nothing else
    surprise: float = 0.1  # of what it does not expect (0.02 to 0.2)
    worth_asking: float = 0.1  # that nobody has done anything wrong (0.05 to 0.3)
    remembered: float = 0.02  # doubt that was overcome is remembered if it was more (0.01 to 0.1)


@dataclass(frozen=True, slots=True, eq=False)
class Surprise:
    """A scene that no turn explains, and what there is to judge it by."""

    scene: Scene
    before: Stacks  # what stood there
    earlier: Stacks  # and what before the last change
    readings: Sequence[Reading]  # of this scene
    otherwise: Sequence[Stacks]  # what it looked like by all of them but the newest
    turns: Sequence[Stacks]  # scenes that the game expects
    explains: Callable[[Stacks], bool]  # whether a scene would surprise nobody
    reader: Reader
    weighing: Weighing
    chances: Chances

    def reconciled(self) -> Scene:
        """The scene as the game allows it, where the pictures do not contradict that."""
        scene, cfg = self.scene, self.chances
        odds = self._fine_odds()
        if not odds:
            return self._plainer()
        rarer = self._goes_on() + self._digs() + self._tears()
        surprise = cfg.surprise ** (self._colours_come() + rarer)
        total = surprise + sum(odds.values())
        best = max(odds, key=lambda stacks: odds[stacks])
        if odds[best] / total >= cfg.enough:
            return replace(scene, stacks=best, unsure={})
        if 1 - surprise / total < cfg.worth_asking:
            return self._plainer()
        unsure = dict(scene.unsure)
        for stacks, odd in odds.items():
            for cell in scene.stacks.differing(stacks) if odd >= cfg.remembered * total else ():
                chances = dict(unsure.get(cell, {scene.stacks.get(cell, ""): 1.0}))
                other = stacks.get(cell, "")
                chances[other] = max(chances.get(other, 0.0), odd / total)
                unsure[cell] = chances
        return replace(scene, unsure=unsure)

    def _plainer(self) -> Scene:
        """A scene that surprises anyway, with doubtful cells as they were if that may well be."""
        scene, before = self.scene, self.before
        if (stacks := self._piece_on_others()) is not None:
            left = {c: found for c, found in scene.unsure.items() if stacks.get(c, "") in found}
            return replace(scene, stacks=stacks, unsure=left)
        stacks = scene.stacks
        for cell, choices in scene.unsure.items():
            now, old = stacks.get(cell, ""), before.get(cell, "")
            if old in choices and old != now and choices[old] >= ALSO * choices.get(now, 0.0):
                stacks = stacks.with_stack(cell, old)
        return scene if stacks == before else replace(scene, stacks=stacks)

    def _piece_on_others(self) -> Stacks | None:
        """One piece on top of others that explains the pictures better, if there is any.

        Where all pieces fill several units, the reader looks for them on the board only.
        """
        extents = (extent for piece in self.reader.kit for extent in piece.shape.extents)
        if any(extent.width * extent.depth * extent.height == 1 for extent in extents):
            return None
        pieces = [*dict.fromkeys(self._laid_on())]
        odds = self.reader.weigh(pieces)
        best = max(zip(odds, pieces, strict=True), key=lambda found: found[0], default=None)
        return best[1] if best is not None and best[0] > 1.0 else None

    def _laid_on(self) -> Iterator[Stacks]:
        """What stood there with one piece more on top of others, mostly where something changed."""
        reader, before = self.reader, self.before
        changed = {*before.differing(self.scene.stacks)}
        lattice = reader.board.lattice
        for piece, extent in ((p, e) for p in reader.kit for e in p.shape.extents):
            for corner in lattice.cells():
                cells = [
                    Cell(corner.file + f, corner.rank + r)
                    for f in range(extent.width)
                    for r in range(extent.depth)
                ]
                if 2 * sum(cell in changed for cell in cells) <= len(cells):
                    continue
                heights = {before.height(cell) for cell in cells}
                high = max(heights) + extent.height
                if len(heights) == 1 and max(heights) > 0 and high <= lattice.levels:
                    more = piece.letter * extent.height
                    yield Stacks({**before, **{c: before[c] + more for c in cells}})

    def _colours_come(self) -> int:
        """In how many colours something new stands there: hands put down one piece at a time."""
        before = dict(self.before.units())
        new = {letter for unit, letter in self.scene.stacks.units() if before.get(unit) != letter}
        return max(1, len(new - {"?"}))

    def _goes_on(self) -> float:
        """How much rarer it is, as a power, that what surprises has come besides a whole turn.

        Rarer still if nothing has come besides, and something has only been lost from sight.
        """
        scene, before = self.scene, self.before
        rarer = 0.0
        for stacks in self.turns:
            besides = scene.stacks.differing(stacks)
            if stacks == before or {*before.differing(stacks)} & {*besides}:
                continue
            lost = all(
                stacks.get(cell, "").startswith(scene.stacks.get(cell, "")) for cell in besides
            )
            rarer = max(rarer, LOST if lost else BESIDES)
        return rarer

    def _digs(self) -> float:
        """How much rarer it is, as a power, that with what came last goes what it came upon."""
        for cell in self.before.differing(self.scene.stacks):
            old, now = self.earlier.get(cell, ""), self.scene.stacks.get(cell, "")
            came = len(self.before.get(cell, "")) > len(old)
            if came and self.before[cell].startswith(old) and len(now) < len(old):
                return LOST
        return 0.0

    def _tears(self) -> float:
        """How much rarer it is, as a power, that a scene which is not made of whole blocks is."""
        kit = self.reader.kit
        return TORN if torn(kit, self.scene.stacks) and not torn(kit, self.before) else 0.0

    def _fine_odds(self) -> dict[Stacks, float]:
        """Scenes that would surprise nobody, with their odds against what was read."""
        scene, odds = self.scene, dict[Stacks, float]()
        ranked = self._doubts_now()
        tried = 0
        most = min(MOST_MISREAD, len({cell for _, cell, _ in ranked}))
        for count in range(1, most + 1):
            for picked in combinations(ranked, count):
                cells = {cell: stack for _, cell, stack in picked}
                if len(cells) < count:
                    continue
                tried += 1
                if tried > MOST_CHOICES:
                    break
                stacks = Stacks({**scene.stacks, **cells})
                if stacks == self.before or self.explains(stacks):
                    odds[stacks] = math.prod(odd for odd, _, _ in picked)
        for stacks in self._alike(frozenset(cell for _, cell, _ in ranked)):
            odds.setdefault(stacks, 0.0)
        several = {stacks for stacks in odds if len(scene.stacks.differing(stacks)) > 1}
        others = [stacks for stacks, odd in odds.items() if not odd or stacks in several]
        weights = self.weighing.odds(scene.stacks, others)
        for stacks, weight in zip(others, weights, strict=True):
            odds[stacks] = max(odds[stacks], min(weight, 1.0))
        return odds | self._missed()

    def _missed(self) -> dict[Stacks, float]:
        """Scenes with a turn besides that was not seen when it was made, with their odds."""
        changed = {*self.before.differing(self.scene.stacks)}
        others = []
        for stacks in self.turns:
            own = self.before.differing(stacks)
            if changed.isdisjoint(own):
                cells = {cell: stacks.get(cell, "") for cell in own}
                others.append(Stacks({**self.scene.stacks, **cells}))
        odds = self.weighing.odds(self.scene.stacks, others)
        weights = zip(others, odds, strict=True)
        least = self.chances.remembered
        likely = {stacks: min(odd, 1.0) for stacks, odd in weights if odd >= least}
        return {stacks: odd for stacks, odd in likely.items() if self.explains(stacks)}

    def _alike(self, doubtful: frozenset[Cell]) -> Iterator[Stacks]:
        """Scenes of the game that may have been misread as this one, in several cells at once."""
        scene, before = self.scene, self.before
        for stacks in self.otherwise:
            if stacks != scene.stacks and self.explains(stacks):
                yield stacks
        changed = set(before.differing(scene.stacks))
        if len(changed) <= MOST_MISREAD:
            yield before
        for stacks in self.turns:
            cells = scene.stacks.differing(stacks)
            own = set(before.differing(stacks))
            doubted = 1 < len(cells) <= MOST_MISREAD and not doubtful.isdisjoint(cells)
            if doubted or len(own & changed) >= OVERLAP * max(len(own | changed), 1):
                yield stacks
            elif own.isdisjoint(cells) and len(cells) <= MOST_MISREAD:
                yield stacks  # the turn is there, and something else besides

    def _doubts_now(self) -> list[tuple[float, Cell, str]]:
        """Other stacks by the readings of this scene, with their odds; the likeliest first."""
        scene, odds = self.scene, dict[tuple[Cell, str], float]()
        for reading in self.readings:
            for cell, choices in reading.unsure.items():
                own = scene.stacks.get(cell, "")
                if cell in scene.hidden:
                    continue
                for stack, chance in self._spelled(choices).items():
                    if stack != own:
                        odd = min(chance / max(choices.get(own, 0.0), 0.01), 1.0)
                        odds[cell, stack] = odds.get((cell, stack), 0.0) + odd
        count = len(self.readings)
        found = [(odd / count, cell, stack) for (cell, stack), odd in odds.items()]
        return sorted(found, reverse=True)

    def _spelled(self, choices: Mapping[str, float]) -> dict[str, float]:
        """The same choices with every colour for units that nobody can see."""
        found: dict[str, float] = {}
        for stack, chance in choices.items():
            gaps = stack.count("?")
            if gaps > MOST_HIDDEN:
                continue
            for letters in product(self.reader.letters, repeat=gaps):
                rest = iter(letters)
                whole = "".join(next(rest) if letter == "?" else letter for letter in stack)
                found[whole] = found.get(whole, 0.0) + chance
        return found
