"""How good learned colours are: what was seen, what was not, and what is too much alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.colour import FACES, CameraColours, nearest_pair
from calibration.colour_fit import ColourView, gather, known_samples, visible_points
from calibration.colour_space import DARKEST, Floats32, clipped_channels, light_of, smoothed
from calibration.obstacles import frame_boxes
from calibration.told_colours import odd_pieces, swapped_letters
from calibration.told_stacks import ToldCheck, check_told
from rules.cells import Cell
from rules.colours import look
from rules.lattice import Board
from rules.stacks import Stacks

ENOUGH = 3.0  # standard deviations between two colours; less is told
PLENTY = 6.0
_CLIPPED, _CLIPPED_SHARE = 2, 0.5  # channels, and part of a colour's pixels
_DARK = -4.2  # logarithm of light; darker colours cannot be told apart
_DIMMED = 1.75  # below its name's look; less is what a dark colour looks like in good light


@dataclass(frozen=True, slots=True)
class ColourVerdict:
    """What to think of learned colours, in sentences."""

    told: ToldCheck  # where and how high the known pieces stand
    seen: bool  # whether any camera sees a face of them
    odd: tuple[tuple[Cell, str, str], ...]  # pieces unlike others of the same letter
    swapped: tuple[tuple[str, str], ...]  # letters that look like each other's names
    missing: tuple[str, ...]  # letters that no camera saw
    over_exposed: tuple[str, ...]
    in_the_dark: tuple[str, ...]
    nearest: tuple[str, str, float] | None  # among the letters that were seen

    @property
    def hopeless(self) -> bool:
        """Whether this is not the picture of these pieces at all."""
        return not self.seen or 2 * len(self.told.absent) > len(self.told.shares)

    @property
    def doubts(self) -> list[str]:
        """Every reason to take another picture."""
        found = self.told.doubts
        for cell, told, like in self.odd:
            found.append(f"{told} on {cell} looks like the {like} of another cell")
        for one, other in self.swapped:
            found.append(f"{one} and {other} look as if swapped")
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
    names: Mapping[str, str],
) -> ColourVerdict:
    """What was really seen of the known pieces, and how far the seen colours are apart."""
    looked = [_look(view, board, stacks) for view in views if view.picture is not None]
    letters = colours[0].letters if colours else ()
    seen = [letter for k, letter in enumerate(letters) if any(c.seen[k].any() for c in colours)]
    shown = {letter for look in looked for letter in look.clipped}
    clipped = [x for x in shown if min(_of(looked, "clipped", x)) > _CLIPPED_SHARE]
    dark = [x for x in shown if max(_of(looked, "brightness", x)) < _darkest(names[x])]
    samples = known_samples(views, board, stacks, letters, [c.light for c in colours])
    return ColourVerdict(
        told=check_told(views, board, stacks),
        seen=bool(shown),
        odd=odd_pieces(samples, letters),
        swapped=swapped_letters(colours, names),
        missing=tuple(letter for letter in letters if letter not in seen),
        over_exposed=tuple(sorted(clipped)),
        in_the_dark=tuple(sorted(dark)),
        nearest=nearest_pair(colours, only=seen),
    )


def _darkest(name: str) -> float:
    """How dark a colour of this name may look before the light is to blame."""
    rgb = np.array([look(name)], dtype=np.uint8)
    return min(_DARK, float(_brightness(light_of(rgb))[0]) - _DIMMED)


def _brightness(light: Floats32) -> Floats32:
    """The logarithm of all channels' light: a pure blue is not black although it has no red."""
    return np.asarray(np.log(light.mean(axis=-1) + DARKEST))


@dataclass(frozen=True, slots=True)
class _Look:
    """What one picture shows of the known pieces."""

    clipped: Mapping[str, float]  # part of a colour's pixels that are clipped
    brightness: Mapping[str, float]  # of each colour's lightest face; others may lie in shade


def _of(looked: Sequence[_Look], what: str, letter: str) -> list[float]:
    return [getattr(look, what)[letter] for look in looked if letter in getattr(look, what)]


def _look(view: ColourView, board: Board, stacks: Stacks) -> _Look:
    if view.picture is None:
        return _Look({}, {})
    now = smoothed(view.picture)
    boxes = np.array([board.lattice.box_mm(unit) for unit, _ in stacks.units()])
    boxes = np.concatenate([boxes, frame_boxes(board)])
    pixels: dict[str, list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]] = {}
    for unit, letter in stacks.units():
        for face in range(len(FACES)):
            points = visible_points(view.camera, board.lattice, unit, face, boxes)
            if len(points) >= 12:
                new, inside = gather(now, view.camera.project(points))
                if inside.any():
                    pixels.setdefault(letter, []).append(new[inside])
    every = {letter: np.concatenate(parts) for letter, parts in pixels.items()}
    return _Look(
        {x: float((clipped_channels(p) >= _CLIPPED).mean()) for x, p in every.items()},
        {x: max(float(np.median(_brightness(light_of(p)))) for p in pixels[x]) for x in pixels},
    )
