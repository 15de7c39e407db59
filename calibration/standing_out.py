"""Whether lines are the edges of a thing: what a rectangle encloses, and what a frame is made of.

The squares of a tablecloth and the joints of tiles have the shape of a board, too, but the same
cloth lies on both sides of their lines. Hard shadows run along a frame like its rails, but only
rails look alike on all four sides.
"""

import cv2
import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.colour_space import Floats32, hue_when_darker, of_light
from calibration.quads import unit_square_to
from calibration.rectify import Plane, sampled

_PIECES = 15  # of each side
_ENDS = 0.08
_BESIDE = np.linspace(0.03, 0.10, 5)  # of the rectangle: clear of lines, bevels and side faces
_LEAST = 2.5  # of lightness and colour
_LIKE_ALL = 0.4  # of a side's usual difference
_FIELD = 6.0  # of lightness and colour: what still belongs to one field
_GLANCE_PX = 320  # at this width colours of the whole picture are compared
_GLANCE_WEIGHTS = np.array([0.5, 1.0, 1.0, 1.0])  # light differs over a table
_LEAST_PIECES = 5
_RAILS_APART = 12.0  # of lightness and colour: wood in one light
_ACROSS = (0.12, 0.88)  # of a frame's width: there its top is of wood, too
_UP = (0.12, 0.3, 0.6)  # of a frame's height: where its walls are looked at
_FLOOR = (0.1, 0.2, 0.35)  # of that height from the walls' foot: the floor beside them
_CLEAR_PX = 1.5  # of an edge: nearer both of its sides are seen
_HUES_APART = 0.35  # on the hue axes: less between wood and floor tells nothing


def stands_out(lab: Plane, corners: Floats, lens: Lens) -> float:
    """The part of a rectangle's sides (corners: tangents) across which the picture differs.

    1 where all of it does, 0 where inside and outside look alike.
    """
    inner, outer = (_beside(lab, corners, lens, way) for way in (1.0, -1.0))
    sides = []
    for within, around in zip(inner, outer, strict=True):
        seen = np.isfinite(within).all(axis=1) & np.isfinite(around).all(axis=1)
        if seen.sum() >= _LEAST_PIECES:
            sides.append((within[seen], around[seen]))
    if not sides:
        return 0.0
    shades = (
        np.array([np.median(within, axis=0) for within, _ in sides])
        * _GLANCE_WEIGHTS[: lab.shape[2]]
    )
    shares = []
    for own, (within, around) in zip(shades, sides, strict=True):
        differs = within - around
        usual = np.median(differs, axis=0)
        size = float(np.linalg.norm(usual)) + 1e-9
        out = differs @ usual / size > max(_LEAST, _LIKE_ALL * size)
        # Squares of a checked cloth differ from those beside them, but change along a side.
        most = max(_FIELD, 0.5 * size)
        stray = np.linalg.norm(within - np.median(within, axis=0), axis=1)
        alien = _unlike_all_others(own, shades, most)
        shares.append(0.0 if alien else float((out & (stray < most)).mean()))
    return float(np.mean(shares))


def _unlike_all_others(own: Floats, shades: Floats, most: float) -> bool:
    """Whether a side is unlike all others, which are alike: a stripe of the cloth beside a felt.

    Where a shadow lies over half a board, two sides are like each other, and two others.
    """
    apart = np.linalg.norm(shades[:, None] - shades[None], axis=2)
    here = int(np.linalg.norm(shades - own, axis=1).argmin())
    others = np.delete(np.arange(len(shades)), here)
    if len(others) < 2 or (apart[here, others] <= most).any():
        return False
    return bool((apart[np.ix_(others, others)] <= most).all())


def seen_nowhere_else(lab: Plane, corners: Floats, lens: Lens) -> float:
    """How far a rectangle (corners: tangents) is of one colour that is nowhere beside it: 0 to 1.

    A square of a checked cloth differs from those beside it, but there are many like it.
    """
    scale = min(1.0, _GLANCE_PX / lab.shape[1])
    small = cv2.resize(lab, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    px = (lens.distort(corners) + 0.5) * scale - 0.5
    if not np.isfinite(px).all():
        return 0.0
    outline = np.round(px.clip(-8 * _GLANCE_PX, 8 * _GLANCE_PX) * 16).astype(np.int32)
    inside = cv2.fillConvexPoly(np.zeros(small.shape[:2], np.uint8), outline, 1, shift=4)
    kernel = np.ones((3, 3), np.uint8)
    within, beside = cv2.erode(inside, kernel) > 0, cv2.dilate(inside, kernel) == 0
    if not within.any():
        return 0.0
    off = (small - np.median(small[within], axis=0)) * _GLANCE_WEIGHTS[: lab.shape[2]]
    like = np.linalg.norm(off, axis=2) < _FIELD
    return float((like & within).sum() / (within.sum() + (like & beside).sum()))


def rails_alike(
    lab: Plane, camera: Camera, size_mm: tuple[float, float], height: float, width: float
) -> float:
    """The part of a frame's rails around cells of this size that look like most of its rails."""
    wide, deep = size_mm
    along, across = np.meshgrid(np.linspace(0.1, 0.9, 11), np.array([0.35, 0.5, 0.65]) * width)
    u, v = along.ravel(), across.ravel()
    spots = np.stack(
        [
            np.stack([u * wide, -v], axis=-1),
            np.stack([wide + v, u * deep], axis=-1),
            np.stack([u * wide, deep + v], axis=-1),
            np.stack([-v, u * deep], axis=-1),
        ]
    )
    at = np.concatenate([spots, np.full((*spots.shape[:2], 1), height)], axis=2)
    values = sampled(lab, camera.project(at.reshape(-1, 3))[None]).reshape(4, -1, 3)
    shown = [v[np.isfinite(v).all(axis=1)] for v in values]
    rails = np.array([np.median(v, axis=0) for v in shown if len(v) >= _LEAST_PIECES])
    if len(rails) < 2:
        return 0.0
    apart = np.linalg.norm(rails - np.median(rails, axis=0), axis=1)
    return float((apart < _RAILS_APART).mean())


def of_one_wood(
    lab: Plane, camera: Camera, size_mm: tuple[float, float], height: float, width: float
) -> float:
    """The part of a frame's top and inner walls that has its hue, and of the floor that has not.

    A shadow that the frame throws has an edge as straight as the wall's foot, but the floor's hue.
    1 where nothing can be told, as of wood on wood.
    """
    wide, deep = size_mm
    middle = np.array([wide / 2, deep / 2])
    u, v = np.meshgrid(np.linspace(0.3, 0.7, 7), np.linspace(0.3, 0.7, 7))
    floor = _colours(lab, camera, np.stack([u * wide, v * deep, 0 * u], axis=-1).reshape(-1, 3))
    corners = np.array([[0.0, 0], [wide, 0], [wide, deep], [0, deep]])
    along = np.linspace(0.1, 0.9, 17)[:, None]
    tops: list[Floats] = []
    kinds: list[list[Floats]] = [[], [], []]  # the top all over, walls, the floor beside them
    for k in range(4):
        start, end = corners[k], corners[(k + 1) % 4]
        line = start * (1 - along) + end * along
        inward = middle - (start + end) / 2
        inward = inward / np.linalg.norm(inward)

        def at(inside: float, up: float, line: Floats = line, inward: Floats = inward) -> Floats:
            places = line + inside * inward
            return np.column_stack([places, np.full(len(places), up)])

        def seen(places: Floats, *edges: Floats) -> Floats:
            colours = _colours(lab, camera, places)
            px = camera.project(places)
            for edge in edges:
                line = camera.project(edge)
                ways, off = np.gradient(line, axis=0), px - line
                across = np.abs(off[:, 0] * ways[:, 1] - off[:, 1] * ways[:, 0])
                colours[across < _CLEAR_PX * np.linalg.norm(ways, axis=1)] = np.nan
            return colours

        foot, rim, outside = at(0.0, 0.0), at(0.0, height), at(-width, height)
        tops += [seen(at(-part * width, height)) for part in (0.35, 0.5, 0.65)]
        kinds[0] += [seen(at(-part * width, height), rim, outside) for part in _ACROSS]
        if float((camera.position_mm[:2] - start) @ inward) > height:
            kinds[1] += [seen(at(0.0, up * height), foot, rim) for up in _UP]
            kinds[2] += [seen(at(off * height, 0.0), foot) for off in _FLOOR]
    top = np.concatenate(tops)
    if min(np.isfinite(p[:, 0]).sum() for p in (floor, top)) < 2 * _LEAST_PIECES:
        return 1.0
    ground, wood = (np.nanmedian(p, axis=0).astype(np.float32) for p in (floor, top))
    worth = 1.0
    for kind, is_wood in zip(kinds, (True, True, False), strict=True):
        if kind:
            like = _like_second(ground, wood, np.concatenate(kind))
            worth *= 1 - float(np.mean((like < 0.5) if is_wood else (like > 0.5)))
    return worth


def _like_second(one: Floats32, other: Floats32, places: Floats) -> Floats:
    """How much places (N, 3) have the hue of the second of two things: 1, or that of the first: 0.

    Both hues at the place's own brightness count; nan where they are hardly apart, as in the dark.
    """
    bright = np.nan_to_num(places[:, 0], nan=-np.inf).astype(np.float32)
    hues = [hue_when_darker(thing, bright) for thing in (one, other)]
    away = hues[1] - hues[0]
    size = np.sum(away**2, axis=1)
    like = np.sum((places[:, 1:] - hues[0]) * away, axis=1) / np.maximum(size, 1e-9)
    return np.asarray(np.where(size > _HUES_APART**2, like, np.nan))


def _colours(lab: Plane, camera: Camera, places_mm: Floats) -> Floats:
    """Brightness and hue axes (N, 3) at places; nan outside the picture."""
    values = sampled(lab, camera.project(places_mm)[None])
    seen = np.isfinite(values).all(axis=2, keepdims=True)
    bgr = cv2.cvtColor(np.where(seen, values, 0).astype(np.float32), cv2.COLOR_Lab2LBGR)
    return np.asarray(np.where(seen, of_light(np.maximum(bgr, 0)), np.nan)[0])


def _beside(lab: Plane, corners: Floats, lens: Lens, way: float) -> Floats:
    """Colours (4, pieces, channels) on one side of each of its sides; nan outside the picture."""
    along = np.linspace(_ENDS, 1 - _ENDS, _PIECES)
    u, v = np.meshgrid(along, way * _BESIDE, indexing="ij")
    spots = np.stack(
        [
            np.stack([u, v], axis=-1),
            np.stack([1 - v, u], axis=-1),
            np.stack([u, 1 - v], axis=-1),
            np.stack([v, u], axis=-1),
        ]
    )  # (4, pieces, beside, 2)
    H = unit_square_to(corners[None])[0]
    mapped = spots @ H[:, :2].T + H[:, 2]
    behind = mapped[..., 2] <= 1e-6
    tangents = mapped[..., :2] / np.where(behind, np.nan, mapped[..., 2])[..., None]
    values = sampled(lab, lens.distort(tangents.reshape(1, -1, 2))).astype(np.float64)
    return np.asarray(np.median(values.reshape(4, _PIECES, len(_BESIDE), -1), axis=2))
