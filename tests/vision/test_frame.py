"""Frames that were made ready beside: whoever watches sees the same."""

import numpy as np
import pytest

from tests.vision.test_follow import BOARD, camera
from vision.frame import Frame, ImageBGR
from vision.play_area import PlayArea
from vision.watched import fitted


def noise(width: int, height: int) -> ImageBGR:
    """A picture in which every pixel counts."""
    return np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("size", [(1280, 720), (960, 540), (256, 144)], ids=str)
def test_a_prepared_frame_is_watched_as_any_other(size: tuple[int, int]) -> None:
    """The small picture is the one that would have been made later."""
    area = PlayArea.of(camera(6, 80).scaled(size), BOARD)
    frame = Frame(noise(*size), 0.0, "overhead")

    ready = frame.prepared()

    assert ready.small is not None
    assert area.small(ready) is ready.small
    assert np.array_equal(ready.small, area.small(frame))


def test_a_strip_of_a_picture_is_made_small() -> None:
    """A stray file in a folder of pictures is told as one of another size, later."""
    frame = Frame(noise(2000, 1), 0.0, "overhead").prepared()

    assert frame.small is not None
    assert frame.small.shape == (1, 320, 3)


def test_a_small_picture_of_another_size_is_not_taken() -> None:
    """A camera that was calibrated upright, say, and is turned now."""
    area = PlayArea.of(camera(6, 80).scaled((1280, 720)), BOARD)
    frame = Frame(noise(1280, 720), 0.0, "overhead", small=noise(320, 181))

    assert area.small(frame).shape == (180, 320, 3)


def test_a_frame_that_is_fitted_forgets_its_small_picture() -> None:
    """It was made of other pixels than those that count now."""
    frame = Frame(noise(640, 360), 0.0, "overhead").prepared()

    fitting = fitted(frame, (1280, 720))

    assert fitting is not None
    assert fitting.small is None
    assert fitted(frame, (640, 360)) is frame
