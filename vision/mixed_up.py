"""Whether a picture is that of another camera of the same table: both were taken once before."""

from collections.abc import Mapping

from calibration.camera import Camera
from rules.lattice import Board
from vision.likelihood import ImageBGR
from vision.place import Anchor, Sighting

View = tuple[Camera, ImageBGR]  # a camera in its place, and its picture of the empty table


def shown_instead(image: ImageBGR, own: Sighting, others: Mapping[str, Anchor]) -> str | None:
    """The other camera whose view this picture shows better than that of its own, `own`."""
    for name, anchor in others.items():
        sighting = anchor.sight(image)
        if sighting.known and sighting.alike > own.alike:
            return name
    return None


def others_of(
    name: str, image: ImageBGR, views: Mapping[str, View], board: Board
) -> dict[str, Anchor]:
    """The other cameras that can have taken this picture."""
    return {
        other: Anchor(camera, board, empty)
        for other, (camera, empty) in views.items()
        if other != name and empty.shape == image.shape
    }


def mixed_up(images: Mapping[str, ImageBGR], views: Mapping[str, View], board: Board) -> str:
    """What is told of pictures that other cameras have taken; nothing where there are none."""
    told = []
    for name, image in images.items():
        if name not in views or views[name][1].shape != image.shape:
            continue
        camera, empty = views[name]
        own = Anchor(camera, board, empty).sight(image)
        if own.known:
            continue
        other = shown_instead(image, own, others_of(name, image, views, board))
        if other is not None:
            told.append(f"the picture of {name} shows what {other} sees")
    return f"{', '.join(told)}: are they swapped?" if told else ""
