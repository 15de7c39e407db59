"""Runs the web application, by HTTP and HTTPS, until it is told to stop."""

import asyncio
import contextlib
import errno
import http.client
import json
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from service.discovery import announced
from service.errors import PortInUse, ServiceError
from service.tls import Certificates

_GRACE_S = 3
_ANSWER_S = 1.0  # for whoever has the port that we wanted to say who it is


@dataclass(frozen=True, slots=True)
class Secure:
    """Where HTTPS is served, and with what."""

    listener: socket.socket
    certificates: Certificates


def serve(
    app: FastAPI,
    listener: socket.socket,
    *,
    secure: Secure | None = None,
    announce: Sequence[str] = (),
    show: Callable[[], None] | None = None,
) -> None:
    """Answer on this socket until Ctrl-C; `show` is called once it is there.

    `announce` are the addresses under which `kiebitz.local` is answered.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=_GRACE_S,
        proxy_headers=False,  # they could make a stranger look like somebody at this machine
        server_header=False,
        ws_max_size=8_000_000,
    )
    server = Server(config, show or (lambda: None))
    with contextlib.ExitStack() as stack:
        stack.enter_context(listener)
        if secure:
            stack.enter_context(secure.listener)
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(app, server, listener, secure, announce))


async def _serve(
    app: FastAPI,
    server: "Server",
    listener: socket.socket,
    secure: Secure | None,
    announce: Sequence[str],
) -> None:
    port = listener.getsockname()[1]
    async with announced(port, announce), asyncio.TaskGroup() as group:
        second: Beside | None = None
        if secure:
            config = uvicorn.Config(
                app,
                log_level="critical",  # browsers break off handshakes until they trust us
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                ws_max_size=8_000_000,
                timeout_graceful_shutdown=_GRACE_S,
                ssl_certfile=secure.certificates.chain,
                ssl_keyfile=secure.certificates.key,
            )
            second = Beside(config)
            group.create_task(second.serve([secure.listener]))
        try:
            await server.serve([listener])
        finally:
            if second:
                second.should_exit = True


class Server(uvicorn.Server):
    """A server that says when it is ready, and for whom Ctrl-C is a normal end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        caught = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in caught}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


class Beside(uvicorn.Server):
    """A second server in the same process; the first one listens to signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any free one. Raises PortInUse, ServiceError."""
    with contextlib.ExitStack() as opened:
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            listener = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
            if sys.platform != "win32":  # there it would allow two servers on one port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(128)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortInUse(port, _kiebitz_at(host, port)) from error
            raise ServiceError(
                f"cannot listen on {host!r}, port {port}: {error.strerror}"
            ) from error
        opened.pop_all()
    return listener


def _kiebitz_at(host: str, port: int) -> str:
    """The address of the Kiebitz that answers there; empty where it is some other program."""
    own = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1") else host  # noqa: S104
    asked = http.client.HTTPConnection(own, port, timeout=_ANSWER_S)
    try:
        asked.request("GET", "/api/v1/health")
        told = json.loads(asked.getresponse().read(1000))
    except (OSError, http.client.HTTPException, ValueError):
        return ""
    finally:
        asked.close()
    ours = isinstance(told, dict) and {"version", "table"} <= told.keys()
    return _url("http", own, port) if ours else ""


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"


def address(listener: socket.socket, scheme: str = "http", host: str = "") -> str:
    """What to type into a browser, on this machine unless another host is given."""
    own, port = listener.getsockname()[:2]
    host = host or ("localhost" if own in ("0.0.0.0", "::", "127.0.0.1") else own)  # noqa: S104
    return _url(scheme, host, port)


def open_browser(url: str) -> None:
    """Show an address in the user's browser, if there is one, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
