"""`kiebitz bench load`: many people watch one game at once."""

import asyncio
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from websockets.asyncio.client import ClientConnection, connect

from service.bench.crash import get, running_server
from service.demo import SESSION

_WARM_UP_S = 3.0


@dataclass(slots=True)
class Load:
    """What the watchers got, and what the server spent on it."""

    what: str
    watchers: int
    seconds: float
    messages: int = 0
    late_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    HEAD = ("what", "watchers", "messages", "a watcher and second", "p50 ms", "p95 ms", "cores")

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
    """Camera pictures of the demo to so many viewers."""
    with tempfile.TemporaryDirectory() as folder, running_server(["demo"], Path(folder)) as server:
        process, url = server
        camera = get(f"{url}/sessions/{SESSION}/cameras")[0]["name"]
        load = Load("pictures 1280 x 720", count, seconds)
        address = f"{_socket(url)}/sessions/{SESSION}/cameras/{camera}/frames"
        time.sleep(_WARM_UP_S * 4)  # the virtual cameras learn their colours first
        asyncio.run(_watch(address, load, process, lambda _: _picture(load)))
    return load


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
