"""Crashes: nothing that was accepted is lost, in the small (the full figures: `kiebitz bench`)."""

import pytest

from service.bench.crash import crash_server, crash_writer


def test_the_storage_writer_may_be_killed_at_any_moment() -> None:
    """No accepted turn is lost or half written."""
    crashes = crash_writer(10)

    assert crashes.accepted > 0
    assert crashes.good


@pytest.mark.slow
def test_the_storage_writer_may_be_killed_a_hundred_times() -> None:
    """The same, long enough to meet rare moments."""
    assert crash_writer(100, seed=2).good


@pytest.mark.slow
def test_the_whole_server_may_be_killed() -> None:
    """Twenty times in the middle of a game, and each event that was shown is still there."""
    crashes = crash_server(20)

    assert crashes.accepted > 20
    assert crashes.good
