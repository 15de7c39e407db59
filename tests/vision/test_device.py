"""USB cameras that are no real ones: what they choose by themselves is locked and set again."""

import time

import cv2
import numpy as np
import pytest

from vision.errors import SourceError
from vision.sources.device import DeviceGrabber
from vision.sources.live import LiveSource

CHOSEN = {"exposure": 156.0, "white balance": 4600.0, "focus": 30.0}
VALUES = {
    cv2.CAP_PROP_EXPOSURE: 156.0,
    cv2.CAP_PROP_WB_TEMPERATURE: 4600.0,
    cv2.CAP_PROP_FOCUS: 30.0,
}


class Webcam:
    """A device that has set itself to the light; `refuses` are properties it does not obey in."""

    def __init__(self, *, refuses: tuple[int, ...] = (), locked_level: int = 100) -> None:
        self.refuses = refuses
        self.locked_level = locked_level
        self.values = dict(VALUES)
        self.set_to: dict[int, float] = {}
        self.number = 0

    def isOpened(self) -> bool:  # noqa: N802  as OpenCV calls it
        return True

    def set(self, prop: int, value: float) -> bool:
        if prop in self.refuses:
            return False
        self.set_to[prop] = value
        if prop in self.values:
            self.values[prop] = value
        return True

    def get(self, prop: int) -> float:
        return self.values.get(prop, 0.0)

    def read(self) -> tuple[bool, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
        time.sleep(0.002)
        self.number += 1
        by_hand = self.set_to.get(cv2.CAP_PROP_AUTO_EXPOSURE) == 1.0
        image = np.full((48, 64, 3), self.locked_level if by_hand else 100, dtype=np.uint8)
        image[0, 0] = self.number % 200
        return True, image

    def release(self) -> None:
        """Nothing is held."""


def plugged_in(monkeypatch: pytest.MonkeyPatch, webcam: Webcam) -> Webcam:
    """Device 0 is this webcam from now on."""
    monkeypatch.setattr(cv2, "VideoCapture", lambda _: webcam)
    return webcam


def test_what_the_camera_chose_is_locked_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exposure, white balance and focus stay as they are, with their automatics off."""
    webcam = plugged_in(monkeypatch, Webcam())
    source = LiveSource("overhead", DeviceGrabber(0))

    chosen = source.settle()
    source.close()

    assert chosen == CHOSEN
    assert webcam.set_to[cv2.CAP_PROP_AUTO_EXPOSURE] == 1.0
    assert webcam.set_to[cv2.CAP_PROP_AUTO_WB] == 0.0
    assert webcam.set_to[cv2.CAP_PROP_AUTOFOCUS] == 0.0


def test_kept_settings_are_set_at_every_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """A camera that comes back has forgotten them, and gets them again."""
    webcam = plugged_in(monkeypatch, Webcam())
    grabber = DeviceGrabber(0, settings={"exposure": 80.0})
    for _ in range(2):
        webcam.values[cv2.CAP_PROP_EXPOSURE] = 156.0
        grabber.open()

        assert webcam.values[cv2.CAP_PROP_EXPOSURE] == 80.0
        grabber.close()


def test_a_camera_that_refuses_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be locked is left to the camera, and people hear of it."""
    plugged_in(monkeypatch, Webcam(refuses=(cv2.CAP_PROP_AUTO_WB, cv2.CAP_PROP_WB_TEMPERATURE)))
    source = LiveSource("overhead", DeviceGrabber(0))

    chosen = source.settle()
    told = source.changes()
    source.close()

    assert chosen.keys() == {"exposure", "focus"}
    assert [(change.state, change.why) for change in told] == [("refused", "white balance")]
    assert "goes on changing its white balance by itself" in told[0].say


def test_a_lock_that_changes_the_picture_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some cameras do not tell their exposure, and become dark when it is locked."""
    webcam = plugged_in(monkeypatch, Webcam(locked_level=30))
    grabber = DeviceGrabber(0)
    grabber.open()

    chosen = grabber.settle()

    assert "exposure" not in chosen
    assert grabber.refused == ("exposure",)
    assert webcam.set_to[cv2.CAP_PROP_AUTO_EXPOSURE] == 3.0


def test_a_missing_camera_is_told_without_noise(capfd: pytest.CaptureFixture[str]) -> None:
    """One sentence by Kiebitz, and nothing by the library underneath."""
    with pytest.raises(SourceError, match="camera 9 cannot be opened"):
        DeviceGrabber(9).open()
    assert capfd.readouterr().err == ""
