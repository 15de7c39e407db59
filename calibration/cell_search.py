"""Looks for the cells one by one: small fields with four sides, and the rows that they lie in.

Lines are found by their length and direction; on a checked cloth those of the cloth are longer,
through a wide lens none is straight, and on a plain board grain drowns the faint ones. A cell is
what lies between such lines, and has another of its size beside each side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.camera import Floats
from calibration.contour_search import four_corners, signed_area
from calibration.lattice_search import Found, Shape, warp
from calibration.quads import misfit
from calibration.rectify import Plane

_MOST_WIDE = 960  # pixels of the picture that is looked at
_LINES_PX, _ALONG, _TURNS = (1.0, 2.0), 3.0, 12  # half widths of lines, length, directions
_LEVELS, _LEAST_CHANGE = (1.0, 1.5, 2.2, 3.2), 0.05  # times the usual change around
_AROUND_PART = 0.1  # of the picture's width: a faint board lies on a loud cloth
_LEAST_PX, _MOST = 40.0, 0.06  # area of a cell, in pixels and of the picture
_SOLID = 0.8  # of its hull that a cell fills
_MOST_QUADS = 500  # the largest ones
_GAPS = (2.0, 2.3, 2.6)  # to the next cell's middle, in steps from a cell's middle to its side
_NEAR, _ALIKE, _SAME = 0.3, 1.8, 1.3  # of a side; ratios of areas and of sides
_LEAST_CELLS, _LEAST_PART = 4, 0.25  # of the board's
_MOST_MISSING = 2  # rows that are not seen are tried on either side
_ASIDE = 0.05  # less likely for each row more on one side than on the other
_BENT = 0.3  # misfit to the board's shape
_KEEP = 8

_AROUND = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])  # directions of a cell's four sides


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """Cells that lie beside each other: which quads, at which places, turned how."""

    quads: NDArray[np.int64]
    places: NDArray[np.int64]  # (N, 2)
    turns: NDArray[np.int64]  # the direction (of `_AROUND`) of each quad's first side


def cell_lattices(lab: Plane, counts: tuple[int, int], shape: Shape) -> list[Found]:
    """Lattices of the board's counts around cells that lie side by side, the fullest first."""
    found: list[Found] = []
    for corners in _looks(lab):
        for cluster in _clusters(corners):
            found.extend(_lattices(cluster, corners, counts, shape))
    found.sort(key=lambda f: -f.score)
    return _unlike(found)


def _looks(lab: Plane) -> Iterator[Floats]:
    """The corners (N, 4, 2) of everything small with four sides, for each way of looking."""
    scale = max(1.0, lab.shape[1] / _MOST_WIDE)
    small = cv2.resize(lab, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
    for alike in _responses(np.asarray(small, np.float32)):
        found = []
        for response in alike:
            around = round(_AROUND_PART * response.shape[1]) | 1
            usual = cv2.blur(np.abs(response), (around, around)) + _LEAST_CHANGE
            for level in _LEVELS:
                fields = np.asarray(response < level * usual, np.uint8)
                contours, _ = cv2.findContours(fields, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
                tried = (_quad(cv.points(c), response.size) for c in contours)
                quads = [quad for quad in tried if quad is not None]
                if len(quads) >= _LEAST_CELLS:
                    found.append(_largest((np.array(quads) + 0.5) * scale - 0.5))
        yield from found
        if len(found) > 1:
            yield _different(np.concatenate(found))


def _different(corners: Floats) -> Floats:
    """Without fields that lie where others of their size do: each look shows some of them."""
    middle = corners.mean(axis=1)
    size = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean(axis=1)
    off = np.linalg.norm(middle[:, None] - middle, axis=2)
    same = (off < _NEAR * size) & (np.abs(np.log(size[:, None] / size)) < np.log(_SAME))
    kept = ~np.tril(same, -1).any(axis=1)
    return _largest(corners[kept])


def _largest(corners: Floats) -> Floats:
    across = np.linalg.norm(corners[:, :2] - corners[:, 2:], axis=2).prod(axis=1)
    return corners[np.sort(np.argsort(-across)[:_MOST_QUADS])]


def _responses(lab: Plane) -> Iterator[list[Plane]]:
    """Where dark lines, light lines and steps of lightness or colour are seen."""
    light = np.ascontiguousarray(lab[..., 0])
    dark: list[Plane] = []
    bright: list[Plane] = []
    for wide in _LINES_PX:
        every = [cv2.filter2D(light, cv2.CV_32F, kernel) for kernel in _line_kernels(wide)]
        dark.append(np.asarray(np.max(every, axis=0), np.float32))
        bright.append(np.asarray(-np.min(every, axis=0), np.float32))
    yield dark
    yield bright
    slopes = [
        np.square(cv2.Sobel(lab, cv2.CV_32F, *way, scale=0.125)).sum(axis=2)
        for way in ((1, 0), (0, 1))
    ]
    yield [np.asarray(np.sqrt(slopes[0] + slopes[1]), np.float32)]


def _line_kernels(wide: float) -> Iterator[NDArray[np.float32]]:
    """What answers to a dark line of this width, in each direction: along it noise is averaged."""
    reach = int(np.ceil(2 * _ALONG * wide))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float64)
    for angle in np.arange(_TURNS) * np.pi / _TURNS:
        along = x * np.cos(angle) + y * np.sin(angle)
        across = (y * np.cos(angle) - x * np.sin(angle)) / wide
        kernel = (across**2 - 1) * np.exp(-0.5 * (across**2 + (along / (_ALONG * wide)) ** 2))
        kernel -= kernel.mean()
        yield np.asarray(kernel / np.abs(kernel).sum(), np.float32)


def _quad(contour: Floats, picture: int) -> Floats | None:
    """The four corners of a field, round it in one sense; None where it is no cell."""
    least, most = _LEAST_PX, _MOST * picture
    wide, deep = np.ptp(contour, axis=0)
    if wide * deep < least or wide * deep > 4 * most:
        return None
    area = abs(signed_area(contour))
    if not least <= area <= most:
        return None
    corners = four_corners(contour, least)
    if corners is None:
        return None
    full = signed_area(corners)
    if area < _SOLID * abs(full):
        return None
    return corners if full > 0 else corners[::-1].copy()


def _clusters(corners: Floats) -> Iterator[_Cluster]:
    """Quads with others of their size beside them, put together."""
    middle = corners.mean(axis=1)
    steps = (corners + np.roll(corners, -1, axis=1)) / 2 - middle[:, None]  # (N, 4, 2)
    size = np.linalg.norm(steps, axis=2)
    area = np.array([abs(signed_area(own)) for own in corners])
    alike = np.abs(np.log(area[:, None] / area)) < np.log(_ALIKE)
    np.fill_diagonal(alike, val=False)
    beside = np.full((len(corners), 4), -1)
    for side in range(4):
        best = np.full(len(corners), np.inf)
        for gap in _GAPS:
            at = middle + gap * steps[:, side]
            off = np.linalg.norm(at[:, None] - middle, axis=2) / (2 * size[:, side, None])
            off[~alike] = np.inf
            nearest = off.argmin(axis=1)
            miss = off[np.arange(len(off)), nearest]
            better = (miss < _NEAR) & (miss < best)
            beside[better, side], best[better] = nearest[better], miss[better]
    left = set(range(len(corners)))
    while left:
        cluster = _grown(min(left), beside, left)
        if len(cluster.quads) >= _LEAST_CELLS:
            yield cluster


def _grown(first: int, beside: NDArray[np.int64], left: set[int]) -> _Cluster:
    """All cells that are joined to one, taken out of those that are left."""
    left.discard(first)
    found = {first: ((0, 0), 0)}
    taken = {(0, 0)}
    open_ = [first]
    while open_:
        quad = open_.pop(0)
        place, turn = found[quad]
        for side in range(4):
            other = int(beside[quad, side])
            if other not in left:
                continue
            back = np.flatnonzero(beside[other] == quad)
            if len(back) != 1:
                continue  # each must be the other's neighbour
            way = (turn + side) % 4
            there = (place[0] + int(_AROUND[way][0]), place[1] + int(_AROUND[way][1]))
            if there in taken:
                continue
            left.discard(other)
            taken.add(there)
            found[other] = (there, (way + 2 - int(back[0])) % 4)
            open_.append(other)
    return _Cluster(
        np.array(list(found)),
        np.array([place for place, _ in found.values()]),
        np.array([turn for _, turn in found.values()]),
    )


def _lattices(
    cluster: _Cluster, corners: Floats, counts: tuple[int, int], shape: Shape
) -> Iterator[Found]:
    """Where the board's cells can lie around those of a cluster."""
    low, high = cluster.places.min(axis=0), cluster.places.max(axis=0)
    extent = high - low + 1
    many = len(cluster.quads)
    H = None
    for turned in (False, True):
        size = np.array(counts[::-1] if turned else counts)
        missing = size - extent
        if (missing < 0).any() or many < _LEAST_PART * size.prod():
            continue
        H = _mapping(cluster, corners, shape) if H is None else H
        if H is None:
            return
        middle = low - missing / 2
        for begin in _beginnings(low, missing):
            a, b = begin - 0.5, begin + size - 0.5
            square = np.array([[a[0], a[1]], [b[0], a[1]], [b[0], b[1]], [a[0], b[1]]])
            tangents = warp(H, np.roll(square, -1, axis=0) if turned else square)
            if not np.isfinite(tangents).all():
                continue
            off, factor = misfit(
                tangents[None], *shape.size, shape.lens, lens_known=shape.lens_known
            )
            if off[0] < _BENT:
                aside = _ASIDE * float(np.abs(begin - middle).sum())  # fits move by a cell
                score = many / float(size.prod()) - aside - 0.1 * float(off[0])
                yield Found(tangents, score, float(factor[0]))
        if counts[0] == counts[1]:
            return


def _beginnings(low: NDArray[np.int64], missing: NDArray[np.int64]) -> Iterator[Floats]:
    """First places of the board, where some of its rows are not seen."""
    ways = [
        list(range(gap + 1)) if gap <= _MOST_MISSING else [0, gap // 2, gap]
        for gap in missing.tolist()
    ]
    for x in ways[0]:
        for y in ways[1]:
            yield np.asarray(low - (x, y), dtype=np.float64)


def _mapping(cluster: _Cluster, corners: Floats, shape: Shape) -> Floats | None:
    """The map (3, 3) from places, each cell one wide, to tangents."""
    own = corners[cluster.quads]
    middle = own.mean(axis=1)
    side = float(np.median(np.linalg.norm(own - np.roll(own, 1, axis=1), axis=2)))
    apart = np.abs(cluster.places[:, None] - cluster.places).sum(axis=2) == 1
    if not apart.any():
        return None
    gaps = np.linalg.norm(middle[:, None] - middle, axis=2)[apart]
    half = min(0.5 * side / max(float(np.median(gaps)), 1e-6), 0.5)
    # A quad's corner k lies between its sides k - 1 and k.
    sides = _AROUND[(cluster.turns[:, None] + np.arange(4)) % 4]
    places = cluster.places[:, None] + half * (sides + np.roll(sides, 1, axis=1))
    px = shape.lens.undistort(own.reshape(-1, 2)) * shape.lens.focal_px
    at = places.reshape(-1, 2).astype(np.float64)
    H: Any = cv2.findHomography(at, px, cv2.RANSAC, 0.25 * side)[0]
    return None if H is None else np.asarray(np.diag([1 / shape.lens.focal_px] * 2 + [1.0]) @ H)


def _unlike(found: Sequence[Found]) -> list[Found]:
    kept: list[Found] = []
    for one in found:
        near = 0.03 * float(np.ptp(one.corners, axis=0).max())
        if all(
            np.abs(np.roll(one.corners[::way], k, axis=0) - other.corners).max() > near
            for other in kept
            for way in (1, -1)
            for k in range(4)
        ):
            kept.append(one)
        if len(kept) == _KEEP:
            break
    return kept
