"""Virtual tables for tests: a script that plays in small pictures, and its calibrated folder."""

from dataclasses import replace
from pathlib import Path

from calibration import colour_store, store
from calibration.scene import CameraPlace
from service.table_folder import default_table, write_table
from service.virtual_follower import virtual_reader
from vision.pairing import moments
from vision.sources.recording import Recorder
from vision.virtual.live import VirtualTable
from vision.virtual.play import rehearse
from vision.virtual.scene import Kind, Scene
from vision.virtual.script import parse_script

SMALL = (640, 360)


def virtual_table(text: str, size: tuple[int, int] = SMALL) -> VirtualTable:
    """The table of a script, its cameras small."""
    script = parse_script(text)
    spec = script.record.spec
    kind = Kind.of(spec, script.record.setup.board)
    seed = int(script.scene.get("seed", "1"))
    scene = Scene.from_seed(seed, kind, family="check", rig="two", size=size)
    return VirtualTable(scene, rehearse(script))


def calibrated_folder(folder: Path, table: VirtualTable, script: str) -> Path:
    """A table folder with what calibration finds, and a recording of the play beside it."""
    spec = parse_script(script).record.spec
    reader = virtual_reader(table)
    recording = folder / "game.kiebitz"
    folder.mkdir(parents=True)
    recorder = Recorder(recording)
    for _, frames in moments(table.sources.values()):
        for frame in frames.values():
            recorder.keep(frame)
    recorder.close()
    made = default_table(spec)
    places = {name: CameraPlace(name=name, source=recording.name) for name in table.scene.cameras}
    scene = replace(made.scene, board=table.scene.kind.board, cameras=places)
    write_table(folder, replace(made, scene=scene))
    known = store.Calibration(
        cameras={
            name: store.CameraRecord(camera, "markers", 0.3, "good")
            for name, camera in table.scene.cameras.items()
        }
    )
    colours = {name: eye.colours for name, eye in reader.cameras.items()}
    store.write(folder, colour_store.with_colours(known, colours, date="", source="drawn"))
    for name, eye in reader.cameras.items():
        if eye.empty is not None:
            colour_store.save_empty(folder, name, eye.empty)
    return folder
