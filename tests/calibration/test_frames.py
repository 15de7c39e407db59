"""Frames round the cells: which of their many edges is which."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Lens
from calibration.cv import Image, rotation_of
from calibration.frame_glance import FrameGlance
from calibration.grid_pose import Sight, board_corners, camera_for, centre_of
from calibration.lattice_search import Found
from calibration.outline_fit import frame_plan
from calibration.outline_pose import Start, best_and_each_in_turn, camera_of_floor, is_of_wood
from calibration.pose import find_pose
from calibration.rectify import lab_of
from calibration.solve import LensDoubt
from calibration.standing_out import of_one_wood
from calibration.store import LensRecord
from rules.registry import find_game
from service.bench.calibrate import true_errors, virtual_case
from tests.calibration.scenes import Box, Look, draw, look_at, plain

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


def test_walls_hide_the_floor_behind_them_from_a_low_camera() -> None:
    """What is seen of the floor is smaller than the floor; taken for all of it, it misleads."""
    board = find_game("ksar").board
    wide, deep, _ = board.lattice.size_mm
    true = look_at((960, 540), 704, (wide + 60, -70, 135), (wide / 2, deep / 2, 0))
    sight = Sight(np.zeros((540, 960, 3), np.float32), true.lens, LensDoubt.measured(0.001), 4.5)
    ends = {
        "front": [[0.0, 0, HEIGHT], [wide, 0, HEIGHT]],
        "right": [[wide, 0, HEIGHT], [wide, deep, HEIGHT]],
        "back": [[wide, deep, 0.0], [0, deep, 0]],
        "left": [[0.0, deep, 0], [0, 0, 0]],
    }
    lines = []
    for name in ("left", "front", "right", "back"):
        tangents = true.lens.undistort(true.project(np.array(ends[name])))
        lines.append(np.cross(*np.column_stack([tangents, np.ones(2)])))
    met = np.array([np.cross(lines[k], lines[(k + 1) % 4]) for k in range(4)])
    floor = Found(met[:, :2] / met[:, 2:], 1.0, 1.0)
    corners = board_corners(board)

    taken_for_all = camera_for(floor.corners, corners, sight, centre_of(board), 1.0)
    found = camera_of_floor(floor, HEIGHT, sight, board)

    assert taken_for_all is not None
    assert found is not None
    px = true.project(corners)
    assert np.abs(taken_for_all.project(corners) - px).max() > 20
    assert np.abs(found.project(corners) - px).max() < 4


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


def _frame_in_hard_light(wood: tuple[float, float, float]) -> Image:
    """A frame of this colour on a light cloth; its shadow falls inside along two walls."""
    (wide, deep), w = SIZE_MM, WIDTH
    dark = (0.5 * wood[0], 0.5 * wood[1], 0.5 * wood[2])
    rails = [
        Box((x, y, 0.0), (x + dx, y + dy, HEIGHT), plain(*wood), dark)
        for x, y, dx, dy in (
            (-w, -w, wide + 2 * w, w),
            (-w, deep, wide + 2 * w, w),
            (-w, 0.0, w, deep),
            (wide, 0.0, w, deep),
        )
    ]
    look = Look(sun=(0.5, 0.5, 1.0), ambient=0.2, table=plain(0.42, 0.48, 0.5))
    return draw(_looking_down(), rails, 0.0, look)


def test_the_edge_of_a_shadow_is_not_the_foot_of_a_wall() -> None:
    """The shadow has the hue of the floor, and rails that reach so far out would be of cloth."""
    camera = _looking_down()
    lab = lab_of(_frame_in_hard_light((0.04, 0.12, 0.3)))

    assert of_one_wood(lab, camera, SIZE_MM, HEIGHT, WIDTH) > 0.95
    assert of_one_wood(lab, camera, SIZE_MM, HEIGHT, 1.7 * WIDTH) < 0.7
    assert of_one_wood(lab, camera, SIZE_MM, 1.6 * HEIGHT, WIDTH) < 0.7


def test_wood_of_the_colour_of_the_cloth_tells_nothing() -> None:
    """Where hues are alike, all of it may be wood."""
    camera = _looking_down()
    lab = lab_of(_frame_in_hard_light((0.3, 0.34, 0.36)))

    assert of_one_wood(lab, camera, SIZE_MM, HEIGHT, 1.7 * WIDTH) == 1.0


@pytest.mark.slow
def test_a_frame_in_its_own_shadow_is_found() -> None:
    """From high above, shadows inside and outside have edges as straight as the frame's own."""
    case = virtual_case(find_game("ksar"), "two", "check", 1)
    true = case.true["overhead"]
    lens = LensRecord(true.lens, "charuco", 0.1, "good", focal_error=0.001)

    found = find_pose(case.empty["overhead"], case.scene, case.scene.cameras["overhead"], lens)

    assert not found.doubts
    assert true_errors(found.camera, true, case.scene.board)["0"] < 1.5


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
