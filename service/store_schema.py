"""The tables of the database, version by version; each migration leads from one to the next."""

import sqlite3
from pathlib import Path

from service.errors import NewerStore

# The log is append-only by trigger: an entry can go only when its whole session goes.
MIGRATIONS = (
    """
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        created REAL NOT NULL,
        setup TEXT NOT NULL CHECK (json_valid(setup))
    ) STRICT;
    CREATE TABLE entry (
        session TEXT NOT NULL REFERENCES session (id),
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('input', 'event')),
        body TEXT NOT NULL CHECK (json_valid(body)),
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    CREATE TRIGGER entry_not_lost BEFORE DELETE ON entry
        WHEN EXISTS (SELECT 1 FROM session WHERE id = OLD.session AND setup <> '{}')
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    CREATE TABLE token (
        hash TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        session TEXT,
        player TEXT,
        label TEXT NOT NULL,
        created REAL NOT NULL
    ) STRICT;
    """,
    """
    CREATE TABLE picture (
        session TEXT NOT NULL,
        turn INTEGER NOT NULL,
        camera TEXT NOT NULL,
        jpeg BLOB NOT NULL,
        PRIMARY KEY (session, turn, camera)
    ) STRICT;
    CREATE TABLE private (
        session TEXT NOT NULL,
        player TEXT NOT NULL,
        body TEXT NOT NULL CHECK (json_valid(body)),
        PRIMARY KEY (session, player)
    ) STRICT, WITHOUT ROWID;
    """,
)
VERSION = len(MIGRATIONS)


def migrate(database: sqlite3.Connection, path: Path, versions: int = VERSION) -> None:
    """Bring a database to this version, keeping a copy of the older one beside it.

    Raises NewerStore.
    """
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if found > versions:
        raise NewerStore(
            f"{path.name} has schema {found}, this program knows {versions}; "
            "update Kiebitz, or name another folder with --data"
        )
    if 0 < found < versions:
        _keep_copy(database, path.with_name(f"{path.name}.schema{found}"))
    for number in range(found, versions):
        # One transaction a step: the version changes together with the tables, or not at all.
        database.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;"
        )


def _keep_copy(database: sqlite3.Connection, copy: Path) -> None:
    target = sqlite3.connect(copy)
    try:
        database.backup(target)
    finally:
        target.close()
