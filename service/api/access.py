"""Routes about roles: pairing, invitations, who am I; health and readiness."""

from io import BytesIO

import segno
from fastapi import APIRouter, HTTPException, Request, Response
from starlette.requests import HTTPConnection

from service import __version__
from service.api.context import (
    COOKIE,
    AHost,
    AServer,
    Server,
    check_role,
    who_asks,
)
from service.api.models import Health, Invitation, Invited, Joining, Me, Pairing
from service.errors import NoEvidence, NotAllowed

router = APIRouter(tags=["access"])
_YEAR = 365 * 24 * 3600


@router.get("/health")
def health(server: AServer) -> Health:
    """Whether the program runs."""
    return Health(version=__version__, table=current_session(server))


@router.get("/ready", responses={503: {"description": "not ready yet"}})
def ready(server: AServer) -> Health:
    """Whether sessions can be played: the database answers and the start is over."""
    if not server.ready:
        raise HTTPException(503, "still starting")
    server.store.tokens()
    return Health(version=__version__, table=current_session(server))


def current_session(server: Server) -> str | None:
    """The session that a visitor sees first: one that is being fed, else none."""
    return server.sessions.current()


@router.get("/me")
def me(request: Request, server: AServer) -> Me:
    """What role this device has."""
    who = who_asks(request)
    if who is None:
        return Me(role="stranger", version=__version__)
    current = who.session or current_session(server)
    return Me(
        role=who.role, session=who.session, player=who.player, version=__version__, current=current
    )


@router.post("/pair", responses={429: {"description": "too many wrong codes"}})
def pair(body: Pairing, server: AServer, request: Request, response: Response) -> Me:
    """Become host by the code that the terminal shows."""
    token = server.access.pair(body.code, body.label)
    _set_cookie(response, token, request)
    return Me(role="host", version=__version__, current=current_session(server))


@router.post("/join")
def join(body: Joining, server: AServer, request: Request, response: Response) -> Me:
    """Take the role of an invitation."""
    who = server.access.who(body.token)
    if who is None:
        raise NotAllowed("this invitation is not valid any more; ask for a new one")
    _set_cookie(response, body.token, request)
    return Me(
        role=who.role,
        session=who.session,
        player=who.player,
        version=__version__,
        current=who.session,
    )


@router.post("/leave", status_code=204)
def leave(response: Response) -> None:
    """Forget this device's role on this device."""
    response.delete_cookie(COOKIE, path="/")


def _set_cookie(response: Response, token: str, request: HTTPConnection) -> None:
    response.set_cookie(
        COOKIE,
        token,
        max_age=_YEAR,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme in ("https", "wss"),
    )


@router.post("/sessions/{session}/invitations")
def invite(session: str, body: Invitation, server: AServer, _: AHost, request: Request) -> Invited:
    """An address, and its QR code, that gives whoever opens it a role at this table."""
    table = server.sessions.get(session)
    role = check_role(body.role, body.player, table)
    player = body.player if role == "player" else None
    token = server.access.issue(role, session, player, f"{role} {player or ''}".strip())
    # The token stands behind '#': browsers do not send it, so no log ever holds it.
    page = f"camera?name={body.camera or 'phone'}" if role == "camera" else ""
    url = f"{phone_address(server, request, secure=role == 'camera')}{page}#join={token}"
    return Invited(url=url, qr=qr_svg(url))


def phone_address(server: Server, request: HTTPConnection, *, secure: bool) -> str:
    """Under what address a phone in the room reaches this page."""
    scheme = "https:" if secure else "http:"
    for address in server.addresses:
        if address.startswith(scheme):
            return address
    return str(request.base_url)


def qr_svg(text: str) -> str:
    """A QR code as SVG, black on white with its quiet zone, readable in the dark theme too."""
    target = BytesIO()
    segno.make(text, error="m").save(
        target, kind="svg", scale=4, border=4, light="#fff", xmldecl=False, svgns=True
    )
    return target.getvalue().decode()


@router.get("/sessions/{session}/tokens")
def tokens(session: str, server: AServer, _: AHost) -> list[dict[str, str | float | None]]:
    """The devices that were invited to a table; `id` is what `DELETE` takes."""
    server.sessions.get(session)
    return [
        {"id": row.hash[:16], "role": row.role, "player": row.player, "created": row.created}
        for row in server.store.tokens(session)
    ]


@router.delete("/sessions/{session}/tokens/{token}", status_code=204)
def revoke(session: str, token: str, server: AServer, _: AHost) -> None:
    """Take a device's role away."""
    for row in server.store.tokens(session):
        if row.hash[:16] == token:
            server.store.drop_token(row.hash)
            return
    raise NoEvidence(f"there is no device {token!r}")


@router.get("/certificate", response_class=Response)
def certificate(server: AServer) -> Response:
    """The certificate of this machine's own authority, for phones that lend their camera."""
    if server.certificate is None:
        raise NoEvidence("this server has no certificate; it was started without HTTPS")
    headers = {"content-disposition": 'attachment; filename="kiebitz-ca.crt"'}
    return Response(server.certificate, media_type="application/x-x509-ca-cert", headers=headers)
