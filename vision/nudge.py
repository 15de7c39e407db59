"""Pieces stand where people put them: every stack is moved sideways until it fits best.

All stacks move together, by the slope of the score; what is then left of the doubt about their
places is smaller, so that narrow gaps between stacks tell something, too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.position import Position, Sight
from vision.rays import ZONES, normal

Shifts = NDArray[np.float64]  # (J, 2) millimetres


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeSettings:
    """How far and how carefully stacks are moved."""

    deviation_mm: float = 1.5  # how far stacks usually stand off (0.5 to 3)
    most: float = 0.22  # of the pitch, at most
    widths: tuple[float, ...] = (1.0, 0.8, 0.5, 0.2, 0.0)  # from the doubt before to that after


def nudge(position: Position, settings: NudgeSettings | None = None) -> Shifts:
    """Fits the places of all stacks; the position's evidence is then read at these places."""
    settings = settings or NudgeSettings()
    lattice = position.evidence.lattice
    shifts = np.zeros((position.evidence.columns, 2))
    filled = position.state[:-1].reshape(-1, position.levels).max(axis=1) > 0
    entries = [_own_entries(sight, filled, position.levels) for sight in position.sights]
    for width in settings.widths:
        slope = np.zeros((len(shifts), 2))
        bend = np.zeros((len(shifts), 2, 2))
        for sight, own in zip(position.sights, entries, strict=True):
            _add_slopes(sight, own, shifts, width, position.levels, slope, bend)
        hold = 1.0 / settings.deviation_mm**2
        slope -= hold * shifts
        bend += (hold + 1e-6) * np.eye(2)
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.8 / np.maximum(length, 1e-9))
        far = settings.most * lattice.pitch_mm
        shifts = np.where(filled[:, None], np.clip(shifts + step, -far, far), 0.0)
        for sight, own in zip(position.sights, entries, strict=True):
            _move(sight, own, shifts, width, position.levels)
    position.sum_up()
    return shifts


def _own_entries(sight: Sight, filled: NDArray[np.bool_], levels: int) -> NDArray[np.int64]:
    """The entries of columns on which something stands."""
    return np.flatnonzero(filled[sight.table.rays.unit // levels])


def _places(
    sight: Sight, own: NDArray[np.int64], shifts: Shifts, width: float, levels: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How deep inside their units the entries pass, and the doubt's width, between 1 and wide."""
    fit = sight.table.rays.fit
    shift = shifts[sight.table.rays.unit[own] // levels].astype(np.float32)
    wide = 1 + np.float32(width) * (fit.wide[own] - 1)
    depth = fit.depth[own] + fit.depth_x[own] * shift[:, 0] + fit.depth_y[own] * shift[:, 1]
    return depth / wide, wide


def _add_slopes(
    sight: Sight,
    own: NDArray[np.int64],
    shifts: Shifts,
    width: float,
    levels: int,
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
) -> None:
    """Adds the slope of the score by the shifts, and its bend after Gauss and Newton."""
    table, view, fit = sight.table, sight.view, sight.table.rays.fit
    colour = sight.state[table.rays.unit[own]]
    own, colour = own[colour > 0], colour[colour > 0]
    depth, wide = _places(sight, own, shifts, width, levels)
    near = np.abs(depth) < 3
    own, colour, depth, wide = own[near], colour[near], depth[near], wide[near]
    ray = table.entry_ray[own]
    through = sight.colour.through[own]
    density = view.entry[colour - 1, own]
    change = through * (density - sight.colour.after[own]) / sight.colour.total[ray]
    part = normal(depth)
    steep = 1.702 * part * (1 - part) / wide * change
    column = table.rays.unit[own] // levels
    weight = view.weight[ray]
    by = (steep * fit.depth_x[own], steep * fit.depth_y[own])
    for i in range(2):
        slope[:, i] += np.bincount(column, weight * by[i], len(slope))
        for j in range(2):
            bend[:, i, j] += np.bincount(column, weight * by[i] * by[j], len(slope))


def _move(sight: Sight, own: NDArray[np.int64], shifts: Shifts, width: float, levels: int) -> None:
    """Reads the evidence at the new places."""
    table, view, fit = sight.table, sight.view, sight.table.rays.fit
    depth, wide = _places(sight, own, shifts, width, levels)
    shift = shifts[table.rays.unit[own] // levels]
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
    sight.refresh()
