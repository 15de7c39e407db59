"""A camera's health: what its frames and their times say about it."""

from collections.abc import Callable

import numpy as np
import pytest

from vision.frame import ImageBGR
from vision.health import Health

RNG = np.random.default_rng(2)


def noise(mean: float, spread: float) -> ImageBGR:
    """A picture of coarse noise."""
    return np.asarray(np.clip(RNG.normal(mean, spread, (180, 320, 3)), 0, 255), dtype=np.uint8)


def follow(
    health: Health, picture: Callable[[], ImageBGR], begin: float, seconds: float
) -> list[str]:
    """What is told while such pictures come."""
    told: list[str] = []
    for t in np.arange(begin, begin + seconds, 1 / 15):
        image = picture()
        health.seen(float(t), image, image)
        state = health.judged(float(t), -np.inf)
        told += [state] if state else []
    return told


def sharp() -> ImageBGR:
    """A good picture."""
    return noise(120, 40)


FAULTS = [
    pytest.param(lambda: noise(3, 2), "dark", id="lamp off"),
    pytest.param(lambda: noise(20, 2), "dark", id="one lamp far away"),
    pytest.param(lambda: noise(120, 1), "covered", id="a hand on the lens"),
    pytest.param(lambda: np.asarray(noise(120, 9)), "blurred", id="out of focus"),
]


@pytest.mark.parametrize(("picture", "state"), FAULTS)
def test_a_bad_picture_is_told_once_and_so_is_the_good_one_after_it(
    picture: Callable[[], ImageBGR], state: str
) -> None:
    """Within two seconds, and not for a hand that passes."""
    health = Health()

    assert follow(health, sharp, 0, 2) == []
    assert follow(health, picture, 2, 0.6) == []
    assert follow(health, picture, 2.6, 1.4) == [state]
    assert follow(health, sharp, 4, 1) == ["back"]


def test_a_silent_camera_is_lost_after_two_seconds_at_most() -> None:
    """Time alone tells it, as no frame comes that could."""
    health = Health()
    follow(health, sharp, 0, 1)

    assert health.judged(2.0, -np.inf) is None
    assert health.judged(2.9, -np.inf) == "lost"
    assert not health.good


def test_the_same_picture_is_frozen_only_if_others_saw_something_move() -> None:
    """A drawn table without noise looks frozen while nobody touches it."""
    still = sharp()
    health = Health()
    assert follow(health, lambda: still, 0, 5) == []

    assert health.judged(5.0, 3.0) == "frozen"
