"""Clips of turns, written while a game is watched."""

from pathlib import Path

import cv2
import numpy as np

from rules.events import Event
from service.clips import Clips
from vision.frame import Frame
from vision.sources.jpeg import encode


def turn(t: float, n: int, *, legal: bool) -> Event:
    """A turn as it is told first."""
    return Event("turn", t, {"n": n, "legal": legal, "final": False})


def play(clips: Clips, begin: float, end: float) -> None:
    """Pictures of one camera, fifteen a second, whose brightness tells their second."""
    for number in range(round(begin * 15), round(end * 15)):
        image = np.full((48, 64, 3), 10 * int(number / 15), dtype=np.uint8)
        t = number / 15
        clips.keep(t, {"overhead": Frame(image, t, "overhead", encode(image))})


def pictures(path: Path) -> list[float]:
    """The brightness of a clip's pictures."""
    capture = cv2.VideoCapture(str(path))
    found = []
    while (shot := capture.read())[0]:
        found.append(float(shot[1].mean()))
    return found


def test_each_turn_gets_its_clip(tmp_path: Path) -> None:
    """From the turn before to a second after; an illegal one says so in its name."""
    clips = Clips(tmp_path / "clips")
    play(clips, 0, 5)
    clips.told(turn(5, 1, legal=True))
    play(clips, 5, 9)
    clips.told(turn(9, 2, legal=False))
    play(clips, 9, 9.5)
    clips.close()

    names = sorted(path.name for path in (tmp_path / "clips").iterdir())
    assert names == ["001-overhead.avi", "002-illegal-overhead.avi"]
    second = pictures(tmp_path / "clips" / "002-illegal-overhead.avi")
    assert len(second) == int(15 * 4.5)
    assert abs(second[0] - 50) < 4
    assert abs(second[-1] - 90) < 4


def test_a_turn_that_is_told_anew_has_one_clip(tmp_path: Path) -> None:
    """What was legal and grew into something illegal is shown once, up to its end."""
    clips = Clips(tmp_path)
    play(clips, 0, 3)
    clips.told(turn(3, 1, legal=True))
    play(clips, 3, 5)
    clips.told(turn(5, 1, legal=False))
    play(clips, 5, 8)

    assert [path.name for path in tmp_path.iterdir()] == ["001-illegal-overhead.avi"]
    assert len(pictures(tmp_path / "001-illegal-overhead.avi")) == 15 * 6 + 1


def test_a_breach_that_is_told_once_more_later_keeps_its_clip(tmp_path: Path) -> None:
    """Turns may be told anew when something that was hidden shows itself, scenes afterwards."""
    clips = Clips(tmp_path)
    play(clips, 0, 3)
    clips.told(turn(3, 1, legal=False))
    play(clips, 3, 20)
    clips.told(Event("turn", 20.0, {"n": 1, "legal": False, "final": True}))
    play(clips, 20, 23)

    assert max(pictures(tmp_path / "001-illegal-overhead.avi")) < 50
