"""USB cameras by number or name: size, rate, and settings that stay as they are."""

import re
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import SourceError, SourceLost
from vision.frame import ImageBGR
from vision.sources.jpeg import decode
from vision.sources.live import Shot

_NAMES = Path("/sys/class/video4linux")
# What a webcam changes by itself at every hand: the switch, its values for "by hand" and "by
# itself", and the setting.
_AUTOMATIC = {
    "exposure": (cv2.CAP_PROP_AUTO_EXPOSURE, 1.0, 3.0, cv2.CAP_PROP_EXPOSURE),
    "white balance": (cv2.CAP_PROP_AUTO_WB, 0.0, 1.0, cv2.CAP_PROP_WB_TEMPERATURE),
    "focus": (cv2.CAP_PROP_AUTOFOCUS, 0.0, 1.0, cv2.CAP_PROP_FOCUS),
}
_NOTHING = "the device sends nothing; check its cable"
_SETTLES = 8  # pictures after which a setting shows
_SAME_LIGHT = 1.3  # by so much a locked picture may be brighter or darker than the one before


def device_names() -> dict[int, str]:
    """The cameras that the system lists, by number; empty where it does not tell."""
    found: dict[int, str] = {}
    for folder in sorted(_NAMES.glob("video*")):
        number = re.search(r"\d+$", folder.name)
        name = folder / "name"
        if number and name.is_file():
            found[int(number[0])] = name.read_text(encoding="utf-8", errors="replace").strip()
    return found


def device_number(source: int | str) -> int:
    """The number of a device given by number or by (part of) its name; raises SourceError."""
    if isinstance(source, int) or source.isdigit():
        return int(source)
    names = device_names()
    wanted = [number for number, name in names.items() if source.lower() in name.lower()]
    if not wanted:
        known = ", ".join(f"{n} {name!r}" for n, name in names.items()) or "none"
        raise SourceError(f"no camera is called {source!r}; connected are: {known}")
    return wanted[0]


class DeviceGrabber:
    """One USB camera through OpenCV; asks for JPEG pictures and keeps no old ones."""

    def __init__(
        self,
        source: int | str,
        size: tuple[int, int] = (1280, 720),
        fps: float = 15.0,
        settings: dict[str, float] | None = None,
    ) -> None:
        self._source = source
        self._size = size
        self._fps = fps
        self._settings = dict(settings or {})
        self._device: Any = None
        self.refused: tuple[str, ...] = ()

    def open(self) -> None:
        """Opens the device with the size, rate and settings wanted; raises SourceError."""
        number = device_number(self._source)
        device = cv2.VideoCapture(number)
        if not device.isOpened():
            device.release()
            raise SourceError(
                f"camera {number} cannot be opened; is it plugged in, and free of other programs?"
            )
        device.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        device.set(cv2.CAP_PROP_FRAME_WIDTH, self._size[0])
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, self._size[1])
        device.set(cv2.CAP_PROP_FPS, self._fps)
        device.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self._device = device
        if self._settings:
            self.refused = self.restore(self._settings)

    def settle(self) -> dict[str, float]:
        """Locks what the camera has chosen by itself, and tells it, to be restored later.

        Some cameras do not tell the exposure that they have chosen, and fall back to another one
        when it is locked: that is noticed by the picture, and such a lock is opened again.
        """
        chosen = {name: self._device.get(value) for name, (*_, value) in _AUTOMATIC.items()}
        before = self._brightness()
        refused = self.restore(chosen)
        after = self._brightness()
        if "exposure" not in refused and max(before, after) > _SAME_LIGHT * min(before, after):
            self._set_free("exposure")
            refused = ("exposure", *refused)
        self.refused = refused
        self._settings = {name: v for name, v in chosen.items() if name not in refused}
        return dict(self._settings)

    def restore(self, settings: dict[str, float]) -> tuple[str, ...]:
        """Sets exposure, white balance and focus by hand; returns what the camera refuses."""
        refused = []
        for name, wanted in settings.items():
            switch, by_hand, _, value = _AUTOMATIC[name]
            device = self._device
            done = device.set(switch, by_hand) and device.set(value, wanted)
            if not (done and abs(device.get(value) - wanted) <= max(1.0, 0.05 * abs(wanted))):
                self._set_free(name)
                refused.append(name)
        return tuple(refused)

    def _set_free(self, name: str) -> None:
        """Leaves a setting to the camera again."""
        switch, _, automatic, _ = _AUTOMATIC[name]
        self._device.set(switch, automatic)

    def _brightness(self) -> float:
        """How bright the picture is when settings have had time to show."""
        mean = 0.0
        for _ in range(_SETTLES):
            done, image = self._device.read()
            if not done:
                raise SourceLost(_NOTHING)
            mean = float(_picture(image)[0].mean())
        return mean + 1.0

    def grab(self) -> Shot | None:
        """The next picture; raises SourceLost where the device is gone."""
        done, image = self._device.read()
        if not done:
            raise SourceLost(_NOTHING)
        picture, data = _picture(image)
        return (picture, data) if picture.size else None

    def close(self) -> None:
        """Gives the device back."""
        if self._device is not None:
            self._device.release()
            self._device = None


def _picture(image: NDArray[np.uint8]) -> tuple[ImageBGR, bytes | None]:
    """What a driver gives as a picture, empty where it is damaged, and its JPEG if it is one."""
    if image.ndim == 3 and image.shape[-1] == 3:
        return image, None
    data = np.ascontiguousarray(image).tobytes()  # raw JPEG bytes from some drivers
    picture = decode(data)
    return (np.zeros((0, 0, 3), dtype=np.uint8) if picture is None else picture), data
