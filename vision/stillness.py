"""Stillness: whether anything moves where the game is played, seen by one camera.

Decided apart from reading, on a small picture and only where board or pieces are: people
moving behind the table never count.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.stacks import Stacks
from vision.frame import ImageBGR
from vision.play_area import Mask, PlayArea

_EACH = 8  # pixel tells how exposure moves all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class StillnessSettings:
    """What counts as motion."""

    least_change: float = 7.0  # grey levels beyond the camera's own noise (4 to 12)
    noise_factor: float = 5.0  # the same as a multiple of the measured noise (4 to 8)
    share: float = 0.0012  # of the play area that must change, to be motion (0.0005 to 0.005)
    least_px: int = 5


class Stillness:
    """Compares each small picture with the one before, within the play area."""

    def __init__(self, area: PlayArea, settings: StillnessSettings | None = None) -> None:
        self.settings = settings or StillnessSettings()
        self._area = area
        self._before: ImageBGR | None = None
        self._stacks = Stacks()
        self._watch(area.play(self._stacks))

    def believe(self, stacks: Stacks) -> None:
        """The play area grows and shrinks with what stands on the board."""
        if stacks != self._stacks:
            self._stacks = stacks
            self._watch(self._area.play(stacks))

    def _watch(self, mask: Mask) -> None:
        rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
        self._part = (_span(rows), _span(columns))
        self._mask = mask[self._part]
        self._some = np.flatnonzero(self._mask)[::_EACH]

    def moving(self, small: ImageBGR) -> bool:
        """Whether something moved since the picture before; the first one counts as motion."""
        before, self._before = self._before, small
        if before is None:
            return True
        if not self._some.size:
            return False
        changes = cv2.subtract(small[self._part], before[self._part], dtype=cv2.CV_16S)
        some = changes.reshape(-1, 3)[self._some]
        # Exposure and white balance move all of it alike.
        for colour, shift in enumerate(np.median(some, axis=0).astype(int)):
            changes[..., colour] -= shift
        blue, green, red = cv2.split(np.abs(changes))
        change = cv2.max(cv2.max(blue, green), red)[self._mask]
        noise = float(np.mean(np.minimum(change, 8))) + 0.3
        limit = max(self.settings.least_change, self.settings.noise_factor * noise)
        changed = int(np.count_nonzero(change > limit))
        return changed > max(self.settings.least_px, self.settings.share * len(change))


def _span(numbers: NDArray[np.int64]) -> slice:
    """From the first of them to the last; nothing where there is none."""
    return slice(numbers[0], numbers[-1] + 1) if numbers.size else slice(0)
