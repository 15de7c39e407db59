"""What was read from one picture a camera: stacks, and how sure each part of them is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rules.cells import Cell, Unit
from rules.stacks import Stacks

SURE = 0.95  # a cell whose best answer is less probable is reported as unsure


@dataclass(frozen=True, slots=True, eq=False)
class Covered:
    """What stood in one camera's way, such as a hand: a mask of the picture, and the cells."""

    mask: NDArray[np.bool_]  # (height, width) of the picture, each a quarter of its size
    cells: frozenset[Cell]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The stacks that explain the pictures best, and what they leave open.

    `unsure` gives the probabilities of every cell whose best answer is not sure; `inferred` are
    units that no camera sees but that are known; `hidden` are cells of which nothing is seen.
    `certainty` is the probability that everything not listed in these is right; 0 where nothing is
    left that is certain.
    """

    stacks: Stacks
    unsure: Mapping[Cell, Mapping[str, float]] = field(default_factory=dict)
    inferred: frozenset[Unit] = frozenset()
    hidden: frozenset[Cell] = frozenset()
    certainty: float = 1.0
    ms: Mapping[str, float] = field(default_factory=dict)
    covered: Mapping[str, Covered] = field(default_factory=dict)
    score: float = 0.0
    strange: frozenset[str] = frozenset()  # cameras whose pictures no position explains
    misfit: float = 0.0  # how badly all pictures together are explained; 0.1 to 0.5 is usual

    def to_json(self) -> dict[str, Any]:
        """The contract's form, without the game's name."""
        return {
            "stacks": self.stacks.to_json(),
            "unsure": {
                str(cell): {stack: round(p, 4) for stack, p in choices.items()}
                for cell, choices in sorted(self.unsure.items())
            },
            "inferred": [str(unit) for unit in sorted(self.inferred)],
            "hidden": [str(cell) for cell in sorted(self.hidden)],
            "certainty": round(self.certainty, 4),
            "ms": {step: round(ms, 2) for step, ms in self.ms.items()},
        }
