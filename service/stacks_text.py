"""Stacks on the command line: JSON text, the one-line form, or a file with either."""

import json
from collections.abc import Collection
from pathlib import Path

from rules.cells import Cell
from rules.errors import NotationError, SetupError
from rules.lattice import Lattice
from rules.stacks import Stacks

_EXAMPLE = """'{"a1": "B", "d4": "BYB"}'"""


def stacks_from(text: str, lattice: Lattice) -> Stacks:
    """The stacks of a text or of the file it names; raises NotationError."""
    given = text.strip()
    if (given and given[0] not in "{x" and "/" not in given.strip("./")) or (
        given and given[0] != "{" and _is_file(given)
    ):
        given = _content(given)
    stacks = _parsed(given)
    for cell, stack in stacks.items():
        if cell not in lattice:
            raise NotationError(
                f"{cell} is no cell of this board of {lattice.columns} x {lattice.ranks}; "
                f"the cells are a1 to {Cell(lattice.columns - 1, lattice.ranks - 1)}"
            )
        if len(stack) > lattice.levels:
            raise NotationError(
                f"{stack!r} on {cell} is {len(stack)} high; stacks here have "
                f"{lattice.levels} levels at most"
            )
    return stacks


def check_letters(stacks: Stacks, colours: Collection[str], also: str = "") -> None:
    """Raise SetupError for a letter that is neither a colour of the table nor in `also`."""
    strange = sorted({letter for _, letter in stacks.units()} - {*colours, *also})
    if strange:
        raise SetupError(
            f"the stacks have the letter {strange[0]!r}, the table's colours are "
            f"{' '.join(colours)}"
        )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # longer than any file's name
        return False


def _content(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        raise NotationError(
            f"{name[:60]!r} is neither a file nor stacks; stacks look like {_EXAMPLE}"
        ) from None


def _parsed(text: str) -> Stacks:
    if not text.startswith("{"):
        return Stacks.parse(text)
    try:
        data = json.loads(text, object_pairs_hook=_each_once)
    except (json.JSONDecodeError, RecursionError):
        raise NotationError(
            f"{text[:60]!r} cannot be read as stacks; they look like {_EXAMPLE}, in single quotes"
        ) from None
    if isinstance(data, dict) and isinstance(data.get("stacks"), dict):
        data = data["stacks"]  # what `kiebitz read` printed
    wrong = [k for k, v in data.items() if not isinstance(v, str)]
    if wrong:
        raise NotationError(f"the stack on {wrong[0]!r} is no text such as 'BYB'")
    return Stacks.of(data)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON whose names differ; which of two would be meant nobody knows."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotationError(f"{twice!r} is named twice; give each cell one stack")
    return found
