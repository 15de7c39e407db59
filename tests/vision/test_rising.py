"""Light that changes upwards: what towers tell of it, and what is made of that."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.colour import FACES, CameraColours
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.likelihood import EyeLooks, Followed, above_board
from vision.rays import sample_rays
from vision.rising import RisingSettings, rising_on
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

Floats = NDArray[np.floating]
LEFT = FACES.index("left")
LIGHT, DARK = np.array([-2.2, 1.1, 0.0]), np.array([-3.4, 0.85, -0.15])
RISE = np.array([0.6, 0.7, 0.1])  # a tower on a blue felt, as measured on a traced picture
BOARD = Kind.of(find_game("turris")).board


def woods() -> CameraColours:
    """Light and dark wood as they look on the board."""
    mean = np.stack([np.tile(own, (len(FACES), 1)) for own in (LIGHT, DARK)])
    return CameraColours(
        ("L", "D"),
        mean.astype(np.float32),
        np.full((2, len(FACES), 2), (0.17, 0.08), dtype=np.float32),
        np.ones((2, len(FACES)), dtype=np.bool_),
        np.zeros(6, dtype=np.float32),
    )


def told(faces: list[tuple[int, Floats]], rays: int = 12) -> Floats:
    """What these faces, each on its level and of its look, tell."""
    noise = np.random.default_rng(4).normal(0, 0.03, (len(faces), rays, 3))
    seen = np.concatenate([look + noise[i] for i, (_, look) in enumerate(faces)])
    above = above_board(BOARD.lattice)[[level for level, _ in faces]]
    unit = np.repeat(np.arange(len(faces), dtype=np.int32), rays)
    colours, settings = woods(), RisingSettings()
    return rising_on(seen.astype(np.float32), unit, np.repeat(above, rays), LEFT, colours, settings)


def at(own: Floats, level: int, rise: Floats = RISE) -> tuple[int, Floats]:
    """A face of a colour on a level, in light that rises."""
    return level, own + float(above_board(BOARD.lattice)[level]) * rise


class TestWhatTowersTell:
    """Only heights and looks are known, not which colour is where."""

    def test_light_that_rises_is_found(self) -> None:
        """Light and dark blocks in one tower, the dark ones hardly darker than shaded light ones."""
        faces = [at(LIGHT, k) for k in (0, 1, 4)] + [at(DARK, k) for k in (0, 2, 3, 4)]

        assert told(faces) == pytest.approx(RISE, abs=0.12)

    def test_light_that_does_not_is_left(self) -> None:
        """A tower in even light says that nothing changes."""
        faces = [at(wood, k, 0 * RISE) for k in range(5) for wood in (LIGHT, DARK)]

        assert told(faces) == pytest.approx(0 * RISE, abs=0.04)

    @pytest.mark.parametrize("levels", [(3, 4), (0, 1)], ids=["upper", "lower"])
    @pytest.mark.parametrize(("depth", "most"), [(-0.5, 0.35), (-0.9, 0.05)], ids=["half", "deep"])
    def test_shadows_tell_little(self, levels: tuple[int, ...], depth: float, most: float) -> None:
        """What lies in the shadow of others does not make light rise or fall for all."""
        shadow = np.array([depth, 0.08, -0.05])
        faces = [at(LIGHT, k, 0 * RISE) for k in range(5)]
        faces += [at(DARK, k, 0 * RISE) for k in (1, 3)]
        faces += [at(LIGHT + shadow, k, 0 * RISE) for k in levels]

        assert told(faces) == pytest.approx((0, 0, 0), abs=most)

    def test_one_level_tells_nothing(self) -> None:
        """Where all stand equally high nobody can say what is higher up."""
        assert told([at(LIGHT + 0.2, 2) for _ in range(6)]).tolist() == [0, 0, 0]
        assert told([at(LIGHT, 0), at(LIGHT, 4)]).tolist() == [0, 0, 0]


class TestLevels:
    """Densities are those of the level on which a unit would stand."""

    def test_each_level_has_its_colours(self) -> None:
        """On the board as before; high above it as if the picture were changed the other way."""
        scene = Scene.from_seed(3103, Kind.of(find_game("turris")), family="tune", rig="two")
        studio = Studio(scene)
        name, picture = next(iter(studio.still(Stacks.of({"b2": "LDLLD"}), 1).items()))
        reader = reader_of(scene, studio)
        eye = reader.cameras[name]
        looks = EyeLooks(eye, sample_rays(eye.camera, scene.kind.board), scene.kind.board)
        before = looks.read(picture)
        rising = np.tile(RISE.astype(np.float32), (len(FACES), 1))

        risen = looks.again(before, Followed(eye.colours, rising=rising))
        lowest, top = risen.piece[:, risen.band[0]], risen.piece[:, risen.band[-1]]

        assert (np.diff(risen.band) >= 0).all()
        assert len(set(risen.band.tolist())) == risen.piece.shape[1] > 1
        assert np.corrcoef(lowest.ravel(), before.piece.ravel())[0, 1] > 0.9
        lifted = replace(before, values=before.values - above_board(BOARD.lattice)[-1] * RISE)
        same = looks.again(lifted, Followed(eye.colours))
        assert np.corrcoef(top.ravel(), same.piece.ravel())[0, 1] > 0.9
        assert np.corrcoef(top.ravel(), before.piece.ravel())[0, 1] < 0.8
