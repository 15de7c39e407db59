"""Towers that lean: tall stacks are tried a unit higher all together, and fitted anew.

From above, a tower that leans or stands a little off looks much like one that is a unit lower, and
its neighbours with it. The search comes from below: no single stack can leave such an answer.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from vision.nudge import NudgeSettings, nudge
from vision.position import Position, Stack

TOWER = 6  # levels of a stack that is called a tower
BESIDE = 4  # levels of those that stand and fall with it
HOPELESS = 250.0  # a trial that is so much worse before the last fit is given up


def higher(position: Position, settings: NudgeSettings) -> Position | None:
    """The position with its towers a unit higher, but those that fit better as they were.

    Both are fitted; None where no tower stands, or nothing speaks for it.
    """
    heights = [len(position.stack(column)) for column in range(position.evidence.columns)]
    if max(heights, default=0) < TOWER:
        return None
    before = {
        column: position.stack(column)
        for column, high in enumerate(heights)
        if BESIDE <= high < position.levels
    }
    other = position.copy()
    other.change({column: np.append(stack, stack[-1:]) for column, stack in before.items()})
    nudge(other, settings)
    _improve(other, {column: [stack] for column, stack in before.items()}, passes=2)
    if not position.differing(other.state[:-1]) or other.score < position.score - HOPELESS:
        return None
    nudge(other, settings)
    for _ in range(2):
        tops = {column: list(_tops(other.stack(column), other)) for column in before}
        if not _improve(other, tops, passes=1):
            break
    return other if position.differing(other.state[:-1]) else None


def _improve(position: Position, tries: Mapping[int, list[Stack]], *, passes: int) -> bool:
    """Takes the best of these stacks wherever a column gains by it; whether any did."""
    any_changed = False
    for _ in range(passes):
        changed = False
        for column, stacks in tries.items():
            gains = [position.gain({column: stack}) for stack in stacks]
            best = int(np.argmax(gains))
            if gains[best] > 0.02:
                position.change({column: stacks[best]})
                changed = any_changed = True
        if not changed:
            break
    return any_changed


def _tops(stack: Stack, position: Position) -> Iterator[Stack]:
    """The stack with a piece more, one or two less, or its top in another colour."""
    for letter in range(1, position.evidence.colours + 1):
        own = np.array([letter], dtype=np.int8)
        if len(stack) < position.levels:
            yield np.append(stack, own)
        if len(stack) and stack[-1] != letter:
            yield np.append(stack[:-1], own)
    for fewer in (1, 2):
        if len(stack) >= fewer:
            yield stack[:-fewer]
