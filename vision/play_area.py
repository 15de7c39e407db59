"""The play area: where board, pieces and the table around them are in a small picture.

Everything that watches for change works on pictures made small: noise averages out, and a frame
costs a fraction of a reading.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import SMALL_PX, Frame, ImageBGR, made_small

Mask = NDArray[np.bool_]
Polygon = NDArray[np.int32]  # (corners, 2)
WIDTH_PX = SMALL_PX  # a cube is then 8 to 25 pixels wide
AROUND_MM = 80.0  # how far the table around the board counts: a hand must cross it


@dataclass(frozen=True, slots=True, eq=False)
class PlayArea:
    """What a camera sees of one board, at the scale of its small pictures."""

    camera: Camera
    board: Board
    size: tuple[int, int]
    around: Mask  # board and the table around it
    brim: Mask  # the outermost pixels of that: whoever reaches in crosses it
    _outlines: dict[tuple[Cell, int, int], Polygon | None] = field(default_factory=dict)

    @staticmethod
    def of(camera: Camera, board: Board, width_px: int = WIDTH_PX) -> "PlayArea":
        """The area of a calibrated camera."""
        scale = min(1.0, width_px / camera.size[0])
        size = (round(camera.size[0] * scale), round(camera.size[1] * scale))
        small = camera.scaled(size) if size != camera.size else camera
        around = np.zeros((size[1], size[0]), dtype=np.uint8)
        _fill(around, small, _rectangle(board, AROUND_MM))
        inner = cv2.erode(
            around, np.ones((5, 5), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0
        )
        return PlayArea(small, board, size, around > 0, (around > 0) & (inner == 0))

    def small(self, frame: Frame) -> ImageBGR:
        """A frame's picture at this scale."""
        small = frame.small
        if small is not None and small.shape[1::-1] == self.size:
            return small
        return made_small(frame.image, self.size)

    def play(self, stacks: Stacks, above: int = 1) -> Mask:
        """Board and pieces, with room for so many more pieces on each stack."""
        mask = np.zeros((self.size[1], self.size[0]), dtype=np.uint8)
        _fill(mask, self.camera, _rectangle(self.board, 0.0))
        for cell, stack in stacks.items():
            self._box(mask, cell, 1, len(stack) + above)
        return mask > 0

    def reach(self, stacks: Stacks, above: int) -> Mask:
        """The same with so many more pieces on every cell, also where none stands yet."""
        cells = self.board.lattice.cells()
        high = {cell: min(stacks.height(cell) + above, self.board.lattice.levels) for cell in cells}
        mask = np.zeros((self.size[1], self.size[0]), dtype=np.uint8)
        _fill(mask, self.camera, _rectangle(self.board, 0.0))
        for cell, levels in high.items():
            self._box(mask, cell, 1, levels)
        return mask > 0

    def units(self, cell: Cell, low: int, high: int) -> Mask:
        """Where the levels from `low` to `high` of a cell are seen, if nothing hides them."""
        mask = np.zeros((self.size[1], self.size[0]), dtype=np.uint8)
        self._box(mask, cell, low, high)
        return mask > 0

    def cells_in(self, mask: Mask, stacks: Stacks) -> frozenset[Cell]:
        """The cells of which a mask covers some part, seen as high as their stacks and one more."""
        found = set()
        for cell in self.board.lattice.cells():
            own = self.units(cell, 1, stacks.height(cell) + 1)
            if np.count_nonzero(own & mask) > 0.12 * float(np.count_nonzero(own)):
                found.add(cell)
        return frozenset(found)

    def _box(self, mask: NDArray[np.uint8], cell: Cell, low: int, high: int) -> None:
        lattice = self.board.lattice
        if cell not in lattice:
            return
        key = (cell, low, high)
        if key not in self._outlines:
            first, _ = lattice.box_mm(Unit(cell, low))
            _, last = lattice.box_mm(Unit(cell, high))
            corners = [(x, y, z) for x in (first[0], last[0]) for y in (first[1], last[1])
                       for z in (first[2], last[2])]  # fmt: skip
            self._outlines[key] = _outline(self.camera, np.array(corners), hull=True)
        outline = self._outlines[key]
        if outline is not None:
            cv2.fillPoly(mask, [outline], 1)


def union(masks: Iterable[Mask]) -> Mask | None:
    """All masks in one; None where there is none."""
    found: Mask | None = None
    for mask in masks:
        found = mask if found is None else found | mask
    return found


def _rectangle(board: Board, beyond_mm: float) -> NDArray[np.float64]:
    left, front, right, back = (margin + beyond_mm for margin in board.margin_mm)
    wide, deep, _ = board.lattice.size_mm
    x0, y0, x1, y1 = -left, -front, wide + right, deep + back
    steps = np.linspace(0, 1, 9)
    nothing, everything = np.zeros(9), np.ones(9)
    sides = (
        (x0 + (x1 - x0) * steps, y0 * everything),
        (x1 * everything, y0 + (y1 - y0) * steps),
        (x1 - (x1 - x0) * steps, y1 * everything),
        (x0 * everything, y1 - (y1 - y0) * steps),
    )
    return np.concatenate([np.column_stack([x, y, nothing]) for x, y in sides])


def _fill(mask: NDArray[np.uint8], camera: Camera, points_mm: NDArray[np.float64]) -> None:
    outline = _outline(camera, points_mm, hull=False)
    if outline is not None:
        cv2.fillPoly(mask, [outline], 1)


def _outline(camera: Camera, points_mm: NDArray[np.float64], *, hull: bool) -> Polygon | None:
    """Where these points are seen, one after the other or around all of them."""
    points_px = camera.project(points_mm)
    points_px = points_px[np.isfinite(points_px).all(axis=1)]
    if len(points_px) < 3:
        return None
    corners = np.round(np.clip(points_px, -4000, 4000)).astype(np.int32)
    if hull:
        corners = np.asarray(cv2.convexHull(corners), dtype=np.int32).reshape(-1, 2)
    return corners
