"""Reaching: from which side of the table hands come in, told by the clock as for cameras.

An arm crosses the table around the board. Where it does so in a picture tells its side, and with
that the player, where every player sits at another one.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vision.play_area import Mask, PlayArea

Direction = NDArray[np.float64]  # (2,) along the table, seen from the middle of the board
_HEIGHT_MM = 50.0  # of what crosses the table around the board: half an arm's
_LEAST_PX = 4  # of the brim of a small picture
_ONE_SIDE = 0.6  # how much of all directions must be common, or hands came from several sides


class Brim:
    """Which way each place of one picture's brim lies, seen from the middle of the board."""

    def __init__(self, area: PlayArea) -> None:
        self._rows, self._columns = np.nonzero(area.brim)
        camera = area.camera
        wide, deep, _ = area.board.lattice.size_mm
        px = np.column_stack([self._columns, self._rows]).astype(np.float64)
        rays = np.column_stack([camera.lens.undistort(px), np.ones(len(px))]) @ camera.rotation
        eye = -camera.rotation.T @ camera.translation_mm
        with np.errstate(divide="ignore", invalid="ignore"):
            far = (_HEIGHT_MM - eye[2]) / rays[:, 2]
            beside = eye[:2] + far[:, None] * rays[:, :2] - (wide / 2, deep / 2)
            directions = beside / np.linalg.norm(beside, axis=1, keepdims=True)
        meets = (far > 0) & np.isfinite(directions).all(axis=1)
        self._directions = np.where(meets[:, None], directions, 0.0)

    def direction(self, hand: Mask) -> Direction | None:
        """Where a hand crosses it; None where that is hardly to be seen."""
        crossed = hand[self._rows, self._columns]
        if np.count_nonzero(crossed) < _LEAST_PX:
            return None
        return np.asarray(self._directions[crossed].mean(axis=0), dtype=np.float64)


def turned(direction: Direction, degrees: float) -> Direction:
    """A direction of a board that lies turned, as one of the table."""
    a = math.radians(degrees)
    return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) @ direction


def hand_clock(directions: Iterable[Direction]) -> float | None:
    """The hour from which hands came in; None where there were none, or from several sides."""
    known = list(directions)
    if not known:
        return None
    x, y = np.mean(known, axis=0)
    if math.hypot(x, y) < _ONE_SIDE:
        return None
    return math.degrees(math.atan2(x, y)) / 30.0 % 12.0
