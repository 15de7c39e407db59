"""Watching a camera: bumps, hands, lamps, darkness, focus, and finding its place again."""

from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.cv import Image, rotation_of
from calibration.drift import State, Watch
from calibration.realign import Remembered
from rules.lattice import Board, Lattice
from tests.calibration import scenes

BOARD = Board(Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)))
SIZE = (800, 600)


def wood(b: float, g: float, r: float, seed: int) -> scenes.Paint:
    """A grainy cover."""
    return scenes.grain(scenes.plain(b, g, r), 0.12, seed)


def seen_by(camera: Camera, *, pieces: bool = False, look: scenes.Look | None = None) -> Image:
    """A ruled board and some things around it."""
    board = scenes.lines(wood(0.3, 0.5, 0.6, 1), (0.06, 0.09, 0.13), 22.0, (8, 8), 1.4)
    boxes = [
        scenes.Box((-14, -14, -5), (190, 190, 0), board, (0.2, 0.3, 0.4)),
        scenes.Box((215, 60, -5), (290, 110, 10), wood(0.6, 0.2, 0.1, 3), (0.5, 0.2, 0.1), 20),
        scenes.Box((-90, 20, -5), (-40, 130, 3), wood(0.1, 0.2, 0.7, 4), (0.1, 0.2, 0.6), -15),
    ]
    if pieces:
        for x, y in ((33, 55), (121, 77), (77, 143)):
            boxes.append(scenes.cube(x, y, 0, 20, (0.5, 0.15, 0.05), 4))
    cloth = scenes.Look(table=wood(0.22, 0.25, 0.2, 2))
    return scenes.draw(camera, boxes, -5.0, look or cloth)


@dataclass(frozen=True)
class Calibrated:
    """A camera that was calibrated, and what watches it."""

    camera: Camera
    reference: Image
    watch: Watch
    remembered: Remembered


@pytest.fixture(scope="module")
def calibrated() -> Calibrated:
    """A camera in front of the table."""
    camera = scenes.look_at(SIZE, 700, (120, -230, 360), (88, 88, 0))
    reference = seen_by(camera)
    return Calibrated(
        camera, reference, Watch.of(camera, reference), Remembered(camera, reference, BOARD)
    )


def arm(image: Image) -> Image:
    """A forearm that reaches onto the board."""
    picture = image.copy()
    cv2.line(picture, (650, 599), (430, 330), (120, 150, 205), 90, cv2.LINE_AA)
    return picture


VIEWS = [
    pytest.param(lambda image: image, "steady", id="nothing happens"),
    pytest.param(arm, "steady", id="a hand"),
    pytest.param(lambda image: (image * 0.55).astype(np.uint8), "steady", id="a lamp switched off"),
    pytest.param(lambda image: (image * 0.03).astype(np.uint8), "dark", id="all lamps off"),
    pytest.param(lambda image: cv2.GaussianBlur(image, (0, 0), 6), "blurred", id="out of focus"),
    pytest.param(lambda image: np.full_like(image, 90), "covered", id="a card on the lens"),
    pytest.param(
        lambda image: cv2.GaussianBlur(arm(np.full_like(image, 140)), (0, 0), 60),
        "covered",
        id="a hand before the lens",
    ),
]


@pytest.mark.parametrize(("change", "state"), VIEWS)
def test_what_became_of_a_camera_is_told_apart(
    calibrated: Calibrated, change: object, state: State
) -> None:
    """Hands and lamps are no bump; dark, covered and blurred are different things."""
    assert callable(change)

    assert calibrated.watch.look(change(calibrated.reference)).state == state


def bumped(camera: Camera, mm: float, degrees: float) -> Camera:
    """The camera after a bump to the side."""
    turn = rotation_of(np.radians(degrees) * np.array([0.5, 0.7, 0.5])) @ camera.rotation
    place = camera.position_mm + mm * np.array([0.7, 0.6, 0.4])
    return Camera.of(camera.lens, turn, -turn @ place)


BUMPS = [
    pytest.param(3.0, 0.6, id="slightly"),
    pytest.param(25.0, 5.0, id="badly"),
    pytest.param(50.0, 10.0, id="as far as it is put right"),
]


@pytest.mark.parametrize(("mm", "degrees"), BUMPS)
def test_a_bumped_camera_finds_its_place_again(
    calibrated: Calibrated, mm: float, degrees: float
) -> None:
    """With pieces on the board and a hand over it: right within 4 mm on the board and above it."""
    true = bumped(calibrated.camera, mm, degrees)
    frame = arm(seen_by(true, pieces=True))

    drift = calibrated.watch.look(frame)
    found = calibrated.remembered.realigned(frame)

    assert drift.state == "moved"
    assert found is not None
    for height in (0.0, 100.0):
        spots = np.array([[x, y, height] for x in (0, 88, 176) for y in (0, 88, 176)], float)
        off = found.back_project(true.project(spots), height) - spots
        assert np.linalg.norm(off, axis=1).max() < 4.0


def test_another_table_is_no_new_place(calibrated: Calibrated) -> None:
    """Where nothing is recognised there is no answer."""
    rng = np.random.default_rng(3)
    other = cv2.resize(
        rng.integers(0, 255, (30, 40, 3)).astype(np.uint8), SIZE, interpolation=cv2.INTER_CUBIC
    )

    assert calibrated.remembered.realigned(np.asarray(other, np.uint8)) is None
