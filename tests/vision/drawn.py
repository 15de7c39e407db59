"""Readers of drawn tables, calibrated as a user would do it."""

from collections.abc import Mapping

from calibration.camera import Camera
from calibration.colour_fit import ColourView, fit_colours
from vision.likelihood import CameraEye
from vision.reader import Reader, ReaderSettings
from vision.virtual.scene import Scene
from vision.virtual.studio import Studio


def reader_of(
    scene: Scene,
    studio: Studio,
    cameras: Mapping[str, Camera] | None = None,
    settings: ReaderSettings | None = None,
) -> Reader:
    """A reader that knows the colours and the empty table; `cameras`: where it believes them."""
    believed = scene.cameras if cameras is None else cameras
    empty, known = studio.empty(), studio.colour_picture()
    views = [ColourView(c, known.pictures[n], empty[n]) for n, c in scene.cameras.items()]
    fitted = fit_colours(views, scene.kind.board, scene.kind.colours, known.stacks)
    eyes = {
        name: CameraEye(believed[name], colours, empty[name])
        for name, colours in zip(scene.cameras, fitted, strict=True)
    }
    return Reader(scene.kind.board, eyes, scene.kind.kit, settings=settings)
