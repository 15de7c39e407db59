"""Whereabouts: where every camera and the board are by now, and which cameras can be trusted.

Cameras are bumped, cables come loose, players turn the board: whatever has moved is found again,
and the reader made anew; what cannot be found gives no verdict.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.realign import Remembered
from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import Frame, ImageBGR
from vision.likelihood import CameraEye
from vision.mixed_up import shown_instead
from vision.place import Anchor, Sighting
from vision.reaching import Direction, hand_clock, turned
from vision.reader import Reader
from vision.seen import CameraNote, Turned
from vision.turning import Pose, Turning, turned_colours, turned_picture
from vision.watched import WatchedCamera, fitted

LAGS = 40  # ends of movements by which the delay between cameras is measured
FEWEST_LAGS = 5
LONGEST_LAG_S = 0.6
PLENTY = 150  # things to follow; that none of so many is found again says something
SAME_PX = 1.5  # at 1280: places that differ by less in what they show are the same
STRANGE = 2  # views in a row with nothing of the calibration in them are another table


@dataclass(frozen=True, slots=True, kw_only=True)
class WhereSettings:
    """How often things are looked at, in seconds."""

    place_s: float = 2.0  # a camera that was bumped is looked for so often (1 to 5)
    search_s: float = 4.0  # the first pause after its new place was not found; they double (2 to 8)
    longest_s: float = 60.0  # and the longest one (30 to 120)
    suspect_s: float = 2.5  # of a view in which nothing is where it was, before it is told (2 to 5)
    strange_s: float = 0.5  # the same for one that has not shown its table yet (0.3 to 1)
    track_s: float = 0.1  # a board that is being turned is looked at so often (0.06 to 0.15)
    hand_s: float = 0.1  # the same for which side a moving hand comes from (0.06 to 0.2)
    resized_s: float = 5.0  # the right size for so long, and another one is told again (2 to 10)
    stale_s: float = 0.7  # a camera whose newest frame is older is left out (0.3 to 2)


class Whereabouts:
    """All cameras of a table, its board, and the reader that fits them."""

    def __init__(
        self, reader: Reader, *, turnable: bool = False, settings: WhereSettings | None = None
    ) -> None:
        self.reader = reader
        self.settings = settings or WhereSettings()
        self.moved_at = -np.inf
        self._table = dict(reader.cameras)  # the same cameras while the board lies as calibrated
        lies = not turnable
        self.cameras = {
            name: WatchedCamera(
                eye.camera, reader.board, _anchor(eye, reader.board, lies), board_lies=lies
            )
            for name, eye in reader.cameras.items()
        }
        self._turning = self._new_turning(Pose()) if turnable else None
        self._off: set[str] = set()  # cameras whose place is not known
        self._suspected: dict[str, float] = {}  # since when they seem to stand elsewhere
        self._remembered: dict[str, Remembered] = {}  # as calibrated, by the first bump
        self._search_at: dict[str, tuple[float, float]] = {}  # when again, and the next pause
        self._resized: dict[str, float] = {}  # when a camera's picture had another shape last
        # How often a camera's view was strange; below 0 once it has shown the calibrated one.
        self._strangeness = dict.fromkeys(self.cameras, 0)
        self._stacks = Stacks()
        self._moving: dict[str, float] = {}
        self._stopped: deque[dict[str, float]] = deque(maxlen=LAGS)
        self._placed_at = -np.inf
        self._tracked_at = -np.inf
        self._hands: list[Direction] = []  # where hands came from since the last scene
        self._hands_at = -np.inf
        self._lies = True

    def take(self, t: float, frames: Mapping[str, Frame]) -> Iterator[CameraNote]:
        """The frames of one moment; `moved_at` tells whether anything moves in them."""
        for name, given in frames.items():
            if name not in self.cameras:
                continue
            frame = fitted(given, self._table[name].camera.size)
            if frame is None:
                # Pictures of two sizes by turns are told once.
                if t - self._resized.get(name, -np.inf) > self.settings.resized_s:
                    width, height = self._table[name].camera.size
                    high, wide = given.image.shape[:2]
                    sizes = f"{wide} x {high}, not {width} x {height}"
                    yield CameraNote(t, name, "resized", sizes)
                self._resized[name] = t
                continue
            if self.cameras[name].take(t, frame):
                self.moved_at = self._moving[name] = t
                self._lies = False
        yield from self._health(t)
        if t == self.moved_at:
            self._track(t)
            self._note_hands(t)

    def lags(self) -> dict[str, float]:
        """How many seconds later than the earliest camera each one shows things, where known."""
        found: dict[str, list[float]] = {}
        for stopped in self._stopped:
            for name, at in stopped.items():
                found.setdefault(name, []).append(at - min(stopped.values()))
        if len(self._stopped) < FEWEST_LAGS:
            return {}
        middle = {name: float(np.median(all_of)) for name, all_of in found.items()}
        return {name: lag - min(middle.values()) for name, lag in middle.items()}

    def settle(self, t: float) -> Iterator[CameraNote | Turned]:
        """What has moved while hands were at the table, now that all is still."""
        self._note_lags()
        yield from self._places(t)
        yield from self._turned(t)

    def believe(self, stacks: Stacks) -> None:
        """What stands on the board."""
        if stacks != self._stacks:
            self._stacks = stacks
            for camera in self.cameras.values():
                camera.believe(stacks)

    def understood(
        self, t: float, moved: Sequence[Unit] = (), covered: Collection[Cell] = ()
    ) -> None:
        """The newest pictures show what is believed, but for cells that a hand covers.

        `moved` are the pieces that came or went since the last ones. What a camera shows that was
        not asked may be other things: it is still compared with what it showed before.
        """
        self._hands = []
        for camera in self.fresh(t).values():
            camera.understood(moved, covered)
            camera.stands()
        if self._turning is not None:
            self._turning.remember(self._newest(t), self._stacks)

    def hand_clock(self) -> float | None:
        """From which hour hands have reached in since the last scene, if from one side."""
        return hand_clock(self._hands)

    def _note_hands(self, t: float) -> None:
        """Where hands come from by the newest pictures; a few of a movement are enough."""
        if t - self._hands_at < self.settings.hand_s:
            return
        self._hands_at = t
        degrees = self._turning.pose.degrees if self._turning is not None else 0.0
        for camera in self.fresh(t).values():
            direction = camera.hand_direction()
            if direction is not None:
                self._hands.append(turned(direction, degrees))

    def fresh(self, t: float) -> dict[str, WatchedCamera]:
        """The cameras that can be trusted now."""
        return {
            name: camera
            for name, camera in self.cameras.items()
            if camera.fresh(t, self.settings.stale_s)
            and camera.health.good
            and name not in self._off
            and name not in self._suspected
        }

    @property
    def suspicious(self) -> bool:
        """Whether some camera must be looked at again, even if nothing moves."""
        return bool(self._suspected)

    def _note_lags(self) -> None:
        """Remembers when the newest movement ended in each camera, if all of them saw it."""
        together = {n: at for n, at in self._moving.items() if self.moved_at - at < LONGEST_LAG_S}
        if len(together) == len(self.cameras) > 1 and together not in self._stopped:
            self._stopped.append(together)

    def _health(self, t: float) -> Iterator[CameraNote]:
        """What has become of cameras, whole seconds after it happened at most."""
        for name, camera in self.cameras.items():
            others = max((m for n, m in self._moving.items() if n != name), default=-np.inf)
            state = camera.health.judged(t, others)
            if state is not None:
                yield CameraNote(t, name, state)

    def _places(self, t: float) -> Iterator[CameraNote]:
        """Cameras that were bumped since the scene before; they are put right if possible."""
        strange = any(0 < count < STRANGE for count in self._strangeness.values())
        pause = self.settings.strange_s if strange or self._suspected else self.settings.place_s
        if t - self._placed_at < pause and self._placed_at > self.moved_at:
            return
        self._placed_at = t
        for name, camera in list(self.cameras.items()):
            fresh = camera.fresh(t, self.settings.stale_s)
            if fresh and camera.health.good and not camera.health.shows_nothing:
                sighting = camera.place()
                if sighting is not None:
                    yield from self._place(t, name, sighting)

    def _place(self, t: float, name: str, sighting: Sighting) -> Iterator[CameraNote]:
        """What a view says about one camera's place."""
        never_seen = self._strangeness[name] >= 0 and self._table[name].empty is not None
        if not sighting.known and never_seen:
            yield from self._strange(t, name, sighting)
            return
        if sighting.known:
            if 0 < self._strangeness[name] < STRANGE:  # that was not told
                self._off.discard(name)
            self._strangeness[name] = -1
        shifted = self._shifted(name, sighting)
        if shifted is None and name not in self._suspected:
            return
        moved = shifted is not False
        camera = self._found(t, name) if moved else None
        if moved and camera is None and self._unclear(t, name, sighting):
            return
        self._suspected.pop(name, None)
        if moved and (camera is None or not self._same(name, camera)):
            yield from self._bumped(t, name, camera)
            return
        if moved:  # somebody stood before it
            self.cameras[name].stands()
        if name in self._off:
            self._off.discard(name)
            self._search_at.pop(name, None)
            yield CameraNote(t, name, "realigned")

    def _shifted(self, name: str, sighting: Sighting) -> bool | None:
        """Whether a camera stands elsewhere by what its view shows; None where nothing tells."""
        if sighting.known:
            return not sighting.steady
        # A far bump, or somebody stands before it: what was seen last must tell. Where the board
        # was turned, much of that has moved without the camera.
        if self._turning is not None and sighting.familiar:
            return False
        return self.cameras[name].bumped()

    def _unclear(self, t: float, name: str, sighting: Sighting) -> bool:
        """Whether hands and pieces may hide all that could be found again.

        They do so for a while, or on plain tables for good; nothing is read until that is clear.
        """
        if sighting.known or name in self._off:
            return False
        if sighting.followed < PLENTY:
            return True
        return t - self._suspected.setdefault(name, t) < self.settings.suspect_s

    def _bumped(self, t: float, name: str, camera: Camera | None) -> Iterator[CameraNote]:
        """A camera that stands elsewhere; where, if that is known."""
        if name not in self._off:
            self._off.add(name)
            yield CameraNote(t, name, "moved")
        if camera is not None:
            self._realign(name, camera)
            self._off.discard(name)
            yield CameraNote(t, name, "realigned")

    def _found(self, t: float, name: str) -> Camera | None:
        """Where a camera that was bumped stands now; looked for ever less often."""
        again, pause = self._search_at.get(name, (-np.inf, self.settings.search_s))
        if t < again:
            return None
        anchor = self.cameras[name].anchor
        if name not in self._remembered and anchor is not None:
            eye = self._table[name]
            self._remembered[name] = Remembered(
                eye.camera,
                anchor.reference,
                self.reader.board,
                turnable=self._turning is not None,
            )
        lies = self._turning is None or self._turning.pose == Pose()
        camera = self._remembered[name].realigned(self.cameras[name].picture(1), board_lies=lies)
        if camera is None or self._same(name, camera):
            self._search_at[name] = (t + pause, min(2 * pause, self.settings.longest_s))
        else:
            self._search_at.pop(name, None)
        return camera

    def _same(self, name: str, camera: Camera) -> bool:
        """Whether a place is the one that is known already, by what it shows of the board."""
        wide, deep, _ = self.reader.board.lattice.size_mm
        corners = np.array([(x, y, 0.0) for x in (0, wide) for y in (0, deep)])
        known = self._table[name].camera
        off = np.linalg.norm(camera.project(corners) - known.project(corners), axis=1)
        return float(np.median(off)) * 1280 / camera.size[0] < SAME_PX

    def _strange(self, t: float, name: str, sighting: Sighting) -> Iterator[CameraNote]:
        """A camera that has never yet shown what it was calibrated for.

        Nothing is read from it from its very first view on; what is wrong is told a moment later.
        """
        count = self._strangeness[name]
        if count < 0 or count >= STRANGE or self._table[name].empty is None:
            return
        if (other := self._swapped_with(name, sighting)) is not None:
            self._off.add(name)
            self._strangeness[name] = STRANGE
            yield CameraNote(t, name, "swapped", other)
        elif sighting.familiar:
            self._off.discard(name)
            self._strangeness[name] = -1
        elif (camera := self._found(t, name)) is not None:
            # It was bumped after it was calibrated.
            self._strangeness[name] = -1
            if not self._same(name, camera):
                yield from self._bumped(t, name, camera)
            else:
                self._off.discard(name)
        elif sighting.strange:
            self._off.add(name)
            self._strangeness[name] += 1
            if self._strangeness[name] == STRANGE:
                yield CameraNote(t, name, "wrong-table")

    def _swapped_with(self, name: str, own: Sighting) -> str | None:
        """The camera whose calibrated view this one shows."""
        size = self._table[name].camera.size
        others = {
            other: camera.anchor
            for other, camera in self.cameras.items()
            if other != name and camera.anchor and self._table[other].camera.size == size
        }
        return shown_instead(self.cameras[name].picture(1), own, others)

    def _realign(self, name: str, camera: Camera) -> None:
        """Takes the camera's new place over."""
        eye = self._table[name]
        remembered = self._remembered[name]
        moved = remembered.picture_from(camera)
        self._table[name] = replace(eye, camera=camera, empty=None if eye.empty is None else moved)
        pose = self._turning.pose if self._turning else Pose()
        if self._turning is not None:
            self._turning = self._new_turning(pose)
        # Things beyond the table are not where a picture moved along the table would have them.
        seen = self.cameras[name].picture(1)
        lies = self._turning is None
        self._remake(pose, {name: Anchor(camera, self.reader.board, seen, board_lies=lies)})

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
        fresh = self.fresh(t).values()
        if any(camera.arm() for camera in fresh):
            return  # it is looked for when the hand has gone
        self._lies = True
        followed = self._turning.tracked != self._turning.pose
        if not followed and all(camera.unchanged() for camera in fresh):
            return
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
        return {name: camera.picture(1) for name, camera in self.fresh(t).items()}

    def _new_turning(self, pose: Pose) -> Turning:
        cameras = {name: eye.camera for name, eye in self._table.items()}
        turning = Turning(self.reader.board, cameras)
        turning.pose = turning.tracked = pose
        return turning

    def _remake(self, pose: Pose, anchors: Mapping[str, Anchor | None]) -> None:
        """The reader anew, after a camera or the board has moved."""
        reader, board = self.reader, self.reader.board
        eyes: dict[str, CameraEye] = {}
        for name, eye in self._table.items():
            empty = eye.empty
            if empty is not None and pose != Pose():
                empty = turned_picture(empty, eye.camera, board, pose)
            colours = turned_colours(eye.colours, pose.degrees)
            eyes[name] = replace(
                eye, camera=pose.camera(eye.camera, board), colours=colours, empty=empty
            )
        self.reader = Reader(
            board,
            eyes,
            reader.kit,
            one_colour_stacks=reader.one_colour_stacks,
            heights_apart=reader.heights_apart,
            settings=reader.settings,
        )
        for name, camera in self.cameras.items():
            anchor = anchors.get(name, camera.anchor)
            self.cameras[name] = camera.heir(eyes[name].camera, anchor, self._stacks)


def _anchor(eye: CameraEye, board: Board, lies: bool) -> Anchor | None:
    if eye.empty is None:
        return None
    return Anchor(eye.camera, board, eye.empty, board_lies=lies)
