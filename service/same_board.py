"""Whether cameras were calibrated on the board that table.toml describes now.

Where cells lie in a picture follows from the board's sizes and from the camera's clock: whoever
changes one of them afterwards would have every piece told on a wrong cell.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from calibration.errors import CalibrationError
from calibration.store import Calibration, CameraRecord
from service.table import Table
from service.table_folder import FILE_NAME

_KEY = "table"  # in calibration.json, at each camera


def stamped(record: CameraRecord, table: Table, name: str) -> CameraRecord:
    """The record with what the table said when the camera was calibrated."""
    return replace(record, more={**record.more, _KEY: _said(table, name)})


def check_same_board(
    calibration: Calibration, table: Table, names: Iterable[str], folder: Path
) -> None:
    """Raises CalibrationError where the table says another thing than when it was calibrated."""
    for name in names:
        record = calibration.cameras.get(name)
        before = record.more.get(_KEY) if record is not None else None
        if name not in table.scene.cameras or not isinstance(before, Mapping):
            continue
        for key, now in _said(table, name).items():
            then = before.get(key, now)
            if then != now:
                raise CalibrationError(
                    f"camera {name!r} was calibrated with {key} = {then:g}, and {FILE_NAME} says "
                    f"{now:g} now; run `kiebitz calibrate pose {folder} {name}=IMAGE` with a "
                    f"picture of the empty table, or put {then:g} back"
                )


def _said(table: Table, name: str) -> dict[str, float]:
    lattice, place = table.scene.board.lattice, table.scene.cameras[name]
    return {
        "columns": lattice.columns,
        "ranks": lattice.ranks,
        "pitch_mm": float(lattice.pitch_mm),
        "clock": float(place.clock),
        "rotate": place.rotate,
    }
