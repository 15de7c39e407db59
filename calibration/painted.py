"""Cells that are painted in another colour than the rest, as houses of players are: no pieces.

Paint ends at the cell's border on all sides; a piece is seen beyond it on some side, as it is high.
"""

from collections.abc import Iterable

import cv2
import numpy as np

from calibration.camera import Camera, Floats
from calibration.rectify import Plane
from rules.cells import Cell
from rules.lattice import Lattice

_BESIDE = 0.13  # of the pitch: so far inside and outside the border the picture is looked at
_MORE = 0.03  # so much farther a piece must be seen to be told from paint
_ALONG = np.linspace(-0.36, 0.36, 9)  # of the pitch, along each border
_NEARLY_ALL = 0.9
_APART = 8.0  # in Lab; paint that differs less from the board than that is not told apart


def without_painted(
    cells: Iterable[Cell], camera: Camera, lab: Plane, lattice: Lattice
) -> tuple[Cell, ...]:
    """Those of some cells that look unlike the others, and not by their paint alone."""
    return tuple(cell for cell in cells if not _is_painted(cell, camera, lab, lattice))


def _is_painted(cell: Cell, camera: Camera, lab: Plane, lattice: Lattice) -> bool:
    """Whether another colour fills the cell exactly, seen against what lies a cell farther on."""
    if _reach(cell, camera, lattice) < _BESIDE + _MORE:
        return False  # so straight from above a piece looks like paint
    near, beyond, beside = _around(cell, lattice)
    inside, outside, elsewhere = (
        _colours(camera, lab, np.asarray(points) * lattice.pitch_mm)
        for points in (near, beyond, beside)
    )
    if inside is None or outside is None or elsewhere is None:
        return False
    paint = np.median(inside, axis=0)
    if np.linalg.norm(np.median(elsewhere, axis=0) - paint) < _APART:
        return False
    filled = _off(inside, paint) < _off(inside, elsewhere)
    ends = _off(outside, elsewhere) < _off(outside, paint)
    return bool(min(filled.mean(), ends.mean()) > _NEARLY_ALL)


def _reach(cell: Cell, camera: Camera, lattice: Lattice) -> float:
    """By how much of the pitch the top of a piece on the cell is seen beyond the cell."""
    middle = (np.array([cell.file, cell.rank]) + 0.5) * lattice.pitch_mm
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array(lattice.unit_mm[:2]) / 2
    top = np.column_stack([middle + square, np.full(4, lattice.unit_mm[2])])
    away = np.abs(camera.back_project(camera.project(top))[:, :2] - middle) / lattice.pitch_mm
    return float(away.max() - 0.5) if np.isfinite(away).all() else np.inf


def _around(cell: Cell, lattice: Lattice) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Points inside each border, outside it, and outside it beside the next cell, in pitches."""
    size = np.array([lattice.columns, lattice.ranks])
    middle = np.array([cell.file, cell.rank]) + 0.5
    near: list[Floats] = []
    beyond: list[Floats] = []
    beside: list[Floats] = []
    for axis in (0, 1):
        along, out = np.eye(2)[1 - axis], np.eye(2)[axis]
        on = along if middle @ along < size[1 - axis] / 2 else -along
        for side in (-1, 1):
            for t in _ALONG:
                at = middle + t * along
                near.append(at + side * (0.5 - _BESIDE) * out)
                beyond.append(at + side * (0.5 + _BESIDE) * out)
                beside.append(at + side * (0.5 + _BESIDE) * out + on)
    return near, beyond, beside


def _colours(camera: Camera, lab: Plane, points_mm: Floats) -> Floats | None:
    """The picture at points of the board's plane; none where some are out of it."""
    px = camera.project(np.column_stack([points_mm, np.zeros(len(points_mm))]))
    if not np.isfinite(px).all() or (px < 0).any() or (px > np.array(camera.size) - 1).any():
        return None
    spots = px.astype(np.float32)[None]
    found = cv2.remap(lab, spots[..., 0], spots[..., 1], cv2.INTER_LINEAR)
    return np.asarray(found[0], dtype=np.float64)


def _off(colours: Floats, other: Floats) -> Floats:
    return np.asarray(np.linalg.norm(colours - other, axis=1))
