"""All sessions of this machine: opened, recalled from the disk, fed, closed."""

import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from rules.errors import KiebitzError
from rules.registry import find_game
from rules.stacks import Stacks
from service.follower import Picture, Seen, TableFollower
from service.inputs import Json
from service.judging import camera_event
from service.pictures import Pictures, small_jpeg
from service.session import GameSession
from service.setup_json import describe, game_of
from service.store import Store


@dataclass(slots=True)
class Table:
    """A session with what belongs to it while it runs."""

    session: GameSession
    setup: Json
    follower: TableFollower | None = None
    pictures: Pictures = field(default_factory=Pictures)

    def look(self, camera: str) -> Picture | None:
        """The newest picture of a camera, by whoever follows the table now."""
        return self.follower.picture(camera) if self.follower else None

    def describe(self) -> Json:
        """What is the same for everybody and seldom changes."""
        source = self.follower.kind if self.follower else "none"
        return {
            "id": self.session.id,
            "name": self.setup.get("name") or "",
            "source": source,
            **describe(self.session.game, self.setup),
            "cameras": [
                {
                    "name": c.name,
                    "kind": c.kind,
                    "size": list(c.size),
                    "model": c.model,
                    "needs": c.needs,
                }
                for c in (self.follower.cameras() if self.follower else ())
            ],
        }


def new_id() -> str:
    """An id that sorts by date and cannot be guessed from another one."""
    return f"{time.strftime('%Y%m%d')}-{secrets.token_hex(6)}"


class TableFeed:
    """Brings what a follower sees into its session."""

    def __init__(self, session: GameSession) -> None:
        self.session = session

    def observed(self, seen: Seen) -> bool:
        return self.session.observed(seen)

    def passed(self) -> None:
        self.session.tick()

    def explains(self, stacks: Stacks) -> bool:
        return self.session.explains(stacks)

    def expected(self) -> Sequence[Stacks]:
        return self.session.expected()

    def believed(self) -> Stacks:
        return self.session.believed

    def camera(self, camera: str, state: str, say: str) -> None:
        self.session.notice(camera_event(camera, state, say))

    def turned(self, degrees: float, quarters: int) -> None:
        self.session.notice({"event": "turned", "degrees": degrees, "quarters": quarters})


def _standing(table: Table) -> Json:
    """How a running session stands."""
    state = table.session.state
    return {
        "phase": state.phase,
        "turns": len(state.turns),
        "score": state.score,
        "winner": state.over["winner"] if state.over else None,
    }


def _title(game: str) -> str:
    try:
        return find_game(game).title
    except KiebitzError:
        return game  # of a newer program


class Sessions:
    """Finds sessions by id; those on the disk are recalled when they are asked for."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._open: dict[str, Table] = {}
        self._shown: str | None = None
        self._lock = threading.RLock()
        self._background = ThreadPoolExecutor(1, thread_name_prefix="thumbnails")

    def create(self, setup: Json, session: str | None = None) -> Table:
        """Open a new session; raises BadRequest."""
        game_of(setup)
        name = session or new_id()
        self.store.open_session(name, setup)
        return self.get(name)

    def get(self, session: str) -> Table:
        """A session by id; raises NotFound."""
        with self._lock:
            table = self._open.get(session)
            if table is None:
                kept = self.store.session(session)
                live = GameSession(session, game_of(kept.setup), self.store)
                table = self._open[session] = Table(live, kept.setup)
                live.listeners.append(lambda event: self._picture_of(table, event))
            return table

    def feed(self, session: str, follower: TableFollower) -> Table:
        """Let a follower feed a session, in place of any before."""
        table = self.get(session)
        self.unfeed(session)
        table.follower = follower
        self.show(session)
        table.session.keep_time(follower.seconds)
        follower.start(TableFeed(table.session))
        table.session.channel.restart()  # other cameras, or the same ones calibrated
        return table

    def unfeed(self, session: str) -> None:
        """Stop whoever feeds a session."""
        table = self.get(session)
        follower, table.follower = table.follower, None
        if follower is not None:
            follower.stop()
            table.session.keep_time(time.time)
            table.session.channel.restart()  # the page must know that nobody looks any more

    def followed(self) -> list[tuple[str, Table]]:
        """The sessions at whose tables somebody looks now."""
        with self._lock:
            return [(name, table) for name, table in self._open.items() if table.follower]

    def current(self) -> str | None:
        """The session that a visitor sees first."""
        return self._shown if self._shown in self._open else None

    def show(self, session: str) -> None:
        """Let visitors see this session first."""
        self._shown = session

    def list(self) -> list[Json]:
        """Every session on the disk, the newest first, with what a list of games shows.

        Only those that run are asked; the others would have to be judged from their first turn.
        """
        found: list[Json] = []
        for kept in self.store.sessions():
            table = self._open.get(kept.id)
            told = self._told(kept.id) if table is None else _standing(table)
            found.append(
                {
                    "id": kept.id,
                    "created": kept.created,
                    "name": kept.setup.get("name") or "",
                    "game": kept.setup["game"],
                    "title": _title(kept.setup["game"]),
                    "live": table is not None and table.follower is not None,
                    **told,
                }
            )
        return found

    def _told(self, session: str) -> Json:
        """How a session that does not run stood last."""
        last = self.store.last_events(session, ("phase", "turn", "over"))
        phase = last["phase"]["phase"] if "phase" in last else "setup"
        return {
            "phase": phase,
            "turns": last["turn"]["n"] if "turn" in last else 0,
            "score": last["turn"]["score"] if "turn" in last else {},
            "winner": last["over"]["winner"] if phase == "over" and "over" in last else None,
        }

    def forget(self, session: str) -> None:
        """Delete a session for good."""
        with self._lock:
            self.unfeed(session)
            del self._open[session]
            self.store.forget(session)

    def close(self) -> None:
        """Stop every follower and write what is still waiting."""
        for name in tuple(self._open):
            self.unfeed(name)
        self._background.shutdown()

    def _picture_of(self, table: Table, event: Json) -> None:
        """Keep a small picture of every camera for each turn, without delaying the turn."""
        follower = table.follower
        if event["event"] != "turn" or follower is None:
            return
        turn, session = int(event["n"]), table.session.id
        # What becomes final, or is told anew, is some scenes ago: the table shows more by now.
        anew = not event["final"]

        def keep() -> None:
            for camera in follower.cameras():
                picture = follower.picture(camera.name)
                if picture is not None:
                    jpeg = small_jpeg(picture.image)
                    self.store.keep_picture(session, turn, camera.name, jpeg, anew=anew)

        self._background.submit(keep)
