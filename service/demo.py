"""The demo: a virtual table on which a game plays itself, followed by the real pipeline."""

from importlib import resources

from rules.record import Record
from service.api.context import Server
from service.demo_players import DemoPlayers
from service.errors import NotFound
from service.inputs import Json
from service.record_follower import RecordFollower
from service.virtual_follower import virtual_follower
from vision.virtual.live import VirtualTable, play_scene
from vision.virtual.play import rehearse
from vision.virtual.script import Script, parse_script

SESSION = "demo"


def demo_games() -> list[str]:
    """The games of which a record comes with the program."""
    folder = resources.files("service").joinpath("demo_games")
    return sorted(file.name.removesuffix(".txt") for file in folder.iterdir())


def demo_script(game: str) -> Script:
    """The game that the demo plays; raises NotFound."""
    if game not in demo_games():
        raise NotFound(f"there is no demo of {game!r}; there is one of {', '.join(demo_games())}")
    file = resources.files("service").joinpath("demo_games", f"{game}.txt")
    return parse_script(file.read_text(encoding="utf-8"))


def begin_demo(server: Server, game: str, pace_s: float | None = None) -> None:
    """Open the demo's session anew, and let it play.

    With a pace the record is followed instead of pictures: so many seconds from scene to scene.
    """
    script = demo_script(game)
    if any(kept.id == SESSION for kept in server.store.sessions()):
        server.sessions.get(SESSION)
        server.sessions.forget(SESSION)
    session = server.sessions.create(setup_of(script.record), SESSION).session
    session.listeners.append(DemoPlayers(session, script.record).hear)
    if pace_s is not None:
        follower = RecordFollower(script.record, pace_s=pace_s)
        server.sessions.feed(SESSION, follower)
    else:
        table = VirtualTable(play_scene(script), rehearse(script))
        server.sessions.feed(SESSION, virtual_follower(table))


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
