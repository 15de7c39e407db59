"""What a picture tells of its own light, and of cameras that stand a little off."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour_fit import ColourView, fit_colours
from calibration.colour_space import (
    AXES,
    DARKEST,
    hue_when_mirroring,
    linear_light,
    of_light,
)
from rules.cells import Cell
from rules.lattice import Board
from rules.pieces import Extent, Placed
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.blocks import doubt_alone, lonely_units, pair_up
from vision.certainty import Doubts
from vision.evidence import ColumnGains
from vision.frame import ImageBGR
from vision.hull import hull
from vision.likelihood import CameraEye, EyeLooks, LookSettings, RayLooks
from vision.nudge import NudgeSettings
from vision.position import Position
from vision.rays import Rays, sample_rays
from vision.reader import Reader
from vision.search import exchange, shake
from vision.shading import CLASSES, Bell, Urns, classes_of, shares_of
from vision.virtual.scene import Kind, Rig, Scene
from vision.virtual.studio import Studio

POSITION = Stacks.of({"b2": "BY", "c5": "Y", "d4": "BBY", "e4": "Y", "f6": "YB", "g2": "B"})


class TestUrns:
    """Rays that show one face share their light."""

    USUAL = shares_of(Bell(0.6, 0.0, 0.2), Bell(0.4, -0.5, 0.4))

    def _gain(self, *classes: int) -> float:
        counts = np.bincount(classes, minlength=CLASSES).astype(float)[None]
        return float(Urns.of(self.USUAL[None], 4.0).agreement(counts)[0])

    def test_one_ray_shares_nothing(self) -> None:
        """What one ray says is what it says by itself."""
        assert self._gain(3) == pytest.approx(0.0, abs=1e-3)

    def test_rays_of_one_light_agree(self) -> None:
        """A face that lies in shadow as a whole costs less than its rays one by one."""
        assert self._gain(*[2] * 20) > self._gain(*[2] * 10) > 1.0

    def test_rays_of_all_kinds_of_light_do_not(self) -> None:
        """Rays that are each in another light gain less than those that are alike."""
        assert self._gain(*range(CLASSES)) < self._gain(*[2] * CLASSES)

    def test_classes_follow_brightness(self) -> None:
        """Darker pixels never fall into a brighter class, however far off they are."""
        found = classes_of(np.linspace(-9, 9, 200, dtype=np.float32))

        assert (np.diff(found) >= 0).all()
        assert (found.min(), found.max()) == (0, CLASSES - 1)


class TestGrain:
    """The board's own texture shows through shadows; other textures tell nothing."""

    SCENE = Scene.from_seed(3103, Kind.of(find_game("ksar")), family="tune", rig="one")

    def _told(self, shown: ImageBGR) -> float:
        """What the texture of a picture usually says, where the bare floor is in sight."""
        studio = Studio(self.SCENE)
        ((name, empty),) = studio.empty().items()
        coloured = studio.colour_picture()
        view = ColourView(self.SCENE.cameras[name], coloured.pictures[name], empty)
        kind = self.SCENE.kind
        (colours,) = fit_colours([view], kind.board, kind.colours, coloured.stacks)
        rays = sample_rays(self.SCENE.cameras[name], kind.board)
        looks = EyeLooks(CameraEye(self.SCENE.cameras[name], colours, empty), rays, kind.board)
        return float(np.median(looks.read(shown).same_grain[rays.on_board]))

    def test_a_shadow_leaves_the_grain(self) -> None:
        """A third of the light, and warmer: the same wood."""
        ((_, again),) = Studio(self.SCENE).empty(1).items()  # with other noise
        darker = np.array([0.5, 0.58, 0.66]) * again
        assert self._told(darker.astype(np.uint8)) > 1.5

    def test_another_wood_tells_nothing(self) -> None:
        """The same wood turned round is as another piece of wood."""
        ((_, empty),) = Studio(self.SCENE).empty().items()
        assert self._told(np.ascontiguousarray(empty[::-1, ::-1])) < 1.1


def _moved(camera: Camera, by_mm: NDArray[np.float64]) -> Camera:
    """The camera as a calibration would have it that is off by so much."""
    return replace(camera, translation_mm=camera.translation_mm + camera.rotation @ by_mm)


def test_cameras_that_are_off_are_fitted() -> None:
    """Cameras that were measured 6 mm off, in opposite directions, still read every stack."""
    kind = Kind.of(find_game("kewbz"))
    scene = Scene.from_seed(2, kind, family="tune", rig="two", size=(640, 360))
    studio = Studio(scene)
    off = {"overhead": np.array([4.2, -4.2, 0.0]), "side": np.array([-4.2, 4.2, 0.0])}
    cameras = {name: _moved(camera, off[name]) for name, camera in scene.cameras.items()}

    reading = reader_of(scene, studio, cameras).read(studio.still(POSITION, 3))

    assert reading.stacks == POSITION


def test_shadows_of_two_lamps_are_not_taken_for_pieces() -> None:
    """Where one lamp's light is warm and the other's cold, shadows on a white board look coloured.

    In this scene the warm shadows are as yellow as the yellow cubes.
    """
    scene = Scene.from_seed(503, Kind.of(find_game("cube")), family="tune", rig="one")
    studio = Studio(scene)
    stacks = Stacks.of(
        {
            "a2": "RY", "a3": "R", "b4": "BG", "c1": "Y", "c2": "Y", "c3": "R", "d2": "GYR",
            "d3": "GB", "d4": "BB",
        }
    )  # fmt: skip

    reading = reader_of(scene, studio).read(studio.still(stacks, 4))

    invented = {cell for cell in reading.stacks if cell not in stacks} - set(reading.unsure)
    assert not invented


def test_the_board_in_light_that_pieces_throw_back_is_no_piece() -> None:
    """A cell in deep shadow beside yellow cubes is brown: dark yellow, all but its place."""
    scene = Scene.from_seed(5, Kind.of(find_game("kewbz")), family="tune", rig="one")
    studio = Studio(scene)
    ((name, image),) = studio.still(POSITION, 3).items()
    e2 = Cell.parse("e2")
    low = np.array([e2.file, e2.rank]) + 0.04
    square = low + 0.92 * np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    corners = np.column_stack([square * scene.kind.board.lattice.pitch_mm, np.zeros(4)])
    there = np.zeros(image.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(there, scene.cameras[name].project(corners).astype(np.int32), 1)
    image[there > 0] = (image[there > 0] * np.array([0.22, 0.40, 0.55])).astype(np.uint8)

    reading = reader_of(scene, studio).read({name: image}, patient=True)

    assert reading.stacks == POSITION
    assert e2 not in reading.unsure


@pytest.fixture(scope="module")
def bright() -> tuple[Scene, Studio, Reader]:
    """Towers of light and dark wood in a room whose light wood is over-exposed on top."""
    scene = Scene.from_seed(620, Kind.of(find_game("turris")), family="tune", rig="two")
    studio = Studio(scene)
    return scene, studio, reader_of(scene, studio)


def test_over_exposed_wood_keeps_the_hue_of_its_sides(
    bright: tuple[Scene, Studio, Reader],
) -> None:
    """Tops that the camera shows white are known to be as warm in the shade as sides are."""
    _, _, reader = bright

    colours = reader.cameras["overhead"].colours

    top, front = colours.mean[0, 0], colours.mean[0, 3]
    in_shade = top + colours.clip[0, 0]
    assert top[1] < 0.5 * front[1]  # it looks white
    assert in_shade[1] == pytest.approx(front[1], abs=0.2)


def test_light_wood_in_a_shadow_is_not_taken_for_dark_wood(
    bright: tuple[Scene, Studio, Reader],
) -> None:
    """A light top in the shadow of its neighbours is read as such, or doubted."""
    _, studio, reader = bright
    stacks = Stacks.of(
        {
            "a1": "DDLDDLLLLL", "a2": "DDDLLDLLDD", "a3": "LLLLLDLLD", "b1": "DDLDDDLLL",
            "b2": "DLDDLLLDDD", "b3": "LLDDLDD", "c1": "DDLLLLLDL", "c2": "LLDDLDDD",
            "c3": "LDDDLLDD",
        }
    )  # fmt: skip

    reading = reader.read(studio.still(stacks, 3))

    tops = {cell: stack[-1] for cell, stack in reading.stacks.items()}
    assert tops == {cell: stack[-1] for cell, stack in stacks.items()}


def test_towers_that_lean_are_not_read_too_low(bright: tuple[Scene, Studio, Reader]) -> None:
    """No single tower can be put right here: all of them seem a unit lower together."""
    _, studio, reader = bright
    stacks = Stacks.of(
        {
            "a1": "LLDDDDLD", "a2": "DDDDDDDD", "a3": "LLLLDLLL", "b1": "DDDLDDL",
            "b2": "DDDDDDLD", "b3": "LLLLLLLL", "c1": "DDDLLDD", "c2": "DDLLLLLDL",
            "c3": "LLLDDDDLL",
        }
    )  # fmt: skip

    reading = reader.read(studio.still(stacks, 2))

    assert {c: len(s) for c, s in reading.stacks.items()} == {c: len(s) for c, s in stacks.items()}


WELL = Stacks.of(
    {
        "a1": "DDDDLDDD", "a2": "LLLLLDLL", "a3": "LLLLLDL", "b1": "DDDDLLL",
        "b3": "DDDLLDL", "c1": "LLDLLDDD", "c2": "LLDLDDLL", "c3": "DDDDDDDL",
    }
)  # fmt: skip


def test_the_hull_holds_all_that_stands(bright: tuple[Scene, Studio, Reader]) -> None:
    """It may be too large, but towers are not taken for the room behind them."""
    _, studio, reader = bright
    looks = reader._look(studio.still(WELL, 2))
    position = Position(reader._evidence(looks), reader._empty())

    position.restore(hull(position))

    high = {cell: len(stack) for cell, stack in WELL.items()}
    found = {
        cell: len(position.stack(cell.rank * reader.lattice.columns + cell.file)) for cell in high
    }
    assert all(found[cell] >= high[cell] - 1 for cell in high)
    assert sum(found.values()) >= sum(high.values())
    assert sum(found.values()) < 1.4 * sum(high.values())


@pytest.mark.parametrize("hull", [False, True], ids=["alone", "with the hull"])
def test_a_search_that_ends_half_way_up_begins_anew(
    bright: tuple[Scene, Studio, Reader], monkeypatch: pytest.MonkeyPatch, hull: bool
) -> None:
    """Nothing that a single column can do leads out of towers that are all cut at one height."""
    _, studio, reader = bright
    position = Position(reader._evidence(reader._look(studio.still(WELL, 2))), reader._empty())
    cut: list[float] = []

    def shaken(position: Position, gains: ColumnGains, *, tries: int) -> ColumnGains:
        if cut:
            return shake(position, gains, tries=tries)
        position.change({c: position.stack(c)[:3] for c in range(position.evidence.columns)})
        cut.append(position.score)
        return position.columns_gain()

    monkeypatch.setattr("vision.reader.shake", shaken)
    if not hull:
        monkeypatch.setattr("vision.reader.HARDLY", np.inf)
    reader._search(position)

    columns = reader.lattice.columns
    high = {c: len(position.stack(c.rank * columns + c.file)) for c in WELL}
    assert (position.score > cut[0] + 100) == hull
    assert (max(high.values()) > 3) == hull


def test_towers_that_fit_nearly_as_well_a_unit_higher_are_doubted_together(
    bright: tuple[Scene, Studio, Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them alone would be far worse: that does not make any of them certain."""
    _, studio, reader = bright
    stacks = Stacks.of({"a1": "LLDDDDLD", "c3": "DDDLDDLD"})

    def nearly_as_good(position: Position, _: NudgeSettings) -> Position:
        other = position.copy()
        tall = [c for c in range(other.evidence.columns) if len(position.stack(c)) > 4]
        other.change({c: np.append(position.stack(c), position.stack(c)[-1:]) for c in tall})
        other.score = position.score - 1.0
        return other

    monkeypatch.setattr("vision.reader.higher", nearly_as_good)
    reading = reader.read(studio.still(stacks, 3))

    assert {str(cell) for cell in reading.unsure} >= {"a1", "c3"}


def test_the_first_thing_that_pairs_blocks_need_not_be_right(
    bright: tuple[Scene, Studio, Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block too much pairs what is left alone at once; units that nobody sees do it better."""
    _, studio, reader = bright
    stacks = Stacks.of(
        {
            "a1": "DLL", "a2": "DD", "a3": "DD", "b1": "LDLL", "b2": "DD", "b3": "D",
            "c1": "LDD", "c2": "D", "c3": "LL",
        }
    )  # fmt: skip
    reader.read(studio.still(stacks, 3))
    assert reader._memory is not None
    position = reader._memory.position
    wrong = reader._state(
        Stacks.of({str(c): s for c, s in stacks.items()} | {"a2": "LD", "a3": "LD"})
    )
    position.restore(reader._state(stacks))
    position.change(position.differing(wrong))
    doubts = Doubts(position, position.columns_gain(), reader.settings.certainty)
    lattice = reader.lattice
    a2, c2, a3 = lattice.columns, lattice.columns + 2, 2 * lattice.columns
    assert lonely_units(position.state[:-1], lattice) == 2

    doubts.take({c2: {(2, 2): -1.0}, a2: {(2, 2): -1.5}, a3: {(2, 2): -1.5}})
    lost = {c2: 1.0, a2: 1.5, a3: 1.5}
    monkeypatch.setattr(Position, "gain", lambda _, changes: -sum(lost[c] for c in changes))
    pair_up(position, doubts)

    assert not lonely_units(position.state[:-1], lattice)
    assert position.stack(c2).tolist() == [2]


@pytest.mark.parametrize(("last", "doubted"), [(None, "b1 c1 b3 c3"), ("c1", "c1 c3")])
def test_a_unit_without_partner_is_doubted(
    bright: tuple[Scene, Studio, Reader], last: str | None, doubted: str
) -> None:
    """Blocks have two units: one by itself is wrong somewhere, and none that has its partner.

    Its partner may stand beside it, behind something that stood before the board all the time.
    """
    _, studio, reader = bright
    stacks = Stacks.of({"a1": "LL", "c1": "D", "c2": "D", "c3": "D"})
    reader.read(studio.still(Stacks.of({"a1": "LL", "c1": "D", "c2": "D"}), 3))
    assert reader._memory is not None
    position = reader._memory.position
    position.change(position.differing(reader._state(stacks)))
    if last is not None:
        position.anchor = reader._state(Stacks.of({last: "D"})).reshape(-1, position.levels)
    doubts = Doubts(position, position.columns_gain(), reader.settings.certainty)
    doubts.take({})

    doubt_alone(position, doubts)

    columns = reader.lattice.columns
    cells = {Cell.parse(text) for text in doubted.split()}
    found = {Cell(column % columns, column // columns) for column, _, _ in doubts.options()}
    assert found == cells


def test_half_a_block_is_doubted_while_a_game_is_followed(
    bright: tuple[Scene, Studio, Reader],
) -> None:
    """Half a block that is well in sight is a misread one: a lamp's gleam on its other half."""
    _, studio, reader = bright
    block = Placed(Cell.parse("a1"), 1, Extent(1, 1, 2), "L")
    half = Placed(Cell.parse("c3"), 1, Extent(1, 1, 1), "D")

    reading = reader.read(studio.still((block, half), 3), last=Stacks.of({"a1": "LL"}))

    assert Cell.parse("c3") in reading.unsure


def test_a_pair_is_put_right_together() -> None:
    """What one stack loses its neighbour wins: neither of two wrong stacks gains alone."""
    scene = Scene.from_seed(2, Kind.of(find_game("kewbz")), family="tune", rig="one")
    studio = Studio(scene)
    reader = reader_of(scene, studio)
    stacks = Stacks.of({"d3": "B", "d4": "YBB", "e4": "Y"})
    reader.read(studio.still(stacks, 3))
    assert reader._memory is not None
    position = reader._memory.position
    truth = position.state[:-1].copy()
    wrong = reader._state(Stacks.of({"d3": "BYBB", "e4": "Y"}))
    position.change(position.differing(wrong))
    column = 2 * reader.lattice.columns + 3

    told = exchange(position, [(column, np.array([1], dtype=np.int8))], least=-50.0)

    assert np.array_equal(position.state[:-1], truth)
    assert told.keys() >= {column, column + reader.lattice.columns}
    assert all(gain < 0 for rivals in told.values() for gain in rivals.values())


def test_one_camera_does_not_tell_how_far_away_a_stack_stands_for_certain() -> None:
    """A stack looks like a lower one behind its place: what is read wrongly is doubted at least."""
    scene = Scene.from_seed(502, Kind.of(find_game("kewbz")), family="tune", rig="one")
    studio = Studio(scene)
    stacks = Stacks.of(
        {
            "c2": "Y", "c7": "B", "d3": "B", "d6": "B", "d7": "YYYB", "e3": "B", "e5": "B",
            "e7": "Y", "f3": "YY", "f4": "YY", "f6": "BY", "f7": "YYYBB", "f8": "Y", "g2": "B",
            "g4": "YBBY", "g5": "B", "g6": "BB", "h1": "Y", "h3": "Y", "h4": "BYY",
        }
    )  # fmt: skip

    reading = reader_of(scene, studio).read(studio.still(stacks, 5))

    wrong = {c for c in stacks.keys() | reading.stacks.keys()
             if len(stacks.get(c, "")) != len(reading.stacks.get(c, ""))}  # fmt: skip
    assert wrong <= reading.unsure.keys() | reading.hidden


def _learned(game: str, rig: Rig) -> tuple[CameraEye, Rays, Board]:
    """The first camera of a table, which knows the colours and the empty table, and its rays."""
    scene = Scene.from_seed(4, Kind.of(find_game(game)), family="tune", rig=rig)
    studio, kind = Studio(scene), scene.kind
    name, camera = next(iter(scene.cameras.items()))
    empty, coloured = studio.empty()[name], studio.colour_picture()
    view = ColourView(camera, coloured.pictures[name], empty)
    (colours,) = fit_colours([view], kind.board, kind.colours, coloured.stacks)
    return CameraEye(camera, colours, empty), sample_rays(camera, kind.board), kind.board


@pytest.fixture(scope="module")
def woody() -> tuple[RayLooks, NDArray[np.bool_], int]:
    """A picture that shows one wood all over, as faces look that most rays cannot meet.

    Also the rays that meet nothing but one other face of a piece and end in the room.
    """
    learned, rays, board = _learned("kwinty", "one")
    colours, empty = learned.colours, learned.empty
    assert empty is not None
    front = np.bincount(rays.face).argmax()
    ray = np.concatenate([np.arange(many) for _, many in rays.slots])
    others = ray[(rays.face != front) | (rays.share < 1)]
    alone = ~rays.on_board & ~np.isin(np.arange(len(rays.px)), others)
    faces = colours.mean[0]
    unlike = np.abs(faces - faces[front])[np.unique(rays.face), 0].argmax()
    light = np.exp(np.linalg.inv(AXES) @ faces[np.unique(rays.face)[unlike]]) - DARKEST
    shown = np.searchsorted(linear_light(np.arange(256)), light).astype(np.uint8)
    own = EyeLooks(learned, rays, board).read(np.broadcast_to(shown, empty.shape).copy())
    return own, alone & (np.abs(own.nothing_off[:, 0]) > 0.6), int(front)


class TestSomebodyBehind:
    """Before a wall of blocks anything may move; a tower in the shade there is a tower still."""

    def test_nobody_looks_more_like_a_piece_than_the_piece(
        self, woody: tuple[RayLooks, NDArray[np.bool_], int]
    ) -> None:
        """What only other faces look like speaks for nobody who might stand behind."""
        own, alone, front = woody
        piece = own.piece[:, :, front].max(axis=(0, 1))

        assert alone.sum() > 100
        assert (own.nothing[alone] < piece[alone]).mean() > 0.9

    def test_how_bright_the_room_was_tells_nothing_of_somebody(
        self, woody: tuple[RayLooks, NDArray[np.bool_], int]
    ) -> None:
        """Who has come is in no rarer light for it: there is no vote on it that he could share."""
        own, alone, _ = woody
        assert (own.nothing_shade[alone] == classes_of(np.zeros(1, dtype=np.float32))).mean() > 0.9


def test_in_a_full_shadow_a_top_is_as_dark_as_a_side_that_no_lamp_shines_on() -> None:
    """The lamp gives tops nearly all their light: a shadow takes it, however deep that is."""
    scene = Scene.from_seed(906, Kind.of(find_game("ksar")), family="check", rig="one")
    studio = Studio(scene)
    ((name, empty),) = studio.empty().items()
    coloured = studio.colour_picture()
    kind, camera = scene.kind, scene.cameras[name]
    view = ColourView(camera, coloured.pictures[name], empty)
    (colours,) = fit_colours([view], kind.board, kind.colours, coloured.stacks)
    rays = sample_rays(camera, kind.board)
    away = min(np.unique(rays.face), key=lambda face: colours.mean[:, face, 0].mean())
    light = np.exp(np.linalg.inv(AXES) @ colours.mean[0, away]) - DARKEST
    shown = np.searchsorted(linear_light(np.arange(256)), light).astype(np.uint8)
    picture = np.broadcast_to(shown, empty.shape).copy()
    without, known = (
        EyeLooks(
            CameraEye(camera, colours, empty), rays, kind.board, LookSettings(umbra=umbra)
        ).read(picture)
        for umbra in (0.0, 0.1)
    )

    assert np.median(known.piece[0, :, 0] / without.piece[0, :, 0]) > 3
    assert np.array_equal(known.piece[0, :, away], without.piece[0, :, away])


@pytest.mark.parametrize("known", [True, False], ids=["empty table known", "never seen"])
def test_in_a_full_shadow_the_board_is_as_dark_as_a_top(known: bool) -> None:
    """Both look up, so that a shadow takes as much from both; else dark floors become bricks."""
    scene = Scene.from_seed(906, Kind.of(find_game("ksar")), family="check", rig="one")
    studio = Studio(scene)
    (eye,) = reader_of(scene, studio).cameras.values()
    if not known:
        eye = replace(eye, empty=None)
    rays = sample_rays(eye.camera, scene.kind.board)
    without, full = (
        EyeLooks(eye, rays, scene.kind.board, LookSettings(umbra=umbra)) for umbra in (0.0, 0.1)
    )
    some = np.flatnonzero(rays.on_board)
    off = np.zeros((len(some), 3), dtype=np.float32)
    off[:, 0] = full._umbra  # what the lamp gives to tops
    values = off - 1

    with_it, usual = (looks._nothing(values, off, some, None)[0] for looks in (full, without))

    assert np.median(with_it / usual) > 3


class Glare:
    """A picture that shows red that mirrors a lamp all over, on a KSAR table."""

    def __init__(self) -> None:
        self._eye = learned, rays, _ = _learned("ksar", "two")
        colours, empty = learned.colours, learned.empty
        assert empty is not None
        self._red = colours.letters.index("R")
        light = np.exp(np.linalg.inv(AXES) @ colours.mean[self._red, 0]) - DARKEST + 0.05
        self._red_glare = _plain(light, empty)
        self._board = rays.on_board
        bare = linear_light(empty[rays.px[rays.on_board, 1], rays.px[rays.on_board, 0]])
        self._brighter = _plain(2.4 * np.median(bare, axis=0), empty)

    def _read(self, settings: LookSettings, picture: ImageBGR) -> RayLooks:
        alone = replace(settings, follows_light=False)
        return EyeLooks(*self._eye, alone).read(picture)

    def tops(self, settings: LookSettings) -> list[float]:
        """How likely it is as a top of red, and of every other colour."""
        likely = np.median(self._read(settings, self._red_glare).piece[:, 0, 0], axis=1).tolist()
        return [likely.pop(self._red), *likely]

    def board(self, settings: LookSettings) -> float:
        """How likely something plain, 2.4 times as bright as the board was, is bare board."""
        return float(np.median(self._read(settings, self._brighter).nothing[self._board]))


def _plain(light: NDArray[np.float64], like: ImageBGR) -> ImageBGR:
    """A picture of one colour."""
    shown = np.searchsorted(linear_light(np.arange(256)), light).astype(np.uint8)
    return np.broadcast_to(shown, like.shape).copy()


@pytest.fixture(scope="module")
def glare() -> Glare:
    """Read once for all tests."""
    return Glare()


class TestMirroredLamps:
    """Varnish mirrors a lamp: a top is then brighter, and between its colour and the lamp's."""

    @pytest.mark.parametrize("lamp", [(1.0, 1.0, 1.0), (0.55, 1.0, 1.3)], ids=["white", "warm"])
    def test_mixtures_with_a_lamp_lie_on_the_curve(self, lamp: tuple[float, ...]) -> None:
        """The hue for every brightness is that of the colour with as much of the lamp added."""
        red = np.array([[0.03, 0.05, 0.30]], dtype=np.float32)  # light, BGR
        white = np.array(lamp, dtype=np.float32)
        mixed = of_light(red + np.float32(0.2) * white)[0]

        hue = hue_when_mirroring(of_light(red)[0], mixed[:1], white)[0]

        assert hue == pytest.approx(mixed[1:], abs=0.03)
        assert np.hypot(*hue) < np.hypot(*of_light(red)[0, 1:])

    def test_a_top_in_a_lamp_s_glare_is_its_piece_s(self, glare: Glare) -> None:
        """It is likelier than if nothing could mirror, and than with any other colour."""
        red, *others = glare.tops(LookSettings())

        assert red > 5 * glare.tops(LookSettings(piece_mirrors=0.0))[0]
        assert red > 5 * max(others)

    def test_bare_board_is_hardly_brighter_than_it_was(self, glare: Glare) -> None:
        """Where a plain patch is much brighter, reflections explain it only if they are usual."""
        assert glare.board(LookSettings()) < 0.7 * glare.board(LookSettings(board_brighter=0.6))
