"""Reading positions: the whole way from pictures to stacks, on small virtual tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.colour_space import clipped_channels
from rules.cells import Cell, Unit
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.blocks import lonely_units
from vision.errors import NoPicture
from vision.exposure import in_light
from vision.overlay import draw_reading
from vision.position import Position
from vision.reader import Reader
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

Pictures = Mapping[str, NDArray[np.uint8]]
POSITION = Stacks.of({"b2": "BY", "c5": "Y", "d4": "BBY", "e4": "Y", "f6": "YB", "g2": "B"})


@dataclass(frozen=True)
class Table:
    """One virtual table, its reader, and some of its pictures."""

    studio: Studio
    reader: Reader
    empty: Pictures
    pictures: Pictures


@pytest.fixture(scope="module")
def table() -> Table:
    """A KEWBZ table with two small cameras that know the colours."""
    scene = Scene.from_seed(
        2, Kind.of(find_game("kewbz")), family="tune", rig="two", size=(640, 360)
    )
    studio = Studio(scene)
    return Table(studio, reader_of(scene, studio), studio.empty(), studio.still(POSITION, 3))


@contextmanager
def _nothing_read_anew(reader: Reader) -> Iterator[None]:
    """Fails where the reader forgets what it has just read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_read_anew", lambda *_, **__: pytest.fail("all was read anew"))
        yield


class TestFromScratch:
    """One picture a camera, nothing else known."""

    def test_reads_every_stack(self, table: Table) -> None:
        """A position in plain sight is read exactly."""
        reading = table.reader.read(table.pictures)

        assert reading.stacks == POSITION

    def test_finds_nothing_on_an_empty_table(self, table: Table) -> None:
        """Spare pieces beside the board and other noise do not become pieces."""
        pictures = table.studio.empty(7)

        reading = table.reader.read(pictures)

        assert not reading.stacks

    def test_a_missing_camera_is_left_out(self, table: Table) -> None:
        """With the overhead camera alone the tops are still found."""
        reading = table.reader.read({"overhead": table.pictures["overhead"]})

        assert set(reading.stacks) == set(POSITION)

    def test_odds_are_told_against_what_was_read(self, table: Table) -> None:
        """Where one camera shows nothing of the table, odds are those of the other one."""
        noise = np.random.default_rng(1).integers(0, 255, table.pictures["side"].shape)
        pictures = {"overhead": noise.astype(np.uint8), "side": table.pictures["side"]}

        reading = table.reader.read(pictures)

        assert reading.strange == {"overhead"}
        assert table.reader.weigh([reading.stacks]) == [1.0]

    @pytest.mark.parametrize("factor", [0.6, 1.35], ids=["darker", "brighter"])
    def test_other_light_is_corrected_for(self, table: Table, factor: float) -> None:
        """The same position is read when the whole picture is darker or brighter."""
        pictures = {
            name: np.clip(image * factor, 0, 255).astype(np.uint8)
            for name, image in table.pictures.items()
        }

        reading = table.reader.read(pictures)

        assert reading.stacks == POSITION

    def test_certainty_is_a_probability(self, table: Table) -> None:
        """Certainty and every listed choice lie between 0 and 1."""
        reading = table.reader.read(table.pictures)

        chances = [p for choices in reading.unsure.values() for p in choices.values()]
        assert all(0 <= p <= 1 for p in [reading.certainty, *chances])


class TestFromTheLastPosition:
    """The last known stacks are a prior, never a blindfold."""

    def test_a_wrong_last_position_is_corrected(self, table: Table) -> None:
        """Stacks that are not there go, those that are new come."""
        last = POSITION.with_stack(Cell.parse("g2"), "").with_stack(Cell.parse("a8"), "YY")

        reading = table.reader.read(table.pictures, last=last)

        assert reading.stacks == POSITION

    def test_reading_again_agrees_with_reading_anew(self, table: Table) -> None:
        """After one piece was added only what changed is read, with the same answer."""
        more = POSITION.with_stack(Cell.parse("c2"), "Y")
        before = table.reader.read(table.pictures)

        again = table.reader.read(table.studio.still(more, 3), last=before.stacks)

        assert again.stacks == more

    def test_exposure_that_drifts_is_no_reason_to_read_all(self, table: Table) -> None:
        """Where a camera made the whole picture lighter, only what changed is read again."""
        changed = Stacks({**POSITION, Cell.parse("g5"): "BY"})
        pictures = {
            name: in_light(picture.reshape(-1, 3), np.array([1.2, 1.15, 1.1], np.float32)).reshape(
                picture.shape
            )
            for name, picture in table.studio.still(changed, 3).items()
        }
        table.reader.read(table.pictures)

        with _nothing_read_anew(table.reader):
            reading = table.reader.read(pictures, last=POSITION)

        assert reading.stacks == changed

    def test_what_is_clipped_is_so_in_the_light_that_a_camera_has_now(
        self, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A face that shows "at least so much" is not trusted because it was darker before."""
        pictures = {}
        for name, picture in table.studio.still(POSITION, 3).items():
            lighter = in_light(picture.reshape(-1, 3), np.full(3, 1.5, np.float32))
            pictures[name] = lighter.reshape(picture.shape)
            pictures[name][150:200, 250:400] = 255
        asked: list[Pictures] = []
        heard = table.reader._heard

        def noted(position: Position, pixels: Pictures, *more: Any) -> NDArray[np.float64]:
            asked.append({name: own.copy() for name, own in pixels.items()})
            return heard(position, pixels, *more)

        monkeypatch.setattr(table.reader, "_heard", noted)
        table.reader.read(table.pictures)

        with _nothing_read_anew(table.reader):
            table.reader.read(pictures, last=POSITION)

        for name, picture in pictures.items():
            shown = table.reader._looks[name].pixels(picture)[1]
            clipped = clipped_channels(shown) > 0
            assert clipped.any()
            assert np.array_equal(clipped_channels(asked[-1][name]) > 0, clipped)

    def test_a_candidate_is_no_more_than_a_proposal(self, table: Table) -> None:
        """A position that the game could lead to is not believed against the pictures."""
        wrong = POSITION.with_stack(Cell.parse("h8"), "BBB")

        reading = table.reader.read(table.pictures, last=POSITION, candidates=[wrong])

        assert reading.stacks == POSITION


class TestPictures:
    """What can be given to a reader."""

    def test_no_picture_is_refused(self, table: Table) -> None:
        """There must be a picture of at least one camera."""
        with pytest.raises(NoPicture, match="no picture"):
            table.reader.read({})

    def test_another_size_is_refused(self, table: Table) -> None:
        """A picture of another size than was calibrated says so."""
        with pytest.raises(NoPicture, match="32 x 24"):
            table.reader.read({"overhead": np.zeros((24, 32, 3), dtype=np.uint8)})

    def test_a_camera_that_sees_nothing_of_the_board_tells_nothing(self, table: Table) -> None:
        """A camera that looks past the board neither stops the others nor tells a stack."""
        eye = table.reader.cameras["overhead"]
        far_mm = eye.camera.translation_mm + np.array([1e5, 0.0, 0.0])
        aside = replace(eye.camera, translation_mm=far_mm)
        eyes = {**table.reader.cameras, "overhead": replace(eye, camera=aside)}
        reader = Reader(table.reader.board, eyes, table.reader.kit)

        alone = {"overhead": table.pictures["overhead"]}
        nothing = [reader.read(alone), reader.read(alone, last=Stacks())]
        reading = reader.read(table.pictures)

        assert all(r.hidden == set(reader.lattice.cells()) for r in nothing)
        assert [r.certainty for r in nothing] == [0.0, 0.0]
        assert set(reading.stacks) >= {Cell.parse("g2")}

    def test_drawing_leaves_the_picture_alone(self, table: Table) -> None:
        """Outlines are drawn on a copy."""
        image = table.pictures["overhead"]
        kept = image.copy()
        reading = table.reader.read(table.pictures)

        drawn = draw_reading(
            image, table.reader.cameras["overhead"].camera, table.reader.lattice, reading
        )

        assert (image == kept).all()
        assert (drawn != image).any()

    def test_a_hand_hides_the_cells_it_covers(self, table: Table) -> None:
        """Cells under something unexplained that reaches in stay as they were last known."""
        pictures = {name: image.copy() for name, image in table.pictures.items()}
        for image in pictures.values():
            height, width = image.shape[:2]
            image[height // 3 : 2 * height // 3, width // 2 :] = (200, 60, 220)

        reading = table.reader.read(pictures, last=POSITION)

        assert reading.hidden
        assert all(reading.stacks.get(c, "") == POSITION.get(c, "") for c in reading.hidden)


class TestBlocks:
    """Blocks of two fall into pairs."""

    @pytest.mark.parametrize(
        ("stacks", "alone"),
        [
            pytest.param({"a1": "LL"}, 0, id="upright"),
            pytest.param({"a1": "L", "b1": "L"}, 0, id="flat"),
            pytest.param({"a1": "L"}, 1, id="one unit alone"),
            pytest.param({"a1": "LD", "b1": "LD"}, 0, id="two flat ones"),
            pytest.param({"a1": "LLL", "b1": "D"}, 2, id="odd numbers of both"),
        ],
    )
    def test_lonely_units_are_counted(self, stacks: dict[str, str], alone: int) -> None:
        """As many units as possible are paired; the rest is counted."""
        lattice = find_game("turris").board.lattice
        state = np.zeros(lattice.columns * lattice.ranks * lattice.levels, dtype=np.int8)
        for unit, letter in Stacks.of(stacks).units():
            column = unit.cell.rank * lattice.columns + unit.cell.file
            state[column * lattice.levels + unit.level - 1] = "LD".index(letter) + 1

        assert lonely_units(state, lattice) == alone


def test_contract_form_names_cells_and_units(table: Table) -> None:
    """The JSON form has the contract's keys, with cells and units by name."""
    reading = table.reader.read(table.pictures)

    data = reading.to_json()

    assert list(data) == ["stacks", "unsure", "inferred", "hidden", "certainty", "ms"]
    assert data["stacks"] == POSITION.to_json()
    assert all(Unit.parse(name) for name in data["inferred"])
