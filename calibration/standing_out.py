"""Whether lines are the edges of a thing: what a rectangle encloses, and what a frame is made of.

The squares of a tablecloth and the joints of tiles have the shape of a board, too, but the same
cloth lies on both sides of their lines. Hard shadows run along a frame like its rails, but only
rails look alike on all four sides.
"""

import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.quads import unit_square_to
from calibration.rectify import Plane, sampled

_PIECES = 15  # of each side
_ENDS = 0.08
_BESIDE = np.linspace(0.03, 0.10, 5)  # of the rectangle: clear of lines, bevels and side faces
_LEAST = 2.5  # of lightness and colour
_LIKE_ALL = 0.4  # of a side's usual difference
_FIELD = 6.0  # of lightness and colour: what still belongs to one field
_LEAST_PIECES = 5
_RAILS_APART = 12.0  # of lightness and colour: wood in one light


def stands_out(lab: Plane, corners: Floats, lens: Lens) -> float:
    """The part of a rectangle's sides (corners: tangents) across which the picture differs.

    1 where all of it does, 0 where inside and outside look alike.
    """
    inner, outer = (_beside(lab, corners, lens, way) for way in (1.0, -1.0))
    shares = []
    for within, around in zip(inner, outer, strict=True):  # side by side
        seen = np.isfinite(within).all(axis=1) & np.isfinite(around).all(axis=1)
        if seen.sum() >= _LEAST_PIECES:
            differs = within[seen] - around[seen]
            usual = np.median(differs, axis=0)
            size = float(np.linalg.norm(usual)) + 1e-9
            out = differs @ usual / size > max(_LEAST, _LIKE_ALL * size)
            # Squares of a checked cloth differ from those beside them, but change along a side.
            stray = np.linalg.norm(within[seen] - np.median(within[seen], axis=0), axis=1)
            shares.append(float((out & (stray < max(_FIELD, 0.5 * size))).mean()))
    return float(np.mean(shares)) if shares else 0.0


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


def _beside(lab: Plane, corners: Floats, lens: Lens, way: float) -> Floats:
    """Colours (4, pieces, 3) on one side of each side of a rectangle; nan outside the picture."""
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
    return np.asarray(np.median(values.reshape(4, _PIECES, len(_BESIDE), 3), axis=2))
