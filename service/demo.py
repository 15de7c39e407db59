"""The demo: a table that plays a game to itself."""

from importlib import resources

from rules.record import Record, parse_record
from service.api.context import Server
from service.errors import NotFound
from service.inputs import Json
from service.record_follower import RecordFollower

SESSION = "demo"


def demo_games() -> list[str]:
    """The games of which a record comes with the program."""
    folder = resources.files("service").joinpath("demo_games")
    return sorted(file.name.removesuffix(".txt") for file in folder.iterdir())


def demo_record(game: str) -> Record:
    """The record that the demo plays; raises NotFound."""
    if game not in demo_games():
        raise NotFound(f"there is no demo of {game!r}; there is one of {', '.join(demo_games())}")
    file = resources.files("service").joinpath("demo_games", f"{game}.txt")
    return parse_record(file.read_text(encoding="utf-8"))


def begin_demo(server: Server, game: str, pace_s: float) -> None:
    """Open the demo's session anew, and let it play."""
    record = demo_record(game)
    if any(kept.id == SESSION for kept in server.store.sessions()):
        server.sessions.get(SESSION)
        server.sessions.forget(SESSION)
    server.sessions.create(setup_of(record), SESSION)
    server.sessions.feed(SESSION, RecordFollower(record, pace_s=pace_s))


def setup_of(record: Record) -> Json:
    """A session's JSON for the game of a record."""
    setup, spec = record.setup, record.spec
    players = setup.players or spec.seats(setup)
    found: Json = {
        "game": spec.name,
        "name": "Demo",
        "players": [{"id": player, "name": ""} for player in players],
        "first": setup.first,
        "rules": dict(setup.rules),
        "details": dict(setup.details),
    }
    if setup.board is not None:
        lattice = setup.board.lattice
        found["board"] = {
            "columns": lattice.columns,
            "ranks": lattice.ranks,
            "levels": lattice.levels,
        }
    return found
