"""Putting a server together: where it listens, who may find it, and what the terminal shows."""

import contextlib
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import segno

from service.api.context import Server
from service.app import create_app, make_server
from service.discovery import room_addresses
from service.errors import ServiceError
from service.guard import is_loopback, own_names
from service.settings import Settings
from service.tls import certificates
from service.web_server import Secure, address, listen, open_browser, serve


@dataclass(frozen=True, slots=True)
class Shown:
    """What the terminal shows once the page is there."""

    url: str
    room: tuple[str, ...]
    code: str
    watch: str


def run_page(settings: Settings, begin: Callable[[Server], None], *, browser: bool) -> None:
    """Serve until Ctrl-C; `begin` opens the sessions before anybody can connect."""
    with contextlib.ExitStack() as opened:  # closed where the beginning fails
        listener = opened.enter_context(listen(settings.host, settings.port))
        server = make_server(settings)
        opened.callback(server.store.close)
        opened.callback(server.sessions.close)
        local = is_loopback(settings.host)
        addresses = [] if local else room_addresses()
        secure = None if local else _secure(settings, server, addresses)
        if secure:
            opened.enter_context(secure.listener)
        app = create_app(server)
        server.addresses = [address(listener, host=a) for a in addresses]
        if secure:
            server.addresses += [address(secure.listener, "https", a) for a in addresses]
        begin(server)
        opened.pop_all()
    shown = Shown(
        url=address(listener),
        room=tuple(server.addresses),
        code=server.access.code,
        watch=_watch_address(server),
    )

    def show() -> None:
        sys.stderr.write(screen(shown))
        if browser:
            open_browser(shown.url)

    announce = addresses if settings.announce else []
    serve(app, listener, secure=secure, announce=announce, show=show)


def _secure(settings: Settings, server: Server, addresses: list[str]) -> Secure | None:
    """HTTPS beside HTTP, for phones that lend their camera; without it everything else works."""
    if not settings.https_port:
        return None
    try:
        made = certificates(settings.data / "certificates", _names(settings, addresses))
        listener = listen(settings.host, settings.https_port)
    except ServiceError as error:
        sys.stderr.write(f"without HTTPS, phones cannot be cameras: {error}\n")
        return None
    server.certificate = made.authority
    return Secure(listener, made)


def _names(settings: Settings, addresses: list[str]) -> list[str]:
    names = sorted(own_names(settings.names) - {"testserver"})
    return ["kiebitz.local", *(n for n in names if n != "kiebitz.local"), "127.0.0.1", *addresses]


def _watch_address(server: Server) -> str:
    """The address of the QR code on the terminal: whoever scans it may watch."""
    http = next((a for a in server.addresses if a.startswith("http:")), "")
    if not http:
        return ""
    for row in server.store.tokens():
        if row.label == "terminal":
            server.store.drop_token(row.hash)
    token = server.access.issue("onlooker", None, None, "terminal")
    return f"{http}#join={token}"


def screen(shown: Shown) -> str:
    """The text for the terminal."""
    lines = [f"the page is at {shown.url} (stop with Ctrl-C)"]
    if shown.room:
        lines.append(f"in this room: {'  '.join(shown.room)}")
        lines.append(f"to be the host on another device, type the pairing code {shown.code} there")
    if shown.watch and sys.stderr.isatty():
        picture = io.StringIO()
        segno.make(shown.watch, error="l").terminal(picture, compact=True)
        lines += ["to watch, scan this:", picture.getvalue()]
    elif shown.watch:
        lines.append(f"to watch, open {shown.watch}")
    return "\n".join(lines) + "\n"
