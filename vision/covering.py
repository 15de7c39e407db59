"""Hands and other things in the way: what no position explains, reaching in from outside.

A shadow is no hand: the densities of the board know shadows. What looks like a piece is no hand
either; that a hand of the colour of wood moves is seen elsewhere, by its movement.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.cells import Cell
from vision.position import Position, Sight
from vision.reading import Covered

QUARTER = 4
Mask = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverSettings:
    """When something counts as a hand."""

    unexplained: float = 0.003  # pixels less likely than this under the best position
    least_part: float = 0.03  # of all rays; below, nothing is looked for
    least_faces: float = 2.0  # size of a hand, in faces of a unit
    touched: float = 0.3  # share of a cell's sight that a hand takes to hide the cell


def find_cover(position: Position, settings: CoverSettings) -> dict[int, Covered]:
    """What is in the way of each camera, by its number; cameras with a free view are left out."""
    found: dict[int, Covered] = {}
    lost = np.zeros(position.evidence.columns)
    seen = np.zeros(position.evidence.columns)
    masks: dict[int, Mask] = {}
    for number, sight in enumerate(position.sights):
        odd = sight.colour.total < settings.unexplained
        mask = _hand(sight, odd, settings) if odd.sum() > settings.least_part * len(odd) else None
        rays = sight.table.rays
        inside = np.zeros(sight.table.count, dtype=bool)
        if mask is not None:
            masks[number] = mask
            inside = mask[rays.px[:, 1] // QUARTER, rays.px[:, 0] // QUARTER] > 0
        share = sight.colour.through[:-1] * rays.part
        column = rays.unit // position.levels
        hidden = share * inside[sight.table.entry_ray]
        seen += np.bincount(column, share, minlength=len(seen))
        lost += np.bincount(column, hidden, minlength=len(lost))
    touched = np.flatnonzero(lost > settings.touched * np.maximum(seen, 1e-6))
    files = position.evidence.lattice.columns
    cells = frozenset(Cell(int(c) % files, int(c) // files) for c in touched)
    for number, mask in masks.items():
        found[number] = Covered(mask > 0, cells)
    return found


def _hand(sight: Sight, odd: NDArray[np.bool_], settings: CoverSettings) -> Mask | None:
    """The unexplained regions (a quarter of the picture's size) that come in from outside."""
    px = sight.table.rays.px // QUARTER
    step = max(1, round(sight.table.rays.step_px / QUARTER))
    shape = (int(px[:, 1].max()) + 2 * step + 1, int(px[:, 0].max()) + 2 * step + 1)
    sampled, unclear = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
    sampled[px[:, 1], px[:, 0]] = 1
    unclear[px[odd, 1], px[odd, 0]] = 1
    kernel = np.ones((2 * step + 1, 2 * step + 1), dtype=np.uint8)
    whole = cv2.dilate(sampled, kernel)
    open_ = np.ones((3 * step + 2,) * 2, dtype=np.uint8)
    regions = cv2.morphologyEx(cv2.dilate(unclear, kernel), cv2.MORPH_OPEN, open_)
    inner = cv2.erode(whole, np.ones((4 * step + 1,) * 2, dtype=np.uint8), borderValue=0)
    count, labels = cv2.connectedComponents(np.asarray(regions, dtype=np.uint8))
    least = settings.least_faces * _face_area(sight) / QUARTER**2
    mask = np.zeros(shape, dtype=np.uint8)
    for label in range(1, count):
        region = labels == label
        if region.sum() >= least and (inner[region] == 0).any():
            mask[region] = 1
    return mask if mask.any() else None


def _face_area(sight: Sight) -> float:
    """Typical area of a unit's face in this picture, in pixels."""
    rays = sight.table.rays
    each = np.bincount(rays.unit, rays.part)
    usual = float(np.median(each[each > 0])) if len(each) else 0.0
    return usual * rays.step_px**2 / 2
