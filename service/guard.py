"""What every request passes: known host name, own origin, bounded size, safe headers."""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import orjson

Scope = MutableMapping[str, Any]
MessageDict = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MessageDict]]
Send = Callable[[MessageDict], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def own_names(further: Iterable[str] = ()) -> frozenset[str]:
    """The names under which browsers may reach this machine; IP addresses always may."""
    machine = socket.gethostname().lower()
    return frozenset(
        {"localhost", "kiebitz.local", "testserver", machine, f"{machine}.local"}
        | {name.lower() for name in further}
    )


def host_name(host: str) -> str:
    """The name of a Host header without its port, lower case; empty if it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether this name or address is the machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own(name: str, names: frozenset[str]) -> bool:
    """Whether a browser may call this machine so; a foreign name would be DNS rebinding."""
    if name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def header(scope: Scope, name: bytes) -> str:
    """The first header of this name, empty where there is none."""
    for key, value in scope.get("headers", ()):
        if key == name:
            return bytes(value).decode("latin-1")
    return ""


def same_origin(scope: Scope) -> bool:
    """Whether the page that asks is our own; programs other than browsers send no origin."""
    origin = header(scope, b"origin")
    if not origin:
        return header(scope, b"sec-fetch-site") in ("", "same-origin", "none")
    return origin != "null" and urlsplit(origin).netloc.lower() == header(scope, b"host").lower()


class Guard:
    """Wraps the application; refuses before anything of it runs."""

    def __init__(self, app: App, names: frozenset[str], largest: Callable[[str], int]) -> None:
        self.app = app
        self.names = names
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        name = host_name(header(scope, b"host"))
        if not is_own(name, self.names):
            await refuse(scope, receive, send, 421, f"this machine is not called {name[:60]!r}")
            return
        changing = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changing and not same_origin(scope):
            await refuse(scope, receive, send, 403, "another site's page may not do this")
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        limit = self.largest(scope["path"])
        length = header(scope, b"content-length")
        if length and (not length.isdigit() or int(length) > limit):
            await refuse(scope, receive, send, 413, f"too large; at most {limit} bytes")
            return
        await self.app(scope, bounded(receive, limit), with_headers(send, scope))


def bounded(receive: Receive, limit: int) -> Receive:
    """Stop reading a body that is longer than announced or allowed."""
    seen = 0

    async def read() -> MessageDict:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            return {"type": "http.disconnect"}
        return message

    return read


def with_headers(send: Send, scope: Scope) -> Send:
    """Add what keeps browsers careful to every answer."""
    host = header(scope, b"host")
    added = security_headers(host, private=scope["path"].startswith("/api/"))

    async def write(message: MessageDict) -> None:
        if message["type"] == "http.response.start":
            given = {key.lower() for key, _ in message.get("headers", ())}
            message["headers"] = [
                *message.get("headers", ()),
                *((key, value) for key, value in added if key not in given),
            ]
        await send(message)

    return write


def security_headers(host: str, *, private: bool) -> list[tuple[bytes, bytes]]:
    """What every answer carries, so that browsers are careful with it."""
    policy = (
        "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
        f"connect-src 'self' ws://{host} wss://{host}; style-src 'self' 'unsafe-inline'; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    )
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "x-frame-options": "SAMEORIGIN",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(self), microphone=(), geolocation=(), payment=()",
    }
    if private:
        headers["cache-control"] = "no-store"
    return [(key.encode(), value.encode("latin-1", "ignore")) for key, value in headers.items()]


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    """Answer with the one JSON form of errors, or close a WebSocket before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why[:100]})
        return
    body = orjson.dumps({"error": why})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *security_headers("localhost", private=True),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
