"""Cameras made certain by the colour picture: its stacks are of known height."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibration.board_pose import apart_mm
from calibration.cv import Image
from calibration.pose_quality import focal_doubt, in_words, with_board
from calibration.solve import LensDoubt
from calibration.stacks import Refined, StackView, refine_with_stacks
from calibration.store import Calibration, CameraRecord, LensRecord
from rules.lattice import Board
from rules.stacks import Stacks

_UNSURE_LENS = ("assumed", "stacks")
_HEIGHT = "100"  # mm
_SETTLED = LensDoubt.measured(0.002)
_CONTRADICTED = 2.0  # times the error that was told, which 19 of 20 poses stay under


def steadied(
    calibration: Calibration,
    pictures: Mapping[str, Image],
    empties: Mapping[str, Image | None],
    board: Board,
    known: Stacks,
) -> tuple[Calibration, dict[str, str]]:
    """The calibration after a look at the stacks, and a sentence for each camera it changed."""
    views = {}
    for name, picture in pictures.items():
        record = calibration.cameras[name]
        size = (picture.shape[1], picture.shape[0])
        if size != record.camera.size:
            continue
        doubt = _doubt(record, calibration.lenses.get(name), board)
        # By hollows alone their rim is taken for the floor; corners that somebody gave may lean.
        hollow = board.recess_mm not in (None, 0.0) and record.method == "grid"
        views[name] = StackView(
            record.camera, doubt, picture, empties.get(name), hollow, record.covariance
        )
    heights = {cell: known.height(cell) for cell in known}
    # A camera that is elsewhere would pull the others along: what they know is settled first.
    doubted = {n: v for n, v in views.items() if calibration.cameras[n].doubts}
    sound = {n: v for n, v in views.items() if n not in doubted}
    settled = refine_with_stacks(sound, board, heights)
    calibration, told = _taken(calibration, settled, views, board)
    if doubted:
        helpers = _helpers(calibration, sound, settled)
        found = refine_with_stacks(helpers | doubted, board, heights)
        records = [calibration.cameras[name] for name in helpers]
        own = {name: _leaning_on(found[name], records) for name in doubted}
        calibration, more = _taken(calibration, own, views, board)
        told |= more
    return calibration, told


def _helpers(
    calibration: Calibration, sound: Mapping[str, StackView], settled: Mapping[str, Refined]
) -> dict[str, StackView]:
    """The cameras whose places and lenses are known well enough for others to lean on."""
    found = {}
    for name, view in sound.items():
        record = calibration.cameras[name]
        if record.lens_method != "assumed":
            by_stacks = settled[name].changed and record.camera is settled[name].camera
            doubt = _SETTLED if record.lens_method == "stacks" else view.doubt
            surely = settled[name].covariance if by_stacks else view.covariance
            found[name] = replace(
                view, camera=record.camera, doubt=doubt, hollow=False, covariance=surely
            )
    return found


def _leaning_on(refined: Refined, helpers: Sequence[CameraRecord]) -> Refined:
    """What a camera knows by others is off by what these are off, too."""
    errors = {
        height: float(np.hypot(mm, max((_error_at(height, h) for h in helpers), default=0)))
        for height, mm in refined.error_mm.items()
    }
    return replace(refined, error_mm=errors)


def _error_at(height: str, record: CameraRecord) -> float:
    """A camera's error at a height, also at one that its picture does not show."""
    told = record.error_mm.get(height)
    if told is not None:
        return told
    return max(
        (
            mm * max(1.0, float(height) / max(float(h), 1.0))
            for h, mm in record.error_mm.items()
            if float(h) > 0
        ),
        default=0.0,
    )


def _taken(
    calibration: Calibration,
    looked: Mapping[str, Refined],
    views: Mapping[str, StackView],
    board: Board,
) -> tuple[Calibration, dict[str, str]]:
    """The calibration with what the stacks told that can be believed."""
    told = {}
    for name, refined in looked.items():
        record = calibration.cameras[name]
        lens_known = record.lens_method not in _UNSURE_LENS
        if not refined.changed or (lens_known and not views[name].hollow):
            continue
        apart = apart_mm(record.camera, refined.camera, board, float(_HEIGHT))
        if apart > _CONTRADICTED * record.error_mm.get(_HEIGHT, apart):
            # Where a camera would stand no higher than that, no distance can be told.
            much = f" by {apart:.0f} mm at {_HEIGHT} mm height" if np.isfinite(apart) else ""
            told[name] = (
                f"{name}: the stacks contradict the place of the camera{much}; heights are told "
                "as before"
            )
            continue
        errors = _with_the_boards(refined, record, board, hollow=views[name].hollow)
        better = errors.get(_HEIGHT, 0.0) < record.error_mm.get(_HEIGHT, np.inf)
        if not better:  # the board alone told heights as well as these few stacks do
            errors = dict(record.error_mm)
        words = in_words(
            errors,
            record.method,
            record.rms_px,
            lens_known=lens_known,
            doubts=record.doubts,
            advice="a lens calibration would tell heights more exactly",
        )
        calibration = calibration.with_camera(
            name,
            replace(
                record,
                camera=refined.camera if better else record.camera,
                error_mm=errors,
                verdict=words,
                lens_method="stacks" if better and not lens_known else record.lens_method,
            ),
        )
        if better:
            what = "its place" if lens_known else "heights"
            told[name] = f"{name}: {what} made certain by the stacks; {words}"
    return calibration, told


def _with_the_boards(
    refined: Refined, record: CameraRecord, board: Board, *, hollow: bool
) -> dict[str, float]:
    """The errors by the stacks, which do not tell where the board lies; in hollows they do."""
    before = (refined if hollow else record).error_mm.get("0", 0.0)
    if record.covariance is None:
        return with_board(refined.error_mm, before, board)
    # How the board may lean is part of what was believed of the camera. Only that all cameras see
    # it cut or printed wrongly alike is not: together they do not know better where it lies.
    alike = np.sqrt(max(before**2 - refined.error_mm.get("0", 0.0) ** 2, 0.0))
    return {height: round(float(np.hypot(mm, alike)), 2) for height, mm in refined.error_mm.items()}


def _doubt(record: CameraRecord, measured: LensRecord | None, board: Board) -> LensDoubt:
    """What is believed of a lens before the stacks are looked at."""
    if record.lens_method not in _UNSURE_LENS:
        return LensDoubt.measured(measured.focal_error if measured is not None else 0.002)
    unknown = LensDoubt.unknown()
    if record.lens_method != "assumed":  # what stacks told is not counted twice
        return unknown
    return replace(
        unknown, focal=min(unknown.focal, focal_doubt(record.camera, record.error_mm, board))
    )
