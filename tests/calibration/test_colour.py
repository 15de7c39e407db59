"""Colours: the space, the light's change, fitting from few pieces, and keeping them."""

from pathlib import Path

import numpy as np
import pytest

from calibration import colour_store
from calibration.camera import Camera, Lens
from calibration.colour import CameraColours, fit_light, light_terms, nearest_pair
from calibration.colour_fit import (
    ColourView,
    Sample,
    _clip,
    _settle,
    _solve,
    fit_colours,
)
from calibration.colour_quality import ColourVerdict, judge_colours
from calibration.colour_space import (
    beyond_clipped,
    gains_of,
    hue_when_darker,
    light_mode,
    light_of,
    log_colours,
    of_light,
    of_look,
    only_clipped,
    where_unclipped,
)
from calibration.errors import CalibrationError
from calibration.store import Calibration
from calibration.told_colours import odd_pieces
from rules.cells import Cell
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from tests.calibration import scenes

BOARD = Board(Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)))
NAMES = {"B": "blue", "Y": "yellow"}
OVERHEAD = Camera.of(
    Lens.simple((640, 360), 500.0), np.diag([1.0, -1.0, -1.0]), [-88.0, 88.0, 400.0]
)


def from_names() -> CameraColours:
    """Colours that nobody measured."""
    (found,) = fit_colours([ColourView(OVERHEAD, None, None)], BOARD, NAMES)
    return found


class TestSpace:
    """Logarithms of light, split into brightness and hue."""

    def test_more_light_adds_to_brightness_alone(self) -> None:
        """Twice the light of a bright colour leaves its hue nearly where it was."""
        light = np.array([[0.2, 0.3, 0.4]], dtype=np.float32)

        one, two = of_light(light), of_light(2 * light)

        assert two[0, 0] - one[0, 0] == pytest.approx(np.log(2), abs=0.03)
        assert two[0, 1:] == pytest.approx(one[0, 1:], abs=0.03)

    def test_gains_undo_a_change(self, rng: np.random.Generator) -> None:
        """The gains of the difference of two colours turn one into the other."""
        pixels = rng.integers(120, 240, (5, 3)).astype(np.uint8)
        change = np.array([0.2, 0.05, -0.03], dtype=np.float32)

        moved = np.log(light_of(pixels) * gains_of(change)) - np.log(light_of(pixels))

        assert moved.mean(axis=1) == pytest.approx(np.full(5, 0.2), abs=1e-4)

    def test_dark_colours_turn_grey(self) -> None:
        """The hue of a colour shrinks when there is less light, and is itself when lit."""
        place = of_look((240, 200, 48))

        hues = hue_when_darker(place, np.array([place[0], place[0] - 3], dtype=np.float32))

        assert hues[0] == pytest.approx(place[1:], abs=0.05)
        assert np.linalg.norm(hues[1]) < np.linalg.norm(hues[0])

    def test_what_the_camera_clipped_is_found_by_its_hue_in_less_light(self) -> None:
        """Light wood in full light looks white; its hue in the shade tells where it lies."""
        light = np.array([0.45, 1.0, 1.5], dtype=np.float32)
        place = of_light(light)
        look = of_light(np.minimum(light, 1.0))

        found = where_unclipped(look, place[1:])

        shade = hue_when_darker(found, look[:1] - 1.0, ceiling=1.0)[0]
        assert found == pytest.approx(place, abs=0.05)
        assert shade == pytest.approx(place[1:], abs=0.05)
        assert np.linalg.norm(shade) > 1.3 * np.linalg.norm(look[1:])

    def test_the_commonest_change_is_the_lights(self, rng: np.random.Generator) -> None:
        """A third of the pixels showing something new does not disturb the light's change."""
        same = rng.normal([0.4, 0.1, 0.0], 0.03, (200, 3))
        other = rng.normal(0, 1.0, (100, 3))

        change = light_mode(np.concatenate([same, other]).astype(np.float32))

        assert change == pytest.approx([0.4, 0.1, 0.0], abs=0.02)


class TestLight:
    """The brightness over the board."""

    def test_a_lamp_at_one_side_is_found_in_spite_of_lines(self) -> None:
        """A slope of brightness is fitted although dark lines cross the board."""
        x, y = np.meshgrid(np.arange(5.0, 176, 5), np.arange(5.0, 176, 5))
        points = np.stack([x.ravel(), y.ravel()], axis=1)
        brightness = 0.3 * (points[:, 0] - 88) / 88
        brightness[::11] -= 1.5

        light = fit_light(points, brightness, BOARD.lattice.size_mm)

        ends = light_terms(np.array([[0.0, 88.0], [176.0, 88.0]]), BOARD.lattice.size_mm) @ light
        assert ends[1] - ends[0] == pytest.approx(0.6, abs=0.12)


class TestFit:
    """Fitting with little or nothing to see."""

    def test_names_alone_tell_the_colours_apart(self) -> None:
        """Without any picture blue and yellow are still far from each other, but not seen."""
        found = from_names()

        pair = nearest_pair([found])
        assert not found.seen.any()
        assert pair is not None
        assert pair[2] > 3

    def test_colours_stored_before_clipping_was_known_are_read(self) -> None:
        """Nothing is taken to be clipped where nothing is told of it."""
        data = from_names().to_json()
        del data["clip"]

        assert not CameraColours.from_json(data).clip.any()

    def test_damaged_colours_are_refused(self) -> None:
        """Stored values of the wrong shape lead to a message that says what to do."""
        data = from_names().to_json()
        data["mean"] = [[1.0]]

        with pytest.raises(CalibrationError, match="finite numbers"):
            CameraColours.from_json(data)


class TestStore:
    """Keeping colours and empty pictures beside the table."""

    def test_colours_come_back(self) -> None:
        """What is stored is what is read again."""
        found = from_names()

        kept = colour_store.with_colours(Calibration(), {"side": found}, date="", source="")
        again = colour_store.colours_of(kept, "side")

        assert again is not None
        assert again.letters == found.letters
        assert again.mean == pytest.approx(found.mean, abs=1e-3)
        assert colour_store.colours_of(kept, "overhead") is None

    def test_the_empty_picture_comes_back_unchanged(
        self, tmp_path: Path, rng: np.random.Generator
    ) -> None:
        """The picture of the empty table is kept without loss; a missing one is None."""
        image = rng.integers(0, 256, (12, 16, 3)).astype(np.uint8)

        colour_store.save_empty(tmp_path, "side", image)

        again = colour_store.load_empty(tmp_path, "side")
        assert again is not None
        assert (again == image).all()
        assert colour_store.load_empty(tmp_path, "overhead") is None

    def test_pixels_and_light_agree(self) -> None:
        """The space of pixels is the space of their light."""
        pixels = np.array([[10, 120, 250]], dtype=np.uint8)

        assert log_colours(pixels) == pytest.approx(of_light(light_of(pixels)), abs=1e-4)


WOOD = (0.3, 0.5, 0.6)
PAINTS = {"B": (0.45, 0.15, 0.05), "Y": (0.05, 0.55, 0.75)}


def seen(
    stacks: Stacks,
    *,
    exposure: float = 1.0,
    said: Stacks | None = None,
    cover: tuple[float, float, float] = WOOD,
    paints: dict[str, tuple[float, float, float]] = PAINTS,
    names: dict[str, str] = NAMES,
    light: scenes.Look | None = None,
) -> ColourVerdict:
    """What is thought of colours learned where `stacks` stand and `said` is said to stand."""
    camera = scenes.look_at((640, 480), 560, (88, -180, 320), (88, 88, 0))
    wood = scenes.Box((-14, -14, -5), (190, 190, 0), scenes.plain(*cover), (0.2, 0.3, 0.4))
    cubes = [
        scenes.cube(*BOARD.lattice.centre_mm(unit.cell), 20 * (unit.level - 1), 20, paints[letter])
        for unit, letter in stacks.units()
    ]
    light = light or scenes.Look(gain=exposure)
    picture = scenes.draw(camera, [wood, *cubes], -5.0, light)
    view = ColourView(camera, picture, scenes.draw(camera, [wood], -5.0, light, seed=1))
    known = said or stacks
    return judge_colours([view], fit_colours([view], BOARD, names, known), BOARD, known, names)


class TestVerdict:
    """A failed calibration never looks like a good one."""

    STANDING = Stacks.of({"b2": "B", "g7": "Y", "b7": "BY"})

    def test_pieces_that_are_seen_are_enough(self) -> None:
        """Two colours in good light leave no doubt."""
        verdict = seen(self.STANDING)

        assert not verdict.hopeless
        assert not verdict.doubts
        assert verdict.word == "plenty"

    def test_the_empty_table_teaches_nothing(self) -> None:
        """Where nothing of the pieces is seen the board's colour must not be learned."""
        verdict = seen(Stacks(), said=self.STANDING)

        assert verdict.hopeless
        assert len(verdict.told.absent) == 3

    def test_deep_shadows_on_coloured_felt_are_no_pieces(self) -> None:
        """Near black the hue of a shadow is not that of the felt, and still nothing stands there."""
        low_sun = scenes.Look(sun=(-1.0, 0.1, 0.8), ambient=0.1, noise=1.5)
        wall = Stacks.of({"c3": "BBB", "c4": "BBB", "c5": "BBB", "g3": "YYY", "g4": "YYY"})

        verdict = seen(wall, cover=(0.02, 0.1, 0.008), light=low_sun)

        assert verdict.doubts == []

    def test_dark_pieces_in_good_light_are_no_doubt(self) -> None:
        """Black pieces are black; more light would only spoil the white ones."""
        paints = {"B": (0.004, 0.004, 0.004), "Y": (0.8, 0.85, 0.85)}
        names = {"B": "black", "Y": "white"}

        verdict = seen(self.STANDING, paints=paints, names=names)

        assert verdict.doubts == []

    def test_a_missing_stack_is_named(self) -> None:
        """One stack that is not there is told with its cell."""
        verdict = seen(self.STANDING, said=Stacks.of({"b2": "B", "g7": "Y", "b7": "BY", "e4": "Y"}))

        assert not verdict.hopeless
        assert [str(cell) for cell in verdict.told.absent] == ["e4"]
        assert any("e4" in doubt for doubt in verdict.doubts)

    def test_a_colour_that_was_not_shown_is_only_guessed(self) -> None:
        """The nearest pair counts seen colours alone; a missing one is a doubt."""
        verdict = seen(Stacks.of({"b2": "B", "g7": "B"}))

        assert verdict.missing == ("Y",)
        assert verdict.nearest is None
        assert any("guessed" in doubt for doubt in verdict.doubts)

    @pytest.mark.parametrize(
        ("exposure", "word"),
        [pytest.param(9.0, "over-exposed", id="glaring"), pytest.param(0.01, "black", id="dark")],
    )
    def test_pictures_too_bright_or_dark_are_told(self, exposure: float, word: str) -> None:
        """Clipped and black pieces cannot be told apart later."""
        verdict = seen(self.STANDING, exposure=exposure)

        assert verdict.hopeless or any(word in doubt for doubt in verdict.doubts)

    @pytest.mark.parametrize(
        ("said", "what"),
        [
            pytest.param({"b2": "B", "g7": "Y", "b7": "B"}, "more than was told", id="too low"),
            pytest.param({"b2": "BB", "g7": "Y", "b7": "BY"}, "less than was told", id="too high"),
            pytest.param({"b2": "B", "b7": "BY"}, "was not told is seen on g7", id="untold"),
            pytest.param({"b2": "B", "g6": "Y", "b7": "BY"}, "g7", id="beside its cell"),
        ],
    )
    def test_stacks_that_are_not_those_told_are_named(
        self, said: dict[str, str], what: str
    ) -> None:
        """Too many pieces, too few, and those on another cell contradict the picture."""
        verdict = seen(self.STANDING, said=Stacks.of(said))

        assert any(what in doubt for doubt in verdict.doubts)

    @pytest.mark.parametrize(
        ("said", "how"),
        [
            pytest.param({"a2": "B", "f7": "Y", "a7": "BY"}, "one cell to the right", id="shifted"),
            pytest.param({"g7": "B", "b2": "Y", "g2": "BY"}, "turned by half", id="turned"),
        ],
    )
    def test_where_all_would_fit_is_told(self, said: dict[str, str], how: str) -> None:
        """Who counts from the wrong line or corner is told by how much."""
        verdict = seen(self.STANDING, said=Stacks.of(said))

        assert verdict.told.rather is not None
        assert verdict.told.rather.how == how

    def test_swapped_colours_are_noticed(self) -> None:
        """Blue that looks yellow, and yellow that looks blue, were told the wrong way round."""
        said = {"b2": "Y", "g7": "B", "b7": "YB"}

        verdict = seen(self.STANDING, said=Stacks.of(said))

        assert verdict.swapped == (("B", "Y"),)

    def test_a_piece_unlike_its_own_colour_is_noticed(self) -> None:
        """One blue cube told as yellow looks like the other blue ones."""
        standing = Stacks.of({"b2": "B", "g7": "Y", "b7": "B", "g2": "Y"})
        said = Stacks.of({"b2": "B", "g7": "Y", "b7": "Y", "g2": "Y"})

        verdict = seen(standing, said=said)

        assert [(str(cell), told, like) for cell, told, like in verdict.odd] == [("b7", "Y", "B")]

    def test_one_shining_face_makes_no_odd_piece(self) -> None:
        """A dark top under a lamp looks like light wood; its other faces tell what it is."""

        def face(cell: str, letter: int, number: int, hue: float) -> Sample:
            mean = np.array([0.0, hue, 0.0], dtype=np.float32)
            return Sample(0, Cell.parse(cell), letter, number, mean, (0.1, 0.1), 50)

        dark = [face(cell, 0, n, 1.0) for cell in ("a1", "c1") for n in (1, 2)]
        light = [face(cell, 1, n, 0.0) for cell in ("e1", "g1") for n in (0, 1, 2)]
        tops = [face("a1", 0, 0, 1.0), face("c1", 0, 0, 0.05)]
        wrong = [face("i1", 0, n, 0.0) for n in (0, 1, 2)]

        assert odd_pieces([*dark, *light, *tops], "DL") == ()
        assert odd_pieces([*dark, *light, *wrong], "DL") == ((Cell.parse("i1"), "D", "L"),)


ORANGE = np.array([0.01, 0.40, 1.9], dtype=np.float32)  # light, blue first: red is over-exposed


@pytest.mark.parametrize("known", [[], [0.08]], ids=["usually", "by a face in the shade"])
def test_a_clipped_channel_is_told_by_the_brighter_of_the_others(known: list[float]) -> None:
    """In less light over-exposed orange is redder than it looks, and as saturated."""
    look = of_light(np.minimum(ORANGE, 1.0))
    in_shade = of_light(0.35 * ORANGE)
    channel = only_clipped(look)
    assert channel == 2

    beyond = beyond_clipped(look, channel, [of_light(share * ORANGE) for share in known])
    (told,) = hue_when_darker(look + beyond, in_shade[:1])
    (as_it_looks,) = hue_when_darker(look, in_shade[:1])

    off, before = (np.abs(hue - in_shade[1:]).max() for hue in (told, as_it_looks))
    assert off < 0.6 * before
    assert of_light(np.array([0.01, 0.40, 1.0], dtype=np.float32))[1] < (look + beyond)[1]


def test_clipping_of_more_or_no_channels_is_told_otherwise() -> None:
    """White that is over-exposed, and what is not, have no one channel to be told."""
    assert only_clipped(of_light(np.array([0.4, 1.0, 1.0], dtype=np.float32))) is None
    assert only_clipped(of_light(np.array([0.4, 0.6, 0.8], dtype=np.float32))) is None


@pytest.mark.parametrize("lit", [1.0, 0.85])
def test_a_dark_face_does_not_make_clipped_ones_grey(lit: float) -> None:
    """One side of an orange piece lies in the dark, where its hue is next to none.

    What is clipped is seen in the picture, not in what is made of it for the board's `lit` parts.
    """
    lights = [np.minimum(ORANGE, 1.0), 0.03 * ORANGE]
    samples = [
        Sample(
            0,
            Cell(0, 0),
            0,
            face,
            np.add(of_light(light), (np.log(lit), 0, 0)).astype(np.float32),
            (0.1, 0.05),
            100,
            float(face == 0),
            of_light(light),
        )
        for face, light in zip((0, 2), lights, strict=True)
    ]
    means, doubt = _solve(samples, np.array([of_look((235, 120, 20))]), [-1.0], (0.3, 0.5))
    mean, _, _ = _settle(samples, means[0], doubt[0])

    clip = _clip(samples, mean, means[0], doubt[0], np.array([of_look((235, 120, 20))]))

    in_shade = of_light(0.35 * ORANGE)
    (told,) = hue_when_darker(mean[0, 0] + clip[0, 0], in_shade[:1])
    assert np.abs(told - in_shade[1:]).max() < 0.45
