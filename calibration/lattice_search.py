"""Looks for a lattice of known counts among the straight lines of a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.camera import Floats, Lens
from calibration.quads import focal_factors
from calibration.segments import Segments, running_to

_NEAR = 0.09  # of the pitch: how far off a line may lie
_WITHIN_DEG = 2.0
_MOST_COMBS = 20
_MOST_FOUND = 5
_MOST_SIDES, _MOST_RECTANGLES = 16, 40
_NEAR_SIDE = 0.012  # of the other side's length
_LEAST_DRAWN = 0.3
_FEW = 0.05  # of the lines, by their weight
_SQUARE_KNOWN, _SQUARE_UNKNOWN = 0.10, 0.14  # misfit allowed to a rectangle


@dataclass(frozen=True, slots=True)
class Comb:
    """Evenly spaced lines: `first` + k * `pitch` for k from 0 to `teeth` - 1."""

    first: float
    pitch: float
    teeth: int
    score: float

    @property
    def last(self) -> float:
        """The place of the last line."""
        return self.first + (self.teeth - 1) * self.pitch


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A rectangle found by its lines: a map from its unit square to tangents, and its support."""

    corners: Floats  # (4, 2) tangents, in order round the rectangle, the first side along files
    score: float
    factor: float  # by which the focal length must be multiplied for this to be a rectangle


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a rectangle must look like to be the one: its sides, and the lens that sees it."""

    size: tuple[float, float]
    lens: Lens
    lens_known: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """Lines of one direction after straightening: where each lies, and from where to where."""

    place: Floats
    low: Floats
    high: Floats
    weight: Floats  # as the picture shows them: far away lines are long only where they lie

    @property
    def length(self) -> Floats:
        return self.high - self.low


@dataclass(frozen=True, slots=True, eq=False)
class Straight:
    """A plane seen straight: what its axes would be for each focal length that can be."""

    H: Floats  # from tangents to the plane, axes along u and v, scales of their own
    factors: Floats  # (F,) of the focal length
    square: Floats  # (F,) cosine of the angle between the axes, without sign
    ratio: Floats  # (F,) logarithm of how much longer a step along u is on the board than along v

    def misfit(self, du: Floats, dv: Floats, shape: "Shape") -> tuple[Floats, Floats]:
        """How far sides du, dv are from the shape's, as in `quads.misfit`, and the best factor."""
        off = np.log(du / dv) - np.log(shape.size[0] / shape.size[1])
        every = np.hypot(self.square, off[..., None] + self.ratio)
        best = every.argmin(axis=-1)
        return np.take_along_axis(every, best[..., None], -1)[..., 0], self.factors[best]


def straight(first: Floats, second: Floats, lens: Lens, *, lens_known: bool) -> Straight | None:
    """The plane in which lines run to two vanishing points; None where they are not square."""
    factors = focal_factors(lens, lens_known=lens_known)
    one = np.stack([first[0] / factors, first[1] / factors, np.full(len(factors), first[2])])
    two = np.stack([second[0] / factors, second[1] / factors, np.full(len(factors), second[2])])
    square = np.abs((one * two).sum(axis=0))
    square /= np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0) + 1e-15
    if square.min() > (_SQUARE_KNOWN if lens_known else _SQUARE_UNKNOWN):
        return None
    H = straightening(first, second)
    if H is None:
        return None
    back = np.asarray(np.linalg.inv(H))
    length = np.hypot(np.hypot(back[0], back[1]) / factors[:, None], back[2])
    return Straight(H, factors, square, np.log(length[:, 0] / length[:, 1]))


def straightening(first: Floats, second: Floats) -> Floats | None:
    """The homography that makes lines to `first` horizontal and lines to `second` vertical."""
    horizon = np.cross(first, second)
    if np.linalg.norm(horizon) < 1e-9 or abs(horizon[2]) < 1e-9 * np.linalg.norm(horizon):
        return None
    horizon = horizon / horizon[2]
    H = np.array([[1.0, 0, 0], [0, 1, 0], horizon])
    one, two = H @ first, H @ second
    affine = np.stack([one[:2], two[:2]], axis=1)
    affine /= np.linalg.norm(affine, axis=0) + 1e-15
    if abs(np.linalg.det(affine)) < 0.05:
        return None
    full = np.eye(3)
    full[:2, :2] = np.linalg.inv(affine)
    return np.asarray(full @ H)


def warp(H: Floats, points: Floats) -> Floats:
    """Points (..., 2) through a homography; nan beyond its horizon."""
    w = points @ H[2, :2] + H[2, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        mapped = (points @ H[:2, :2].T + H[:2, 2]) / w[..., None]
    mapped[w <= 1e-6] = np.nan
    return np.asarray(mapped)


def find_lattices(
    segments: Segments, first: Floats, second: Floats, counts: tuple[int, int], shape: Shape
) -> list[Found]:
    """Lattices of counts[0] x counts[1] cells, the first axis along lines to `first`."""
    view = straight(first, second, shape.lens, lens_known=shape.lens_known)
    if view is None:
        return []
    H = view.H
    along = _family(H, segments.part(running_to(first, segments, _WITHIN_DEG)), 0)
    across = _family(H, segments.part(running_to(second, segments, _WITHIN_DEG)), 1)
    if len(along.place) < 2 or len(across.place) < 2:
        return []
    # Lines along the first axis are spaced along the second one, and the other way round.
    rows, columns = _combs(along, counts[1] + 1), _combs(across, counts[0] + 1)
    if not rows or not columns:
        return []
    squares = _squares(columns, rows)
    corners = warp(np.asarray(np.linalg.inv(H)), squares)
    sides = squares[:, 2] - squares[:, 0]
    off, factors = view.misfit(sides[:, 0], sides[:, 1], shape)
    off[~np.isfinite(corners).all(axis=(1, 2))] = np.inf
    found = []
    for k in np.flatnonzero(off < _most_misfit(shape)).tolist():
        column, row = columns[k // len(rows)], rows[k % len(rows)]
        score = _support(across, column, row) + _support(along, row, column) - off[k]
        if score > 0:
            found.append((float(score), squares[k], corners[k], float(factors[k])))
    found.sort(key=lambda f: -f[0])
    best: list[Found] = []
    taken: list[Floats] = []
    for score, square, corner, factor in found:
        near = 0.15 * np.ptp(square, axis=0) / max(counts)
        if all((np.abs(square - other) > near).any() for other in taken):
            best.append(Found(corner, score, factor))
            taken.append(square)
        if len(best) == _MOST_FOUND:
            break
    return best


def _most_misfit(shape: Shape) -> float:
    return _SQUARE_KNOWN if shape.lens_known else _SQUARE_UNKNOWN


def find_rectangles(
    segments: Segments, first: Floats, second: Floats, shapes: Sequence[Shape]
) -> list[list[Found]]:
    """Single rectangles, for each of some shapes; every side must be drawn for the most part."""
    result: list[list[Found]] = [[] for _ in shapes]
    lens = shapes[0].lens
    view = straight(first, second, lens, lens_known=shapes[0].lens_known)
    if view is None:
        return result
    H = view.H
    along = _family(H, segments.part(running_to(first, segments, _WITHIN_DEG)), 0)
    across = _family(H, segments.part(running_to(second, segments, _WITHIN_DEG)), 1)
    if len(along.place) < 2 or len(across.place) < 2:
        return result
    rows, columns = _pairs(along), _pairs(across)
    if not len(rows) or not len(columns):
        return result
    back = np.asarray(np.linalg.inv(H))
    drawn = np.concatenate(
        [_drawn(across, columns, rows).transpose(1, 0, 2), _drawn(along, rows, columns)], axis=2
    )  # (columns, rows, 4)
    least, mean = drawn.min(axis=2), drawn.mean(axis=2)
    wide, deep = np.ptp(columns, axis=1), np.ptp(rows, axis=1)
    for shape, found in zip(shapes, result, strict=True):
        off, factors = view.misfit(wide[:, None], deep[None], shape)
        good = (off < _most_misfit(shape)) & (least > _LEAST_DRAWN)
        score = np.where(good, least + mean - off, -np.inf)
        for k in np.argsort(-score, axis=None)[:_MOST_RECTANGLES].tolist():
            i, j = divmod(k, len(rows))
            (u0, u1), (v0, v1) = columns[i], rows[j]
            corners = warp(back, np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]]))
            if good[i, j] and np.isfinite(corners).all():
                found.append(Found(corners, float(score[i, j]), float(factors[i, j])))
    return result


def _pairs(family: _Family) -> Floats:
    """Pairs (N, 2) of lines that could be opposite sides of something."""
    places = _clusters(family, most=_MOST_SIDES)
    i, j = np.triu_indices(len(places), 1)
    keep = places[j] - places[i] > 0.05 * float(np.ptp(places))
    return np.stack([places[i][keep], places[j][keep]], axis=1)


def _drawn(family: _Family, pairs: Floats, spans: Floats) -> Floats:
    """The parts (spans, pairs, 2) of both lines of pairs that are drawn within spans (N, 2)."""
    drawn = np.minimum(family.high, spans[:, 1:]) - np.maximum(family.low, spans[:, :1])
    total = np.pad(np.cumsum(np.clip(drawn, 0, None), axis=1), ((0, 0), (1, 0)))
    length = np.ptp(spans, axis=1)[:, None, None]
    reach = _NEAR_SIDE * length
    low = np.searchsorted(family.place, pairs[None] - reach)
    high = np.searchsorted(family.place, pairs[None] + reach)
    row = np.arange(len(spans))[:, None, None]
    return np.asarray(np.minimum((total[row, high] - total[row, low]) / length, 1))


def _squares(columns: Sequence[Comb], rows: Sequence[Comb]) -> Floats:
    """The corners (N, 4, 2) of all rectangles of a pair of columns and a pair of rows."""
    across = np.array([[c.first, c.last] for c in columns])[:, [0, 1, 1, 0]]
    along = np.array([[r.first, r.last] for r in rows])[:, [0, 0, 1, 1]]
    both = np.broadcast_arrays(across[:, None], along[None])
    return np.stack(both, axis=-1).reshape(-1, 4, 2)


def _family(H: Floats, segments: Segments, axis: int) -> _Family:
    """Where the lines that run along an axis lie on the other one."""
    ends = warp(H, segments.ends)
    good = np.isfinite(ends).all(axis=(1, 2))
    ends, weight = ends[good], segments.weight[good]
    run, place = ends[..., axis], ends[..., 1 - axis].mean(axis=1)
    order = np.argsort(place)
    return _Family(place[order], run.min(axis=1)[order], run.max(axis=1)[order], weight[order])


def _combs(family: _Family, teeth: int) -> list[Comb]:
    """The best evenly spaced sets of lines, judged by their lengths alone."""
    places = _clusters(family)
    if len(places) < 2:
        return []
    i, j = np.triu_indices(len(places), 1)
    gap = places[j] - places[i]
    firsts, pitches = [], []
    for steps in range(1, teeth):
        pitch = gap / steps
        for k in range(teeth - steps):
            firsts.append(places[i] - k * pitch)
            pitches.append(pitch)
    first, pitch = np.concatenate(firsts), np.concatenate(pitches)
    keep = pitch > 1e-6
    first, pitch = first[keep], pitch[keep]
    order = np.argsort(family.place)
    place, total = family.place[order], np.concatenate([[0.0], np.cumsum(family.length[order])])
    at = first[:, None] + np.arange(teeth) * pitch[:, None]
    on = _within(place, total, at, np.asarray(_NEAR * pitch[:, None]))
    off = _within(place, total, at[:, :-1] + pitch[:, None] / 2, np.asarray(_NEAR * pitch[:, None]))
    cap = np.median(on, axis=1, keepdims=True)
    score = np.minimum(on, cap).mean(axis=1) - np.minimum(off, cap).mean(axis=1)
    best = np.argsort(-score)
    chosen: list[Comb] = []
    for b in best[:2000]:
        comb = Comb(float(first[b]), float(pitch[b]), teeth, float(score[b]))
        if all(
            abs(comb.first - o.first) > 0.1 * o.pitch or abs(comb.last - o.last) > 0.1 * o.pitch
            for o in chosen
        ):
            chosen.append(comb)
        if len(chosen) == _MOST_COMBS:
            break
    return chosen


def _clusters(family: _Family, most: int = 44) -> Floats:
    """Places where lines gather."""
    # A table runs on to the horizon: what is seen of it as nearly nothing must not set the scale.
    shown = np.cumsum(family.weight)
    first, last = np.searchsorted(shown, np.array([_FEW, 1 - _FEW]) * shown[-1])
    reach = (family.place[last] - family.place[first]) * 0.003 + 1e-9
    cuts = np.flatnonzero(np.diff(family.place) > reach) + 1
    groups = np.split(np.arange(len(family.place)), cuts)
    length = family.length
    places = np.array([np.average(family.place[g], weights=length[g] + 1e-12) for g in groups])
    weights = np.array([family.weight[g].sum() for g in groups])
    strongest = np.sort(np.argsort(-weights)[:most])
    return np.asarray(places[strongest])


def _within(place: Floats, total: Floats, at: Floats, reach: Floats | float) -> Floats:
    """Length of line within reach of each place."""
    low, high = np.searchsorted(place, at - reach), np.searchsorted(place, at + reach)
    return np.asarray(total[high] - total[low])


def _support(family: _Family, comb: Comb, span: Comb) -> float:
    """How much of a comb's lines is drawn between the ends of the other comb, less what should not.

    1 for lines drawn from end to end, none between them and none outside.
    """
    length = span.last - span.first
    drawn = np.clip(
        np.minimum(family.high, span.last) - np.maximum(family.low, span.first), 0, None
    )
    total = np.concatenate([[0.0], np.cumsum(drawn)])
    at = comb.first + np.arange(comb.teeth, dtype=np.float64) * comb.pitch
    reach = _NEAR * comb.pitch
    on = np.minimum(_within(family.place, total, at, reach) / length, 1)
    between = np.minimum(_within(family.place, total, at[:-1] + comb.pitch / 2, reach) / length, 1)
    outside = _within(
        family.place, total, np.array([at[0] - comb.pitch, at[-1] + comb.pitch]), reach
    )
    return float(
        0.5 * on.mean()
        + 0.5 * on.min()
        - 0.4 * between.mean()
        - 0.3 * np.minimum(outside / length, 1).mean()
    )
