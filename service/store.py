"""Sessions on disk: SQLite, one append-only log a session; what was committed survives a crash."""

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from service.errors import NotFound, StoreError
from service.store_schema import migrate

Kind = Literal["input", "event"]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a session's log: what was put in (a reading, a tap), or what was told."""

    seq: int
    at: float
    kind: Kind
    body: Json


@dataclass(frozen=True, slots=True)
class Kept:
    """A session as it is kept: what it was set up with, and how long its log is."""

    id: str
    created: float
    setup: Json
    entries: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as it is kept: only its hash, never itself."""

    hash: str
    role: str
    session: str | None
    player: str | None
    label: str
    created: float


class Store:
    """The database of one data folder, or one in memory for tests (`path=None`).

    All calls may come from any thread; each returns only after its change is on the disk
    (`synchronous = FULL`: the log is flushed before a commit returns).
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.RLock()
        self.path = path
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path or ":memory:", check_same_thread=False, isolation_level=None, timeout=10
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            migrate(self._db, path or Path("memory"))
        except OSError as error:
            why = "there is a file" if isinstance(error, FileExistsError) else error.strerror
            raise StoreError(
                f"games cannot be kept in {str(Path(path or '').parent)!r}: {str(why).lower()}; "
                "name another folder with --data"
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"the database {str(path)!r} cannot be opened: {error}; "
                "move it away to begin anew, or name another folder with --data"
            ) from error
        if path is not None:
            path.chmod(0o600)  # it holds hashed tokens and players' cards

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                raise StoreError(f"the database does not take it: {error}") from error

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    # Sessions and their logs

    def open_session(self, session: str, setup: Json, created: float | None = None) -> None:
        with self._writing() as db:
            db.execute(
                "INSERT INTO session VALUES (?, ?, ?)",
                (
                    session,
                    time.time() if created is None else created,
                    orjson.dumps(setup).decode(),
                ),
            )

    def sessions(self) -> list[Kept]:
        """All sessions, the newest first."""
        rows = self._rows(
            "SELECT id, created, setup, (SELECT count(*) FROM entry WHERE session = id)"
            " FROM session ORDER BY created DESC, id"
        )
        return [Kept(row[0], row[1], orjson.loads(row[2]), row[3]) for row in rows]

    def session(self, session: str) -> Kept:
        """One session; raises NotFound."""
        for kept in self.sessions():
            if kept.id == session:
                return kept
        raise NotFound(f"there is no session {session!r}")

    def append(self, session: str, after: int, entries: Iterable[tuple[Kind, Json]]) -> int:
        """Write entries behind number `after`, all or none; the number of the last one."""
        now = time.time()
        written = [Entry(seq, now, *one) for seq, one in enumerate(entries, after + 1)]
        self.restore(session, written)
        return written[-1].seq if written else after

    def restore(self, session: str, entries: Iterable[Entry]) -> None:
        """Write entries with their own numbers and times, all or none."""
        rows = [(session, e.seq, e.at, e.kind, orjson.dumps(e.body).decode()) for e in entries]
        with self._writing() as db:
            db.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", rows)

    def entries(self, session: str, since: int = 0) -> list[Entry]:
        """The log of a session behind the number `since`."""
        rows = self._rows(
            "SELECT seq, at, kind, body FROM entry WHERE session = ? AND seq > ? ORDER BY seq",
            session,
            since,
        )
        return [Entry(row[0], row[1], row[2], orjson.loads(row[3])) for row in rows]

    def last_events(self, session: str, names: Sequence[str]) -> dict[str, Json]:
        """The last event of each of these names, read from the end of the log."""
        found: dict[str, Json] = {}
        for name in names:
            rows = self._rows(
                "SELECT body FROM entry WHERE session = ? AND kind = 'event'"
                " AND json_extract(body, '$.event') = ? ORDER BY seq DESC LIMIT 1",
                session,
                name,
            )
            if rows:
                found[name] = orjson.loads(rows[0][0])
        return found

    def forget(self, session: str) -> None:
        """Remove a session with everything that belongs to it."""
        with self._writing() as db:
            db.execute("UPDATE session SET setup = '{}' WHERE id = ?", (session,))
            for table in ("entry", "picture", "private", "token"):
                db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608
            db.execute("DELETE FROM session WHERE id = ?", (session,))

    # Pictures of turns

    def keep_picture(
        self, session: str, turn: int, camera: str, jpeg: bytes, *, anew: bool = True
    ) -> None:
        """Keeps the picture of a turn; not `anew`: only where there is none yet."""
        keep = "INSERT OR REPLACE INTO picture VALUES (?, ?, ?, ?)"
        if not anew:
            keep = "INSERT OR IGNORE INTO picture VALUES (?, ?, ?, ?)"
        with self._writing() as db:
            db.execute(keep, (session, turn, camera, jpeg))

    def picture(self, session: str, turn: int, camera: str) -> bytes:
        """The picture of a turn; raises NotFound."""
        rows = self._rows(
            "SELECT jpeg FROM picture WHERE session = ? AND turn = ? AND camera = ?",
            session,
            turn,
            camera,
        )
        if not rows:
            raise NotFound(f"there is no picture of turn {turn} by the camera {camera!r}")
        return bytes(rows[0][0])

    def pictures(self, session: str) -> list[tuple[int, str]]:
        """Turn and camera of every picture that is kept."""
        rows = self._rows(
            "SELECT turn, camera FROM picture WHERE session = ? ORDER BY turn, camera", session
        )
        return [(row[0], row[1]) for row in rows]

    # What only one player may see

    def private(self, session: str, player: str) -> Json:
        rows = self._rows(
            "SELECT body FROM private WHERE session = ? AND player = ?", session, player
        )
        found: Json = orjson.loads(rows[0][0]) if rows else {}
        return found

    def set_private(self, session: str, player: str, body: Json) -> None:
        with self._writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO private VALUES (?, ?, ?)",
                (session, player, orjson.dumps(body).decode()),
            )

    # Tokens, by their hashes

    def add_token(self, row: TokenRow) -> None:
        with self._writing() as db:
            db.execute(
                "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?)",
                (row.hash, row.role, row.session, row.player, row.label, row.created),
            )

    def token(self, token_hash: str) -> TokenRow | None:
        rows = self._rows("SELECT * FROM token WHERE hash = ?", token_hash)
        return TokenRow(*rows[0]) if rows else None

    def tokens(self, session: str | None = None) -> list[TokenRow]:
        rows: Sequence[Any] = self._rows(
            "SELECT * FROM token WHERE ? IS NULL OR session = ? ORDER BY created", session, session
        )
        return [TokenRow(*row) for row in rows]

    def drop_token(self, token_hash: str) -> None:
        with self._writing() as db:
            db.execute("DELETE FROM token WHERE hash = ?", (token_hash,))

    def check(self) -> str:
        """`ok`, or what SQLite finds wrong with the file."""
        return str(self._rows("PRAGMA integrity_check")[0][0])
