"""The follower: from frames over time to scenes that stand still and are believed.

A scene is told when nothing moves in any camera, no hand is in it, and the pictures leave no
doubt: one reading is enough for what the game expects, anything else must be read twice.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from rules.cells import Cell, Unit
from rules.stacks import Stacks
from vision.doubts import Doubts
from vision.frame import Frame, ImageBGR
from vision.history import alike, common
from vision.reader import Reader
from vision.reading import Reading
from vision.reconciling import MOST_CHOICES, Chances, Surprise
from vision.remembering import Known, respelled
from vision.seen import Scene, Seen, Turned
from vision.watched import WatchedCamera
from vision.weighing import Weighing
from vision.whereabouts import Whereabouts

MOST_PIECES = 3  # that a single turn puts down or takes away, be it legal or not
BESIDE = 0.9  # of a unit's outline: more beside the pieces that came or went may be a hand
_POSSIBLE = 0.05  # what is less likely changes no verdict
MOST_TURNS = 1000  # a game that expects more expects everything; weighing that takes seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    """How long the follower waits, in seconds, and what it takes for likely."""

    settle_s: float = 0.12  # nothing has moved for so long (0.1 to 0.5)
    hand_s: float = 0.25  # a hand that rests in the picture is looked at so often (0.2 to 1)
    resting_s: float = 2.5  # so long and it is told what can be seen beside it (2 to 5)
    turned_s: float = 0.8  # hands that turn a board pause, but not for so long (0.5 to 2)
    much_s: float = 0.5  # what cannot be told yet in any case is read again so late (0.3 to 1)
    part_s: float = 8.0  # so long and it is no hand but part of the table (5 to 30)
    doubt_s: float = 1.5  # doubt is looked at again for so long before it is told (1 to 3)
    discord_s: float = 3.0  # the same where no two readings in a row agree (2 to 5)
    again_s: tuple[float, ...] = (0.06, 0.13, 0.5, 0.7)  # pauses between readings of one scene
    agreed: int = 3  # readings that call a scene wrong in any case, whatever is unsure (2 to 4)
    smooth: int = 4  # so many still frames are averaged from the second reading on
    chances: Chances = field(default_factory=Chances)


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
        self._earlier = Stacks()  # what was believed before the last change
        self._read_at = -np.inf
        self._hand_at = -np.inf  # when pieces did not explain what looked covered
        self._hand = False
        self._plain: Stacks | None = None  # what was read beyond doubt under what looks like one
        self._readings: list[Reading] = []
        self._told: Scene | None = None  # since something moved last
        self._last: Scene | None = None  # the last one that was told
        self._wonders = False  # whether there was any doubt in it that had not been told before
        self._begun = False  # whether the game has explained a scene yet
        self._doubts = Doubts(self.settings.chances.remembered)
        self._passing: list[Reading] = []  # of scenes that nobody was told of, since the last one
        self._turn: Turned | None = None  # not told yet
        self._early = False  # whether nothing can be told for a while, whatever is read
        self._asked: list[WatchedCamera] = []  # those that can be trusted now

    @property
    def believed(self) -> Stacks | None:
        """What stood on the table when it was last still; None before the first scene."""
        return self._believed

    def lags(self) -> dict[str, float]:
        """How many seconds later than the earliest camera each one shows things, where known."""
        return self._where.lags()

    def believe(self, stacks: Stacks) -> None:
        """What stands there by what people know; the next reading begins from it."""
        self._doubts.forget((self._believed or Stacks()).differing(stacks))
        self._believed = stacks
        self._plain = None
        self._where.believe(stacks)

    def see(self, t: float, frames: Mapping[str, Frame]) -> list[Seen]:
        """The frames of one moment, and what comes of them."""
        told: list[Seen] = list(self._where.take(t, frames))
        moved_at = self._where.moved_at
        if moved_at == t:
            self._read_at = -np.inf
            self._hand = self._early = False
            self._plain = None
            if self._told is None:
                self._passing += self._readings
            else:
                self._doubts.note(self._readings)
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
            # The last look is taken just when what is beyond question need not wait any longer.
            left = self._where.moved_at + self.settings.doubt_s - self._read_at
            return min(self.settings.much_s, left) if left > 0 else self.settings.much_s
        pauses = self.settings.again_s
        wonders = self._wonders and len(self._readings) <= len(pauses)
        if self._told is not None and not (self._told.hidden or wonders):
            return np.inf
        return pauses[min(len(self._readings), len(pauses)) - 1] if self._readings else 0.0

    def _look(self, t: float) -> Scene | None:
        fresh = self._where.fresh(t)
        self._asked = [*fresh.values()]
        if not fresh:
            return None
        if (same := self._nothing_new(t, fresh)) is not None:
            self._read_at = t
            return self._tell(same)
        still_s = t - self._where.moved_at
        hands = self._hands(fresh, still_s)
        # While it rests, what can be read beside it is as it was.
        rests = still_s < self.settings.resting_s
        arm = any(camera.arm() for camera in fresh.values())
        if hands and rests and (arm or (self._hand and self._plain is None)):
            self._read_at, self._hand = t, True
            self._readings, self._plain = [], None
            return None
        reading = self._read(t, fresh)
        if hands and (moved := self._moved(t, reading, fresh)):
            # Tall pieces at the rim look like hands, until they are taken out of the change.
            hands = self._hands(fresh, still_s, moved)
        plain = self._beyond_doubt(reading) if hands and not arm else None
        if plain is not None and plain == self._plain:
            hands = frozenset()  # another light, say
        self._plain = plain
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

    def _beyond_doubt(self, reading: Reading) -> Stacks | None:
        """What is read without any doubt and expected, as hardly under a hand."""
        if reading.unsure or reading.hidden or reading.covered:
            return None
        stacks = reading.stacks
        return stacks if stacks == self._believed or self._explains(stacks) else None

    def _moved(self, t: float, reading: Reading, fresh: Mapping[str, WatchedCamera]) -> list[Unit]:
        """The units that have surely come or gone since the last scene.

        Hands look like pieces, too, but hardly like those that the game expects; and with an arm
        they reach where no piece could be.
        """
        scene = self._scene(t, reading)
        moved = _between(self._believed or Stacks(), scene.stacks)
        doubtful = any(unit.cell in scene.unsure for unit in moved)
        if reading.covered or doubtful:
            return []
        if not self._explains(scene.stacks) and any(camera.arm() for camera in fresh.values()):
            return []
        return moved

    def _read(self, t: float, fresh: Mapping[str, WatchedCamera]) -> Reading:
        self._read_at = t
        count = 1 if not self._readings else self.settings.smooth
        images: dict[str, ImageBGR] = {n: c.picture(count) for n, c in fresh.items()}
        # Every other reading begins from nothing: two searches that agree are worth more. From the
        # third on they also try what the others have found, and what the game would allow.
        anew = len(self._readings) % 2 or self._plain is not None
        last = None if anew else self._believed
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
                bare = self._uncovered(images, reading, last, fresh)
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
        odds = self._weighing().odds(now, expected)
        return [stacks for stacks, odd in zip(expected, odds, strict=True) if odd > 1.0]

    def _weighing(self) -> Weighing:
        """How scenes are weighed by the pictures that were read last."""
        return Weighing(self._where.reader, [camera.area for camera in self._asked])

    def _uncovered(
        self,
        images: Mapping[str, ImageBGR],
        reading: Reading,
        last: Stacks | None,
        fresh: Mapping[str, WatchedCamera],
    ) -> Reading:
        """The reading where nobody has reached in: what looks like nothing known is a piece."""
        cells = frozenset(cell for cover in reading.covered.values() for cell in cover.cells)
        # Then they were not read, but taken over from it: wrong only where something has changed.
        if last is not None and self._may_differ(reading, fresh):
            reading = self._where.reader.read(images)
            cells = frozenset(cell for cover in reading.covered.values() for cell in cover.cells)
        return replace(reading, hidden=reading.hidden - cells, covered={})

    def _may_differ(self, reading: Reading, fresh: Mapping[str, WatchedCamera]) -> bool:
        """Whether something may be in the way that was not when all was told without doubt.

        What a camera does not understand may have stood there before.
        """
        told = self._last
        return told is None or any(
            cell in told.unsure or self._known([fresh[name]]).may_have_changed(cell, reading.stacks)
            for name, cover in reading.covered.items()
            for cell in cover.cells
        )

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
            letters = self._where.reader.letters
            inferred = self._known().inferred(scene.stacks, letters, self._explains)
            known, scene = inferred is not None, _recoloured(scene, inferred or scene.stacks)
        if not known and not self._begun and (start := self._fine(scene)) is not None:
            # Before the game nobody has done anything yet that could be wrong.
            known, scene = True, replace(scene, stacks=start, unsure={})
        at_once = known and not self._takes_several_turns(scene)
        if at_once and not self._new_doubt(scene):
            self._begun = True
            return self._tell(scene, covered)
        if at_once and self._only_one_is_fine(scene):
            self._begun = True
            return self._tell(replace(scene, unsure={}), covered)
        if at_once and self._stays_open(scene):
            self._begun = True
            return self._tell(scene, covered)
        still_early = still_s < self.settings.doubt_s and not self._beyond_question(scene)
        self._early = still_early and self._much_at_once(scene)
        if not (known or self._early) and still_s < self._resting(scene):
            self._early = self._more_has_changed(reading)
        if self._early or not self._convincing(scene, still_s):
            return None
        return self._tell(scene if known else self._reconciled(scene), covered)

    def _resting(self, scene: Scene) -> float:
        """For how long what has come over the board besides pieces may be a hand at rest."""
        return self.settings.doubt_s if self._beyond_question(scene) else self.settings.resting_s

    def _beyond_question(self, scene: Scene) -> bool:
        """Whether readings agree without any doubt so often that a surprise need not wait."""
        return not self._new_doubt(scene) and self._agreed(scene) >= self.settings.agreed

    def _takes_several_turns(self, scene: Scene) -> bool:
        """Whether no single turn leads there: much must be so by chance, a hand's shadow may be."""
        if not self._begun or scene.stacks == self._believed:
            return False
        expected = self._expected()
        if not expected or scene.stacks in expected:
            return False
        return not any(_alike(scene.stacks, stacks) for stacks in expected)

    def _new_doubt(self, scene: Scene) -> bool:
        """Whether anything is doubtful that was not told as doubtful before, and looks as then."""
        known = self._last.unsure if self._last is not None else {}
        return any(known.get(cell) != choices for cell, choices in scene.unsure.items())

    def _more_has_changed(self, reading: Reading) -> bool:
        """Whether something has come over the board besides pieces: a hand, most likely."""
        moved = _between(self._believed or Stacks(), reading.stacks)
        return any(camera.unexplained(moved) > BESIDE for camera in self._asked)

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
        if not self._new_doubt(scene) and agreed >= (2 if all_agree else cfg.agreed):
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
                not alike(other.stacks.get(cell, ""), scene.stacks.get(cell, ""))
                and other.stacks.get(cell, "") not in scene.unsure.get(cell, ())
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

    def _only_one_is_fine(self, scene: Scene) -> bool:
        """Whether doubt is between something usual, well seen, and things nobody would expect."""
        for cell, choices in scene.unsure.items():
            if max(choices.values()) < self.settings.chances.enough:
                return False
            for stack, chance in choices.items():
                other = scene.stacks.with_stack(cell, stack)
                if chance >= _POSSIBLE and other != scene.stacks and self._explains(other):
                    return False
        return True

    def _stays_open(self, scene: Scene) -> bool:
        """Whether a turn leaves open only what another look would not tell, and nothing fine.

        That is what stands as it did behind the pieces that came, and colours that are hard to see.
        """
        before = self._believed
        if before is None or scene.stacks == before:
            return False
        told = self._last.unsure if self._last is not None else {}
        open_now: list[list[tuple[Cell, str]]] = []
        for cell, choices in scene.unsure.items():
            now = scene.stacks.get(cell, "")
            if told.get(cell) == choices:
                continue
            possible = [stack for stack, chance in choices.items() if chance >= _POSSIBLE]
            likeliest = choices.get(now, 0.0) == max(choices.values())
            as_high = all(len(stack) == len(now) for stack in possible)
            if not likeliest or not (as_high or now == before.get(cell, "")):
                return False
            open_now.append([(cell, stack) for stack in possible])
        if math.prod(map(len, open_now)) > MOST_CHOICES:
            return False
        others = (Stacks({**scene.stacks, **dict(chosen)}) for chosen in product(*open_now))
        return not any(other != scene.stacks and self._explains(other) for other in others)

    def _reconciled(self, scene: Scene) -> Scene:
        """What a scene that surprises may be instead."""
        if self._believed is None or not self._begun:
            return scene
        otherwise = [
            self._scene(scene.t, reading, scene.hidden).stacks for reading in self._readings[:-1]
        ]
        return Surprise(
            scene,
            self._believed,
            self._earlier,
            self._readings,
            otherwise,
            self._expected(),
            self._explains,
            self._where.reader,
            self._weighing(),
            self.settings.chances,
        ).reconciled()

    def _scene(self, t: float, reading: Reading, hands: frozenset[Cell] = frozenset()) -> Scene:
        """The reading, completed by what was known before it."""
        if self._believed is None:
            hidden = reading.hidden | hands
            return Scene(t, reading.stacks, reading.unsure, hidden, reading.certainty)
        return self._known().scene(t, reading, hands)

    def _known(self, cameras: Sequence[WatchedCamera] = ()) -> Known:
        """What is known, and what these cameras show; all that can be trusted if none are named."""
        cameras = cameras or self._asked
        return Known(self._believed or Stacks(), self._last, cameras, self._heights)

    def _tell(self, scene: Scene, covered: Collection[Cell] = ()) -> Scene:
        before = self._believed or Stacks()
        moved = _between(before, scene.stacks)
        turns = self._expected() if self._begun and scene.stacks != before else ()
        if scene.stacks in turns:
            turns = ()  # nothing is missing
        scene = replace(scene, doubted=self._doubts.all(), hand_clock=self._where.hand_clock())
        self._wonders = self._new_doubt(scene)
        self._told = self._last = scene
        if scene.stacks != before:
            self._earlier = before
        self.believe(scene.stacks)
        self._doubts.note([*self._passing, *self._readings])
        self._passing = []
        self._doubts.note_missing(scene.stacks, turns, self._weighing())
        self._where.understood(scene.t, moved, covered)
        return scene


def _between(before: Stacks, now: Stacks) -> list[Unit]:
    """The units that have come, gone or changed."""
    old, new = dict(before.units()), dict(now.units())
    return [unit for unit in {**old, **new} if old.get(unit) != new.get(unit)]


def _recoloured(scene: Scene, stacks: Stacks) -> Scene:
    """The scene with other colours, also where it says what else may stand there."""
    unsure = dict(scene.unsure)
    for cell in unsure.keys() & {*scene.stacks.differing(stacks)}:
        read, told = scene.stacks.get(cell, ""), stacks.get(cell, "")
        unsure[cell] = respelled(unsure[cell], read, told)
    return replace(scene, stacks=stacks, unsure=unsure)


def _alike(one: Stacks, other: Stacks) -> bool:
    """Whether two scenes may be the same, but for units whose colour nobody can see."""
    return all(alike(one.get(c, ""), other.get(c, "")) for c in one.differing(other))
