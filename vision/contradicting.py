"""Where cameras contradict each other: pictures of different moments, or one that has moved.

What was read explains all pictures together as well as may be. Where one camera by itself is sure
of another stack, of which yet another camera is sure that it does not stand there, no position is
right.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from vision.evidence import ColumnGains
from vision.position import Position, Sight, Stack

_LEAST = 100.0  # of the score that one camera gains, and another one loses
_LEAST_REGRET = 3.0  # of the rays that gain: they show something else, not a rim a little aside
_SPEAKS = 0.5  # of the score: a ray that gains so much speaks for the other stack


def contradictions(position: Position) -> Mapping[int, Stack]:
    """The columns on which what was read contradicts a camera, with what that one sees there."""
    found: dict[int, Stack] = {}
    for sight in position.sights if len(position.sights) > 1 else ():
        for column, stack in _wishes(position, sight):
            if column not in found and _contradicts(position, sight, {column: stack}):
                found[column] = stack
    return found


def _wishes(position: Position, sight: Sight) -> Iterator[tuple[int, Stack]]:
    """The stacks that one camera alone would rather see, column by column, the best one first."""
    evidence, levels = position.evidence, position.levels
    alone = sight.copy()
    alone.gains = None  # all of them are to be counted
    spans = alone.gain_sums(None).reshape(evidence.colours, evidence.columns, levels, levels + 2)
    gains = ColumnGains(np.cumsum(spans, axis=3)[..., 1 : levels + 1], evidence.settings)
    now = gains.worths(position.state[:-1].reshape(-1, levels))
    more = gains.by_height - now[:, None]
    for column in map(int, np.flatnonzero(more.max(axis=1) > _LEAST)):
        for high in map(int, np.argsort(-more[column])):
            if more[column, high] > _LEAST:
                yield column, gains.stack_of_height(column, high)


def _contradicts(position: Position, sight: Sight, wish: Mapping[int, Stack]) -> bool:
    """Whether one camera is sure of a stack, and another one that it does not stand there."""
    state = np.append(position.with_changes(wish), 0).astype(np.int8)
    units = np.flatnonzero(state != position.state)
    gains = {id(one): one.trial(state, one.table.rays_of(units)) for one in position.sights}
    if gains[id(sight)] < _LEAST or min(gains.values()) > -_LEAST:
        return False
    rays = sight.table.rays_of(units)
    other = sight.copy()
    other.change(state, rays)
    more = sight.view.weight[rays] * (other.logs[rays] - sight.logs[rays])
    speaking = rays[more > _SPEAKS]
    regret = (sight.view.best - sight.logs)[speaking]
    return bool(len(regret) and float(regret.mean()) > _LEAST_REGRET)
