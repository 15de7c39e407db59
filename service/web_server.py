"""Runs the web application on one port until it is told to stop."""

import errno
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from service.errors import ServiceError


class PortInUse(ServiceError):
    """Something else listens on this port already."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} is in use, perhaps by another Kiebitz; "
            f"stop that, or choose another one: --port {port + 1}"
        )


def serve(app: FastAPI, *, host: str, port: int, show: Callable[[str], None] | None = None) -> None:
    """Answer on this port until Ctrl-C; `show` gets the page's address once it is there.

    Raises PortInUse, and ServiceError where the address cannot be used.
    """
    listener = listen(host, port)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
    server = Server(config, lambda: show(address(listener)) if show else None)
    with listener:
        server.run(sockets=[listener])


class Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there it would allow two servers on one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(port) from error
        raise ServiceError(f"cannot listen on {host!r}, port {port}: {error.strerror}") from error
    return listener


def address(listener: socket.socket) -> str:
    """What to type into a browser on this machine."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def open_browser(url: str) -> None:
    """Show an address in the user's browser, if there is one, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
