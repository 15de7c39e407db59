"""Whether a picture is that of another camera of the same table: both were taken once before."""

from collections.abc import Mapping

from calibration.camera import Camera
from rules.lattice import Board
from vision.likelihood import ImageBGR
from vision.place import Anchor

View = tuple[Camera, ImageBGR]  # a camera in its place, and its picture of the empty table


def shown_instead(
    name: str, image: ImageBGR, views: Mapping[str, View], board: Board
) -> str | None:
    """The other camera whose view of the empty table this picture shows; None for its own."""
    if name not in views or views[name][1].shape != image.shape:
        return None
    own = Anchor(*_anchored(views[name], board)).sight(image)
    if own.known:
        return None
    for other, view in views.items():
        if other == name or view[1].shape != image.shape:
            continue
        sighting = Anchor(*_anchored(view, board)).sight(image)
        if sighting.known and sighting.alike > own.alike:
            return other
    return None


def mixed_up(images: Mapping[str, ImageBGR], views: Mapping[str, View], board: Board) -> str:
    """What is told of pictures that other cameras have taken; nothing where there are none."""
    found = {name: shown_instead(name, image, views, board) for name, image in images.items()}
    told = [
        f"the picture of {name} shows what {other} sees"
        for name, other in found.items()
        if other is not None
    ]
    return f"{', '.join(told)}: are they swapped?" if told else ""


def _anchored(view: View, board: Board) -> tuple[Camera, Board, ImageBGR]:
    return view[0], board, view[1]
