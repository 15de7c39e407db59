"""What a follower tells: scenes that stand still, what happens to cameras, a board turned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rules.cells import Cell
from rules.stacks import Stacks

CameraState = Literal[
    "lost",
    "back",
    "frozen",
    "moved",
    "realigned",
    "covered",
    "dark",
    "blurred",
    "swapped",
    "wrong-table",
    "resized",
    "refused",
]


LEAST_DEGREES = 1.0  # a board that is turned by less lies as before


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What stands on the table while everything is still.

    `doubted` tells what else could have stood on cells by what was read of them lately, whatever
    was believed in the end; `hand_clock` from which hour hands have reached in since the scene
    before, if from one side.
    """

    t: float
    stacks: Stacks
    unsure: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    hidden: frozenset[Cell] = frozenset()
    certainty: float = 1.0
    doubted: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    hand_clock: float | None = None


@dataclass(frozen=True, slots=True)
class CameraNote:
    """Something happened to a camera; `why` is a detail for people, in English, or empty."""

    t: float
    camera: str
    state: CameraState
    why: str = ""


@dataclass(frozen=True, slots=True)
class Turned:
    """The board was turned against the table, anticlockwise seen from above."""

    t: float
    degrees: float
    quarters: int

    @property
    def whole(self) -> bool:
        """Whether it lies as before."""
        return abs(self.degrees) < LEAST_DEGREES

    def further(self, more: "Turned") -> "Turned":
        """Both one after the other, as one movement."""
        degrees = (self.degrees + more.degrees + 180.0) % 360.0 - 180.0
        return Turned(more.t, degrees, round(degrees / 90) % 4)


Seen = Scene | CameraNote | Turned
