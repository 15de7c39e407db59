"""The set-up assistant: new tables, and calibration from what the cameras see right now.

Calibration runs as the command that it is (`kiebitz calibrate`), in a process of its own: it
computes for seconds, and the page must not wait for it.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from calibration.cv import write_image
from calibration.scene import CameraPlace
from rules.errors import KiebitzError
from rules.lattice import Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from service.api.context import Server
from service.errors import BadRequest, NoEvidence, NotFound, NotNow
from service.follower import ImageBGR, TableFollower
from service.inputs import Json
from service.session import GameSession
from service.sessions import Table as Live
from service.table import Player
from service.table_folder import default_table, new_table, read_table
from service.tables import begin_table, table_follower
from vision.virtual.placing import stacks_of
from vision.virtual.scene import Kind
from vision.virtual.studio import colour_pieces

_PATIENCE_S = 120
_WAKING_S = 6.0
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_SOURCE = re.compile(r"(\d{1,2}|phone|https?://\S{3,300}|rtsps?://\S{3,300})\Z")


@dataclass(frozen=True, slots=True)
class Told:
    """How a step of calibration went, in the words of its command."""

    good: bool
    text: str


def table_names(folder: Path) -> list[str]:
    """The tables of a folder."""
    if not folder.is_dir():
        return []
    return sorted(p.name for p in folder.iterdir() if (p / "table.toml").is_file())


def make_table(server: Server, name: str, wanted: Mapping[str, object], cameras: Json) -> str:
    """Write a new table and open its session; the session's id."""
    folder = _folder(server, name)
    try:
        spec = find_game(str(wanted["game"]))
        table = default_table(spec, _lattice(spec.board.lattice, wanted.get("board")))
        players = tuple(_players(wanted.get("players"))) or table.players
        rules = wanted.get("rules")
        table = replace(
            table,
            players=players,
            first=str(wanted.get("first") or "") or table.first,
            rules={**table.rules, **(rules if isinstance(rules, dict) else {})},
            scene=replace(table.scene, cameras=_cameras(cameras)),
        )
        table.spec.set_up(table.setup())
        new_table(folder, table)
    except (KiebitzError, ModuleNotFoundError) as error:
        raise BadRequest(str(error)) from error
    return open_table(server, name)


def open_table(server: Server, name: str) -> str:
    """Open a table's session, or go on with it; the session's id."""
    folder = _folder(server, name)
    if not (folder / "table.toml").is_file():
        raise NotFound(f"there is no table {name!r}")
    begin_table(server, folder)
    return server.sessions.current() or ""


def _folder(server: Server, name: str) -> Path:
    if not _NAME.match(name):
        raise BadRequest(f"{name!r} is no name of a table; use small letters, digits and '-'")
    return server.settings.tables_folder / name


def _lattice(old: Lattice, wanted: object) -> Lattice:
    given = wanted if isinstance(wanted, dict) else {}
    return Lattice(
        given.get("columns") or old.columns,
        given.get("ranks") or old.ranks,
        given.get("levels") or old.levels,
        given.get("pitch_mm") or old.pitch_mm,
        tuple(given.get("unit_mm") or old.unit_mm),
    )


def _players(wanted: object) -> list[Player]:
    given = wanted if isinstance(wanted, list) else []
    return [Player(player["id"], player.get("name") or "") for player in given]


def _cameras(wanted: Json) -> dict[str, CameraPlace]:
    found: dict[str, CameraPlace] = {}
    for name, camera in wanted.items():
        source = str(camera["source"])
        if not _SOURCE.match(source):
            # Files and virtual plays are for the owner of the machine: he edits table.toml.
            raise BadRequest(f"{source[:40]!r} is no camera; use a number, an address, or 'phone'")
        place: int | str = int(source) if source.isdigit() else source
        found[name] = CameraPlace(name=name, source=place, clock=float(camera["clock"]))
    if not found:
        raise BadRequest("a table needs at least one camera")
    return found


def devices() -> list[int]:
    """The numbers of the cameras that are plugged into this machine."""
    return [n for n in range(10) if Path(f"/dev/video{n}").exists()]


def colour_stacks(session: GameSession) -> Stacks:
    """Known pieces on known cells, from which the colours are learned."""
    spec, board = session.game.spec, session.game.setup.board
    return stacks_of(colour_pieces(Kind.of(spec, board)))


def calibrate_pose(
    server: Server, live: Live, camera: str, corners: Sequence[Sequence[float]] | None
) -> Told:
    """Find out where a camera stands, from its newest picture of the empty table."""
    words = ["pose"]
    more = []
    if corners is not None:
        numbers = ",".join(f"{value:.2f}" for corner in corners for value in corner)
        more = ["--corners", f"{camera}={numbers}"]
    return _calibrate(server, live, words, [camera], more)


def calibrate_colours(server: Server, live: Live, stacks: Mapping[str, str]) -> Told:
    """Learn the colours from the newest pictures, with these pieces standing."""
    folder = _table_folder(live)
    names = list(read_table(folder).scene.cameras)
    return _calibrate(
        server, live, ["colours"], names, ["--stacks", orjson.dumps(dict(stacks)).decode()]
    )


def _calibrate(
    server: Server, live: Live, words: Sequence[str], cameras: Sequence[str], more: Sequence[str]
) -> Told:
    folder, follower = _table_folder(live), live.follower
    if follower is None:
        raise NotNow("no camera is open at this table")
    with tempfile.TemporaryDirectory() as pictures:
        given = []
        for camera in cameras:
            file = Path(pictures) / f"{camera}.png"
            write_image(file, _picture(follower, camera))
            given.append(f"{camera}={file}")
        command = [sys.executable, "-m", "service.cli", "calibrate", *words, str(folder)]
        told = _run([*command, *given, *more], Path(pictures))
    if told.good:
        table = read_table(folder)
        again = table_follower(server, live.session.id, folder, table)
        server.sessions.feed(live.session.id, again)
    return told


def _picture(follower: TableFollower, camera: str) -> ImageBGR:
    """The newest picture; a camera that has just been opened is given some seconds."""
    end = time.monotonic() + _WAKING_S
    while time.monotonic() < end:
        picture = follower.picture(camera)
        if picture is not None:
            return picture.image
        time.sleep(0.05)
    raise NoEvidence(f"the camera {camera!r} has sent no picture yet")


def _run(command: Sequence[str], pictures: Path) -> Told:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Told(good=False, text=f"this took longer than {_PATIENCE_S} seconds")
    said = (done.stdout if done.returncode == 0 else "") + done.stderr
    text = said.replace(f"{pictures}/", "").strip()
    return Told(done.returncode == 0, text)


def _table_folder(live: Live) -> Path:
    place = live.setup.get("table")
    if not place:
        raise NotNow("this game has no table with cameras")
    return Path(place)
