"""A camera's place: bumps are noticed, and the new place is found from what does not move."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration import cv
from calibration.camera import Camera
from calibration.realign import Remembered
from tests.vision.test_follow import BOARD, EYES, SIZE
from vision.frame import ImageBGR
from vision.place import Anchor

CAMERA = EYES["side"]
CORNERS = np.array([(x, y, z) for x in (0, 88) for y in (0, 88) for z in (0, 60)], dtype=float)
GRAIN = np.random.default_rng(4).uniform(40, 200, (120, 120, 3)).astype(np.uint8)


def table(camera: Camera, seed: int, light: float = 1.0) -> ImageBGR:
    """A speckled table as a camera sees it, with noise."""
    grain = cv2.resize(GRAIN, (1200, 1200), interpolation=cv2.INTER_CUBIC)
    on_table = np.array(
        [(-300, -300, 0), (400, -300, 0), (400, 400, 0), (-300, 400, 0)], dtype=float
    )
    seen = camera.project(on_table).astype(np.float32)
    corners = np.array([(0, 0), (1199, 0), (1199, 1199), (0, 1199)], dtype=np.float32)
    drawn = cv2.warpPerspective(grain, cv2.getPerspectiveTransform(corners, seen), SIZE)
    noise = np.random.default_rng(seed).normal(0, 3, drawn.shape)
    return np.asarray(np.clip(drawn * light + noise, 0, 255), dtype=np.uint8)


def bumped(
    camera: Camera, turn_deg: Sequence[float], shift_mm: Sequence[float] = (0, 0, 0)
) -> Camera:
    """The camera after somebody has knocked against it."""
    turn = cv.rotation_of(np.radians(turn_deg))
    place = turn @ camera.translation_mm + np.array(shift_mm)
    return replace(camera, rotation=turn @ camera.rotation, translation_mm=place)


def test_a_camera_that_stands_still_is_steady() -> None:
    """Noise and another exposure are no bump."""
    sighting = Anchor(CAMERA, BOARD, table(CAMERA, 1)).sight(table(CAMERA, 2, 0.7))

    assert sighting.known
    assert sighting.steady


BUMPS = [
    pytest.param((0.3, -0.2, 0.1), (0, 0, 0), id="turned a little"),
    pytest.param((0.5, 0.8, -1.0), (0, 0, 0), id="turned by more than a degree"),
    pytest.param((0.3, 0.3, 0.2), (6, -4, 3), id="pushed and turned"),
]


@pytest.mark.parametrize(("turn_deg", "shift_mm"), BUMPS)
def test_a_bumped_camera_finds_its_place_again(
    turn_deg: Sequence[float], shift_mm: Sequence[float]
) -> None:
    """The new place is right to a pixel wherever pieces can stand."""
    after = bumped(CAMERA, turn_deg, shift_mm)
    sighting = Anchor(CAMERA, BOARD, table(CAMERA, 1)).sight(table(after, 2))

    assert sighting.known
    assert not sighting.steady
    found = Remembered(CAMERA, table(CAMERA, 1), BOARD).realigned(table(after, 2))
    assert found is not None
    assert np.abs(found.project(CORNERS) - after.project(CORNERS)).max() < 1.0


def test_the_empty_table_moves_along() -> None:
    """The picture that readings are compared with is that of the new place."""
    after = bumped(CAMERA, (0.5, 0.8, -1.0))
    remembered = Remembered(CAMERA, table(CAMERA, 1), BOARD)

    moved = remembered.picture_from(after)[40:-40, 40:-40]
    off = np.abs(moved.astype(float) - table(after, 3)[40:-40, 40:-40])
    assert float(np.median(off)) < 8


def test_another_table_is_not_known() -> None:
    """A view with nothing in common is told from a bumped camera."""
    other = np.asarray(cv2.flip(table(CAMERA, 2), 0), dtype=np.uint8)

    sighting = Anchor(CAMERA, BOARD, table(CAMERA, 1)).sight(other)

    assert not sighting.known
    assert sighting.strange


def cloth(spare: Sequence[tuple[int, int]]) -> ImageBGR:
    """A board on a plain cloth; all there is to follow are spare pieces beside it."""
    image = np.full((SIZE[1], SIZE[0], 3), (120, 70, 40), dtype=np.uint8)
    on_table = np.array([(-12, -12, 0), (100, -12, 0), (100, 100, 0), (-12, 100, 0.0)])
    cv2.fillPoly(image, [np.round(CAMERA.project(on_table)).astype(np.int32)], (130, 175, 205))
    for x, y in spare:
        cv2.rectangle(image, (x, y), (x + 22, y + 18), (40, 190, 220), -1)
    return image


def test_a_plain_table_whose_spare_pieces_were_taken_is_the_same_table() -> None:
    """Not one thing is found again; the picture as a whole is enough."""
    before = cloth([(20 + 47 * i, 12 + 9 * (i % 3)) for i in range(13)])
    sighting = Anchor(CAMERA, BOARD, before).sight(cloth([(300, 5)]))

    assert not sighting.known
    assert sighting.familiar


def test_spare_pieces_that_moved_do_not_make_another_table() -> None:
    """Only a small part of the table has grain; what is followed elsewhere lies elsewhere now."""
    before, after = table(CAMERA, 1), table(bumped(CAMERA, (0, 0, 4), (30, 10, 0)), 2)
    after[:, :300] = table(CAMERA, 2)[:, :300]
    for image in (before, after):
        image[:130] = image[230:] = (120, 70, 40)  # a plain cloth
    sighting = Anchor(CAMERA, BOARD, before).sight(after)

    assert sighting.staying > 1
    assert not sighting.strange


def printed(seen: Camera, spare: Sequence[tuple[int, int]]) -> ImageBGR:
    """A board with printed cells on a plain cloth, and spare pieces beside it."""
    image = np.full((SIZE[1], SIZE[0], 3), (120, 70, 40), dtype=np.uint8)
    for x in range(4):
        for y in range(4):
            cell = [
                (x * 22 + dx, y * 22 + dy, 0.0) for dx, dy in ((2, 2), (19, 2), (19, 19), (2, 19))
            ]
            px = np.round(16 * seen.project(np.array(cell))).astype(np.int32)
            cv2.fillPoly(image, [px], (130, 175, 205), cv2.LINE_AA, 4)
    for x, y in spare:
        cv2.rectangle(image, (x, y), (x + 22, y + 18), (40, 190, 220), -1)
    return image


SPARE = [(20 + 47 * i, 12 + 9 * (i % 3)) for i in range(13)]
ELSEWHERE = [(31 + 45 * i, 330 - 11 * (i % 4)) for i in range(13)]


def test_a_board_that_nobody_turns_tells_where_the_camera_stands() -> None:
    """All spare pieces lie elsewhere by now; the board's own lines are followed."""
    anchor = Anchor(CAMERA, BOARD, printed(CAMERA, SPARE), board_lies=True)
    after = bumped(CAMERA, (0.3, 0.5, -0.4))

    stays = anchor.sight(printed(CAMERA, ELSEWHERE))
    moved = anchor.sight(printed(after, ELSEWHERE))
    assert stays.known
    assert stays.steady
    assert moved.known
    assert not moved.steady
