"""Whether single pictures show the table that was calibrated, from the places where cameras stood.

What does not move on the table is looked for again. A view in which nothing of it is found is of
another table, another camera, or of nothing at all; a camera that was bumped is followed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rules.lattice import Board
from vision.likelihood import CameraEye, ImageBGR
from vision.place import Anchor, Sighting, moved_camera, moved_picture

_FAR_PX = 120.0  # of 1280; a camera that moved further wants a new calibration
_PLENTY = 150  # things to follow; where none of so many is found, it is another view
_ALIKE = 0.8  # pictures that are as alike as this as a whole may be of this table all the same
_NEAR_PX = 12.0  # less is read with doubt where the new place cannot be told


@dataclass(frozen=True, slots=True)
class Familiar:
    """The cameras whose pictures can be read: as they were calibrated, and as they seem to stand.

    `moved` holds those that seem to have moved, in their new places, `told` sentences about them
    and about those that are left out.
    """

    eyes: Mapping[str, CameraEye]
    moved: Mapping[str, CameraEye]
    told: Mapping[str, str]


def familiar(
    eyes: Mapping[str, CameraEye], board: Board, images: Mapping[str, ImageBGR]
) -> Familiar:
    """Compares each picture with that of the empty table; without one nothing can be told."""
    good: dict[str, CameraEye] = {}
    elsewhere: dict[str, CameraEye] = {}
    told: dict[str, str] = {}
    for name, eye in eyes.items():
        image = images[name]
        if eye.empty is None or image.shape != eye.empty.shape:
            good[name] = eye
            continue
        sighting = Anchor(eye.camera, board, eye.empty).sight(image)
        if sighting.strange or _nothing_found(sighting):
            told[name] = (
                "left out, its picture does not look like this table; "
                "check that it is this camera, uncovered, and where it was calibrated"
            )
            continue
        good[name] = eye
        if not sighting.known or sighting.steady:
            continue
        camera = moved_camera(eye.camera, sighting)
        moved = f"has moved by {sighting.shift_px:.0f} px since it was calibrated"
        if camera is not None and sighting.shift_px < _FAR_PX:
            there = replace(eye, camera=camera, empty=moved_picture(eye.empty, sighting))
            elsewhere[name] = there
            told[name] = f"{moved}; it is read from its new place"
        else:
            told[name] = f"{moved}; run `kiebitz calibrate pose` again"
            if sighting.shift_px > _NEAR_PX:
                del good[name]
                told[name] = f"left out, it {told[name]}"
    return Familiar(good, elsewhere, told)


def _nothing_found(sighting: Sighting) -> bool:
    """Whether there was plenty to be found again, nothing was, and the picture differs, too."""
    plenty = sighting.followed >= _PLENTY and sighting.agreeing == 0
    return plenty and sighting.alike < _ALIKE
