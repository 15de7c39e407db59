"""The games that Kiebitz knows: one line each."""

from __future__ import annotations

from importlib import import_module

from rules.errors import UnknownName
from rules.game import GameSpec

GAMES = ("kewbz", "qbq", "ksar", "kwinty", "turris", "cube", "free")


def find_game(name: str) -> GameSpec:
    """The game of this name; raises UnknownName. Each module is loaded when it is asked for."""
    if name not in GAMES:
        raise UnknownName("game", name, GAMES)
    spec: GameSpec = import_module(f"rules.{name}").SPEC
    return spec
