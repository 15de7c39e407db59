"""`kiebitz calibrate colours`: what the pieces look like under this light."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from calibration import colour_store, store
from calibration.colour import CameraColours
from calibration.colour_fit import ColourView, fit_colours
from calibration.colour_quality import ColourVerdict, judge_colours
from calibration.cv import Image
from calibration.errors import NotFound
from calibration.scene import CameraPlace
from calibration.told_stacks import ToldCheck, check_told, new_elsewhere
from rules.errors import SetupError
from rules.lattice import Board
from rules.stacks import Stacks
from service.camera_pictures import camera_pictures, showing, take_settled_picture
from service.camera_settings import keep_settings
from service.flat_pieces import lie_flat, not_empty
from service.same_board import check_same_board
from service.stacks_text import check_letters, stacks_from
from service.steadied import steadied
from service.table_eyes import empty_views, measured_board, with_pose
from service.table_folder import read_table
from vision.mixed_up import mixed_up
from vision.watched import fitted_image


def colours(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the table.")],
    pictures: Annotated[
        list[str],
        typer.Argument(metavar="CAM=IMAGE...", help="A picture a camera; CAM alone takes one."),
    ],
    stacks: Annotated[
        str, typer.Option(metavar="JSON", help="What stands there: JSON text or a file.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Store doubtful colours over ones without doubt, too.")
    ] = False,
) -> None:
    """Learn the colours from one picture a camera with known pieces on known cells."""
    table = read_table(folder)
    calibration = store.read(folder)
    board = measured_board(table, calibration.with_flat_pieces(False))
    known = stacks_from(stacks, board.lattice)
    names = table.scene.colours
    check_letters(known, names)
    if not any(known.units()):
        raise SetupError("no piece stands in the stacks; show some of each colour")
    locked: dict[str, dict[str, float]] = {}

    def settled(place: CameraPlace, folder: Path) -> Image:
        image, locked[place.name] = take_settled_picture(place, folder)
        return image

    images = showing(camera_pictures(pictures, table.scene.cameras, folder, settled))
    check_same_board(calibration, table, images, folder)
    images = with_pose(images, calibration, folder)
    _check_whose("" if force else mixed_up(images, empty_views(folder, calibration), board))
    empties = {name: _empty(folder, name, image.shape) for name, image in images.items()}
    flat = lie_flat(_views(images, empties, calibration), board, names, known)
    if board.lattice.levels == 1:
        calibration = calibration.with_flat_pieces(flat)
        board = measured_board(table, calibration)
    full = not_empty(_views(images, empties, calibration), board, names, known)
    empties |= dict.fromkeys(full)
    views = _views(images, empties, calibration)
    check = check_told(list(views.values()), board, known)
    odd = {} if check.fits else _at_odds(views, board, known)
    # Where one camera confirms the stacks, what is new beside its board is something else.
    unconfirmed = {name: view for name, view in views.items() if not odd or name in odd}
    elsewhere = [] if check.fits else _elsewhere(unconfirmed, board, known)
    if not force:
        _check_stacks(check, odd, elsewhere, views, folder)
    steady: Mapping[str, str] = {}
    if check.fits:  # other stacks than those that stand there would tell wrong heights
        calibration, steady = steadied(calibration, images, empties, board, known)
    views = _views(images, empties, calibration)
    fitted = fit_colours(list(views.values()), board, names, known)
    verdict = judge_colours(list(views.values()), fitted, board, known, names)
    _check_seen(verdict, elsewhere, calibration, folder, force=force)
    doubts = [*verdict.doubts, *_whose(odd, views)]
    found = dict(zip(views, fitted, strict=True))
    now = datetime.now(UTC).astimezone().isoformat(timespec="seconds")
    source = ", ".join(word.partition("=")[2] or word for word in pictures)
    stored = colour_store.with_colours(calibration, found, date=now, source=source, doubts=doubts)
    store.write(folder, stored)
    keep_settings(folder, locked)
    for name in full:
        colour_store.forget_empty(folder, name)
    _tell_disbelieved(full, flat=flat)
    for sentence in steady.values():
        print(sentence)
    _tell_missing([n for n, view in views.items() if view.empty is None and n not in full], folder)
    _tell(found, names, verdict, doubts)


def _check_stacks(
    check: ToldCheck,
    odd: Mapping[str, ToldCheck],
    elsewhere: Sequence[str],
    views: Mapping[str, ColourView],
    folder: Path,
) -> None:
    """Raises NotFound where the pieces stand elsewhere than told, or the board lies elsewhere."""
    astray = {name: own for name, own in odd.items() if _only_turned(own)}
    if astray:
        raise NotFound(_looking_astray(astray, views, folder))
    if check.rather is None:
        return
    if check.absent and elsewhere and not check.rather.seen:
        raise NotFound(_beside(check, elsewhere, folder))
    raise NotFound(_contradicted(check, folder))


def _check_seen(
    verdict: ColourVerdict,
    elsewhere: Sequence[str],
    calibration: store.Calibration,
    folder: Path,
    *,
    force: bool,
) -> None:
    """Raises NotFound where the pieces are not seen, or hardly, and better is known.

    `elsewhere`: the cameras that show something new where the board was not found.
    """
    if not verdict.seen or (verdict.hopeless and not force):
        raise NotFound(_not_seen(verdict, elsewhere, folder))
    if verdict.doubts and colour_store.trusted(calibration) and not force:
        raise NotFound(
            f"the colours that are stored were kept, for this picture tells only doubtful ones: "
            f"{'; '.join(verdict.doubts)}; take another picture, check --stacks, or store them all "
            "the same with --force"
        )


def _check_whose(told: str) -> None:
    if told:
        raise NotFound(
            f"no colours were learned, for {told} give each picture to its camera; --force learns "
            "from them all the same"
        )


def _empty(folder: Path, name: str, shape: tuple[int, ...]) -> Image | None:
    empty = colour_store.load_empty(folder, name)
    return None if empty is None else fitted_image(empty, (shape[1], shape[0]))


def _views(
    images: Mapping[str, Image], empties: Mapping[str, Image | None], calibration: store.Calibration
) -> dict[str, ColourView]:
    return {
        name: ColourView(
            calibration.camera(name).scaled((image.shape[1], image.shape[0])), image, empties[name]
        )
        for name, image in images.items()
    }


def _at_odds(views: Mapping[str, ColourView], board: Board, known: Stacks) -> dict[str, ToldCheck]:
    """The cameras that contradict the stacks by themselves, where another one confirms them."""
    alone = {name: check_told([view], board, known) for name, view in views.items()}
    confirmed = any(own.fits and own.shares for own in alone.values())
    return {name: own for name, own in alone.items() if not own.fits} if confirmed else {}


def _only_turned(check: ToldCheck) -> bool:
    """Whether all stands as told on a board that lies another way."""
    return check.rather is not None and check.rather.turned and check.rather.seen


def _elsewhere(views: Mapping[str, ColourView], board: Board, known: Stacks) -> list[str]:
    return [name for name, view in views.items() if new_elsewhere(view, board, known)]


def _whose(odd: Mapping[str, ToldCheck], views: Mapping[str, ColourView]) -> list[str]:
    """Which cameras alone contradict the stacks; nothing where none does, or all do."""
    if not odd:
        return []
    others = " and ".join(name for name in views if name not in odd)
    return [f"this is what {' and '.join(odd)} shows, but not {others}"]


def _looking_astray(
    odd: Mapping[str, ToldCheck], views: Mapping[str, ColourView], folder: Path
) -> str:
    """That only some cameras see the pieces elsewhere: it is not --stacks that is wrong."""
    told = "; ".join(f"{name}: {'; '.join(own.doubts)}" for name, own in odd.items())
    which = " and ".join(odd)
    others = " and ".join(name for name in views if name not in odd)
    return (
        f"no colours were learned, for {which} shows the pieces elsewhere than --stacks says, "
        f"while {others} shows them there ({told}); correct the `clock` of {which} in "
        f"{folder / 'table.toml'}, then run `kiebitz calibrate pose {folder} "
        f"{' '.join(f'{name}=IMAGE' for name in odd)}`; --force believes --stacks all the same"
    )


def _contradicted(check: ToldCheck, folder: Path) -> str:
    """Where the pieces stand instead of where they were told to stand."""
    return (
        "no colours were learned, for the picture contradicts --stacks: "
        f"{'; '.join(check.doubts)}; "
        "say where the pieces stand, or put them where you say, and check with "
        f"`kiebitz calibrate pose {folder} CAM=IMAGE --show out.png` that a1 is where you think; "
        "--force believes --stacks all the same"
    )


def _not_seen(verdict: ColourVerdict, elsewhere: Sequence[str], folder: Path) -> str:
    """Why nothing was learned, and what to try."""
    if verdict.told.absent and elsewhere:
        return _beside(verdict.told, elsewhere, folder)
    what = (
        f"nothing new is seen on {_absent(verdict.told)}: this looks like the picture of the empty "
        "table"
        if verdict.told.absent
        else "no face of the pieces is seen by any camera"
    )
    return (
        f"no colours were learned: {what}; take the picture with the pieces of --stacks on their "
        f"cells, and check with `kiebitz calibrate pose {folder} CAM=IMAGE --show out.png` that "
        "a1 is where you think"
    )


def _beside(check: ToldCheck, elsewhere: Sequence[str], folder: Path) -> str:
    """Something is new, but not on the board: probably that is not where it was found."""
    which = " and ".join(elsewhere)
    again = " ".join(f"{name}=IMAGE" for name in elsewhere)
    return (
        f"no colours were learned: nothing new is seen on {_absent(check)}, but something is "
        f"elsewhere in the picture of {which}: probably something else was taken for the board "
        f"there; look at `kiebitz calibrate pose {folder} {again} --show out.png` with pictures of "
        "the empty table, and if its lines do not lie on the board, give its corners with "
        "--corners, or print the markers of `kiebitz mat`; if they do, put the pieces of --stacks "
        "on their cells"
    )


def _absent(check: ToldCheck) -> str:
    return ", ".join(str(cell) for cell in check.absent[:6])


def _tell_disbelieved(full: Iterable[str], *, flat: bool) -> None:
    """Says which pictures and sizes were not taken at their word."""
    if flat:
        print("the pieces look flat: their height in unit_mm of table.toml is not believed")
    for name in full:
        print(
            f"{name}: the picture of `calibrate pose` shows pieces, too, and is no longer taken "
            "for the empty table"
        )


def _tell_missing(names: Iterable[str], folder: Path) -> None:
    for name in names:
        sys.stderr.write(
            f"{name}: no picture of the empty table of this shape is known; "
            f"run `kiebitz calibrate pose {folder} {name}=IMAGE` with one\n"
        )


def _tell(
    found: Mapping[str, CameraColours],
    names: Mapping[str, str],
    verdict: ColourVerdict,
    doubts: Sequence[str],
) -> None:
    """Says what was learned, and whether it is enough."""
    for name, learned in found.items():
        seen = [bool(row.any()) for row in learned.seen]
        missing = [letter for letter, ok in zip(learned.letters, seen, strict=True) if not ok]
        faces = int(learned.seen.sum())
        colours = "colour" if sum(seen) == 1 else "colours"
        text = f"{name}: {faces} faces of {sum(seen)} {colours} measured"
        if missing:
            text += f"; not seen: {' '.join(missing)} (guessed from their names)"
        print(text)
    if verdict.nearest is not None:
        one, other, apart = verdict.nearest
        print(
            f"nearest colours: {names[one]} and {names[other]}, {apart:.1f} deviations: "
            f"{verdict.word}"
        )
        if verdict.word == "too near":
            sys.stderr.write(
                "these two will be mixed up at times: use more or whiter light, "
                "and keep the pieces out of shadow and glare\n"
            )
    if doubts:
        print(f"DOUBTFUL: {'; '.join(doubts)}")
