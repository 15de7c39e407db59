"""What `virtual:NAME` plays: a game record, a script, an excerpt; or a whole game, by its name."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import get_args

import numpy as np

from calibration.quads import clock_of
from rules.game import GameSpec, Setup
from rules.registry import GAMES, find_game
from service.table import is_open
from service.table_folder import FILE_NAME, read_table
from vision.errors import SourceError
from vision.virtual.excerpt import NAME as EXCERPT
from vision.virtual.games import Mischief, random_script
from vision.virtual.live import VirtualTable, open_table, play_scene, virtual_sources
from vision.virtual.play import rehearse
from vision.virtual.scene import Rig, Scene
from vision.virtual.script import Script
from vision.virtual.timed import TimedSource

_SEED = 1
_WALL_SEED = 7  # the sheet of a wall is narrow; here it lies so that its lines are found
_TURNS = 60


def is_game(folder: Path, name: str) -> bool:
    """Whether this names a game and no file."""
    return name in GAMES and not (folder / name).exists()


def virtual_cameras(folder: Path, name: str, wanted: Collection[str]) -> Mapping[str, TimedSource]:
    """The virtual cameras of a file beside the table, or of a game before the cameras wanted."""
    table = virtual_table(folder, name, wanted)
    if table is not None:
        return table.sources
    if Path(name).name != EXCERPT:
        raise SourceError(
            f"a virtual camera cannot play {Path(name).name!r}; give a written game, "
            f"an {EXCERPT}, or a game: {', '.join(_played())}"
        )
    return virtual_sources(folder / name)


def virtual_table(folder: Path, name: str, wanted: Collection[str]) -> VirtualTable | None:
    """The table on which a file or a game plays; None where a file holds only its pictures.

    A game is played on the board of the table in this folder, by its players and house rules.
    """
    if not is_game(folder, name):
        if not (folder / name).exists():
            raise SourceError(
                f"there is no file {Path(name).name!r} for a virtual camera; "
                f"give one, or a game: {', '.join(_played())}"
            )
        return None if name.endswith(".json") else open_table(folder / name)
    spec = find_game(name)
    for script, scene in _scenes(spec, _setup(folder, spec)):
        if set(wanted) <= set(scene.cameras):
            return VirtualTable(scene, rehearse(script))
    raise SourceError(
        f"the virtual table has no cameras {', '.join(sorted(wanted))}; call them camera "
        "(KWINTY: front), overhead and side (front), or left, right and overhead"
    )


def virtual_places(spec: GameSpec, count: int) -> dict[str, float]:
    """So many virtual cameras by name, and on the clock from where each looks."""
    for _, scene in _scenes(spec, None):
        if len(scene.cameras) == count:
            across, deep, _ = scene.kind.board.lattice.size_mm
            middle = np.array([across / 2, deep / 2, 0.0])
            hours = {name: clock_of(camera, middle) for name, camera in scene.cameras.items()}
            return {name: round(2 * hour) / 2 or 12.0 for name, hour in hours.items()}
    raise SourceError(f"a virtual table has one to three cameras, not {count}")


def _played() -> list[str]:
    return [name for name in GAMES if not is_open(find_game(name))]


def _setup(folder: Path, spec: GameSpec) -> Setup | None:
    """How the table in this folder plays this game; None where it is no table, or of another."""
    if not (folder / FILE_NAME).is_file():
        return None
    table = read_table(folder)
    return table.setup() if table.game == spec.name else None


def _scenes(spec: GameSpec, setup: Setup | None) -> Iterator[tuple[Script, Scene]]:
    if spec.name not in _played():
        raise SourceError(f"{spec.title} has no rules to play by; take {', '.join(_played())}")
    seed = _WALL_SEED if spec.board.lattice.ranks == 1 else _SEED
    for rig in get_args(Rig):
        mischief = Mischief()
        script = random_script(spec, seed, _TURNS, rig=rig, setup=setup, mischief=mischief)
        yield script, play_scene(script)
