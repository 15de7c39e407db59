"""Learning the colours from one picture with known pieces, for all cameras together.

The place of a face in colour space is taken as a sum: the colour's own place, the camera's, and
that of the light on faces of this direction. Few pieces fix the sum, so that faces which were not
seen are predicted; those that were seen are moved towards what was seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour import FACES, CameraColours, fit_light, light_terms
from calibration.colour_space import (
    Floats32,
    beyond_clipped,
    clipped_channels,
    gains_of,
    light_mode,
    light_of,
    log_colours,
    of_light,
    of_look,
    only_clipped,
    smoothed,
    where_unclipped,
)
from calibration.cv import Image
from calibration.obstacles import frame_boxes
from rules.cells import Cell, Unit
from rules.colours import look
from rules.lattice import Board, Lattice
from rules.stacks import Stacks

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColourView:
    """One camera with its pictures: the known pieces (if any) and the empty table (if any)."""

    camera: Camera
    picture: Image | None
    empty: Image | None


@dataclass(frozen=True, slots=True)
class Sample:
    """One face of a known piece as one camera sees it, free of the local light."""

    camera: int
    cell: Cell
    letter: int
    face: int
    mean: Floats32
    spread: tuple[float, float]
    pixels: int
    clipped: float = 0.0  # the part of its pixels that say only "at least"
    shown: Floats32 | None = None  # as the picture shows it; None where that is `mean`


# How far each part of the sum may lie from its prior: brightness, and each hue axis.
_OWN = (0.45, 0.40)  # a table's blue is not the typical blue
_CAMERA = (0.90, 0.25)  # exposure and white balance
_FACE = (0.40, 0.07)  # light on a side against light on the top
_OWN_FACE = (0.15, 0.05)  # the same face direction, another camera (gloss)
_START_FACE = (0.0, -0.35, -0.35, -0.35, -0.35)
_SURE_HUE = 0.2  # a hue less sure than this is not predicted
_CLIPPED = (0.3, 0.5)  # what a clipped face is off its true place
# Spread of one colour on one face: grain, shadow edges, tint thrown by neighbours.
THINNEST_PX = 2.5  # faces seen under a flatter angle are left out
_LEAST_SPREAD = (0.16, 0.055)
_GUESSED_SPREAD = (0.28, 0.085)


def fit_colours(
    views: Sequence[ColourView],
    board: Board,
    names: Mapping[str, str],
    stacks: Stacks | None = None,
) -> tuple[CameraColours, ...]:
    """The colours for each camera; `names` maps every letter of the kit to a colour's name.

    Without known pieces the names alone tell, with wider doubt.
    """
    letters = tuple(names)
    lights = [_board_light(view, board) for view in views]
    samples = known_samples(views, board, stacks or Stacks(), letters, lights)
    looks = np.array([of_look(look(names[letter])) for letter in letters])
    brightness = [_brightness(view) for view in views]
    means, doubt = _solve(samples, looks, brightness)
    # What faces would look like if no camera clipped them: those that it clips tell little of it.
    unclipped, unclear = _solve(samples, looks, brightness, clipped=_CLIPPED)
    found: list[CameraColours] = []
    for number in range(len(views)):
        own = [s for s in samples if s.camera == number]
        mean, spread, seen = _settle(own, means[number], doubt[number])
        clip = _clip(own, mean, unclipped[number], unclear[number], looks)
        found.append(CameraColours(letters, mean, spread, seen, lights[number], clip))
    return tuple(found)


def known_samples(
    views: Sequence[ColourView],
    board: Board,
    stacks: Stacks,
    letters: Sequence[str],
    lights: Sequence[Floats32],
) -> list[Sample]:
    """The faces of known pieces that any camera sees; `lights` as in `CameraColours`."""
    samples: list[Sample] = []
    for number, view in enumerate(views):
        if view.picture is not None and stacks:
            light = lights[number]
            samples += _face_samples(number, view, view.picture, board, light, stacks, letters)
    return samples


def board_points(board: Board, step_mm: float) -> Floats:
    """A grid of points (N, 3) over the cells of the empty board."""
    width, depth, _ = board.lattice.size_mm
    x, y = np.meshgrid(
        np.arange(step_mm / 2, width, step_mm), np.arange(step_mm / 2, depth, step_mm)
    )
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)


def gather(image: Image, px: Floats) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The pixels nearest to points (N, 2), and which of the points lie in the picture."""
    h, w = image.shape[:2]
    safe = np.nan_to_num(px, nan=-9.0).round().astype(int)
    inside = ((safe >= 1) & (safe < (w - 1, h - 1))).all(axis=1)
    safe = safe.clip((0, 0), (w - 1, h - 1))
    return image[safe[:, 1], safe[:, 0]], np.asarray(inside)


def _brightness(view: ColourView) -> float:
    """Brightness of the light parts of the whole picture: a hint at the exposure."""
    image = view.empty if view.empty is not None else view.picture
    if image is None:
        return 0.0
    return float(np.percentile(log_colours(image[::16, ::16]).reshape(-1, 3)[:, 0], 80))


def _board_light(view: ColourView, board: Board) -> Floats32:
    if view.empty is None:
        return np.zeros(6, dtype=np.float32)
    points = board_points(board, max(2.0, max(board.lattice.size_mm[:2]) / 60))
    colours, inside = gather(smoothed(view.empty, 5), view.camera.project(points))
    values = log_colours(colours)[:, 0]
    return fit_light(points[inside], values[inside], board.lattice.size_mm)


def exposure_change(picture: Image, empty: Image) -> Floats32:
    """The light's common change from the picture of the empty table to this one."""
    step = max(4, picture.shape[1] // 120)
    a, b = smoothed(picture)[::step, ::step], smoothed(empty)[::step, ::step]
    good = (clipped_channels(a) == 0) & (clipped_channels(b) == 0)
    good &= (a.max(axis=2) > 20) & (b.max(axis=2) > 20)
    return light_mode(np.asarray((log_colours(a) - log_colours(b))[good]))


def _face_samples(
    number: int,
    view: ColourView,
    picture: Image,
    board: Board,
    light: Floats32,
    stacks: Stacks,
    letters: Sequence[str],
) -> list[Sample]:
    smooth = smoothed(picture)
    change = np.zeros(3, dtype=np.float32)
    if view.empty is not None and view.empty.shape == picture.shape:
        change = exposure_change(picture, view.empty)
    units = [(unit, letter) for unit, letter in stacks.units() if letter in letters]
    boxes = np.array([board.lattice.box_mm(unit) for unit, _ in stacks.units()])
    boxes = np.concatenate([boxes, frame_boxes(board)])
    found: list[Sample] = []
    for unit, letter in units:
        for face in range(len(FACES)):
            points = visible_points(view.camera, board.lattice, unit, face, boxes)
            if len(points) < 12:
                continue
            pixels, inside = gather(smooth, view.camera.project(points))
            if inside.sum() < 12:
                continue
            there = np.array([[*board.lattice.centre_mm(unit.cell), 0.0]])
            dim = float((light_terms(there, board.lattice.size_mm) @ light)[0])
            colours = of_light(light_of(pixels[inside]) / gains_of(change) * np.exp(-dim))
            mean = np.median(colours, axis=0)
            off = np.abs(colours - mean)
            spread = (1.48 * float(np.median(off[:, 0])), 1.05 * float(np.median(off[:, 1:])))
            # A sliver of a face is blurred into what lies beside it.
            thick = _thickness(view.camera.project(points))
            worth = int(inside.sum() / (1 + (8.0 / max(thick, 1.0)) ** 2)) + 1
            letter_number = letters.index(letter)
            clipped = float((clipped_channels(pixels[inside]) > 0).mean())
            shown = np.median(of_light(light_of(pixels[inside])), axis=0)
            found.append(
                Sample(number, unit.cell, letter_number, face, mean, spread, worth, clipped, shown)
            )
    return found


def visible_points(
    camera: Camera, lattice: Lattice, unit: Unit, face: int, boxes: Floats
) -> Floats:
    """Points well inside one face of a unit that the camera sees past all the boxes (B, 2, 3)."""
    low, high = (np.array(v) for v in lattice.box_mm(unit))
    axis, side = (2, 1) if face == 0 else ((face - 1) // 2, (face - 1) % 2)
    eye = camera.position_mm
    if (eye[axis] - (high if side else low)[axis]) * (1 if side else -1) <= 1.0:
        return np.zeros((0, 3))
    inner = np.linspace(0.2, 0.8, 12)
    a, b = (i for i in range(3) if i != axis)
    u, v = np.meshgrid(inner, inner)
    points = np.empty((u.size, 3))
    points[:, a] = low[a] + u.ravel() * (high - low)[a]
    points[:, b] = low[b] + v.ravel() * (high - low)[b]
    points[:, axis] = (high if side else low)[axis]
    toward = points - eye
    slow = np.where(np.abs(toward) < 1e-9, 1e-9, toward)
    # Boxes grown by 1.5 mm: pieces stand a little off, and points near an edge would deceive.
    one = (boxes[None, :, 0] - 1.5 - eye) / slow[:, None]
    two = (boxes[None, :, 1] + 1.5 - eye) / slow[:, None]
    enter, leave = np.minimum(one, two).max(axis=2), np.maximum(one, two).min(axis=2)
    own = (boxes[:, 0] == low).all(axis=1)
    hidden = ((enter < leave) & (enter < 0.999) & (leave > 0) & ~own[None]).any(axis=1)
    pixel = camera.project(points)
    if _thickness(pixel) < THINNEST_PX:
        return np.zeros((0, 3))
    return np.asarray(points[~hidden & np.isfinite(pixel).all(axis=1)])


def _thickness(px: Floats) -> float:
    """How many pixels a patch of points is thick: its area over its longest side."""
    if not np.isfinite(px).all():
        return 0.0
    (_, (wide, tall), _) = cv2.minAreaRect(px.astype(np.float32))
    return float(min(wide, tall))


def _solve(
    samples: Sequence[Sample],
    looks: Floats32,
    brightness: Sequence[float],
    clipped: tuple[float, float] = (0.0, 0.0),
) -> tuple[Floats, Floats]:
    """Mean (V, C, F, 3) and doubt (V, C, F, 2) of the sum, from the samples and the priors.

    `clipped` is how far clipped faces are off, in brightness and hue.
    """
    views, many, faces = len(brightness), len(looks), len(FACES)
    own = np.arange(many)
    camera = many + np.arange(views)
    face = many + views + np.arange(faces)
    own_face = many + views + faces + np.arange(views * faces).reshape(views, faces)
    size = many + views + faces + views * faces
    rows = np.zeros((views, many, faces, size))
    for v in range(views):
        for c in range(many):
            for f in range(faces):
                rows[v, c, f, [own[c], camera[v], face[f], own_face[v, f]]] = 1.0
    mean = np.zeros((views, many, faces, 3))
    doubt = np.zeros((views, many, faces, 2))
    for axis in range(3):
        kind = 0 if axis == 0 else 1
        prior = np.zeros(size)
        deviation = np.empty(size)
        prior[own], deviation[own] = looks[:, axis], _OWN[kind]
        deviation[camera] = _CAMERA[kind]
        deviation[face], deviation[own_face.ravel()] = _FACE[kind], _OWN_FACE[kind]
        if axis == 0:
            prior[face] = _START_FACE
            prior[camera] = [0.5 * (b + 1.5) for b in brightness]
        deviation[face[0]] = 1e-3  # the top is the reference
        hold = np.diag(1.0 / deviation**2)
        goal = hold @ prior
        noise = 0.12 if axis == 0 else 0.05
        for s in samples:
            row = rows[s.camera, s.letter, s.face]
            sure = noise**2 * (1 + 10.0 / s.pixels) + (clipped[kind] * s.clipped) ** 2
            hold += np.outer(row, row) / sure
            goal += row * float(s.mean[axis]) / sure
        spread = np.linalg.inv(hold)
        answer = spread @ goal
        mean[..., axis] = rows @ answer
        variance = np.einsum("vcfi,ij,vcfj->vcf", rows, spread, rows)
        doubt[..., kind] = np.maximum(doubt[..., kind], np.sqrt(np.maximum(variance, 0)))
    return mean, doubt


def _settle(
    samples: Sequence[Sample], predicted: Floats, doubt: Floats
) -> tuple[Floats32, Floats32, NDArray[np.bool_]]:
    """One camera's means, spreads and what was seen: measured where seen, predicted elsewhere."""
    many = len(predicted)
    mean = predicted.copy()
    spread = np.hypot(np.array(_GUESSED_SPREAD), doubt)
    seen = np.zeros((many, len(FACES)), dtype=bool)
    for c in range(many):
        for f in range(len(FACES)):
            here = [s for s in samples if s.letter == c and s.face == f]
            if not here:
                continue
            weight = np.array([min(s.pixels, 60) for s in here], dtype=float)
            values = np.array([s.mean for s in here])
            average = weight @ values / weight.sum()
            trust = weight.sum() / (weight.sum() + 15.0)
            mean[c, f] += trust * (average - mean[c, f])
            within = np.array([s.spread for s in here]).max(axis=0)
            between = np.array([np.ptp(values[:, 0]) / 2, np.ptp(values[:, 1:], axis=0).max() / 2])
            spread[c, f] = np.hypot(np.maximum(within, _LEAST_SPREAD), 0.7 * between)
            seen[c, f] = True
    return mean.astype(np.float32), spread.astype(np.float32), seen


def _clip(
    samples: Sequence[Sample],
    mean: Floats32,
    predicted: Floats,
    doubt: Floats,
    looks: Floats,
) -> Floats32:
    """What leads from the look of clipped faces (C, F, 3) to their true places, 0 elsewhere.

    Where one channel is clipped, the others are as they look. Where more are, faces have in less
    light the hue that is predicted from faces that are not clipped.
    """
    clip = np.zeros_like(mean)
    for c in range(len(mean)):
        for f in range(len(FACES)):
            here = [s for s in samples if s.letter == c and s.face == f]
            many = sum(s.pixels for s in here)
            clipped = sum(s.pixels * s.clipped for s in here) > 0.3 * max(many, 1)
            if not clipped:
                continue
            worth = [s.pixels for s in here]
            shown = np.average([s.mean for s in here], axis=0, weights=worth)
            as_seen = [s.mean if s.shown is None else s.shown for s in here]
            channel = only_clipped(np.average(as_seen, axis=0, weights=worth))
            if channel is not None:
                others = [s.mean for s in samples if s.letter == c and not s.clipped]
                true = shown + beyond_clipped(shown, channel, [looks[c], *others])
                clip[c, f] = true - mean[c, f]
            elif doubt[c, f, 1] < _SURE_HUE:
                hue = predicted[c, f, 1:].astype(np.float32)
                clip[c, f] = where_unclipped(mean[c, f], hue) - mean[c, f]
    return clip
