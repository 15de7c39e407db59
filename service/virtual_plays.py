"""What `virtual:NAME` plays: a game record, a script, an excerpt; or a whole game, by its name."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import get_args

from rules.registry import GAMES, find_game
from vision.errors import SourceError
from vision.virtual.games import Mischief, random_script
from vision.virtual.live import VirtualTable, play_scene, virtual_sources
from vision.virtual.play import rehearse
from vision.virtual.scene import Rig
from vision.virtual.timed import TimedSource

_SEED = 1
_TURNS = 60


def is_game(folder: Path, name: str) -> bool:
    """Whether this names a game and no file."""
    return name in GAMES and not (folder / name).exists()


def virtual_cameras(folder: Path, name: str, wanted: Collection[str]) -> Mapping[str, TimedSource]:
    """The virtual cameras of a file beside the table, or of a game before the cameras wanted."""
    if not is_game(folder, name):
        return virtual_sources(folder / name)
    rigs = get_args(Rig)
    for rig in rigs:
        script = random_script(find_game(name), _SEED, _TURNS, rig=rig, mischief=Mischief())
        scene = play_scene(script)
        if set(wanted) <= set(scene.cameras):
            return VirtualTable(scene, rehearse(script)).sources
    raise SourceError(
        f"the virtual table has no cameras {', '.join(sorted(wanted))}; call them camera "
        "(KWINTY: front), overhead and side (front), or left, right and overhead"
    )
