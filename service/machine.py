"""What is asked of the machine before anything is counted: memory that stays, and one core.

The C library gives a block as large as a picture back to the system as soon as it is free, and the
system clears each page of the next one: unpacking a picture took twice as long because of that.
Products of matrices on all cores wait for the slowest one, and the others have pictures to unpack.
"""

import contextlib
import os
import sys

_TRIM, _MMAP, _ARENAS = -1, -3, -8  # as malloc.h of glibc names them
_KEPT = 128 << 20  # bytes that may be free before any go back
_LARGE = 32 << 20  # bytes from which on a block is the system's own


def keep_memory() -> None:
    """Asks the C library not to give blocks of a picture's size back; elsewhere nothing is done."""
    if not sys.platform.startswith("linux"):
        return
    # Another C library, or a Python that was built without a way to it.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        library = ctypes.CDLL(None)
        library.mallopt(_MMAP, _LARGE)
        library.mallopt(_TRIM, _KEPT)
        library.mallopt(_ARENAS, 1)  # what one thread frees serves the others


def use_one_core() -> None:
    """Products of matrices stay on one core; to be called before numpy is loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
