"""Straight lines in a picture, and the directions in which they run together."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.camera import Floats, Lens
from calibration.rectify import Plane

_SHORTEST_PX = 10.0
_MOST_SEGMENTS = 1500
_MOST_LINES = 40
_COLOUR_GAIN = 4.0  # colour differences are smaller than those of lightness
_DIM, _MOST_RAISED = 60.0, 2.5  # lightness of a dim picture's lightest parts; and by how much more
_LEAST_COLOUR = 6.0  # a picture whose colours differ less has no colour
_APART_DEG = 1.2  # how far off a line may point to still run to a vanishing point


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Straight pieces of edges: in pixels, and as tangents (x/z, y/z) free of the lens's bend."""

    px: Floats  # (N, 2, 2) both ends
    ends: Floats  # (N, 2, 2) both ends, tangents
    length: Floats  # (N,) of the tangents
    weight: Floats  # (N,) length, more where the picture changes much across it

    def part(self, keep: NDArray[Any]) -> "Segments":
        """Some of them."""
        return Segments(self.px[keep], self.ends[keep], self.length[keep], self.weight[keep])

    @property
    def lines(self) -> Floats:
        """Homogeneous lines through the ends, (N, 3), normal of unit length."""
        return lines_through(self.ends[:, 0], self.ends[:, 1])


def lines_through(a: Floats, b: Floats) -> Floats:
    """Homogeneous lines through pairs of points, with normals of unit length."""
    one = np.ones((len(a), 1))
    line = np.cross(np.concatenate([a, one], axis=1), np.concatenate([b, one], axis=1))
    return np.asarray(line / (np.linalg.norm(line[:, :2], axis=1, keepdims=True) + 1e-15))


def find_segments(lab: Plane, lens: Lens) -> Segments:
    """The straight edges of a picture, in lightness and in colour, the longest ones first."""
    light = np.asarray(lab[..., 0] * 2.55 * _raised(lab))
    found = [_detect(light), 2 * _detect(cv2.resize(light, None, fx=0.5, fy=0.5)) + 0.5]
    for channel in (1, 2):
        plane = lab[..., channel]
        low, high = np.percentile(plane[::8, ::8], [1, 99])
        if high - low > _LEAST_COLOUR:
            gain = min(_COLOUR_GAIN, 200 / (high - low))
            found.append(_detect(np.asarray(128 + gain * (plane - (low + high) / 2))))
    px = np.concatenate(found)
    length = np.hypot(*(px[:, 1] - px[:, 0]).T)
    order = np.argsort(-length)
    px = px[order[length[order] >= _SHORTEST_PX][:_MOST_SEGMENTS]]
    ends = lens.undistort(px)
    length = np.asarray(np.hypot(*(ends[:, 1] - ends[:, 0]).T))
    if not len(px):
        return Segments(px, ends, length, length)
    change = _change(lab, px)
    # Grain makes many long lines, but faint ones.
    loud = np.clip(change / (np.median(change) + 1e-9), 0.3, 4.0)
    return Segments(px, ends, length, length * loud)


def _raised(lab: Plane) -> float:
    """By how much a dim picture must be made lighter: the detector asks for so many grey levels."""
    lightest = float(np.percentile(lab[::8, ::8, 0], 99))
    return min(_MOST_RAISED, 100 / max(lightest, 1.0)) if lightest < _DIM else 1.0


def _change(lab: Plane, px: Floats) -> Floats:
    """How much lightness and colour change across each segment."""
    along = px[:, 1] - px[:, 0]
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-12
    t = np.linspace(0.1, 0.9, 9)[None, :, None]
    spots = px[:, None, 0] * (1 - t) + px[:, None, 1] * t
    sides = []
    for way in (-2.0, 2.0):
        at = (spots + way * normal[:, None]).astype(np.float32)
        sides.append(
            cv2.remap(
                lab, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            ).mean(axis=1)
        )
    return np.asarray(np.linalg.norm(sides[0] - sides[1], axis=1), dtype=np.float64)


def _detect(plane: NDArray[Any]) -> Floats:
    picture = np.clip(plane, 0, 255).astype(np.uint8)
    found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(picture)[0]
    return np.zeros((0, 2, 2)) if found is None else cv.points(found).reshape(-1, 2, 2)


def merged(segments: Segments, apart: float) -> Segments:
    """Pieces of one straight line joined end to end, so that a long edge counts as one."""
    left = np.argsort(-segments.weight).tolist()
    px: list[list[Floats]] = []
    ends: list[list[Floats]] = []
    lengths: list[float] = []
    weights: list[float] = []
    a, b = segments.ends[:, 0], segments.ends[:, 1]
    while left and len(px) < 4 * _MOST_LINES:
        first = left[0]
        along = (b[first] - a[first]) / segments.length[first]
        normal = np.array([-along[1], along[0]])
        rest = np.array(left)
        reach = np.minimum(apart + 0.004 * segments.length[first], 2 * apart)
        near = np.abs((a[rest] - a[first]) @ normal) < reach
        near &= np.abs((b[rest] - a[first]) @ normal) < reach
        group = rest[near]
        spots = np.concatenate([a[group], b[group]])
        place = (spots - a[first]) @ along
        low, high = int(place.argmin()), int(place.argmax())
        both = np.concatenate([segments.px[group, 0], segments.px[group, 1]])
        ends.append([spots[low], spots[high]])
        px.append([both[low], both[high]])
        lengths.append(float(segments.length[group].sum()))
        weights.append(float(segments.weight[group].sum()))
        taken = set(group.tolist())
        left = [i for i in left if i not in taken]
    if not px:
        return segments
    return Segments(np.array(px), np.array(ends), np.array(lengths), np.array(weights))


def vanishing_points(segments: Segments, apart: float, most: int = 14) -> Floats:
    """Homogeneous points (K, 3) to which many and long lines run, the best supported first."""
    long = merged(segments, apart)
    keep = np.argsort(-long.weight)[:_MOST_LINES]
    lines = long.part(keep).lines
    if len(lines) < 2:
        return np.zeros((0, 3))
    i, j = np.triu_indices(len(lines), 1)
    points = np.cross(lines[i], lines[j])
    points /= np.linalg.norm(points, axis=1, keepdims=True) + 1e-15
    each = np.exp(-0.5 * (_miss_deg(points, long) / (_APART_DEG / 2)) ** 2)
    weight = long.weight.copy()
    chosen: list[Floats] = []
    tried: set[int] = set()
    for _ in range(4 * most):
        first = int((each @ weight).argmax())
        point = _settled(points[first], long)
        supporters = running_to(point, long, _APART_DEG)
        if first in tried:
            # It settles on a point that other lines support: its own would speak for it for ever.
            supporters |= running_to(points[first], long, _APART_DEG)
        tried.add(first)
        # Lines that already have their point speak more quietly for another one.
        weight[supporters] *= 0.2
        if all(abs(float(point @ c)) < np.cos(np.radians(4.0)) for c in chosen):
            chosen.append(point)
        if len(chosen) == most or weight.sum() < 0.02 * long.weight.sum():
            break
    return np.array(chosen)


def _miss_deg(points: Floats, lines: Segments) -> Floats:
    """(points, lines) by how much each line misses each point, seen from the line's middle."""
    middle = lines.ends.mean(axis=1)
    toward = points[:, None, :2] - points[:, None, 2:] * middle[None]
    along = lines.ends[:, 1] - lines.ends[:, 0]
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-15
    toward /= np.linalg.norm(toward, axis=2, keepdims=True) + 1e-15
    across = toward[..., 0] * along[:, 1] - toward[..., 1] * along[:, 0]
    return np.asarray(np.degrees(np.arcsin(np.clip(np.abs(across), 0, 1))))


def running_to(point: Floats, segments: Segments, within_deg: float) -> NDArray[np.bool_]:
    """Which segments run to a vanishing point."""
    return np.asarray(_miss_deg(point[None], segments)[0] < within_deg)


def _settled(point: Floats, lines: Segments) -> Floats:
    """The point to which its supporters run best."""
    for _ in range(3):
        near = running_to(point, lines, _APART_DEG)
        if near.sum() < 3:
            return point
        rows = lines.lines[near] * lines.weight[near, None]
        point = np.linalg.svd(rows)[2][-1]
    return point
