"""`kiebitz table measure`: counts the cells of a board, and measures them by a piece."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer

from calibration import store
from calibration.cell_count import CellCount, count_cells
from calibration.cv import Image, check_place, write_image
from calibration.errors import NotFound
from calibration.grid_pose import Sight, board_corners
from calibration.piece_size import PieceSize, measure_piece
from calibration.pose import lens_for
from calibration.rectify import lab_of
from rules.errors import RulesError, SetupError
from rules.lattice import Board, Lattice
from service.camera_pictures import camera_pictures, showing
from service.table import Table
from service.table_folder import FILE_NAME, read_table
from service.table_reader import TableError, read_table_text
from service.toml_edit import with_values

_APART = 0.08  # of the piece's size: two cameras that differ by more contradict each other
_SAME = 0.025  # of the pitch: nearer to what table.toml says is the same


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one camera shows of board and piece."""

    count: CellCount | None
    piece: PieceSize | None


@dataclass(frozen=True, slots=True)
class Pitch:
    """The pitch, and within what it lies."""

    mm: float
    error_mm: float


def measure(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    pictures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAM=IMAGE...",
            help="The board with one piece on a cell; CAM alone takes a picture.",
        ),
    ],
    show: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Draw what was found into a picture.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write it into table.toml, after asking.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
) -> None:
    """Count the cells of your board, and measure them by one piece that stands on a cell."""
    table = read_table(folder)
    _check_grid(table)
    lenses = store.read(folder).lenses
    check_place(show)
    images = showing(camera_pictures(pictures, table.scene.cameras, folder))
    looks: dict[str, Look] = {}
    for name, image in images.items():
        size = (image.shape[1], image.shape[0])
        lab = lab_of(image)
        sight = Sight(lab, *lens_for(size, lenses.get(name)), table.scene.cameras[name].clock)
        count = count_cells(sight, table.scene.board)
        piece = measure_piece(lab, count.camera, count.board) if count else None
        looks[name] = Look(count, piece)
        for sentence in _told(looks[name]):
            print(f"{name}: {sentence}")
    if show is not None:
        _show(show, images, looks)
    board = _measured(table, looks)
    changes = _changes(table.scene.board, board)
    if not changes:
        if any(look.piece is not None for look in looks.values()):
            print(f"{FILE_NAME} says the same; nothing to change")
        else:
            print(f"nothing to change in {FILE_NAME} by what was seen; no pitch was measured")
        return
    print(f"change in {folder / FILE_NAME}, under [board]:")
    for key, value in changes.items():
        print(f"{key} = {value:g}")
    if write:
        _write(folder, table, changes, ask=not yes)
    else:
        sys.stderr.write("add --write to have it written there\n")


def _check_grid(table: Table) -> None:
    board = table.scene.board
    if min(board.lattice.columns, board.lattice.ranks) == 1 or board.frame_width_mm is not None:
        raise SetupError(
            f"the board of {table.spec.title} has no grid of cells to count; measure it with a "
            f"ruler and write pitch_mm and unit_mm into {FILE_NAME}"
        )


def _told(look: Look) -> list[str]:
    """What one camera shows, in words."""
    count, piece = look.count, look.piece
    if count is None:
        return ["cannot tell: no grid of cells is seen"]
    columns, ranks = count.counts
    seen = f"{100 * count.fit.seen:.0f} % of their borders are seen"
    if count.sure:
        words = [f"{columns} x {ranks} cells, sure: {seen}, and none beyond the outermost"]
    else:
        words = [f"cannot tell, perhaps {columns} x {ranks} cells: {'; '.join(count.doubts)}"]
    if piece is None:
        words.append("no piece is seen on a cell, so the pitch is not measured")
    else:
        text = f"the piece on {piece.cell} is {piece.share:.2f} of a cell wide, give or take "
        words.append("; ".join([f"{text}{piece.error:.2f}", *piece.doubts]))
    return words


def _measured(table: Table, looks: Mapping[str, Look]) -> Board:
    """The board as all cameras show it; raises NotFound where that cannot be told."""
    sure = [look.count for look in looks.values() if look.count is not None and look.count.sure]
    counts = {count.counts for count in sure}
    if len(counts) > 1:
        different = " and ".join(f"{a} x {b}" for a, b in sorted(counts))
        raise NotFound(f"the cameras count differently ({different}); {_ADVICE}")
    if not counts:
        raise NotFound(f"the cells cannot be counted for certain; {_ADVICE}")
    columns, ranks = counts.pop()
    old = table.scene.board
    pitch = _pitch([look.piece for look in looks.values()], old.lattice)
    mm = old.lattice.pitch_mm
    if pitch is not None:
        near, far = pitch.mm - pitch.error_mm, pitch.mm + pitch.error_mm
        print(
            f"from cell to cell {pitch.mm:.1f} mm ({near:.1f} to {far:.1f}), if the piece is "
            f"{old.lattice.unit_mm[0]:g} mm wide as {FILE_NAME} says"
        )
        if abs(pitch.mm - mm) > max(pitch.error_mm, _SAME * mm):
            mm = round(pitch.mm, 1)
    edge = max(old.lattice.unit_mm[:2])
    lattice = Lattice(columns, ranks, old.lattice.levels, max(mm, edge), old.lattice.unit_mm)
    board = replace(old, lattice=lattice)
    try:
        table.spec.set_up(replace(table.setup(), board=board))
    except RulesError as error:
        raise NotFound(f"{columns} x {ranks} cells are counted, but {error}; {_ADVICE}") from error
    return board


_ADVICE = (
    "show the whole board with some table around it, evenly lit, with one piece on it, "
    "or count yourself and edit table.toml"
)


def _pitch(pieces: list[PieceSize | None], lattice: Lattice) -> Pitch | None:
    """The pitch by all cameras that see a piece; raises NotFound where they contradict."""
    found = [piece for piece in pieces if piece is not None]
    seen = [piece for piece in found if not piece.doubts]
    if not seen:
        return None
    shares = np.array([piece.share for piece in seen])
    errors = np.array([piece.error for piece in seen])
    every = np.array([piece.share for piece in found])  # a doubtful one contradicts, too
    if float(np.ptp(every)) > _APART * float(every.mean()):
        sys.stderr.write(
            "the cameras see the piece in different sizes, so the pitch is not measured; "
            "let one cube stand alone on the board\n"
        )
        return None
    weight = 1 / errors**2
    share = float(weight @ shares / weight.sum())
    error = float(max(np.sqrt(1 / weight.sum()), np.ptp(shares) / 2))
    mm = lattice.unit_mm[0] / share
    return Pitch(mm, mm * error / share)


def _changes(old: Board, new: Board) -> dict[str, float]:
    """What must be changed in table.toml."""
    values = {
        "columns": (old.lattice.columns, new.lattice.columns),
        "ranks": (old.lattice.ranks, new.lattice.ranks),
        "pitch_mm": (old.lattice.pitch_mm, new.lattice.pitch_mm),
    }
    return {key: now for key, (before, now) in values.items() if before != now}


def _write(folder: Path, table: Table, changes: Mapping[str, float], *, ask: bool) -> None:
    path = folder / FILE_NAME
    text = with_values(path.read_text(encoding="utf-8-sig"), "board", changes)
    read_table_text(text, str(path))
    if ask and not typer.confirm(f"write this into {path}?", err=True):
        raise typer.Exit(1)
    waiting = path.with_name(f".{FILE_NAME}.measured")
    try:
        waiting.write_text(text, encoding="utf-8")
        waiting.replace(path)
    except OSError as error:
        raise TableError(f"cannot write {str(path)!r}: {error.strerror}") from error
    print(f"written to {path}")
    cards = f" print the cards of `kiebitz mat {folder}` again," if table.scene.markers else ""
    sys.stderr.write(f"the board has changed:{cards} calibrate with `kiebitz calibrate pose`\n")


def _show(path: Path, images: Mapping[str, Image], looks: Mapping[str, Look]) -> None:
    """The pictures with lattice and piece drawn into them, side by side."""
    drawn = [_drawn(image, looks[name]) for name, image in images.items()]
    height = min(picture.shape[0] for picture in drawn)
    write_image(path, np.ascontiguousarray(np.hstack([p[:height] for p in drawn])))
    sys.stderr.write(f"{path}\n")


def _drawn(image: Image, look: Look) -> Image:
    picture = image.copy()
    if look.count is None:
        return picture
    camera, lattice = look.count.camera, look.count.board.lattice
    wide, deep, _ = lattice.size_mm
    colour = (0, 220, 0) if look.count.sure else (0, 150, 255)
    for k in range(lattice.columns + 1):
        x = k * lattice.pitch_mm
        _line(picture, camera.project([[x, 0, 0], [x, deep, 0]]), colour)
    for k in range(lattice.ranks + 1):
        y = k * lattice.pitch_mm
        _line(picture, camera.project([[0, y, 0], [wide, y, 0]]), colour)
    a1 = camera.project(board_corners(look.count.board))[0]
    cv2.putText(picture, "a1", _px(a1), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 4)
    cv2.putText(picture, "a1", _px(a1), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 220, 255), 2)
    if look.piece is not None:
        px = camera.project(look.piece.corners_mm)
        for k in range(4):
            for a, b in ((k, (k + 1) % 4), (4 + k, 4 + (k + 1) % 4), (k, 4 + k)):
                _line(picture, px[[a, b]], (255, 0, 255))
    return picture


def _line(picture: Image, ends: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
          colour: tuple[int, int, int]) -> None:  # fmt: skip
    if np.isfinite(ends).all():
        cv2.line(picture, _px(ends[0]), _px(ends[1]), colour, 2, cv2.LINE_AA)


def _px(at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[int, int]:
    x, y = np.nan_to_num(at).round().clip(-9999, 9999).astype(int).tolist()
    return x, y
