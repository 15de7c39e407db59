"""Draws what was read onto a copy of a camera's picture: outlines of the stacks, doubt marked."""

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.cells import Cell, Unit
from rules.lattice import Lattice
from vision.reading import Reading

ImageBGR = NDArray[np.uint8]
Floats = NDArray[np.float64]

SURE = (80, 230, 80)
UNSURE = (40, 160, 255)
UNSEEN = (200, 200, 200)
HIDDEN = (255, 90, 200)
_EDGES = (
    (0, 1),
    (1, 3),
    (3, 2),
    (2, 0),
    (4, 5),
    (5, 7),
    (7, 6),
    (6, 4),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
)


def draw_reading(image: ImageBGR, camera: Camera, lattice: Lattice, reading: Reading) -> ImageBGR:
    """The picture with every unit's outline and letter; a copy."""
    canvas = image.copy()
    for cell in sorted(reading.hidden):
        _polygon(canvas, camera, _floor(lattice, cell), HIDDEN)
    for cell in sorted(reading.unsure):
        _polygon(canvas, camera, _floor(lattice, cell), UNSURE)
    far_first = sorted(
        reading.stacks.units(),
        key=lambda item: -float(np.linalg.norm(_middle(lattice, item[0]) - camera.position_mm)),
    )
    for unit, letter in far_first:
        colour = SURE
        if unit.cell in reading.unsure:
            colour = UNSURE
        elif letter == "?" or unit in reading.inferred:
            colour = UNSEEN
        _box(canvas, camera, lattice, unit, colour)
    for cell in sorted(set(reading.unsure) - set(reading.stacks)):
        # What may stand there can be out of sight behind others; the doubt must not be.
        _polygon(canvas, camera, _floor(lattice, cell), UNSURE)
        _label(canvas, camera, lattice, Unit(cell, 1), "?", UNSURE)
    for unit, _ in far_first:
        if reading.stacks.height(unit.cell) == unit.level:
            _label(canvas, camera, lattice, unit, reading.stacks[unit.cell])
    return canvas


def _middle(lattice: Lattice, unit: Unit) -> Floats:
    low, high = lattice.box_mm(unit)
    return np.asarray((np.array(low) + np.array(high)) / 2)


def _floor(lattice: Lattice, cell: Cell) -> Floats:
    (x0, y0, z), (x1, y1, _) = lattice.box_mm(Unit(cell, 1))
    return np.array([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)])


def _polygon(
    canvas: ImageBGR, camera: Camera, points_mm: Floats, colour: tuple[int, int, int]
) -> None:
    px = camera.project(points_mm)
    if np.isfinite(px).all():
        cv2.polylines(canvas, [px.round().astype(np.int32)], True, colour, 1, cv2.LINE_AA)


def _box(
    canvas: ImageBGR, camera: Camera, lattice: Lattice, unit: Unit, colour: tuple[int, int, int]
) -> None:
    low, high = lattice.box_mm(unit)
    corners = np.array(
        [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
    px = camera.project(corners)
    if not np.isfinite(px).all():
        return
    for a, b in _EDGES:
        start, end = px[a].round().astype(int), px[b].round().astype(int)
        cv2.line(canvas, start.tolist(), end.tolist(), colour, 1, cv2.LINE_AA)


def _label(
    canvas: ImageBGR,
    camera: Camera,
    lattice: Lattice,
    unit: Unit,
    text: str,
    colour: tuple[int, int, int] = (255, 255, 255),
) -> None:
    low, high = lattice.box_mm(unit)
    top = np.array([[(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, high[2]]])
    px = camera.project(top)[0]
    if not np.isfinite(px).all():
        return
    (wide, tall), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.4, 1)
    at = (int(px[0] - wide / 2), int(px[1] + tall / 2))
    cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.4, colour, 1, cv2.LINE_AA)
