"""`kiebitz demo`: the page without a table of one's own."""

import sys

from service.commands.serve import Host, NoOpen, Port, serve_page


def run(port: Port = 8000, host: Host = "127.0.0.1", no_open: NoOpen = False) -> None:
    """Open the page; a game that plays itself is not part of this version yet."""
    sys.stderr.write("this version has the page, but no game that plays itself yet\n")
    serve_page(None, port, host, no_open)
