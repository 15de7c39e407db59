"""Which columns a ray passes, and what it meets there for every height of the stack.

Like the rays, this depends on the camera and the lattice alone.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from rules.lattice import Lattice
from vision.rays import FACES, Rays

Ints = NDArray[np.int32]

FLUSH_MM = 0.8  # pieces with smaller gaps than this stand wall to wall
PATCH = 6  # rays across a part of the room that lies in the same light
CACHED = 4000  # sets of columns whose rays are remembered
EITHER = 5  # the zone of which nobody knows whether an edge is there


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """What a ray meets in one column, for a range of heights of its stack.

    `entry` is the unit that counts, `part` how much of the ray it covers; `other` and
    `other_part` are the second one's. `first` and `last` are the ray's entries of the whole column.
    """

    ray: Ints
    entry: Ints
    unit: Ints
    part: Floats32
    other: Ints
    other_part: Floats32
    edge_part: Floats32
    low: Ints  # heights from this
    high: Ints  # to this
    first: Ints
    last: Ints


class RayTable:
    """Rays of one camera with everything the search needs from geometry."""

    def __init__(self, rays: Rays, lattice: Lattice) -> None:
        self.rays = rays
        self.lattice = lattice
        self.count = len(rays.px)
        self.entry_ray = np.concatenate(
            [np.arange(many, dtype=np.int32) for _, many in rays.slots] or [np.zeros(0, np.int32)]
        )
        # Beside a piece, too, its edge shows: for contrast it is met twice as surely.
        self.edge_part = np.minimum(1.0, 2.0 * rays.part).astype(np.float32)
        self.configurations = _configurations(rays, lattice)
        entries = len(rays.unit)
        place = np.floor(rays.ground_mm / lattice.pitch_mm).astype(np.int32)
        inside = (place >= 0).all(axis=1) & (place < (lattice.columns, lattice.ranks)).all(axis=1)
        self.ground_column = np.where(inside, place[:, 1] * lattice.columns + place[:, 0], -1)
        self.matrix = np.full((self.count, max(len(rays.slots), 1)), entries, dtype=np.int32)
        for k, (start, many) in enumerate(rays.slots):
            self.matrix[:many, k] = np.arange(start, start + many)
        # Units without a gap between them may be one piece: no edge shows where a face continues
        # in the same colour. Up and down a column nobody knows before the stack is decided.
        self.flush = lattice.pitch_mm - max(lattice.unit_mm[:2]) < FLUSH_MM
        upright = (rays.beside >= 0) & (
            rays.beside // lattice.levels == rays.unit // lattice.levels
        )
        none = lattice.columns * lattice.ranks * lattice.levels
        self.beside = np.append(np.where((rays.beside < 0) | upright, none, rays.beside), none)
        self.before = np.append(np.where(rays.before < 0, none, rays.before), none)
        joined = np.maximum(rays.zone, 3).astype(np.int32)
        self.joined_index = joined * self.count + self.entry_ray
        self._upright = upright
        every = np.arange(entries)
        self.edge_index = self.zone_or_either(rays.zone, every) * self.count + self.entry_ray
        # One entry more stands for "no further unit": it belongs to a unit that is never there.
        units = lattice.columns * lattice.ranks * lattice.levels
        self.unit = np.append(rays.unit, units).astype(np.int32)
        self.matrix_unit = self.unit[self.matrix]
        self.meetings = np.count_nonzero(self.matrix < entries, axis=1)
        self._rays_of: dict[bytes, NDArray[np.int32]] = {}
        self.part = np.append(rays.part, 0).astype(np.float32)
        self.edge_part = np.append(self.edge_part, 0).astype(np.float32)
        self.configuration_start = np.searchsorted(
            self.configurations.ray, np.arange(self.count + 1)
        )
        self.neighbours = _neighbours(rays)
        # Rays that show the same face, the same cell's ground or the same part of the room.
        self.face_group = np.append(rays.unit * FACES + rays.face, 0).astype(np.int32)
        self.groups, self.ground_group = self._ground_groups(units * FACES)
        self.face_groups = units * FACES
        each = np.bincount(rays.unit, rays.part) if entries else np.zeros(0)
        # Of a unit a camera sees two faces or three.
        self.face_rays = float(np.median(each[each > 0])) / 2 if (each > 0).any() else 0.0
        self.unit_rays = self._unit_rays(units)

    def _ground_groups(self, first: int) -> tuple[int, NDArray[np.int32]]:
        """How many groups there are, and that of each ray where it meets no piece."""
        columns = self.lattice.columns * self.lattice.ranks
        patch = np.floor(self.rays.px / (PATCH * max(self.rays.step_px, 1.0))).astype(np.int64)
        _, number = np.unique(patch, axis=0, return_inverse=True)
        number = number.reshape(-1) + columns
        group = np.where(self.ground_column >= 0, self.ground_column, number)
        return first + int(group.max(initial=0)) + 1, (first + group).astype(np.int32)

    def zone_or_either(
        self, zone: NDArray[np.signedinteger], entries: NDArray[np.int64] | slice
    ) -> NDArray[np.int32]:
        """The zones of entries, where nobody knows whether an edge is there: either."""
        zone = zone.astype(np.int32)
        if not self.flush:
            return zone
        return np.where(self._upright[entries] & (zone < 3), EITHER, zone).astype(np.int32)

    def columns_of(self, rays: NDArray[np.int64]) -> set[int]:
        """The columns that any of these rays pass."""
        units = self.matrix_unit[rays]
        return set(np.unique(units[units < self.unit[-1]] // self.lattice.levels).tolist())

    def _unit_rays(self, units: int) -> list[NDArray[np.int32]]:
        """The rays for which it matters what each unit is.

        Those that meet it; where pieces stand wall to wall also those that show a face which it
        continues, or hides, be it beside all that they meet.
        """
        unit, ray = self.rays.unit, self.entry_ray
        if self.flush:
            unit = np.concatenate([unit, self.beside[:-1], self.before[:-1]])
            ray = np.tile(ray, 3)
        there = unit < units
        met = np.unique(unit[there].astype(np.int64) * self.count + ray[there])
        bounds = np.searchsorted(met, np.arange(units + 1) * self.count)
        return [(met[a:b] % self.count).astype(np.int32) for a, b in pairwise(bounds.tolist())]

    def rays_of(self, units: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rays for which it matters what any of these units are."""
        key = units.tobytes()
        found = self._rays_of.get(key)
        if found is None:
            mask = np.zeros(self.count, dtype=bool)
            for unit in units:
                mask[self.unit_rays[unit]] = True
            found = np.flatnonzero(mask).astype(np.int32)
            if len(self._rays_of) < CACHED:
                self._rays_of[key] = found
        return found

    def entries_of(self, rays: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The entries (m, K) of some rays and their units; no ray passes more than K."""
        most = int(self.meetings[rays].max(initial=0))
        return self.matrix[rays, :most], self.matrix_unit[rays, :most]

    def configurations_of(self, rays: NDArray[np.int32]) -> NDArray[np.int64]:
        """The configurations that belong to these rays."""
        start = self.configuration_start[rays]
        many = self.configuration_start[rays + 1] - start
        ahead = np.cumsum(many) - many
        return np.repeat(start - ahead, many) + np.arange(int(many.sum()))

    def densities_of(
        self, rays: NDArray[np.int64], piece: Floats32, band: NDArray[np.int8]
    ) -> tuple[NDArray[np.int32], Floats32, NDArray[np.int32]]:
        """The entries of some rays, their densities (C, m), and which of the rays each is of.

        `piece` (C, B, F, m) holds the densities of these rays alone, `band` that of each level.
        """
        matrix = self.matrix[rays]
        row, slot = np.nonzero(matrix < len(self.rays.unit))
        entries = matrix[row, slot]
        share = self.rays.share[entries]
        own = band[self.rays.unit[entries] % self.lattice.levels]
        one = piece[:, own, self.rays.face[entries], row]
        two = piece[:, own, self.rays.other[entries], row]
        return entries, one * share + two * (1 - share), row.astype(np.int32)

    def entry_shades(self, shade: NDArray[np.int8], band: NDArray[np.int8]) -> NDArray[np.int8]:
        """Class of brightness (C, E) of each entry, for each colour."""
        at = self._place_of(self.rays.face, shade.shape, band)
        return np.asarray(shade.reshape(len(shade), -1).take(at, axis=1))

    def entry_densities(self, piece: Floats32, band: NDArray[np.int8]) -> Floats32:
        """Density (C, E) of each entry, for each colour."""
        flat = piece.reshape(len(piece), -1)
        one = self._place_of(self.rays.face, piece.shape, band)
        two = self._place_of(self.rays.other, piece.shape, band)
        share = self.rays.share
        return np.stack([row.take(one) * share + row.take(two) * (1 - share) for row in flat])

    def _place_of(
        self, face: NDArray[np.int8], shape: tuple[int, ...], band: NDArray[np.int8]
    ) -> NDArray[np.int32]:
        """Where entries, met through these faces, stand among all bands, faces and rays."""
        _, bands, faces, many = shape
        at = face.astype(np.int32) * many + self.entry_ray
        if bands > 1:
            at += band[self.rays.unit % self.lattice.levels].astype(np.int32) * (faces * many)
        return np.asarray(at, dtype=np.int32)


def _neighbours(rays: Rays) -> NDArray[np.int32]:
    """The rays (4, N) left, right, above and below of each one, its own number where none is."""
    place = np.floor(rays.px / max(rays.step_px, 1.0) + 0.5).astype(np.int64) + 2
    many = len(place)
    if not many:
        return np.zeros((4, 0), dtype=np.int32)
    grid = np.full(place.max(axis=0) + 3, -1, dtype=np.int32)
    own = np.arange(many, dtype=np.int32)
    grid[place[:, 0], place[:, 1]] = own
    beside = [grid[place[:, 0] + x, place[:, 1] + y] for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    return np.stack([np.where(other < 0, own, other) for other in beside])


def _configurations(rays: Rays, lattice: Lattice) -> Configurations:
    levels = lattice.levels
    slots = rays.slots
    total = len(rays.unit)
    column = rays.unit // levels
    level = rays.unit % levels + 1
    first = np.arange(total, dtype=np.int32)
    for k in range(1, len(slots)):
        here, many = slots[k]
        before = slots[k - 1][0]
        same = column[here : here + many] == column[before : before + many]
        first[here : here + many][same] = first[before : before + many][same]
    last = np.arange(total, dtype=np.int32)
    for k in range(len(slots) - 2, -1, -1):
        here, after = slots[k][0], slots[k + 1][0]
        many = slots[k + 1][1]
        same = column[here : here + many] == column[after : after + many]
        last[here : here + many][same] = last[after : after + many][same]
    # Number the visits (a ray in a column) and list each one's entries, front to back.
    visit_first, visit = np.unique(first, return_inverse=True)
    place = np.zeros(total, dtype=np.int32)
    for k in range(1, len(slots)):
        here, many = slots[k]
        before = slots[k - 1][0]
        same = first[here : here + many] == first[before : before + many]
        place[here : here + many][same] = place[before : before + many][same] + 1
    most = int(place.max(initial=0)) + 1
    member = np.full((len(visit_first), most), -1, dtype=np.int32)
    member[visit, place] = np.arange(total)
    member_level = np.where(member >= 0, level[member], 99)
    member_part = np.where(member >= 0, rays.part[member], 0.0)
    rows: list[tuple[NDArray[np.generic], ...]] = []
    for k in range(most):
        # Configuration: heights from this member's level up to below the next higher level.
        real = member[:, k] >= 0
        top = member_level[:, k]
        higher = np.where(member_level > top[:, None], member_level, 100).min(axis=1)
        higher = np.where(higher > levels, levels + 1, higher)
        through, edge_through = np.ones(len(member)), np.ones(len(member))
        shares = np.zeros(member.shape)
        for i in range(most):
            there = (member[:, i] >= 0) & (member_level[:, i] <= top)
            shares[:, i] = np.where(there, through * member_part[:, i], 0.0)
            through = through * np.where(there, 1 - member_part[:, i], 1.0)
            beside = np.maximum(1 - 2 * member_part[:, i], 0)
            edge_through = edge_through * np.where(there, beside, 1.0)
        visits = np.arange(len(member))
        best = shares.argmax(axis=1)
        part = shares[visits, best]
        shares[visits, best] = 0
        second = shares.argmax(axis=1)
        use = real & (part > 0)
        rows.append(
            (
                member[visits, best][use],
                part[use],
                np.where(shares > 0, member, member[:, :1])[visits, second][use],
                shares[visits, second][use],
                (1 - edge_through)[use],
                top[use],
                (higher - 1)[use],
                visit_first[use],
            )
        )
    entry, part, other, other_part, edge_part, low, high, begin = (
        np.concatenate(c) for c in zip(*rows, strict=True)
    )
    entry_ray = np.concatenate([np.arange(m) for _, m in slots] or [np.zeros(0, dtype=np.int64)])
    by_ray = np.argsort(entry_ray[entry], kind="stable")
    entry, begin = entry[by_ray], begin[by_ray]
    return Configurations(
        ray=entry_ray[entry].astype(np.int32),
        entry=entry.astype(np.int32),
        unit=rays.unit[entry],
        part=part[by_ray].astype(np.float32),
        other=other[by_ray].astype(np.int32),
        other_part=other_part[by_ray].astype(np.float32),
        edge_part=edge_part[by_ray].astype(np.float32),
        low=low[by_ray].astype(np.int32),
        high=high[by_ray].astype(np.int32),
        first=begin.astype(np.int32),
        last=last[begin].astype(np.int32),
    )
