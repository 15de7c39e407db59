"""What a reader is told of a game's rules."""

import pytest

from rules.registry import GAMES, find_game
from service.table_eyes import keeps_heights_apart


@pytest.mark.parametrize(
    ("game", "apart"),
    [(name, name == "ksar") for name in GAMES],
)
def test_the_rules_tell_whether_equal_heights_may_stand_side_by_side(
    game: str, *, apart: bool
) -> None:
    """Only KSAR keeps pieces of one height apart."""
    assert keeps_heights_apart(find_game(game)) == apart
