"""History: what stood on a cell tells which readings of it are likely.

Hands add and take away at the top. That a lower piece has changed its colour under others is
possible, but the pictures must say so clearly.
"""

from collections.abc import Collection, Mapping

EXCHANGED = 0.05  # how often the top is exchanged, against being added to or taken from
REBUILT = 0.02  # how often a stack is rebuilt from below
TWICE = 0.3  # how often several pieces come onto one stack at once, against one


def common(old: str, new: str) -> int:
    """How many units from below are the same."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same


def as_remembered(before: str, now: str) -> str:
    """What probably stands there if `now` was read after `before`.

    Buried units show a sliver at most; each of them was on top once, and was seen best then.
    """
    if _weight(before, now) > REBUILT:
        return now
    kept = min(len(before), len(now))
    return before[:kept] + now[kept:]


def completed(now: str, known: str) -> str:
    """The stack with the letters that are known of units whose colour nobody can see."""
    return "".join(
        known[k] if letter == "?" and k < len(known) else letter for k, letter in enumerate(now)
    )


def alike(one: str, other: str) -> bool:
    """Whether two stacks may be the same, but for units whose colour nobody can see."""
    return len(one) == len(other) and completed(one, other) == completed(other, one)


def hearsay(before: str, now: str) -> list[int]:
    """The places, from 0, where buried units would have changed although others lie on them."""
    return [k for k in range(min(len(before), len(now) - 1)) if before[k] != now[k]]


def with_history(
    choices: Mapping[str, float], before: str, heights: Collection[int] = ()
) -> dict[str, float]:
    """The chances of what stands on a cell, the likeliest first, knowing what stood there.

    `heights` are those of single pieces; hands put down one after the other.
    """
    weighed: dict[str, float] = {}
    for stack, chance in choices.items():
        weight = _weight(before, stack)
        if weight == 1.0 and heights and len(stack) - len(before) > max(heights):
            weight = TWICE
        weighed[stack] = weighed.get(stack, 0.0) + chance * weight
        if weight == REBUILT:  # more likely its buried units were misread
            remembered = as_remembered(before, stack)
            weighed[remembered] = weighed.get(remembered, 0.0) + chance * (1 - weight)
    total = sum(weighed.values()) or 1.0
    ranked = sorted(weighed.items(), key=lambda entry: -entry[1])
    return {stack: chance / total for stack, chance in ranked}


def _weight(before: str, now: str) -> float:
    """How often hands do such things: add, take away, put in between; seldom anything else."""
    if _within(before, now) or _within(now, before):
        return 1.0
    top_only = len(before) == len(now) and before[:-1] == now[:-1]
    return EXCHANGED if top_only or len(before) == 1 else REBUILT


def _within(less: str, more: str) -> bool:
    """Whether the one is the other with some units left out."""
    rest = iter(more)
    return all(letter in rest for letter in less)
