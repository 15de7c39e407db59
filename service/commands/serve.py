"""`kiebitz serve`: the page for a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

Port = Annotated[
    int,
    typer.Option(metavar="N", help="Where the page is; 0 takes a free one.", min=0, max=65535),
]
Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="127.0.0.1 keeps everybody else in the room out.")
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")]
HttpsPort = Annotated[
    int,
    typer.Option(metavar="N", help="For phones as cameras; 0 serves no HTTPS.", min=0, max=65535),
]
Data = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder that keeps the games.")]
OpenToAll = Annotated[
    bool, typer.Option("--open", help="Everybody in the room may watch without an invitation.")
]


def run(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Your table.")] = None,
    port: Port = 8000,
    https_port: HttpsPort = 8443,
    host: Host = "0.0.0.0",  # noqa: S104  phones must reach it; roles decide who may what
    data: Data = None,
    open_to_all: OpenToAll = False,
    no_open: NoOpen = False,
    empty: Annotated[bool, typer.Option("--empty", help="Begin without demo and table.")] = False,
) -> None:
    """Open the page for a table, or the demo without one; stop with Ctrl-C."""
    from service.api.context import Server
    from service.demo import begin_demo
    from service.running import run_page
    from service.tables import begin_table

    settings = settings_of(
        host=host,
        port=port,
        https_port=https_port,
        data=data,
        onlookers="open" if open_to_all else None,
    )

    def begin(server: Server) -> None:
        if folder:
            begin_table(server, folder)
        elif not empty:
            begin_demo(server, "kewbz")

    run_page(settings, begin, browser=not no_open)


def settings_of(**given: Any) -> Any:
    """The settings with what the command line gives; the environment fills in the rest."""
    from service.settings import Settings

    return Settings(**{key: value for key, value in given.items() if value is not None})
