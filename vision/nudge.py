"""Pieces stand where people put them: every unit is moved sideways until it fits best.

All units move together, by the slope of the score; what is then left of the doubt about their
places is smaller, so that narrow gaps between stacks tell something, too. A camera whose place is
a little off sees all stacks shifted, turned or leaning; that is fitted for each camera, and takes
in walls that really lean.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from rules.lattice import Lattice
from vision.mixing import Met, laid, light_through, seen_from
from vision.position import Position, Sight
from vision.rays import ZONES, normal, unit_boxes

Shifts = NDArray[np.float64]  # (U, 2) millimetres, of every unit


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeSettings:
    """How far and how carefully pieces are moved."""

    worth: float = 0.2  # of the score: neighbouring rays err alike
    deviation_mm: float = 1.5  # how far stacks usually stand off (0.5 to 3)
    level_mm: float = 0.6  # and each unit off the one below
    inside_mm: float = 0.3  # how far pieces seem to stand inside each other, usually
    most: float = 0.22  # of the pitch, at most
    warped: float = 0.3  # cameras are fitted as long as the doubt is wider than this
    off_mm: float = 1.5  # how far off a camera usually sees all stacks
    warp: float = 0.008  # how much more a millimetre further from the middle
    lean: float = 0.012  # and a millimetre higher
    widths: tuple[float, ...] = (1.0, 0.8, 0.5, 0.2, 0.0)  # from the doubt before to that after


def nudge(position: Position, settings: NudgeSettings | None = None) -> Shifts:
    """Fits the places of all units; the position's evidence is then read at these places."""
    settings = settings or NudgeSettings()
    lattice, levels = position.evidence.lattice, position.levels
    many = position.evidence.columns
    terms = _camera_terms(lattice)
    usual = np.array([settings.off_mm, settings.warp, settings.warp, settings.lean])
    there = position.state[:-1].reshape(-1, levels) > 0
    filled = np.asarray(there.any(axis=1))
    standing = [_Standing(sight) for sight in position.sights]
    hold = _hold(levels, settings)
    gap = lattice.pitch_mm - np.array(lattice.unit_mm[:2])
    shifts = np.zeros((many * levels, 2))
    warps = [np.zeros((4, 2)) for _ in position.sights]  # of each camera, by these terms
    far = settings.most * lattice.pitch_mm
    for width in settings.widths:
        slope = np.zeros((len(shifts), 2))
        bend = np.zeros((len(shifts), 2, 2))
        for number, own in enumerate(standing):
            if width > settings.warped:
                by_unit = own.slopes(shifts + terms @ warps[number], width, settings.worth)
                warps[number] += _warp_step(warps[number], *by_unit, terms, usual)
            by_unit = own.slopes(shifts + terms @ warps[number], width, settings.worth)
            slope += by_unit[0]
            bend += by_unit[1]
        _push_apart(shifts, there, gap, lattice, slope, bend, settings)
        step = _step(shifts, slope, bend, hold)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.8 / np.maximum(length, 1e-9))
        shifts = np.clip(shifts + step, -far, far)
        if width != settings.widths[-1]:
            for own, warp in zip(standing, warps, strict=True):
                own.move(shifts + terms @ warp, width)
    position.moved_mm = [shifts + terms @ warp for warp in warps]
    for sight, moved in zip(position.sights, position.moved_mm, strict=True):
        _take_over(sight, moved, np.repeat(filled, levels))
    position.sum_up()
    return shifts


def _hold(levels: int, settings: NudgeSettings) -> NDArray[np.float64]:
    """What holds the units of a column (L, L): the lowest its cell, the others what is below."""
    differ = np.eye(levels) - np.eye(levels, k=-1)
    worth = np.full(levels, 1 / settings.level_mm**2)
    worth[0] = 1 / settings.deviation_mm**2
    return np.asarray(differ.T @ (worth[:, None] * differ))


def _push_apart(
    shifts: Shifts,
    there: NDArray[np.bool_],
    gap: NDArray[np.float64],
    lattice: Lattice,
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
    settings: NudgeSettings,
) -> None:
    """Pieces beside each other cannot stand in one place."""
    shape = (lattice.ranks, lattice.columns, lattice.levels)
    filled = there.reshape(shape)
    number = np.arange(len(shifts)).reshape(shape)
    for axis, (one, other) in enumerate(
        (
            ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
            ((slice(None, -1),), (slice(1, None),)),
        )
    ):
        both = filled[one] & filled[other]
        a, b = number[one][both], number[other][both]
        into = shifts[a, axis] - shifts[b, axis] - gap[axis]
        touching = into > 0
        a, b, into = a[touching], b[touching], into[touching]
        worth = 1 / settings.inside_mm**2
        np.add.at(slope[:, axis], a, -worth * into / 2)
        np.add.at(slope[:, axis], b, worth * into / 2)
        # As much as both together would give way, so that they do not push each other too far.
        np.add.at(bend[:, axis, axis], a, worth)
        np.add.at(bend[:, axis, axis], b, worth)


def _camera_terms(lattice: Lattice) -> NDArray[np.float64]:
    """What a camera's error depends on (U, 4): one, place across and along, height."""
    low, high = unit_boxes(lattice)
    middle = (low + high) / 2
    away = middle[:, :2] - np.array(lattice.size_mm[:2]) / 2
    return np.column_stack([np.ones(len(middle)), away, middle[:, 2]])


def _warp_step(
    warp: NDArray[np.float64],
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
    terms: NDArray[np.float64],
    usual: NDArray[np.float64],
) -> NDArray[np.float64]:
    """How a camera's error (4, 2) should change; `usual` is how large its terms are, mostly."""
    scaled = terms * usual
    pull = (scaled.T @ slope).ravel() - (warp / usual[:, None]).ravel()
    stiff = np.einsum("ua,ub,uij->aibj", scaled, scaled, bend).reshape(8, 8)
    step = np.linalg.solve(stiff + np.eye(8), pull)
    return np.asarray(step.reshape(4, 2) * usual[:, None])


def _step(
    now: NDArray[np.float64],
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
    hold: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Where Gauss and Newton go from here, for all units (U, 2) of columns that are held so."""
    levels = len(hold)
    stiff = np.einsum("kl,ij->kilj", hold, np.eye(2)).reshape(2 * levels, 2 * levels)
    pull = slope.reshape(-1, 2 * levels) - now.reshape(-1, 2 * levels) @ stiff
    whole = np.zeros((len(pull), levels, 2, levels, 2))
    each = np.arange(levels)
    whole[:, each, :, each, :] = bend.reshape(-1, levels, 2, 2).transpose(1, 0, 2, 3)
    square = whole.reshape(len(pull), 2 * levels, 2 * levels) + stiff
    return np.asarray(np.linalg.solve(square, pull[..., None])[..., 0].reshape(-1, 2))


class _Standing:
    """What one camera sees of all that stands, while it is moved."""

    def __init__(self, sight: Sight) -> None:
        table, view, fit = sight.table, sight.view, sight.table.rays.fit
        self._met = met = Met(table, sight.state, np.arange(table.count, dtype=np.int32))
        self._unit = table.rays.unit[met.entry]
        self._depth, self._wide = fit.depth[met.entry], fit.wide[met.entry]
        self._by = fit.depth_x[met.entry], fit.depth_y[met.entry]
        self._density = view.entry[met.colour - 1, met.entry]
        self._weight = view.weight[met.ray]
        self._behind = view.behind
        self._mix(sight.part[met.entry])

    def _mix(self, part: Floats32) -> None:
        """Takes note of what a ray's density gains where each unit is met more surely."""
        shown, clear = laid(self._met.shape, self._met.place, self._density, part)
        seen = seen_from(shown, clear, self._behind)
        place, ray = self._met.place
        through = light_through(clear)[self._met.place]
        self._gain = through * (self._density - seen[place + 1, ray]) / seen[0, ray]

    def _depths(self, moved: Shifts, width: float) -> tuple[Floats32, Floats32]:
        """How deep inside their units rays pass, and the doubt's width, between 1 and wide."""
        shift = moved.astype(np.float32)[self._unit]
        wide = 1 + np.float32(width) * (self._wide - 1)
        depth = self._depth + self._by[0] * shift[:, 0] + self._by[1] * shift[:, 1]
        return depth / wide, wide

    def slopes(
        self, moved: Shifts, width: float, worth: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The slope of the score by every unit's place, and its bend after Gauss and Newton."""
        slope = np.zeros((len(moved), 2))
        bend = np.zeros((len(moved), 2, 2))
        depth, wide = self._depths(moved, width)
        near = np.flatnonzero(np.abs(depth) < 3)
        part = normal(depth[near])
        steep = 1.702 * part * (1 - part) / wide[near] * self._gain[near]
        unit, weight = self._unit[near], self._weight[near]
        by = [steep * own[near] for own in self._by]
        for i in range(2):
            pull = weight * by[i]
            slope[:, i] = np.bincount(unit, pull, len(slope))
            for j in range(i, 2):
                bend[:, i, j] = bend[:, j, i] = np.bincount(unit, pull * by[j], len(slope))
        return worth * slope, worth * bend

    def move(self, moved: Shifts, width: float) -> None:
        """Goes on with all units at these places."""
        self._mix(normal(self._depths(moved, width)[0]))


def _take_over(sight: Sight, moved: Shifts, filled: NDArray[np.bool_]) -> None:
    """Reads the evidence of all entries at the new places.

    Nobody knows where on its cell a stack would stand where none is `filled`, but cameras are off
    alike.
    """
    table, view, fit = sight.table, sight.view, sight.table.rays.fit
    unit = table.rays.unit
    x, y = moved.astype(np.float32)[unit].T
    wide = np.where(filled[unit], np.float32(1), fit.wide)
    depth = (fit.depth + fit.depth_x * x + fit.depth_y * y) / wide
    gap = np.abs(fit.gap + fit.gap_x * x + fit.gap_y * y) / wide
    part = normal(depth)
    rim = np.minimum(gap, 2 * depth)
    zone = np.zeros(len(unit), dtype=np.int8)
    for edge in ZONES:
        zone += rim >= edge
    ray = table.entry_ray
    every = slice(None)
    sight.part = np.append(part, np.float32(0))
    sight.edge_part = np.append(np.minimum(1, 2 * part), np.float32(0))
    one = np.float32(1)
    # The last one stands for no further unit, as in all that is told of entries.
    sight.entry_edge = np.append(view.edges[table.zone_or_either(zone, every), ray], one)
    sight.joined_edge = np.append(view.edges[np.maximum(zone, 3), ray], one)
    sight.refresh()
