"""Where colours are kept: in calibration.json, with the pictures of the empty table beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration.colour import VERSION, CameraColours
from calibration.cv import Image, read_image, write_image
from calibration.errors import CalibrationError
from calibration.store import Calibration


def empty_path(folder: Path, camera: str) -> Path:
    """The file that keeps a camera's picture of the empty table."""
    return folder / f"empty.{camera}.png"


def save_empty(folder: Path, camera: str, image: Image) -> Path:
    """Keeps the upright picture of the empty table; `kiebitz read` compares with it."""
    path = empty_path(folder, camera)
    write_image(path, image)
    return path


def forget_empty(folder: Path, camera: str) -> None:
    """For a picture that turned out not to show the empty table."""
    empty_path(folder, camera).unlink(missing_ok=True)


def load_empty(folder: Path, camera: str) -> Image | None:
    """The picture of the empty table, None where nobody took one."""
    path = empty_path(folder, camera)
    return read_image(path) if path.exists() else None


def with_colours(
    calibration: Calibration,
    colours: Mapping[str, CameraColours],
    *,
    date: str,
    source: str,
    doubts: Sequence[str] = (),
) -> Calibration:
    """The calibration with the colours of these cameras; those of others stay."""
    kept: dict[str, Any] = dict((calibration.colours or {}).get("cameras", {}))
    kept.update({name: found.to_json() for name, found in colours.items()})
    data = {"version": VERSION, "date": date, "source": source, "cameras": kept}
    if doubts:
        data["doubts"] = list(doubts)
    return replace(calibration, colours=data)


def doubts_of(calibration: Calibration) -> tuple[str, ...]:
    """Reasons not to trust the colours that are stored."""
    data = calibration.colours
    told = data.get("doubts") if isinstance(data, dict) else None
    return tuple(map(str, told)) if isinstance(told, list) else ()


def trusted(calibration: Calibration) -> bool:
    """Whether colours are stored that were told without doubt."""
    data = calibration.colours
    return bool(data) and isinstance(data, dict) and not data.get("doubts")


def colours_of(calibration: Calibration, camera: str) -> CameraColours | None:
    """The colours as one camera sees them; None where they were not learned yet."""
    data = calibration.colours
    if not data:
        return None
    kept = data.get("cameras") if isinstance(data, dict) else None
    if not isinstance(kept, dict) or not isinstance(kept.get(camera) or {}, dict):
        raise CalibrationError(
            "the stored colours are damaged; run `kiebitz calibrate colours` again"
        )
    if data.get("version") != VERSION:
        raise CalibrationError(
            f"the stored colours have version {data.get('version')!r}, this program knows "
            f"{VERSION}; run `kiebitz calibrate colours` again"
        )
    entry = kept.get(camera)
    return CameraColours.from_json(entry) if entry else None
