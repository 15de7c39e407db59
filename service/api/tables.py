"""Routes of the set-up assistant: tables, their cameras, and calibration step by step."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from service.api.context import AHost, AServer
from service.api.models import Anything, Body, CellName, NewSession, Stack
from service.assistant import (
    calibrate_colours,
    calibrate_pose,
    colour_stacks,
    devices,
    make_table,
    open_table,
    table_names,
)

router = APIRouter(tags=["tables"])
TableName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
CameraName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Corner = tuple[
    Annotated[float, Field(ge=-10000, le=10000)], Annotated[float, Field(ge=-10000, le=10000)]
]


class NewCamera(Body):
    """A camera: a device's number, an address, or `phone`; and from which side it looks."""

    source: Annotated[str, Field(min_length=1, max_length=310)]
    clock: Annotated[float, Field(gt=0, le=12)] = 6.0


class NewTable(NewSession):
    """A table that is about to be written: a game with its cameras."""

    folder: TableName
    cameras: Annotated[dict[CameraName, NewCamera], Field(min_length=1, max_length=8)]


class Pose(Body):
    """The four outer corners of the cells in the picture, or nothing: then they are looked for.

    In the order a1, front right, back right, back left.
    """

    corners: tuple[Corner, Corner, Corner, Corner] | None = None


class KnownPieces(Body):
    """What stands on the table while colours are learned."""

    stacks: Annotated[dict[CellName, Stack], Field(min_length=1, max_length=400)]


@router.get("/tables")
def tables(server: AServer, _: AHost) -> list[str]:
    """The tables that are set up on this machine."""
    return table_names(server.settings.tables_folder)


@router.post("/tables", status_code=201)
def create(body: NewTable, server: AServer, _: AHost) -> Anything:
    """Write a new table and open it."""
    wanted = body.model_dump(exclude={"folder", "cameras", "table"}, exclude_none=True)
    cameras = {name: camera.model_dump() for name, camera in body.cameras.items()}
    session = make_table(server, body.folder, wanted, cameras)
    return server.sessions.get(session).describe()


@router.post("/tables/{table}/open")
def open_(table: Annotated[str, Path(max_length=60)], server: AServer, _: AHost) -> Anything:
    """Open a table that is set up, or go on with its game."""
    return server.sessions.get(open_table(server, table)).describe()


@router.get("/devices")
def cameras(_: AHost) -> list[int]:
    """The numbers of the cameras that are plugged into this machine."""
    return devices()


@router.post("/sessions/{session}/cameras/{camera}/pose")
def pose(
    session: str, camera: CameraName, body: Pose, server: AServer, _: AHost
) -> dict[str, str | bool]:
    """Find out where a camera stands, from its newest picture of the empty table."""
    told = calibrate_pose(server, server.sessions.get(session), camera, body.corners)
    return {"good": told.good, "text": told.text}


@router.get("/sessions/{session}/colours")
def known(session: str, server: AServer, _: AHost) -> dict[str, str]:
    """Which pieces to put where, so that the colours can be learned."""
    return colour_stacks(server.sessions.get(session).session).to_json()


@router.post("/sessions/{session}/colours")
def colours(session: str, body: KnownPieces, server: AServer, _: AHost) -> dict[str, str | bool]:
    """Learn the colours under this light, from the newest picture of every camera."""
    told = calibrate_colours(server, server.sessions.get(session), dict(body.stacks))
    return {"good": told.good, "text": told.text}
