"""The program `kiebitz`: finds the command, and sees to it that errors end in one sentence."""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from rules.errors import KiebitzError
from service import __version__
from service.machine import keep_memory, use_one_core
from service.plain_help import plain

# One line a command, in the order in which one needs them: its module in `service/commands/`,
# imported only when it is called, and what `kiebitz --help` says about it. The module holds `run`,
# a function, or `app`, a `typer.Typer` with commands of its own.
COMMANDS = {
    "demo": "Watch a game that plays itself, in the browser.",
    "table": "Describe your table: game, board, colours, cameras.",
    "mat": "Print markers for your table, and a board to measure lenses with.",
    "doctor": "See which cameras there are, what works, and what to do about the rest.",
    "calibrate": "Measure your cameras: lens, place, colours.",
    "read": "Read the position in one picture a camera.",
    "serve": "Open the page for your table, for everybody in the room.",
    "watch": "Follow a game through cameras or recordings, event by event.",
    "referee": "Judge a game that is written down, turn by turn.",
    "bench": "Measure Kiebitz on this machine.",
}
HELP = "Kiebitz watches a game of coloured wooden pieces, keeps the score and knows the rules."
INTERRUPTED = 130  # what shells expect after Ctrl-C
PIPE_CLOSED = 1  # the reader of our output went away, as after `| head`


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 where the answer is no, or 2 on wrong use."""
    if words is None:
        return leave(run(sys.argv[1:]))
    return run(words)


def leave(code: int) -> int:
    """End the program at once where a thread still draws, reads or waits for a camera.

    Were it inside a library while Python takes itself down, the program would be aborted.
    """
    busy = [one for one in threading.enumerate() if one.daemon]
    if busy:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    return code


def run(words: Sequence[str]) -> int:
    """Run one command; every error ends in one sentence and an exit code."""
    words = list(words)
    use_one_core()
    keep_memory()
    try:
        try:
            program(words)(words, prog_name="kiebitz")
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KiebitzError as error:
        say(f"Error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001  # a player must never see a traceback
        return unexpected(error)
    return 0


def program(words: Sequence[str]) -> typer.Typer:
    """The command line with the one command that these words call; the others only have names."""
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    called = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        module = import_module(f"service.commands.{name}") if name == called else None
        if module is not None and hasattr(module, "app"):
            app.add_typer(plain(module.app), name=name, help=summary, short_help=summary)
        else:
            run: Callable[..., None] = getattr(module, "run", not_called)
            app.command(name, help=summary)(run)
    return plain(app)


def show_version(wanted: bool) -> None:
    """Answer `--version`."""
    if wanted:
        typer.echo(f"kiebitz {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """What can stand before the command."""


def not_called() -> None:
    """Stands for the commands that `kiebitz --help` lists and this call does not use."""


def unexpected(error: Exception) -> int:
    """Tell about an error that nobody foresaw, in one sentence, and keep the rest in the log."""
    from service.log import write_crash

    kind = str(error) or type(error).__name__
    path = write_crash(error)
    where = f"; please report it with the end of {path}" if path else ""
    say(f"Error: something went wrong inside Kiebitz: {kind.splitlines()[0]}{where}")
    return 2


def say(text: str) -> None:
    """A line for the person at the keyboard; standard output is for data."""
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
