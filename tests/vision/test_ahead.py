"""Things that another thread makes ready: the same, in order, with what goes wrong."""

import threading
from collections.abc import Iterator

import pytest

from vision.ahead import ahead


def test_things_come_in_their_order() -> None:
    """Also far more of them than are made ready at a time."""
    assert list(ahead(range(100), most=3)) == list(range(100))


def test_what_goes_wrong_is_raised_in_its_place() -> None:
    """What came before it is not lost."""

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("a torn file")

    things = ahead(broken())

    assert next(things) == 1
    with pytest.raises(ValueError, match="torn"):
        next(things)


def test_closing_ends_the_thread() -> None:
    """Nobody goes on reading a file that is about to be closed."""
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    things = ahead(endless(), most=2)
    next(things)
    things.close()

    assert all(thread.name != "ahead" for thread in threading.enumerate())
    assert len(made) <= 5
