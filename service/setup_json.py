"""How a session is set up, between the JSON of the API and the set-up of the rules."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rules.colours import look
from rules.errors import KiebitzError
from rules.game import Game, GameSpec, Setup
from rules.lattice import Board, Lattice
from rules.pieces import Extent
from rules.registry import find_game
from service.errors import BadRequest
from service.inputs import Json


def game_of(setup: Mapping[str, Any]) -> Game[Any]:
    """The game that a session's JSON describes; raises BadRequest."""
    try:
        spec = find_game(setup["game"])
        players = tuple(player["id"] for player in setup.get("players", ()))
        return spec.set_up(
            Setup(
                board=_board(spec, setup.get("board") or {}),
                players=players,
                first=setup.get("first") or "",
                rules=dict(setup.get("rules") or {}),
                details=dict(setup.get("details") or {}),
            )
        )
    except (KiebitzError, ImportError) as error:
        raise BadRequest(str(error)) from error


def _board(spec: GameSpec, given: Mapping[str, Any]) -> Board | None:
    if not given:
        return None
    old = spec.board.lattice
    lattice = Lattice(
        given.get("columns") or old.columns,
        given.get("ranks") or old.ranks,
        given.get("levels") or old.levels,
        given.get("pitch_mm") or old.pitch_mm,
        tuple(given.get("unit_mm") or old.unit_mm),
    )
    return replace(spec.board, lattice=lattice)


def describe(game: Game[Any], setup: Mapping[str, Any]) -> Json:
    """What a page must know to draw this game: board, colours with their looks, players."""
    lattice = game.lattice
    names = {p["id"]: p.get("name") or "" for p in setup.get("players", ())}
    colours = {**game.spec.colours, **(setup.get("colours") or {})}
    return {
        "game": game.spec.name,
        "title": game.spec.title,
        "board": {
            "columns": lattice.columns,
            "ranks": lattice.ranks,
            "levels": lattice.levels,
            "pitch_mm": lattice.pitch_mm,
            "unit_mm": list(lattice.unit_mm),
        },
        "colours": {
            letter: {"name": name, "rgb": list(look(name))} for letter, name in colours.items()
        },
        "players": [{"id": player, "name": names.get(player, "")} for player in game.players],
        "rules": game.spec.settings(game.setup),
        "cards": bool(game.spec.secrets),
        "pieces": _pieces(game.spec),
    }


def _pieces(spec: GameSpec) -> dict[str, list[list[int]]]:
    """How the pieces of each colour can lie or stand, in units, the longest first."""
    found: dict[str, set[Extent]] = {}
    for piece in spec.kit:
        found.setdefault(piece.letter, set()).update(piece.shape.extents)
    return {
        letter: [list(e) for e in sorted(extents, key=lambda e: (-e[0] * e[1] * e[2], e))]
        for letter, extents in found.items()
    }


def without_secrets(setup: Mapping[str, Any]) -> Json:
    """The JSON of a session without what not everybody may see."""
    details = dict(setup.get("details") or {})
    if details:
        for key in find_game(setup["game"]).secrets:
            details.pop(key, None)
    return {**setup, "details": details} if "details" in setup else dict(setup)
