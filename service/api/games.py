"""Routes about the games themselves: what there is, their options, rules and sentences."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from rules.colours import look
from rules.errors import KiebitzError
from rules.game import GameSpec
from rules.registry import GAMES, find_game
from rules.sentences import catalogue
from service.api.context import AHost, AServer, AWho
from service.api.models import Anything
from service.demo import SESSION, begin_demo, demo_games
from service.errors import NotFound
from service.house_rules import decides

router = APIRouter(prefix="/games", tags=["games"])
demos = APIRouter(prefix="/demos", tags=["games"])
Language = Literal["en", "de", "fr", "es", "nl"]


def _spec(name: str) -> GameSpec | None:
    try:
        return find_game(name)
    except ModuleNotFoundError:
        return None  # named in the registry, not yet part of this build


def _summary(spec: GameSpec) -> Anything:
    lattice = spec.board.lattice
    return {
        "name": spec.name,
        "title": spec.title,
        "board": {
            "columns": lattice.columns,
            "ranks": lattice.ranks,
            "levels": lattice.levels,
            "pitch_mm": lattice.pitch_mm,
            "unit_mm": list(lattice.unit_mm),
        },
        "sizes": list(spec.sizes),
        "players": list(spec.players),
        "fewest_players": spec.fewest_players,
        "colours": {
            letter: {"name": name, "rgb": list(look(name))} for letter, name in spec.colours.items()
        },
        "kit": [
            {"shape": piece.shape.name, "colour": piece.letter, "count": piece.count}
            for piece in spec.kit
        ],
        "options": [
            {
                "key": option.key,
                "default": option.default,
                "choices": list(option.choices),
                "least": option.least,
                "most": option.most,
                "says": decides(spec.name, option),
            }
            for option in spec.options
        ],
        "details": list(spec.details),
    }


@router.get("")
def games() -> list[Anything]:
    """Every game that Kiebitz knows, with its board, kit and options."""
    return [_summary(spec) for spec in map(_spec, GAMES) if spec is not None]


@router.get("/{game}")
def game(
    game: Annotated[str, Path(max_length=40)], language: Annotated[Language, Query()] = "en"
) -> Anything:
    """One game, and every rule that Kiebitz watches over, in words."""
    try:
        spec = find_game(game)
    except (KiebitzError, ModuleNotFoundError):
        raise NotFound(f"there is no game {game!r}") from None
    entries = catalogue(game)
    rules = [
        {
            "code": f"{game}.{slug}",
            "clause": entry.get("clause", ""),
            "say": entry.get(language, entry.get("en", "")),
        }
        for slug, entry in entries.items()
        if "en" in entry
    ]
    return {**_summary(spec), "rules": rules}


@demos.get("")
def demo_titles(_: AWho) -> dict[str, str]:
    """The games of which there is a demo, with their titles."""
    return {name: find_game(name).title for name in demo_games()}


@demos.post("/{demo}", status_code=201)
def begin(demo: Annotated[str, Path(max_length=40)], server: AServer, _: AHost) -> Anything:
    """Let this game play itself before virtual cameras, in place of the demo that is on."""
    begin_demo(server, demo)
    return server.sessions.get(SESSION).describe()
