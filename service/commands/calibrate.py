"""`kiebitz calibrate`: measures lenses, camera places and colours, and says how well it went."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from calibration import colour_store, store
from calibration.camera import Floats
from calibration.colour_fit import ColourView
from calibration.cv import Image, check_place, read_image, upright, write_image
from calibration.errors import CalibrationError, NotFound
from calibration.grid_pose import board_corners
from calibration.known_pose import parse_corners
from calibration.lens import calibrate_lens
from calibration.lens_board import DEFAULT_BOARD, LensBoard
from calibration.picture_faults import around, is_dark
from calibration.pose import FoundPose, find_again, find_pose
from calibration.scene import CameraPlace
from calibration.store import CameraRecord, LensRecord
from calibration.told_stacks import changed_cells
from rules.errors import UnknownName
from rules.lattice import Board
from service.camera_pictures import camera_pictures
from service.commands.calibrate_colours import colours
from service.flat_pieces import is_full
from service.progress import progress
from service.same_board import stamped
from service.table import Table
from service.table_eyes import empty_views, measured_board
from service.table_folder import read_table
from vision.mixed_up import mixed_up
from vision.virtual.scene import Kind

_STAYED_PX = 4.0  # a camera that moved less still sees every cell where it was

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def calibrate() -> None:
    """Measure your cameras: lens, place, colours."""


app.command()(colours)


@app.command()
def lens(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    camera: Annotated[str, typer.Argument(metavar="CAM", help="Which camera took the pictures.")],
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGE...", help="8 to 15 pictures of the lens board.")
    ],
    board: Annotated[
        str, typer.Option(metavar="BOARD", help="The board, such as chess:9x6:25.")
    ] = DEFAULT_BOARD,
    force: Annotated[
        bool, typer.Option("--force", help="Store a poor lens over a better one, too.")
    ] = False,
) -> None:
    """Measure a camera's lens from pictures of the lens board."""
    place = _camera(folder, camera)
    own = {path.resolve(): path for path in images}  # however they are spelled
    pictures = {str(path): upright(read_image(path), place.rotate) for path in own.values()}
    printed = LensBoard.parse(board)
    result = calibrate_lens(pictures, printed)
    record = LensRecord(
        lens=result.lens,
        method=printed.kind,
        rms_px=result.rms_px,
        verdict=result.verdict,
        date=_now(),
        source=f"{len(result.used)} of {len(pictures)} pictures",
        focal_error=result.focal_error,
        views=len(result.used),
    )
    if len(own) < len(images):
        many = len(images) - len(own)
        sys.stderr.write(f"{many} of the pictures are named more than once; each counts once\n")
    for name, why in result.dropped.items():
        sys.stderr.write(f"left out {name}: {why}\n")
    calibration = store.read(folder)
    stored = calibration.lenses.get(camera)
    worse = stored is not None and _is_poor(result.verdict) and not _is_poor(stored.verdict)
    if worse and not force:
        raise NotFound(
            "what is stored was kept, for these pictures tell only a poor lens "
            f"({result.verdict}); take more pictures, or store it all the same with --force"
        )
    store.write(folder, calibration.with_lens(camera, record))
    print(f"{camera}: {result.verdict}")
    if camera in calibration.cameras:
        sys.stderr.write(
            f"{camera}: its place was found with another lens; "
            f"run `kiebitz calibrate pose {folder} {camera}=IMAGE` again\n"
        )


def _is_poor(verdict: str) -> bool:
    return verdict.startswith("poor")


@app.command()
def pose(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    pictures: Annotated[
        list[str],
        typer.Argument(metavar="CAM=IMAGE...", help="A picture a camera; CAM alone takes one."),
    ],
    corners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAM=x,y,...",
            help="Four points of the picture: a1's corner, front right, back right, back left.",
        ),
    ] = None,
    occupied: Annotated[
        bool, typer.Option("--occupied", help="Pieces may stand on it, as after a bump in a game.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Store doubtful places over ones without doubt, too.")
    ] = False,
    show: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Draw what was found into a picture.")
    ] = None,
) -> None:
    """Find where each camera stands, from one picture of the empty table.

    By printed markers, else by the board's own lines, frame or outline, else by --corners.
    A doubtful place never takes that of one without doubt, unless --force is given.
    """
    check_place(show)
    table = read_table(folder)
    images = camera_pictures(pictures, table.scene.cameras, folder)
    given = _given(corners or [], images)
    calibration = store.read(folder)
    _check_whose(folder, images, calibration, table, force=force)
    failed = []
    drawn = []
    frames = []
    changed = False
    for name, image in images.items():
        stored = None if force or name in given else calibration.cameras.get(name)
        try:
            with progress(f"{name}: looking for the board") as say:
                again = _again(folder, name, image, stored, table) if occupied else None
                found = again or find_pose(
                    image,
                    table.scene,
                    table.scene.cameras[name],
                    calibration.lenses.get(name),
                    corners_px=given.get(name),
                    occupied=occupied,
                    say=say,
                )
            drawn.append(found.drawn(image))
            _check_better(found, stored)
            full = occupied or (
                not force and _is_full(folder, name, image, found, calibration, table)
            )
            if not full:
                empty = colour_store.load_empty(folder, name)
                _check_empty(image, empty, found, stored, table.scene.board)
        except CalibrationError as error:
            failed.append(error)
            sys.stderr.write(f"{name}: {error}\n")
            continue
        record = found.record(date=_now(), source=_source(pictures, name))
        before = calibration.cameras.get(name)
        calibration = calibration.with_camera(name, stamped(record, table, name))
        changed = True
        if not full:
            colour_store.save_empty(folder, name, image)
        print(f"{name}: {found.verdict}")
        _tell_more(name, found, before, folder)
        if found.frame_mm is not None and not found.doubts:
            frames.append(found.frame_mm)
    if frames:
        calibration = calibration.with_frame(np.mean(frames, axis=0).tolist())
    if changed:
        store.write(folder, calibration)
    if show is not None and drawn:
        _show(show, drawn)
    if failed:
        raise typer.Exit(failed[0].exit_code)


def _check_whose(
    folder: Path,
    images: Mapping[str, Image],
    calibration: store.Calibration,
    table: Table,
    *,
    force: bool,
) -> None:
    """Raises NotFound where pictures show what other cameras saw when they were calibrated."""
    board = measured_board(table, calibration)
    told = "" if force else mixed_up(images, empty_views(folder, calibration), board)
    if told:
        raise NotFound(
            f"what is stored was kept, for {told} give each picture to its camera, or, if the "
            "cameras themselves have changed places, store them with --force"
        )


def _check_lit(name: str, image: Image, corners: Floats) -> None:
    """Raises NotFound where corners are given with a picture that does not show the board."""
    if is_dark(around(image, corners)):  # whatever is around the board may be black
        raise NotFound(
            f"{name}: the picture is very dark: switch on a lamp, or take the cover off the lens; "
            "corners alone do not tell how the empty table looks"
        )


def _again(
    folder: Path, name: str, image: Image, stored: CameraRecord | None, table: Table
) -> FoundPose | None:
    """A camera that was calibrated before and moved a little; pieces do not matter then."""
    empty = colour_store.load_empty(folder, name)
    if stored is None or empty is None:
        return None
    board = measured_board(table, store.read(folder))
    return find_again(image, board, stored, empty, turnable=Kind.of(table.spec).turned)


def _is_full(
    folder: Path,
    name: str,
    image: Image,
    found: FoundPose,
    calibration: store.Calibration,
    table: Table,
) -> bool:
    """Whether a flat board, whose colours were learned without an empty one, is full of pieces."""
    colours = colour_store.colours_of(calibration, name)
    if colours is None or colour_store.empty_path(folder, name).exists():
        return False
    board = measured_board(table, calibration)
    full = is_full(image, found.camera, colours, board)
    if full:
        print(
            f"{name}: pieces lie on the whole board, as they did when colours were learned; "
            "if it is empty now, give the picture again with --force"
        )
    return full


def _tell_more(name: str, found: FoundPose, before: CameraRecord | None, folder: Path) -> None:
    """Says what to look at, and where heights were known much better by a colour picture."""
    if found.hint:
        sys.stderr.write(f"{name}: {found.hint}\n")
    then, now = (each.error_mm.get("100", 0.0) if each else 0.0 for each in (before, found))
    if before is not None and 0.0 < 1.5 * then < now:
        sys.stderr.write(
            f"{name}: heights were known more exactly before (to {then:.1f} mm, now to {now:.1f} mm"
            f" at 100 mm); run `kiebitz calibrate colours {folder}` with a colour picture again\n"
        )


def _check_better(found: FoundPose, stored: CameraRecord | None) -> None:
    """Raises NotFound where a doubtful place would take that of one without doubt."""
    if stored is not None and found.doubts and not stored.doubts:
        raise NotFound(
            f"{_kept(stored)}, for this picture tells only a doubtful place: "
            f"{'; '.join(found.doubts)}; take another picture of the empty table (is it this "
            "camera's, this table's, well lit and free of hands?), or store it all the same with "
            "--force"
        )


def _check_empty(
    image: Image,
    empty: Image | None,
    found: FoundPose,
    stored: CameraRecord | None,
    board: Board,
) -> None:
    """Raises NotFound where the camera stayed, but something has come onto the empty board."""
    if stored is None or empty is None or found.camera.size != stored.camera.size:
        return
    corners = board_corners(board)
    off = found.camera.project(corners) - stored.camera.project(corners)
    if not np.abs(off).max() < _STAYED_PX:
        return
    new = changed_cells(ColourView(found.camera, image, empty), board)
    if new:
        cells = " ".join(map(str, new[:6])) + (" ..." if len(new) > 6 else "")
        raise NotFound(
            f"{_kept(stored)}, for the board does not look as it did when it was empty then "
            f"({cells}); take everything off it and take another picture, or, if it is empty now, "
            "store it with --force"
        )


def _kept(stored: CameraRecord) -> str:
    word = stored.verdict.partition(":")[0]
    since = f", of {stored.date[:16].replace('T', ' ')}" if stored.date else ""
    return f"what is stored ({word}{since}) was kept"


def _given(words: list[str], images: Mapping[str, Image]) -> dict[str, Floats]:
    """The four corners that were given for some cameras; raises CalibrationError."""
    given = dict(_corners(word) for word in words)
    strangers = sorted(set(given) - set(images))
    if strangers:
        raise CalibrationError(f"corners are given for {strangers[0]!r}, but no picture of it")
    for name, corners in given.items():
        _check_lit(name, images[name], corners)
    return given


def _corners(word: str) -> tuple[str, Floats]:
    name, equals, text = word.partition("=")
    if not equals:
        raise CalibrationError(f"{word[:40]!r} names no camera; write CAM=x,y,x,y,x,y,x,y")
    return name, parse_corners(text)


def _camera(folder: Path, name: str) -> CameraPlace:
    cameras = read_table(folder).scene.cameras
    if name not in cameras:
        raise UnknownName("camera", name, cameras)
    return cameras[name]


def _source(words: list[str], name: str) -> str:
    """The picture's file name, or the camera itself."""
    for word in words:
        camera, equals, file = word.partition("=")
        if camera == name and equals:
            return Path(file).name
    return "the camera"


def _show(path: Path, pictures: list[Image]) -> None:
    """The pictures side by side, as high as the lowest."""
    height = min(picture.shape[0] for picture in pictures)
    write_image(path, np.ascontiguousarray(np.hstack([p[:height] for p in pictures])))


def _now() -> str:
    return datetime.now(UTC).astimezone().isoformat(timespec="seconds")
