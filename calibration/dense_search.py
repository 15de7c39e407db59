"""Looks for a lattice in the picture itself, straightened: where grain drowns the board's lines.

Slower than putting together lines, but it needs none to be found one by one: along every line of
a lattice there is on the whole more change across it than along the lines half a cell beside it.
"""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Floats
from calibration.lattice_search import Found, Shape, straightening, warp
from calibration.quads import misfit
from calibration.rectify import Plane

_VIEW = 420  # elements of the straightened picture along its longer side
_MOST_PAIRS = 5
_SQUARE = 0.12  # cosine of the angle between the axes, at most
_SIZES = 22
_SMALLEST, _LARGEST = 0.16, 0.95  # of the picture's height: the board's mean side
_KEEP = 4


def dense_lattices(
    lab: Plane, points: Floats, counts: tuple[int, int], shape: Shape
) -> list[Found]:
    """Lattices in the directions of pairs of vanishing points, the best ones first."""
    found: list[Found] = []
    for H in _directions(points, shape):
        found.extend(_search(lab, H, counts, shape))
    found.sort(key=lambda f: -f.score)
    return found


def dense_frames(
    lab: Plane, points: Floats, shape: Shape, widths: Sequence[float]
) -> list[tuple[Found, float]]:
    """Frames around a rectangle of a shape: the upper inner edge, and the width of the frame.

    `widths` are tried, as parts of the rectangle's first side. The best ones first.
    """
    found: list[tuple[Found, float]] = []
    for H in _directions(points, shape):
        view = _straightened(lab, H, shape)
        if view is None:
            continue
        across_u, across_v, low, step = view
        back = np.asarray(np.linalg.inv(H))
        ratio = float(np.linalg.norm(back[:, 0]) / np.linalg.norm(back[:, 1]))
        unit = _picture_height(H, shape) / np.sqrt(ratio) / step
        totals = (
            np.pad(np.cumsum(_wider(across_u, 1, 3), axis=0), ((1, 0), (0, 0))),
            np.pad(np.cumsum(_wider(across_v, 3, 1), axis=1), ((0, 0), (1, 0))),
        )
        for size in np.geomspace(_SMALLEST, _LARGEST, 2 * _SIZES):
            for stretch in (1.0,) if shape.lens_known else (0.9, 1.0, 1.1):
                sides = (size * unit, size * unit * ratio * stretch * shape.size[1] / shape.size[0])
                best = _best_frame(*totals, sides, widths, ratio * stretch)
                if best is None:
                    continue
                score, u, v, width = best
                square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]) * sides + (u, v)
                corners = warp(back, low + square * step)
                off, factor = misfit(
                    corners[None], *shape.size, shape.lens, lens_known=shape.lens_known
                )
                if np.isfinite(corners).all() and off[0] < 0.2:
                    found.append((Found(corners, score, float(factor[0])), width))
    found.sort(key=lambda f: -f[0].score)
    return found[: 2 * _KEEP]


def _wider(plane: NDArray[np.float32], rows: int, columns: int) -> NDArray[np.float32]:
    """Edges as wide as they may lie beside where they are looked for."""
    return np.asarray(cv2.dilate(plane, np.ones((rows, columns), np.uint8)), np.float32)


def _best_frame(
    total_u: NDArray[np.float32],
    total_v: NDArray[np.float32],
    sides: tuple[float, float],
    widths: Sequence[float],
    ratio: float,
) -> tuple[float, float, float, float] | None:
    """The best place of a frame with these inner sides: score, u and v of its corner, width.

    `total_u` and `total_v` are the sums of the edges down the columns and along the rows.
    """
    rows, columns = total_v.shape[0], total_u.shape[1]
    wide, deep = sides
    if min(sides) < 25:
        return None
    best: tuple[float, float, float, float] | None = None
    for width in widths:
        out_u, out_v = width * wide, width * wide * ratio
        u = np.arange(out_u, columns - wide - out_u - 1, 2.0)
        v = np.arange(out_v, rows - deep - out_v - 1, 2.0)
        if not len(u) or not len(v) or out_u < 2:
            continue
        lines = []
        for inner, outer in ((0.0, -out_u), (wide, wide + out_u)):
            for at, more in ((inner, 0.0), (outer, out_v)):
                low, high = (v - more).astype(int), (v + deep + more).astype(int)
                column = np.rint(u + at).astype(int)
                lines.append(
                    (total_u[high][:, column] - total_u[low][:, column]) / (deep + 2 * more)
                )
        for inner, outer in ((0.0, -out_v), (deep, deep + out_v)):
            for at, more in ((inner, 0.0), (outer, out_u)):
                low, high = (u - more).astype(int), (u + wide + more).astype(int)
                level = np.rint(v + at).astype(int)
                lines.append((total_v[level][:, high] - total_v[level][:, low]) / (wide + 2 * more))
        every = np.array(lines)
        score = every.mean(axis=0) + every.min(axis=0)
        down, along = np.unravel_index(int(score.argmax()), score.shape)
        if best is None or score[down, along] > best[0]:
            best = (float(score[down, along]), float(u[along]), float(v[down]), width)
    return best


def _directions(points: Floats, shape: Shape) -> Iterator[Floats]:
    """Straightenings by pairs of points that can be a board's two directions."""
    done = 0
    for total in range(1, 2 * len(points)):
        for a in range(len(points)):
            b = total - a
            if not a < b < len(points) or done == _MOST_PAIRS:
                continue
            H = straightening(points[a], points[b])
            if H is None:
                continue
            back = np.linalg.inv(H)
            one, two = back[:, 0], back[:, 1]
            square = abs(float(one @ two)) / (np.linalg.norm(one) * np.linalg.norm(two))
            if square < (_SQUARE if shape.lens_known else 3 * _SQUARE):
                done += 1
                yield H


def _search(lab: Plane, H: Floats, counts: tuple[int, int], shape: Shape) -> list[Found]:
    view = _straightened(lab, H, shape)
    if view is None:
        return []
    across_u, across_v, low, step = view
    back = np.asarray(np.linalg.inv(H))
    ratio = float(np.linalg.norm(back[:, 0]) / np.linalg.norm(back[:, 1]))
    unit = _picture_height(H, shape) / max(np.sqrt(counts[0] * counts[1]), 1.0)
    found: list[Found] = []
    for size in np.geomspace(_SMALLEST, _LARGEST, _SIZES):
        # Straightened axes have scales of their own; cells are square on the table.
        pitch_u = size * unit / np.sqrt(ratio) / step
        pitch_v = pitch_u * ratio
        for stretch in (1.0,) if shape.lens_known else (0.9, 1.0, 1.1):
            best = _best_place(across_u, across_v, pitch_u, pitch_v * stretch, counts)
            if best is None:
                continue
            score, u, v = best
            wide, deep = counts[0] * pitch_u, counts[1] * pitch_v * stretch
            square = np.array([[u, v], [u + wide, v], [u + wide, v + deep], [u, v + deep]])
            corners = warp(back, low + square * step)
            off, factor = misfit(
                corners[None], *shape.size, shape.lens, lens_known=shape.lens_known
            )
            if np.isfinite(corners).all() and off[0] < 0.2:
                found.append(Found(corners, score, float(factor[0])))
    found.sort(key=lambda f: -f.score)
    return found[:_KEEP]


def _picture_height(H: Floats, shape: Shape) -> float:
    """The picture's height in straightened units around its middle."""
    lens = shape.lens
    middle = (np.array(lens.size) - 1) / 2
    spots = lens.undistort(middle + np.array([[0, 0], [1, 0], [0, 1.0]]))
    o, x, y = warp(H, spots)
    if not np.isfinite([o, x, y]).all():
        return 1.0
    area = abs(float((x - o)[0] * (y - o)[1] - (x - o)[1] * (y - o)[0]))
    return float(np.sqrt(area)) * lens.size[1]


def _straightened(
    lab: Plane, H: Floats, shape: Shape
) -> tuple[NDArray[np.float32], NDArray[np.float32], Floats, float] | None:
    """Bounded change across u and across v in the straightened picture, its corner and step."""
    lens = shape.lens
    width, height = lens.size
    grid = np.stack(np.meshgrid(np.linspace(0, width, 25), np.linspace(0, height, 15)), axis=-1)
    spots = warp(H, lens.undistort(grid.reshape(-1, 2)))
    reach = 1.6 * _picture_height(H, shape)
    middle = warp(H, lens.undistort(np.array([[width / 2, 0.55 * height]])))[0]
    near = np.isfinite(spots).all(axis=1) & (np.abs(spots - middle) < reach).all(axis=1)
    if near.sum() < 20:
        return None
    low, high = spots[near].min(axis=0), spots[near].max(axis=0)
    step = float((high - low).max() / _VIEW)
    columns, rows = (max(8, int(n)) for n in (high - low) / step)
    u, v = np.meshgrid(np.arange(columns), np.arange(rows))
    tangents = warp(np.asarray(np.linalg.inv(H)), low + np.stack([u, v], axis=-1) * step)
    px = np.nan_to_num(lens.distort(tangents), nan=-1e4).astype(np.float32)
    top = cv2.remap(lab, px[..., 0], px[..., 1], cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    top = cv2.GaussianBlur(top, (0, 0), 0.8)
    outside = (px < 0).any(axis=2) | (px[..., 0] > width) | (px[..., 1] > height)
    result = []
    for dx, dy in ((1, 0), (0, 1)):
        slope = np.linalg.norm(cv2.Sobel(top, cv2.CV_32F, dx, dy, scale=0.125), axis=2)
        slope[outside] = 0
        bound = 2.0 * float(np.median(slope[~outside])) + 0.3
        result.append(np.asarray(slope / (slope + bound), np.float32))
    return result[0], result[1], low, step


def _best_place(
    across_u: NDArray[np.float32],
    across_v: NDArray[np.float32],
    pitch_u: float,
    pitch_v: float,
    counts: tuple[int, int],
) -> tuple[float, float, float] | None:
    """The best place of a lattice of these pitches: score, u and v of its first corner."""
    rows, columns = across_u.shape
    wide, deep = counts[0] * pitch_u, counts[1] * pitch_v
    if min(pitch_u, pitch_v) < 5 or wide > columns - 2 or deep > rows - 2:
        return None
    near = max(1, round(0.07 * min(pitch_u, pitch_v)))
    thick_u = cv2.dilate(across_u, np.ones((1, 2 * near + 1), np.uint8))
    thick_v = cv2.dilate(across_v, np.ones((2 * near + 1, 1), np.uint8))
    total_u = np.pad(np.cumsum(thick_u, axis=0), ((1, 0), (0, 0)))
    total_v = np.pad(np.cumsum(thick_v, axis=1), ((0, 0), (1, 0)))
    stride = max(1.0, min(pitch_u, pitch_v) / 10)
    u = np.arange(0, columns - wide - 1, stride)
    v = np.arange(0, rows - deep - 1, stride)
    first, last = v.astype(int), (v + deep).astype(int)
    score = np.zeros((len(v), len(u)))
    for k in range(2 * counts[0] + 1):
        at = np.rint(u + k * pitch_u / 2).astype(int)
        line = (total_u[last][:, at] - total_u[first][:, at]) / deep
        score += line / (counts[0] + 1) if k % 2 == 0 else -line / counts[0]
    first, last = u.astype(int), (u + wide).astype(int)
    for k in range(2 * counts[1] + 1):
        at = np.rint(v + k * pitch_v / 2).astype(int)
        line = (total_v[at][:, last] - total_v[at][:, first]) / wide
        score += line / (counts[1] + 1) if k % 2 == 0 else -line / counts[1]
    if not score.size:
        return None
    row, column = np.unravel_index(int(score.argmax()), score.shape)
    return float(score[row, column]), float(u[column]), float(v[row])
