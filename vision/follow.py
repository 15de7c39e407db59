"""The follower: from frames over time to scenes that stand still and are believed.

A scene is told when nothing moves in any camera, no hand is in it, and two readings agree, or one
that is certain shows what the game expects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rules.cells import Cell
from rules.stacks import Stacks
from vision.frame import Frame, ImageBGR
from vision.reader import Reader
from vision.reading import Reading
from vision.stillness import Stillness


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    """How long the follower waits, in seconds."""

    settle_s: float = 0.12  # nothing has moved for so long (0.1 to 0.5)
    again_s: float = 1.0  # a still scene is read again this often (0.5 to 5)
    hand_s: float = 0.25  # while a hand rests in the picture (0.2 to 1)
    sure: float = 0.98  # one reading is enough where it is this certain and expected
    stale_s: float = 0.7  # a camera whose newest frame is older is left out (0.3 to 2)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What stands on the table while everything is still."""

    t: float
    stacks: Stacks
    unsure: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    hidden: frozenset[Cell] = frozenset()
    certainty: float = 1.0


class Follower:
    """Follows one table; fed moments, it returns scenes as soon as they are believed."""

    def __init__(
        self,
        reader: Reader,
        *,
        expected: Callable[[], Sequence[Stacks]] = tuple,
        settings: FollowSettings | None = None,
    ) -> None:
        self._reader = reader
        self._expected = expected
        self._settings = settings or FollowSettings()
        self._still = {
            name: Stillness(eye.camera, reader.board) for name, eye in reader.cameras.items()
        }
        self._newest: dict[str, Frame] = {}
        self._moved_at = 0.0
        self._read_at: float | None = None
        self._before: Reading | None = None
        self._told: Stacks | None = None
        self._believed = Stacks()

    def believe(self, stacks: Stacks) -> None:
        """What stands there by what is known; the next reading begins from it."""
        self._believed = stacks
        for still in self._still.values():
            still.believe(stacks)

    def see(self, t: float, frames: Mapping[str, Frame]) -> list[Scene]:
        """The frames of one moment; at most one scene comes of it."""
        for name, frame in frames.items():
            if name in self._still:
                self._newest[name] = frame
                if self._still[name].moving(frame.image):
                    self._moved_at = t
                    self._read_at = self._before = self._told = None
        if t - self._moved_at < self._settings.settle_s:
            return []
        pause = self._pause()
        if self._read_at is not None and t - self._read_at < pause:
            return []
        return self._read(t)

    def _pause(self) -> float:
        if self._before is not None and self._before.covered:
            return self._settings.hand_s
        return self._settings.again_s if self._told is not None else 0.0

    def _read(self, t: float) -> list[Scene]:
        images = self._fresh(t)
        if not images:
            return []
        self._read_at = t
        expected = self._expected()
        reading = self._reader.read(images, last=self._believed, candidates=expected)
        before, self._before = self._before, reading
        if reading.covered:
            return []
        agreed = before is not None and before.stacks == reading.stacks
        known = reading.stacks == self._believed or reading.stacks in expected
        if not (agreed or (known and reading.certainty >= self._settings.sure)):
            return []
        if reading.stacks == self._told and not reading.unsure:
            return []
        self._told = reading.stacks
        return [Scene(t, reading.stacks, reading.unsure, reading.hidden, reading.certainty)]

    def _fresh(self, t: float) -> dict[str, ImageBGR]:
        """The newest picture of every camera that still sends some."""
        return {
            name: frame.image
            for name, frame in self._newest.items()
            if t - frame.seconds <= self._settings.stale_s
        }
