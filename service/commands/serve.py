"""`kiebitz serve`: the page for a table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

Port = Annotated[int, typer.Option(help="Where the page is; 0 takes a free one.", min=0, max=65535)]
Host = Annotated[str, typer.Option(help="0.0.0.0 lets every phone in the room open the page.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")]


def run(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Your table.")] = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    no_open: NoOpen = False,
) -> None:
    """Open the page for a table; stop with Ctrl-C."""
    from service.table_folder import read_table

    serve_page(read_table(folder).game if folder else None, port, host, no_open)


def serve_page(table: str | None, port: int, host: str, no_open: bool) -> None:
    """Serve the page until Ctrl-C, and show where it is."""
    from service.first_page import first_page
    from service.web_server import open_browser, serve

    def show(url: str) -> None:
        sys.stderr.write(f"the page is at {url} (stop with Ctrl-C)\n")
        if not no_open:
            open_browser(url)

    serve(first_page(table=table), host=host, port=port, show=show)
