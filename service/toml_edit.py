"""Single values changed in a TOML text; comments, order and everything else stay as they are."""

import re
from collections.abc import Mapping

from service.toml_text import Path, key_lines

_VALUE = re.compile(r"(?P<before>[^=]*=\s*)(?P<value>[^#]*?)(?P<after>\s*(#.*)?)$")


def with_values(text: str, section: str, values: Mapping[str, float]) -> str:
    """The text with some numbers of a section set; raises no error, reading it again tells."""
    lines = text.splitlines()
    for key, value in values.items():
        known = key_lines("\n".join(lines))
        place: Path = (section, key)
        if place in known:
            _replace(lines, known[place] - 1, f"{value}")
        elif (section,) in known:
            lines.insert(known[(section,)], f"{key} = {value}")
        else:
            lines += ["", f"[{section}]", f"{key} = {value}"]
    return "\n".join(lines) + "\n"


def _replace(lines: list[str], number: int, value: str) -> None:
    match = _VALUE.match(lines[number])
    if match is None:
        return
    # Comments keep their column where the new value leaves room.
    gap = len(match["value"]) + len(match["after"]) - len(match["after"].lstrip())
    after = match["after"].lstrip()
    room = " " * max(gap - len(value), 2) if after else ""
    lines[number] = f"{match['before']}{value}{room}{after}"
