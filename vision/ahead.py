"""Getting things ready beside: pictures are decoded while the ones before are looked at."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future
from queue import Full, Queue
from threading import Event, Thread
from typing import TypeVar

_POLL_S = 0.1  # so often a thread that waits looks whether it should stop

T = TypeVar("T")


def ahead(things: Iterable[T], most: int = 6) -> Generator[T]:
    """The same things in the same order, up to `most` of them made by another thread before.

    What goes wrong there is raised here, in its place. Closing ends the thread.
    """
    ready: Queue[Future[T] | None] = Queue(most)
    stop = Event()

    def put(made: Future[T] | None) -> None:
        while not stop.is_set():
            try:
                return ready.put(made, timeout=_POLL_S)
            except Full:
                continue
        return None

    def make() -> None:
        try:
            for thing in things:
                done: Future[T] = Future()
                done.set_result(thing)
                put(done)
                if stop.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised where the things are used
            failed: Future[T] = Future()
            failed.set_exception(error)
            put(failed)
        put(None)

    thread = Thread(target=make, name="ahead", daemon=True)
    thread.start()
    try:
        while (made := ready.get()) is not None:
            yield made.result()
    finally:
        stop.set()
        thread.join()
