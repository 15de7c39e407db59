"""The light of a picture by its pieces alone, where no picture of the empty table is known.

Exposure and white balance change what every piece looks like by one common amount: the one that
brings most of the board nearest to colours that were learned.
"""

import numpy as np
from numpy.typing import NDArray

from calibration.colour import CameraColours
from calibration.colour_space import Floats32

_MOST = 600  # pixels that are compared
_STARTS = (-1.5, -1.2, -0.9, -0.6, -0.3, 0.0, 0.3, 0.6)  # of brightness
_ROUNDS = 8
_WIDTHS = np.array([0.30, 0.13, 0.13], dtype=np.float32)  # of one colour: grain, gloss, shade
_PRIOR = np.array([0.7, 0.2, 0.2], dtype=np.float32)  # how far light and white balance change
_VOTES = 40.0  # pixels of one board stand in one light: together they are worth so many
_ELSE = 0.02  # how near a pixel is to a learned colour that is none of them
_BETTER = 4.0  # than no change at all, or nothing is changed


def change_by_pieces(values: Floats32, colours: CameraColours, faces: list[int]) -> Floats32:
    """The light's change since the colours were learned, by pixels (N, 3) of the board."""
    none = np.zeros(3, dtype=np.float32)
    places = colours.mean[:, faces][colours.seen[:, faces]]
    if len(values) < 30 or len(places) < 2:
        return none
    values = values[:: max(1, len(values) // _MOST)]
    tries = [_settled(values, places, np.array([b, 0, 0], np.float32)) for b in _STARTS]
    worth, best = max(tries, key=lambda tried: tried[0])
    return best if worth > _worth(values, places, none)[0] + _BETTER else none


def _settled(values: Floats32, places: Floats32, change: Floats32) -> tuple[float, Floats32]:
    """The change nearest to a first one at which the pixels fit best, and how well they do."""
    for _ in range(_ROUNDS):
        _, share = _worth(values, places, change)
        total = share.sum() * _VOTES / len(values)
        off = (values[:, None] - places[None]).reshape(-1, 3)
        weight = (share * _VOTES / len(values)).reshape(-1)
        mean = weight @ off / max(float(total), 1e-6)
        held = (_WIDTHS / _PRIOR) ** 2
        change = (total * mean / (total + held)).astype(np.float32)
    return _worth(values, places, change)[0], change


def _worth(
    values: Floats32, places: Floats32, change: Floats32
) -> tuple[float, NDArray[np.float32]]:
    """How well pixels fit the colours after a change, and which colour (N, K) each one shows."""
    off = (values[:, None] - places[None] - change) / _WIDTHS
    near = np.exp(-0.5 * (off * off).sum(axis=2))
    best = near.sum(axis=1) + _ELSE
    fit = float(np.log(best).mean()) * _VOTES
    return fit - 0.5 * float(((change / _PRIOR) ** 2).sum()), near / best[:, None]
