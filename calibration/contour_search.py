"""Looks for four-sided outlines in a thresholded picture: finds what is bent or scribbled on.

Lines of a grid on paper are no straight lines any more when the paper is bent, but together they
are still one dark figure with four corners.
"""

from collections.abc import Iterator

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Floats
from calibration.lattice_search import Found, Shape
from calibration.plainness import plainness
from calibration.quads import misfit
from calibration.rectify import Plane

_BLOCKS = (0.02, 0.05, 0.12)  # of the picture's width: what is compared with its surroundings
_LEAST_AREA = 0.025  # of the picture, for a square; what is long is as large by its length
_NARROW = 0.5  # of its length: a corner that is a little off makes another shape of it
_SAMPLES, _ENDS, _FEWEST = 240, 0.1, 5  # of an outline; of each side; of samples on a side
_FILLED = 0.88  # of the four-sided figure that the outline fills
_ROUGHLY_FILLED = 0.75  # the same before the sides of what is narrow are told exactly
_BENT = 0.22  # misfit to a rectangle that bent paper may have
_MOST = 6
_OFTEN = 4  # ways of looking that show a figure; more prove no more
_CLOSE, _FINE = 0.97, 0.035  # how well sides must fit that go on beyond the picture
_AT_RIM_PX = 2.5  # a side that runs so near to the picture's rim is none
_FARTHEST = 1.0  # of the picture's longer side: how far from its middle corners may lie
_SMALL_PX, _LEVELS, _LEAST_CONTRAST = 640, 12, 3.0
_USUAL, _RARE = (2, 98), (0.2, 99.8)  # percentiles of lightness and colour
_ALONE = 0.1  # of the picture: a colour that no more of it has is a thing's own
_PLAIN = (0.02, 0.05)  # of the picture's width: smaller plain places belong to a pattern
_A_PART = 0.1  # of the largest part's area: what is smaller belongs to something else


def contour_rectangles(lab: Plane, shape: Shape, *, plain: bool = True) -> list[Found]:
    """Figures of a rectangle's shape: large ones that many ways of looking show come first.

    They may differ from what is around them by being `plain` alone.
    """
    height, width = lab.shape[:2]
    kept: list[Floats] = []
    often: list[int] = []
    part = min(shape.size) / max(shape.size)
    # What is narrow is hardly larger than the plain squares of a cloth.
    narrow = part < _NARROW
    least = part * _LEAST_AREA * width * height
    for corners in _figures(lab, least, narrow=narrow, plain=plain and not narrow):
        near = 0.02 * np.sqrt(_area(corners))
        same = next((k for k, o in enumerate(kept) if _apart(corners, o) < near), None)
        if same is None:
            kept.append(corners)
            often.append(1)
        else:
            often[same] += 1
    if not kept:
        return []
    found: list[Found] = []
    for first in (0, 1):  # either side may be the one along the files
        quads = np.roll(shape.lens.undistort(np.array(kept)), first, axis=1)
        off, factors = misfit(quads, *shape.size, shape.lens, lens_known=shape.lens_known)
        found.extend(
            Found(q, float(np.sqrt(_area(c) / (width * height)) * min(n, _OFTEN)), float(f))
            for q, c, n, o, f in zip(quads, kept, often, off, factors, strict=True)
            if o < _BENT
        )
        if abs(shape.size[0] - shape.size[1]) < 0.01 * shape.size[1]:
            break
    found.sort(key=lambda f: -f.score)
    return found[:_MOST]


def _figures(lab: Plane, least: float, *, narrow: bool, plain: bool) -> Iterator[Floats]:
    """The corners (4, 2) of everything four-sided that is darker or of another colour."""
    for mask, scale, at_rim, rounded in _masks(lab, plain=plain):
        for contour in cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[0]:
            x, y, wide, deep = cv2.boundingRect(contour)
            cut = min(x, y) == 0 or x + wide == mask.shape[1] or y + deep == mask.shape[0]
            if wide * deep * scale**2 >= least and (cut or not at_rim):
                rim = (mask.shape[1] - 1.0, mask.shape[0] - 1.0)
                spots, small = cv.points(contour), least / scale**2
                exactly = narrow or rounded
                filled = _ROUGHLY_FILLED if exactly else _FILLED
                corners = four_corners(spots, small, rim, filled)
                if corners is not None and exactly:
                    corners = with_straight_sides(corners, spots)
                    corners = corners if _fills(spots, corners) else None
                if corners is not None and not _cut_by(rim, corners):
                    yield (corners + 0.5) * scale - 0.5


def _fills(contour: Floats, corners: Floats) -> bool:
    """Whether an outline and a four-sided figure are as large as each other."""
    full, own = _area(cv.points(cv2.convexHull(cv.as_cv_points(contour, 2)))), _area(corners)
    return min(full, own) > _FILLED * max(full, own)


def _masks(lab: Plane, *, plain: bool) -> Iterator[tuple[cv.Image, float, bool, bool]]:
    """Black and white pictures, and by how much they are smaller.

    Then whether only their rim counts, and whether corners in them are rounded.
    """
    grey = np.clip(lab[..., 0] * 2.55, 0, 255).astype(np.uint8)
    for part in _BLOCKS:
        block = max(3, int(part * grey.shape[1])) | 1
        for invert, bias in ((cv2.THRESH_BINARY_INV, 6), (cv2.THRESH_BINARY, -6)):
            flat = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, invert, block, bias)
            yield np.asarray(flat, np.uint8), 1.0, False, False
            yield (
                np.asarray(cv2.dilate(flat, np.ones((3, 3), np.uint8)), np.uint8),
                1.0,
                False,
                False,
            )
    # A felt or a sheet is one field of another lightness or colour, whatever its grain.
    scale = max(1.0, lab.shape[1] / _SMALL_PX)
    small = cv2.resize(lab, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
    soft = np.asarray(cv2.GaussianBlur(small, (0, 0), 1.5))
    parts = _PLAIN if plain else ()
    kinds = [
        *((plane, False) for plane in np.moveaxis(soft, 2, 0)),
        *((plainness(lab, part), True) for part in parts),
    ]
    for plane, rounded in kinds:
        for level in _levels(plane):
            above = np.asarray((plane > level) * 255, np.uint8)
            below = np.asarray(255 - above, np.uint8)
            yield above, scale, False, rounded
            # What the rim cuts off is no hole in it.
            yield below, scale, True, rounded
            for field in (above, below):
                if 0 < cv2.countNonZero(field) < _ALONE * field.size:
                    yield _joined(field), scale, False, rounded


def _levels(plane: Plane) -> list[float]:
    """Where to cut a picture in two: evenly over its range, and between that and what is rare.

    A small sheet may be the only thing of its colour, and hardly a part of the picture.
    """
    low, high = (float(usual) for usual in np.percentile(plane, _USUAL))
    evenly = np.linspace(low, high, _LEVELS + 2)[1:-1].tolist()
    ends = zip(np.percentile(plane, _RARE), (low, high), strict=True)
    rare = [float(end + usual) / 2 for end, usual in ends if abs(end - usual) > _LEAST_CONTRAST]
    return [*(evenly if high - low > _LEAST_CONTRAST else []), *rare]


def _joined(mask: cv.Image) -> cv.Image:
    """All larger parts of a mask as one figure: something may stand before a sheet."""
    parts = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    sizes = [cv2.contourArea(part) for part in parts]
    # Of lines one pixel wide none is larger than nothing.
    large = [p for p, size in zip(parts, sizes, strict=True) if size >= _A_PART * max(sizes)]
    hull = cv2.convexHull(np.concatenate(large))
    return np.asarray(cv2.fillConvexPoly(np.zeros_like(mask), hull, 255), np.uint8)


def signed_area(corners: Floats) -> float:
    """The area of a figure, less than 0 where its corners run the other way round."""
    x, y = corners[:, 0], corners[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def _area(corners: Floats) -> float:
    return abs(signed_area(corners))


def _apart(one: Floats, other: Floats) -> float:
    return min(
        float(np.abs(np.roll(one[::way], k, axis=0) - other).max())
        for way in (1, -1)
        for k in range(4)
    )


def four_corners(
    contour: Floats,
    least: float,
    rim: tuple[float, float] | None = None,
    filled: float = _FILLED,
) -> Floats | None:
    """The four corners of an outline round so large an area; None where it has not just four.

    `rim`: the last column and row of the picture, beyond which corners may lie as well.
    """
    if len(contour) < 4:
        return None
    hull = cv.points(cv2.convexHull(cv.as_cv_points(contour, 2)))
    full = _area(hull)
    if full < least:
        return None
    around = float(np.hypot(*(hull - np.roll(hull, 1, axis=0)).T).sum())
    for part in (0.01, 0.02, 0.035, 0.05, 0.07):
        few = cv.points(cv2.approxPolyDP(cv.as_cv_points(hull, 2), part * around, True))
        if len(few) == 4 and min(_area(few), full) > filled * max(_area(few), full):
            return few
        close = min(_area(few), full) > _CLOSE * max(_area(few), full)
        if rim is not None and len(few) > 4 and part <= _FINE and close:
            whole = _beyond(few, rim)
            if whole is not None:
                return whole
        if len(few) < 4:
            return None
    return None


def with_straight_sides(corners: Floats, contour: Floats) -> Floats:
    """Corners where lines along the sides of an outline meet, which run past rounded ends."""
    hull = cv.points(cv2.convexHull(cv.as_cv_points(contour, 2)))
    closed = np.concatenate([hull, hull[:1]])
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    along = np.linspace(0, far[-1], _SAMPLES, endpoint=False)
    spots = np.stack([np.interp(along, far, closed[:, axis]) for axis in (0, 1)], axis=1)
    ways = np.roll(corners, -1, axis=0) - corners
    place = np.einsum("nki,ki->nk", spots[:, None] - corners, ways) / (ways**2).sum(axis=1)
    nearest = corners + np.clip(place, 0, 1)[..., None] * ways
    side = np.linalg.norm(spots[:, None] - nearest, axis=2).argmin(axis=1)
    lines = []
    for k in range(4):
        inner = (side == k) & (np.abs(place[:, k] - 0.5) < 0.5 - _ENDS)
        if inner.sum() < _FEWEST:
            return corners
        middle = spots[inner].mean(axis=0)
        lines.append((middle, middle + np.linalg.svd(spots[inner] - middle)[2][0]))
    meet = [_crossing(*lines[k - 1], *lines[k]) for k in range(4)]
    if any(corner is None for corner in meet):
        return corners
    return np.array(meet)


def _beyond(figure: Floats, rim: tuple[float, float]) -> Floats | None:
    """A figure whose corners the picture's rim cuts off, with these corners; None if not four."""
    along = [_on_rim(a, b, rim) for a, b in zip(figure, np.roll(figure, -1, axis=0), strict=True)]
    sides = [k for k, cut in enumerate(along) if not cut]
    if len(sides) != 4:
        return None
    before = [figure[k] for k in sides]
    after = [figure[(k + 1) % len(figure)] for k in sides]
    corners = [_crossing(before[k - 1], after[k - 1], before[k], after[k]) for k in range(4)]
    if any(corner is None for corner in corners):
        return None
    whole = np.array(corners)
    if not cv2.isContourConvex(cv.as_cv_points(whole, 2)):
        return None
    far = _FARTHEST * max(rim)
    return whole if (np.abs(whole - np.array(rim) / 2) < far).all() else None


def _cut_by(rim: tuple[float, float], corners: Floats) -> bool:
    """Whether a figure ends where the picture does: a table, or what lies behind it."""
    return any(_on_rim(a, b, rim) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True))


def _on_rim(a: Floats, b: Floats, rim: tuple[float, float]) -> bool:
    """Whether a side runs along the picture's rim."""
    return any(
        abs(a[axis] - edge) < _AT_RIM_PX and abs(b[axis] - edge) < _AT_RIM_PX
        for axis in (0, 1)
        for edge in (0.0, rim[axis])
    )


def _crossing(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats | None:
    """Where the line through two points meets that through two others."""
    one, other = np.append(a, 1.0), np.append(c, 1.0)
    meets = np.cross(np.cross(one, np.append(b, 1.0)), np.cross(other, np.append(d, 1.0)))
    return meets[:2] / meets[2] if abs(meets[2]) > 1e-9 else None
