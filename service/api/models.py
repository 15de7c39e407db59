"""What travels in request bodies, and the answers that have a fixed form."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# What turns the direction of writing around or moves the cursor has no place in a name.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _plain(name: str) -> str:
    return _UNSEEN.sub("", name).strip()


Name = Annotated[str, Field(max_length=60), AfterValidator(_plain)]
Stack = Annotated[str, Field(max_length=99, pattern=r"^[A-Z?.]*$")]
CellName = Annotated[str, Field(pattern=r"^[a-z][1-9][0-9]?$")]
Millimetres = Annotated[float, Field(gt=0, lt=1000)]


class Body(BaseModel):
    """A request body; unknown fields are refused rather than ignored."""

    model_config = ConfigDict(extra="forbid")


class Player(Body):
    """Somebody who plays: the id that the game gives him, and his name."""

    id: Annotated[str, Field(min_length=1, max_length=1)]
    name: Name = ""


class BoardSize(Body):
    """A board that differs from the game's usual one."""

    columns: Annotated[int, Field(ge=1, le=26)] | None = None
    ranks: Annotated[int, Field(ge=1, le=99)] | None = None
    levels: Annotated[int, Field(ge=1, le=99)] | None = None
    pitch_mm: Millimetres | None = None
    unit_mm: tuple[Millimetres, Millimetres, Millimetres] | None = None


class NewSession(Body):
    """A game that is about to be played."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "game": "kewbz",
                    "name": "Sunday evening",
                    "players": [{"id": "B", "name": "Ada"}, {"id": "Y", "name": "Bo"}],
                    "first": "B",
                    "rules": {"supply": 36},
                }
            ]
        },
    )

    game: Annotated[str, Field(min_length=1, max_length=40)]
    name: Name = ""
    players: Annotated[list[Player], Field(max_length=8)] = []
    first: Annotated[str, Field(max_length=1)] = ""
    board: BoardSize | None = None
    rules: dict[Annotated[str, Field(max_length=60)], bool | int | Name] = {}
    details: dict[Annotated[str, Field(max_length=60)], Annotated[str, Field(max_length=2000)]] = {}
    table: Name | None = Field(default=None, description="the folder whose cameras are used")


class Observation(Body):
    """A position told by another program or by hand, instead of by a camera."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"stacks": {"d4": "B", "d5": "Y"}}]}
    )

    stacks: Annotated[dict[CellName, Stack], Field(max_length=2600)]
    unsure: Annotated[
        dict[CellName, dict[Stack, Annotated[float, Field(ge=0, le=1)]]], Field(max_length=2600)
    ] = {}
    certainty: Annotated[float, Field(ge=0, le=1)] = 1.0


class Correction(Body):
    """What really stands on some cells: since that turn, else since the last reading."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"cells": {"d4": "BY"}, "turn": 3}]}
    )

    cells: Annotated[dict[CellName, Stack], Field(min_length=1, max_length=400)]
    turn: Annotated[int, Field(ge=1, le=100_000)] | None = None


class Action(Body):
    """What the host or a player decides."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"do": "undo"}]})

    do: Literal["start", "undo", "keep", "pause", "resume", "pass"]


class Pairing(Body):
    """The code from the terminal."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"code": "ABCD-EFGH"}]}
    )

    code: Annotated[str, Field(max_length=40)]
    label: Name = ""


class Joining(Body):
    """The token of an invitation."""

    token: Annotated[str, Field(min_length=20, max_length=100)]


class Invitation(Body):
    """Whom to invite."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"role": "player", "player": "B"}]}
    )

    role: Literal["player", "camera", "onlooker"]
    player: Annotated[str, Field(max_length=1)] | None = None
    camera: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")] | None = Field(
        default=None, description="under which name a phone sends its pictures"
    )


class Cards(Body):
    """The task cards in a player's hand; nobody else is sent them."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"cards": ["YB/RY"]}]}
    )

    cards: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=12)]


class Claim(Body):
    """A card that a player lays down; the host says for whom he lays it down."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"card": "YB/RY"}]})

    player: Annotated[str, Field(max_length=1)] | None = None
    card: Annotated[str, Field(min_length=1, max_length=40)]


class Problem(BaseModel):
    """Every error has this form."""

    error: str


class Health(BaseModel):
    """Who answers."""

    version: str
    table: str | None = Field(description="the session that is shown first")


class Me(BaseModel):
    """The role of whoever asks."""

    role: Literal["host", "player", "camera", "onlooker", "stranger"]
    session: str | None = None
    player: str | None = None
    version: str
    current: str | None = Field(default=None, description="the session that is shown first")


class Invited(BaseModel):
    """An invitation: an address to open, and the same as a QR code."""

    url: str
    qr: str = Field(description="an SVG picture")


Anything = dict[str, Any]
