"""Events as people at a terminal read them."""

import pytest

from rules.events import Event
from rules.registry import find_game
from rules.sentences import LANGUAGES
from service.pretty import Pretty

EVENTS = [
    Event("phase", 1.0, {"phase": "play"}),
    Event("phase", 1.0, {"phase": "paused", "cells": ["d4"]}),
    Event("taken-back", 2.0, {"n": 9}),
    Event("kept", 3.0, {"n": 9}),
    Event("corrected", 4.0, {"cells": ["d4", "f6"]}),
    Event("answered", 5.0, {"cells": ["d4"]}),
    Event("turned", 6.0, {"degrees": 90.0, "quarters": 1}),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_event_is_a_sentence(language: str) -> None:
    """Nobody has to read the names of events or of their fields."""
    pretty = Pretty(find_game("kewbz").set_up(), language, coloured=False)

    lines = [pretty.text(event) for event in EVENTS]

    assert all(len(line.split()) > 2 for line in lines)
    assert not [line for line in lines if "{" in line or "taken-back" in line]


def test_facts_stand_in_the_sentence() -> None:
    """Which turn, which cells."""
    pretty = Pretty(find_game("kewbz").set_up(), coloured=False)

    assert pretty.text(EVENTS[2]) == "  0:02.0  turn 9 is taken back"
    assert pretty.text(EVENTS[4]).endswith("misread before, corrected now: d4, f6")
