"""Stacks on the command line: JSON text, the one-line form, or a file with either."""

import json
from pathlib import Path

from rules.errors import NotationError
from rules.lattice import Lattice
from rules.stacks import Stacks


def stacks_from(text: str, lattice: Lattice) -> Stacks:
    """The stacks of a text or of the file it names; raises NotationError."""
    given = text.strip()
    if (given and given[0] not in "{x" and "/" not in given.strip("./")) or (
        given and given[0] != "{" and Path(given).is_file()
    ):
        given = _content(given)
    stacks = _parsed(given)
    for cell, stack in stacks.items():
        if cell not in lattice or len(stack) > lattice.levels:
            raise NotationError(
                f"{cell} with {len(stack)} levels lies outside the lattice of "
                f"{lattice.columns} x {lattice.ranks} cells and {lattice.levels} levels"
            )
    return stacks


def _content(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        raise NotationError(
            f"{name[:60]!r} is neither a file nor stacks; stacks look like "
            """'{"a1": "B", "d4": "BYB"}'"""
        ) from None


def _parsed(text: str) -> Stacks:
    if not text.startswith("{"):
        return Stacks.parse(text)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotationError(f"the stacks are no JSON: {error}") from None
    if isinstance(data, dict) and isinstance(data.get("stacks"), dict):
        data = data["stacks"]  # what `kiebitz read` printed
    wrong = [k for k, v in data.items() if not isinstance(v, str)]
    if wrong:
        raise NotationError(f"the stack on {wrong[0]!r} is no text such as 'BYB'")
    return Stacks.of(data)
