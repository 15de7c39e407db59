"""The follower: from frames over time to scenes that stand still and are believed.

A scene is told when nothing moves in any camera, no hand is in it, and the pictures leave no
doubt: one reading is enough for what the game expects, anything else must be read twice.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from rules.cells import Cell, Unit
from rules.stacks import Stacks
from vision.frame import Frame, ImageBGR
from vision.history import as_remembered, common, completed, hearsay, with_history
from vision.reader import Reader
from vision.reading import SURE, Reading
from vision.seen import Scene, Seen, Turned
from vision.sight import WEAK, seen_share
from vision.watched import WatchedCamera
from vision.whereabouts import Whereabouts

MOST_WEAK = 3  # units whose colours are inferred at once
MOST_PIECES = 3  # that a single turn puts down or takes away, be it legal or not
MOST_CHOICES = 64  # scenes that doubt may stand between before nobody tries them one by one
OVERLAP = 0.6  # of the cells that two turns change, if one may be taken for the other
BESIDE = 0.9  # of a unit's outline: more beside the pieces that came or went may be a hand
MOST_TURNS = 1000  # a game that expects more expects everything; weighing that takes seconds
MOST_MISREAD = 3  # cells in which a scene that surprises may have been misread at once
ALSO = 0.3  # how often what surprises goes on in one more cell
BESIDES = 0.5  # how much rarer two surprises are, as a power of the chance of one
LOST = 1.0  # the same where the second one is that something has gone from sight


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    """How long the follower waits, in seconds."""

    settle_s: float = 0.12  # nothing has moved for so long (0.1 to 0.5)
    hand_s: float = 0.25  # a hand that rests in the picture is looked at so often (0.2 to 1)
    resting_s: float = 2.5  # so long and it is told what can be seen beside it (2 to 5)
    turned_s: float = 0.8  # hands that turn a board pause, but not for so long (0.5 to 2)
    much_s: float = 0.5  # what cannot be told yet in any case is read again so late (0.3 to 1)
    part_s: float = 8.0  # so long and it is no hand but part of the table (5 to 30)
    doubt_s: float = 1.5  # doubt is looked at again for so long before it is told (1 to 3)
    discord_s: float = 3.0  # the same where no two readings in a row agree (2 to 5)
    again_s: tuple[float, ...] = (0.06, 0.2, 0.5, 0.7)  # pauses between readings of one scene
    enough: float = 0.6  # chance of what the game expects, where it expects nothing else
    surprise: float = 0.1  # chance of what it does not expect, before anybody looks (0.02 to 0.2)
    worth_asking: float = 0.1  # chance that nobody has done anything wrong (0.05 to 0.3)
    remembered: float = 0.02  # doubt that was overcome is remembered if it was more (0.01 to 0.1)
    agreed: int = 3  # readings that call a scene wrong in any case, whatever is unsure (2 to 4)
    smooth: int = 4  # so many still frames are averaged from the second reading on


class Follower:
    """Follows one table; fed moments, it returns what is believed as soon as it is."""

    def __init__(
        self,
        reader: Reader,
        *,
        expected: Callable[[], Sequence[Stacks]] = tuple,
        explains: Callable[[Stacks], bool] = lambda _: False,
        turnable: bool = False,
        settings: FollowSettings | None = None,
    ) -> None:
        """`turnable`: players turn and shift the board during play."""
        self._where = Whereabouts(reader, turnable=turnable)
        self._expected = expected
        self._explains = explains
        self.settings = settings or FollowSettings()
        self._extents = [extent for piece in reader.kit for extent in piece.shape.extents]
        self._heights = {extent.height for extent in self._extents}
        self._believed: Stacks | None = None
        self._read_at = -np.inf
        self._hand_at = -np.inf  # when pieces did not explain what looked covered
        self._hand = False
        self._readings: list[Reading] = []
        self._told: Scene | None = None  # since something moved last
        self._last: Scene | None = None  # the last one that was told
        self._wonders = False  # whether there was any doubt in it that had not been told before
        self._begun = False  # whether the game has explained a scene yet
        # What else could stand on a cell by what was read since it was last seen to change.
        self._doubted: dict[Cell, dict[str, float]] = {}
        self._passing: list[Reading] = []  # of scenes that nobody was told of, since the last one
        self._turn: Turned | None = None  # not told yet
        self._early = False  # whether nothing can be told for a while, whatever is read

    @property
    def believed(self) -> Stacks | None:
        """What stood on the table when it was last still; None before the first scene."""
        return self._believed

    def lags(self) -> dict[str, float]:
        """How many seconds later than the earliest camera each one shows things, where known."""
        return self._where.lags()

    def believe(self, stacks: Stacks) -> None:
        """What stands there by what people know; the next reading begins from it."""
        for cell in (self._believed or Stacks()).differing(stacks):
            self._doubted.pop(cell, None)
        self._believed = stacks
        self._where.believe(stacks)

    def see(self, t: float, frames: Mapping[str, Frame]) -> list[Seen]:
        """The frames of one moment, and what comes of them."""
        told: list[Seen] = list(self._where.take(t, frames))
        moved_at = self._where.moved_at
        if moved_at == t:
            self._read_at = -np.inf
            self._hand = self._early = False
            if self._told is None:
                self._passing += self._readings
            else:
                self._doubt(self._readings)
            self._readings = []
            self._told = None
        if t - moved_at >= self.settings.turned_s:
            told += self._turned()
        waits = t - self._read_at < self._pause()
        if t - moved_at < self.settings.settle_s or (waits and not self._where.suspicious):
            return told
        for note in self._where.settle(t):
            if isinstance(note, Turned):
                self._turn = note if self._turn is None else self._turn.further(note)
            else:
                told.append(note)
        if waits:
            return told
        before = self._believed
        scene = self._look(t)
        if scene is None:
            return told
        if scene.stacks != before:
            told += self._turned()
        return [*told, scene]

    def _turned(self) -> list[Turned]:
        """How far the board has been turned since that was told last."""
        turn, self._turn = self._turn, None
        return [] if turn is None or turn.whole else [turn]

    def _pause(self) -> float:
        if self._hand:
            return self.settings.hand_s
        if self._early:
            return self.settings.much_s
        pauses = self.settings.again_s
        wonders = self._wonders and len(self._readings) <= len(pauses)
        if self._told is not None and not (self._told.hidden or wonders):
            return np.inf
        return pauses[min(len(self._readings), len(pauses)) - 1] if self._readings else 0.0

    def _look(self, t: float) -> Scene | None:
        fresh = self._where.fresh(t)
        if not fresh:
            return None
        if (same := self._nothing_new(t, fresh)) is not None:
            self._read_at = t
            return self._tell(same)
        still_s = t - self._where.moved_at
        hands = self._hands(fresh, still_s)
        # While it rests, what can be read beside it is as it was.
        rests = still_s < self.settings.resting_s
        if hands and rests and (self._hand or any(camera.arm() for camera in fresh.values())):
            self._read_at, self._hand = t, True
            self._readings = []
            return None
        reading = self._read(t, fresh)
        if hands and (moved := self._moved(t, reading)):
            # Tall pieces at the rim look like hands, until they are taken out of the change; hands
            # look like pieces, but hardly like those that the game expects.
            hands = self._hands(fresh, still_s, moved)
        starts = not self._begun and self._explains(reading.stacks)
        self._hand = rests and bool(hands or (reading.covered and not starts))
        if self._hand:
            self._readings = []
            return None
        return self._judged(t, reading, hands, still_s)

    def _nothing_new(self, t: float, fresh: Mapping[str, WatchedCamera]) -> Scene | None:
        """The last scene again where that was beyond doubt and the pictures show nothing else."""
        last, believed = self._last, self._believed
        if last is None or believed is None or self._readings or not self._begun:
            return None
        if last.unsure or last.hidden or any("?" in stack for stack in believed.values()):
            return None
        if not all(camera.unchanged() for camera in fresh.values()):
            return None
        return replace(last, t=t, stacks=believed)

    def _hands(
        self, fresh: Mapping[str, WatchedCamera], still_s: float, moved: Sequence[Unit] = ()
    ) -> frozenset[Cell]:
        """The cells that a resting hand covers in some camera."""
        if still_s > self.settings.part_s:
            return frozenset()
        believed = self._believed or Stacks()
        covered = [camera.under_hand(believed, moved) for camera in fresh.values()]
        return frozenset(cell for cells in covered for cell in cells)

    def _moved(self, t: float, reading: Reading) -> list[Unit]:
        """The units that have surely come or gone since the last scene, where that is expected."""
        scene = self._scene(t, reading, frozenset())
        moved = _between(self._believed or Stacks(), scene.stacks)
        doubtful = any(unit.cell in scene.unsure for unit in moved)
        if reading.covered or doubtful or not self._explains(scene.stacks):
            return []
        return moved

    def _read(self, t: float, fresh: Mapping[str, WatchedCamera]) -> Reading:
        self._read_at = t
        count = 1 if not self._readings else self.settings.smooth
        images: dict[str, ImageBGR] = {n: c.picture(count) for n, c in fresh.items()}
        # Every other reading begins from nothing: two searches that agree are worth more. From the
        # third on they also try what the others have found, and what the game would allow.
        last = None if len(self._readings) % 2 else self._believed
        found = [reading.stacks for reading in self._readings]
        candidates = [*found, *self._expected()] if len(found) > 1 else ()
        reading = self._where.reader.read(images, last=last, candidates=candidates)
        if last is not None and (better := self._overlooked(reading)):
            reading = self._where.reader.read(images, last=last, candidates=better)
        if reading.covered:
            reached = any(camera.reached() for camera in fresh.values())
            moved_at = self._where.moved_at
            # Hands often go on; and while one rests, the pictures are as before.
            rests = t - moved_at >= self.settings.much_s and self._hand_at < moved_at
            if rests or not reached:
                bare = self._uncovered(images, reading, last)
                if reached and self._more_has_changed(bare):
                    self._hand_at = t
                else:
                    reading = bare
        self._readings.append(reading)
        return reading

    def _overlooked(self, reading: Reading) -> list[Stacks]:
        """Turns that the game expects and that explain the pictures better than what was read.

        A search that begins from what stood there does not come upon every piece.
        """
        now = reading.stacks
        if not self._begun or (now != self._believed and self._explains(now)):
            return []
        expected = [stacks for stacks in self._expected() if stacks != now]
        if len(expected) > MOST_TURNS:
            return []
        odds = self._where.reader.weigh(expected)
        return [stacks for stacks, odd in zip(expected, odds, strict=True) if odd > 1.0]

    def _doubt(self, readings: Sequence[Reading]) -> None:
        """Remembers what else could have stood there by these readings, be they told or not."""
        for reading in readings:
            for cell, choices in reading.unsure.items():
                known = self._doubted.setdefault(cell, {})
                for stack, chance in choices.items():
                    if chance >= self.settings.remembered:
                        known[stack] = max(known.get(stack, 0.0), chance)

    def _uncovered(
        self, images: Mapping[str, ImageBGR], reading: Reading, last: Stacks | None
    ) -> Reading:
        """The reading where nobody has reached in: what looks like nothing known is a piece."""
        if last is not None:  # then covered cells were not read, but taken over from it
            reading = self._where.reader.read(images)
        cells = frozenset(cell for cover in reading.covered.values() for cell in cover.cells)
        return replace(reading, hidden=reading.hidden - cells, covered={})

    def _judged(
        self, t: float, reading: Reading, hands: frozenset[Cell], still_s: float
    ) -> Scene | None:
        """The scene if it can be believed already."""
        self._early = False
        scene = self._scene(t, reading, hands)
        covered = hands.union(*(cover.cells for cover in reading.covered.values()))
        before = self._told
        if before is not None and before.stacks == scene.stacks and before.unsure == scene.unsure:
            return None
        known = scene.stacks == self._believed or self._explains(scene.stacks)
        if not known and self._sound(reading, scene):
            # What was taken for unchanged belongs to a whole that the game expects.
            known, scene = True, replace(scene, stacks=reading.stacks)
        if not known:
            inferred = self._inferred(scene.stacks)
            known, scene = inferred is not None, replace(scene, stacks=inferred or scene.stacks)
        if not known and not self._begun and (start := self._fine(scene)) is not None:
            # Before the game nobody has done anything yet that could be wrong.
            known, scene = True, replace(scene, stacks=start, unsure={})
        if known and not self._new_doubt(scene):
            self._begun = True
            return self._tell(scene, covered)
        if known and self._only_one_is_fine(scene):
            self._begun = True
            return self._tell(replace(scene, unsure={}), covered)
        self._early = still_s < self.settings.doubt_s and self._much_at_once(scene)
        if not (known or self._early) and still_s < self._resting(scene):
            self._early = self._more_has_changed(reading)
        if self._early or not self._convincing(scene, still_s):
            return None
        return self._tell(scene if known else self._reconciled(scene), covered)

    def _resting(self, scene: Scene) -> float:
        """For how long what has come over the board besides pieces may be a hand at rest."""
        again = not scene.unsure and self._agreed(scene) >= self.settings.agreed
        return self.settings.doubt_s if again else self.settings.resting_s

    def _new_doubt(self, scene: Scene) -> bool:
        """Whether anything is doubtful that was not told as doubtful before, and looks as then."""
        known = self._last.unsure if self._last is not None else {}
        return any(known.get(cell) != choices for cell, choices in scene.unsure.items())

    def _more_has_changed(self, reading: Reading) -> bool:
        """Whether something has come over the board besides pieces: a hand, most likely."""
        moved = _between(self._believed or Stacks(), reading.stacks)
        return any(camera.unexplained(moved) > BESIDE for camera in self._where.cameras.values())

    def _sound(self, reading: Reading, scene: Scene) -> bool:
        """Whether what was read, history left aside, is without doubt what the game expects."""
        other = reading.stacks.differing(scene.stacks)
        if not other or reading.hidden or reading.unsure.keys() & {*other}:
            return False
        return self._explains(reading.stacks)

    def _convincing(self, scene: Scene, still_s: float) -> bool:
        """Whether a scene that the game does not expect has been seen well enough to be told."""
        cfg = self.settings
        agreed = self._agreed(scene)
        all_agree = agreed == len(self._readings)
        if not scene.unsure and agreed >= (2 if all_agree else cfg.agreed):
            return True
        if still_s >= (cfg.doubt_s if agreed > 1 else cfg.discord_s):
            return True
        # Doubt between things of which none is fine can wait: that something is wrong is sure.
        return agreed >= cfg.agreed and not self._may_be_fine(scene)

    def _much_at_once(self, scene: Scene) -> bool:
        """Whether more has changed than a turn moves: an accident, or something in the way."""
        if self._believed is None:
            return False
        largest = max((e.width * e.depth * e.height for e in self._extents), default=1)
        changed = 0
        for cell in self._believed.differing(scene.stacks):
            old, new = self._believed.get(cell, ""), scene.stacks.get(cell, "")
            changed += max(len(old), len(new)) - common(old, new)
        return changed > MOST_PIECES * largest

    def _agreed(self, scene: Scene) -> int:
        """How many readings in a row, up to the newest one, mean this scene."""
        count = 1
        for reading in self._readings[-2::-1]:
            other = self._scene(scene.t, reading, scene.hidden)
            if any(
                other.stacks.get(cell, "") not in scene.unsure.get(cell, ())
                and scene.stacks.get(cell, "") not in other.unsure.get(cell, ())
                for cell in scene.stacks.differing(other.stacks)
            ):
                break
            count += 1
        return count

    def _may_be_fine(self, scene: Scene) -> bool:
        """Whether any scene that the doubt allows would surprise nobody, or nobody can tell."""
        choices = math.prod(len(stacks) for stacks in scene.unsure.values())
        return choices > MOST_CHOICES or self._fine(scene) is not None

    def _fine(self, scene: Scene) -> Stacks | None:
        """A scene that the doubt allows and that would surprise nobody."""
        choices = [[(cell, stack) for stack in stacks] for cell, stacks in scene.unsure.items()]
        if not choices or math.prod(map(len, choices)) > MOST_CHOICES:
            return None
        for chosen in product(*choices):
            stacks = Stacks({**scene.stacks, **dict(chosen)})
            if stacks == self._believed or self._explains(stacks):
                return stacks
        return None

    def _reconciled(self, scene: Scene) -> Scene:
        """The scene as the game allows it, where the pictures do not contradict that.

        Something misread is likelier than something forbidden if it is likely enough by itself;
        where that is open, the scene is doubtful in the cells that it depends on.
        """
        if self._believed is None or not self._begun:
            return scene
        cfg = self.settings
        odds = self._fine_odds(scene)
        if not odds:
            return self._plainer(scene)
        surprise = cfg.surprise ** (self._colours_come(scene) + self._goes_on(scene))
        total = surprise + sum(odds.values())
        best = max(odds, key=lambda stacks: odds[stacks])
        if odds[best] / total >= cfg.enough:
            return replace(scene, stacks=best, unsure={})
        if 1 - surprise / total < cfg.worth_asking:
            return self._plainer(scene)
        unsure = dict(scene.unsure)
        for stacks, odd in odds.items():
            for cell in scene.stacks.differing(stacks) if odd >= cfg.remembered * total else ():
                chances = dict(unsure.get(cell, {scene.stacks.get(cell, ""): 1.0}))
                other = stacks.get(cell, "")
                chances[other] = max(chances.get(other, 0.0), odd / total)
                unsure[cell] = chances
        return replace(scene, unsure=unsure)

    def _plainer(self, scene: Scene) -> Scene:
        """A scene that surprises anyway, with doubtful cells as they were if that may well be."""
        before = self._believed or Stacks()
        if (stacks := self._piece_on_others(scene)) is not None:
            left = {c: found for c, found in scene.unsure.items() if stacks.get(c, "") in found}
            return replace(scene, stacks=stacks, unsure=left)
        stacks = scene.stacks
        for cell, choices in scene.unsure.items():
            now, old = stacks.get(cell, ""), before.get(cell, "")
            if old in choices and old != now and choices[old] >= ALSO * choices.get(now, 0.0):
                stacks = stacks.with_stack(cell, old)
        return scene if stacks == before else replace(scene, stacks=stacks)

    def _piece_on_others(self, scene: Scene) -> Stacks | None:
        """One piece on top of others that explains the pictures better, if there is any.

        Where all pieces fill several units, the reader looks for them on the board only.
        """
        before = self._believed or Stacks()
        if any(extent.width * extent.depth * extent.height == 1 for extent in self._extents):
            return None
        changed = {*before.differing(scene.stacks)}
        pieces = [*dict.fromkeys(self._laid_on(before, changed))]
        odds = self._where.reader.weigh(pieces)
        best = max(zip(odds, pieces, strict=True), key=lambda found: found[0], default=None)
        return best[1] if best is not None and best[0] > 1.0 else None

    def _laid_on(self, before: Stacks, changed: Collection[Cell]) -> Iterator[Stacks]:
        """What stood there with one piece more on top of others, mostly where something changed."""
        reader = self._where.reader
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

    def _colours_come(self, scene: Scene) -> int:
        """In how many colours something new stands there: hands put down one piece at a time."""
        before = dict((self._believed or Stacks()).units())
        new = {letter for unit, letter in scene.stacks.units() if before.get(unit) != letter}
        return max(1, len(new - {"?"}))

    def _goes_on(self, scene: Scene) -> float:
        """How much rarer it is, as a power, that what surprises has come besides a whole turn.

        Rarer still if nothing has come besides, and something has only been lost from sight.
        """
        before = self._believed or Stacks()
        rarer = 0.0
        for stacks in self._expected():
            besides = scene.stacks.differing(stacks)
            if stacks == before or {*before.differing(stacks)} & {*besides}:
                continue
            lost = all(
                stacks.get(cell, "").startswith(scene.stacks.get(cell, "")) for cell in besides
            )
            rarer = max(rarer, LOST if lost else BESIDES)
        return rarer

    def _fine_odds(self, scene: Scene) -> dict[Stacks, float]:
        """Scenes that would surprise nobody, with their odds against what was read."""
        odds: dict[Stacks, float] = {}
        ranked = self._doubts_now(scene)
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
                if stacks == self._believed or self._explains(stacks):
                    odds[stacks] = math.prod(odd for odd, _, _ in picked)
        for stacks in self._alike(scene, frozenset(cell for _, cell, _ in ranked)):
            odds.setdefault(stacks, 0.0)
        several = {stacks for stacks in odds if len(scene.stacks.differing(stacks)) > 1}
        others = [stacks for stacks, odd in odds.items() if not odd or stacks in several]
        for stacks, weight in zip(others, self._where.reader.weigh(others), strict=True):
            odds[stacks] = max(odds[stacks], min(weight, 1.0))
        return odds | self._missed(scene)

    def _missed(self, scene: Scene) -> dict[Stacks, float]:
        """Scenes with a turn besides that was not seen when it was made, with their odds."""
        changed = {*(self._believed or Stacks()).differing(scene.stacks)}
        others = []
        for stacks in self._expected():
            own = (self._believed or Stacks()).differing(stacks)
            if changed.isdisjoint(own):
                cells = {cell: stacks.get(cell, "") for cell in own}
                others.append(Stacks({**scene.stacks, **cells}))
        weights = zip(others, self._where.reader.weigh(others), strict=True)
        least = self.settings.remembered
        likely = {stacks: min(odd, 1.0) for stacks, odd in weights if odd >= least}
        return {stacks: odd for stacks, odd in likely.items() if self._explains(stacks)}

    def _alike(self, scene: Scene, doubtful: frozenset[Cell]) -> Iterator[Stacks]:
        """Scenes of the game that may have been misread as this one, in several cells at once."""
        for reading in self._readings[:-1]:
            stacks = self._scene(scene.t, reading, scene.hidden).stacks
            if stacks != scene.stacks and self._explains(stacks):
                yield stacks
        before = self._believed or Stacks()
        changed = set(before.differing(scene.stacks))
        if len(changed) <= MOST_MISREAD:
            yield before
        for stacks in self._expected():
            cells = scene.stacks.differing(stacks)
            own = set(before.differing(stacks))
            doubted = 1 < len(cells) <= MOST_MISREAD and not doubtful.isdisjoint(cells)
            if doubted or len(own & changed) >= OVERLAP * max(len(own | changed), 1):
                yield stacks
            elif own.isdisjoint(cells) and len(cells) <= MOST_MISREAD:
                yield stacks  # the turn is there, and something else besides

    def _doubts_now(self, scene: Scene) -> list[tuple[float, Cell, str]]:
        """Other stacks by the readings of this scene, with their odds; the likeliest first."""
        odds: dict[tuple[Cell, str], float] = {}
        for reading in self._readings:
            for cell, choices in reading.unsure.items():
                own = scene.stacks.get(cell, "")
                if cell in scene.hidden:
                    continue
                for stack, chance in self._spelled(choices).items():
                    if stack != own:
                        odd = min(chance / max(choices.get(own, 0.0), 0.01), 1.0)
                        odds[cell, stack] = odds.get((cell, stack), 0.0) + odd
        count = len(self._readings)
        found = [(odd / count, cell, stack) for (cell, stack), odd in odds.items()]
        return sorted(found, reverse=True)

    def _spelled(self, choices: Mapping[str, float]) -> dict[str, float]:
        """The same choices with every colour for units that nobody can see."""
        found: dict[str, float] = {}
        for stack, chance in choices.items():
            gaps = stack.count("?")
            if gaps > MOST_WEAK:
                continue
            for letters in product(self._where.reader.letters, repeat=gaps):
                rest = iter(letters)
                whole = "".join(next(rest) if letter == "?" else letter for letter in stack)
                found[whole] = found.get(whole, 0.0) + chance
        return found

    def _inferred(self, stacks: Stacks) -> Stacks | None:
        """The scene with other colours of new units that hardly anybody sees, if that is fine."""
        before = self._believed or Stacks()
        weak: list[Unit] = []
        for cell in before.differing(stacks):
            new = stacks.get(cell, "")
            for k in range(common(before.get(cell, ""), new), len(new) - 1):
                unit = Unit(cell, k + 1)
                if not self._well_seen(unit, stacks):
                    weak.append(unit)
        if not 0 < len(weak) <= MOST_WEAK:
            return None
        found = []
        for letters in product(self._where.reader.letters, repeat=len(weak)):
            other = stacks
            for (cell, level), letter in zip(weak, letters, strict=True):
                stack = other[cell]
                other = other.with_stack(cell, stack[: level - 1] + letter + stack[level:])
            if self._explains(other):
                found.append(other)
        return found[0] if len(found) == 1 else None

    def _only_one_is_fine(self, scene: Scene) -> bool:
        """Whether doubt is between something usual, well seen, and things nobody would expect."""
        for cell, choices in scene.unsure.items():
            if max(choices.values()) < self.settings.enough:
                return False
            for stack, chance in choices.items():
                other = scene.stacks.with_stack(cell, stack)
                if chance >= 0.05 and other != scene.stacks and self._explains(other):
                    return False
        return True

    def _scene(self, t: float, reading: Reading, hands: frozenset[Cell]) -> Scene:
        """The reading, with what was known where nothing has changed or nobody sees anything."""
        believed = self._believed
        hidden = reading.hidden | hands
        if believed is None:
            return Scene(t, reading.stacks, reading.unsure, hidden, reading.certainty)
        stacks, unsure = dict(reading.stacks), dict(reading.unsure)
        new = [unit for unit, letter in reading.stacks.units() if letter != _at(believed, unit)]
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
                unsure[cell] = with_history(unsure[cell], before, self._heights)
                stacks[cell], chance = next(iter(unsure[cell].items()))
                if chance >= SURE:
                    del unsure[cell]
            if stacks.get(cell):
                stacks[cell] = self._remembered(cell, before, stacks[cell], reading.stacks)
        return Scene(t, Stacks(stacks), unsure, hidden, reading.certainty)

    def _as_told(
        self, cell: Cell, before: str, reading: Reading, hidden: Collection[Cell]
    ) -> tuple[str, Mapping[str, float]]:
        """What stands on a cell that looks as it did, and what was doubtful and still is."""
        told = self._last
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
        return any(seen_share(c.area, stacks, unit) >= WEAK for c in self._where.cameras.values())

    def _could_change(
        self, cell: Cell, old: str, choices: Sequence[str], new: Sequence[Unit]
    ) -> bool:
        """Whether some camera's picture has changed where a cell's pieces may differ."""
        same = min(common(old, now) for now in choices)
        high = max(len(old), same + 1, *map(len, choices))
        others = [unit for unit in new if unit.cell != cell]
        cameras = self._where.cameras.values()
        seen = [camera.changed_at(cell, same + 1, high, others) for camera in cameras]
        known = [share for share in seen if share is not None]
        return not known or max(known) > 0.1

    def _doubt_the_rest(self, scene: Scene, turns: Sequence[Stacks]) -> None:
        """Remembers what whole turns have besides this scene, where it may only be out of sight."""
        whole = [
            (stacks, cells)
            for stacks in turns
            if 0 < len(cells := scene.stacks.differing(stacks)) <= MOST_MISREAD
            and all(stacks.get(cell, "").startswith(scene.stacks.get(cell, "")) for cell in cells)
        ]
        odds = self._where.reader.weigh([stacks for stacks, _ in whole])
        for (stacks, cells), odd in zip(whole, odds, strict=True):
            if (chance := odd / (1.0 + odd)) >= self.settings.remembered:
                for cell in cells:
                    known = self._doubted.setdefault(cell, {})
                    known[stacks[cell]] = max(known.get(stacks[cell], 0.0), chance)

    def _tell(self, scene: Scene, covered: Collection[Cell] = ()) -> Scene:
        before = self._believed or Stacks()
        moved = _between(before, scene.stacks)
        turns = self._expected() if self._begun and scene.stacks != before else ()
        if scene.stacks in turns:
            turns = ()  # nothing is missing
        scene = replace(scene, doubted={cell: dict(of) for cell, of in self._doubted.items()})
        self._wonders = self._new_doubt(scene)
        self._told = self._last = scene
        self.believe(scene.stacks)
        self._doubt([*self._passing, *self._readings])
        self._passing = []
        self._doubt_the_rest(scene, turns)
        self._where.understood(scene.t, moved, covered)
        return scene


def _at(stacks: Stacks, unit: Unit) -> str:
    return stacks.get(unit.cell, "")[unit.level - 1 : unit.level]


def _between(before: Stacks, now: Stacks) -> list[Unit]:
    """The units that have come, gone or changed."""
    old, new = dict(before.units()), dict(now.units())
    return [unit for unit in {**old, **new} if old.get(unit) != new.get(unit)]
