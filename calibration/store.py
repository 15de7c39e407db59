"""calibration.json: what was measured at a table, with its quality, date and source."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration.camera import Camera, Floats, Lens
from calibration.errors import CalibrationError, StoreError

VERSION = 1
FILE_NAME = "calibration.json"
_DAMAGED = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class LensRecord:
    """A lens as it was measured, or assumed; belongs to the camera and serves every table."""

    lens: Lens
    method: str  # `charuco`, `chess`, or `assumed` where nobody measured it
    rms_px: float
    verdict: str
    date: str = ""
    source: str = ""
    focal_error: float = 0.0  # standard deviation, as a part of the focal length
    views: int = 0


@dataclass(frozen=True, slots=True)
class PastPose:
    """Where a camera stood before it was moved or calibrated anew."""

    rotation: Floats
    translation_mm: Floats
    until: str
    why: str


@dataclass(frozen=True, slots=True)
class CameraRecord:
    """A camera in its place, how it was found and how well."""

    camera: Camera
    method: str  # `markers`, `grid`, `frame`, `corners`
    rms_px: float
    verdict: str
    date: str = ""
    source: str = ""
    lens_method: str = "assumed"
    error_mm: Mapping[str, float] = field(default_factory=dict)  # height in mm -> error in mm
    history: tuple[PastPose, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)  # whatever else a method needs to keep
    covariance: Floats | None = None  # of the fitted values, by the picture of the empty table

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons why this may be another place altogether; none for a pose that is trusted."""
        told = tuple(str(doubt) for doubt in self.more.get("doubts", ()))
        return told or (("it was told as doubtful",) if self.verdict.startswith("DOUBT") else ())

    def moved_to(self, camera: Camera, *, until: str, why: str) -> "CameraRecord":
        """The same camera in a new place; the old one goes to the history."""
        past = PastPose(self.camera.rotation, self.camera.translation_mm, until, why)
        history = (*self.history, past)[-20:]
        return replace(self, camera=camera, history=history, covariance=None)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything measured at one table."""

    cameras: Mapping[str, CameraRecord] = field(default_factory=dict)
    lenses: Mapping[str, LensRecord] = field(default_factory=dict)
    board: Mapping[str, Any] = field(default_factory=dict)  # sizes that were measured
    colours: Mapping[str, Any] | None = None  # of calibration.colour, which also names its sidecar

    def with_camera(self, name: str, record: CameraRecord) -> "Calibration":
        """The same with one camera set."""
        return replace(self, cameras={**self.cameras, name: record})

    def with_lens(self, name: str, record: LensRecord) -> "Calibration":
        """The same with one lens set."""
        return replace(self, lenses={**self.lenses, name: record})

    def with_frame(self, sizes_mm: Sequence[float]) -> "Calibration":
        """The same with the height and width of the board's frame as they were measured."""
        height, width = (round(size, 1) for size in sizes_mm)
        return replace(
            self, board={**self.board, "frame_height_mm": height, "frame_width_mm": width}
        )

    def with_flat_pieces(self, flat: bool) -> "Calibration":
        """The same with pieces that are flat, whatever the table says, or as it says."""
        others = {key: value for key, value in self.board.items() if key != "flat_pieces"}
        return replace(self, board=others | ({"flat_pieces": True} if flat else {}))

    def camera(self, name: str) -> Camera:
        """A calibrated camera by name; raises CalibrationError."""
        record = self.cameras.get(name)
        if record is None:
            raise CalibrationError(
                f"camera {name!r} has no pose yet; run `kiebitz calibrate pose` first"
            )
        return record.camera


def read(folder: Path) -> Calibration:
    """The calibration of a table folder; an empty one where there is none yet."""
    path = folder / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Calibration()
    except OSError as error:
        raise StoreError(f"cannot read {str(path)!r}: {_reason(error)}") from error
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{str(path)!r} is damaged (no text); delete it and calibrate again"
        ) from error
    try:
        data = json.loads(text)
        version = data.get("version")
        if version == VERSION:
            return _calibration(data)
    except (CalibrationError, *_DAMAGED) as error:
        raise StoreError(
            f"{str(path)!r} is damaged ({error!s:.120}); delete it and calibrate again"
        ) from error
    raise StoreError(
        f"{str(path)!r} has version {version!r}, this program knows {VERSION}; "
        "update the program, or delete the file and calibrate again"
    )


def write(folder: Path, calibration: Calibration) -> None:
    """Replaces the calibration of a table folder, wholly or not at all."""
    path = folder / FILE_NAME
    waiting = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    try:
        waiting.write_text(json.dumps(_data(calibration), indent=1) + "\n", encoding="utf-8")
        waiting.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {str(path)!r}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _calibration(data: Mapping[str, Any]) -> Calibration:
    return Calibration(
        cameras={name: _camera(entry) for name, entry in data.get("cameras", {}).items()},
        lenses={name: _lens(entry) for name, entry in data.get("lenses", {}).items()},
        board=dict(data.get("board", {})),
        colours=data.get("colours"),
    )


def _lens(entry: Mapping[str, Any]) -> LensRecord:
    width, height = entry["size"]
    return LensRecord(
        lens=Lens((width, height), entry["matrix"], entry["distortion"]),
        method=str(entry.get("method", "")),
        rms_px=float(entry.get("rms_px", 0.0)),
        verdict=str(entry.get("verdict", "")),
        date=str(entry.get("date", "")),
        source=str(entry.get("source", "")),
        focal_error=float(entry.get("focal_error", 0.0)),
        views=int(entry.get("views", 0)),
    )


_CAMERA_KEYS = [
    "size",
    "matrix",
    "distortion",
    "rotation",
    "translation_mm",
    "rms_px",
    "method",
    "date",
    "source",
    "verdict",
    "lens_method",
    "error_mm",
    "history",
    "covariance",
]
_VALUES = 12  # that are fitted of a camera
_DIGITS = 10


def _camera(entry: Mapping[str, Any]) -> CameraRecord:
    lens = _lens(entry).lens
    return CameraRecord(
        camera=Camera.of(lens, entry["rotation"], entry["translation_mm"]),
        method=str(entry.get("method", "")),
        rms_px=float(entry.get("rms_px", 0.0)),
        verdict=str(entry.get("verdict", "")),
        date=str(entry.get("date", "")),
        source=str(entry.get("source", "")),
        lens_method=str(entry.get("lens_method", "assumed")),
        error_mm={str(k): float(v) for k, v in entry.get("error_mm", {}).items()},
        history=tuple(_past(lens, p) for p in entry.get("history", ())),
        more={k: v for k, v in entry.items() if k not in _CAMERA_KEYS},
        covariance=_covariance(entry.get("covariance")),
    )


def _covariance(lower: Sequence[float] | None) -> Floats | None:
    """The whole of a matrix whose lower triangle was kept row by row."""
    if lower is None:
        return None
    whole = np.zeros((_VALUES, _VALUES))
    values = np.array(lower, dtype=np.float64)
    whole[np.tril_indices(_VALUES)] = values
    if values.ndim != 1 or not np.isfinite(values).all() or (np.diag(whole) < 0).any():
        raise ValueError("covariance")
    return np.asarray(whole + np.tril(whole, -1).T)


def _past(lens: Lens, entry: Mapping[str, Any]) -> PastPose:
    place = Camera.of(lens, entry["rotation"], entry["translation_mm"])
    return PastPose(
        place.rotation, place.translation_mm, str(entry.get("until", "")), str(entry.get("why", ""))
    )


def _data(calibration: Calibration) -> dict[str, Any]:
    data: dict[str, Any] = {
        "version": VERSION,
        "cameras": {name: _camera_data(r) for name, r in calibration.cameras.items()},
        "lenses": {name: _lens_record_data(r) for name, r in calibration.lenses.items()},
        "board": dict(calibration.board),
    }
    if calibration.colours is not None:
        data["colours"] = dict(calibration.colours)
    return data


def _lens_data(lens: Lens) -> dict[str, Any]:
    return {
        "size": list(lens.size),
        "matrix": lens.matrix.tolist(),
        "distortion": lens.distortion.tolist(),
    }


def _lens_record_data(record: LensRecord) -> dict[str, Any]:
    return {
        **_lens_data(record.lens),
        "method": record.method,
        "rms_px": record.rms_px,
        "verdict": record.verdict,
        "date": record.date,
        "source": record.source,
        "focal_error": record.focal_error,
        "views": record.views,
    }


def _camera_data(record: CameraRecord) -> dict[str, Any]:
    return {
        **_lens_data(record.camera.lens),
        "rotation": record.camera.rotation.tolist(),
        "translation_mm": record.camera.translation_mm.tolist(),
        "rms_px": record.rms_px,
        "method": record.method,
        "verdict": record.verdict,
        "date": record.date,
        "source": record.source,
        "lens_method": record.lens_method,
        "error_mm": dict(record.error_mm),
        "history": [
            {
                "rotation": p.rotation.tolist(),
                "translation_mm": p.translation_mm.tolist(),
                "until": p.until,
                "why": p.why,
            }
            for p in record.history
        ],
        **_covariance_data(record.covariance),
        **record.more,
    }


def _covariance_data(covariance: Floats | None) -> dict[str, list[float]]:
    if covariance is None:
        return {}
    lower = covariance[np.tril_indices(_VALUES)]
    return {"covariance": [float(f"{value:.{_DIGITS}g}") for value in lower]}
