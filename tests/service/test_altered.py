"""Readers that lack something, and pictures in other light."""

import numpy as np
import pytest

from calibration.colour_fit import ColourView, fit_colours
from calibration.colour_space import linear_light
from rules.errors import UnknownName
from rules.registry import find_game
from service.bench.altered import INGREDIENTS, VARIANTS, in_other_light, without
from vision.likelihood import CameraEye
from vision.reader import ReaderSettings
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio


def test_every_variant_changes_one_thing() -> None:
    """Every row but the first differs from the usual, and no two are the same."""
    usual, *others = VARIANTS.values()

    assert usual == type(usual)()
    assert len({(a.without, a.stops, a.kelvin) for a in others} - {("", 0.0, 0.0)}) == len(others)


@pytest.fixture(scope="module")
def eye() -> CameraEye:
    """A camera that knows colours and the empty table."""
    kind = Kind.of(find_game("kewbz"))
    scene = Scene.from_seed(2, kind, family="tune", rig="one", size=(320, 180))
    studio = Studio(scene)
    empty, known = studio.empty(), studio.colour_picture()
    (name, camera), *_ = scene.cameras.items()
    view = ColourView(camera, known.pictures[name], empty[name])
    (colours,) = fit_colours([view], kind.board, kind.colours, known.stacks)
    return CameraEye(camera, colours, empty[name])


@pytest.mark.parametrize("name", sorted(INGREDIENTS))
def test_every_ingredient_can_be_left_out(name: str, eye: CameraEye) -> None:
    """What lacks an ingredient differs from the usual in its numbers or in its cameras."""
    settings, eyes = without(name, {"camera": eye})

    assert settings != ReaderSettings() or eyes["camera"] is not eye


def test_an_unknown_ingredient_is_told() -> None:
    """The names that there are stand in the sentence."""
    with pytest.raises(UnknownName, match="contrast"):
        without("salt", {})


def test_a_stop_doubles_the_light() -> None:
    """Bytes follow the curve of the picture, and clip where it ends."""
    image = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)

    brighter = in_other_light(image, 1.0, 0.0)

    light = linear_light(image[4, 0]) * 2
    assert linear_light(brighter[4, 0]) == pytest.approx(light, rel=0.03)
    assert brighter.max() == 255


def test_warmer_light_is_redder() -> None:
    """Fewer kelvin: more red, less blue."""
    grey = np.full((4, 4, 3), 100, dtype=np.uint8)

    blue, _, red = in_other_light(grey, 0.0, -1500.0)[0, 0]

    assert red > 100 > blue
