"""Colours follow the picture: means and spreads of faces, measured again on what was read.

A face that was not seen at calibration, a lamp that moved, a tower that stands nearer to the
light: all show on the pieces themselves. Changes are bounded, so that a wrong reading cannot turn
one colour into another.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calibration.colour import FACES, CameraColours
from calibration.colour_space import Floats32
from vision.likelihood import SHADOWS, RayLooks, above_board
from vision.position import Sight
from vision.rising import RisingSettings, rising_on

WIDER = (0.1, 0.05)  # added to spreads of brightness and hue
DEEPEST = 1.5  # shadows of all depths up to this one are equally likely
MOST_FOR_LIGHT = 400  # pixels of a face direction are enough


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptSettings:
    """How quickly and how far colours follow."""

    calibrated: float = 25.0  # rays that a measured face is worth
    guessed: float = 6.0  # rays that a predicted face is worth
    bound: tuple[float, float] = (0.5, 0.16)  # of brightness and hue, from where it was measured
    bound_guessed: tuple[float, float] = (0.8, 0.3)
    least_spread: tuple[float, float] = (0.15, 0.05)
    hue_reach: float = 0.45  # pixels further from their colour show something else
    least_rays: int = 8
    light_bound: float = 1.0  # brighter or darker than measured, all colours of a face alike
    light_sigma: float = 0.35
    light_sigma_guessed: float = 0.6
    ray_worth: float = 0.2  # neighbouring rays say nearly the same
    shade_share: float = 0.15  # of a face may lie in another piece's shadow
    least_light_rays: int = 30
    rising: RisingSettings = field(default_factory=RisingSettings)
    rounds: int = 2  # how often a picture is read with colours that follow it
    again_from: float = 0.3  # of brightness; where colours went less far, once is enough
    shadow: float = 8.0  # rays that the usual hue of a shadow is worth
    shadow_bound: float = 0.6
    shadow_reach: float = 1.3


def adapted(
    sight: Sight,
    values: Floats32,
    colours: CameraColours,
    settings: AdaptSettings,
    rising: Floats32 | None = None,
) -> tuple[CameraColours, Floats32]:
    """The colours of one camera after a picture, given what was read in it.

    `values` are the pixels of the rays, relative to the local light. Also how faces far above the
    board are off those on it (F, 3): as `rising` says where the picture does not tell.
    """
    table = sight.table
    levels = table.lattice.levels
    colour = sight.state[table.rays.unit]
    surely = sight.colour.through[:-1] * sight.part[:-1] > 0.9
    surely &= (colour > 0) & (table.rays.zone >= 2) & (table.rays.share > 0.95)
    surely &= sight.view.sharp[table.entry_ray] > 0.9
    entries = np.flatnonzero(surely)
    unit, face = table.rays.unit[entries], table.rays.face[entries]
    letter = colour[entries] - 1
    above = above_board(table.lattice)[unit % levels]
    seen = values[table.entry_ray[entries]]
    mean, spread = colours.mean.copy(), colours.spread.copy()
    rising = np.zeros((len(FACES), 3), np.float32) if rising is None else rising.copy()
    for f in range(len(FACES)):
        here = face == f
        if np.count_nonzero(here) >= settings.least_light_rays:
            own = seen[here], unit[here], above[here]
            found = rising_on(*own, f, colours, settings.rising)
            rising[f] = rising[f] if found is None else found
            seen[here] -= above[here, None] * rising[f]
            mean[:, f, 0] += light_on(seen[here], f, colours, settings)
    lit = replace(colours, mean=mean.copy())
    for f in range(len(FACES)):
        here, own = seen[face == f], letter[face == f]
        own[_nearest(here, f, lit) != own] = -1
        for c in range(len(colours.letters)):
            if np.count_nonzero(own == c) >= settings.least_rays:
                _follow(here[own == c], c, f, lit, settings, mean, spread)
    return replace(colours, mean=mean, spread=spread), rising


def light_on(here: Floats32, f: int, colours: CameraColours, settings: AdaptSettings) -> float:
    """How much brighter pixels of a face direction are than at calibration, in logarithms.

    Whatever colours stand there: a reading that took dark wood for light wood in shadow must not
    decide that for itself. Light falls on all colours of a direction alike.
    """
    here = here[:: max(len(here) // MOST_FOR_LIGHT, 1)]
    mean, spread = colours.mean[:, f], colours.spread[:, f]
    wide, narrow = np.hypot(spread.T, np.array(WIDER)[:, None])[..., None]  # (letters, 1)
    far = ((here[None, :, 1:] - mean[:, None, 1:]) / narrow[..., None]) ** 2
    hue = np.exp(np.maximum(-0.5 * far.sum(axis=2), -30.0)) / narrow**2
    shifts = np.arange(-settings.light_bound, settings.light_bound + 0.01, 0.05)
    sigma = settings.light_sigma if colours.seen[:, f].any() else settings.light_sigma_guessed
    off = here[:, 0] - mean[:, 0, None] - shifts.astype(np.float32)[:, None, None]
    usual = np.float32(1 - settings.shade_share) * hue / (wide * np.float32(np.sqrt(2 * np.pi)))
    likely = np.exp(np.float32(-0.5) * np.square(off / wide)) * usual
    likely += ((off < 0) & (off > -DEEPEST)) * (np.float32(settings.shade_share / DEEPEST) * hue)
    told = np.log(likely.mean(axis=1) + np.float32(1e-4)).sum(axis=1)
    scores = settings.ray_worth * told - 0.5 * (shifts / sigma) ** 2
    return float(shifts[scores.argmax()])


def _nearest(here: Floats32, f: int, colours: CameraColours) -> NDArray[np.int64]:
    """Which colour lies nearest to each pixel of a face direction, whatever was read there."""
    wide = np.hypot(colours.spread[:, f], WIDER)[:, [0, 1, 1]]
    off = (here[None] - colours.mean[:, None, f]) / wide[:, None]
    cost = 0.5 * (off**2).sum(axis=2) + np.log(wide).sum(axis=1)[:, None]
    return np.asarray(cost.argmin(axis=0))


def shadows(sight: Sight, looks: RayLooks, settings: AdaptSettings) -> Floats32:
    """The hue (S, 2) of shadows on the board at `SHADOWS`, measured where it is surely bare.

    Two lamps of different colours throw shadows of different colours.
    """
    table = sight.table
    found = np.zeros((len(SHADOWS), 2), dtype=np.float32)
    shown = sight.shown()
    bare = (table.ground_column >= 0) & (shown == table.unit[-1]) & (sight.view.sharp > 0.9)
    for beside in table.neighbours:
        bare &= shown[beside] == table.unit[-1]
    off = looks.nothing_off[bare]
    off = off[np.abs(off[:, 1:]).max(axis=1) < settings.shadow_reach]
    edges = [-np.inf, *(np.array(SHADOWS[1:]) + np.array(SHADOWS[:-1])) / 2, np.inf]
    for i in range(len(SHADOWS)):
        here = off[(off[:, 0] >= edges[i]) & (off[:, 0] < edges[i + 1]), 1:]
        if len(here) >= settings.least_rays:
            trust = len(here) / (len(here) + settings.shadow)
            bound = settings.shadow_bound
            found[i] = np.clip(trust * np.median(here, axis=0), -bound, bound)
    return found


def _follow(
    here: Floats32,
    c: int,
    f: int,
    colours: CameraColours,
    settings: AdaptSettings,
    mean: NDArray[np.float32],
    spread: NDArray[np.float32],
) -> None:
    known = bool(colours.seen[c, f])
    start = colours.mean[c, f]
    near = np.abs(here[:, 1:] - start[1:]).max(axis=1) < settings.hue_reach
    here = here[near]
    if len(here) < settings.least_rays:
        return
    middle = np.median(here, axis=0)
    trust = len(here) / (len(here) + (settings.calibrated if known else settings.guessed))
    bright, hue = settings.bound if known else settings.bound_guessed
    bounds = np.array([bright, hue, hue])
    mean[c, f] = start + np.clip(trust * (middle - start), -bounds, bounds)
    off = np.abs(here - middle)
    measured = 1.48 * np.array([np.median(off[:, 0]), np.median(off[:, 1:])])
    measured = np.maximum(measured, settings.least_spread)
    spread[c, f] += trust * (measured - spread[c, f])
