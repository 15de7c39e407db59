"""Where the program writes what it would not bother a player with."""

import logging
import os
import sys
import tempfile
from logging.handlers import RotatingFileHandler
from pathlib import Path

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_folder() -> Path:
    """The folder for logs: `KIEBITZ_LOGS`, else where this system keeps such files."""
    if chosen := os.environ.get("KIEBITZ_LOGS"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "kiebitz"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Logs" / "kiebitz"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "kiebitz"


def write_crash(error: BaseException) -> Path | None:
    """Write an unexpected error with its traceback to the log; the file, or None if none can be."""
    for folder in (log_folder(), Path(tempfile.gettempdir()) / "kiebitz"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "kiebitz.log"
            handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=1, encoding="utf-8")
        except (OSError, RuntimeError):  # RuntimeError: this user has no home folder
            continue
        handler.setFormatter(logging.Formatter(_FORMAT))
        command = " ".join(sys.argv)
        handler.emit(
            logging.LogRecord(
                "kiebitz",
                logging.ERROR,
                __file__,
                0,
                command,
                None,
                (type(error), error, error.__traceback__),
            )
        )
        handler.close()
        return path
    return None
