"""Storage: the log is append-only, survives kill -9, moves between machines and versions."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from service.errors import BadFile, NewerStore, NotFound, StoreError
from service.session_file import export_session, import_session
from service.store import Store, TokenRow
from service.store_schema import VERSION, migrate

SETUP = {"game": "kewbz"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A database on the disk with one session."""
    store = Store(tmp_path / "kiebitz.sqlite")
    store.open_session("one", SETUP)
    return store


class TestLog:
    """The log of a session."""

    def test_entries_come_back_in_order(self, store: Store) -> None:
        """What was appended is read again with its numbers, in order."""
        last = store.append("one", 0, [("input", {"a": 1}), ("event", {"event": "x"})])
        store.append("one", last, [("input", {"a": 2})])

        entries = store.entries("one")

        assert [(e.seq, e.kind, e.body) for e in entries] == [
            (1, "input", {"a": 1}),
            (2, "event", {"event": "x"}),
            (3, "input", {"a": 2}),
        ]
        assert [e.seq for e in store.entries("one", since=2)] == [3]

    def test_a_number_is_never_used_twice(self, store: Store) -> None:
        """Two writers cannot overwrite each other; the batch that fails leaves nothing."""
        store.append("one", 0, [("input", {})])

        with pytest.raises(sqlite3.IntegrityError):
            store.append("one", -1, [("event", {"event": "y"}), ("event", {"event": "z"})])

        assert [e.seq for e in store.entries("one")] == [1]

    @pytest.mark.parametrize(
        "statement",
        ["UPDATE entry SET body = '{}'", "DELETE FROM entry"],
        ids=["changed", "deleted"],
    )
    def test_entries_stay(self, store: Store, statement: str) -> None:
        """SQLite itself refuses to change or delete an entry of a session."""
        store.append("one", 0, [("input", {})])

        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store._db.execute(statement)

    def test_the_picture_of_a_turn_is_not_replaced_when_it_becomes_final(
        self, store: Store
    ) -> None:
        """By then the next player has moved: the table shows another turn."""
        store.append("one", 0, [("input", {})])
        store.keep_picture("one", 1, "left", b"begun")
        store.keep_picture("one", 1, "left", b"grown")
        store.keep_picture("one", 1, "left", b"later", anew=False)
        store.keep_picture("one", 2, "left", b"told late", anew=False)

        assert store.picture("one", 1, "left") == b"grown"
        assert store.picture("one", 2, "left") == b"told late"

    def test_a_forgotten_session_leaves_nothing(self, store: Store) -> None:
        """Deleting a session takes its log, pictures, cards and tokens along."""
        store.append("one", 0, [("input", {})])
        store.keep_picture("one", 1, "left", b"\xff\xd8\xff")
        store.set_private("one", "1", {"cards": ["YB/RY"]})
        store.add_token(TokenRow("h", "player", "one", "1", "", 0.0))

        store.forget("one")

        for table in ("session", "entry", "picture", "private", "token"):
            assert store._rows(f"SELECT count(*) FROM {table}") == [(0,)]

    def test_full_synchronous_wal(self, store: Store) -> None:
        """Every commit is flushed to the disk before anybody hears of it."""
        assert store._rows("PRAGMA journal_mode") == [("wal",)]
        assert store._rows("PRAGMA synchronous") == [(2,)]

    def test_only_the_owner_may_read_the_file(self, store: Store) -> None:
        """The database is closed to other users of the machine."""
        assert store.path is not None
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


class TestSchema:
    """Versions of the database."""

    def test_an_older_database_is_migrated_and_kept(self, tmp_path: Path) -> None:
        """A database of schema 1 gets the newer tables, and a copy of it stays."""
        path = tmp_path / "kiebitz.sqlite"
        old = sqlite3.connect(path, isolation_level=None)
        migrate(old, path, versions=1)
        old.execute("INSERT INTO session VALUES ('s', 1.0, '{\"game\": \"kewbz\"}')")
        old.execute("INSERT INTO entry VALUES ('s', 1, 1.0, 'input', '{}')")
        old.close()

        store = Store(path)

        assert [e.seq for e in store.entries("s")] == [1]
        store.keep_picture("s", 1, "left", b"\xff\xd8\xff")
        assert store._rows("PRAGMA user_version") == [(VERSION,)]
        assert (tmp_path / "kiebitz.sqlite.schema1").exists()

    def test_a_newer_database_is_refused(self, tmp_path: Path) -> None:
        """An old program never touches what a newer one wrote."""
        path = tmp_path / "kiebitz.sqlite"
        Store(path)._db.execute(f"PRAGMA user_version = {VERSION + 1}")

        with pytest.raises(NewerStore, match="update Kiebitz"):
            Store(path)

    def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        """A file that is no database gives a sentence with a way out."""
        path = tmp_path / "kiebitz.sqlite"
        path.write_bytes(b"no database" * 100)

        with pytest.raises(StoreError, match="move it away"):
            Store(path)


class TestFile:
    """A session as one file."""

    def test_a_session_moves_to_another_machine(self, store: Store, tmp_path: Path) -> None:
        """Log, set-up and pictures arrive; exporting again gives the same bytes."""
        store.append("one", 0, [("input", {"t": 1.0}), ("event", {"event": "x", "t": 1.0})])
        store.keep_picture("one", 3, "left", b"\xff\xd8\xff\xe0")
        file = export_session(store, "one")
        other = Store(tmp_path / "other" / "kiebitz.sqlite")

        import_session(other, file, "one")

        assert other.session("one").setup == SETUP
        assert [e.body for e in other.entries("one")] == [e.body for e in store.entries("one")]
        assert other.picture("one", 3, "left") == b"\xff\xd8\xff\xe0"
        assert export_session(other, "one") == file

    def test_private_cards_are_not_exported(self, store: Store) -> None:
        """What only one player may see is in no part of the file."""
        store.set_private("one", "1", {"cards": ["SECRET/CARD"]})

        with zipfile.ZipFile(BytesIO(export_session(store, "one"))) as file:
            contents = b"".join(file.read(name) for name in file.namelist())

        assert b"SECRET" not in contents

    @pytest.mark.parametrize(
        "content",
        [b"", b"PK\x03\x04 broken", b"\x00" * 1000],
        ids=["empty", "broken", "zeros"],
    )
    def test_other_files_are_refused(self, store: Store, content: bytes) -> None:
        """Whatever is no saved game leaves nothing behind, and it is told what would be one."""
        with pytest.raises(BadFile, match="Save as file"):
            import_session(store, content, "two")

        with pytest.raises(NotFound):
            store.session("two")

    def test_a_log_with_foreign_entries_is_refused(self, store: Store) -> None:
        """A well-formed zip with a malformed log leaves nothing behind."""
        target = BytesIO()
        with zipfile.ZipFile(target, "w") as file:
            head = '{"kiebitz": 1, "created": 1.0, "setup": {"game": "kewbz"}}'
            file.writestr("session.json", head)
            file.writestr("log.jsonl", '{"kind": "spell", "body": {}}')

        with pytest.raises(BadFile, match="no entry of a log"):
            import_session(store, target.getvalue(), "two")


WRITER = """
import sys
from pathlib import Path
from service.store import Store
store = Store(Path(sys.argv[1]))
seq = len(store.entries("one"))
while True:
    seq = store.append("one", seq, [("input", {"n": seq}), ("event", {"event": "turn"})])
    sys.stdout.write(f"{seq}\\n")
    sys.stdout.flush()
"""


def test_kill_9_loses_nothing_that_was_accepted(store: Store) -> None:
    """However often the writer is killed, every entry it reported is there, and none is half."""
    assert store.path is not None
    for wait in (1, 3, 8, 20, 50):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            accepted = [int(writer.stdout.readline()) for _ in range(wait)]
            os.kill(writer.pid, signal.SIGKILL)
            accepted += [int(line) for line in writer.stdout.read().split("\n")[:-1]]

        entries = Store(store.path).entries("one")

        assert [e.seq for e in entries] == list(range(1, len(entries) + 1))
        assert len(entries) >= accepted[-1]
        assert len(entries) % 2 == 0, "an input was kept without what it brought about"
    assert store.check() == "ok"
