"""Frames round the cells: which of their many edges is which."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Lens
from calibration.cv import rotation_of
from calibration.frame_glance import FrameGlance
from calibration.outline_fit import frame_plan
from calibration.outline_pose import Start, best_and_each_in_turn, is_of_wood
from calibration.pose import find_pose
from calibration.rectify import lab_of
from calibration.store import LensRecord
from rules.registry import find_game
from service.bench.calibrate import true_errors, virtual_case

SIZE_MM = (150.0, 150.0)
HEIGHT, WIDTH = 15.0, 12.0


def _looking_down() -> Camera:
    """A camera half a metre in front of a frame, and as high above it."""
    rotation = rotation_of(np.array([np.radians(180 - 45), 0.0, 0.0]))
    place = np.array([0.0, 0.0, 600.0]) - rotation @ np.array([*SIZE_MM, 0.0]) / 2
    return Camera.of(Lens.simple((1280, 720), 1100.0), rotation, place)


def test_a_glance_tells_a_frame_from_others_beside_it() -> None:
    """Shifted or wider, fewer edges are seen where they should be, and some where none should."""
    camera = _looking_down()
    picture = np.full((720, 1280, 3), 90, np.uint8)
    for edge in frame_plan(*SIZE_MM)(camera, np.array([HEIGHT, WIDTH, 0.0])):
        start, end = camera.project(np.stack([edge.start_mm, edge.end_mm])).astype(int).tolist()
        cv2.line(picture, start, end, (220, 220, 220), 2, cv2.LINE_AA)
    glance = FrameGlance(lab_of(picture), SIZE_MM)
    shifted = replace(camera, translation_mm=camera.translation_mm + np.array([20.0, 0, 0]))

    right = glance.score(camera, HEIGHT, WIDTH)

    assert right > 1.3 * glance.score(shifted, HEIGHT, WIDTH)
    assert right > 1.3 * glance.score(camera, HEIGHT, 2 * WIDTH)


@pytest.mark.slow
def test_a_frame_of_the_wood_on_which_it_lies_is_found() -> None:
    """Outer feet near the camera and inner ones behind make a rectangle of its shape as well.

    How high the frame is, and how much lower the table around it, is not surely told here.
    """
    case = virtual_case(find_game("ksar"), "two", "tune", 101)
    true = case.true["side"]
    lens = LensRecord(true.lens, "charuco", 0.1, "good", focal_error=0.001)

    found = find_pose(case.empty["side"], case.scene, case.scene.cameras["side"], lens)

    errors = true_errors(found.camera, true, case.scene.board)
    assert errors["0"] < 6.0
    assert errors["0"] < 1.0 or found.doubts


def test_no_frame_stands_higher_than_its_cells() -> None:
    """A rectangle from the tops behind to the feet in front fits only such a frame."""
    assert not is_of_wood(np.array([11.5, 11.4, -10.9]), 15.0)
    assert is_of_wood(np.array([11.5, 11.4, -1.0]), 15.0)


def test_the_best_way_of_every_rectangle_is_tried() -> None:
    """Thirty good ways to read the squares of a cloth do not push the frame's own ones out."""
    camera = _looking_down()
    cloth = [Start(camera, (9.0, float(k)), 0.9 - 0.001 * k) for k in range(30)]
    frame = [Start(camera, (12.0, 12.0), 0.7), Start(camera, (12.0, 9.0), 0.6)]

    order = best_and_each_in_turn([cloth, frame])

    assert order[0] is cloth[0]
    assert order.index(frame[0]) < 5
