"""What can be wrong on a machine that should watch games, found out by trying it."""

import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rules.errors import KiebitzError
from service.discovery import room_addresses
from service.self_check import problems
from service.settings import Settings
from service.store import Store
from service.table_folder import read_table
from vision.sources import open_source

_DEVICES = 8
_ROOM_GB = 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried: whether it works, and what to do where it does not."""

    what: str
    good: bool
    found: str
    advice: str = ""

    def line(self) -> str:
        """As the terminal shows it."""
        return f"{'ok  ' if self.good else 'look'}   {self.what}: {self.found}"


def checkup(settings: Settings, folder: Path | None, patience_s: float) -> Iterator[Finding]:
    """Everything, one finding after another."""
    yield _program()
    yield _storage(settings)
    yield _room(settings)
    yield from _ports(settings)
    yield _network()
    yield from _devices(patience_s)
    if folder is not None:
        yield from _table(folder, patience_s)


def _program() -> Finding:
    found = problems()
    text = "; ".join(found) or "all packages load, the page is built"
    return Finding("program", not found, text, "start run.py again")


def _storage(settings: Settings) -> Finding:
    path = settings.data / "kiebitz.sqlite"
    try:
        store = Store(path)
        count = len(store.sessions())
        told = f"{count} {'game' if count == 1 else 'games'} in {path}"
        state = store.check()
        store.close()
    except KiebitzError as error:
        return Finding("storage", False, str(error))
    if state != "ok":
        advice = "export what still opens, then move the file away"
        return Finding("storage", False, f"{path} is damaged: {state}", advice)
    return Finding("storage", True, told)


def _room(settings: Settings) -> Finding:
    place = next((p for p in (settings.data, *settings.data.parents) if p.exists()), Path())
    free = shutil.disk_usage(place).free / 1e9
    advice = "delete recordings, or name another folder with --data"
    return Finding("disk", free > _ROOM_GB, f"{free:.1f} GB free", advice)


def _ports(settings: Settings) -> Iterator[Finding]:
    for what, port in (("page", settings.port), ("phone cameras", settings.https_port)):
        if not port:
            continue
        with socket.socket() as probe:
            taken = probe.connect_ex(("127.0.0.1", port)) == 0
        advice = f"if that is not Kiebitz itself: kiebitz serve --port {port + 1}"
        text = f"port {port} is {'in use' if taken else 'free'}"
        yield Finding(f"port for the {what}", not taken, text, advice)


def _network() -> Finding:
    found = room_addresses()
    advice = "connect this machine to the network of the phones; on this machine all works"
    return Finding("network", bool(found), ", ".join(found) or "no address in the room", advice)


def _devices(patience_s: float) -> Iterator[Finding]:
    numbers = [n for n in range(_DEVICES) if Path(f"/dev/video{n}").exists()]
    if not numbers and Path("/dev").exists():
        advice = "plug a webcam in, or lend a phone's camera by QR code (kiebitz serve)"
        yield Finding("cameras", False, "no camera is plugged in", advice)
    for number in numbers:
        yield _camera(f"camera {number}", number, Path(), patience_s)


def _table(folder: Path, patience_s: float) -> Iterator[Finding]:
    try:
        table = read_table(folder)
    except KiebitzError as error:
        yield Finding("table", False, str(error))
        return
    yield Finding("table", True, f"{table.game}, cameras: {', '.join(table.scene.cameras)}")
    for name, place in table.scene.cameras.items():
        source = place.source
        if source is None or str(source) == "phone" or str(source).startswith("virtual:"):
            continue
        yield _camera(f"camera {name!r} of the table", source, folder, patience_s)


def _camera(what: str, source: int | str, folder: Path, patience_s: float) -> Finding:
    """Whether pictures come, of what size and how often."""
    advice = "is it plugged in, and used by no other program?"
    try:
        opened = open_source("doctor", source, folder=folder)
    except KiebitzError as error:
        return Finding(what, False, masked(str(error), source), advice)
    try:
        end = time.monotonic() + patience_s
        numbers: list[float] = []
        size = ""
        while time.monotonic() < end and len(numbers) < 30:
            frame = opened.latest()
            if frame is not None and (not numbers or frame.seconds != numbers[-1]):
                numbers.append(frame.seconds)
                size = f"{frame.image.shape[1]} x {frame.image.shape[0]}"
            time.sleep(0.005)
    finally:
        opened.close()
    if not numbers:
        return Finding(what, False, f"no picture within {patience_s:.0f} s", advice)
    span = numbers[-1] - numbers[0]
    rate = (len(numbers) - 1) / span if span > 0 else 0.0
    slow = "more light makes most webcams faster"
    return Finding(what, rate >= 4, f"{size}, {rate:.0f} pictures a second", slow)


def masked(text: str, source: int | str) -> str:
    """The text without the password that a camera's address may hold."""
    address = str(source)
    before, at, _ = address.rpartition("@")
    _, slashes, login = before.partition("://")
    if not (at and slashes):
        return text
    return text.replace(login, f"{login.partition(':')[0]}:***")
