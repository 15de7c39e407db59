"""What everybody may see of a session."""

from service.state import PlayState


def test_a_bonus_that_names_no_cells_is_shown_until_a_turn_is_made() -> None:
    """Where a bonus may be used is the player's choice; that there is one must be told."""
    state = PlayState()

    state.take({"event": "owed", "t": 1.0, "n": 3, "player": "L", "what": "bonus", "cells": {}})
    assert [debt["what"] for debt in state.owed] == ["bonus"]

    turn = {"n": 4, "player": "D", "move": "+a1^D", "legal": True, "final": False}
    state.take({"event": "turn", "t": 2.0, "score": {}, "stacks": {}, **turn})
    assert state.owed == []
