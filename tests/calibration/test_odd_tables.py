"""Boards that are found on odd tables: squared cloths, mirrored lamps, very wide lenses."""

from dataclasses import replace
from functools import partial

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Floats, Lens
from calibration.errors import NotFound
from calibration.pose import find_pose
from calibration.rectify import Plane
from calibration.row_lean import _head_over
from calibration.scene import CameraPlace, Scene
from calibration.solve import FOCAL_GUESS, Evidence, LensDoubt, solve
from calibration.standing_out import rails_alike, stands_out
from rules.registry import find_game
from service.bench.calibrate import true_errors
from service.table_folder import default_table
from tests.calibration.scenes import Box, Look, Paint, draw, grain, lines, look_at, plain

SIZE = (960, 540)
FRONT = CameraPlace(name="camera", source=None, clock=6)


def scene_of(game: str) -> Scene:
    """The game's usual table, seen by nobody yet."""
    return default_table(find_game(game)).scene


def slab(scene: Scene, top: Paint, side: tuple[float, float, float], thick: float = 5.0) -> Box:
    """The board with its margins."""
    wide, deep, _ = scene.board.lattice.size_mm
    left, front, right, back = scene.board.margin_mm
    return Box((-left, -front, -thick), (wide + right, deep + back, 0.0), top, side)


def squared_cloth(x: Floats, y: Floats) -> Floats:
    """Green lines on white, nearly as far apart as a felt is wide."""
    on = (np.abs((x - 30) % 182 - 91) < 2.5) | (np.abs((y + 40) % 182 - 91) < 2.5)
    return np.where(on[..., None], np.array([0.15, 0.3, 0.2]), np.array([0.5, 0.55, 0.6]))


@pytest.fixture
def cloth_camera() -> Camera:
    """A camera that sees a felt at the lower edge of its picture, and several squares."""
    return look_at(SIZE, 760, (260, -330, 330), (60, 110, 0))


def test_a_felt_is_found_before_the_squares_of_the_cloth_it_lies_on(cloth_camera: Camera) -> None:
    """Squares have the felt's shape and clear lines, but the same cloth on both their sides."""
    scene = scene_of("turris")
    felt = slab(scene, plain(0.05, 0.04, 0.35), (0.03, 0.02, 0.2))
    image = draw(cloth_camera, [felt], -5.0, Look(table=squared_cloth))

    found = find_pose(image, scene, replace(FRONT, clock=5.3), None)

    assert not found.doubts
    assert true_errors(found.camera, cloth_camera, scene.board)["0"] < 3.0


def test_squares_of_a_cloth_alone_are_no_felt(cloth_camera: Camera) -> None:
    """Whatever has the shape of the felt there is not told without doubt."""
    image = draw(cloth_camera, [], -5.0, Look(table=squared_cloth))

    try:
        doubts = find_pose(image, scene_of("turris"), replace(FRONT, clock=5.3), None).doubts
    except NotFound:
        return

    assert doubts


def test_a_drawn_square_does_not_stand_out() -> None:
    """A field of another colour does, with every side."""
    lens = Lens.simple((200, 200), 200.0)
    corners = lens.undistort(np.array([[50.0, 50], [150, 50], [150, 150], [50, 150]]))
    field = np.full((200, 200, 3), (60.0, 0.0, 0.0), np.float32)
    field[50:151, 50:151] = (45.0, 20.0, 0.0)
    drawn: Plane = np.full((200, 200, 3), (60.0, 0.0, 0.0), np.float32)
    drawn[49:152, 49:152] = (20.0, 0.0, 0.0)
    drawn[52:149, 52:149] = (60.0, 0.0, 0.0)

    assert stands_out(field, corners, lens) == 1.0
    assert stands_out(drawn, corners, lens) == 0.0


def test_a_field_with_a_stripe_of_the_cloth_stands_out_less_than_alone() -> None:
    """A stripe differs from the next one all along, but not from the field alone."""
    lens = Lens.simple((200, 200), 200.0)
    alone = np.array([[50.0, 50], [149, 50], [149, 149], [50, 149]])
    with_stripe = np.array([[50.0, 50], [162, 50], [162, 149], [50, 149]])
    striped: Plane = np.zeros((200, 200, 3), np.float32)
    for x in range(200):
        striped[:, x] = (70.0, 25.0, 60.0) if ((x - 150) // 13) % 2 == 0 else (45.0, -30.0, 25.0)
    striped[50:150, 50:150] = (30.0, 5.0, -20.0)

    assert stands_out(striped, lens.undistort(alone), lens) == 1.0
    assert stands_out(striped, lens.undistort(with_stripe), lens) <= 0.75


def test_a_board_half_in_shadow_stands_out() -> None:
    """Two of its sides are lit and two are not: none of them is a stripe of the cloth."""
    lens = Lens.simple((200, 200), 200.0)
    corners = lens.undistort(np.array([[50.0, 50], [149, 50], [149, 149], [50, 149]]))
    shaded: Plane = np.full((200, 200, 3), (70.0, 5.0, 15.0), np.float32)
    shaded[50:150, 50:150] = (60.0, 5.0, 10.0)
    y, x = np.mgrid[:200, :200]
    shaded[x + y > 199, 0] -= 35.0

    assert stands_out(shaded, corners, lens) > 0.9


def checked_cloth(x: Floats, y: Floats) -> Floats:
    """Blue and white squares whose blocks have the felt's size."""
    shade = (np.floor(x / 26) % 2 + np.floor(y / 26) % 2) / 2
    return np.asarray(np.array([0.6, 0.6, 0.58]) - shade[..., None] * np.array([0.2, 0.38, 0.45]))


def test_a_felt_is_found_on_a_checked_cloth() -> None:
    """Rows of squares differ from the next ones, but they are no field of one colour."""
    scene = scene_of("turris")
    felt = slab(scene, plain(0.14, 0.05, 0.03), (0.08, 0.03, 0.02))
    camera = look_at(SIZE, 740, (30, -60, 560), (40, 50, 0), roll_deg=10)
    image = draw(camera, [felt], -5.0, Look(table=checked_cloth))

    found = find_pose(image, scene, FRONT, None)

    assert not found.doubts
    assert true_errors(found.camera, camera, scene.board)["0"] < 3.5


def gingham(x: Floats, y: Floats) -> Floats:
    """Red, pink and white squares: each of them stands out, and there are a hundred like it."""
    light = np.array([[0.08, 0.07, 0.32], [0.27, 0.31, 0.52], [0.52, 0.62, 0.75]])
    return np.asarray(light[(np.floor(x / 38) % 2 + np.floor(y / 38) % 2).astype(int)])


def small_gingham(x: Floats, y: Floats) -> Floats:
    """The same in squares of about a cell's size, askew."""
    return gingham((x - 0.1 * y) * 38 / 22, (0.1 * x + y) * 38 / 22)


def test_a_felt_with_a_corner_out_of_the_picture_is_found_on_gingham() -> None:
    """Three sides and parts of two tell where the fourth corner is; no square is taken for it."""
    scene = scene_of("turris")
    felt = slab(scene, grain(plain(0.06, 0.13, 0.06), 0.1), (0.03, 0.06, 0.03))
    camera = look_at(SIZE, 797, (261, -98, 316), (30, 75, 40))
    image = draw(camera, [felt], -5.0, Look(table=gingham))
    assert camera.project(np.array([[113.0, -49.0, 0.0]]))[0, 1] > SIZE[1] + 20

    found = find_pose(image, scene, replace(FRONT, clock=4), None)

    assert not found.doubts
    assert true_errors(found.camera, camera, scene.board)["0"] < 3.0
    assert "towers may grow to 297 mm" in found.hint
    assert "250" not in found.error_mm, "nothing so high is in the picture"


@pytest.mark.parametrize("cloth", [small_gingham, checked_cloth])
def test_a_felt_of_the_colour_of_its_cloth_is_found(cloth: Paint) -> None:
    """It is the one thing that is plain."""
    scene = scene_of("turris")
    y, x = np.mgrid[:420, :420] * 1.0
    own = np.asarray(cloth(x, y).mean(axis=(0, 1)))
    felt = slab(scene, plain(*own), tuple(0.9 * own), thick=1.0)
    camera = look_at(SIZE, 780, (70, -230, 470), (60, 60, 0), roll_deg=6)
    image = draw(camera, [felt], -1.0, Look(table=cloth))

    found = find_pose(image, scene, FRONT, None)

    assert not found.doubts
    assert true_errors(found.camera, camera, scene.board)["0"] < 3.5


def drawn_squares(base: Paint, pitch: float, count: int) -> Paint:
    """A row of squares, each with lines of its own just inside of its cell."""

    def drawn(x: Floats, y: Floats) -> Floats:
        u, v = np.abs(np.mod(x, pitch) - pitch / 2), np.abs(y - pitch / 2)
        out = np.maximum(u, v)
        on = (x > 0) & (x < count * pitch) & (np.abs(out - (pitch / 2 - 1.4)) < 0.5)
        return np.where(on[..., None], np.array([0.03, 0.05, 0.03]), base(x, y))

    return drawn


@pytest.mark.parametrize("hidden", [False, True], ids=["whole", "something before it"])
def test_a_row_on_its_sheet_is_found_on_gingham(hidden: bool) -> None:
    """The cloth has more rows of cells, clearer ones and larger ones, but they go on and on."""
    scene = scene_of("kwinty")
    board = replace(scene.board, margin_mm=(18.0,) * 4)
    scene = replace(scene, board=board)
    pitch, count = board.lattice.pitch_mm, board.lattice.columns
    sheet = slab(scene, drawn_squares(plain(0.25, 0.4, 0.28), pitch, count), (0.2, 0.3, 0.2), 0.3)
    block = Box((150, -75, -0.3), (176, -49, 50), plain(0.03, 0.04, 0.07), (0.02, 0.03, 0.05))
    camera = look_at(SIZE, 840, (90, -560, 250), (120, 90, 0))
    image = draw(camera, [sheet, block] if hidden else [sheet], -0.3, Look(table=gingham))

    found = find_pose(image, scene, FRONT, None)

    assert not found.doubts
    assert true_errors(found.camera, camera, board)["0"] < 1.5


@pytest.mark.parametrize(
    ("place", "turned", "over"),
    [((90, -560, 60), 0, False), ((90, 40, 600), 0, False), ((90, -560, 250), 180, True)],
    ids=["seen flat", "from above", "upside down"],
)
def test_what_stands_on_a_row_does_not_hang_down(
    place: tuple[float, float, float], turned: int, over: bool
) -> None:
    """Pictures are upright: of two ways in which a row may lean, one is nobody's picture."""
    assert _head_over(look_at(SIZE, 840, place, (90, 41, 0), roll_deg=turned)) == over


def faint_grid(scene: Scene) -> Paint:
    """A board's lines, hardly to be seen between its grain."""
    lattice = scene.board.lattice
    counts = (lattice.columns, lattice.ranks)
    wood = grain(plain(0.10, 0.16, 0.3), 0.15, seed=3)
    return lines(wood, (0.05, 0.09, 0.2), lattice.pitch_mm, counts, 0.5)


def test_a_faint_grid_that_ends_comes_before_a_clear_one_that_goes_on() -> None:
    """What lies on a cloth is the board, and not the cloth, however little is seen of its cells."""
    scene = scene_of("kewbz")
    board = slab(scene, faint_grid(scene), (0.05, 0.08, 0.16))
    camera = look_at(SIZE, 760, (300, -330, 330), (88, 88, 0))
    image = draw(camera, [board], -5.0, Look(table=small_gingham))

    found = find_pose(image, scene, FRONT, None)

    assert true_errors(found.camera, camera, scene.board)["0"] < 10.0


def fill(picture: Plane, corners_px: Floats, colour: tuple[float, float, float]) -> None:
    """Paints a four-sided figure."""
    cv2.fillConvexPoly(picture, np.round(corners_px).astype(np.int32), colour)


def with_lamp(base: Paint, x: Floats, y: Floats) -> Floats:
    """A bright lamp mirrored in the middle of a board."""
    lamp = (np.abs(x + 0.4 * y - 125) < 46) & (np.abs(y - 0.3 * x - 60) < 46)
    return np.where(lamp[..., None], 0.7 + 0.3 * base(x, y), base(x, y))


def test_cells_are_found_around_a_mirrored_lamp() -> None:
    """Its outline is far stronger than the board's lines, but no cell looks like another there."""
    scene = scene_of("kewbz")
    lattice = scene.board.lattice
    counts = (lattice.columns, lattice.ranks)
    wood = grain(plain(0.06, 0.1, 0.2), 0.06, seed=3)
    ruled = lines(wood, (0.04, 0.07, 0.15), lattice.pitch_mm, counts, 0.9)
    board = slab(scene, partial(with_lamp, ruled), (0.05, 0.08, 0.16))
    camera = look_at(SIZE, 800, (40, -260, 360), (88, 88, 0))
    image = draw(camera, [board], -5.0, Look(table=plain(0.45, 0.47, 0.5)))

    found = find_pose(image, scene, FRONT, None)

    assert found.method == "grid"
    assert true_errors(found.camera, camera, scene.board)["0"] < 1.0


def test_printed_cells_place_a_framed_board_before_a_very_wide_lens() -> None:
    """Bent edges of a frame can be read in many ways; the lines inside in one only."""
    scene = scene_of("ksar")
    lattice = scene.board.lattice
    wide, deep, _ = lattice.size_mm
    counts = (lattice.columns, lattice.ranks)
    floor = lines(plain(0.04, 0.06, 0.12), (0.15, 0.2, 0.28), lattice.pitch_mm, counts, 0.6)
    wood = (0.04, 0.06, 0.12)
    rails = [
        ((-14, -14, -6), (wide + 14, 0, 12)),
        ((-14, deep, -6), (wide + 14, deep + 14, 12)),
        ((-14, 0, -6), (0, deep, 12)),
        ((wide, 0, -6), (wide + 14, deep, 12)),
    ]
    boxes = [Box((-14, -14, -6), (wide + 14, deep + 14, 0), floor, wood)]
    boxes += [Box(low, high, plain(*wood), wood) for low, high in rails]
    camera = look_at(SIZE, 0.51 * SIZE[0], (20, -95, 190), (75, 78, 0), distortion=(-0.23, 0.06))
    image = draw(camera, boxes, -6.0, Look(table=plain(0.12, 0.16, 0.22), gain=1.5))

    found = find_pose(image, scene, FRONT, None)

    errors = true_errors(found.camera, camera, scene.board)
    assert errors["0"] < 1.0
    assert errors["100"] < 4.0


def test_the_edges_of_hard_shadows_are_no_rails() -> None:
    """They run along a frame, but rails have one colour on all four sides."""
    camera = look_at(SIZE, 760, (75, -20, 330), (75, 75, 0))
    frame = np.array([[-14.0, -14, 12], [164, -14, 12], [164, 164, 12], [-14, 164, 12]])
    picture = np.full((SIZE[1], SIZE[0], 3), (70.0, 0.0, 0.0), np.float32)
    inner = np.array([[0.0, 0, 12], [150, 0, 12], [150, 150, 12], [0, 150, 12]])
    fill(picture, camera.project(frame), (30.0, 8.0, 10.0))
    fill(picture, camera.project(inner), (12.0, 0.0, 0.0))
    aside = Camera.of(
        camera.lens, camera.rotation, camera.translation_mm - camera.rotation @ [15.0, 0, 0]
    )

    assert rails_alike(picture, camera, (150, 150), 12.0, 14.0) == 1.0
    assert rails_alike(picture, aside, (150, 150), 12.0, 14.0) <= 0.5


def test_a_lens_beyond_those_of_webcams_is_told_as_unknown() -> None:
    """Where the focal length was stopped nothing was measured: heights are as uncertain as ever."""
    camera = look_at(SIZE, 0.36 * SIZE[0], (60, -60, 150), (90, 90, 0))
    at = np.array([[x, y, 0.0] for x in range(0, 181, 20) for y in range(0, 181, 20)])
    evidence = Evidence.of_points(at, camera.project(at), 0.2)
    start = Camera.of(Lens.simple(SIZE, FOCAL_GUESS * SIZE[0]), camera.rotation, np.array(
        camera.translation_mm
    ))  # fmt: skip

    solution = solve(start, evidence, LensDoubt.unknown())

    assert np.sqrt(solution.covariance[6, 6]) > 0.1
