"""Exposure: what a camera that adjusts itself does to all pixels alike."""

import numpy as np

from vision.exposure import change_of, common_gains, in_light

PIXELS = np.random.default_rng(4).integers(40, 180, (400, 3)).astype(np.uint8)
LIGHTER = np.array([1.3, 1.2, 1.1], dtype=np.float32)


def test_what_most_pixels_share_is_found() -> None:
    """A fifth of the pixels show something else; the rest tells how light changed."""
    now = in_light(PIXELS, LIGHTER)
    now[:80] = 255 - now[:80]

    assert np.allclose(common_gains(PIXELS, now), LIGHTER, atol=0.02)


def test_noise_is_no_exposure() -> None:
    """Pixels that differ by noise alone are taken as they are."""
    noise = np.random.default_rng(5).integers(-3, 4, PIXELS.shape)

    assert (common_gains(PIXELS, (PIXELS + noise).astype(np.uint8)) == 1).all()


def test_light_can_be_taken_back() -> None:
    """Pixels in other light, seen in the first light again, are the same but for rounding."""
    back = in_light(in_light(PIXELS, LIGHTER), np.float32(1) / LIGHTER)

    assert np.abs(back.astype(int) - PIXELS).max() <= 1


def test_no_exposure_is_no_change_of_light() -> None:
    """Factors of 1 add nothing in the space of colours; equal ones change brightness alone."""
    assert (change_of(np.ones(3, dtype=np.float32)) == 0).all()
    assert np.allclose(change_of(np.full(3, 2, np.float32)), [np.log(2), 0, 0], atol=1e-6)
