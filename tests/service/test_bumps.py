"""Bumped cameras on virtual tables of all six games: noticed, and never put in a wrong place."""

import pytest

from rules.registry import GAMES
from service.bench.bumps import BumpRow, rows


@pytest.mark.slow
def test_bumped_cameras_are_noticed_and_none_is_put_in_a_wrong_place() -> None:
    """Two cameras a game, with and without a hand; most are found again, right to 4 mm."""
    games = [name for name in GAMES if name != "free"]

    found = list(rows(games, 1, "tune", 40, bumps=((25.0, 5.0),), size=(640, 360)))

    assert sum(row.bumps for row in found) == 24
    assert sum(row.noticed for row in found) == 24
    assert sum(len(row.off_mm) for row in found) >= 20
    assert sum(row.wrong for row in found) == 0


def test_a_row_tells_its_counts() -> None:
    """Places that are told and off by more than 4 mm count as wrong."""
    row = BumpRow("kewbz", "25 mm, 5 deg", noticed=4, bumps=4, off_mm=[0.5, 9.0, 1.0])

    assert row.texts() == ("kewbz", "25 mm, 5 deg", "4 of 4", "3 of 4", "1.0", "9.0", "1")
