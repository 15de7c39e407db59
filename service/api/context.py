"""What every route needs: the server's parts, and who asks."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from fastapi import Depends, HTTPException
from starlette.requests import HTTPConnection

from service.auth import Access, Role, Who
from service.errors import NotAllowed, NotFound
from service.guard import host_name, is_loopback
from service.lens_pictures import LensPictures
from service.phones import PhoneCamera
from service.sessions import Sessions, Table
from service.settings import Settings
from service.store import Store
from vision.virtual.live import VirtualTable

COOKIE = "kiebitz"


@dataclass(slots=True)
class Server:
    """Everything with a lifetime; lives in `app.state.server`."""

    settings: Settings
    store: Store
    access: Access
    sessions: Sessions
    addresses: list[str] = field(default_factory=list)  # under which phones reach the page
    certificate: bytes | None = None  # of the local authority, for phone cameras
    ready: bool = False
    phones: dict[tuple[str, str], PhoneCamera] = field(default_factory=dict)
    lens_pictures: dict[tuple[str, str], LensPictures] = field(default_factory=dict)
    plays: dict[str, VirtualTable] = field(default_factory=dict)  # by session
    calibrating: Lock = field(default_factory=Lock)


def server_of(connection: HTTPConnection) -> Server:
    """The parts of the application that was asked."""
    server: Server = connection.app.state.server
    return server


def token_of(connection: HTTPConnection) -> str:
    """The token that came along: as a bearer, or as the cookie of the page."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return connection.cookies.get(COOKIE, "")


def is_here(connection: HTTPConnection) -> bool:
    """Whether a person at this very machine asks, not somebody passed on by a proxy."""
    client = connection.client
    passed_on = any(
        name in connection.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via")
    )
    named = is_loopback(host_name(connection.headers.get("host", "")))
    return client is not None and is_loopback(client.host) and named and not passed_on


def who_asks(connection: HTTPConnection) -> Who | None:
    """The role of whoever asks, None for a stranger."""
    server = server_of(connection)
    token = token_of(connection)
    if token:
        found = server.access.who(token)
        if found is not None:
            return found
    if server.settings.localhost == "host" and is_here(connection):
        return Who("host")
    return Who("onlooker") if server.settings.onlookers == "open" else None


def known(connection: HTTPConnection) -> Who:
    """Whoever asks, if he is anybody; raises 401."""
    who = who_asks(connection)
    if who is None:
        raise HTTPException(401, "scan the QR code of the table, or pair this device as host")
    return who


def host(connection: HTTPConnection) -> Who:
    """The host; raises NotAllowed."""
    who = known(connection)
    if who.role != "host":
        raise NotAllowed("only the host may do this")
    return who


def seen_table(connection: HTTPConnection, session: str) -> Table:
    """A session that whoever asks may see; raises NotFound, NotAllowed."""
    who = known(connection)
    if not who.may_see(session):
        raise NotAllowed("this invitation is for another table")
    return server_of(connection).sessions.get(session)


def touched_table(connection: HTTPConnection, session: str) -> Table:
    """A session that whoever asks may change; raises NotFound, NotAllowed."""
    who = known(connection)
    if not who.may_touch(session):
        raise NotAllowed("only the host and the players may do this")
    return server_of(connection).sessions.get(session)


def own_player(connection: HTTPConnection, session: str) -> tuple[Table, str]:
    """The session and player of whoever asks; raises NotAllowed."""
    who = known(connection)
    if who.role != "player" or who.session != session or who.player is None:
        raise NotAllowed("this is the page of one player; scan your own QR code")
    return server_of(connection).sessions.get(session), who.player


def check_role(role: str, player: str | None, table: Table) -> Role:
    """A role that can be invited; raises NotFound."""
    if role == "player" and player not in table.session.game.players:
        raise NotFound(f"there is no player {player!r} at this table")
    if role not in ("player", "camera", "onlooker"):
        raise NotFound(f"nobody can be invited as {role!r}")
    return role  # type: ignore[return-value]


AServer = Annotated[Server, Depends(server_of)]
AHost = Annotated[Who, Depends(host)]
AWho = Annotated[Who, Depends(known)]
SeenTable = Annotated[Table, Depends(seen_table)]
TouchedTable = Annotated[Table, Depends(touched_table)]
OwnPlayer = Annotated[tuple[Table, str], Depends(own_player)]
