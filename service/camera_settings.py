"""What a camera was set to when its colours were learned: kept, and set again at every opening."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from calibration import store
from calibration.scene import CameraPlace

DEVICE = "device"  # under which a camera's settings stand in calibration.json
NAMES = ("exposure", "white balance", "focus")


def settings_of(folder: Path, place: CameraPlace) -> dict[str, float]:
    """The settings that a camera is opened with; what table.toml says of them goes first."""
    record = store.read(folder).cameras.get(place.name)
    kept = record.more.get(DEVICE, {}) if record is not None else {}
    told = {name.replace("_", " "): value for name, value in place.settings.items()}
    both = {**(kept if isinstance(kept, dict) else {}), **told}
    return {
        name: float(value)
        for name, value in both.items()
        if name in NAMES and isinstance(value, int | float)
    }


def keep_settings(folder: Path, chosen: Mapping[str, Mapping[str, float]]) -> None:
    """Writes what cameras have been locked to beside their calibration."""
    chosen = {name: settings for name, settings in chosen.items() if settings}
    if not chosen:
        return
    calibration = store.read(folder)
    for name, settings in chosen.items():
        record = calibration.cameras.get(name)
        if record is not None:
            more = {**record.more, DEVICE: dict(settings)}
            calibration = calibration.with_camera(name, replace(record, more=more))
    store.write(folder, calibration)
