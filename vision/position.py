"""A position under trial: its score, what single changes would do to it, and changing it.

A change of one unit concerns only the rays for which it matters; everything else is kept.
"""

from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from rules.lattice import Lattice
from vision.evidence import ColumnGains, Evidence, State, View, cost_of
from vision.mixing import Met, Mixed, laid, light_through, seen_from
from vision.shading import CLASSES, Urns

Stack = NDArray[np.int8]  # colours from below, 1 + number
HALF = 0.5  # a ray that meets a unit more surely than this shows it
UNEXPLAINED = 0.01  # pixels less likely than this under a position show something else


class Sight:
    """One camera's part in a position."""

    def __init__(self, view: View, state: State, shape: tuple[int, int, int]) -> None:
        self.view = view
        self.table = view.table
        self.shape = shape  # colours, units, levels
        self.part, self.edge_part = view.table.part, view.table.edge_part
        self.entry_edge, self.joined_edge = view.entry_edge, view.joined_edge
        self.colour, self.edge = Mixed(self.table), Mixed(self.table)
        self.state = state
        self.kind = np.zeros(self.table.count, dtype=np.int64)
        self.counts = np.zeros((self.table.groups, CLASSES))
        self.refresh()
        self.gains: Floats32 | None = None

    def _filled(
        self, colour: NDArray[np.int8], entries: NDArray[np.int32]
    ) -> tuple[Floats32, Floats32, Floats32, Floats32]:
        """Densities and parts of filled entries, of colour and of contrast."""
        view, table = self.view, self.table
        own = view.entry[colour - 1, entries]
        edge = self.entry_edge[entries]
        if table.flush:
            joined = self.state[table.beside[entries]] == colour
            joined &= self.state[table.before[entries]] == 0
            edge = np.where(joined, self.joined_edge[entries], edge)
        return own, edge, self.part[entries], self.edge_part[entries]

    def _spread(
        self, entries: NDArray[np.int32], units: NDArray[np.int32]
    ) -> tuple[Floats32, Floats32, Floats32, Floats32]:
        """The same for all entries (any shape), with zeros where nothing stands."""
        colour = self.state[units]
        at = np.flatnonzero(colour)
        found = self._filled(colour.ravel()[at], entries.ravel()[at])
        spread = []
        for values in found:
            whole = np.zeros(colour.size, dtype=np.float32)
            whole[at] = values
            spread.append(whole.reshape(colour.shape))
        return spread[0], spread[1], spread[2], spread[3]

    def copy(self) -> "Sight":
        """The same on its own; the evidence is shared."""
        twin = copy(self)
        twin.colour, twin.edge = self.colour.copy(), self.edge.copy()
        twin.logs = self.logs.copy()
        twin.kind, twin.counts = self.kind.copy(), self.counts.copy()
        twin.gains = None if self.gains is None else self.gains.copy()
        return twin

    def refresh(self) -> None:
        """Mixes and counts all rays anew after the entries' parts changed."""
        self.mix()
        if self.view.urns is None:
            return
        shown = self._entries_shown()
        self.kind = self._kind_of(np.arange(self.table.count, dtype=np.int32), shown)
        counted = np.bincount(self.kind, self.view.weight, self.counts.size)
        self.counts = np.reshape(counted, self.counts.shape)

    def mix(self) -> None:
        """Mixes all rays anew."""
        entries = np.arange(len(self.table.unit), dtype=np.int32)
        own, edge, part, edge_part = self._spread(entries, self.table.unit)
        self.colour.all(self.table, own, part, self.view.behind)
        self.edge.all(self.table, edge, edge_part, self.view.behind_edge)
        self.logs = np.log(self.colour.total * self.edge.total)

    def _entries_shown(self) -> NDArray[np.int32]:
        """The entry that every ray most surely shows, one past the last for none."""
        sure = np.flatnonzero(self.colour.through[:-1] * self.part[:-1] > HALF)
        sure = sure[self.state[self.table.rays.unit[sure]] > 0]
        shown = np.full(self.table.count, len(self.table.unit) - 1, dtype=np.int32)
        shown[self.table.entry_ray[sure]] = sure
        return shown

    def _kind_of(self, rays: NDArray[np.int32], shown: NDArray[np.int32]) -> NDArray[np.int64]:
        """What some rays show, and how bright: group of rays and class of brightness in one."""
        table, view = self.table, self.view
        colour = self.state[table.unit[shown]]
        bare = colour == 0
        group = np.where(bare, table.ground_group[rays], table.face_group[shown])
        shade = np.where(bare, view.behind_shade[rays], view.shade[colour - 1, shown])
        return np.asarray(group.astype(np.int64) * CLASSES + shade)

    def agreement(self) -> float:
        """What the score gains as rays on one face share their light."""
        return float(self.view.urns.agreement(self.counts).sum()) if self.view.urns else 0.0

    def _recounted(
        self, urns: Urns, rays: NDArray[np.int32], kind: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.int64], NDArray[np.float64]]:
        """What it gains more if some rays showed something else, and the counts that change."""
        old = self.kind[rays]
        other = np.flatnonzero(old != kind)
        weight = self.view.weight[rays[other]]
        places = np.concatenate([old[other], kind[other]])
        touched, row = np.unique(places // CLASSES, return_inverse=True)
        if not len(touched):
            return 0.0, touched, self.counts[:0]
        counts = self.counts[touched]
        place = row.reshape(-1) * CLASSES + places % CLASSES
        more = np.bincount(place, np.concatenate([-weight, weight]), counts.size)
        after = np.maximum(counts + more.reshape(counts.shape), 0.0)
        gain = urns.agreement(after, touched) - urns.agreement(counts, touched)
        return float(gain.sum()), touched, after

    def trial(self, state: State, rays: NDArray[np.int32]) -> float:
        """What the score of these rays would gain under another state."""
        if not len(rays):
            return 0.0
        kept, self.state = self.state, state
        entries, units = self.table.entries_of(rays)
        colour = state[units]
        row, slot = np.nonzero(colour)
        entries = entries[row, slot]
        own, edge, part, edge_part = self._filled(colour[row, slot], entries)
        # Only filled places count: a ray meets few of them, however many units it passes.
        many = np.bincount(row, minlength=len(rays))
        place = np.arange(len(row)) - (np.cumsum(many) - many)[row], row
        shape = int(many.max(initial=0)), len(rays)
        light, clear = laid(shape, place, own, part)
        total = seen_from(light, clear, self.view.behind[rays])[0]
        edges = seen_from(*laid(shape, place, edge, edge_part), self.view.behind_edge[rays])[0]
        gain = 0.0
        if self.view.urns is not None:
            shown = np.full(len(rays), len(self.table.unit) - 1, dtype=np.int32)
            most = light_through(clear)[place] * part > HALF
            shown[row[most]] = entries[most]
            gain, _, _ = self._recounted(self.view.urns, rays, self._kind_of(rays, shown))
        self.state = kept
        total *= edges
        return float(self.view.weight[rays] @ (np.log(total) - self.logs[rays])) + gain

    def change(self, state: State, rays: NDArray[np.int32]) -> float:
        """Takes over another state on these rays; what their agreement gains."""
        self.state = state
        if not len(rays):
            return 0.0
        met = Met(self.table, state, rays)
        own, edge, part, edge_part = self._filled(met.colour, met.entry)
        light = self.colour.some(met, own, part, self.view.behind[rays])
        self.edge.some(met, edge, edge_part, self.view.behind_edge[rays])
        self.logs[rays] = np.log(self.colour.total[rays] * self.edge.total[rays])
        if self.view.urns is None:
            return 0.0
        most = light * part > HALF
        shown = np.full(len(rays), len(self.table.unit) - 1, dtype=np.int32)
        shown[met.ray[most]] = met.entry[most]
        kind = self._kind_of(rays, shown)
        gain, touched, counts = self._recounted(self.view.urns, rays, kind)
        self.counts[touched] = counts
        self.kind[rays] = kind
        return gain

    def misfit(self) -> tuple[float, float]:
        """The regret of a ray in this picture, and the share of rays that nothing explains."""
        if not self.table.count:
            return 0.0, 0.0
        regret = float((self.view.weight * (self.view.best - self.logs)).mean())
        return regret, float((self.colour.total < UNEXPLAINED).mean())

    def shown(self) -> NDArray[np.int32]:
        """The unit that every ray most surely shows; for none the one that is never there."""
        return np.asarray(self.table.unit[self._entries_shown()])

    def gain_sums(self, rays: NDArray[np.int32] | None) -> NDArray[np.float64]:
        """What to add to the sums of gains (C, units * (levels + 2)) after these rays changed."""
        c = self.table.configurations
        pick = slice(None) if rays is None else self.table.configurations_of(rays)
        first, last, entry = c.first[pick], c.last[pick], c.entry[pick]
        view = self.view
        base, behind, through = _without(self.colour, first, last)
        part, other_part = c.part[pick], c.other_part[pick]
        cover = through * part
        # Where two units of the column share a ray, the other one may have any colour.
        rest = base - through * (part + other_part) * behind
        rest += through * other_part * view.best_entry[c.other[pick]]
        edge_base, edge_behind, edge_through = _without(self.edge, first, last)
        edge_cover = edge_through * c.edge_part[pick]
        known = (edge_base + edge_cover * (view.entry_edge[entry] - edge_behind)) / (
            base * edge_base
        )
        if self.table.flush:
            joined = edge_base + edge_cover * (view.joined_edge[entry] - edge_behind)
            joined /= base * edge_base
            beside = self.state[self.table.beside[entry]]
            beside = np.where(self.state[self.table.before[entry]] == 0, beside, 0)
        weight = view.weight[c.ray[pick]]
        many, units, levels = self.shape
        width = units * (levels + 2)
        start = c.unit[pick] * (levels + 2) + c.low[pick]
        stop = start + c.high[pick] + 1 - c.low[pick]
        if self.gains is None:
            self.gains = np.zeros((many, len(c.entry)), dtype=np.float32)
        sums = np.empty((many, width))
        for k in range(many):
            edge = np.where(beside == k + 1, joined, known) if self.table.flush else known
            gain = weight * np.log((rest + cover * view.entry[k][entry]) * edge)
            new = gain - self.gains[k][pick]
            self.gains[k][pick] = gain
            sums[k] = np.bincount(start, new, width) - np.bincount(stop, new, width)
        return sums


def _without(
    mixed: Mixed, first: NDArray[np.int32], last: NDArray[np.int32]
) -> tuple[Floats32, Floats32, Floats32]:
    """A ray without one column, what lies behind the column, and the light through to it."""
    through, behind = mixed.through[first], mixed.after[last]
    return mixed.before[first] + through * behind, behind, through


def _stack_of(places: Stack) -> Stack:
    """What stands on a column, given all its places: empty ones on top are no part of it."""
    return np.asarray(places[: int(np.flatnonzero(places)[-1]) + 1 if places.any() else 0])


def around(values: NDArray[np.float64], lattice: Lattice) -> NDArray[np.float64]:
    """Values by column, summed over each column and its eight neighbours."""
    grid = np.pad(values.reshape(lattice.ranks, lattice.columns), 1)
    across = grid[:, :-2] + grid[:, 1:-1] + grid[:, 2:]
    return np.asarray((across[:-2] + across[1:-1] + across[2:]).ravel())


class Position:
    """A state of the lattice with its score under the evidence, ready for changes."""

    def __init__(self, evidence: Evidence, state: State, anchor: State | None = None) -> None:
        """`anchor` is the last known state; a column that differs from it must be worth it."""
        self.evidence = evidence
        self.anchor = None if anchor is None else anchor.reshape(-1, evidence.lattice.levels)
        self.levels = evidence.lattice.levels
        self.state = np.append(state, 0).astype(np.int8)  # one more that is never there
        shape = (evidence.colours, evidence.units, self.levels)
        self.sights = [Sight(view, self.state, shape) for view in evidence.views]
        self._sums: NDArray[np.float64] | None = None
        # Rays that changed since the sums of gains were counted, which few changes ask for.
        self._stale: list[list[NDArray[np.int32]]] = [[] for _ in self.sights]
        # How far every camera sees each unit (U, 2) off its place, once that was fitted.
        self.moved_mm: list[NDArray[np.float64]] = []
        self.score = 0.0
        self.sum_up()

    def sum_up(self) -> None:
        """Counts the score anew."""
        explained = sum(float(s.view.weight @ s.logs) + s.agreement() for s in self.sights)
        self.score = explained - self.cost(self.state)

    def renew(self, rays: Sequence[NDArray[np.int64]], anchor: State) -> None:
        """Reads some rays of each camera anew, after their evidence changed."""
        self.anchor = anchor.reshape(-1, self.levels)
        for sight, own, stale in zip(self.sights, rays, self._stale, strict=True):
            some = own.astype(np.int32)
            sight.change(self.state, some)
            if self._sums is not None:
                stale.append(some)
        self.sum_up()

    def copy(self) -> "Position":
        """The same position on its own; its evidence is shared."""
        twin = copy(self)
        twin.sights = [sight.copy() for sight in self.sights]
        twin.keep_sums(self._sums, self._stale)
        return twin

    def keep_sums(
        self, sums: NDArray[np.float64] | None, stale: Sequence[list[NDArray[np.int32]]]
    ) -> None:
        """Goes on with a copy of these sums of gains, and of what has changed since."""
        self._sums = None if sums is None else sums.copy()
        self._stale = [rays.copy() for rays in stale]

    def stack(self, column: int) -> Stack:
        """The colours of one column from below."""
        return _stack_of(self.state[column * self.levels : (column + 1) * self.levels]).copy()

    def gain(self, changes: Mapping[int, Stack]) -> float:
        """What the score would gain if these columns had these stacks."""
        trial = self._changed(changes)
        units = np.flatnonzero(trial != self.state)
        if not len(units):
            return 0.0
        more = self.cost(trial) - self.cost(self.state)
        return sum(s.trial(trial, s.table.rays_of(units)) for s in self.sights) - more

    def dearer(self, changes: Mapping[int, Stack]) -> float:
        """What these stacks cost more than those that stand there, whatever is seen of them."""
        return self.cost(self._changed(changes)) - self.cost(self.state)

    def change(self, changes: Mapping[int, Stack]) -> None:
        """Puts these stacks on these columns."""
        if not changes:
            return
        state = self._changed(changes)
        units = np.flatnonzero(state != self.state)
        gain = self.cost(self.state) - self.cost(state)
        self.state = state
        for sight, stale in zip(self.sights, self._stale, strict=True):
            rays = sight.table.rays_of(units)
            old = float(sight.view.weight[rays] @ sight.logs[rays])
            gain += sight.change(self.state, rays)
            gain += float(sight.view.weight[rays] @ sight.logs[rays]) - old
            if self._sums is not None:
                stale.append(rays)
        self.score += gain

    def restore(self, state: State) -> None:
        """Goes back to a state of before."""
        self.change(self.differing(state))

    def columns_gain(self, some: Sequence[int] | None = None) -> ColumnGains:
        """For every column the gain of each stack over an empty place, all else as it is.

        For some of them alone it is known sooner; they are then numbered in this order.
        """
        many, columns, levels = self.evidence.colours, self.evidence.columns, self.levels
        spans = self._up_to_date().reshape(many, columns, levels, levels + 2)
        if some is not None:
            spans = spans[:, some]
        by_height = np.cumsum(spans, axis=3)[..., 1 : levels + 1]
        return ColumnGains(by_height, self.evidence.settings)

    def _up_to_date(self) -> NDArray[np.float64]:
        """The sums of gains, counted again where rays changed."""
        if self._sums is None:
            self._sums = np.zeros((self.evidence.colours, self.evidence.units * (self.levels + 2)))
            for sight in self.sights:
                self._sums += sight.gain_sums(None)
        else:
            for sight, stale in zip(self.sights, self._stale, strict=True):
                if any(len(rays) for rays in stale):
                    mask = np.zeros(sight.table.count, dtype=np.bool_)
                    for rays in stale:
                        mask[rays] = True
                    self._sums += sight.gain_sums(np.flatnonzero(mask).astype(np.int32))
        for stale in self._stale:
            stale.clear()
        return self._sums

    def with_changes(self, changes: Mapping[int, Stack]) -> State:
        """The state as it would be."""
        return self._changed(changes)[:-1]

    def differing(self, state: State) -> dict[int, Stack]:
        """The columns on which another state differs, with its stacks."""
        old = self.state[:-1].reshape(-1, self.levels)
        new = state.reshape(-1, self.levels)
        return {int(c): _stack_of(new[c]) for c in np.flatnonzero((old != new).any(axis=1))}

    def anchored(self, column: int) -> Stack | None:
        """The last known stack of a column, None where nothing is known."""
        if self.anchor is None:
            return None
        return _stack_of(self.anchor[column])

    def sight(self) -> NDArray[np.float64]:
        """How much of each unit's place is in sight (U), in rays of full weight, all cameras."""
        total = np.zeros(self.evidence.units)
        for s in self.sights:
            rays = s.table.rays
            seen = s.colour.through[:-1] * rays.part * s.view.sharp[s.table.entry_ray]
            total += np.bincount(rays.unit, seen, minlength=len(total))
        return total

    def firm_sight(self) -> NDArray[np.float64]:
        """The same for what stands, without rays beside which another stack shows the same colour.

        There a piece that stands off may deceive.
        """
        total = np.zeros(self.evidence.units + 1)
        columns = np.arange(self.evidence.units + 1) // self.levels
        for s in self.sights:
            shown = s.shown()
            firm = self.state[shown] > 0
            for beside in s.table.neighbours:
                other = shown[beside]
                alike = self.state[other] == self.state[shown]
                firm &= ~(alike & (columns[other] != columns[shown]))
            total += np.bincount(shown, firm * s.view.sharp, minlength=len(total))
        return total[:-1]

    def explained(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For every column how badly it explains its rays against the best colour for them.

        And how many rays each column explains.
        """
        total = np.zeros(self.evidence.columns)
        many = np.zeros(self.evidence.columns)
        for s in self.sights:
            view, table = s.view, s.table
            regret = view.weight * (view.best - s.logs)
            full = np.flatnonzero(self.state[table.rays.unit])
            share = s.colour.through[full] * table.rays.part[full]
            column, ray = table.rays.unit[full] // self.levels, table.entry_ray[full]
            total += np.bincount(column, share * regret[ray], minlength=len(total))
            many += np.bincount(column, share, minlength=len(total))
            rest = 1 - np.bincount(ray, share, minlength=table.count)
            ground = table.ground_column
            there = ground >= 0
            total += np.bincount(ground[there], (rest * regret)[there], minlength=len(total))
            many += np.bincount(ground[there], rest[there], minlength=len(total))
        return total, many

    def misfits(self) -> NDArray[np.float64]:
        """For every column and its neighbours the regret of a ray: high where all is wrong."""
        regret, many = (around(values, self.evidence.lattice) for values in self.explained())
        return np.asarray(regret / np.maximum(many, 1.0))

    def cost(self, state: State) -> float:
        stacks = state[:-1].reshape(-1, self.levels)
        cost = cost_of(stacks, self.evidence.settings)
        if self.anchor is not None:
            changed = int((stacks != self.anchor).any(axis=1).sum())
            cost += self.evidence.settings.change_cost * changed
        return cost

    def _changed(self, changes: Mapping[int, Stack]) -> State:
        trial = self.state.copy()
        for column, stack in changes.items():
            start = column * self.levels
            trial[start : start + self.levels] = 0
            trial[start : start + len(stack)] = stack
        return trial
