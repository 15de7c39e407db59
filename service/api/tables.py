"""Routes of the set-up assistant: tables, their cameras, and calibration step by step."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from service.api.context import AHost, AServer
from service.api.models import Anything, Body, CellName, NewSession, Stack
from service.assistant import (
    calibrate_colours,
    calibrate_lens,
    calibrate_pose,
    colour_stacks,
    devices,
    forget_lens_pictures,
    make_table,
    marker_pdf,
    open_table,
    table_names,
    take_lens_picture,
)

router = APIRouter(tags=["tables"])
TableName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
CameraName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Corner = tuple[
    Annotated[float, Field(ge=-10000, le=10000)], Annotated[float, Field(ge=-10000, le=10000)]
]


class NewCamera(Body):
    """A camera: a device's number, an address, `phone` or `virtual:GAME`, and where it stands.

    Cameras of a virtual table have names and places of their own; those given do not count.
    """

    source: Annotated[str, Field(min_length=1, max_length=310)]
    clock: Annotated[float, Field(gt=0, le=12)] = 6.0


class NewTable(NewSession):
    """A table that is about to be written: a game with its cameras."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "game": "kewbz",
                    "folder": "kitchen",
                    "players": [{"id": "B", "name": "Ada"}, {"id": "Y"}],
                    "cameras": {"overhead": {"source": "phone"}, "side": {"source": "0"}},
                }
            ]
        },
    )
    folder: TableName
    cameras: Annotated[dict[CameraName, NewCamera], Field(min_length=1, max_length=8)]


class Pose(Body):
    """The four outer corners of the cells in the picture, or nothing: then they are looked for.

    In the order a1, front right, back right, back left.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"corners": [[310, 620], [960, 640], [900, 90], [380, 80]]}]
        },
    )
    corners: tuple[Corner, Corner, Corner, Corner] | None = None


class KnownPieces(Body):
    """What stands on the table while colours are learned."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"stacks": {"b3": "BB", "e3": "Y"}}]}
    )
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


class Result(BaseModel):
    """How a step of calibration went."""

    good: bool
    text: str = Field(description="what the command said, in English")
    quality: str = Field(description="in one word: good, usable, rough, not-found ...")
    method: str | None = Field(default=None, description="how the board was found")
    error_mm: float | None = Field(default=None, description="how far off at 100 mm height")
    lens: str | None = Field(default=None, description="measured or assumed")
    percent: float | None = Field(default=None, description="how far off the focal length may be")
    pictures: int | None = Field(default=None, description="pictures of the lens board of use")
    nearest: list[str] | None = Field(default=None, description="the two colours most alike")


class LensState(BaseModel):
    """What became of a picture of the lens board, and what there is by now."""

    fate: Literal["kept", "same", "partial", "blurred", "glare", "no-board", "full"]
    kept: int
    enough: bool
    columns: int
    covered: list[bool] = Field(description="fields of the picture, row by row")


@router.post("/sessions/{session}/cameras/{camera}/lens/pictures")
def lens_picture(session: str, camera: CameraName, server: AServer, _: AHost) -> LensState:
    """Keep the newest picture if it shows the lens board in a new way."""
    live = server.sessions.get(session)
    return LensState.model_validate(take_lens_picture(server, live, camera))


@router.delete("/sessions/{session}/cameras/{camera}/lens/pictures", status_code=204)
def no_lens_pictures(session: str, camera: CameraName, server: AServer, _: AHost) -> None:
    """Begin anew with the pictures of the lens board."""
    forget_lens_pictures(server, server.sessions.get(session), camera)


@router.post("/sessions/{session}/cameras/{camera}/lens")
def lens(session: str, camera: CameraName, server: AServer, _: AHost) -> Result:
    """Measure a camera's lens from the pictures that were kept."""
    told = calibrate_lens(server, server.sessions.get(session), camera)
    return Result.model_validate(told.to_json())


@router.get("/sessions/{session}/mat.pdf", response_class=Response)
def mat(session: str, server: AServer, _: AHost, paper: Literal["a4", "letter"] = "a4") -> Response:
    """Marker cards and the lens board, to be printed at 100 %."""
    return Response(marker_pdf(server.sessions.get(session), paper), media_type="application/pdf")


@router.post("/sessions/{session}/cameras/{camera}/pose")
def pose(session: str, camera: CameraName, body: Pose, server: AServer, _: AHost) -> Result:
    """Find out where a camera stands, from its newest picture of the empty table."""
    told = calibrate_pose(server, server.sessions.get(session), camera, body.corners)
    return Result.model_validate(told.to_json())


@router.get("/sessions/{session}/colours")
def known(session: str, server: AServer, _: AHost) -> dict[str, str]:
    """Which pieces to put where, so that the colours can be learned."""
    return colour_stacks(server.sessions.get(session).session).to_json()


@router.post("/sessions/{session}/colours")
def colours(session: str, body: KnownPieces, server: AServer, _: AHost) -> Result:
    """Learn the colours under this light, from the newest picture of every camera."""
    told = calibrate_colours(server, server.sessions.get(session), dict(body.stacks))
    return Result.model_validate(told.to_json())
