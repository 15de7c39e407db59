"""What each house rule of a game decides, in words: `rulings/GAME.toml`, value by value."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from rules.game import Option
from rules.sentences import LANGUAGES

Says = dict[str, str]


@cache
def _rulings(game: str) -> dict[str, Any]:
    file = resources.files("service").joinpath("rulings", f"{game}.toml")
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def values_of(option: Option) -> list[str]:
    """The values between which a house rule chooses; one empty one where it is a number."""
    if isinstance(option.default, bool):
        return [str(value).lower() for value in (option.default, not option.default)]
    return [str(choice) for choice in option.choices] or [""]


def decides(game: str, option: Option) -> dict[str, Says]:
    """What holds with each value of a house rule, in every language."""
    told = _rulings(game).get(option.key, {})
    found = {value: told.get(value, {}) if value else told for value in values_of(option)}
    return {
        value: {language: says[language] for language in LANGUAGES}
        for value, says in found.items()
        if set(LANGUAGES) <= set(says)
    }
