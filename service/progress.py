"""What the program is busy with, on the terminal of somebody who waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Shows a line on standard error while something lasts; nothing where no person looks.

    Gives a function that tells the present step.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield lambda step: status.update(f"{what}: {step}")
