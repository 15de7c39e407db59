"""From a table folder to its reader: cameras, colours and empty pictures put together."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration import colour_store, store
from calibration.camera import Camera
from calibration.colour_fit import ColourView, fit_colours
from calibration.cv import Image
from calibration.errors import CalibrationError
from rules.cells import Cell
from rules.game import GameSpec
from rules.lattice import Board
from rules.pieces import CUBE, Extent, Placed
from rules.stacks import Stacks
from service.flat_pieces import flat_board
from service.same_board import check_same_board
from service.table import Table
from service.table_folder import read_table
from vision.likelihood import CameraEye
from vision.placing import Kit
from vision.reader import Reader


def measured_board(table: Table, calibration: store.Calibration) -> Board:
    """The board of a table, with what calibration measured beyond what the table says."""
    board = table.scene.board
    found: dict[str, Any] = {
        name: float(calibration.board[name])
        for name in ("frame_height_mm", "frame_width_mm", "recess_mm")
        if getattr(board, name) == "auto" and name in calibration.board
    }
    if calibration.board.get("flat_pieces") and board.lattice.levels == 1:
        board = flat_board(board)
    return replace(board, **found)


def table_eyes(
    folder: Path,
    table: Table,
    calibration: store.Calibration,
    board: Board,
    only: Iterable[str] = (),
) -> dict[str, CameraEye]:
    """The calibrated cameras of a table; where no colours were learned, their names must do."""
    wanted = set(only) or set(calibration.cameras)
    check_same_board(calibration, table, sorted(wanted), folder)
    eyes: dict[str, CameraEye] = {}
    for name in calibration.cameras:
        if name not in wanted:
            continue
        camera = calibration.camera(name)
        empty = colour_store.load_empty(folder, name)
        if empty is not None and empty.shape[1::-1] != camera.size:
            empty = None
        colours = colour_store.colours_of(calibration, name)
        unknown = colours is None or colours.letters != tuple(table.scene.colours)
        guessed = unknown and bool(calibration.cameras[name].doubts)
        if colours is None or unknown:
            view = ColourView(camera, None, empty)
            (colours,) = fit_colours([view], board, table.scene.colours)
        eyes[name] = CameraEye(camera, colours, empty, guessed)
    missing = wanted - set(eyes)
    if missing or not eyes:
        raise CalibrationError(_no_pose(missing, folder))
    return eyes


def empty_views(folder: Path, calibration: store.Calibration) -> dict[str, tuple[Camera, Image]]:
    """Where the calibrated cameras stand, and what they saw of the empty table."""
    found = {}
    for name in calibration.cameras:
        camera, empty = calibration.camera(name), colour_store.load_empty(folder, name)
        if empty is not None and empty.shape[1::-1] == camera.size:
            found[name] = (camera, empty)
    return found


def with_pose(
    pictures: Mapping[str, Image], calibration: store.Calibration, folder: Path
) -> dict[str, Image]:
    """The pictures of cameras whose pose is known; says which are left out, raises without any."""
    known = {name: picture for name, picture in pictures.items() if name in calibration.cameras}
    missing = set(pictures) - set(known)
    if not known:
        raise CalibrationError(_no_pose(missing, folder))
    if missing:
        sys.stderr.write(f"left out: {_no_pose(missing, folder)}\n")
    return known


def _no_pose(missing: Iterable[str], folder: Path) -> str:
    names = sorted(missing)
    which = ", ".join(map(repr, names)) or "this table"
    pictures = " ".join(f"{name}=IMAGE" for name in names) or "CAM=IMAGE"
    return (
        f"no camera pose is known for {which}; "
        f"run `kiebitz calibrate pose {folder} {pictures}` first"
    )


def calibrated_eyes(
    folder: Path, only: Iterable[str] = ()
) -> tuple[dict[str, CameraEye], Board, Table]:
    """The calibrated cameras of a table folder, its measured board, and the table itself."""
    table = read_table(folder)
    calibration = store.read(folder)
    board = measured_board(table, calibration)
    return table_eyes(folder, table, calibration, board, only), board, table


def tell_unlearned(folder: Path, names: Iterable[str]) -> None:
    """Says which of these cameras were calibrated, but have learned no colours."""
    calibration = store.read(folder)
    for name in names:
        known = name in calibration.cameras
        if known and colour_store.colours_of(calibration, name) is None:
            sys.stderr.write(
                f"{name}: no colours were learned, so they are guessed from their names; "
                f"run `kiebitz calibrate colours {folder} {name}=IMAGE --stacks JSON`\n"
            )


def tell_doubtful(folder: Path, names: Iterable[str]) -> None:
    """Says again what calibration doubted, unless colours without doubt have confirmed it."""
    calibration = store.read(folder)
    if colour_store.trusted(calibration):
        return
    for name in names:
        record = calibration.cameras.get(name)
        if record is not None and record.doubts:
            sys.stderr.write(
                f"{name}: its place is doubtful ({'; '.join(record.doubts)}), and no colours were "
                f"learned that would confirm it; run `kiebitz calibrate pose {folder} {name}=IMAGE`"
                " again, then `calibrate colours`\n"
            )
    if doubts := colour_store.doubts_of(calibration):
        sys.stderr.write(
            f"the colours are doubtful: {'; '.join(doubts)}; run `kiebitz calibrate colours "
            f"{folder} CAM=IMAGE --stacks JSON` again\n"
        )


def reader_of(table: Table, board: Board, eyes: Mapping[str, CameraEye]) -> Reader:
    """The reader of a table for these cameras."""
    return Reader(
        board,
        eyes,
        table.spec.kit,
        one_colour_stacks=never_mixes_colours(table.spec),
        heights_apart=keeps_heights_apart(table.spec),
    )


def table_reader(folder: Path, only: Iterable[str] = ()) -> Reader:
    """The reader of a calibrated table, of all its cameras or only some; raises KiebitzError."""
    eyes, board, table = calibrated_eyes(folder, only)
    return reader_of(table, board, eyes)


def never_mixes_colours(spec: GameSpec) -> bool:
    """Whether the rules of a game of cubes call every stack of two colours impossible."""
    letters = list(spec.colours)
    cubes = any(piece.shape == CUBE for piece in spec.kit)
    if not cubes or len(letters) < 2:
        return False
    game = spec.set_up()
    one, two = letters[0] + letters[0], letters[0] + letters[1]
    even, mixed = (game.impossible(Stacks.of({"b2": stack})) for stack in (one, two))
    return {found.rule for found in even} != {found.rule for found in mixed}


def keeps_heights_apart(spec: GameSpec) -> bool:
    """Whether whole pieces are laid, and the rules want none of one height side by side."""
    if not spec.kit or not Kit.is_rigid(spec.kit, spec.board.lattice):
        return False
    extents, letter = spec.kit[0].shape.extents, spec.kit[0].letter
    low, high = (pick(extents, key=lambda extent: extent.height) for pick in (min, max))
    game = spec.set_up()
    even, uneven = (
        {found.rule for found in game.impossible(_side_by_side(low, extent, letter))}
        for extent in (low, high)
    )
    return bool(even - uneven)


def _side_by_side(one: Extent, other: Extent, letter: str) -> Stacks:
    """Two pieces in the corner of a board."""
    first = Placed(Cell(0, 0), 1, one, letter)
    second = Placed(Cell(one.width, 0), 1, other, letter)
    return Stacks({c: letter * p.extent.height for p in (first, second) for c in p.cells()})
