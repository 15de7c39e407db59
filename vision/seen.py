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


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What stands on the table while everything is still."""

    t: float
    stacks: Stacks
    unsure: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    hidden: frozenset[Cell] = frozenset()
    certainty: float = 1.0


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


Seen = Scene | CameraNote | Turned
