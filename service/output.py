"""What commands print: one JSON object a line."""

import sys

import orjson

from rules.events import Event


def write_event(event: Event) -> None:
    """Print one event as a line of JSON."""
    sys.stdout.buffer.write(orjson.dumps(event.as_dict(), option=orjson.OPT_APPEND_NEWLINE))
