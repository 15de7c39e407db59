"""`kiebitz bench crash`: kill -9 again and again, and look whether anything accepted is gone."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from service.errors import ServiceError
from service.store import Store

_WRITER = """
import sys
from pathlib import Path
from typing import Any
from service.store import Store
store = Store(Path(sys.argv[1]))
seq = store.entries("crash")[-1].seq if store.entries("crash") else 0
while True:
    turn = {"event": "turn", "n": seq, "stacks": {"d4": "BYBYB"}}
    seq = store.append("crash", seq, [("input", {"what": "observed"}), ("event", turn)])
    sys.stdout.write(f"{seq}\\n")
    sys.stdout.flush()
"""
_LONGEST_LIFE_S = 0.06
_START_S = 60.0
_EMPTY = ("serve", "--empty")


@dataclass(frozen=True, slots=True)
class Crashes:
    """What came out: how often something was killed, what it had accepted, what is gone."""

    what: str
    kills: int
    accepted: int
    lost: int
    half: int
    intact: bool

    HEAD = ("what", "kills", "accepted", "lost", "half written", "file intact")

    def texts(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        return (
            self.what,
            f"{self.kills:,}",
            f"{self.accepted:,}",
            f"{self.lost:,}",
            f"{self.half:,}",
            "yes" if self.intact else "no",
        )

    @property
    def good(self) -> bool:
        """Whether nothing was lost."""
        return self.lost == 0 and self.half == 0 and self.intact


def crash_writer(kills: int, seed: int = 1) -> Crashes:
    """Kill a process that writes turns; whatever it had reported must be there afterwards."""
    rng = random.Random(seed)
    lost = half = accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kiebitz.sqlite"
        first = Store(path)
        first.open_session("crash", {"game": "none"})
        first.close()
        for _ in range(kills):
            last = _one_life(path, rng.uniform(0, _LONGEST_LIFE_S))
            store = Store(path)
            numbers = [entry.seq for entry in store.entries("crash")]
            store.close()
            lost += max(0, last - len(numbers))
            half += len(numbers) % 2 + (numbers != list(range(1, len(numbers) + 1)))
            accepted = max(accepted, last)
        store = Store(path)
        intact = store.check() == "ok"
        store.close()
    return Crashes("storage writer", kills, accepted // 2, lost, half, intact)


def _one_life(path: Path, seconds: float) -> int:
    """Let a writer live so long after its first turn; the last number that it reported."""
    command = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        first = writer.stdout.readline() if writer.stdout else ""
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read() if writer.stdout else ""
    told = [first, *rest.split("\n")]
    # A number without its line end was cut off while it was told.
    return max((int(line) for line in told if line.strip().isdigit()), default=0)


def crash_server(kills: int, seed: int = 1) -> Crashes:
    """Kill the whole server in the middle of a game; every turn that it showed must be there."""
    rng = random.Random(seed)
    shown: dict[int, str] = {}
    lost = accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        session = ""
        game = Moves(rng)
        for _ in range(kills):
            with running_server(_EMPTY, data) as (process, url):
                if not session:
                    session = post(f"{url}/sessions", {"game": "free"})["id"]
                told = get(f"{url}/sessions/{session}/events?since=0")
                present = {e["seq"]: e["event"] for e in told}
                lost += sum(1 for seq, event in shown.items() if present.get(seq) != event)
                _play_until_killed(process, f"{url}/sessions/{session}", game, rng, shown)
                accepted = len(shown)
        with running_server(_EMPTY, data) as (_, url):
            told = get(f"{url}/sessions/{session}/events?since=0")
            present = {e["seq"]: e["event"] for e in told}
            lost += sum(1 for seq, event in shown.items() if present.get(seq) != event)
        store = Store(data / "kiebitz.sqlite")
        intact = store.check() == "ok"
        store.close()
    return Crashes("whole server", kills, accepted, lost, 0, intact)


class Moves:
    """Scenes in which one more piece stands each time; they begin again when the board is full."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._cells: list[str] = []
        self.stacks: dict[str, str] = {}

    def next(self) -> dict[str, str]:
        """The next scene."""
        if not self._cells:
            self._cells = [f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 9)]
            self._rng.shuffle(self._cells)
            self.stacks = {}
        self.stacks = {**self.stacks, self._cells.pop(): self._rng.choice("BY")}
        return self.stacks


def _play_until_killed(
    process: subprocess.Popen[bytes],
    url: str,
    game: Moves,
    rng: random.Random,
    shown: dict[int, str],
) -> None:
    """Tell scenes; remember every event that the server has answered for; then kill it."""
    end = time.monotonic() + rng.uniform(0.05, 0.8)
    seq = max(shown, default=0)
    while time.monotonic() < end:
        post(f"{url}/observations", {"stacks": game.next()})
        for event in get(f"{url}/events?since={seq}"):
            seq = event["seq"]
            shown[seq] = event["event"]
    # One more is on its way when the server dies; nobody was told that it was accepted.
    request = _request(f"{url}/observations", {"stacks": game.next()})
    with contextlib.suppress(OSError):
        urllib.request.urlopen(request, timeout=0.002)  # noqa: S310  our own server
    os.kill(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def running_server(
    words: Sequence[str], data: Path
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`kiebitz WORDS` in a process of its own on a free port, killed at the end; and its API."""
    more = ["--host", "127.0.0.1", "--port", "0", "--no-open", "--data", str(data)]
    command = [sys.executable, "-m", "service.cli", *words, *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            yield process, f"{_address(process)}api/v1"
        finally:
            process.kill()


def _address(process: subprocess.Popen[bytes]) -> str:
    """Where the server says that it is."""
    end = time.monotonic() + _START_S
    while process.stderr and time.monotonic() < end:
        line = process.stderr.readline().decode()
        if not line:
            break
        if "http://" in line:
            return line[line.index("http://") :].split()[0]
    raise ServiceError("the server did not start; try `kiebitz serve` to see why")


def _request(url: str, body: object) -> urllib.request.Request:
    headers = {"content-type": "application/json"}
    return urllib.request.Request(url, orjson.dumps(body), headers)  # noqa: S310  our own server


def post(url: str, body: object) -> dict[str, str]:
    """Send JSON; the answer."""
    request = _request(url, body)
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  our own server
        found: dict[str, str] = orjson.loads(answer.read())
    return found


def get(url: str) -> list[Any]:
    """Ask for a list."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310  our own server
        found: list[Any] = orjson.loads(answer.read())
    return found
