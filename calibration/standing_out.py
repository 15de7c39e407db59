"""How much what a rectangle encloses differs from what lies around it: things do, drawn lines not.

The squares of a tablecloth and the joints of tiles have the shape of a board, too, but the same
cloth lies on both sides of their lines.
"""

import cv2
import numpy as np

from calibration.camera import Floats, Lens
from calibration.quads import unit_square_to
from calibration.rectify import Plane

_PIECES = 15  # of each side
_ENDS = 0.08
_BESIDE = np.linspace(0.03, 0.10, 5)  # of the rectangle: clear of lines, bevels and side faces
_LEAST = 2.5  # of lightness and colour
_LIKE_ALL = 0.4  # of a side's usual difference
_LEAST_PIECES = 5


def stands_out(lab: Plane, corners: Floats, lens: Lens) -> float:
    """The part of a rectangle's sides (corners: tangents) across which the picture differs.

    1 where all of it does, 0 where inside and outside look alike.
    """
    inner, outer = (_beside(lab, corners, lens, way) for way in (1.0, -1.0))
    shares = []
    for differs in inner - outer:  # side by side
        valid = differs[np.isfinite(differs).all(axis=1)]
        if len(valid) >= _LEAST_PIECES:
            usual = np.median(valid, axis=0)
            size = float(np.linalg.norm(usual)) + 1e-9
            shares.append(float((valid @ usual / size > max(_LEAST, _LIKE_ALL * size)).mean()))
    return float(np.mean(shares)) if shares else 0.0


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
    px = lens.distort(tangents.reshape(-1, 2)).reshape(4, -1, 2)
    table = np.nan_to_num(px, nan=-1e4).astype(np.float32)
    values = cv2.remap(
        lab,
        table[..., 0],
        table[..., 1],
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(np.nan, np.nan, np.nan),
    )
    return np.asarray(np.median(values.reshape(4, _PIECES, len(_BESIDE), 3), axis=2))
