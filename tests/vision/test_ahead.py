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


def test_heavy_things_are_not_made_far_ahead() -> None:
    """What waits weighs no more than it may, but for the last thing."""
    made: list[int] = []

    def heavy() -> Iterator[int]:
        for number in range(20):
            made.append(number)
            yield number

    things = ahead(heavy(), most=10.0, weight=lambda _: 4.0)
    first = next(things)
    waiting = threading.Event()
    waiting.wait(0.2)

    assert first == 0
    assert len(made) <= 5  # one is used, three wait, one is held until there is room
    assert list(things) == list(range(1, 20))
