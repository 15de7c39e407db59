"""Pictures of the lens board, collected one by one while somebody holds it before the camera."""

from dataclasses import dataclass, field

import numpy as np

from calibration.camera import Floats
from calibration.cv import Image
from calibration.lens_board import DEFAULT_BOARD, BoardView, LensBoard, find_corners
from service.inputs import Json

ENOUGH = 8
MOST = 15
_FIELDS = (4, 3)  # the picture is divided into so many fields; the board should have been in each
_PART = 0.5  # of the board's corners must be seen
_BLURRED_PX = 4.0  # edges wider than this are no use
_APART = 0.03  # of the picture's width; the board must have moved at least so far


@dataclass(slots=True)
class LensPictures:
    """The pictures of one camera that are worth keeping, and what is still missing."""

    board: LensBoard = field(default_factory=lambda: LensBoard.parse(DEFAULT_BOARD))
    images: list[Image] = field(default_factory=list)
    _views: list[BoardView] = field(default_factory=list)

    def take(self, image: Image) -> Json:
        """Look at a picture and keep it if it helps; what became of it, and what there is now."""
        return {"fate": self._fate(image), **self.state()}

    def _fate(self, image: Image) -> str:
        if self.images and image.shape != self.images[0].shape:
            self.images.clear()
            self._views.clear()
        if len(self.images) >= MOST:
            return "full"
        view = find_corners(image, self.board)
        if view is None:
            return "no-board"
        inner = self.board.inner[0] * self.board.inner[1]
        if len(view.ids) < _PART * inner:
            return "glare" if view.clipped > 0.25 else "partial"
        if view.edge_width_px > _BLURRED_PX:
            return "blurred"
        if any(_near(view, other, image.shape[1]) for other in self._views):
            return "same"
        self.images.append(image)
        self._views.append(view)
        return "kept"

    def state(self) -> Json:
        """How many pictures there are, and which fields of the picture the board has been in."""
        covered = self._covered()
        good = len(self.images) >= ENOUGH and sum(covered) >= 0.75 * len(covered)
        return {"kept": len(self.images), "enough": good, "columns": _FIELDS[0], "covered": covered}

    def _covered(self) -> list[bool]:
        columns, rows = _FIELDS
        seen = np.zeros((rows, columns), dtype=bool)
        for image, view in zip(self.images, self._views, strict=True):
            height, width = image.shape[:2]
            x = np.clip(view.corners_px[:, 0] / width * columns, 0, columns - 1).astype(int)
            y = np.clip(view.corners_px[:, 1] / height * rows, 0, rows - 1).astype(int)
            seen[y, x] = True
        return [bool(one) for one in seen.ravel()]


def _near(one: BoardView, other: BoardView, width: int) -> bool:
    _, mine, theirs = np.intersect1d(one.ids, other.ids, return_indices=True)
    if len(mine) < 4:
        return False
    apart: Floats = one.corners_px[mine] - other.corners_px[theirs]
    return float(np.median(np.hypot(*apart.T))) < _APART * width
