"""The search for the stacks that explain the pictures best: column by column, uphill."""

import numpy as np
from numpy.typing import NDArray

from vision.evidence import ColumnGains, Evidence, State

Stack = NDArray[np.int8]  # colours from below, 1 + number


def climb(evidence: Evidence, state: State) -> tuple[State, ColumnGains]:
    """Changes columns to their best stacks until nothing gains any more."""
    state = state.copy()
    score = evidence.score(state)
    gains = evidence.columns_gain(state)
    for _ in range(evidence.settings.sweeps):
        wishes = _wishes(evidence, state, gains)
        if not wishes:
            break
        better = None
        for batch in (_apart(wishes, evidence.lattice.columns), *([w] for w in wishes[:6])):
            trial = state.copy()
            for _, column, best in batch:
                put(trial, evidence.lattice.levels, column, best)
            new = evidence.score(trial)
            if new > score + 0.02:
                better = trial
                break
        if better is None:
            break
        state, score = better, new
        gains = evidence.columns_gain(state)
    return state, gains


def put(state: State, levels: int, column: int, stack: Stack) -> None:
    """Replaces the stack of one column in place."""
    state[column * levels : (column + 1) * levels] = 0
    state[column * levels : column * levels + len(stack)] = stack


def stack_of(state: State, levels: int, column: int) -> Stack:
    """The colours of one column from below."""
    own = state[column * levels : (column + 1) * levels]
    return own[: int(np.count_nonzero(own))]


def _wishes(
    evidence: Evidence, state: State, gains: ColumnGains
) -> list[tuple[float, int, Stack]]:
    """Columns that would rather have another stack, the most eager first."""
    found: list[tuple[float, int, Stack]] = []
    cost = evidence.settings.unit_cost
    for column in range(evidence.columns):
        now = stack_of(state, evidence.lattice.levels, column)
        gain = float(gains.by_height[column].max()) - gains.worth(column, now, cost)
        if gain > 0.05:
            best = gains.best_stack(column)
            if not np.array_equal(now, best):
                found.append((gain, column, best))
    return sorted(found, key=lambda wish: -wish[0])


def _apart(
    wishes: list[tuple[float, int, Stack]], columns: int
) -> list[tuple[float, int, Stack]]:
    """Wishes that can be granted together: strong ones that are not neighbours."""
    taken: list[tuple[float, int, Stack]] = []
    for wish in wishes:
        near = any(_near(wish[1], other[1], columns) for other in taken)
        if wish[0] > 0.3 * wishes[0][0] and not near:
            taken.append(wish)
    return taken


def _near(a: int, b: int, columns: int) -> bool:
    rank_a, file_a = divmod(a, columns)
    rank_b, file_b = divmod(b, columns)
    return abs(rank_a - rank_b) <= 1 and abs(file_a - file_b) <= 1
