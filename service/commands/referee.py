"""`kiebitz referee`: judges a written game."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rules.errors import KiebitzError
from rules.judge_record import judge_record
from rules.record import parse_record
from rules.registry import GAMES, find_game
from rules.sentences import LANGUAGES
from service.output import write_event


def run(
    game: Annotated[str, typer.Argument(metavar="GAME", help=f"One of {', '.join(GAMES)}.")],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The record; standard input where it is left out."),
    ] = None,
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help=f"One of {', '.join(LANGUAGES)}.")
    ] = "en",
) -> None:
    """Judge a written record, one turn a line, and print the events, one JSON object a line."""
    if language not in LANGUAGES:
        raise KiebitzError(f"unknown language {language!r}; Kiebitz speaks {', '.join(LANGUAGES)}")
    game = game.lower()
    find_game(game)  # a wrong name is told as such, not as a mistake in the record
    for event in judge_record(parse_record(_read(file), game), language):
        write_event(event)


def _read(file: Path | None) -> bytes:
    if file is None:
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise KiebitzError(f"cannot read the record {str(file)!r}: {reason.lower()}") from error
