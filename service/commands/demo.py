"""`kiebitz demo`: a game plays itself on the page."""

from typing import Annotated

import typer

from rules.registry import GAMES
from service.commands.serve import Data, Host, NoOpen, Port, settings_of

_GAMES = ", ".join(name for name in GAMES if name != "free")


def run(
    named: Annotated[str | None, typer.Argument(metavar="[GAME]", help=f"One of {_GAMES}.")] = None,
    game: Annotated[str, typer.Option(metavar="GAME", help="The same.")] = "kewbz",
    pace: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Follow the written game without cameras, so many seconds from scene to scene.",
            min=0.01,
        ),
    ] = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    data: Data = None,
    no_open: NoOpen = False,
) -> None:
    """Watch a game that plays itself before virtual cameras; stop with Ctrl-C."""
    from service.demo import begin_demo
    from service.running import run_page

    chosen = (named or game).lower()
    settings = settings_of(host=host, port=port, data=data)
    run_page(settings, lambda server: begin_demo(server, chosen, pace), browser=not no_open)
