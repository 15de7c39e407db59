"""A second look at the likeliest answers: each as a whole, in the light that it implies.

What stands tells how colours look, how far pieces are off their places and where lamps are; and all
of that tells what stands. A wrong answer can so confirm itself. Therefore likely others are fitted
to the pictures just as well, and both must explain them, shadows included.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vision.evidence import State
from vision.lamplight import Lamplight
from vision.likelihood import RayLooks
from vision.position import Position, Stack

Changes = Mapping[int, Stack]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLookSettings:
    """How many answers are compared, and when another one is taken."""

    lamps: float = 0.5  # what computed light counts against the score by rays
    taken: int = 3  # answers, one after another
    tried: int = 30  # changes, those of colours alone counted in, in the light of what was read
    reach: float = 60.0  # by rays; what is so much worse is left alone
    hint: float = 8.0  # that shadows must speak for an answer as they are seen now,
    near: float = 12.0  # or it must be hardly worse, to be seen in its own light
    compared: int = 8  # answers so,
    pairs: int = 3  # and any two of so many at once
    behind: float = 0.5  # of what it loses in the light of what was read, at most once `enough`;
    enough: float = 6.0  # by which another answer must be ahead
    asked: float = 8.0  # what was told before stays so near at least


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A state, with colours, places and lamps as they are if it is true."""

    position: Position
    unmoved: Position  # the same before its pieces were moved until they fit
    looks: dict[str, RayLooks]
    lamps: Lamplight
    share: float  # what the lamps count

    @property
    def state(self) -> State:
        """What stands."""
        return self.position.state[:-1]

    def worth(self, state: State) -> float:
        """How well this state, or another one, explains the pictures in this light."""
        changes = self.position.differing(state)
        by_rays = self.position.score + self.position.gain(changes)
        return by_rays + self.share * self.lamps.worth(state)

    def ahead_of(self, other: "Answer") -> float:
        """By how much this explains more, each in the light of the two that suits it best.

        So neither loses because it was fitted from a worse beginning.
        """
        own, others = (
            max(light.worth(answer.state) for light in (self, other)) for answer in (self, other)
        )
        return own - others


def look_again(
    now: Answer,
    options: Iterable[tuple[Changes, float]],
    fitted: Callable[[State], Answer],
    settings: SecondLookSettings,
) -> list[tuple[float, Answer]]:
    """Other answers, each with by how firmly it is ahead of this one, the best first.

    What is behind in the light of what was read must be ahead by more in its own: whatever is
    fitted gains by that. `options` are changes with what the score by rays gains, or hardly loses,
    by them. Only those that leave other heights are tried: how bright a face is tells little about
    its colour.
    """
    others = [
        fitted(now.position.with_changes(changes)) for changes in _likely(now, options, settings)
    ]
    here = now.worth(now.state)
    found = []
    for other in others:
        behind = settings.behind * (here - now.worth(other.state))
        found.append((other.ahead_of(now) - min(max(behind, 0.0), settings.enough), other))
    return sorted(found, key=lambda one: -one[0])


def _likely(
    now: Answer, options: Iterable[tuple[Changes, float]], settings: SecondLookSettings
) -> list[Changes]:
    """Changes that are worth to be fitted, the likeliest first."""
    here, found = now.lamps.worth(now.state), dict[bytes, tuple[float, Changes]]()
    for changes, gain in sorted(options, key=lambda option: -option[1])[: settings.tried]:
        state = now.position.with_changes(changes)
        if gain < -settings.reach or _as_high(state, now):
            continue
        light = now.lamps.worth(state) - here
        ahead = now.position.gain(changes) + now.share * light
        if light > settings.hint or ahead > -settings.near:
            found[state.tobytes()] = ahead, changes
    single = sorted(found.values(), key=lambda one: -one[0])
    both = [
        (a + b, {**one, **two})
        for (a, one), (b, two) in combinations(single[: settings.pairs], 2)
        if not one.keys() & two.keys()
    ]
    return [changes for _, changes in [*single[: settings.compared], *both]]


def _as_high(state: State, now: Answer) -> bool:
    """Whether all stacks are as high as they are now."""
    return np.array_equal(state > 0, now.state > 0)
