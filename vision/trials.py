"""Many changes of one position tried at once, each for itself, and none of them twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from vision.columns import RayTable
from vision.evidence import State
from vision.position import Position, Sight, Stack

Changes = Mapping[int, Stack]

TOGETHER = 24  # trials in one go: more of them no longer fit into the processor's memory
LEAST_LIGHT = np.float32(1e-30)  # that comes through: its logarithm must be a number
KEPT = 20000  # scores that are remembered


class Trials:
    """Scores of states that one change of a position leads to.

    A search that goes several ways meets the same states again and again.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self._scores: dict[bytes, float] = {}
        self._paths = [_Paths.of(sight.table) for sight in position.sights]

    def gains(self, changes: Sequence[Changes]) -> list[float]:
        """What the score would gain by each of these changes alone."""
        position = self.position
        after = [position.with_changes(change) for change in changes]
        keys = [state.tobytes() for state in after]
        new = {key: i for i, key in enumerate(keys) if key not in self._scores}
        if len(self._scores) + len(new) > KEPT:
            self._scores.clear()
            new = {key: i for i, key in enumerate(keys)}
        left = list(new.values())
        for start in range(0, len(left), TOGETHER):
            some = left[start : start + TOGETHER]
            gained = self._tried([changes[i] for i in some], [after[i] for i in some])
            for i, gain in zip(some, gained, strict=True):
                self._scores[keys[i]] = position.score + gain
        return [self._scores[key] - position.score for key in keys]

    def _tried(self, changes: Sequence[Changes], after: Sequence[State]) -> list[float]:
        position = self.position
        if len(changes) < 2 or any(sight.view.urns is not None for sight in position.sights):
            return [position.gain(change) for change in changes]
        states = np.zeros((len(after), len(position.state)), dtype=np.int8)
        states[:, :-1] = after
        cost = position.cost(position.state)
        total = np.array([cost - position.cost(state) for state in states])
        changed = [np.flatnonzero(state != position.state) for state in states]
        for sight, paths in zip(position.sights, self._paths, strict=True):
            rays = [sight.table.rays_of(units) for units in changed]
            total += _gained(sight, paths, states, rays)
        return [float(gain) for gain in total]


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """What each ray of a camera may meet, one ray after the other, front to back."""

    entries: NDArray[np.int32]
    units: NDArray[np.int32]
    start: NDArray[np.int64]  # of each ray's entries

    @staticmethod
    def of(table: RayTable) -> "_Paths":
        row, slot = np.nonzero(table.matrix < len(table.rays.unit))
        entries = table.matrix[row, slot]
        start = np.searchsorted(row, np.arange(table.count + 1))
        return _Paths(entries, table.unit[entries], start)

    def of_rays(self, rays: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of what these rays may meet, and of which of the rays each is."""
        start = self.start[rays]
        many = self.start[rays + 1] - start
        row = np.repeat(np.arange(len(rays)), many)
        return np.arange(len(row)) + (start - np.cumsum(many) + many)[row], row


def _gained(
    sight: Sight, paths: _Paths, states: NDArray[np.int8], rays_of: Sequence[NDArray[np.int32]]
) -> NDArray[np.float64]:
    """What the score of some rays would gain under each of these states."""
    table, view = sight.table, sight.view
    rays = np.concatenate(rays_of)
    which = np.repeat(np.arange(len(states)), [len(own) for own in rays_of])
    flat, first = states.ravel(), which * states.shape[1]
    place, row = paths.of_rays(rays)
    colour = flat[paths.units[place] + first[row]]
    filled = np.flatnonzero(colour.view(np.bool_))
    colour, row, entries = colour[filled], row[filled], paths.entries[place[filled]]
    edge = sight.entry_edge[entries]
    if table.flush:
        begin = first[row]
        joined = flat[table.beside[entries] + begin] == colour
        joined &= flat[table.before[entries] + begin] == 0
        edge = np.where(joined, sight.joined_edge[entries], edge)
    many = np.bincount(row, minlength=len(rays))
    own, part, edge_part = view.entry[colour - 1, entries], sight.part, sight.edge_part
    total = _mixed(own, part[entries], row, many, view.behind[rays])
    edges = _mixed(edge, edge_part[entries], row, many, view.behind_edge[rays])
    gain = view.weight[rays] * (np.log(total * edges) - sight.logs[rays])
    return np.asarray(np.bincount(which, gain, minlength=len(states)), dtype=np.float64)


def _mixed(
    own: Floats32,
    part: Floats32,
    row: NDArray[np.int64],
    many: NDArray[np.int64],
    behind: Floats32,
) -> NDArray[np.float64]:
    """What rays that meet so `many` densities each, front to back, show all together."""
    dim = np.zeros(len(row) + 1)
    np.cumsum(np.log(np.maximum(1 - part, LEAST_LIGHT)), out=dim[1:], dtype=np.float64)
    end = np.cumsum(many)
    through = np.exp(dim[:-1] - dim[end - many][row])
    shown = np.bincount(row, part * own * through, minlength=len(many))
    return np.asarray(shown + np.exp(dim[end] - dim[end - many]) * behind, dtype=np.float64)
