"""Routes about sessions: open, watch, decide, correct, export."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from rules.stacks import Stacks
from service.api.context import (
    AHost,
    AServer,
    AWho,
    OwnPlayer,
    SeenTable,
    TouchedTable,
)
from service.api.models import (
    Action,
    Anything,
    Cards,
    Claim,
    Correction,
    NewSession,
    Observation,
)
from service.errors import BadRequest, NotAllowed, NotNow
from service.follower import Seen
from service.session_file import export_session, import_session
from service.sessions import Table, new_id

router = APIRouter(prefix="/sessions", tags=["sessions"])
TurnNumber = Annotated[int, Path(ge=1, le=100_000)]


@router.get("")
def sessions(server: AServer, who: AWho) -> list[Anything]:
    """Every game on this machine, the newest first; guests see only their own."""
    return [line for line in server.sessions.list() if who.may_see(line["id"])]


@router.post("", status_code=201)
def create(body: NewSession, server: AServer, _: AHost) -> Anything:
    """Open a new game."""
    return server.sessions.create(body.model_dump(exclude_none=True)).describe()


@router.post(
    "/import",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def import_file(request: Request, server: AServer, _: AHost) -> Anything:
    """Add a session from the file that `export` gave."""
    content = await request.body()
    return server.sessions.get(import_session(server.store, content, new_id())).describe()


@router.get("/{session}")
def session(table: SeenTable) -> Anything:
    """What is played, and the state of play."""
    seq, state = table.session.snapshot()
    return {**table.describe(), "seq": seq, "state": state}


@router.delete("/{session}", status_code=204)
def forget(session: str, server: AServer, _: AHost) -> None:
    """Delete a game for good."""
    server.sessions.get(session)
    server.sessions.forget(session)


@router.get("/{session}/events")
def events(
    table: SeenTable, server: AServer, since: Annotated[int, Query(ge=0, le=2**53)] = 0
) -> list[Anything]:
    """The numbered events behind `since`, as they were told."""
    entries = server.store.entries(table.session.id, since)
    return [{**one.body, "seq": one.seq} for one in entries if one.kind == "event"]


@router.post("/{session}/actions")
def act(body: Action, table: TouchedTable, who: AWho) -> Anything:
    """Start, pause and resume; take the last turn back, let an illegal one stand, or pass."""
    if body.do == "pass":
        table.session.pass_turn(who.player)
    else:
        getattr(table.session, body.do)()
    return _state(table)


@router.delete("/{session}/follower", status_code=204)
def by_hand(session: str, server: AServer, _: AHost) -> None:
    """Let go of the cameras: from now on positions are told by hand."""
    server.sessions.unfeed(session)


@router.post("/{session}/observations")
def observe(body: Observation, table: TouchedTable) -> Anything:
    """Tell a position by hand or by another program; not while cameras follow the table."""
    if table.follower is not None:
        raise NotNow("cameras follow this table; pause them first")
    stacks = Stacks.of(table.session.checked(body.stacks))
    for cell, choices in body.unsure.items():
        for stack in choices:
            table.session.checked({cell: stack})
    table.session.observed(Seen(stacks, body.unsure, certainty=body.certainty))
    return _state(table)


@router.post("/{session}/corrections")
def correct(body: Correction, table: TouchedTable) -> Anything:
    """Say what really stands on cells; later turns and scores are judged again."""
    table.session.correct(dict(body.cells), body.turn)
    if table.follower is not None:
        table.follower.believe(Stacks.of(table.session.state.stacks))
    return _state(table)


@router.get("/{session}/legal")
def legal(table: SeenTable) -> list[Anything]:
    """Every legal turn of the player to move, with the cells that it fills."""
    return table.session.legal()


@router.get("/{session}/restore")
def restore(table: SeenTable) -> Anything:
    """The confirmed position, and what is missing or surplus on the table."""
    confirmed = table.session.state.confirmed
    return {"confirmed": confirmed, **table.session.difference().to_json()}


@router.get("/{session}/record", response_class=Response)
def record(table: SeenTable, who: AWho) -> Response:
    """The game as text, one turn a line; what not everybody may see is told to the host alone."""
    text = table.session.record(secrets=who.role == "host")
    return Response(text, media_type="text/plain; charset=utf-8")


@router.get("/{session}/export", response_class=Response)
def export(table: SeenTable, server: AServer, who: AWho) -> Response:
    """The whole session as one file; what only one player may see is not in it."""
    content = export_session(server.store, table.session.id, secrets=who.role == "host")
    name = f'attachment; filename="{table.session.id}.kiebitz"'
    return Response(content, media_type="application/zip", headers={"content-disposition": name})


@router.get("/{session}/turns/{turn}/pictures")
def turn_pictures(table: SeenTable, server: AServer, turn: TurnNumber) -> list[str]:
    """The cameras of which a picture of this turn is kept."""
    return [camera for n, camera in server.store.pictures(table.session.id) if n == turn]


@router.get("/{session}/turns/{turn}/pictures/{camera}.jpg", response_class=Response)
def turn_picture(table: SeenTable, server: AServer, turn: TurnNumber, camera: str) -> Response:
    """The picture of a turn."""
    jpeg = server.store.picture(table.session.id, turn, camera)
    return Response(jpeg, media_type="image/jpeg")


@router.get("/{session}/cards")
def cards(own: OwnPlayer, server: AServer) -> Anything:
    """The cards in one's own hand."""
    table, player = own
    return {"cards": server.store.private(table.session.id, player).get("cards", [])}


@router.put("/{session}/cards")
def set_cards(body: Cards, own: OwnPlayer, server: AServer) -> Anything:
    """Enter the cards in one's own hand."""
    table, player = own
    server.store.set_private(table.session.id, player, body.model_dump())
    return {"cards": body.cards}


@router.post("/{session}/claims")
def claim(body: Claim, table: TouchedTable, who: AWho) -> Anything:
    """Lay a card down; a player only his own."""
    player = who.player or body.player or ""
    if body.player not in (None, player):
        raise NotAllowed("a card is laid down by the player who holds it")
    if player not in table.session.game.players:
        known = ", ".join(table.session.game.players)
        raise BadRequest(f"say whose card it is; the players are {known}")
    if any(c.isspace() or not c.isprintable() for c in body.card):
        raise BadRequest(f"{body.card!r} is no card; cards look like 'YB/RY'")
    table.session.claim(player, body.card)
    return _state(table)


def _state(table: Table) -> Anything:
    seq, state = table.session.snapshot()
    return {"seq": seq, "state": state}
