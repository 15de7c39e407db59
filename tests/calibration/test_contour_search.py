"""Sheets as figures of their own colour: small, narrow, behind something, and never half a picture."""

import cv2
import numpy as np
import pytest

from calibration.camera import Floats, Lens
from calibration.contour_search import contour_rectangles
from calibration.lattice_search import Shape
from calibration.rectify import Plane

SIZE = (960, 540)
LENS = Lens.simple(SIZE, 800.0)
SHEET = np.array([[330.0, 402.0], [660.0, 414.0], [652.0, 380.0], [352.0, 370.0]])
SHAPE = Shape((279.0, 63.0), LENS, lens_known=False)


def cloth() -> Plane:
    """Grey squares below a darker wall."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    lab = np.zeros((SIZE[1], SIZE[0], 3), np.float32)
    lab[..., 0] = 20.0 + 25.0 * ((x + 0.2 * y) // 31 % 2) + 25.0 * ((y - 0.1 * x) // 17 % 2)
    lab[: SIZE[1] // 3] = (35.0, 6.0, 12.0)
    return lab


def painted(lab: Plane, corners: Floats, colour: tuple[float, float, float]) -> Plane:
    """The same with a four-sided figure of a colour."""
    picture = np.ascontiguousarray(lab)
    cv2.fillConvexPoly(picture, np.round(corners).astype(np.int32), colour, cv2.LINE_AA)
    return picture


def nearest_px(lab: Plane) -> float:
    """How far the corners of the figure that is most like the sheet are from its own."""
    figures = [LENS.distort(found.corners) for found in contour_rectangles(lab, SHAPE)]
    ways = [np.roll(f[::way], k, axis=0) for f in figures for way in (1, -1) for k in range(4)]
    return min((float(np.abs(way - SHEET).max()) for way in ways), default=np.inf)


@pytest.mark.parametrize("hidden", [False, True], ids=["whole", "something before it"])
def test_a_small_sheet_is_a_figure(hidden: bool) -> None:
    """It is 2 % of the picture, and the only thing of its colour; a block may divide it."""
    lab = painted(cloth(), SHEET, (58.0, -9.0, 6.0))
    if hidden:
        block = np.array([[540.0, 350.0], [575, 350], [575, 430], [540, 430]])
        lab = painted(lab, block, (12.0, 5.0, 5.0))

    assert nearest_px(lab) < 8.0


def test_half_a_picture_is_no_figure() -> None:
    """A wall ends where the table begins, but its other sides are those of the picture."""
    lab = cloth()
    lab[SIZE[1] // 3 :] = (60.0, 0.0, 0.0)

    assert not contour_rectangles(lab, Shape((960.0, 360.0), LENS, lens_known=False))


def test_lines_of_a_pixel_s_width_are_no_parts_of_a_sheet() -> None:
    """What is rare in a small picture may be one row of pixels: it has no area at all."""
    lab = np.full((90, 160, 3), 40.0, np.float32)
    lab[-2:, :, 0] = 100.0

    assert not contour_rectangles(
        lab, Shape(SHAPE.size, Lens.simple((160, 90), 144.0), lens_known=False)
    )
