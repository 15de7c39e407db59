"""Getting things ready beside: pictures are decoded while the ones before are looked at."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from threading import Condition, Thread
from typing import TypeVar

T = TypeVar("T")


def ahead(
    things: Iterable[T], most: float = 6, weight: Callable[[T], float] = lambda _: 1.0
) -> Generator[T]:
    """The same things in the same order, some of them made by another thread before.

    Nothing more is made while what waits weighs `most`. What goes wrong there is raised here, in
    its place. Closing ends the thread.
    """
    ready: deque[tuple[Future[T] | None, float]] = deque()
    changed = Condition()
    stopped = False

    def put(made: Future[T] | None, heavy: float = 0.0) -> bool:
        with changed:
            changed.wait_for(lambda: stopped or sum(w for _, w in ready) < most)
            ready.append((made, heavy))
            changed.notify()
            return not stopped

    def make() -> None:
        try:
            for thing in things:
                done: Future[T] = Future()
                done.set_result(thing)
                if not put(done, weight(thing)):
                    return
        except BaseException as error:  # noqa: BLE001 - raised where the things are used
            failed: Future[T] = Future()
            failed.set_exception(error)
            put(failed)
        put(None)

    thread = Thread(target=make, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            with changed:
                changed.wait_for(lambda: ready)
                made, _ = ready.popleft()
                changed.notify()
            if made is None:
                return
            yield made.result()
    finally:
        with changed:
            stopped = True
            changed.notify()
        thread.join()
