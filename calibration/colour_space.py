"""The space in which colours are compared: logarithms of light, split into brightness and hue.

A stronger or tinted light adds the same amount to every logarithm, so that colours learned under
one light are found again under another. Axis 0 is brightness, axes 1 and 2 are what is left.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats32 = NDArray[np.float32]

DARKEST = 0.006  # added to the light, so that the noise of black does not become large numbers
_FULL = 0.93  # of the light that a camera can show
_TELLING = 0.05  # light; less in a channel tells nothing of the others
_MORE = 0.45  # by how much a clipped channel is brighter than it looks, usually; a logarithm
_MORE_AT_ALL = 0.1, 1.3
CLIPPED_BYTE = 251  # at this value or above a channel says only "at least"


_SHARES_OF_LIGHT = np.geomspace(1e-3, 8.0, 120).astype(np.float32)


def linear_light(byte_values: ArrayLike) -> NDArray[np.float64]:
    """Light between 0 and 1 of sRGB values between 0 and 255."""
    v = np.asarray(byte_values, dtype=np.float64) / 255.0
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


# Rows: brightness (mean of the logarithms), red against blue, green against both. BGR.
AXES = np.array(
    [
        [1 / 3] * 3,
        [-1 / np.sqrt(2), 0.0, 1 / np.sqrt(2)],
        [-1 / np.sqrt(6), 2 / np.sqrt(6), -1 / np.sqrt(6)],
    ],
    dtype=np.float32,
)
_BACK = np.linalg.inv(AXES).astype(np.float32)
_LIGHT_OF_BYTE = linear_light(np.arange(256)).astype(np.float32)
_LOG_OF_BYTE = np.log(linear_light(np.arange(256)) + DARKEST).astype(np.float32)
_SHARES = (_LOG_OF_BYTE[None, :, None] * AXES.T[:, None, :]).astype(np.float32)  # (3, 256, 3)


def log_colours(bgr: NDArray[np.uint8]) -> Floats32:
    """Brightness and the two hue axes of pixels (..., 3)."""
    shape = bgr.shape
    flat = bgr.reshape(-1, 3)
    out = _SHARES[0].take(flat[:, 0], axis=0)
    out += _SHARES[1].take(flat[:, 1], axis=0)
    out += _SHARES[2].take(flat[:, 2], axis=0)
    return np.asarray(out.reshape(shape))


def brightness(bgr: NDArray[np.uint8]) -> Floats32:
    """The first axis of `log_colours` alone."""
    logs = _LOG_OF_BYTE.take(bgr)
    return np.asarray((logs[..., 0] + logs[..., 1] + logs[..., 2]) / np.float32(3))


def light_of(bgr: NDArray[np.uint8]) -> Floats32:
    """Light of each channel of pixels (..., 3)."""
    return np.asarray(_LIGHT_OF_BYTE.take(bgr))


def of_light(light: Floats32) -> Floats32:
    """Brightness and hue axes of light (..., 3) per channel."""
    return np.asarray(np.log(light + np.float32(DARKEST)) @ AXES.T)


def gains_of(change: Floats32) -> Floats32:
    """The factor for each channel that a change of light, given in this space, means."""
    return np.asarray(np.exp(change @ _BACK.T), dtype=np.float32)


def hue_when_darker(place: Floats32, brightness: Floats32, *, ceiling: float = np.inf) -> Floats32:
    """Hue axes (B, 2) of something that is at `place` when lit, seen at other brightnesses (B).

    Half the light is half of every channel, but the small constant under the logarithm draws the
    hue of dark things towards grey; no channel of the picture is brighter than `ceiling`.
    """
    curve = of_light(np.minimum(_SHARES_OF_LIGHT[:, None] * _light_at(place), ceiling))
    return np.stack(
        [np.interp(brightness, curve[:, 0], curve[:, axis]) for axis in (1, 2)], axis=1
    ).astype(np.float32)


_MIRRORED = np.append(0.0, np.geomspace(0.01, 1.5, 24))  # shares of a lamp's light


def as_shown(place: Floats32) -> Floats32:
    """How a camera shows what lies there: no channel brighter than 1."""
    light = _light_at(place)
    return np.array(place) if light.max() <= 1 else of_light(np.minimum(light, 1.0))


def hue_when_mirroring(place: Floats32, brightness: Floats32, white: Floats32) -> Floats32:
    """The hue (N, 2) of what lies there where it mirrors so much of a lamp that it is this bright.

    `white` (3) is the lamp's own light.
    """
    light = _light_at(place) + _MIRRORED[:, None] * white
    curve = of_light(np.asarray(np.minimum(light, 1.0), dtype=np.float32))
    hues = [np.interp(brightness, curve[:, 0], curve[:, axis]) for axis in (1, 2)]
    return np.stack(hues, axis=1).astype(np.float32)


def where_unclipped(look: Floats32, hue: Floats32) -> Floats32:
    """Where something that looks like this, because channels were clipped at 1, really lies.

    `hue` are the hue axes that it has in less light.
    """
    light = _light_at(np.array([0.0, *hue], dtype=np.float32))
    curve = of_light(np.minimum(_SHARES_OF_LIGHT[:, None] * light, 1.0))
    share = np.interp(look[0], curve[:, 0], _SHARES_OF_LIGHT)
    return of_light(np.asarray(light * np.float32(share)))


def only_clipped(look: Floats32) -> int | None:
    """The channel that is as bright as cameras can show it, if it is the only one."""
    light = _light_at(look)
    full = np.flatnonzero(light > _FULL)
    return int(full[0]) if len(full) == 1 else None


def beyond_clipped(look: Floats32, channel: int, others: Sequence[Floats32]) -> Floats32:
    """What leads from this look, in which one channel is clipped, to where the thing really lies.

    The other channels are as they look, so that the brighter of them tells the clipped one, by
    how it looks where nothing is clipped: `others`, of which each is as good as the usual guess.
    """
    light = _light_at(look)
    rest = light.copy()
    rest[channel] = 0
    beside = int(rest.argmax())
    more = [_MORE]
    if light[beside] > _TELLING:
        now = float(np.log(light[channel] / light[beside]))
        for other in others:
            dimmer = _light_at(other)
            if dimmer[beside] > 0.1 * _TELLING:
                more.append(float(np.log(dimmer[channel] / dimmer[beside])) - now)
    light[channel] *= np.exp(np.clip(np.mean(more), *_MORE_AT_ALL))
    return of_light(light) - look


def _light_at(place: Floats32) -> Floats32:
    return np.asarray(np.maximum(np.exp(_BACK @ place) - DARKEST, 1e-4), dtype=np.float32)


def clipped_channels(bgr: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many channels of each pixel (..., 3) say only "at least"."""
    return np.asarray((bgr >= CLIPPED_BYTE).sum(axis=-1))


def smoothed(image: NDArray[np.uint8], size: int = 3) -> NDArray[np.uint8]:
    """The picture with every pixel averaged over its neighbours: less noise, as sharp as needed."""
    return np.asarray(cv2.blur(image, (size, size)), dtype=np.uint8)


def of_look(rgb: tuple[int, int, int]) -> Floats32:
    """The place in this space of a colour given as red, green, blue."""
    return np.asarray(log_colours(np.array([rgb[::-1]], dtype=np.uint8))[0])


def light_mode(differences: Floats32, *, start: Floats32 | None = None) -> Floats32:
    """The most common difference (N, 3) between two pictures of one scene: the light's change.

    Things that were put down, hands and shadows change many pixels, each in its own way; the
    untouched rest changes by one common amount.
    """
    if len(differences) < 20:
        return np.zeros(3, dtype=np.float32)
    centre = _densest(differences) if start is None else start
    for width in (0.35, 0.2, 0.12, 0.12, 0.12):
        far = ((differences - centre) ** 2).sum(axis=1) / (width * width)
        weight = np.exp(-0.5 * far)
        total = float(weight.sum())
        if total < 1e-3:
            return centre
        centre = (weight @ differences / total).astype(np.float32)
    return centre


def _densest(differences: Floats32) -> Floats32:
    """The middle of the fullest cell of a coarse histogram."""
    width = 0.15
    cells = np.round(differences / width).astype(np.int64).clip(-40, 40) + 40
    key = (cells[:, 0] * 81 + cells[:, 1]) * 81 + cells[:, 2]
    values, counts = np.unique(key, return_counts=True)
    best = values[counts.argmax()]
    return np.asarray(differences[key == best].mean(axis=0), dtype=np.float32)
