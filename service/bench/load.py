"""`kiebitz bench load`: many people watch one game at once."""

import asyncio
import contextlib
import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from websockets.asyncio.client import ClientConnection, connect

from service.bench.crash import get, running_server
from service.bench.phones import Films, write_table
from service.demo import SESSION

_WARM_UP_S = 3.0
_WARM_PICTURES = 60
FPS = 10.0


@dataclass(slots=True)
class Load:
    """What the watchers got, and what the server spent on it."""

    what: str
    watchers: int
    seconds: float
    messages: int = 0
    late_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    alone: float = 0.0  # pictures read a second while nobody looks
    watched: float = 0.0  # and while everybody does

    HEAD = (
        "what",
        "watchers",
        "messages",
        "a watcher and second",
        "p50 ms",
        "p95 ms",
        "cores",
        "pictures read a second, alone / watched",
    )

    def texts(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        late = sorted(self.late_ms)
        rate = self.messages / self.watchers / self.seconds if self.watchers else 0.0
        return (
            self.what,
            f"{self.watchers:,}",
            f"{self.messages:,}",
            f"{rate:.1f}",
            f"{late[len(late) // 2]:.0f}" if late else "-",
            f"{late[len(late) * 95 // 100]:.0f}" if late else "-",
            f"{self.cpu_s / self.seconds:.2f}",
            f"{self.alone:.1f} / {self.watched:.1f}" if self.alone else "-",
        )


def onlookers(count: int, seconds: float, pace_s: float) -> Load:
    """Events of a quick written game to so many onlookers; how late each one arrives."""
    words = ["demo", "--pace", str(pace_s)]
    with tempfile.TemporaryDirectory() as folder, running_server(words, Path(folder)) as server:
        process, url = server
        created = next(one["created"] for one in get(f"{url}/sessions") if one["id"] == SESSION)
        load = Load(f"events, a scene each {pace_s} s", count, seconds)
        address = f"{_socket(url)}/sessions/{SESSION}/live"
        asyncio.run(_watch(address, load, process, lambda m: _event(m, load, created)))
    return load


def viewers(count: int, seconds: float) -> Load:
    """Two phones send pictures that are read; so many viewers look at one of them meanwhile."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "table"
        films = write_table(folder)
        words = ["serve", str(folder), "--https-port", "0"]
        with running_server(words, Path(place)) as (process, url):
            return asyncio.run(_looked_at(url, process, films, count, seconds))


async def _looked_at(
    url: str, process: subprocess.Popen[bytes], films: Films, count: int, seconds: float
) -> Load:
    """How many pictures the reader gets through alone, and how many while everybody looks."""
    session = (await asyncio.to_thread(get, f"{url}/sessions"))[0]["id"]
    load = Load(f"pictures 1280 x 720, read at {FPS:g} a second", count, seconds)
    cameras = f"{_socket(url)}/sessions/{session}/cameras"
    sending = [
        asyncio.create_task(_send(f"{cameras}/{name}/upload", films[name])) for name in films
    ]
    try:
        await _until_read(f"{url}/sessions/{session}/cameras")
        load.alone = await _rate(f"{url}/sessions/{session}/cameras", seconds)
        looking = asyncio.create_task(
            _watch(f"{cameras}/{next(iter(films))}/frames", load, process, lambda _: _picture(load))
        )
        await asyncio.sleep(_WARM_UP_S)
        load.watched = await _rate(f"{url}/sessions/{session}/cameras", seconds)
        await looking
    finally:
        for task in sending:
            task.cancel()
        await asyncio.gather(*sending, return_exceptions=True)
    return load


async def _send(address: str, film: Sequence[bytes]) -> None:
    """A phone: the next picture when the last one is acknowledged, as often as a webcam."""
    async with connect(address, max_size=None, compression=None, proxy=None) as socket:
        for number in itertools.count():
            due = time.monotonic() + 1 / FPS
            await socket.send(film[number % len(film)])
            await socket.recv()
            await asyncio.sleep(max(0.0, due - time.monotonic()))


async def _read_so_far(address: str) -> int:
    cameras = await asyncio.to_thread(get, address)
    return sum(camera["looked_at"] for camera in cameras)


async def _until_read(address: str) -> None:
    """Until the reader is made and every camera is looked at."""
    looked_at = 0.0
    while looked_at < _WARM_PICTURES:
        looked_at += await _rate(address, 1.0)


async def _rate(address: str, seconds: float) -> float:
    """Pictures of all cameras that are read in a second."""
    began, before = time.monotonic(), await _read_so_far(address)
    await asyncio.sleep(seconds)
    return (await _read_so_far(address) - before) / (time.monotonic() - began)


def _socket(url: str) -> str:
    return url.replace("http:", "ws:", 1)


def _event(message: str | bytes, load: Load, created: float) -> None:
    event = orjson.loads(message)
    if event["event"] != "snapshot":
        load.messages += 1
        load.late_ms.append((time.time() - created - event["t"]) * 1000)


def _picture(load: Load) -> str:
    load.messages += 1
    return "next"


async def _watch(
    address: str,
    load: Load,
    process: subprocess.Popen[bytes],
    heard: Callable[[str | bytes], str | None],
) -> None:
    """Let everybody watch; count what arrives after the warm-up."""
    counting = asyncio.Event()

    async def one(socket: ClientConnection) -> None:
        async for message in socket:
            reply = heard(message) if counting.is_set() else "next"
            if reply and isinstance(message, bytes):
                await socket.send(reply)

    async with contextlib.AsyncExitStack() as stack:
        sockets = []
        for _ in range(load.watchers):
            opening = connect(address, max_size=None, compression=None, proxy=None)
            sockets.append(await stack.enter_async_context(opening))
        tasks = [asyncio.create_task(one(socket)) for socket in sockets]
        await asyncio.sleep(_WARM_UP_S)
        counting.set()
        before = cpu_seconds(process.pid)
        await asyncio.sleep(load.seconds)
        load.cpu_s = cpu_seconds(process.pid) - before
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def cpu_seconds(pid: int) -> float:
    """How long a process has been computing; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
