"""Stillness: whether anything moves where the game is played, seen by one camera.

Decided apart from reading, on a small grey picture and only where board or pieces are: people
moving behind the table never count.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.cells import Unit
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import ImageBGR

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class StillnessSettings:
    """What counts as motion."""

    width_px: int = 320  # pictures are made this wide first; noise averages out (240 to 480)
    least_change: float = 7.0  # grey levels beyond the camera's own noise (4 to 12)
    noise_factor: float = 5.0  # the same as a multiple of the measured noise (4 to 8)
    share: float = 0.0012  # of the play area that must change, to be motion (0.0005 to 0.005)
    least_px: int = 5


class Stillness:
    """Compares each frame with the one before; `play` says where the game is."""

    def __init__(
        self, camera: Camera, board: Board, settings: StillnessSettings | None = None
    ) -> None:
        self.settings = settings or StillnessSettings()
        self._camera = camera
        self._board = board
        self._scale = min(1.0, self.settings.width_px / camera.size[0])
        self._size = (round(camera.size[0] * self._scale), round(camera.size[1] * self._scale))
        self._before: Grey | None = None
        self._mask = self._play_area(Stacks())
        self._stacks = Stacks()

    def believe(self, stacks: Stacks) -> None:
        """The play area grows and shrinks with what stands on the board."""
        if stacks != self._stacks:
            self._stacks = stacks
            self._mask = self._play_area(stacks)

    def moving(self, image: ImageBGR) -> bool:
        """Whether something moved since the frame before; the first frame counts as motion."""
        now = cv2.cvtColor(
            cv2.resize(image, self._size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY
        )
        before, self._before = self._before, np.asarray(now, dtype=np.uint8)
        if before is None:
            return True
        change = cv2.subtract(now, before, dtype=cv2.CV_16S)[self._mask]
        change = np.abs(change - np.int16(np.median(change)))  # exposure moves all of it alike
        noise = float(np.mean(np.minimum(change, 8))) + 0.3
        limit = max(self.settings.least_change, self.settings.noise_factor * noise)
        changed = int(np.count_nonzero(change > limit))
        return changed > max(self.settings.least_px, self.settings.share * change.size)

    def _play_area(self, stacks: Stacks) -> NDArray[np.bool_]:
        """Board and pieces, with room for one more piece on each stack."""
        mask = np.zeros((self._size[1], self._size[0]), dtype=np.uint8)
        lattice = self._board.lattice
        left, front, right, back = self._board.margin_mm
        wide, deep, _ = lattice.size_mm
        x0, y0, x1, y1 = -left, -front, wide + right, deep + back
        steps = np.linspace(0, 1, 9)
        edge = np.concatenate(
            [
                np.column_stack([x0 + (x1 - x0) * steps, np.full(9, y0)]),
                np.column_stack([np.full(9, x1), y0 + (y1 - y0) * steps]),
                np.column_stack([x1 - (x1 - x0) * steps, np.full(9, y1)]),
                np.column_stack([np.full(9, x0), y1 - (y1 - y0) * steps]),
            ]
        )
        self._fill(mask, np.column_stack([edge, np.zeros(len(edge))]), hull=False)
        for cell, stack in stacks.items():
            if cell in lattice:
                low, _ = lattice.box_mm(Unit(cell, 1))
                _, high = lattice.box_mm(Unit(cell, len(stack) + 1))
                box = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])
                       for z in (low[2], high[2])]  # fmt: skip
                self._fill(mask, np.array(box), hull=True)
        return mask.astype(np.bool_)

    def _fill(self, mask: Grey, points_mm: NDArray[np.float64], *, hull: bool) -> None:
        points_px = self._camera.project(points_mm)
        points_px = points_px[np.isfinite(points_px).all(axis=1)]
        if len(points_px) < 3:
            return
        corners = np.round(np.clip(points_px * self._scale, -4000, 4000)).astype(np.int32)
        if hull:
            corners = np.asarray(cv2.convexHull(corners), dtype=np.int32).reshape(-1, 2)
        cv2.fillPoly(mask, [corners], 1)
