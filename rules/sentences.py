"""The catalogue of sentences: every broken rule and every reason in five languages.

One TOML file a game in the folder `catalogue`, one table a code, one line a language. A sentence
may name {cells}, and any fact its code is told with. `clause` is the place in the rulebook.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from rules.cells import Cell

LANGUAGES = ("en", "de", "fr", "es", "nl")


class _Lenient(string.Formatter):
    """Leaves a field that nobody filled visible instead of failing a running game."""

    def get_value(
        self, key: int | str, _args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        return kwargs.get(str(key), f"{{{key}}}")


@cache
def catalogue(game: str) -> dict[str, dict[str, str]]:
    """All sentences of a game by slug, then language; `clause` stands among the languages."""
    file = resources.files("rules").joinpath("catalogue", f"{game}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def sentence(
    code: str, language: str, cells: Sequence[Cell] = (), facts: Mapping[str, object] | None = None
) -> str:
    """The sentence of a code such as `kewbz.square`, with its cells and facts filled in."""
    entry = entry_of(code)
    text = entry.get(language, entry["en"])
    return _Lenient().vformat(text, (), {"cells": cell_names(cells, language), **(facts or {})})


def clause(code: str) -> str:
    """Where the rulebook says it."""
    return entry_of(code)["clause"]


def entry_of(code: str) -> dict[str, str]:
    """The catalogue's entry of a code; what all games share stands in `shared.toml`."""
    game, _, slug = code.partition(".")
    return catalogue(game).get(slug) or catalogue("shared")[slug]


_AND = {"en": "and", "de": "und", "fr": "et", "es": "y", "nl": "en"}


def cell_names(cells: Sequence[Cell], language: str) -> str:
    """Cells as people list them: `d4`, `d4 and e4`, `d4, e4 and f4`."""
    names = [str(cell) for cell in cells]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {_AND.get(language, 'and')} {names[-1]}"
