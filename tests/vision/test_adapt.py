"""Colours that follow the picture: light on a face is judged by all colours together."""

import numpy as np
import pytest

from calibration.colour import FACES, CameraColours
from vision.adapt import AdaptSettings, light_on

LIGHT, DARK = -2.6, -4.4  # two woods on a side in shadow, told apart by brightness alone


@pytest.fixture
def woods() -> CameraColours:
    """Two woods of the same hue."""
    mean = np.zeros((2, len(FACES), 3), dtype=np.float32)
    mean[..., 0] = np.array([LIGHT, DARK])[:, None]
    mean[..., 1] = 0.5
    seen = np.ones((2, len(FACES)), dtype=bool)
    spread = np.full((2, len(FACES), 2), 0.15, dtype=np.float32)
    return CameraColours(("L", "D"), mean, spread, seen, np.zeros(6, dtype=np.float32))


def pixels(rng: np.random.Generator, *brightness: float) -> np.ndarray:
    """A hundred pixels of each brightness, with noise."""
    found = np.full((100 * len(brightness), 3), [0.0, 0.5, 0.0])
    found[:, 0] = np.repeat(brightness, 100)
    return (found + rng.normal(0, 0.05, found.shape)).astype(np.float32)


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.6], ids=["darker", "same", "brighter"])
def test_light_is_found_from_both_woods(woods: CameraColours, shift: float) -> None:
    """Both woods brighter or darker by as much: that is the light, within what the prior takes."""
    here = pixels(np.random.default_rng(1), LIGHT + shift, DARK + shift)

    assert light_on(here, 1, woods, AdaptSettings()) == pytest.approx(shift, abs=0.1)


def test_a_shadow_is_no_change_of_light(woods: CameraColours) -> None:
    """Where most lies in the light as calibrated, darker pixels lie in shadow."""
    here = pixels(np.random.default_rng(1), LIGHT, LIGHT, LIGHT, DARK, LIGHT - 0.8)

    assert light_on(here, 1, woods, AdaptSettings()) == pytest.approx(0.0, abs=0.06)
