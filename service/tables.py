"""Sessions at a table that is a folder: begun, or gone on with after a restart."""

from pathlib import Path

from service.api.context import Server
from service.inputs import Json
from service.table import Table
from service.table_folder import read_table


def begin_table(server: Server, folder: Path) -> None:
    """The session of a table: the last one if its game goes on, else a new one."""
    table = read_table(folder)
    place = str(folder.resolve())
    for kept in server.store.sessions():
        if kept.setup.get("table") == place:
            session = server.sessions.get(kept.id).session
            if session.state.phase != "over":
                server.sessions.show(kept.id)
                return
            break
    created = server.sessions.create(setup_of(table, place)).session.id
    server.sessions.show(created)


def setup_of(table: Table, place: str) -> Json:
    """A session's JSON for a table's game."""
    lattice = table.scene.board.lattice
    return {
        "game": table.game,
        "name": Path(place).name,
        "table": place,
        "players": [{"id": player.id, "name": player.name} for player in table.players],
        "first": table.first,
        "rules": dict(table.rules),
        "details": dict(table.setup().details),
        "colours": dict(table.scene.colours),
        "board": {
            "columns": lattice.columns,
            "ranks": lattice.ranks,
            "levels": lattice.levels,
            "pitch_mm": lattice.pitch_mm,
            "unit_mm": list(lattice.unit_mm),
        },
    }
