"""Light that changes upwards: what towers tell of it, and what is made of that."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.colour import FACES, CameraColours
from calibration.colour_space import of_light
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.adapt import AdaptSettings, adapted
from vision.evidence import SearchSettings, View
from vision.likelihood import Followed, LookSettings, above_board
from vision.position import Position
from vision.reader import Reader
from vision.rising import RisingSettings, rising_on
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Pictures, Studio

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


def told(faces: list[tuple[int, Floats]], rays: int = 12) -> Floats | None:
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

        assert told(faces) == pytest.approx(RISE, abs=0.15)

    def test_light_that_does_not_is_left(self) -> None:
        """A tower in even light says that nothing changes."""
        faces = [at(wood, k, 0 * RISE) for k in range(5) for wood in (LIGHT, DARK)]

        assert told(faces) == pytest.approx(0 * RISE, abs=0.04)

    @pytest.mark.parametrize("more", [-0.8, -0.5, 0.5, 0.8])
    def test_more_light_on_all_levels_does_not_rise(self, more: float) -> None:
        """A lamp that is switched on lights the lowest block as it does the highest one."""
        lamp = np.array([more, 0.0, 0.0])
        faces = [at(LIGHT + lamp, k, 0 * RISE) for k in (0, 1, 2, 4, 5)]
        faces += [at(DARK + lamp, k, 0 * RISE) for k in (1, 3)]

        assert told(faces) == pytest.approx(0 * RISE, abs=0.08)

    @pytest.mark.parametrize("levels", [(3, 4), (0, 1)], ids=["upper", "lower"])
    @pytest.mark.parametrize(("depth", "most"), [(-0.5, 0.3), (-0.9, 0.06)], ids=["half", "deep"])
    def test_shadows_tell_little(self, levels: tuple[int, ...], depth: float, most: float) -> None:
        """What lies in the shadow of others does not make light rise or fall for all."""
        shadow = np.array([depth, 0.2, -0.12])
        faces = [at(LIGHT, k, 0 * RISE) for k in range(5)]
        faces += [at(DARK, k, 0 * RISE) for k in (1, 3)]
        faces += [at(LIGHT + shadow, k, 0 * RISE) for k in levels]

        rise = told(faces)

        assert rise is not None
        assert rise[0] == pytest.approx(0, abs=most)
        assert rise[1:] == pytest.approx((0, 0), abs=0.5 * most)

    def test_one_level_tells_nothing(self) -> None:
        """Where all stand equally high nobody can say what is higher up."""
        assert told([at(LIGHT + 0.2, 2) for _ in range(6)]) is None
        assert told([at(LIGHT, 0), at(LIGHT, 4)]) is None


SCENE = Scene.from_seed(3103, Kind.of(find_game("turris")), family="tune", rig="two")
TOWERS = Stacks.of({"a1": "LDLLD", "b2": "LDLLDL", "c1": "DLDL", "c3": "DLLD"})


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    """Towers in light that does not change upwards: so our renderer draws it."""
    return Studio(SCENE).still(TOWERS, 1)


@pytest.fixture(scope="module")
def reader() -> Reader:
    """A reader of that table."""
    return reader_of(SCENE, Studio(SCENE))


@pytest.fixture
def risen(reader: Reader) -> Followed:
    """Light that rises on all faces."""
    eye = reader.cameras["side"]
    return Followed(eye.colours, rising=np.tile(RISE.astype(np.float32), (len(FACES), 1)))


class TestLevels:
    """Densities are those of the level on which a unit would stand."""

    def test_each_level_has_its_colours(
        self, reader: Reader, pictures: Pictures, risen: Followed
    ) -> None:
        """On the board as before; high above it as if the picture were changed the other way."""
        looks, own = reader._looks["side"], Followed(risen.colours)
        before = looks.read(pictures["side"])

        found = looks.again(before, risen)
        lowest, top = found.piece[:, found.band[0]], found.piece[:, found.band[-1]]

        assert (np.diff(found.band) >= 0).all()
        assert len(set(found.band.tolist())) == found.piece.shape[1] > 1
        assert np.corrcoef(lowest.ravel(), before.piece.ravel())[0, 1] > 0.9
        lowered = before.values - above_board(BOARD.lattice)[-1] * RISE
        same = looks.again(replace(before, values=lowered.astype(np.float32)), own)
        assert np.corrcoef(top.ravel(), same.piece.ravel())[0, 1] > 0.9
        assert np.corrcoef(top.ravel(), before.piece.ravel())[0, 1] < 0.8

    def test_a_view_that_is_renewed_is_as_if_made_anew(
        self, reader: Reader, pictures: Pictures, risen: Followed
    ) -> None:
        """Rays that changed are told by the level of what they meet, too."""
        looks, table = reader._looks["side"], reader._tables["side"]
        shades = LookSettings().shades()
        plain = looks.read(pictures["side"])
        view = View.of(table, plain, SearchSettings(), shades)
        every = np.arange(table.count)
        smooth = looks.pixels(pictures["side"])[0]

        view.renew(every, looks.read_some(smooth, every, plain.change, risen))

        whole = View.of(table, looks.again(plain, risen), SearchSettings(), shades)
        assert np.allclose(view.entry, whole.entry)
        assert np.array_equal(view.shade, whole.shade)
        assert not np.allclose(
            view.entry, View.of(table, plain, SearchSettings(), shades).entry, rtol=0.1
        )

    def test_what_is_lit_fully_rises_no_further(self, reader: Reader, pictures: Pictures) -> None:
        """No channel is brighter than all of it: white wood high up looks as white as below."""
        eye = reader.cameras["side"]
        white = of_light(np.array([0.97, 0.95, 0.93], dtype=np.float32))
        mean = np.tile(white, (2, len(FACES), 1))
        colours = replace(eye.colours, mean=mean, clip=np.zeros_like(mean))
        rising = np.zeros((len(FACES), 3), dtype=np.float32)
        rising[:, 0] = 0.8
        looks = reader._looks["side"]
        before = looks.read(pictures["side"], Followed(colours))
        shown = replace(before, values=np.tile(white, (len(before.values), 1)))

        found = looks.again(shown, Followed(colours, rising=rising)).piece
        seen = found[:, :, looks._faces]

        assert float((seen[:, -1] / seen[:, 0]).min()) > 0.5


class TestReading:
    """A reader takes what it finds into account."""

    def test_towers_tell_the_reader(self, reader: Reader, pictures: Pictures) -> None:
        """Pixels of a tower redder and brighter, level by level: that much light rises."""
        position = self._at_towers(reader, pictures)
        sight, own = (
            position.sights[list(reader.cameras).index("side")],
            reader._look(pictures)["side"],
        )
        side = sight.table.rays.face > 0
        shown = sight.shown()
        values = own.values.copy()
        levels = BOARD.lattice.levels
        high = np.append(above_board(BOARD.lattice), 0)[
            np.where(shown < sight.table.unit[-1], shown % levels, levels)
        ]
        values += high[:, None] * RISE.astype(np.float32)

        _, before = adapted(sight, own.values, own.followed.colours, AdaptSettings())
        _, after = adapted(sight, values, own.followed.colours, AdaptSettings())

        seen = sorted(set(sight.table.rays.face[side].tolist()))
        found = after[seen]
        assert len(found) == 2
        assert (found[:, 0] > before[seen, 0] + 0.5 * RISE[0]).all()
        assert np.allclose(found[:, 1:], RISE[1:], atol=0.1)

    def test_what_was_learned_is_kept_where_nothing_tells(
        self, reader: Reader, pictures: Pictures
    ) -> None:
        """One block alone says nothing of towers."""
        looks = reader._look(pictures)
        position = Position(reader._evidence(looks), reader._state(Stacks.of({"b2": "L"})))
        known = np.tile(RISE.astype(np.float32), (len(FACES), 1))
        own = looks["side"]
        sight = position.sights[list(reader.cameras).index("side")]

        _, rising = adapted(sight, own.values, own.followed.colours, AdaptSettings(), known)

        assert rising == pytest.approx(known)

    def test_changed_pixels_are_read_with_the_same_colours(
        self, reader: Reader, pictures: Pictures
    ) -> None:
        """What a reading began with holds until all is read anew."""
        reader.read(pictures)
        memory = reader._memory
        assert memory is not None
        for name, followed in memory.followed.items():
            sight = memory.position.sights[list(memory.followed).index(name)]
            looks = reader._looks[name].read_some(
                reader._looks[name].pixels(pictures[name])[0],
                np.arange(sight.table.count),
                memory.changes[name],
                followed,
            )
            entry = sight.table.entry_densities(looks.piece, looks.band)
            assert np.allclose(sight.view.entry[:, :-1], entry, rtol=1e-3)

    @staticmethod
    def _at_towers(reader: Reader, pictures: Pictures) -> Position:
        return Position(reader._evidence(reader._look(pictures)), reader._state(TOWERS))
