"""An evening of frames in two minutes."""

import pytest

from service.bench.soak import soak


@pytest.mark.slow
def test_two_minutes_of_frames_and_failures_lose_nothing() -> None:
    """Every broken camera is told and welcomed back, and memory stays where it was."""
    found = soak(minutes=2, breaks=4, seed=1)

    assert found.good, found
    assert found.turns > 0
