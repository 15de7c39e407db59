"""Faces as witnesses: how well each colour explains what a whole face looks like.

Where a picture is over-exposed, or a colour of the kit was never seen, all pixels of a face err
alike. However many they are, together they tell no more than one look: each colour as it may
appear in more or less light, washed out by gloss, and clipped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.colour import CameraColours
from calibration.colour_space import (
    AXES,
    DARKEST,
    Floats32,
    clipped_channels,
    gains_of,
    light_of,
    of_light,
)
from vision.likelihood import Followed, ImageBGR, above_board
from vision.position import Sight

Floats = NDArray[np.float64]

_GAINS = np.geomspace(0.2, 3.0, 22).astype(np.float32)  # of the light that was learned
_GLOSSES = np.array([0.0, 0.01, 0.03, 0.06, 0.1, 0.16, 0.25, 0.4], dtype=np.float32)
# How many faces lie in the light, in shade and in the dark between others: share, logarithm of
# the light, deviation.
_LIGHTS = ((0.52, 0.0, 0.18), (0.40, -0.45, 0.40), (0.08, -1.5, 0.8))
_GLOSS = 0.06  # light added to all channels, on average
_BRIGHT, _HUE = 0.2, 0.08  # deviations of a whole face from its place on the curve
_SHADE_HUE = 0.12  # more where the light changes: shadows have a tint
_GUESSED_HUE = 0.25  # where a colour was never seen
_BARE = (0.6, 0.2, 0.2)  # deviations of bare places where no picture tells how these look
_UNSEEN = 3.0  # what was taken for the bare table may be the colour that was never seen
_ELSE = 10.0  # no colour is worse than so much: something else may lie there
_LEAST_RAYS = 6
_CLIPPED = 0.3  # of a face's pixels
_SURELY, _OF_FACE = 0.75, 0.6  # how surely rays show a face that are asked


@dataclass(frozen=True, slots=True, eq=False)
class FaceVotes:
    """What every colour may look like on every face to one camera."""

    light: Floats32  # (C, F, K, 3)
    hue: Floats32  # (C, F, K) deviations
    cost: Floats32  # (K) of so much light and gloss
    dimming: Floats32  # (N, 1) of the light where each ray ends
    table_known: bool  # whether a picture of the empty table is
    guessed: bool  # whether a colour was never seen

    @staticmethod
    def of(colours: CameraColours, dimming: Floats32, *, table_known: bool) -> "FaceVotes":
        """The looks of a camera's colours, where light falls unevenly on the board."""
        lit = np.exp(colours.mean @ np.linalg.inv(AXES).T.astype(np.float32)) - DARKEST
        gains, glosses = (v.ravel() for v in np.meshgrid(_GAINS, _GLOSSES, indexing="ij"))
        light = np.maximum(lit, 1e-4)[:, :, None] * gains[:, None] + glosses[:, None]
        change = np.log(gains)
        cost = _rarity(change) + glosses / _GLOSS
        guessed = np.where(colours.seen, 0.0, _GUESSED_HUE)
        own = np.hypot(np.maximum(colours.spread[..., 1], _HUE), guessed)
        hue = np.hypot(own[..., None], _SHADE_HUE * np.abs(change))
        return FaceVotes(
            light.astype(np.float32),
            hue.astype(np.float32),
            cost.astype(np.float32),
            dimming,
            table_known,
            not bool(colours.seen.any(axis=1).all()),
        )

    def likelihoods(self, face: int, seen: Floats32, lit: Floats32) -> Floats:
        """The logarithm (C) for the light of a whole face.

        `lit` is what the light on it is against when colours were learned: no channel shows more
        than all of it, whatever fell on the face.
        """
        looks = of_light(np.minimum(self.light[:, face] * lit, 1.0))
        off = of_light(seen) - looks
        hue = self.hue[:, face]
        far = (off[..., 0] / _BRIGHT) ** 2 + (off[..., 1:] ** 2).sum(axis=-1) / hue**2
        fit = -0.5 * far - self.cost - 2 * np.log(hue / _HUE)
        return np.asarray(np.maximum(fit.max(axis=1), -_ELSE), dtype=np.float64)


def _rarity(change: Floats32) -> Floats:
    """How rarely a face lies in so much more or less light, against one that lies as learned."""
    at = np.append(change, 0.0)
    bells = [
        share / spread * np.exp(-0.5 * ((at - middle) / spread) ** 2)
        for share, middle, spread in _LIGHTS
    ]
    # Shade darkens; what is lighter than learned has to do without.
    density = bells[0] + np.where(at <= 0, sum(bells[1:]), 0.0)
    return np.asarray(np.log(density[-1]) - np.log(density[:-1] + 1e-12))


def votes_on(
    sights: Sequence[Sight],
    pixels: Sequence[ImageBGR],
    changes: Sequence[Floats32],
    followed: Sequence[Followed],
    votes: Sequence[FaceVotes],
    nothing_off: Sequence[Floats32] | None = None,
    pieces: Sequence[NDArray[np.int64]] = (),
) -> Floats:
    """Logarithms (units, 1 + C) of how likely nothing and each colour is by faces in sight.

    `pixels` are those of the rays, `changes` of the light, `followed` tells how it changes upwards;
    `nothing_off` tells how far they are off the bare table where no picture tells how it looks.
    All 0 where a face that can be trusted is in sight, or none. Where it is known which units are
    one piece, one that can be trusted settles the colour of all, and else they vote as one.
    """
    units, many = len(sights[0].state) - 1, len(votes[0].light)
    told = np.zeros((units, 1 + many))
    lattice = sights[0].table.lattice
    above = above_board(lattice)
    trusted = np.zeros(units, dtype=np.bool_)
    for k, (sight, vote) in enumerate(zip(sights, votes, strict=True)):
        gains = gains_of(changes[k])
        light = light_of(pixels[k])
        clipped = clipped_channels(pixels[k]) > 0
        bare = None if vote.table_known or nothing_off is None else nothing_off[k]
        for unit, face, rays in _groups(sight, bare=bare is not None):
            stands = bool(sight.state[unit])
            if stands and not vote.guessed and float(clipped[rays].mean()) < _CLIPPED:
                trusted[unit] = True
                continue
            rise = gains_of(followed[k].rise(face, float(above[unit % lattice.levels])))
            lit = gains * rise / float(np.median(vote.dimming[rays]))
            told[unit, 1:] += vote.likelihoods(face, np.median(light[rays], axis=0), lit)
            if bare is not None and not stands:
                off = np.median(bare[rays], axis=0) / _BARE
                rarity = 0.5 * float((off * off).sum()) + (_UNSEEN if vote.guessed else 0.0)
                told[unit, 0] -= min(rarity, _ELSE)
    told[trusted] = 0.0
    for own in pieces:
        heard = own[told[own].any(axis=1)]
        told[own] = 0.0 if trusted[own].any() or not len(heard) else told[heard].mean(axis=0)
    return told


def _groups(sight: Sight, *, bare: bool) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
    """Unit, face and rays of all faces surely seen; `bare`: of those that a piece would show."""
    table = sight.table
    unit, face = table.rays.unit, table.rays.face
    surely = sight.colour.through[:-1] * sight.part[:-1] > _SURELY
    surely &= (table.rays.zone >= 2) & (table.rays.share > _OF_FACE)
    there = sight.state[unit] > 0
    if bare:
        there |= (unit % table.lattice.levels == 0) & (face == 0)
    entries = np.flatnonzero(surely & there)
    group = unit[entries] * 8 + face[entries]
    order = np.argsort(group, kind="stable")
    rays = table.entry_ray[entries[order]]
    groups, starts, counts = np.unique(group[order], return_index=True, return_counts=True)
    for number, first, count in zip(groups, starts, counts, strict=True):
        if count >= _LEAST_RAYS:
            yield int(number // 8), int(number % 8), rays[first : first + count]
