"""Scenes of the virtual table: equal seeds, families that share nothing, pictures that fit."""

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration import cv
from calibration.camera import Camera
from rules.cells import Cell
from rules.lattice import Board, Lattice
from rules.pieces import BLOCK, CUBE, CUBOID, Extent, KitPiece, Placed
from rules.registry import find_game
from rules.stacks import Stacks
from vision.errors import VisionError
from vision.virtual.aiming import camera_toward, lens_of
from vision.virtual.backdrop import BoardPose
from vision.virtual.cards import MARKER_MM, marker_corners
from vision.virtual.light import Block, light_atlas
from vision.virtual.placing import (
    NEAT,
    USUAL,
    Layout,
    pieces_of,
    random_pieces,
    solids_of,
    stacks_of,
)
from vision.virtual.scene import Family, Kind, Rig, Scene, family_values
from vision.virtual.sensor import Gain
from vision.virtual.studio import Studio, colour_pieces
from vision.virtual.values import Lamp, Paint, Solid

SMALL = (480, 270)
GRID = Kind(
    Board(Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)), (12.0,) * 4),
    {"B": "blue", "Y": "yellow"},
    (KitPiece(CUBE, "B", 36), KitPiece(CUBE, "Y", 36)),
)
QUARTERS = Kind(
    Board(Lattice(6, 6, 9, 27.0, (25.0, 25.0, 25.0)), (10.0,) * 4),
    {"B": "blue", "G": "green", "O": "orange", "R": "red"},
    tuple(KitPiece(CUBE, letter, 9) for letter in "BGOR"),
    {"a1": "B", "a6": "R", "f6": "O", "f1": "G"},
)
FRAME = Kind(
    Board(Lattice(10, 10, 3, 15.0, (15.0, 15.0, 15.0)), (0.0,) * 4, 15.0, 12.0),
    {"R": "red", "B": "blue", "N": "natural"},
    (KitPiece(CUBOID, "R", 12), KitPiece(CUBOID, "B", 12), KitPiece(CUBOID, "N", 6)),
)
STRIP = Kind(
    Board(Lattice(9, 1, 9, 27.0, (27.0, 27.0, 27.0)), (20.0,) * 4),
    {"L": "light", "D": "dark"},
    (KitPiece(BLOCK, "L", 20), KitPiece(BLOCK, "D", 20)),
)
FELT = Kind(
    Board(Lattice(3, 3, 11, 27.0, (27.0, 27.0, 27.0)), (49.5,) * 4),
    {"L": "light", "D": "dark"},
    (KitPiece(BLOCK, "L", 20), KitPiece(BLOCK, "D", 20)),
)
HOLLOWS = Kind(
    Board(Lattice(4, 4, 4, 30.0, (25.0, 25.0, 25.0)), (12.0,) * 4, recess_mm=2.0),
    {"R": "red", "Y": "yellow", "G": "green", "B": "blue"},
    tuple(KitPiece(CUBE, letter, 8) for letter in "RYGB"),
)
KINDS = {
    "grid": GRID,
    "corners": QUARTERS,
    "frame": FRAME,
    "strip": STRIP,
    "felt": FELT,
    "recess": HOLLOWS,
}


def some_pieces(kind: Kind, seed: int = 3, count: int = 14) -> tuple[Placed, ...]:
    """Pieces that stand at random."""
    return random_pieces(kind.board.lattice, kind.kit, count, np.random.default_rng(seed))


@pytest.mark.parametrize("name", KINDS)
def test_each_board_is_known_by_what_it_is(name: str) -> None:
    """The surface of a board follows from its measures and colours, not from a game's name."""
    assert KINDS[name].surface == name


def test_equal_seeds_give_equal_scenes_and_bytes() -> None:
    """Nothing is drawn but by the seed."""
    pieces = some_pieces(GRID)

    first, second = (
        Studio(Scene.from_seed(5, GRID, rig="one", size=SMALL)).still(pieces, 2) for _ in range(2)
    )
    other = Studio(Scene.from_seed(6, GRID, rig="one", size=SMALL)).still(pieces, 2)

    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["camera"], other["camera"])


@pytest.mark.parametrize("name", ["grid", "recess"])
def test_a_picture_does_not_depend_on_what_stood_before(name: str) -> None:
    """Pieces that come, go and come again leave the same bytes as a table set up afresh."""
    kind = KINDS[name]
    scene = Scene.from_seed(5, kind, rig="two", size=SMALL)
    pieces = some_pieces(kind, count=20)
    solids = solids_of(pieces, kind.board.lattice, scene.paints, USUAL, 1)
    worn, fresh = Studio(scene), Studio(scene)
    for some in (solids[:4], solids[2:17], (), solids, solids[5:]):
        worn.shot(some, 0)

    pictures, others = worn.shot(solids[3:], 7), fresh.shot(solids[3:], 7)

    assert all(np.array_equal(pictures[name], others[name]) for name in others)
    assert not np.array_equal(pictures["side"], fresh.shot(solids[2:], 7)["side"])


@pytest.mark.parametrize("what", ["rooms", "tables", "boards", "palettes", "lenses", "sensors"])
def test_the_families_share_no_part(what: str) -> None:
    """No room, table, board, palette, lens or sensor of one family is in the other."""
    tune, check = (family_values(family)[what] for family in ("tune", "check"))

    def bare(items: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{k: v for k, v in item.items() if k != "name"} for item in items]

    assert not {item["name"] for item in tune} & {item["name"] for item in check}
    assert not [item for item in bare(tune) if item in bare(check)]


def test_the_families_share_no_lamp_and_no_camera_place() -> None:
    """Lamps and cameras of one family stand clearly elsewhere than those of the other."""

    def lamps(family: Family) -> list[tuple[float, float, float]]:
        rooms = family_values(family)["rooms"]
        return [
            (lamp["clock"], lamp["height"], lamp["kelvin"]) for r in rooms for lamp in r["lamps"]
        ]

    def places(family: Family) -> list[tuple[float, float]]:
        groups = family_values(family)["places"]
        return [(place["clock"], place["height"]) for group in groups.values() for place in group]

    for a in lamps("tune"):
        for b in lamps("check"):
            apart = abs(a[0] - b[0]) > 0.45 or abs(a[1] - b[1]) > 4.5
            assert apart or abs(a[2] / b[2] - 1) > 0.04, (a, b)
    for c in places("tune"):
        for d in places("check"):
            assert abs(c[0] - d[0]) > 0.1 or abs(c[1] - d[1]) > 1.5, (c, d)


def test_an_unknown_part_is_told() -> None:
    """A room that a family lacks is an error in words."""
    with pytest.raises(VisionError, match="no rooms 'cellar'"):
        Scene.from_seed(1, GRID, chosen={"rooms": "cellar"})


@pytest.mark.parametrize("rig", ["one", "two", "three", "corners"])
@pytest.mark.parametrize("name", KINDS)
def test_every_camera_sees_the_whole_board(name: str, rig: Rig) -> None:
    """All places where a piece can stand are in every picture."""
    kind = KINDS[name]
    wide, deep, high = kind.board.lattice.size_mm
    corners = [(x, y, z) for x in (0, wide) for y in (0, deep) for z in (0, high)]

    for seed in range(4):
        scene = Scene.from_seed(seed, kind, rig=rig, family="check")
        for camera in scene.cameras.values():
            px = camera.project(corners)

            assert np.isfinite(px).all()
            assert (px > 0).all()
            assert (px < camera.size).all()


def test_the_picture_shows_pieces_where_the_camera_says() -> None:
    """The middle of a lone cube's top has its colour, and the bare cell beside it has not."""
    scene = Scene.from_seed(4, GRID, rig="two", size=SMALL)
    studio = Studio(scene)

    empty = studio.still((), 0, spare=False)
    shown = studio.still([Placed(Cell(3, 4), 1, Extent(1, 1, 1), "B")], 0, sloppy=NEAT, spare=False)

    for name, camera in scene.cameras.items():
        there = camera.project([(77.0, 99.0, 20.0), (33.0, 33.0, 0.0)]).round().astype(int)
        change = np.abs(shown[name].astype(int) - empty[name]).max(axis=-1)
        assert change[there[0, 1], there[0, 0]] > 25
        assert change[there[1, 1], there[1, 0]] < 20


def marker_error_px(picture: cv.Image, camera: Camera, board: Board, z_mm: float) -> float:
    """How far the middles of the markers found are from where they lie, in the mean."""
    how = cv2.aruco.DetectorParameters()
    how.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    found, ids = cv.detect_markers(cv.grey(picture), cv.dictionary_of("DICT_4X4_50"), how)
    places = {number: (x, y) for number, x, y in marker_corners(board)}
    far = []
    for corners, number in zip(found, ids, strict=True):
        x, y = places[int(number)]
        square = [(x + dx, y + dy, z_mm) for dx in (0, MARKER_MM) for dy in (0, MARKER_MM)]
        far.append(np.linalg.norm(corners.mean(axis=0) - camera.project(square).mean(axis=0)))
    assert far
    return float(np.mean(far))


@pytest.mark.parametrize("family", ["tune", "check"])
def test_markers_are_found_where_they_lie(family: Family) -> None:
    """Printed markers are drawn through the full lens, to a fraction of a picture element."""
    scene = Scene.from_seed(8, GRID, rig="two", family=family, markers=True)
    pictures = Studio(scene).empty(spare=False)

    for name, camera in scene.cameras.items():
        height = 0.1 - scene.look.thickness_mm
        assert marker_error_px(pictures[name], camera, GRID.board, height) < 0.25


def test_any_calibrated_camera_can_look_at_the_table() -> None:
    """A camera of one's own, put in the place of those drawn, sees markers where it should."""
    scene = Scene.from_seed(8, GRID, rig="one", markers=True)
    lens = lens_of((1024, 768), 0.9, (-0.12, 0.03, 0.0, 0.0, 0.0), (0.01, -0.02))
    mine = camera_toward(lens, np.array([88.0, 88.0, 0.0]), 4.2, 58.0, 520.0, 3.0)
    put = replace(scene, cameras={"mine": mine}, sensors={"mine": scene.sensors["camera"]})

    picture = Studio(put).empty(spare=False)["mine"]

    assert picture.shape == (768, 1024, 3)
    assert marker_error_px(picture, mine, GRID.board, 0.1 - scene.look.thickness_mm) < 0.25


def test_a_lens_can_be_measured_from_lens_views() -> None:
    """OpenCV finds the focal length again from the views of the lens board."""
    scene = Scene.from_seed(3, GRID, rig="one")
    views = Studio(scene).lens_views(5)["camera"]
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    detector = cv2.aruco.CharucoDetector(cv2.aruco.CharucoBoard((7, 5), 30.0, 22.0, dictionary))
    boards, points = [], []
    for view in views:
        corners, ids, _, _ = detector.detectBoard(view)
        assert ids is not None
        assert len(ids) >= 12
        on_board = np.asarray(detector.getBoard().getChessboardCorners())[np.asarray(ids).ravel()]
        in_view = np.asarray(corners).reshape(-1, 1, 2)
        boards.append(on_board.astype(np.float32))
        points.append(in_view.astype(np.float32))

    rms, matrix, *_ = cv2.calibrateCamera(
        boards, points, (1280, 720), np.eye(3), np.zeros(5), flags=cv2.CALIB_FIX_K3
    )

    assert rms < 0.3
    assert abs(matrix[0, 0] / scene.cameras["camera"].matrix[0, 0] - 1) < 0.01


@pytest.mark.parametrize("name", KINDS)
def test_colour_pieces_show_each_colour_twice(name: str) -> None:
    """The colour picture shows every colour in two places, once at least two units high."""
    kind = KINDS[name]

    stacks = stacks_of(colour_pieces(kind))

    for letter in kind.colours:
        own = [stack for stack in stacks.values() if letter in stack]
        assert len(own) >= 2
        assert any(stack.count(letter) >= 2 for stack in own)
        assert all(set(stack) == {letter} for stack in own)


@pytest.mark.parametrize("name", KINDS)
def test_random_pieces_stand(name: str) -> None:
    """Pieces lie flat on what is under them, inside the lattice, no more than the kit has."""
    kind = KINDS[name]
    pieces = some_pieces(kind, 11, 25)
    stacks = stacks_of(pieces)

    assert len(pieces) >= 6
    assert not any("." in stack for stack in stacks.values())
    assert all(cell in kind.board.lattice for cell in stacks)
    assert max(map(len, stacks.values())) <= kind.board.lattice.levels
    for kit in kind.kit:
        assert sum(piece.letter == kit.letter for piece in pieces) <= kit.count


def test_stacks_come_apart_into_pieces_and_together_again() -> None:
    """Any stacks can be drawn, with the pieces of the kit where they fit."""
    stacks = Stacks.of({"a1": "LL", "b1": "L", "c1": "LD", "d1": "D", "c2": "D"})

    pieces = pieces_of(stacks, [BLOCK])

    assert stacks_of(pieces) == stacks
    assert len(pieces) < 7


def test_sloppiness_keeps_to_its_bounds() -> None:
    """Cubes shift by two millimetres and turn by five degrees at the base, not more."""
    pieces = some_pieces(GRID, 2, 40)
    for seed in range(6):
        for piece, solid in zip(
            pieces, solids_of(pieces, GRID.board.lattice, _paints(GRID), USUAL, seed), strict=True
        ):
            if piece.level == 1:
                x, y = GRID.board.lattice.centre_mm(piece.cell)
                assert abs(solid.centre_mm[0] - x) <= 2.001
                assert abs(solid.centre_mm[1] - y) <= 2.001
                assert abs(solid.turn_deg) <= 5.001


def test_a_piece_stays_where_it_was_put() -> None:
    """Pieces do not jump when others come and go."""
    layout = Layout(GRID.board.lattice, _paints(GRID), USUAL, 1)
    pieces = some_pieces(GRID, 5, 12)

    before = layout.solids(pieces[:8])
    after = layout.solids(pieces)

    assert after[:8] == before


def _paints(kind: Kind) -> Mapping[str, Paint]:
    return Scene.from_seed(1, kind).paints


def test_a_turned_board_carries_its_pieces() -> None:
    """After a quarter turn a cube is seen on the place to which its corner went."""
    scene = Scene.from_seed(4, GRID, rig="one", size=SMALL)
    studio = Studio(scene)
    cube = [Placed(Cell(0, 0), 1, Extent(1, 1, 1), "Y")]
    pose = BoardPose(90.0, (5.0, -3.0))

    bare = studio.still((), 0, pose=pose, spare=False)["camera"]
    shown = studio.still(cube, 0, pose=pose, sloppy=NEAT, spare=False)["camera"]

    x, y = pose.to_table(11.0, 11.0, studio.ground.middle)
    there = scene.cameras["camera"].project((x, y, 20.0)).round().astype(int)
    change = np.abs(shown.astype(int) - bare).max(axis=-1)
    assert (x, y) == pytest.approx((170.0, 8.0))
    assert change[there[1], there[0]] > 25


@pytest.mark.parametrize("planes", [2.0, 3.75, 4.0])
def test_towers_may_be_as_high_as_a_lamp(planes: float) -> None:
    """A lamp beside a tower, at the height of one of the planes in which shadows are told."""
    block = Block.over(100.0, 100.0, 80.0, 0.0, 10.0)
    lamp = Lamp((-200.0, 30.0, planes * block.step_mm), 4.0, (1.0, 1.0, 1.0))
    tower = Solid((50.0, 50.0, 40.0), (20.0, 20.0, 80.0), Paint((0.5, 0.5, 0.5)))

    atlas = light_atlas(block, [tower], [lamp])

    assert atlas[..., 0].min() < 128 < atlas[..., 0].max()


def test_noise_of_two_pictures_is_not_the_same_noise_shifted() -> None:
    """Else what looks for moved things follows it, and cameras on dark tables seem to be bumped."""
    scene = Scene.from_seed(91004, Kind.of(find_game("turris")), family="check", rig="corners")
    name, camera = next(iter(scene.cameras.items()))
    development = Studio(scene).developments[name]
    root = np.full((camera.size[1], camera.size[0], 3), 0.4, np.float32)
    one, two = (
        development.developed(root, Gain((1.0, 1.0, 1.0)), np.random.default_rng(seed))[..., 1]
        for seed in (1, 2)
    )

    # The likeliest shift, and how much of the pictures agrees on it: 1 for the same picture.
    _, same = cv2.phaseCorrelate(one.astype(np.float64), one.astype(np.float64))
    _, agree = cv2.phaseCorrelate(one.astype(np.float64), two.astype(np.float64))

    assert same > 0.9
    assert agree < 0.1
