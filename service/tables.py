"""Sessions at a table that is a folder: begun, or gone on with after a restart."""

from pathlib import Path

from calibration import store
from calibration.scene import CameraPlace
from service.api.context import Server
from service.camera_follower import CameraFollower, Eye, view_of
from service.camera_settings import settings_of
from service.follower import CameraView
from service.inputs import Json
from service.phones import PhoneCamera
from service.pipeline import is_turned
from service.table import Table
from service.table_eyes import table_reader
from service.table_folder import read_table
from service.virtual_plays import virtual_cameras
from vision.frame import Source
from vision.sources import open_source

_UNKNOWN_SIZE = (1280, 720)


def begin_table(server: Server, folder: Path) -> None:
    """The session of a table: the last one if its game goes on, else a new one."""
    table = read_table(folder)
    session = _going_on(server, folder) or _new(server, table, folder)
    server.sessions.feed(session, table_follower(server, session, folder, table))


def _going_on(server: Server, folder: Path) -> str | None:
    place = str(folder.resolve())
    for kept in server.store.sessions():
        if kept.setup.get("table") == place:
            phase = server.sessions.get(kept.id).session.state.phase
            return kept.id if phase != "over" else None
    return None


def _new(server: Server, table: Table, folder: Path) -> str:
    return server.sessions.create(setup_of(table, str(folder.resolve()))).session.id


def table_follower(server: Server, session: str, folder: Path, table: Table) -> CameraFollower:
    """Whoever follows the table through all its cameras."""
    calibration = store.read(folder)
    eyes = []
    plays = _virtual_plays(folder, table)
    for name, place in table.scene.cameras.items():
        source = plays.get(name) or _source(server, session, folder, place)
        if name in calibration.cameras:
            view = view_of(name, _kind(place), calibration.camera(name))
        else:
            view = CameraView(name, _kind(place), _UNKNOWN_SIZE)
        eyes.append(Eye(source, view, place.rotate))
    turnable = is_turned(table.spec)
    return CameraFollower(lambda: table_reader(folder), eyes, turnable=turnable)


def _virtual_plays(folder: Path, table: Table) -> dict[str, Source]:
    """The virtual cameras; all that show the same play share its table."""
    files: dict[str, list[str]] = {}
    for name, place in table.scene.cameras.items():
        kind, _, file = str(place.source).partition(":")
        if kind == "virtual":
            files.setdefault(file, []).append(name)
    found: dict[str, Source] = {}
    for file, cameras in files.items():
        found.update(virtual_cameras(folder, file, cameras))
    return found


def _source(server: Server, session: str, folder: Path, place: CameraPlace) -> Source:
    text = str(place.source if place.source is not None else "phone")
    if text == "phone":
        phone = server.phones.setdefault((session, place.name), PhoneCamera(place.name))
        return phone.source()
    return open_source(place.name, text, folder=folder, settings=settings_of(folder, place))


def _kind(place: CameraPlace) -> str:
    """What kind of camera it is; its address may hold a password and is never told."""
    text = str(place.source if place.source is not None else "phone")
    if text.isdigit():
        return "device"
    scheme = text.partition(":")[0]
    return scheme if scheme in ("phone", "virtual", "http", "https", "rtsp", "usb") else "file"


def setup_of(table: Table, place: str) -> Json:
    """A session's JSON for a table's game."""
    lattice = table.scene.board.lattice
    return {
        "game": table.game,
        "name": Path(place).name,
        "table": place,
        "players": [{"id": player.id, "name": player.name} for player in table.players],
        "first": table.first,
        "rules": dict(table.rules),
        "details": dict(table.setup().details),
        "colours": dict(table.scene.colours),
        "board": {
            "columns": lattice.columns,
            "ranks": lattice.ranks,
            "levels": lattice.levels,
            "pitch_mm": lattice.pitch_mm,
            "unit_mm": list(lattice.unit_mm),
        },
    }
