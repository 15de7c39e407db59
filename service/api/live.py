"""WebSockets: events with their snapshot, pictures to viewers, pictures from phones."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

import anyio
from fastapi import APIRouter, HTTPException, Query, WebSocket, WebSocketDisconnect

from rules.errors import KiebitzError
from service.api.context import Server, known, server_of
from service.errors import NotAllowed
from service.phones import PhoneCamera
from service.session import to_text
from service.sessions import Table

router = APIRouter(prefix="/sessions/{session}")
_REFUSED = 1008
_PATIENCE_S = 20.0
_LOOK_AGAIN_S = 2.0


@contextlib.asynccontextmanager
async def _accepted(socket: WebSocket, session: str, need: str) -> AsyncIterator[Table | None]:
    """The table, if whoever asks may `see` it or `send` to it; else the socket is closed."""
    await socket.accept()
    try:
        check_invited(socket, session, need)
        table = await asyncio.to_thread(server_of(socket).sessions.get, session)
    except (KiebitzError, HTTPException) as error:
        why = str(error.detail if isinstance(error, HTTPException) else error)
        await socket.close(_REFUSED, why.encode()[:120].decode(errors="ignore"))
        yield None
        return
    with contextlib.suppress(WebSocketDisconnect, TimeoutError, NotAllowed, HTTPException):
        yield table
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await socket.close()


def check_invited(socket: WebSocket, session: str, need: str) -> None:
    """See that this device still may `see` or `send`; raises NotAllowed and 401."""
    who = known(socket)
    if not (who.may_see(session) if need == "see" else who.may_send(session)):
        raise NotAllowed("this device is not invited to this table")


class _Patient:
    """A wire on which nobody waits for a reader that has fallen asleep."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket

    async def send_text(self, data: str) -> None:
        await asyncio.wait_for(self.socket.send_text(data), _PATIENCE_S)


@router.websocket("/live")
async def live(
    socket: WebSocket, session: str, since: Annotated[int | None, Query(ge=0)] = None
) -> None:
    """A snapshot, then every event with its number; `since` resumes behind a number."""
    async with _accepted(socket, session, "see") as table:
        if table is None:
            return
        who = known(socket)

        def snapshot() -> tuple[int, str]:
            seq, state = table.session.snapshot()
            told = {"event": "snapshot", "t": state["t"], "seq": seq}
            return seq, to_text({**told, **table.describe(), "state": state})

        since = since if since is not None and since <= table.session.seq else None
        follow = table.session.channel.follow(_Patient(socket), snapshot, who.player, since)
        await _until_gone(socket, session, follow)


async def _until_gone(
    socket: WebSocket,
    session: str,
    work: Awaitable[None],
    heard: Callable[[], None] = lambda: None,
) -> None:
    """Do this until the other side hangs up or is not invited any more; `heard` is its answer."""
    async with anyio.create_task_group() as group:

        async def look_again() -> None:
            with contextlib.suppress(NotAllowed, HTTPException):
                while True:
                    await asyncio.sleep(_LOOK_AGAIN_S)
                    check_invited(socket, session, "see")
            group.cancel_scope.cancel()

        async def hang_up() -> None:
            await _listen(socket, heard)
            group.cancel_scope.cancel()

        group.start_soon(hang_up)
        group.start_soon(look_again)
        with contextlib.suppress(WebSocketDisconnect, TimeoutError):
            await work
        group.cancel_scope.cancel()


async def _listen(socket: WebSocket, heard: Callable[[], None]) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        heard()


@router.websocket("/cameras/{camera}/frames")
async def frames(socket: WebSocket, session: str, camera: str) -> None:
    """The newest JPEG as a binary message; the next one follows when any message comes back."""
    async with _accepted(socket, session, "see") as table:
        if table is None or table.follower is None:
            return
        answer = asyncio.Event()
        # Who hangs up is noticed although his camera may send no picture for hours.
        await _until_gone(socket, session, _show(socket, table, camera, answer), answer.set)


async def _show(socket: WebSocket, table: Table, camera: str, answer: asyncio.Event) -> None:
    per_second = server_of(socket).settings.frames_per_second
    look = table.pictures.watch(table.look, camera, per_second)
    async with contextlib.aclosing(look) as pictures:
        with contextlib.suppress(NotAllowed, HTTPException):
            async for jpeg in pictures:
                check_invited(socket, table.session.id, "see")
                answer.clear()
                await asyncio.wait_for(socket.send_bytes(jpeg), _PATIENCE_S)
                await asyncio.wait_for(answer.wait(), _PATIENCE_S)


@router.websocket("/cameras/{camera}/upload")
async def upload(socket: WebSocket, session: str, camera: str) -> None:
    """A phone sends one JPEG a message, and the next when this one is acknowledged."""
    async with _accepted(socket, session, "send") as table:
        if table is None:
            return
        server = server_of(socket)
        phone = phone_of(server, session, camera)
        while True:
            message = await asyncio.wait_for(socket.receive(), _PATIENCE_S)
            if message["type"] == "websocket.disconnect":
                return
            check_invited(socket, session, "send")
            data = message.get("bytes") or b""
            problem = await asyncio.to_thread(phone.take, data, server.settings.largest_frame)
            await socket.send_json({"ok": problem is None, "problem": problem})


def phone_of(server: Server, session: str, camera: str) -> PhoneCamera:
    """The place where a phone's pictures arrive; raises NotAllowed for a strange name."""
    if not (0 < len(camera) <= 40 and camera.replace("-", "").replace("_", "").isalnum()):
        raise NotAllowed(f"{camera[:40]!r} is no name of a camera")
    return server.phones.setdefault((session, camera), PhoneCamera(camera))
