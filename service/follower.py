"""What feeds a session: somebody who follows the table, by cameras or along a written record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rules.stacks import Stacks

ImageBGR = NDArray[np.uint8]
Unsure = Mapping[str, Mapping[str, float]]
SourceKind = Literal["camera", "virtual-camera", "record", "none"]
Needs = Literal["pose", "colours", ""]


@dataclass(frozen=True, slots=True)
class Seen:
    """One still scene: what stands where, what is in doubt, and what was in scenes before it.

    `hand_clock` is the hour from which hands have reached in since the scene before.
    """

    stacks: Stacks
    unsure: Unsure = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    certainty: float = 1.0
    doubted: Unsure = field(default_factory=dict)
    hand_clock: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The newest picture of one camera; `number` changes with every new one."""

    number: int
    image: ImageBGR


@dataclass(frozen=True, slots=True)
class CameraView:
    """One camera as the page needs it: where it looks from, in OpenCV's conventions."""

    name: str
    kind: str
    size: tuple[int, int]
    model: Mapping[str, Any] | None = None  # as in calibration.json; None before calibration
    needs: Needs = ""  # what is to be done before it can watch


class Feed(Protocol):
    """What a follower calls, from its own thread."""

    def observed(self, seen: Seen) -> bool:
        """The scene is still and no hand is in it; whether it showed that one was misread."""

    def passed(self) -> None:
        """Time has passed: what waits for it may come due."""

    def explains(self, stacks: Stacks) -> bool:
        """Whether such a scene would surprise nobody: then one look at it is enough."""

    def expected(self) -> Sequence[Stacks]:
        """Scenes worth looking for: what any legal turn would make of the position."""

    def believed(self) -> Stacks:
        """What should stand on the table by all that is known of the game."""

    def camera(self, camera: str, state: str, say: str) -> None:
        """Something happened to a camera."""

    def turned(self, degrees: float, quarters: int) -> None:
        """The board was turned."""


class TableFollower(Protocol):
    """Follows one table from `start` until `stop`."""

    @property
    def kind(self) -> SourceKind:
        """Where its knowledge comes from; the page says so."""

    def start(self, feed: Feed) -> None:
        """Begin to tell the feed what is seen; returns at once."""

    def stop(self) -> None:
        """End the thread and let go of devices; returns when that is done."""

    def cameras(self) -> Sequence[CameraView]:
        """The cameras whose pictures can be had."""

    def picture(self, camera: str) -> Picture | None:
        """The newest picture of a camera, None while there is none; never waits."""

    def believe(self, stacks: Stacks) -> None:
        """The players have said what really stands there."""

    def seconds(self) -> float:
        """The time at the table, from any beginning; a play may wait for its pictures."""
