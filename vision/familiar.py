"""Whether single pictures show the table that was calibrated, from the places where cameras stood.

What does not move on the table is looked for again. A view in which nothing of it is found is of
another table, another camera, or of nothing at all; a camera that was bumped is followed. Where it
is found in its place as soon as the picture is turned over, a program has mirrored or turned it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.board_pose import apart_mm
from calibration.realign import Remembered
from rules.lattice import Board
from vision.likelihood import CameraEye, ImageBGR
from vision.mixed_up import others_of, shown_instead
from vision.place import Anchor, Sighting

_PLENTY = 150  # things to follow; where none of so many is found, it is another view
_ALIKE = 0.8  # pictures that are as alike as this as a whole may be of this table all the same
_STAYED_MM = 0.5  # on the board; a place no farther off than this is the old one
_NEAR_PX = 12.0  # less is read with doubt where the new place cannot be told
_MIRRORED = "mirrored; switch mirroring off in the webcam's program"
_TURNED = (
    "upside down; turn the camera or its picture back, or set `rotate` in table.toml and "
    "calibrate its pose again"
)
_BOTH = "mirrored and upside down; switch both off in the webcam's program"
_TURNS = {1: _MIRRORED, -1: _TURNED, 0: _BOTH}  # by how cv2.flip turns a picture back


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
        if eye.empty is None or images[name].shape != eye.empty.shape:
            good[name] = eye
            continue
        image = _as_bright(images[name], eye.empty)
        anchor = Anchor(eye.camera, board, eye.empty)
        sighting = anchor.sight(image)
        stands = sighting.known and sighting.steady
        others = {} if sighting.known else others_of(name, image, views, board)
        if not stands and (instead := _instead(image, sighting, anchor, others)) is not None:
            told[name] = f"left out, its picture {instead}"
            continue
        strange = sighting.strange or _nothing_found(sighting)
        if stands or not (sighting.known or strange):
            good[name] = eye
            continue
        there = _found_again(eye, board, image)
        if there is not None and apart_mm(there.camera, eye.camera, board) < _STAYED_MM:
            good[name] = eye
            continue
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


def _as_bright(image: ImageBGR, empty: ImageBGR) -> ImageBGR:
    """A picture that was taken in less light, as bright as the empty table: so things are found."""
    factor = float(empty.mean()) / max(float(image.mean()), 1.0)
    if factor <= 1:
        return image
    return np.asarray(cv2.convertScaleAbs(image, alpha=factor), dtype=np.uint8)


def _instead(
    image: ImageBGR, own: Sighting, anchor: Anchor, others: Mapping[str, Anchor]
) -> str | None:
    """What a picture shows that was turned over, or that another camera took; else None."""
    for flip, turned in _TURNS.items():
        back = anchor.sight(np.asarray(cv2.flip(image, flip), dtype=np.uint8))
        if back.known and back.steady and back.staying > own.staying:
            return f"is {turned}"
    other = shown_instead(image, own, others)
    return None if other is None else f"shows what {other} sees; are they swapped?"


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
