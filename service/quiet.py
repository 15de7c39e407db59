"""Keeps what image libraries write on standard error from standing between our sentences."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

_ERR = 2  # libraries write there, past `sys.stderr`
_MOST = 100_000  # bytes of their words that are looked through
# Many webcams send a few bytes too many, also in what others have recorded; nothing is lost then.
_HARMLESS = re.compile(rb"\b\d extraneous bytes before marker")


@contextlib.contextmanager
def quiet_libraries(*, live: bool = False) -> Iterator[Callable[[], bool]]:
    """Only what Kiebitz says is printed; gives a question: was any picture said to be damaged?

    A JPEG that is damaged in its middle is decoded all the same, with a word to the terminal.
    `live`: nobody asks, for the next picture is whole, and the words of an evening need no room.
    """
    ours = sys.stderr
    ours.flush()
    terminal = os.dup(_ERR)
    with Path(os.devnull).open("w+b") if live else tempfile.TemporaryFile() as words:
        os.dup2(words.fileno(), _ERR)
        if _number(ours) == _ERR:
            sys.stderr = open(  # noqa: SIM115  closed below
                terminal,
                "w",
                buffering=1,
                encoding=ours.encoding,
                errors=ours.errors,
                closefd=False,
            )

        def damaged() -> bool:
            words.seek(0)
            said = words.read(_MOST).splitlines()
            return any(b"JPEG" in line and not _HARMLESS.search(line) for line in said)

        try:
            yield damaged
        finally:
            sys.stderr.flush()
            sys.stderr = ours
            os.dup2(terminal, _ERR)
            os.close(terminal)


def _number(stream: object) -> int:
    """The number of the file behind a stream; -1 where there is none, as under test."""
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return -1
