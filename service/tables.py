"""Sessions at a table that is a folder: begun, or gone on with after a restart."""

import contextlib
from pathlib import Path

from calibration import colour_store, store
from calibration.errors import CalibrationError
from calibration.scene import CameraPlace
from service.api.context import Server
from service.camera_follower import CameraFollower, Eye, view_of
from service.camera_settings import settings_of
from service.follower import CameraView, Needs
from service.inputs import Json
from service.phones import PhoneCamera
from service.table import Table
from service.table_eyes import table_reader
from service.table_folder import read_table
from service.table_reader import TableError
from service.virtual_follower import set_up_follower
from service.virtual_plays import virtual_cameras, virtual_table
from vision.frame import Source
from vision.reader import Reader
from vision.sources import open_source
from vision.virtual.live import VirtualTable
from vision.virtual.scene import Kind

_UNKNOWN_SIZE = (1280, 720)


def begin_table(server: Server, folder: Path, title: str = "") -> None:
    """The session of a table: the last one if its game goes on, else a new one."""
    table = read_table(folder)
    session = _going_on(server, table, folder) or _new(server, table, folder, title)
    _let_go(server, session, table)
    server.sessions.feed(session, table_follower(server, session, folder, table))


def _let_go(server: Server, session: str, table: Table) -> None:
    """Stop looking at other tables where that needs the same cameras, or where only a play goes on.

    A device shows its pictures to one, and every play that is drawn takes a processor.
    """
    mine = {str(place.source) for place in table.scene.cameras.values()} - {"phone", "None"}
    for name, other in server.sessions.followed():
        folder = other.setup.get("table")
        theirs: set[str] = set()
        with contextlib.suppress(TableError):
            cameras = read_table(Path(folder)).scene.cameras if folder else {}
            theirs = {str(place.source) for place in cameras.values()}
        drawn = other.follower is not None and other.follower.kind == "virtual-camera"
        if name != session and (drawn or mine & theirs):
            server.sessions.unfeed(name)
    seen = {session, *(name for name, _ in server.sessions.followed())}
    for name in set(server.plays) - seen:  # a virtual table with its pictures is large
        del server.plays[name]


def _going_on(server: Server, table: Table, folder: Path) -> str | None:
    place = str(folder.resolve())
    if all(_kind(camera) == "virtual" for camera in table.scene.cameras.values()):
        return None  # a play begins with its first turn
    for kept in server.store.sessions():
        if kept.setup.get("table") == place:
            phase = server.sessions.get(kept.id).session.state.phase
            return kept.id if phase != "over" else None
    return None


def _new(server: Server, table: Table, folder: Path, title: str) -> str:
    setup = setup_of(table, str(folder.resolve()))
    named = {"name": title} if title else {}
    return server.sessions.create({**setup, **named}).session.id


def table_follower(server: Server, session: str, folder: Path, table: Table) -> CameraFollower:
    """Whoever follows the table through all its cameras."""
    calibration = store.read(folder)
    places = table.scene.cameras
    views = {name: _view(place, calibration) for name, place in places.items()}

    def make_reader() -> Reader:
        # Names of colours alone would do, but the pieces that are to teach them are no turns.
        if all(view.needs for view in views.values()):
            raise CalibrationError("no camera is set up for this table yet")
        return table_reader(folder, [name for name, view in views.items() if not view.needs])

    play = _play(server, session, folder, table)
    if play is not None:
        return set_up_follower(play, list(views.values()), make_reader)
    virtual = _virtual_plays(folder, table)
    eyes = [
        Eye(
            virtual.get(name) or _source(server, session, folder, place),
            views[name],
            place.rotate,
        )
        for name, place in places.items()
    ]
    return CameraFollower(
        make_reader,
        eyes,
        kind="virtual-camera" if len(virtual) == len(places) else "camera",
        turnable=Kind.of(table.spec).turned,
    )


def _view(place: CameraPlace, calibration: store.Calibration) -> CameraView:
    name, kind = place.name, _kind(place)
    if name not in calibration.cameras:
        return CameraView(name, kind, _UNKNOWN_SIZE, needs="pose")
    known = colour_store.colours_of(calibration, name) is not None
    needs: Needs = "" if known else "colours"
    return view_of(name, kind, calibration.camera(name), needs)


def _play(server: Server, session: str, folder: Path, table: Table) -> VirtualTable | None:
    """The virtual table before which all cameras stand, drawn once for a session."""
    if session not in server.plays:
        sources = {str(place.source) for place in table.scene.cameras.values()}
        kind, _, name = sources.pop().partition(":")
        if sources or kind != "virtual":
            return None
        play = virtual_table(folder, name, table.scene.cameras)
        if play is None or set(table.scene.cameras) - set(play.scene.cameras):
            return None
        server.plays[session] = play
    return server.plays[session]


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
