"""A calibrated table whose cameras are phones, with what they see: for measuring the server."""

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from calibration import colour_store, store
from calibration.colour_fit import ColourView, fit_colours
from rules.registry import find_game
from service.pictures import jpeg_of
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

Films = Mapping[str, list[bytes]]  # camera, then JPEGs to be sent one after another
_PICTURES = 8  # each with noise of its own: cameras that send the same again are called frozen
_NOISE = 1.5


def write_table(folder: Path, seed: int = 3) -> Films:
    """KEWBZ with two phones, calibrated as their virtual cameras stand; the board is empty."""
    studio = Studio(Scene.from_seed(seed, Kind.of(find_game("kewbz")), rig="two"))
    scene, empty, known = studio.scene, studio.empty(), studio.colour_picture()
    folder.mkdir()
    places = "".join(f'[cameras.{name}]\nsource = "phone"\n' for name in scene.cameras)
    (folder / "table.toml").write_text(f'game = "kewbz"\n{places}', encoding="utf-8")
    views = {
        name: ColourView(camera, known.pictures[name], empty[name])
        for name, camera in scene.cameras.items()
    }
    fitted = fit_colours(list(views.values()), scene.kind.board, scene.kind.colours, known.stacks)
    calibration = store.Calibration()
    for name, camera in scene.cameras.items():
        record = store.CameraRecord(camera, method="corners", rms_px=0.3, verdict="good")
        calibration = calibration.with_camera(name, record)
        colour_store.save_empty(folder, name, empty[name])
    colours = dict(zip(views, fitted, strict=True))
    store.write(folder, colour_store.with_colours(calibration, colours, date="", source="virtual"))
    rng = np.random.default_rng(seed)
    return {
        name: [
            jpeg_of(
                np.asarray(
                    cv2.add(image, rng.normal(0, _NOISE, image.shape), dtype=cv2.CV_8U),
                    dtype=np.uint8,
                ),
                90,
            )
            for _ in range(_PICTURES)
        ]
        for name, image in empty.items()
    }
