"""What people say of flat boards, where it can be told that they did not mean it.

On the side of a puzzle cube, or on a board that is never cleared, they give the same picture twice:
as that of the empty table, and as that of the colours. Taken at their word, whatever lies there
would be the board, and nothing would ever be read on it. And of stickers and discs they say that
they are as high as wide, as cubes are; taken at their word, pieces would lean out of their cells.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from calibration.camera import Camera
from calibration.colour import CameraColours
from calibration.colour_fit import ColourView, fit_colours
from calibration.colour_quality import ColourVerdict, judge_colours
from calibration.cv import Image
from rules.lattice import Board
from rules.stacks import Stacks
from vision.likelihood import CameraEye
from vision.reader import Reader
from vision.reading import Reading

_FLAT_MM = 1.0  # as high as discs and stickers count
_MOST = 0.9  # of the cells
_SOME = 0.1  # of the cells that are filled
_BETTER = 0.1  # of the told cells: so many more must be read as told if pieces are flat


def flat_board(board: Board) -> Board:
    """The same board with pieces of hardly any height."""
    lattice = board.lattice
    return replace(board, lattice=replace(lattice, unit_mm=(*lattice.unit_mm[:2], _FLAT_MM)))


def lie_flat(
    views: Mapping[str, ColourView], board: Board, names: Mapping[str, str], told: Stacks
) -> bool:
    """Whether the pieces of a board with one level are flat, whatever was said of their height."""
    if board.lattice.levels > 1 or board.lattice.unit_mm[2] <= _FLAT_MM:
        return False
    alone = {name: ColourView(view.camera, view.picture, None) for name, view in views.items()}
    return _as_told(alone, flat_board(board), names, told) > (
        _as_told(alone, board, names, told) + _BETTER * len(told)
    )


def _as_told(
    views: Mapping[str, ColourView], board: Board, names: Mapping[str, str], told: Stacks
) -> float:
    """How many of the told pieces are read in their own colour picture, each by its certainty."""
    fitted = fit_colours(list(views.values()), board, names, told)
    if _alike(judge_colours(list(views.values()), fitted, board, told, names)):
        return 0.0
    cameras = {name: view.camera for name, view in views.items()}
    images = {name: view.picture for name, view in views.items() if view.picture is not None}
    reading = _reading(cameras, dict(zip(views, fitted, strict=True)), images, board)
    seen = set(told) - reading.hidden
    sure = sum(reading.stacks.get(cell) == told[cell] for cell in seen - reading.unsure.keys())
    return sure + sum(
        reading.unsure[cell].get(told[cell], 0.0) for cell in seen & reading.unsure.keys()
    )


def _alike(verdict: ColourVerdict) -> bool:
    """Whether the colours told are not those of the places where they were told."""
    return verdict.word in ("too near", "not known") or bool(verdict.odd or verdict.swapped)


def not_empty(
    views: Mapping[str, ColourView], board: Board, names: Mapping[str, str], told: Stacks
) -> list[str]:
    """The cameras whose picture of the empty table shows pieces, by what the told ones look like.

    Only if it shows the very pieces that were told, or if they fill the whole board and pieces of
    several colours lie everywhere on it in that picture, too.
    """
    if board.lattice.levels > 1 or len(set(told.values())) < 2:
        return []  # what has a height is told from the board by it; one colour may be the board's
    full = all(cell in told for cell in board.lattice.cells())
    found = []
    for name, view in views.items():
        if view.empty is None or view.picture is None:
            continue
        alone = [ColourView(view.camera, view.picture, None)]
        fitted = fit_colours(alone, board, names, told)
        verdict = judge_colours(alone, fitted, board, told, names)
        if _alike(verdict):
            continue  # the empty board twice, with pieces that are not there
        there = _reading({name: view.camera}, {name: fitted[0]}, {name: view.empty}, board).stacks
        as_told = sum(there.get(cell) == told[cell] for cell in told)
        everywhere = full and _motley(there) and len(there) >= _MOST * len(told)
        if as_told >= _MOST * len(told) or everywhere:
            found.append(name)
    return found


def is_full(image: Image, camera: Camera, colours: CameraColours, board: Board) -> bool:
    """Whether hardly a cell of a flat board is surely empty, by colours learned before."""
    lattice = board.lattice
    if lattice.levels > 1:
        return False
    reading = _reading({"": camera}, {"": colours}, {"": image}, board)
    filled = {*reading.stacks, *reading.unsure, *reading.hidden}
    pieces = _motley(reading.stacks) or bool(reading.strange)  # colours that nobody has seen yet
    return pieces and len(filled) >= _MOST * lattice.columns * lattice.ranks


def _motley(stacks: Stacks) -> bool:
    """Whether three colours lie there: what is empty looks like one piece or, chequered, two."""
    often = Counter(stacks.values()).most_common(3)
    return len(often) == 3 and often[2][1] >= _SOME * len(stacks)


def _reading(
    cameras: Mapping[str, Camera],
    colours: Mapping[str, CameraColours],
    images: Mapping[str, Image],
    board: Board,
) -> Reading:
    """What is read by colours alone: nobody knows how the empty table looks."""
    eyes = {name: CameraEye(camera, colours[name]) for name, camera in cameras.items()}
    return Reader(board, eyes).read(images)
