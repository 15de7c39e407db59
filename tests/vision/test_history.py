"""What stood on a cell tells which readings of it are likely."""

import pytest

from vision.history import as_remembered, hearsay, with_history

ROWS = [
    pytest.param("", "B", "B", id="a first piece"),
    pytest.param("YY", "YYB", "YYB", id="one more on top"),
    pytest.param("YYB", "YY", "YY", id="the top taken away"),
    pytest.param("YB", "YY", "YY", id="the top exchanged"),
    pytest.param("GR", "GBR", "GBR", id="one put in between"),
    pytest.param("YYB", "BYB", "YYB", id="a buried unit misread"),
    pytest.param("LL", "DDD", "LLD", id="all below the new top misread"),
]


@pytest.mark.parametrize(("before", "now", "remembered"), ROWS)
def test_buried_units_keep_their_colour(before: str, now: str, remembered: str) -> None:
    """Only what hands can do between two looks is believed."""
    assert as_remembered(before, now) == remembered


def test_doubt_about_buried_units_goes_by_what_was_seen_before() -> None:
    """A stack that would have been rebuilt from below makes way for the one that only grew."""
    choices = with_history({"BYB": 0.9, "YYB": 0.1}, "YYB")

    assert next(iter(choices)) == "YYB"
    assert choices["YYB"] > 0.95


def test_an_honest_doubt_stays_one() -> None:
    """Where both readings only add to the stack, nothing is decided."""
    assert with_history({"YB": 0.5, "YY": 0.5}, "Y") == {"YB": 0.5, "YY": 0.5}


def test_one_piece_more_is_likelier_than_two() -> None:
    """Hands put down one piece at a time, but a single one may be as high as two."""
    choices = {"BBB": 0.52, "BB": 0.48}

    assert next(iter(with_history(choices, "B", {1}))) == "BB"
    assert next(iter(with_history(choices, "B", {1, 2}))) == "BBB"


def test_only_covered_units_are_hearsay() -> None:
    """The top is seen; units below it that differ from before are not to be trusted."""
    assert hearsay("BB", "YBBB") == [0]
    assert hearsay("B", "Y") == []
