"""Cameras made certain by the colour picture: its stacks are of known height."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calibration.board_pose import apart_mm
from calibration.cv import Image
from calibration.pose_quality import focal_doubt, in_words, with_board
from calibration.solve import LensDoubt
from calibration.stacks import StackView, refine_with_stacks
from calibration.store import Calibration, CameraRecord, LensRecord
from rules.lattice import Board
from rules.stacks import Stacks

_UNSURE_LENS = ("assumed", "stacks")
_HEIGHT = "100"  # mm
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
        views[name] = StackView(record.camera, doubt, picture, empties.get(name))
    heights = {cell: known.height(cell) for cell in known}
    told = {}
    looked = {}
    for doubted in (False, True):  # a camera that is elsewhere would pull the others along
        some = {n: v for n, v in views.items() if bool(calibration.cameras[n].doubts) == doubted}
        looked.update(refine_with_stacks(some, board, heights))
    for name, refined in looked.items():
        record = calibration.cameras[name]
        if not refined.changed or record.lens_method not in _UNSURE_LENS:
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
        errors = with_board(refined.error_mm, record.error_mm.get("0", 0.0), board)
        better = errors.get(_HEIGHT, 0.0) < record.error_mm.get(_HEIGHT, np.inf)
        if not better:  # the board alone told heights as well as these few stacks do
            errors = dict(record.error_mm)
        words = in_words(
            errors,
            record.method,
            record.rms_px,
            lens_known=False,
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
                lens_method="stacks" if better else record.lens_method,
            ),
        )
        if better:
            told[name] = f"{name}: heights made certain by the stacks; {words}"
    return calibration, told


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
