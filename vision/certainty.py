"""How sure a position is: probabilities of the stacks on each cell, from their scores.

Scores of rays are not independent, so a difference of one is worth less than one unit of
log-odds; how much less was fitted on pictures with known positions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.evidence import ColumnGains
from vision.position import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class CertaintySettings:
    """The curve from differences of score to probabilities."""

    sharpness: float = 0.5  # log-odds for a difference of one
    least_doubt: float = 2e-5  # no unit is surer than this
    seen_weight: float = 1.0  # a unit in sight of less (in full rays) counts as unseen
    hidden_occupied: float = 0.15  # how often something stands where nobody sees it


@dataclass(frozen=True, slots=True, eq=False)
class CellDoubt:
    """One column: its candidate stacks (colours from below) with probabilities, best first.

    `unseen` are the levels (from 0) of the best stack that no camera sees, `hidden` says that
    nothing of the column is seen at all.
    """

    stacks: tuple[tuple[int, ...], ...]
    chances: tuple[float, ...]
    unseen: frozenset[int]
    hidden: bool


def doubts(position: Position, gains: ColumnGains, settings: CertaintySettings) -> list[CellDoubt]:
    """The doubt about every column, all others taken as they are read."""
    levels = position.levels
    in_sight = position.sight().reshape(-1, levels)
    full = position.state[:-1].reshape(-1, levels)
    return [
        _doubt(column, full[column], in_sight[column], gains, settings)
        for column in range(len(full))
    ]


def _doubt(
    column: int,
    stack: NDArray[np.int8],
    in_sight: NDArray[np.float64],
    gains: ColumnGains,
    settings: CertaintySettings,
) -> CellDoubt:
    high = int((stack > 0).sum())
    levels = len(stack)
    unseen = frozenset(int(k) for k in np.flatnonzero(in_sight[:high] < settings.seen_weight))
    hidden = bool(high == 0 and (in_sight < settings.seen_weight).all())
    worth = settings.sharpness * gains.by_height[column]
    best = tuple(int(c) for c in stack[:high])
    if hidden:
        return CellDoubt((best,), (1.0,), unseen, hidden)
    # Places above the stack that nobody sees may be filled without anybody noticing.
    for k in range(high, levels):
        if in_sight[k] >= settings.seen_weight:
            break
        worth[k + 1] += np.log(settings.hidden_occupied)
    chance = np.exp(worth - worth.max())
    chance /= chance.sum()
    choices: dict[tuple[int, ...], float] = {}
    for other in range(levels + 1):
        if other == high or chance[other] < 1e-4:
            continue
        colours = tuple(int(c) + 1 for c in gains.best_colour[column, :other, other - 1])
        choices[_masked(colours, in_sight, settings)] = float(chance[other])
    own = float(chance[high])
    for k in range(high):
        if k in unseen:
            continue
        by_colour = settings.sharpness * gains.gains[:, column, k, high - 1]
        share = np.exp(by_colour - by_colour.max())
        share /= share.sum()
        share = (1 - settings.least_doubt) * share + settings.least_doubt / len(share)
        for c in range(len(share)):
            if c + 1 != stack[k] and share[c] > 1e-4:
                changed = list(best)
                changed[k] = c + 1
                key = _masked(tuple(changed), in_sight, settings)
                choices[key] = choices.get(key, 0.0) + own * float(share[c])
        own *= float(share[stack[k] - 1])
    own *= 1 - settings.least_doubt
    ranked = sorted(choices.items(), key=lambda item: -item[1])[:4]
    best = _masked(best, in_sight, settings)
    return CellDoubt(
        (best, *(s for s, _ in ranked if s != best)),
        (own, *(p for s, p in ranked if s != best)),
        unseen,
        hidden,
    )


def _masked(
    stack: tuple[int, ...], in_sight: NDArray[np.float64], settings: CertaintySettings
) -> tuple[int, ...]:
    """The stack with -1 for units of which nobody sees the colour."""
    return tuple(c if in_sight[k] >= settings.seen_weight else -1 for k, c in enumerate(stack))
