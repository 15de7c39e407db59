"""Changes of a position tried together: worth what each is worth by itself, and counted once."""

import numpy as np
import pytest

from tests.vision.test_placing import BRICKS, laid
from vision.position import Position
from vision.trials import Trials


def test_many_trials_at_once_gain_what_each_gains_by_itself() -> None:
    """Trying placements together saves time, and changes nothing."""
    placing = laid(BRICKS)
    position = placing.position
    changes = [
        {column: spot.stack() for column in spot.columns} for spot in placing.kit.spots[::40]
    ]

    gains = Trials(position).gains(changes)

    alone = [position.gain(change) for change in changes]
    assert np.allclose(gains, alone, atol=0.01)
    assert max(gains) - min(gains) > 100


def test_a_state_that_was_met_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever way leads to a state, its score is the same."""
    placing = laid(BRICKS)
    position, trials = placing.position, Trials(placing.position)
    spot = min(placing.pieces(), key=lambda piece: piece.columns)
    none = dict.fromkeys(spot.columns, np.zeros(0, dtype=np.int8))
    (lost,) = trials.gains([none])
    position.change(none)
    monkeypatch.delattr(Position, "gain")

    (won,) = trials.gains([dict.fromkeys(spot.columns, np.zeros(0, dtype=np.int8))])

    assert lost < -100
    assert won == pytest.approx(0.0, abs=0.05)
