"""Whether single pictures show the table that was calibrated, from the places where cameras stood.

What does not move on the table is looked for again. A view in which nothing of it is found is of
another table, another camera, or of nothing at all; a camera that was bumped is followed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from calibration.realign import Remembered
from rules.lattice import Board
from vision.likelihood import CameraEye, ImageBGR
from vision.mixed_up import others_of, shown_instead
from vision.place import Anchor, Sighting

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
    views = {name: (eye.camera, eye.empty) for name, eye in eyes.items() if eye.empty is not None}
    for name, eye in eyes.items():
        image = images[name]
        if eye.empty is None or image.shape != eye.empty.shape:
            good[name] = eye
            continue
        sighting = Anchor(eye.camera, board, eye.empty).sight(image)
        if sighting.known and sighting.steady:
            good[name] = eye
            continue
        others = {} if sighting.known else others_of(name, image, views, board)
        if (other := shown_instead(image, sighting, others)) is not None:
            told[name] = f"left out, its picture shows what {other} sees; are they swapped?"
            continue
        strange = sighting.strange or _nothing_found(sighting)
        if not sighting.known and not strange:
            good[name] = eye
            continue
        there = _found_again(eye, board, image)
        if there is None and strange:
            told[name] = (
                "left out, its picture does not look like this table; "
                "check that it is this camera, uncovered, and where it was calibrated"
            )
            continue
        moved = "has moved far" if strange else f"has moved by {sighting.shift_px:.0f} px"
        moved += " since it was calibrated"
        again = f"run `kiebitz calibrate pose DIR {name}=IMAGE` again"
        if there is not None:
            # Where the old place explains nothing there is nothing to choose between.
            good[name] = there if strange else eye
            if not strange:
                elsewhere[name] = there
            told[name] = f"{moved}; it is read from its new place"
        elif sighting.shift_px > _NEAR_PX:
            told[name] = (
                f"left out, it {moved}; run `kiebitz calibrate pose DIR {name}=IMAGE` again"
            )
        else:
            good[name] = eye
            told[name] = f"{moved}; {again}"
    return Familiar(good, elsewhere, told)


def _found_again(eye: CameraEye, board: Board, image: ImageBGR) -> CameraEye | None:
    """The camera in the place to which it was bumped; None where that is not sure."""
    if eye.empty is None:
        return None
    remembered = Remembered(eye.camera, eye.empty, board)
    camera = remembered.realigned(image)
    if camera is None:
        return None
    return replace(eye, camera=camera, empty=remembered.picture_from(camera))


def _nothing_found(sighting: Sighting) -> bool:
    """Whether there was plenty to be found again, nothing was, and the picture differs, too."""
    plenty = sighting.followed >= _PLENTY and sighting.agreeing == 0
    return plenty and sighting.alike < _ALIKE
