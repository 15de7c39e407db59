"""The set-up assistant: new tables, and calibration from what the cameras see right now.

Calibration runs as the command that it is (`kiebitz calibrate`), in a process of its own: it
computes for seconds, and the page must not wait for it.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import orjson

from calibration import colour_store, store
from calibration.colour import nearest_pair
from calibration.cv import write_image
from calibration.pose_quality import GOOD_MM
from calibration.scene import CameraPlace
from rules.errors import KiebitzError
from rules.game import GameSpec
from rules.lattice import Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from service.api.context import Server
from service.camera_follower import CameraFollower
from service.camera_settings import keep_settings
from service.errors import BadRequest, NoEvidence, NotFound, NotNow
from service.follower import ImageBGR, TableFollower
from service.inputs import Json
from service.lens_pictures import LensPictures
from service.session import GameSession
from service.sessions import Table as Live
from service.table import Player
from service.table_folder import default_table, new_table, read_table
from service.tables import begin_table, table_follower
from service.virtual_plays import virtual_places
from vision.virtual.placing import stacks_of
from vision.virtual.scene import Kind
from vision.virtual.studio import colour_pieces

_PATIENCE_S = 120
_ENOUGH, _PLENTY = 3.0, 6.0  # standard deviations between the two colours most alike
_WAKING_S = 15.0
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_SOURCE = re.compile(r"(\d{1,2}|phone|virtual:[a-z]+|https?://\S{3,300}|rtsps?://\S{3,300})\Z")


@dataclass(frozen=True, slots=True)
class Told:
    """How a step of calibration went: in the words of its command, and as facts for the page."""

    good: bool
    text: str
    facts: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        return {"good": self.good, "text": self.text, **self.facts}

    @property
    def doubted(self) -> bool:
        """Whether the step is doubted as a whole; of one camera it is told behind its name."""
        return any(line.startswith("DOUBTFUL") for line in self.text.splitlines())


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
            scene=replace(table.scene, cameras=_cameras(spec, cameras)),
        )
        table.spec.set_up(table.setup())
        new_table(folder, table)
    except (KiebitzError, ModuleNotFoundError) as error:
        raise BadRequest(str(error)) from error
    return open_table(server, name, str(wanted.get("name") or ""))


def open_table(server: Server, name: str, title: str = "") -> str:
    """Open a table's session, or go on with it; the session's id."""
    folder = _folder(server, name)
    if not (folder / "table.toml").is_file():
        raise NotFound(f"there is no table {name!r}")
    begin_table(server, folder, title)
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


def _cameras(spec: GameSpec, wanted: Json) -> dict[str, CameraPlace]:
    if any(str(camera["source"]).startswith("virtual:") for camera in wanted.values()):
        return _virtual_cameras(spec, wanted)
    found: dict[str, CameraPlace] = {}
    for name, camera in wanted.items():
        source = str(camera["source"])
        if not _SOURCE.match(source):
            # Files are for the owner of the machine: he edits table.toml.
            raise BadRequest(
                f"{source[:40]!r} is no camera; use a number, an address, 'phone', "
                f"or 'virtual:{spec.name}'"
            )
        place: int | str = int(source) if source.isdigit() else source
        found[name] = CameraPlace(name=name, source=place, clock=float(camera["clock"]))
    if not found:
        raise BadRequest("a table needs at least one camera")
    return found


def _virtual_cameras(spec: GameSpec, wanted: Json) -> dict[str, CameraPlace]:
    """Cameras of a virtual table; they stand where they stand and have names of their own."""
    source = f"virtual:{spec.name}"
    for camera in wanted.values():
        if camera["source"] != source:
            raise BadRequest(
                f"{str(camera['source'])[:40]!r} is no camera of this virtual table; "
                f"give all of them {source!r}, or none"
            )
    places = virtual_places(spec, len(wanted))
    return {name: CameraPlace(name=name, source=source, clock=c) for name, c in places.items()}


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
    more = []
    if corners is not None:
        numbers = ",".join(f"{value:.2f}" for corner in corners for value in corner)
        more = ["--corners", f"{camera}={numbers}"]
    pictures = {camera: [_picture(_follower(live), camera)]}
    told = _calibrate(server, live, ["pose"], pictures, more)
    return replace(told, facts=pose_facts(_table_folder(live), camera)) if told.good else told


def calibrate_colours(server: Server, live: Live, stacks: Mapping[str, str]) -> Told:
    """Learn the colours from the newest pictures, with these pieces standing."""
    folder, follower = _table_folder(live), _follower(live)
    locked = follower.settle() if isinstance(follower, CameraFollower) else {}
    pictures = {name: [_picture(follower, name)] for name in read_table(folder).scene.cameras}
    known = orjson.dumps(dict(stacks)).decode()
    told = _calibrate(server, live, ["colours"], pictures, ["--stacks", known], locked)
    if told.doubted:
        return replace(told, facts={"quality": "doubtful"})
    return replace(told, facts=colour_facts(folder)) if told.good else told


def take_lens_picture(server: Server, live: Live, camera: str) -> Json:
    """Keep the newest picture if it shows the lens board in a new way."""
    image = _picture(_follower(live), camera)
    return _lens_pictures(server, live, camera).take(image)


def forget_lens_pictures(server: Server, live: Live, camera: str) -> None:
    """Begin anew with the lens board."""
    server.lens_pictures.pop((live.session.id, camera), None)


def calibrate_lens(server: Server, live: Live, camera: str) -> Told:
    """Measure a camera's lens from the pictures that were kept; its place is to be found anew."""
    images = list(_lens_pictures(server, live, camera).images)
    if not images:
        raise NotNow("there is no picture of the lens board yet")
    told = _calibrate(server, live, ["lens"], {camera: images}, [])
    return replace(told, facts=lens_facts(_table_folder(live), camera)) if told.good else told


def _lens_pictures(server: Server, live: Live, camera: str) -> LensPictures:
    return server.lens_pictures.setdefault((live.session.id, camera), LensPictures())


def pose_facts(folder: Path, camera: str) -> Json:
    """How well a camera's place is known."""
    record = store.read(folder).cameras[camera]
    word = record.verdict.partition(":")[0].partition(",")[0].lower()
    errors = record.error_mm
    if word in ("usable", "rough") and record.lens_method == "assumed":
        # The board itself may be known well; heights follow with the colours, or a measured lens.
        word = "heights" if errors.get("0", np.inf) <= GOOD_MM else word
    return {
        "quality": word,
        "method": record.method,
        "error_mm": errors.get("100", max(errors.values(), default=None)),
        "lens": record.lens_method,
    }


def lens_facts(folder: Path, camera: str) -> Json:
    """How well a camera's lens is known."""
    record = store.read(folder).lenses[camera]
    return {
        "quality": record.verdict.partition(":")[0].lower(),
        "percent": round(200 * record.focal_error, 2),
        "pictures": record.views,
    }


def colour_facts(folder: Path) -> Json:
    """How well the colours can be told apart."""
    calibration = store.read(folder)
    known = [colour_store.colours_of(calibration, name) for name in calibration.cameras]
    found = [colours for colours in known if colours is not None]
    pair = nearest_pair(found)
    if pair is None:
        return {"quality": "plenty", "nearest": []}
    *nearest, apart = pair
    word = "plenty" if apart >= _PLENTY else "enough" if apart >= _ENOUGH else "near"
    return {"quality": word, "nearest": nearest}


def marker_pdf(live: Live, paper: str) -> bytes:
    """Marker cards and the lens board, to be printed."""
    folder = _table_folder(live)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "mat.pdf"
        told = _run(["mat", str(folder), "-o", str(file), "--paper", paper], Path(place))
        if not told.good:
            raise NotNow(told.text)
        return file.read_bytes()


def _calibrate(
    server: Server,
    live: Live,
    words: Sequence[str],
    pictures: Mapping[str, Sequence[ImageBGR]],
    more: Sequence[str],
    locked: Mapping[str, Mapping[str, float]] | None = None,
) -> Told:
    """Run a step in a process of its own; one after another, for all write the same file."""
    folder = _table_folder(live)
    with server.calibrating, tempfile.TemporaryDirectory() as place:
        given = list(_written(Path(place), pictures, named=words[0] != "lens"))
        camera = [] if words[0] != "lens" else list(pictures)
        told = _run(["calibrate", *words, str(folder), *camera, *given, *more], Path(place))
        if told.good:
            keep_settings(folder, locked or {})
            again = table_follower(server, live.session.id, folder, read_table(folder))
            server.sessions.feed(live.session.id, again)
    return told


def _written(
    folder: Path, pictures: Mapping[str, Sequence[ImageBGR]], *, named: bool
) -> Iterator[str]:
    """The pictures as files, in the words that name them to the command."""
    for camera, images in pictures.items():
        for number, image in enumerate(images, 1):
            file = folder / (f"{camera}.png" if named else f"{number}.png")
            write_image(file, image)
            yield f"{camera}={file}" if named else str(file)


def _follower(live: Live) -> TableFollower:
    if live.follower is None:
        raise NotNow("no camera is open at this table")
    return live.follower


def _picture(follower: TableFollower, camera: str) -> ImageBGR:
    """The newest picture; a camera that has just been opened is given some seconds."""
    end = time.monotonic() + _WAKING_S
    while time.monotonic() < end:
        picture = follower.picture(camera)
        if picture is not None:
            return picture.image
        time.sleep(0.05)
    raise NoEvidence(f"the camera {camera!r} has sent no picture yet")


def _run(words: Sequence[str], pictures: Path) -> Told:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        late = f"this took longer than {_PATIENCE_S} seconds"
        return Told(good=False, text=late, facts={"quality": "late"})
    said = (done.stdout if done.returncode == 0 else "") + done.stderr
    text = said.replace(f"{pictures}/", "").strip()
    quality = {0: "", 1: "not-found"}.get(done.returncode, "failed")
    return Told(done.returncode == 0, text, {"quality": quality})


def _table_folder(live: Live) -> Path:
    place = live.setup.get("table")
    if not place:
        raise NotNow("this game has no table with cameras")
    return Path(place)
