"""The follower: from frames over time to scenes that stand still and are believed.

A scene is told when nothing moves in any camera, no hand is in it, and the pictures leave no
doubt: one reading is enough for what the game expects, anything else must be read twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import Frame, ImageBGR
from vision.history import as_remembered, common, hearsay, with_history
from vision.likelihood import CameraEye
from vision.place import Anchor, Sighting, moved_camera, moved_picture
from vision.reader import Reader
from vision.reading import SURE, Reading
from vision.seen import CameraNote, Scene, Seen, Turned
from vision.sight import WEAK, seen_share
from vision.turning import Pose, Turning, turned_picture
from vision.watched import WatchedCamera, fitted

STRANGE = 3  # views in a row with nothing of the calibration in them are another table
MOST_WEAK = 3  # units whose colours are inferred at once


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    """How long the follower waits, in seconds."""

    settle_s: float = 0.12  # nothing has moved for so long (0.1 to 0.5)
    hand_s: float = 0.25  # a hand that rests in the picture is looked at so often (0.2 to 1)
    resting_s: float = 2.5  # so long and it is told what can be seen beside it (2 to 5)
    part_s: float = 8.0  # so long and it is no hand but part of the table (5 to 30)
    doubt_s: float = 1.5  # doubt is looked at again for so long before it is told (1 to 3)
    again_s: tuple[float, ...] = (0.06, 0.2, 0.5, 0.7)  # pauses between readings of one scene
    enough: float = 0.6  # chance of what the game expects, where it expects nothing else
    place_s: float = 2.0  # a camera that was bumped is looked for so often (1 to 5)
    track_s: float = 0.1  # a board that is being turned is looked at so often (0.06 to 0.15)
    stale_s: float = 0.7  # a camera whose newest frame is older is left out (0.3 to 2)
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
        self._reader = reader
        self._expected = expected
        self._explains = explains
        self.settings = settings or FollowSettings()
        self._table = dict(reader.cameras)  # the same cameras while the board lies as calibrated
        self.cameras = {
            name: WatchedCamera(eye.camera, reader.board, _anchor(eye, reader.board))
            for name, eye in reader.cameras.items()
        }
        self._turning = self._new_turning(Pose()) if turnable else None
        self._off: set[str] = set()  # cameras whose place is not known
        self._resized: set[str] = set()  # cameras whose pictures have another shape
        # How often a camera's view was strange; below 0 once it has shown the calibrated one.
        self._strangeness = dict.fromkeys(self.cameras, 0)
        self._believed: Stacks | None = None
        self._moved_at = -np.inf
        self._moving: dict[str, float] = {}
        self._placed_at = -np.inf
        self._tracked_at = -np.inf
        self._lies = True
        self._read_at = -np.inf
        self._hand = False
        self._readings: list[Reading] = []
        self._told: Scene | None = None

    @property
    def believed(self) -> Stacks | None:
        """What stood on the table when it was last still; None before the first scene."""
        return self._believed

    def believe(self, stacks: Stacks) -> None:
        """What stands there by what people know; the next reading begins from it."""
        if stacks != self._believed:
            self._believed = stacks
            for camera in self.cameras.values():
                camera.believe(stacks)

    def see(self, t: float, frames: Mapping[str, Frame]) -> list[Seen]:
        """The frames of one moment, and what comes of them."""
        told: list[Seen] = []
        for name, given in frames.items():
            if name not in self.cameras:
                continue
            frame = fitted(given, self._table[name].camera.size)
            if frame is None:
                if name not in self._resized:
                    width, height = self._table[name].camera.size
                    told.append(CameraNote(t, name, "resized", f"not {width} x {height}"))
                self._resized.add(name)
                continue
            self._resized.discard(name)
            if self.cameras[name].take(t, frame):
                self._moved_at = t
                self._moving[name] = t
                self._lies = False
                self._read_at = -np.inf
                self._hand = False
                self._readings = []
                self._told = None
        told += self._health(t)
        if self._turning is not None and t == self._moved_at:
            self._track(t)
        if t - self._moved_at < self.settings.settle_s or t - self._read_at < self._pause():
            return told
        told += self._places(t)
        told += self._turned(t)
        scene = self._look(t)
        return told if scene is None else [*told, scene]

    def _health(self, t: float) -> Iterator[CameraNote]:
        """What has become of cameras, whole seconds after it happened at most."""
        for name, camera in self.cameras.items():
            others = max((m for n, m in self._moving.items() if n != name), default=-np.inf)
            state = camera.health.judged(t, others)
            if state is not None:
                yield CameraNote(t, name, state)

    def _places(self, t: float) -> Iterator[CameraNote]:
        """Cameras that were bumped since the scene before; they are put right if possible."""
        if t - self._placed_at < self.settings.place_s and self._placed_at > self._moved_at:
            return
        self._placed_at = t
        for name, camera in list(self.cameras.items()):
            if camera.fresh(t, self.settings.stale_s) and camera.health.good:
                sighting = camera.place()
                if sighting is not None:
                    yield from self._place(t, name, sighting)

    def _place(self, t: float, name: str, sighting: Sighting) -> Iterator[CameraNote]:
        """What a view says about one camera's place."""
        if not sighting.known:
            if sighting.strange:
                yield from self._strange(t, name)
            return
        self._strangeness[name] = -1
        if not sighting.steady and name not in self._off:
            self._off.add(name)
            yield CameraNote(t, name, "moved")
        if name in self._off and (sighting.steady or self._realign(name, sighting)):
            self._off.discard(name)
            yield CameraNote(t, name, "realigned")

    def _strange(self, t: float, name: str) -> Iterator[CameraNote]:
        """A camera whose very first view has nothing in common with its calibration."""
        if self._strangeness[name] < 0 or name in self._off or self._table[name].empty is None:
            return
        self._strangeness[name] += 1
        image = self.cameras[name].picture(1)
        for other, camera in self.cameras.items():
            if other != name and camera.anchor is not None:
                fits = camera.anchor.camera.size == self._table[name].camera.size
                if fits and camera.anchor.sight(image).known:
                    self._off.add(name)
                    yield CameraNote(t, name, "swapped", other)
                    return
        if self._strangeness[name] >= STRANGE:
            self._off.add(name)
            yield CameraNote(t, name, "wrong-table")

    def _realign(self, name: str, sighting: Sighting) -> bool:
        """Takes the camera's new place over; False where it is not known well enough."""
        eye = self._table[name]
        camera = moved_camera(eye.camera, sighting)
        if camera is None:
            return False
        empty = None if eye.empty is None else moved_picture(eye.empty, sighting)
        self._table[name] = CameraEye(camera, eye.colours, empty)
        anchor = _anchor(self._table[name], self._reader.board)
        pose = self._turning.pose if self._turning else Pose()
        if self._turning is not None:
            self._turning = self._new_turning(pose)
        self._remake(pose, {name: anchor})
        return True

    def _track(self, t: float) -> None:
        """A board that is being turned; every other frame is enough."""
        if self._turning is None or t - self._tracked_at < self.settings.track_s:
            return
        self._tracked_at = t
        self._turning.track(self._newest(t))

    def _turned(self, t: float) -> Iterator[Turned]:
        """Whether the board lies elsewhere than when it was last seen still."""
        if self._turning is None or self._lies:
            return
        self._lies = True
        images = self._newest(t)
        if self._turning.lies(images):
            return
        before, pose = self._turning.pose, self._turning.fit(images)
        if pose is None:
            return
        self._turning.pose = pose
        self._remake(pose, {})
        degrees = (pose.degrees - before.degrees + 180.0) % 360.0 - 180.0
        yield Turned(t, degrees, round(degrees / 90) % 4)

    def _newest(self, t: float) -> dict[str, ImageBGR]:
        """The newest picture of every camera that can be trusted."""
        return {name: camera.picture(1) for name, camera in self._fresh(t).items()}

    def _new_turning(self, pose: Pose) -> Turning:
        cameras = {name: eye.camera for name, eye in self._table.items()}
        turning = Turning(self._reader.board, cameras)
        turning.pose = turning.tracked = pose
        return turning

    def _remake(self, pose: Pose, anchors: Mapping[str, Anchor | None]) -> None:
        """The reader anew, after a camera or the board has moved."""
        reader, board = self._reader, self._reader.board
        eyes: dict[str, CameraEye] = {}
        for name, eye in self._table.items():
            empty = eye.empty
            if empty is not None and pose != Pose():
                empty = turned_picture(empty, eye.camera, board, pose)
            eyes[name] = CameraEye(pose.camera(eye.camera, board), eye.colours, empty)
        self._reader = Reader(
            board,
            eyes,
            reader.kit,
            one_colour_stacks=reader.one_colour_stacks,
            settings=reader.settings,
        )
        believed = self._believed or Stacks()
        for name, camera in self.cameras.items():
            anchor = anchors.get(name, camera.anchor)
            self.cameras[name] = camera.heir(eyes[name].camera, anchor, believed)

    def _pause(self) -> float:
        if self._hand:
            return self.settings.hand_s
        if self._told is not None and not self._told.unsure and not self._told.hidden:
            return np.inf
        pauses = self.settings.again_s
        return pauses[min(len(self._readings), len(pauses)) - 1] if self._readings else 0.0

    def _look(self, t: float) -> Scene | None:
        fresh = self._fresh(t)
        if not fresh:
            return None
        still_s = t - self._moved_at
        hands = self._hands(fresh, still_s)
        self._hand = bool(hands) and still_s < self.settings.resting_s
        if self._hand:
            self._read_at = t
            self._readings = []
            return None
        reading = self._read(t, fresh)
        return self._judged(t, reading, hands, still_s)

    def _fresh(self, t: float) -> dict[str, WatchedCamera]:
        """The cameras that can be trusted now."""
        return {
            name: camera
            for name, camera in self.cameras.items()
            if camera.fresh(t, self.settings.stale_s)
            and camera.health.good
            and name not in self._off
        }

    def _hands(self, fresh: Mapping[str, WatchedCamera], still_s: float) -> frozenset[Cell]:
        """The cells that a resting hand covers in some camera."""
        if still_s > self.settings.part_s:
            return frozenset()
        covered = [camera.under_hand(self._believed or Stacks()) for camera in fresh.values()]
        return frozenset(cell for cells in covered for cell in cells)

    def _read(self, t: float, fresh: Mapping[str, WatchedCamera]) -> Reading:
        self._read_at = t
        count = 1 if not self._readings else self.settings.smooth
        images: dict[str, ImageBGR] = {n: c.picture(count) for n, c in fresh.items()}
        # Every other reading begins from nothing: two searches that agree are worth more.
        last = None if len(self._readings) % 2 else self._believed
        reading = self._reader.read(images, last=last, candidates=self._expected())
        self._readings.append(reading)
        return reading

    def _judged(
        self, t: float, reading: Reading, hands: frozenset[Cell], still_s: float
    ) -> Scene | None:
        """The scene if it can be believed already."""
        scene = self._scene(t, reading, hands)
        before = self._told
        if before is not None and before.stacks == scene.stacks and before.unsure == scene.unsure:
            return None
        known = scene.stacks == self._believed or self._explains(scene.stacks)
        if not known:
            inferred = self._inferred(scene.stacks)
            known, scene = inferred is not None, replace(scene, stacks=inferred or scene.stacks)
        if known and not scene.unsure:
            return self._tell(scene)
        if known and self._only_one_is_fine(scene):
            return self._tell(replace(scene, unsure={}))
        agreed = len(self._readings) > 1 and self._same(scene, self._readings[-2])
        if (agreed and not scene.unsure) or still_s >= self.settings.doubt_s:
            return self._tell(scene)
        return None

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
        for letters in product(self._reader.letters, repeat=len(weak)):
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

    def _same(self, scene: Scene, other: Reading) -> bool:
        return self._scene(scene.t, other, scene.hidden).stacks == scene.stacks

    def _scene(self, t: float, reading: Reading, hands: frozenset[Cell]) -> Scene:
        """The reading, with what was known where nothing has changed or nobody sees anything."""
        believed = self._believed
        hidden = reading.hidden | hands
        if believed is None:
            return Scene(t, reading.stacks, reading.unsure, hidden, reading.certainty)
        stacks, unsure = dict(reading.stacks), dict(reading.unsure)
        for cell in {*reading.stacks.differing(believed), *unsure}:
            before = believed.get(cell, "")
            if cell in hands or not self._could_change(cell, before, stacks.get(cell, "")):
                stacks[cell] = before
                unsure.pop(cell, None)
            elif cell in unsure:
                unsure[cell] = with_history(unsure[cell], before)
                stacks[cell], chance = next(iter(unsure[cell].items()))
                if chance >= SURE:
                    del unsure[cell]
            if stacks.get(cell):
                stacks[cell] = self._remembered(cell, before, stacks[cell], reading.stacks)
        return Scene(t, Stacks(stacks), unsure, hidden, reading.certainty)

    def _remembered(self, cell: Cell, before: str, now: str, stacks: Stacks) -> str:
        """What was read on a cell, with what is known of units that hardly anybody sees."""
        now = as_remembered(before, now)
        for k in hearsay(before, now):
            if not self._well_seen(Unit(cell, k + 1), stacks):
                now = now[:k] + before[k] + now[k + 1 :]
        return now

    def _well_seen(self, unit: Unit, stacks: Stacks) -> bool:
        return any(seen_share(c.area, stacks, unit) >= WEAK for c in self.cameras.values())

    def _could_change(self, cell: Cell, old: str, new: str) -> bool:
        """Whether some camera's picture has changed where this cell's pieces differ."""
        same = common(old, new)
        high = max(len(old), len(new), same + 1)
        seen = [c.changed_at(cell, same + 1, high) for c in self.cameras.values()]
        known = [share for share in seen if share is not None]
        return not known or max(known) > 0.1

    def _tell(self, scene: Scene) -> Scene:
        self._told = scene
        self.believe(scene.stacks)
        for camera in self.cameras.values():
            camera.understood()
        if self._turning is not None:
            self._turning.remember(self._newest(scene.t), scene.stacks)
        return scene


def _anchor(eye: CameraEye, board: Board) -> Anchor | None:
    return None if eye.empty is None else Anchor(eye.camera, board, eye.empty)
