"""A session as one file: options, log and pictures in a zip that any program can open."""

import io
import zipfile
from typing import Any

import orjson

from service.errors import BadFile
from service.setup_json import without_secrets
from service.store import Entry, Store

FORMAT = 1
LARGEST_BYTES = 200_000_000
_MOST_ENTRIES = 200_000
_EPOCH = (1980, 1, 1, 0, 0, 0)


def export_session(store: Store, session: str, *, secrets: bool = False) -> bytes:
    """The file of a session; what players entered for themselves is never in it. Raises NotFound.

    With `secrets` the set-up is complete, hands of cards included, if the host gave them.
    """
    kept = store.session(session)
    setup = {key: value for key, value in kept.setup.items() if key != "table"}  # a path of here
    if not secrets:
        setup = without_secrets(setup)
    head = {"kiebitz": FORMAT, "id": kept.id, "created": kept.created, "setup": setup}
    lines = [
        orjson.dumps({"at": entry.at, "kind": entry.kind, "body": entry.body})
        for entry in store.entries(session)
    ]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        _put(file, "session.json", orjson.dumps(head, option=orjson.OPT_INDENT_2))
        _put(file, "log.jsonl", b"\n".join(lines))
        for turn, camera in store.pictures(session):
            _put(file, f"pictures/{turn}/{camera}.jpg", store.picture(session, turn, camera))
    return target.getvalue()


def _put(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)  # the same session gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    file.writestr(info, content)


def import_session(store: Store, content: bytes, new_id: str) -> str:
    """Add the session of a file under a new id; raises BadFile and leaves nothing behind."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            if sum(info.file_size for info in file.infolist()) > LARGEST_BYTES:
                raise BadFile(f"the file unpacks to more than {LARGEST_BYTES // 10**6} MB")
            head = orjson.loads(file.read("session.json"))
            entries = _entries(file.read("log.jsonl"))
            pictures = [_picture(file, info) for info in file.infolist() if _is_picture(info)]
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, NotImplementedError) as error:
        raise BadFile(
            f"this is no game saved by Kiebitz: {error}; give what 'Save as file' wrote"
        ) from error
    _check_head(head)
    store.open_session(new_id, head["setup"], float(head["created"]))
    try:
        store.restore(new_id, entries)
        for turn, camera, jpeg in pictures:
            store.keep_picture(new_id, turn, camera, jpeg)
    except BaseException:
        store.forget(new_id)
        raise
    return new_id


def _check_head(head: Any) -> None:
    if not isinstance(head, dict) or not isinstance(head.get("setup"), dict):
        raise BadFile("this is no game saved by Kiebitz: it has no set-up")
    if head.get("kiebitz") != FORMAT:
        raise BadFile(
            f"the file has format {head.get('kiebitz')!r}, this program reads {FORMAT}; "
            "update Kiebitz"
        )
    if not isinstance(head.get("created"), (int, float)):
        raise BadFile("this is no game saved by Kiebitz: it has no date")


def _entries(text: bytes) -> list[Entry]:
    lines = text.split(b"\n") if text else []
    if len(lines) > _MOST_ENTRIES:
        raise BadFile(f"a log of {len(lines)} entries; at most {_MOST_ENTRIES}")
    found: list[Entry] = []
    for seq, line in enumerate(lines, 1):
        entry = orjson.loads(line)
        if not isinstance(entry, dict) or entry.get("kind") not in ("input", "event"):
            raise BadFile(f"{line[:40]!r} is no entry of a log")
        if not isinstance(entry.get("body"), dict):
            raise BadFile(f"{line[:40]!r} is no entry of a log")
        if not isinstance(entry.get("at"), (int, float)):
            raise BadFile(f"{line[:40]!r} has no time")
        found.append(Entry(seq, float(entry["at"]), entry["kind"], entry["body"]))
    return found


def _is_picture(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    return len(parts) == 3 and parts[0] == "pictures" and parts[2].endswith(".jpg")


def _picture(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, str, bytes]:
    _, turn, name = info.filename.split("/")
    jpeg = file.read(info)
    if not jpeg.startswith(b"\xff\xd8"):
        raise BadFile(f"{info.filename!r} is no JPEG picture")
    return int(turn), name.removesuffix(".jpg"), jpeg
