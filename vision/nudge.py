"""Pieces stand where people put them: every unit is moved sideways until it fits best.

All units move together, by the slope of the score; what is then left of the doubt about their
places is smaller, so that narrow gaps between stacks tell something, too. A camera whose place is
a little off sees all stacks shifted, turned or leaning; that is fitted for each camera, and takes
in walls that really lean.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rules.lattice import Lattice
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
    entries = [_own_entries(sight, filled, levels) for sight in position.sights]
    hold = _hold(levels, settings)
    gap = lattice.pitch_mm - np.array(lattice.unit_mm[:2])
    shifts = np.zeros((many * levels, 2))
    warps = [np.zeros((4, 2)) for _ in position.sights]  # of each camera, by these terms
    far = settings.most * lattice.pitch_mm
    for width in settings.widths:
        slope = np.zeros((len(shifts), 2))
        bend = np.zeros((len(shifts), 2, 2))
        for number, (sight, own) in enumerate(zip(position.sights, entries, strict=True)):
            if width > settings.warped:
                by_unit = _slopes(sight, own, shifts + terms @ warps[number], width, settings.worth)
                warps[number] += _warp_step(warps[number], *by_unit, terms, usual)
            by_unit = _slopes(sight, own, shifts + terms @ warps[number], width, settings.worth)
            slope += by_unit[0]
            bend += by_unit[1]
        _push_apart(shifts, there, gap, lattice, slope, bend, settings)
        step = _step(shifts, slope, bend, hold)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.8 / np.maximum(length, 1e-9))
        shifts = np.clip(shifts + step, -far, far)
        for sight, own, warp in zip(position.sights, entries, warps, strict=True):
            _move(sight, own, shifts + terms @ warp, width)
    for sight, own, warp in zip(position.sights, entries, warps, strict=True):
        # Nobody knows where on its cell another stack would stand, but cameras are off alike.
        _move(sight, _others(sight, own), terms @ warp, 1.0)
        sight.refresh()
    position.moved_mm = [shifts + terms @ warp for warp in warps]
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


def _own_entries(sight: Sight, filled: NDArray[np.bool_], levels: int) -> NDArray[np.int64]:
    """The entries of columns on which something stands."""
    return np.flatnonzero(filled[sight.table.rays.unit // levels])


def _others(sight: Sight, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """All other entries."""
    others = np.ones(len(sight.table.rays.unit), dtype=bool)
    others[own] = False
    return np.flatnonzero(others)


def _places(
    sight: Sight, own: NDArray[np.int64], moved: Shifts, width: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How deep inside their units the entries pass, and the doubt's width, between 1 and wide."""
    fit = sight.table.rays.fit
    shift = moved[sight.table.rays.unit[own]].astype(np.float32)
    wide = 1 + np.float32(width) * (fit.wide[own] - 1)
    depth = fit.depth[own] + fit.depth_x[own] * shift[:, 0] + fit.depth_y[own] * shift[:, 1]
    return depth / wide, wide


def _slopes(
    sight: Sight, own: NDArray[np.int64], moved: Shifts, width: float, worth: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The slope of the score by the place of every unit, and its bend after Gauss and Newton."""
    slope = np.zeros((len(moved), 2))
    bend = np.zeros((len(moved), 2, 2))
    table, view, fit = sight.table, sight.view, sight.table.rays.fit
    colour = sight.state[table.rays.unit[own]]
    own, colour = own[colour > 0], colour[colour > 0]
    depth, wide = _places(sight, own, moved, width)
    near = np.abs(depth) < 3
    own, colour, depth, wide = own[near], colour[near], depth[near], wide[near]
    ray = table.entry_ray[own]
    through = sight.colour.through[own]
    density = view.entry[colour - 1, own]
    change = through * (density - sight.colour.after[own]) / sight.colour.total[ray]
    part = normal(depth)
    steep = 1.702 * part * (1 - part) / wide * change
    unit = table.rays.unit[own]
    weight = view.weight[ray]
    by = (steep * fit.depth_x[own], steep * fit.depth_y[own])
    for i in range(2):
        slope[:, i] += np.bincount(unit, weight * by[i], len(slope))
        for j in range(2):
            bend[:, i, j] += np.bincount(unit, weight * by[i] * by[j], len(slope))
    return worth * slope, worth * bend


def _move(sight: Sight, own: NDArray[np.int64], moved: Shifts, width: float) -> None:
    """Reads the evidence of some entries at the new places."""
    table, view, fit = sight.table, sight.view, sight.table.rays.fit
    depth, wide = _places(sight, own, moved, width)
    shift = moved[table.rays.unit[own]]
    gap = fit.gap[own] + fit.gap_x[own] * shift[:, 0] + fit.gap_y[own] * shift[:, 1]
    part = normal(depth).astype(np.float32)
    sight.part = sight.part.copy()
    sight.part[own] = part
    sight.edge_part = sight.edge_part.copy()
    sight.edge_part[own] = np.minimum(1.0, 2.0 * part)
    zone = np.digitize(np.minimum(np.abs(gap) / wide, 2 * depth), ZONES)
    ray = table.entry_ray[own]
    sight.entry_edge = sight.entry_edge.copy()
    sight.entry_edge[own] = view.edges[table.zone_or_either(zone, own), ray]
    sight.joined_edge = sight.joined_edge.copy()
    sight.joined_edge[own] = view.edges[np.maximum(zone, 3), ray]
    sight.mix()
