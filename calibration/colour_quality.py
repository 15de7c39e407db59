"""How good learned colours are: what was seen, what was not, and what is too much alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.colour import FACES, CameraColours, nearest_pair
from calibration.colour_fit import ColourView, exposure_change, gather, visible_points
from calibration.colour_space import (
    clipped_channels,
    gains_of,
    light_of,
    log_colours,
    of_light,
    smoothed,
)
from calibration.obstacles import frame_boxes
from rules.cells import Cell
from rules.lattice import Board
from rules.stacks import Stacks

ENOUGH = 3.0  # standard deviations between two colours; less is told
PLENTY = 6.0
_CHANGED = (0.45, 0.14)  # of brightness and hue: a pixel that shows something new
_STANDS = 0.3  # of a stack's pixels that show something new
_CLIPPED, _CLIPPED_SHARE = 2, 0.5  # channels, and part of a colour's pixels
_DARK = -4.2  # logarithm of light; darker colours cannot be told apart


@dataclass(frozen=True, slots=True)
class ColourVerdict:
    """What to think of learned colours, in sentences."""

    nothing_stands: tuple[Cell, ...]  # where no camera sees what was said to stand there
    standing: int  # stacks that are there
    missing: tuple[str, ...]  # letters that no camera saw
    over_exposed: tuple[str, ...]
    in_the_dark: tuple[str, ...]
    nearest: tuple[str, str, float] | None  # among the letters that were seen

    @property
    def hopeless(self) -> bool:
        """Whether this is not the picture of these pieces at all."""
        return not self.standing or len(self.nothing_stands) > self.standing

    @property
    def doubts(self) -> list[str]:
        """Every reason to take another picture."""
        found = []
        if self.nothing_stands:
            cells = " ".join(str(cell) for cell in self.nothing_stands)
            found.append(f"nothing is seen to stand on {cells}")
        if self.over_exposed:
            found.append(f"{' '.join(self.over_exposed)} over-exposed, with less light or exposure")
        if self.in_the_dark:
            found.append(f"{' '.join(self.in_the_dark)} nearly black, with more light")
        if self.missing:
            found.append(f"{' '.join(self.missing)} not seen, only guessed from the names")
        if self.nearest is not None and self.nearest[2] < ENOUGH:
            found.append(f"{self.nearest[0]} and {self.nearest[1]} look too much alike")
        return found

    @property
    def word(self) -> str:
        """The verdict on the nearest two colours."""
        if self.nearest is None:
            return "not known"
        apart = self.nearest[2]
        return "plenty" if apart >= PLENTY else "enough" if apart >= ENOUGH else "too near"


def judge_colours(
    views: Sequence[ColourView],
    colours: Sequence[CameraColours],
    board: Board,
    stacks: Stacks,
) -> ColourVerdict:
    """What was really seen of the known pieces, and how far the seen colours are apart."""
    looked = [_look(view, board, stacks) for view in views if view.picture is not None]
    cells = sorted({cell for look in looked for cell in look.changed})
    gone = tuple(
        cell for cell in cells if max(look.changed.get(cell, 0.0) for look in looked) < _STANDS
    )
    letters = colours[0].letters if colours else ()
    seen = [letter for k, letter in enumerate(letters) if any(c.seen[k].any() for c in colours)]
    shown = {letter for look in looked for letter in look.clipped}
    clipped = [x for x in shown if min(_of(looked, "clipped", x)) > _CLIPPED_SHARE]
    dark = [x for x in shown if max(_of(looked, "brightness", x)) < _DARK]
    return ColourVerdict(
        nothing_stands=gone,
        standing=len(cells) - len(gone),
        missing=tuple(letter for letter in letters if letter not in seen),
        over_exposed=tuple(sorted(clipped)),
        in_the_dark=tuple(sorted(dark)),
        nearest=nearest_pair(colours, only=seen),
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """What one picture shows of the known pieces."""

    changed: Mapping[Cell, float]  # part of a stack's pixels that differ from the empty table
    clipped: Mapping[str, float]  # part of a colour's pixels that are clipped
    brightness: Mapping[str, float]  # median, of each colour


def _of(looked: Sequence[_Look], what: str, letter: str) -> list[float]:
    return [getattr(look, what)[letter] for look in looked if letter in getattr(look, what)]


def _look(view: ColourView, board: Board, stacks: Stacks) -> _Look:
    if view.picture is None:
        return _Look({}, {}, {})
    now = smoothed(view.picture)
    before = None
    gains = np.ones(3, dtype=np.float32)
    if view.empty is not None and view.empty.shape == view.picture.shape:
        before = smoothed(view.empty)
        gains = gains_of(exposure_change(view.picture, view.empty))
    boxes = np.array([board.lattice.box_mm(unit) for unit, _ in stacks.units()])
    boxes = np.concatenate([boxes, frame_boxes(board)])
    changes: dict[Cell, list[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]] = {}
    pixels: dict[str, list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]] = {}
    for unit, letter in stacks.units():
        for face in range(len(FACES)):
            points = visible_points(view.camera, board.lattice, unit, face, boxes)
            if len(points) < 12:
                continue
            px = view.camera.project(points)
            new, inside = gather(now, px)
            pixels.setdefault(letter, []).append(new[inside])
            if before is None:
                changes.setdefault(unit.cell, []).append(np.ones(1, dtype=np.bool_))
                continue
            old, _ = gather(before, px)
            off = np.abs(of_light(light_of(new) / gains) - log_colours(old))[inside]
            changed = (off[:, 0] > _CHANGED[0]) | (off[:, 1:].max(axis=1) > _CHANGED[1])
            changes.setdefault(unit.cell, []).append(changed)
    every = {letter: np.concatenate(parts) for letter, parts in pixels.items()}
    return _Look(
        {cell: float(np.concatenate(parts).mean()) for cell, parts in changes.items()},
        {x: float((clipped_channels(p) >= _CLIPPED).mean()) for x, p in every.items()},
        {x: float(np.median(log_colours(p)[:, 0])) for x, p in every.items()},
    )
