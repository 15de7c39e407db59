"""History: what stood on a cell tells which readings of it are likely.

Hands add and take away at the top. That a lower piece has changed its colour under others is
possible, but the pictures must say so clearly.
"""

from collections.abc import Mapping

REBUILT = 0.03  # how often a stack is rebuilt from below, against being added to or taken from


def common(old: str, new: str) -> int:
    """How many units from below are the same."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same


def likely(before: str, now: str) -> bool:
    """Whether hands do such things: add, take away, put in between, exchange the top."""
    if common(before, now) >= min(len(before), len(now)) - 1:
        return True
    return _within(before, now) or _within(now, before)


def as_remembered(before: str, now: str) -> str:
    """What probably stands there if `now` was read after `before`.

    Buried units show a sliver at most; each of them was on top once, and was seen best then.
    """
    if likely(before, now):
        return now
    kept = min(len(before), len(now))
    return before[:kept] + now[kept:]


def with_history(choices: Mapping[str, float], before: str) -> dict[str, float]:
    """The chances of what stands on a cell, the likeliest first, knowing what stood there."""
    weighed = {
        stack: chance * (1.0 if likely(before, stack) else REBUILT)
        for stack, chance in choices.items()
    }
    total = sum(weighed.values()) or 1.0
    return {stack: chance / total for stack, chance in sorted(weighed.items(), key=lambda e: -e[1])}


def _within(less: str, more: str) -> bool:
    """Whether the one is the other with some units left out."""
    rest = iter(more)
    return all(letter in rest for letter in less)
