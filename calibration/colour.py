"""What pieces look like to one camera: a mean and spread for each colour and face direction.

All values are in the space of `colour_space`, after taking away the local light of the board.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.colour_space import Floats32
from calibration.errors import CalibrationError

FACES = ("top", "left", "right", "front", "back")  # towards smaller and larger x, then y
VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class CameraColours:
    """The colours of the kit as one camera sees them.

    `mean[c, f]` is the place of letter c on face f, `spread[c, f]` its standard deviations along
    brightness and along the hue axes, `seen[c, f]` whether that was measured and not predicted.
    `light` holds the brightness over the board: six coefficients of a quadratic. Where a camera
    shows a lit face clipped, `clip[c, f]` leads from `mean` to where the face really lies: that is
    what its shadows tell.
    """

    letters: tuple[str, ...]
    mean: Floats32
    spread: Floats32
    seen: NDArray[np.bool_]
    light: Floats32
    clip: Floats32 = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    def __post_init__(self) -> None:
        many = len(self.letters)
        if not np.size(self.clip):
            object.__setattr__(self, "clip", np.zeros((many, len(FACES), 3)))
        for name, shape, kind in (
            ("mean", (many, len(FACES), 3), np.float32),
            ("spread", (many, len(FACES), 2), np.float32),
            ("seen", (many, len(FACES)), np.bool_),
            ("light", (6,), np.float32),
            ("clip", (many, len(FACES), 3), np.float32),
        ):
            array = np.array(getattr(self, name), dtype=kind)
            if array.shape != shape or not np.isfinite(array).all():
                raise CalibrationError(
                    f"colours: {name} must be {shape} finite numbers, not {array.shape}"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def to_json(self) -> dict[str, Any]:
        """The colours as JSON values."""
        return {
            "letters": "".join(self.letters),
            "mean": np.round(self.mean.astype(float), 4).tolist(),
            "spread": np.round(self.spread.astype(float), 4).tolist(),
            "seen": self.seen.tolist(),
            "light": np.round(self.light.astype(float), 5).tolist(),
            "clip": np.round(self.clip.astype(float), 4).tolist(),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "CameraColours":
        """The colours of JSON values; raises CalibrationError."""
        try:
            return CameraColours(
                tuple(data["letters"]),
                data["mean"],
                data["spread"],
                data["seen"],
                data["light"],
                data.get("clip", ()),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CalibrationError(
                f"the stored colours are damaged ({error!s:.80}); run `kiebitz calibrate colours`"
            ) from error


def light_terms(points_mm: ArrayLike, size_mm: Sequence[float]) -> Floats32:
    """The six terms (N, 6) of the brightness over the board, at points on it."""
    half = np.array(size_mm[:2], dtype=np.float64) / 2
    at = (np.asarray(points_mm, dtype=np.float64)[..., :2] - half) / max(float(half.max()), 1.0)
    x, y = at[..., 0], at[..., 1]
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).astype(np.float32)


def fit_light(points_mm: ArrayLike, brightness: ArrayLike, size_mm: Sequence[float]) -> Floats32:
    """The brightness over an empty board, robust against lines, symbols and wood grain.

    The middle of the board is the reference: there the result is zero.
    """
    terms = light_terms(points_mm, size_mm).astype(np.float64)
    values = np.asarray(brightness, dtype=np.float64)
    if len(values) < 30:
        return np.zeros(6, dtype=np.float32)
    weight = np.ones(len(values))
    # Steep or bent results are more likely a printed board than light: a mild pull to flat.
    pull = np.diag([0, 0.02, 0.02, 0.1, 0.1, 0.1]) * len(values)
    answer = np.zeros(6)
    for _ in range(12):
        weighted = terms * weight[:, None]
        answer = np.linalg.solve(terms.T @ weighted + pull + 1e-9 * np.eye(6), weighted.T @ values)
        off = np.abs(values - terms @ answer)
        scale = max(1.5 * float(np.median(off)), 0.02)
        weight = 1.0 / (1.0 + (off / scale) ** 2)
    answer[0] = 0.0
    return answer.astype(np.float32)


def nearest_pair(
    colours: Sequence[CameraColours], only: Sequence[str] | None = None
) -> tuple[str, str, float] | None:
    """The two letters hardest to tell apart, and their distance in standard deviations.

    The best camera counts for each pair; `only` names the letters that count.
    """
    letters = colours[0].letters if colours else ()
    worst: tuple[str, str, float] | None = None
    for i, one in enumerate(letters):
        for j in range(i):
            if only is not None and not {one, letters[j]} <= set(only):
                continue
            distance = max((_apart(camera, i, j) for camera in colours), default=0.0)
            if worst is None or distance < worst[2]:
                worst = (letters[j], one, distance)
    return worst


def _apart(camera: CameraColours, i: int, j: int) -> float:
    """On the faces of both letters that were seen, else as predicted for the top."""
    both = camera.seen[i] & camera.seen[j]
    faces = np.flatnonzero(both) if both.any() else np.array([0])
    difference = camera.mean[i, faces] - camera.mean[j, faces]
    spread = np.sqrt((camera.spread[i, faces] ** 2 + camera.spread[j, faces] ** 2) / 2)
    hue = np.hypot(difference[:, 1], difference[:, 2]) / spread[:, 1]
    # Brightness varies with every shadow; it counts for less than it seems.
    grey = 0.5 * np.abs(difference[:, 0]) / spread[:, 0]
    return float(np.hypot(hue, grey).max())
