"""Whether known pieces have the colours that were told: like their own, and like their names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from calibration.colour import CameraColours
from calibration.colour_fit import Sample
from calibration.colour_space import Floats32, of_look
from rules.cells import Cell
from rules.colours import look

_FAR, _NEAR = 0.3, 0.4  # hue from its own colour; to another one, as a part of that
_LEAST_SWAP, _SWAPPED = 0.4, 0.3  # squared distance to the names' looks; what is left if swapped
_GREY = 0.5  # what a difference in brightness counts against one in hue


def odd_pieces(
    samples: Sequence[Sample], letters: Sequence[str]
) -> tuple[tuple[Cell, str, str], ...]:
    """Cell, told letter and the letter it looks like, for pieces unlike others of their colour.

    Most of a piece's faces must say so: a single one may shine.
    """
    odd: dict[tuple[Cell, str], list[str]] = {}
    compared: Counter[tuple[Cell, str]] = Counter()
    for sample in samples:
        near: dict[int, float] = {}
        for other in samples:
            same = other.camera == sample.camera and other.face == sample.face
            if same and other.cell != sample.cell:
                off = float(np.linalg.norm(other.mean[1:] - sample.mean[1:]))
                near[other.letter] = min(off, near.get(other.letter, off))
        own = near.pop(sample.letter, None)
        if own is None or not near:
            continue
        letter, off = min(near.items(), key=lambda pair: pair[1])
        piece = sample.cell, letters[sample.letter]
        compared[piece] += 1
        if own > _FAR and off < _NEAR * own:
            odd.setdefault(piece, []).append(letters[letter])
    return tuple(
        (*piece, Counter(like).most_common(1)[0][0])
        for piece, like in sorted(odd.items())
        if 2 * len(like) > compared[piece]
    )


def swapped_letters(
    colours: Sequence[CameraColours], names: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Pairs of letters that look like each other's names, in every camera that sees both."""
    if not colours:
        return ()
    letters = colours[0].letters
    looks = np.array([_weighted(of_look(look(names[letter]))) for letter in letters])
    found = []
    for i, j in combinations(range(len(letters)), 2):
        seen = [_changed(c, i, j, looks) for c in colours if c.seen[i].any() and c.seen[j].any()]
        if seen and all(seen):
            found.append((letters[i], letters[j]))
    return tuple(found)


def _changed(colours: CameraColours, i: int, j: int, looks: Floats32) -> bool:
    """Whether two letters would be much more like their names if they were swapped."""
    both = colours.seen[i] & colours.seen[j]
    faces = np.flatnonzero(both if both.any() else colours.seen[i] | colours.seen[j])
    # The camera's white balance and exposure move both alike: only their difference counts.
    apart = _weighted((colours.mean[i, faces] - colours.mean[j, faces]).mean(axis=0))
    told = looks[i] - looks[j]
    as_told = float(((apart - told) ** 2).sum())
    return as_told > _LEAST_SWAP and float(((apart + told) ** 2).sum()) < _SWAPPED * as_told


def _weighted(place: Floats32) -> Floats32:
    return np.asarray(place * (_GREY, 1.0, 1.0), dtype=np.float32)
