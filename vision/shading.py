"""Rays on one face stand in the same light: they share one vote on how bright it is.

Each ray's density is mixed over light and shadow by itself. That a whole face lies in shadow would
cost as often as rays see it, and a dark hollow would rather be read as anything else. So all rays
that show one face (or one cell of the bare board) are counted by classes of brightness: the first
one in an unusual class costs, the others follow nearly for nothing (an urn after Polya).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour_space import Floats32
from vision.rays import normal

# Brightness against what was calibrated, in logarithms of light.
BOUNDS = (-2.2, -1.6, -1.1, -0.75, -0.45, -0.2, 0.2, 0.45)
CLASSES = len(BOUNDS) + 1
USUAL_CLASS = 6  # as bright as calibrated
_LOW, _STEP = -2.5, 0.02
_CLASS_OF = np.digitize(np.arange(_LOW, 0.7, _STEP) + _STEP / 2, BOUNDS).astype(np.int8)


@dataclass(frozen=True, slots=True)
class Bell:
    """A part of a density over brightness: its share, middle and deviation."""

    share: float
    middle: float
    spread: float


def classes_of(off: Floats32) -> NDArray[np.int8]:
    """The classes of differences of brightness."""
    place = (off - np.float32(_LOW)) * np.float32(1 / _STEP)
    return np.asarray(_CLASS_OF[place.clip(0, len(_CLASS_OF) - 1).astype(np.int32)])


def shares_of(*bells: Bell) -> NDArray[np.float64]:
    """How often each class occurs under a density of several parts."""
    bounds = np.array([-np.inf, *BOUNDS, np.inf])
    whole = np.full(CLASSES, 0.002)
    for bell in bells:
        whole += bell.share * np.diff(normal((bounds - bell.middle) / bell.spread))
    return np.asarray(whole / whole.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Urns:
    """How classes of brightness occur in groups of rays (groups, classes)."""

    start: NDArray[np.float64]  # rays that are taken to have been counted before
    log_gamma: NDArray[np.float64]
    log_share: NDArray[np.float64]
    alike: float

    @staticmethod
    def of(usual: NDArray[np.float64], alike: float) -> "Urns":
        """`alike` is how many rays the usual shares are worth against those of a group."""
        start = alike * usual
        return Urns(start, _log_gamma(start), np.log(usual), alike)

    def agreement(
        self, counts: NDArray[np.float64], some: NDArray[np.int64] | slice = slice(None)
    ) -> NDArray[np.float64]:
        """What the rays of some groups gain by sharing their light, over each one by itself."""
        together = _log_gamma(self.start[some] + counts) - self.log_gamma[some]
        alone = counts * self.log_share[some]
        whole = self.alike + counts.sum(axis=1)
        first = _log_gamma(np.array([self.alike]))
        return np.asarray((together - alone).sum(axis=1) - _log_gamma(whole) + first)


def _log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stirling's series, three steps further up where it is exact enough."""
    y = x + 3.0
    series = (y - 0.5) * np.log(y) - y + 0.9189385332 + 1.0 / (12.0 * y)
    return np.asarray(series - np.log(x * (x + 1.0) * (x + 2.0)))
