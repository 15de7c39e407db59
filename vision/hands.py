"""Hands and changes: what looks different since the table was last seen still.

A hand is a changed region that reaches from the play area to beyond the table around it. A piece
is an island; a shadow darkens and keeps the hue. The camera's exposure is taken out first.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import ImageBGR
from vision.play_area import Mask, PlayArea

Light = NDArray[np.float32]
_LIGHT_OF = (np.arange(256, dtype=np.float32) / 255.0) ** 2.2
_DARK = 0.004  # of light; below it a camera tells noise
_EACH = 4  # pixel of the table around tells how the exposure has changed


@dataclass(frozen=True, slots=True, kw_only=True)
class HandSettings:
    """What counts as change, and as a hand."""

    difference: float = 0.05  # in parts of the picture's range; a camera's noise is below 0.02
    solid: float = 0.09  # the same beyond what a shadow or a gleam explains
    shade: tuple[float, float] = (0.15, 1.8)  # what light a shadow leaves, and a gleam adds
    play_share: float = 0.004  # of the play area that a hand covers at least (0.002 to 0.02)
    brim_px: int = 4  # and so much of the brim (2 to 8)
    most: float = 0.5  # of the table around that somebody can cover; more is another light
    stays_s: float = 8.0  # so long, and it is no hand but part of the table (5 to 30)


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """Where a small picture differs from the reference: at all, and by more than a shadow."""

    any: Mask
    solid: Mask

    @property
    def share(self) -> float:
        """The part of the picture that differs by more than a shadow."""
        return float(self.solid.mean())

    def without(self, pieces: Mask) -> "Changed":
        """What differs beside pieces that came or went."""
        if not pieces.any():
            return self
        free = cv2.dilate(pieces.astype(np.uint8), np.ones((5, 5), dtype=np.uint8)) == 0
        return Changed(self.any & free, self.solid & free)


class Hands:
    """Compares still pictures of one camera with the last one that was understood."""

    def __init__(self, area: PlayArea, settings: HandSettings | None = None) -> None:
        self._area = area
        self._around = np.flatnonzero(area.around)[::_EACH]
        self._settings = settings or HandSettings()
        self._reference: Light | None = None
        self._reaching_since: float | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a picture to compare with."""
        return self._reference is not None

    def understood(
        self, small: ImageBGR, t: float, play: Mask, pieces: Mask, covered: Mask
    ) -> None:
        """What the picture shows is known: changes count from here.

        But for what still reaches in, which `pieces` that came or went do not, and for what is
        `covered`: when it goes, its place must look as before.
        """
        now, before = _light(small), self._reference
        reaching = None if before is None else self._reaching(small, play, pieces)
        if covered.any():
            reaching = covered if reaching is None else reaching | covered
        if before is None or reaching is None:
            self._reference, self._reaching_since = now, None
            return
        if self._reaching_since is None:
            self._reaching_since = t
        if t - self._reaching_since > self._settings.stays_s:
            self._reference = now
        else:
            before = before * self._gain(now, before)
            self._reference = np.where(reaching[..., None], before, now)

    def _reaching(self, small: ImageBGR, play: Mask, pieces: Mask) -> Mask | None:
        """Whoever comes in from beyond the table around, over the board or not, and his shadow."""
        changed = self.changed(small)
        if changed is None:
            return None
        changed = changed.without(pieces)
        found = self._crossing(Changed(changed.any, changed.any), play, 0.0)
        most = self._settings.most * np.count_nonzero(self._area.around)
        return None if found is None or np.count_nonzero(found) > most else found

    def forget(self) -> None:
        """The reference holds no more: the camera or the light has changed."""
        self._reference = None
        self._reaching_since = None

    def changed(self, small: ImageBGR) -> Changed | None:
        """What differs from the reference; None where there is none."""
        if self._reference is None:
            return None
        cfg = self._settings
        now, before = _light(small), self._reference
        before = before * self._gain(now, before)
        shade = _summed(now * before) / (_summed(before * before) + _DARK**2)
        shaded = before * np.clip(shade, *cfg.shade)[..., None]
        seen = np.sqrt(now)
        anything = _furthest(seen, np.sqrt(before)) > cfg.difference
        solid = _furthest(seen, np.sqrt(shaded)) > cfg.solid
        return Changed(_clean(anything | solid), _clean(solid))

    def hand(self, changed: Changed, play: Mask) -> Mask | None:
        """The region of a hand, None where there is none."""
        least = self._settings.play_share * np.count_nonzero(play)
        return self._crossing(changed, play, least)

    def reaching(self, changed: Changed, play: Mask) -> Mask | None:
        """Whatever has come over the board from beyond, be it only a shadow."""
        least = self._settings.play_share * np.count_nonzero(play)
        return self._crossing(Changed(changed.any, changed.any), play, least)

    def _crossing(self, changed: Changed, play: Mask, least: float) -> Mask | None:
        """The changed regions that cross the brim and cover at least so much of the play area."""
        near = (changed.any & (self._area.around | play)).astype(np.uint8)
        count, labels = cv2.connectedComponents(near)
        across = np.bincount(labels[changed.solid & self._area.brim & ~play], minlength=count)
        inside = np.bincount(labels[changed.solid & play], minlength=count)
        wanted = (across >= self._settings.brim_px) & (inside >= least)
        wanted[0] = False
        return np.asarray(wanted[labels]) if wanted.any() else None

    def _gain(self, now: Light, before: Light) -> Light:
        """How the camera's exposure has changed, by channel."""
        new, old = (light.reshape(-1, 3)[self._around] + _DARK for light in (now, before))
        ratios = np.ascontiguousarray((new / old).T)
        return np.asarray(np.median(ratios, axis=1), dtype=np.float32)


def _light(small: ImageBGR) -> Light:
    """Light of a picture, linear and smoothed."""
    return np.asarray(cv2.LUT(cv2.blur(small, (3, 3)), _LIGHT_OF), dtype=np.float32)


def _summed(light: Light) -> Light:
    """All colours together; by planes, as sums along so short an axis take far longer."""
    blue, green, red = cv2.split(light)
    return np.asarray(blue + green + red, dtype=np.float32)


def _furthest(one: Light, other: Light) -> Light:
    """How far two pictures are apart in the colour in which they differ most, likewise."""
    blue, green, red = cv2.split(cv2.absdiff(one, other))
    return np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.float32)


def _clean(mask: Mask) -> Mask:
    """Without single pixels and threads."""
    return np.asarray(cv2.medianBlur(mask.astype(np.uint8), 3) > 0)
