"""Light changes upwards: what a piece high above the board looks like against one that lies on it.

A board throws its own colour at what stands on it: near a blue felt, wood is bluer and darker than
at the top of a tower, where the table and the room give their light. Colours are learned on low
pieces; a tower shows the difference on its own faces.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour import CameraColours
from calibration.colour_space import Floats32

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RisingSettings:
    """How far light may change; brightness and two hue axes, in logarithms of light."""

    least_rays: int = 8  # of a unit's face, and it is a witness
    least_faces: int = 4
    least_rise: float = 0.1  # between the lowest and the highest of them
    usual: tuple[float, float, float] = (0.5, 0.3, 0.12)  # far above the board
    usual_all: tuple[float, float, float] = (0.5, 0.12, 0.06)  # on all levels alike
    most: tuple[float, float, float] = (1.2, 0.9, 0.4)
    starts: tuple[float, ...] = (0.0, 0.6, -0.6, 1.2)  # of the change of brightness
    widths: tuple[float, ...] = (3.0, 2.4, 2.0, 1.6, 1.3, 1.0, 1.0, 1.0)  # from coarse to fine
    wider: tuple[float, float, float] = (0.1, 0.05, 0.05)  # added to spreads
    shaded: float = 0.3  # of all faces lie in a shadow, and tell nothing
    shade: float = -0.5
    shade_wider: tuple[float, float, float] = (0.4, 0.1, 0.06)
    anything: float = 0.02


def rising_on(
    seen: Floats32,
    unit: NDArray[np.int32],
    above: Floats32,
    f: int,
    colours: CameraColours,
    settings: RisingSettings,
) -> Floats32 | None:
    """How a face direction looks far above the board against on it (3); None if nothing tells.

    `seen` are pixels (N, 3), `unit` whose face each shows, and `above` how far above the board.
    Whatever was read there: each face may be of any colour, or lie in a shadow.
    """
    look, high = _faces(seen, unit, above, settings.least_rays)
    if len(high) < settings.least_faces or np.ptp(high) < settings.least_rise:
        return None
    best = _fit(look, high, f, colours, settings)
    most = np.array(settings.most)
    return np.asarray(np.clip(best[1], -most, most), dtype=np.float32)


def _faces(
    seen: Floats32, unit: NDArray[np.int32], above: Floats32, least_rays: int
) -> tuple[Floats, Floats]:
    """The mean look of every unit's face, and how far above the board it is."""
    _, number = np.unique(unit, return_inverse=True)
    many = np.bincount(number)
    look = np.stack([np.bincount(number, seen[:, i]) / many for i in range(3)], axis=1)
    high = np.bincount(number, above) / many
    return look[many >= least_rays], high[many >= least_rays]


def _fit(look: Floats, high: Floats, f: int, colours: CameraColours, cfg: RisingSettings) -> Floats:
    """The change on all levels and far above (2, 3) by which faces are explained best.

    It is looked for from several beginnings (S) side by side. Which colour each face has, and
    whether it lies in a shadow, is decided anew with every step.
    """
    away = look - colours.mean[:, None, f].astype(np.float64)  # (C, N, 3)
    wide = np.hypot(colours.spread[:, f, [0, 1, 1]], cfg.wider)[:, None]
    dark = wide + cfg.shade_wider
    usual = np.array([cfg.usual_all, cfg.usual])
    # About the middle: more light on all levels must not look like light that rises.
    terms = np.stack([np.ones_like(high), high - high.mean()], axis=1)
    products = (terms[:, :, None] * terms[:, None]).reshape(-1, 4)
    change = np.zeros((len(cfg.starts), 2, 3))
    change[:, 1, 0] = cfg.starts
    held = usual.T[:, :, None] ** -2.0 * np.eye(2)  # (3, 2, 2)

    def explained(width: float = 1.0) -> tuple[Floats, Floats]:
        off = away - (terms @ change)[:, None]  # (S, C, N, 3)
        lit = (1 - cfg.shaded) * _bell(off, width * wide)
        shaded = cfg.shaded * _bell(off - (cfg.shade, 0, 0), width * dark)
        return lit, (lit + shaded).sum(axis=1) + cfg.anything

    for width in cfg.widths:
        lit, likely = explained(width)
        weight = (lit / likely[:, None])[..., None] / wide**2  # (S, C, N, 3)
        pull = (terms.T @ (weight * away).sum(axis=1)).swapaxes(1, 2)  # (S, 3, 2)
        stiff = (weight.sum(axis=1).swapaxes(1, 2) @ products).reshape(-1, 3, 2, 2)
        change = np.linalg.solve(stiff + held, pull[..., None])[..., 0].swapaxes(1, 2)
    rarity = 0.5 * ((change / usual) ** 2).sum(axis=(1, 2))
    worth = np.log(explained()[1]).sum(axis=1) - rarity
    return np.asarray(change[int(worth.argmax())])


def _bell(off: Floats, wide: Floats) -> Floats:
    far = np.square(off / wide)
    return np.asarray(np.exp(-0.5 * (far[..., 0] + far[..., 1] + far[..., 2])) / wide.prod(axis=2))
