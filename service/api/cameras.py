"""Routes about pictures: one JPEG, MJPEG for other programs, and pictures sent by phones."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse

from service.api.context import AServer, SeenTable, Server, known, server_of
from service.api.live import phone_of
from service.api.models import Anything
from service.errors import BadRequest, NoEvidence, NotAllowed
from service.follower import TableFollower
from service.pictures import jpeg_of
from service.sessions import Table

router = APIRouter(prefix="/sessions/{session}/cameras", tags=["cameras"])
CameraName = Annotated[str, Path(max_length=60)]
JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}


def _follower(table: Table, camera: str) -> TableFollower:
    if table.follower is None:
        raise NoEvidence("no camera follows this table at the moment")
    if camera not in {view.name for view in table.follower.cameras()}:
        raise NoEvidence(f"there is no camera {camera!r} at this table")
    return table.follower


@router.get("")
def cameras(table: SeenTable) -> list[Anything]:
    """The cameras of the table, where they look from, and how many pictures were looked at."""
    found: list[Anything] = table.describe()["cameras"]
    return [{**camera, "looked_at": _looked_at(table, camera["name"])} for camera in found]


def _looked_at(table: Table, camera: str) -> int:
    picture = table.follower.picture(camera) if table.follower else None
    return picture.number + 1 if picture else 0


@router.get("/{camera}.jpg", response_class=Response, responses=JPEG)
def picture(table: SeenTable, camera: CameraName) -> Response:
    """The newest picture."""
    newest = _follower(table, camera).picture(camera)
    if newest is None:
        raise NoEvidence(f"the camera {camera!r} has sent no picture yet")
    return Response(jpeg_of(newest.image), media_type="image/jpeg")


@router.get("/{camera}.mjpg", response_class=Response)
async def stream(table: SeenTable, camera: CameraName, server: AServer) -> StreamingResponse:
    """Pictures without end, for programs that know MJPEG."""
    _follower(table, camera)
    return StreamingResponse(
        _parts(table, camera, server),
        media_type="multipart/x-mixed-replace; boundary=picture",
    )


async def _parts(table: Table, camera: str, server: Server) -> AsyncIterator[bytes]:
    per_second = server.settings.frames_per_second
    look = table.pictures.watch(table.look, camera, per_second)
    async with contextlib.aclosing(look) as pictures:
        async for jpeg in pictures:
            head = f"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            yield head.encode() + jpeg + b"\r\n"


@router.post("/{camera}/frame")
async def frame(session: str, camera: CameraName, request: Request) -> Anything:
    """One JPEG from a phone whose WebSocket does not open."""
    server = server_of(request)
    if not known(request).may_send(session):
        raise NotAllowed("this device is not invited as a camera of this table")
    await asyncio.to_thread(server.sessions.get, session)
    data = await request.body()
    phone = phone_of(server, session, camera)
    problem = await asyncio.to_thread(phone.take, data, server.settings.largest_frame)
    if problem is not None:
        raise BadRequest(problem)
    return {"ok": True}
