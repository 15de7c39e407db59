"""Following a table: when a scene is believed, and what hands, doubt and people change about it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.realign import Remembered
from rules.cells import Cell, Unit
from rules.lattice import Board, Lattice
from rules.pieces import Extent, KitPiece, Shape
from rules.stacks import Stacks
from vision.follow import Follower
from vision.frame import Frame, ImageBGR
from vision.play_area import PlayArea
from vision.reading import Covered, Reading
from vision.seen import CameraNote, Scene, Seen, Turned
from vision.virtual.aiming import fitting_camera, lens_of
from vision.watched import WatchedCamera
from vision.whereabouts import Whereabouts

FPS = 15
SIZE = (640, 360)
BOARD = Board(Lattice(4, 4, 3, 22.0, (20.0, 20.0, 20.0)), (12.0, 12.0, 12.0, 12.0))
BLUE, YELLOW, WOOD, TABLE, SKIN = (
    (150, 60, 30),
    (30, 190, 230),
    (140, 180, 205),
    (90, 95, 100),
    (120, 150, 215),
)
PAINT = {"B": BLUE, "Y": YELLOW}


def camera(clock: float, height: float) -> Camera:
    """A camera that looks at the board from an hour of the clock."""
    corners = np.array(
        [(x, y, z) for x in (-30, 118) for y in (-30, 118) for z in (0, 60)], dtype=float
    )
    lens = lens_of(SIZE, 1.0, (0.0, 0.0, 0.0, 0.0), (0.0, 0.0))
    return fitting_camera(lens, corners, np.array([44.0, 44.0, 10.0]), clock, height, 0.0, 0.75)


EYES = {"overhead": camera(6, 80), "side": camera(6, 40)}

COVERED = {"side": Covered(np.ones((9, 16), dtype=np.bool_), frozenset({Cell.parse("d4")}))}

NOISE = [
    np.random.default_rng(n).normal(0, 2, (SIZE[1], SIZE[0], 3)).astype(np.float32)
    for n in range(7)
]


@dataclass
class Eye:
    """As much of a reader's camera as a follower looks at."""

    camera: Camera
    empty: ImageBGR | None = None


@dataclass
class Told:
    """A reader that is told what it reads."""

    stacks: Stacks = field(default_factory=Stacks)
    unsure: dict[Cell, dict[str, float]] = field(default_factory=dict)
    calls: int = 0
    board: Board = BOARD
    cameras: dict[str, Eye] = field(default_factory=lambda: {n: Eye(c) for n, c in EYES.items()})
    letters: tuple[str, ...] = ("B", "Y")
    kit: tuple[KitPiece, ...] = ()
    covered: dict[str, Covered] = field(default_factory=dict)
    odds: dict[Stacks, float] = field(default_factory=dict)
    others: Iterator[Stacks] | None = None  # what is read instead, one after another
    finds: bool = False  # what it is given to begin from

    def read(
        self,
        images: Mapping[str, ImageBGR],
        *,
        last: Stacks | None = None,
        candidates: Sequence[Stacks] = (),
    ) -> Reading:
        self.calls += 1
        stacks = self.stacks if self.others is None else next(self.others)
        if self.finds and candidates:
            stacks = candidates[0]
        return Reading(stacks, self.unsure, covered=self.covered)

    def weigh(self, others: Sequence[Stacks]) -> list[float]:
        return [self.odds.get(other, 0.0) for other in others]


@pytest.fixture(autouse=True)
def nobody_bumps_a_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn tables are so plain that places are looked for, for seconds, and in vain."""
    monkeypatch.setattr(Remembered, "realigned", lambda *_, **__: None)


class Room:
    """A table that is drawn, a reader that is told, and the follower between them."""

    def __init__(self, *fine: Stacks, kit: tuple[KitPiece, ...] = ()) -> None:
        self.reader = Told(kit=kit)
        self.fine = fine
        self.follower = Follower(
            self.reader,  # type: ignore[arg-type]
            expected=lambda: self.fine,
            explains=self.fine.__contains__,
        )
        self.noise = itertools.cycle(NOISE)
        self.areas = {name: PlayArea.of(c, BOARD) for name, c in EYES.items()}
        self.t = 0.0
        self.stacks = Stacks()
        self.hand: float | None = None  # how far a hand reaches in, from 0 to 1
        self.quarters = 0  # around the table from the front, clockwise, to where the hand comes in
        self.person: float | None = None
        self.light = 1.0
        self.shadow = False
        self.gleam = False  # of another lamp on the board, and a little beside it
        self.sleeve = False  # as dark as a shadow on the table, and a hand like one on the board
        self.without: set[str] = set()

    def put(self, **cells: str) -> None:
        """What stands on the table from now on, and is read."""
        self.stacks = self.reader.stacks = Stacks.of(cells)

    def wait(self, seconds: float) -> list[Seen]:
        """Some frames of a table where only the noise moves."""
        told: list[Seen] = []
        for _ in range(round(seconds * FPS)):
            self.t += 1 / FPS
            frames = {n: Frame(self.picture(n), self.t, n) for n in EYES if n not in self.without}
            told += self.follower.see(self.t, frames)
        return told

    def picture(self, name: str) -> ImageBGR:
        """The drawn table as one camera sees it, with noise."""
        seen = EYES[name]
        image = np.full((SIZE[1], SIZE[0], 3), TABLE, dtype=np.uint8)
        if self.person is not None:
            x = int(self.person * SIZE[0])
            cv2.rectangle(image, (x, 0), (x + 90, 40), (40, 40, 160), -1)
        _plate(image, seen, -12, -12, 100, 100, WOOD)
        for cell, stack in sorted(self.stacks.items(), key=lambda entry: -entry[0].rank):
            for level, letter in enumerate(stack, 1):
                own = cv2.resize(
                    self.areas[name].units(cell, level, level).astype(np.uint8),
                    SIZE,
                    interpolation=cv2.INTER_NEAREST,
                )
                image[own > 0] = PAINT[letter]
        if self.hand is not None:
            far = -400 + self.hand * 460
            front, left = (20.0, -400.0, 55.0, far), (-400.0, 33.0, far, 68.0)
            back, right = (33.0, 88 - far, 68.0, 488.0), (88 - far, 20.0, 488.0, 55.0)
            x0, y0, x1, y1 = (front, left, back, right)[self.quarters]
            _plate(image, seen, x0, y0, x1, y1, SKIN, 30.0)
        if self.sleeve:
            _plate(image, seen, 45, -400, 75, 20, (64, 67, 71), 30.0)
            _plate(image, seen, 45, 20, 75, 60, (98, 126, 144), 30.0)
        if self.shadow:
            lit = np.full(image.shape, 255, dtype=np.uint8)
            _plate(lit, seen, 60, -400, 140, 40, (90, 90, 90))
            image = np.asarray(image * (lit / 255.0), dtype=np.uint8)
        if self.gleam:
            lit = np.full(image.shape, 200, dtype=np.uint8)
            _plate(lit, seen, -10, -10, 95, 95, (120, 200, 250))
            _plate(lit, seen, 40, -90, 52, -10, (120, 200, 250))
            image = np.asarray(np.minimum(image * (lit / 200.0), 255), dtype=np.uint8)
        noisy = image * self.light + next(self.noise)
        return np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)


def _plate(
    image: ImageBGR,
    seen: Camera,
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    colour: tuple[int, int, int],
    z: float = 0.0,
) -> None:
    corners = seen.project(np.array([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)]))
    if np.isfinite(corners).all():
        cv2.fillPoly(image, [np.round(corners).astype(np.int32)], colour)


def scenes(told: list[Seen]) -> list[dict[str, str]]:
    """The stacks of the scenes among what was told."""
    return [seen.stacks.to_json() for seen in told if isinstance(seen, Scene)]


def test_a_still_table_is_told_once() -> None:
    """What stands there is told as soon as it stands still, and not again and again."""
    room = Room(Stacks())

    assert scenes(room.wait(2.0)) == [{}]


def test_what_the_game_expects_is_told_within_a_fifth_of_a_second() -> None:
    """One reading is enough for a scene that a legal turn leads to."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")

    assert scenes(room.wait(0.2)) == [{"b2": "B"}]


def test_a_surprise_is_read_twice() -> None:
    """What no rule explains is told only if a second reading, begun from nothing, agrees."""
    room = Room(Stacks())
    room.wait(1.0)
    before = room.reader.calls
    room.put(c3="Y")

    assert scenes(room.wait(0.4)) == [{"c3": "Y"}]
    assert room.reader.calls == before + 2


def test_nothing_is_told_while_a_hand_moves_or_rests() -> None:
    """A hand that reaches in, even one that lies still, delays every verdict."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    told: list[Seen] = []
    for room.hand in (0.6, 0.8, 0.9, 1.0):
        told += room.wait(0.07)
    room.put(b2="B")
    told += room.wait(1.0)

    assert told == []
    room.hand = None
    assert scenes(room.wait(0.3)) == [{"b2": "B"}]


def test_nothing_is_read_while_a_hand_passes_over_an_unchanged_table() -> None:
    """A hand is told from pieces without reading, and what looks as before needs no reading."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    room.wait(1.0)
    before = room.reader.calls
    told: list[Seen] = []
    for room.hand in (0.9, 1.0, None):
        told += room.wait(0.7)

    assert room.reader.calls == before
    assert scenes(told)[-1] == {"b2": "B"}


def test_a_hand_that_stays_hides_its_cells_only() -> None:
    """After some seconds the rest of the board is told, with the cells under the hand as hidden."""
    room = Room(Stacks())
    room.wait(1.0)
    room.hand = 1.0
    told = room.wait(4.0)

    hidden = [seen.hidden for seen in told if isinstance(seen, Scene)]
    assert hidden
    assert Cell.parse("b1") in hidden[0]
    assert Cell.parse("d4") not in hidden[0]


def test_people_behind_the_table_never_delay() -> None:
    """Somebody who walks through the background is no reason to wait."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    told: list[Seen] = []
    for step in range(6):
        room.person = step / 8
        told += room.wait(0.07)

    assert scenes(told) == [{"b2": "B"}]


def test_another_exposure_is_no_hand() -> None:
    """A camera that changes its exposure by a fifth delays nothing for long."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.light = 0.8
    room.put(b2="B")

    assert scenes(room.wait(0.5)) == [{"b2": "B"}]


def test_another_lamp_is_no_hand() -> None:
    """Light that falls on the board from elsewhere delays nothing that is read beyond doubt."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.gleam = True
    room.put(b2="B")

    assert scenes(room.wait(0.8)) == [{"b2": "B"}]


def test_under_a_gleam_nothing_doubtful_is_told() -> None:
    """What no turn leads to may be a hand of which a gleam is all that is seen."""
    room = Room(Stacks())
    room.wait(1.0)
    room.gleam = True
    room.put(b2="B")

    assert scenes(room.wait(0.8)) == []


def test_cells_that_look_as_before_are_as_before() -> None:
    """A reading that changes a cell whose pictures have not changed is not believed."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    room.reader.stacks = Stacks.of({"b2": "B", "d4": "Y"})

    assert scenes(room.wait(0.5)) == [{"b2": "B"}]


def test_doubt_is_looked_at_again_before_it_is_told() -> None:
    """What may be fine and may be wrong is told after a second and a half, with its choices."""
    room = Room(Stacks(), Stacks.of({"c3": "B"}))
    room.wait(1.0)
    room.put(c3="Y")
    room.reader.unsure = {Cell.parse("c3"): {"Y": 0.92, "B": 0.08}}

    assert room.wait(1.2) == []
    told = [seen for seen in room.wait(1.0) if isinstance(seen, Scene)]
    assert told
    assert set(told[0].unsure) == {Cell.parse("c3")}


def doubtful_turn(choices: dict[str, float], *turns: Stacks) -> Room:
    """A blue cube has just come to c3, but these are the chances of what stands there."""
    room = Room(Stacks(), *turns)
    room.wait(1.0)
    room.put(c3="B")
    room.reader.unsure = {Cell.parse("c3"): choices}
    return room


def test_a_colour_that_nobody_sees_delays_no_turn() -> None:
    """The rules tell which it is, and another look would not."""
    room = doubtful_turn({"B": 0.5, "Y": 0.5}, Stacks.of({"c3": "B"}))

    told = [seen for seen in room.wait(0.2) if isinstance(seen, Scene)]

    assert [set(scene.unsure) for scene in told] == [{Cell.parse("c3")}]


def test_how_much_has_come_is_looked_at_again() -> None:
    """Another look may tell, and it would be another turn."""
    room = doubtful_turn({"B": 0.55, "BB": 0.45}, Stacks.of({"c3": "B"}))

    assert room.wait(1.2) == []


def test_a_colour_that_nobody_sees_is_looked_at_again_where_either_is_fine() -> None:
    """Which turn it is depends on it."""
    turns = Stacks.of({"c3": "B"}), Stacks.of({"c3": "Y"})
    room = doubtful_turn({"B": 0.5, "Y": 0.5}, *turns)

    assert room.wait(1.2) == []
    assert scenes(room.wait(1.0))[:1] == [{"c3": "B"}]


@pytest.mark.parametrize(
    ("chance", "other", "soon"),
    [(0.55, "d3", True), (0.4, "d3", False), (0.55, "b2", False)],
    ids=["likeliest", "likely gone", "also a turn"],
)
def test_what_stands_as_it_did_behind_a_turn_delays_it_only_where_that_matters(
    chance: float, other: str, soon: bool
) -> None:
    """What nobody sees well any more is told as doubtful with the turn that hides it."""
    turns = Stacks.of({"d4": "B", "b2": "Y"}), Stacks.of({other: "Y"})
    room = Room(Stacks(), Stacks.of({"d4": "B"}), *turns)
    room.put(d4="B")
    room.wait(1.0)
    room.put(d4="B", b2="Y")
    room.stacks = Stacks.of({"d4": "Y", "b2": "Y"})  # it looks otherwise there
    room.reader.unsure = {Cell.parse("d4"): {"B": chance, "": 1 - chance}}

    told = [seen for seen in room.wait(0.2) if isinstance(seen, Scene)]

    assert [set(scene.unsure) for scene in told] == ([{Cell.parse("d4")}] if soon else [])


def test_doubt_that_cannot_make_it_fine_is_told_sooner() -> None:
    """Three readings agree that something is wrong, whatever the unsure cell may be."""
    room = Room(Stacks())
    room.wait(1.0)
    room.put(c3="Y")
    room.reader.unsure = {Cell.parse("c3"): {"Y": 0.6, "B": 0.4}}

    told = [seen for seen in room.wait(0.8) if isinstance(seen, Scene)]
    assert [set(scene.unsure) for scene in told] == [{Cell.parse("c3")}]


def test_readings_that_disagree_are_not_believed_soon() -> None:
    """Something that no rule explains, read in two ways by turns, is looked at for longer."""
    room = Room(Stacks())
    room.wait(1.0)
    room.put(c3="Y")
    room.reader.others = itertools.cycle([Stacks.of({"c3": "Y"}), Stacks.of({"c3": "B"})])

    assert room.wait(2.5) == []
    assert len(scenes(room.wait(1.5))) == 1


def test_a_hand_that_only_the_reader_notices_delays_too() -> None:
    """Where a shadow reaches over the board and the reader speaks of a hand, it is waited for."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    room.shadow = True
    room.reader.covered = COVERED
    assert scenes(room.wait(1.0)) == []
    room.shadow = False
    room.reader.covered = {}

    assert scenes(room.wait(0.5)) == [{"b2": "B"}]


def test_a_start_position_waits_for_nothing_that_looks_covered() -> None:
    """Before anything was understood nobody knows hands from the board; the start is the start."""
    room = Room(Stacks())
    room.reader.covered = COVERED

    assert scenes(room.wait(0.5)) == [{}]


def test_where_nobody_reaches_in_nothing_is_covered() -> None:
    """An odd piece that the reader takes for a hand delays nothing where no hand has come."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    room.reader.covered = COVERED

    told = [seen for seen in room.wait(0.3) if isinstance(seen, Scene)]
    assert [(scene.stacks.to_json(), scene.hidden) for scene in told] == [
        ({"b2": "B"}, frozenset())
    ]


def test_what_covers_no_cell_is_not_read_around() -> None:
    """Something at the rim hides nothing: the reading is whole, and a second one tells no more."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.reader.covered = {"side": Covered(COVERED["side"].mask, frozenset())}
    room.put(b2="B")
    before = room.reader.calls

    assert scenes(room.wait(0.6)) == [{"b2": "B"}]
    assert room.reader.calls == before + 1


@pytest.mark.parametrize(
    ("where", "more"),
    [("a1", 1), ("d4", 2)],
    ids=["nothing-has-come", "something-has-come"],
)
def test_an_odd_thing_that_was_there_before_is_not_read_again(where: str, more: int) -> None:
    """What the reader takes for a hand, and what looks as before, hides what was known there."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of({where: "Y", "b2": "B"}))
    room.wait(1.0)
    room.put(b2="B")
    room.wait(0.6)
    room.reader.covered = COVERED
    room.put(**{where: "Y", "b2": "B"})
    before = room.reader.calls

    assert scenes(room.wait(0.3)) == [{where: "Y", "b2": "B"}]
    assert room.reader.calls == before + more


def test_much_that_changes_at_once_is_looked_at_for_longer() -> None:
    """No turn puts down five cubes: something may be in the way that goes in a moment."""
    room = Room(Stacks())
    room.wait(1.0)
    room.put(a1="B", b1="BBY", c2="Y")

    assert scenes(room.wait(1.0)) == []
    assert scenes(room.wait(0.4)) == [{"a1": "B", "b1": "BBY", "c2": "Y"}]


def test_much_that_changes_at_once_and_is_doubtful_is_looked_at_for_longest() -> None:
    """What goes in a moment is hardly read without any doubt three times in a row."""
    room = Room(Stacks())
    room.wait(1.0)
    room.put(a1="B", b1="BBY", c2="Y")
    room.reader.unsure = {Cell.parse("c2"): {"Y": 0.9, "B": 0.1}}

    assert scenes(room.wait(1.5)) == []
    assert scenes(room.wait(0.5)) == [{"a1": "B", "b1": "BBY", "c2": "Y"}]


def test_a_piece_behind_a_new_one_is_as_it_was() -> None:
    """What new pieces hide looks changed because of them; it has not gone for that."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of({"b2": "B", "b1": "YYY"}))
    room.without = {"overhead"}
    room.put(b2="B")
    room.wait(1.0)
    room.put(b2="B", b1="YYY")
    room.reader.stacks = Stacks.of({"b1": "YYY"})

    assert scenes(room.wait(0.4)) == [{"b1": "YYY", "b2": "B"}]


def test_a_shadow_in_the_last_scene_is_no_hand_when_it_goes() -> None:
    """A scene is told while an arm's shadow lies beside the board; the next one is not delayed."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of({"b2": "B", "c3": "Y"}))
    room.wait(1.0)
    room.shadow = True
    room.put(b2="B")
    assert scenes(room.wait(0.3)) == [{"b2": "B"}]
    room.shadow = False
    room.put(b2="B", c3="Y")

    assert {"b2": "B", "c3": "Y"} in scenes(room.wait(0.5))


def test_one_camera_is_enough_when_the_other_is_gone() -> None:
    """A camera that sends nothing is left out; the other goes on."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    room.without = {"side"}
    room.wait(1.0)
    room.put(b2="B")

    assert scenes(room.wait(0.5)) == [{"b2": "B"}]


def test_what_came_while_a_camera_was_not_asked_is_seen_with_the_next_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was bumped when a piece came that the other one cannot see; that it then shows it is new."""
    whole = {"b2": "B", "d4": "Y", "c3": "B"}
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of(whole))
    room.wait(1.0)
    picture, fresh = room.picture, Whereabouts.fresh

    def without_d4(name: str) -> ImageBGR:
        there = room.stacks
        room.stacks = there.with_stack(Cell.parse("d4"), "") if name == "side" else there
        image = picture(name)
        room.stacks = there
        return image

    monkeypatch.setattr(room, "picture", without_d4)
    with monkeypatch.context() as bumped:
        bumped.setattr(
            Whereabouts,
            "fresh",
            lambda self, t: {n: c for n, c in fresh(self, t).items() if n != "overhead"},
        )
        room.put(b2="B", d4="Y")
        room.reader.stacks = Stacks.of({"b2": "B"})
        assert scenes(room.wait(0.5)) == [{"b2": "B"}]

    room.put(**whole)
    assert scenes(room.wait(0.5)) == [whole]


def test_the_same_frames_give_the_same_scenes() -> None:
    """Two followers of the same recording agree in every number."""

    def run() -> list[tuple[float, dict[str, str]]]:
        room = Room(Stacks(), Stacks.of({"b2": "B"}))
        told = room.wait(1.0)
        room.put(b2="B")
        told += room.wait(1.0)
        return [(seen.t, seen.stacks.to_json()) for seen in told if isinstance(seen, Scene)]

    assert run() == run()


def test_a_camera_that_sends_other_shapes_is_told_once_and_left_out() -> None:
    """Half the size is enlarged again; another shape cannot be read, and the others go on."""
    room = Room(Stacks())
    told: list[Seen] = []
    for _ in range(10):
        room.t += 1 / FPS
        half = np.ascontiguousarray(room.picture("overhead")[::2, ::2])
        square = np.ascontiguousarray(room.picture("side")[:, :360])
        frames = {"overhead": half, "side": square}
        told += room.follower.see(room.t, {n: Frame(i, room.t, n) for n, i in frames.items()})

    notes = [(note.camera, note.state) for note in told if isinstance(note, CameraNote)]
    assert notes == [("side", "resized")]
    assert scenes(told) == [{}]


def test_noise_and_darkness_are_no_position() -> None:
    """Frames of noise move, and total darkness is told; neither brings a scene."""
    room = Room(Stacks())
    rng = np.random.default_rng(3)
    told: list[Seen] = []
    for number in range(60):
        room.t += 1 / FPS
        image = rng.integers(0, 255, (SIZE[1], SIZE[0], 3), dtype=np.uint8) if number < 20 else None
        black = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
        frame = black if image is None else image
        told += room.follower.see(room.t, {n: Frame(frame, room.t, n) for n in EYES})

    states = {note.state for note in told if isinstance(note, CameraNote)}
    assert "dark" in states


def test_pictures_of_two_sizes_by_turns_are_told_once() -> None:
    """Every other picture has another shape; the others are followed."""
    room = Room(Stacks())
    told: list[Seen] = []
    for number in range(45):
        room.t += 1 / FPS
        frames = {n: Frame(room.picture(n), room.t, n) for n in EYES}
        if number % 2:
            frames["side"] = Frame(np.zeros((300, 300, 3), dtype=np.uint8), room.t, "side")
        told += room.follower.see(room.t, frames)

    notes = [(seen.camera, seen.state) for seen in told if isinstance(seen, CameraNote)]
    assert notes == [("side", "resized")]
    assert scenes(told) == [{}]


def test_the_delay_between_cameras_is_measured() -> None:
    """The side camera shows everything a fifth of a second late."""
    room = Room()
    late: list[ImageBGR] = []
    for number in range(180):
        room.t += 1 / FPS
        room.hand = 0.6 + 0.05 * (number % 6) if number % 24 < 8 else None
        late.append(room.picture("side"))
        frames = {"overhead": Frame(room.picture("overhead"), room.t, "overhead")}
        frames["side"] = Frame(late[max(0, number - 3)], room.t, "side")
        room.follower.see(room.t, frames)

    assert room.follower.lags() == {"overhead": 0.0, "side": pytest.approx(0.2, abs=0.04)}


def test_a_start_that_the_doubt_allows_is_the_start() -> None:
    """Nothing stands in a doubtful place by mistake before anybody has moved."""
    room = Room(Stacks.of({"b2": "B"}))
    room.put(b2="BB")
    room.reader.unsure = {Cell.parse("b2"): {"BB": 0.7, "B": 0.3}}

    assert scenes(room.wait(1.0)) == [{"b2": "B"}]


def test_doubt_in_which_a_legal_turn_lies_is_that_turn() -> None:
    """What surprises is told as the game allows it, where the pictures do not say otherwise."""
    legal = Stacks.of({"b2": "B"})
    room = Room(Stacks(), legal)
    room.wait(0.5)
    room.put(b2="B", c3="Y")
    room.reader.stacks = Stacks.of({"b2": "B", "c3": "Y"})
    room.reader.unsure = {Cell.parse("c3"): {"Y": 0.6, "": 0.4}}
    assert scenes(room.wait(2.0)) == [{"b2": "B"}]


def test_a_turn_misread_in_many_cells_at_once_is_that_turn() -> None:
    """Whole pieces are misread in all their cells; the game's own turn there is weighed."""
    turn = dict.fromkeys(("a1", "b1", "c1"), "Y")
    room = Room(Stacks(), Stacks.of(turn))
    room.wait(1.0)
    room.put(a1="B", b1="B", c1="B")
    room.reader.odds = {Stacks.of(turn): 0.6}

    assert scenes(room.wait(1.0)) == [turn]


def test_a_whole_turn_is_believed_although_a_part_of_it_looks_as_before() -> None:
    """Nothing seems to have changed on c1; but what was read is a turn with c1 only."""
    turn = dict.fromkeys(("a1", "b1", "c1"), "Y")
    room = Room(Stacks(), Stacks.of(turn))
    room.wait(1.0)
    room.put(a1="Y", b1="Y")
    room.reader.stacks = Stacks.of(turn)

    assert scenes(room.wait(0.3)) == [turn]


def test_what_is_hardly_doubted_stays_a_surprise() -> None:
    """No legal turn is made up where the pictures say clearly that something else stands there."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(0.5)
    room.put(b2="B", c3="Y")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.9, "Y": 0.1}}
    told = scenes(room.wait(2.0))
    assert told
    assert all(scene == {"b2": "B", "c3": "Y"} for scene in told)


def test_what_was_doubted_before_is_told_with_the_next_scene() -> None:
    """Who judges a scene learns what may have been misread before it, and only that."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.reader.unsure = {Cell.parse("a1"): {"": 0.8, "Y": 0.2}}
    room.wait(2.5)
    room.reader.unsure = {}
    room.put(b2="B")
    found = [seen for seen in room.wait(0.5) if isinstance(seen, Scene)]
    assert found[-1].doubted == {Cell.parse("a1"): {"": 0.8, "Y": 0.2}}


def test_what_is_doubted_while_a_hand_pauses_corrects_nothing_before() -> None:
    """A piece that was read under way did not stand there before anybody came."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="B")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.6, "": 0.4}}
    assert room.wait(0.6) == []
    room.hand = 1.0
    room.wait(0.3)
    room.hand = None
    room.reader.unsure = {}

    found = [seen for seen in room.wait(0.5) if isinstance(seen, Scene)]
    assert [dict(seen.doubted) for seen in found] == [{}]


def test_doubt_that_was_told_lasts_while_nothing_changes() -> None:
    """A cell that looks as it did when it was doubtful is no surer for being told again."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="B")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.6, "Y": 0.4}}
    found = [seen for seen in room.wait(5.0) if isinstance(seen, Scene)]

    assert found
    assert all(Cell.parse("b2") in seen.unsure for seen in found)


def test_doubt_ends_where_people_say_what_stands_there() -> None:
    """A cell that looks as before stays what people said, although it was read otherwise."""
    room = Room(Stacks(), Stacks.of({"b2": "Y", "d4": "Y"}))
    room.wait(0.5)
    room.put(b2="B")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.6, "Y": 0.4}}
    room.wait(5.0)
    room.follower.believe(Stacks.of({"b2": "Y"}))
    room.reader.unsure = {}
    room.put(b2="B", d4="Y")

    assert scenes(room.wait(1.0)) == [{"b2": "Y", "d4": "Y"}]


def test_doubt_about_units_that_nobody_saw_ends_with_what_is_seen() -> None:
    """Of two stacks that were doubted, the one that is read surely is told, not the other one."""
    room = Room(Stacks(), Stacks.of({"b2": "?B", "d4": "Y"}))
    room.wait(0.5)
    room.put(b2="YB")
    room.reader.stacks = Stacks.of({"b2": "?B"})
    room.reader.unsure = {Cell.parse("b2"): {"?B": 0.6, "Y": 0.4}}
    room.wait(3.0)
    assert room.follower.believed == Stacks.of({"b2": "?B"})
    room.reader.unsure = {}
    room.put(b2="YB", d4="Y")
    room.reader.stacks = Stacks.of({"b2": "Y", "d4": "Y"})

    assert scenes(room.wait(2.0)) == [{"b2": "Y", "d4": "Y"}]


def test_what_a_hand_hides_ends_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read under a hand is the hand, also where it could have stood there."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(d4="B")
    room.reader.unsure = {Cell.parse("d4"): {"B": 0.6, "Y": 0.4}}
    room.wait(5.0)
    _hand_over(monkeypatch, but_for_pieces=False)
    room.reader.unsure = {}
    room.put(b2="B", d4="B")
    room.reader.stacks = Stacks.of({"b2": "B", "d4": "Y"})

    told = scenes(room.wait(3.0))
    assert told
    assert all(scene["d4"] == "B" for scene in told)


def test_old_doubt_delays_no_new_turn() -> None:
    """What was told as doubtful elsewhere is known to be so; the turn is told after one reading."""
    later = Stacks.of({"b2": "B", "d4": "Y"})
    room = Room(Stacks(), Stacks.of({"b2": "B"}), later)
    room.wait(0.5)
    room.put(b2="B")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.55, "Y": 0.45}}
    room.wait(5.0)
    room.put(b2="B", d4="Y")
    before = room.reader.calls

    assert scenes(room.wait(1.0)) == [later.to_json()]
    assert room.reader.calls == before + 1


def test_old_doubt_delays_no_surprise() -> None:
    """A breach elsewhere is told after two readings: to wait longer clears no doubt that is old."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of({"b2": "Y", "d4": "Y"}))
    room.wait(0.5)
    room.put(b2="B")
    room.reader.unsure = {Cell.parse("b2"): {"B": 0.55, "Y": 0.45}}
    room.wait(5.0)
    room.put(b2="B", d4="Y")

    assert [scene["d4"] for scene in scenes(room.wait(0.6))] == ["Y"]


def test_a_turn_with_something_besides_is_only_the_turn_where_that_may_be() -> None:
    """A piece lost from sight behind new ones is rather there than taken away at the same time."""
    first, both = Stacks.of({"b3": "B"}), Stacks.of({"b3": "B", "b2": "Y"})
    room = Room(Stacks(), first, both)
    room.wait(0.5)
    room.put(b3="B")
    room.wait(0.5)
    room.put(b2="Y")
    room.reader.odds = {both: 0.1}

    assert scenes(room.wait(1.0)) == [both.to_json()]


def test_what_stood_under_a_piece_that_was_not_there_still_stands() -> None:
    """A hand was read as a piece; when it goes, what it was said to lie on does not go with it."""
    first, mistaken = Stacks.of({"b2": "B"}), Stacks.of({"b2": "BY"})
    turn = Stacks.of({"b2": "B", "c3": "Y"})
    room = Room(Stacks(), first, mistaken, turn)
    room.wait(0.5)
    for stacks in (first, mistaken):
        room.put(**stacks.to_json())
        room.wait(0.5)
    room.put(b2="", c3="Y")
    room.reader.odds = {turn: 0.025}

    assert scenes(room.wait(1.0)) == [turn.to_json()]


def _hand_over(monkeypatch: pytest.MonkeyPatch, *, but_for_pieces: bool) -> None:
    """Something that looks like a hand over d4, seen from above; it may be new pieces."""

    def under_hand(_: WatchedCamera, stacks: Stacks, moved: Sequence[Unit] = ()) -> frozenset[Cell]:
        return frozenset() if moved and but_for_pieces else frozenset({Cell.parse("d4")})

    monkeypatch.setattr(WatchedCamera, "under_hand", under_hand)
    monkeypatch.setattr(WatchedCamera, "unchanged", lambda _: False)


def test_a_tall_piece_at_the_rim_is_no_hand_whatever_is_doubtful_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Doubt about a cell that looks as before says nothing about the piece that has come."""
    room = Room(Stacks(), Stacks.of({"d4": "B"}))
    room.wait(1.0)
    _hand_over(monkeypatch, but_for_pieces=True)
    room.put(d4="B")
    room.reader.unsure = {Cell.parse("a1"): {"": 0.8, "Y": 0.2}}

    assert scenes(room.wait(0.3)) == [{"d4": "B"}]


@pytest.mark.parametrize(
    ("arm", "told"), [(False, [{"d4": "B"}]), (True, [])], ids=["pieces-only", "an-arm"]
)
def test_a_surprise_at_the_rim_is_no_hand_where_pieces_explain_all(
    monkeypatch: pytest.MonkeyPatch, arm: bool, told: list[dict[str, str]]
) -> None:
    """A breach is told at once though it looks like a hand, unless an arm lies where none fits."""
    room = Room(Stacks())
    room.wait(1.0)
    _hand_over(monkeypatch, but_for_pieces=True)
    monkeypatch.setattr(WatchedCamera, "arm", lambda _: arm)
    room.put(d4="B")

    assert scenes(room.wait(0.6)) == told


@pytest.mark.parametrize(
    ("quarters", "hour"), [(0, 6.0), (1, 9.0), (2, 0.0), (3, 3.0)], ids=["6", "9", "12", "3"]
)
def test_hands_are_told_by_the_side_they_come_from(quarters: int, hour: float) -> None:
    """A hand that has put something down came from there; without a hand there is no side."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}), Stacks.of({"b2": "BB"}))
    room.wait(1.0)
    room.quarters = quarters
    for room.hand in (0.6, 0.8, 0.9, 1.0, 0.9, 0.7):
        room.wait(0.14)
    room.put(b2="B")
    room.hand = None
    first = [seen for seen in room.wait(0.5) if isinstance(seen, Scene)]
    room.put(b2="BB")
    second = [seen for seen in room.wait(0.5) if isinstance(seen, Scene)]

    assert first[-1].hand_clock is not None
    assert abs((first[-1].hand_clock - hour + 6) % 12 - 6) < 1.0
    assert second[-1].hand_clock is None


def test_nothing_is_read_again_while_a_hand_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be read beside it is as it was, until it is told or the hand moves."""
    room = Room(Stacks())
    room.wait(1.0)
    _hand_over(monkeypatch, but_for_pieces=False)
    room.put(b2="B")
    before = room.reader.calls
    room.wait(2.3)

    assert room.reader.calls == before + 1
    assert scenes(room.wait(2.0)) == [{"b2": "B"}]


def test_a_surprise_waits_while_something_else_has_come_over_the_board() -> None:
    """A hand of the table's own colours looks like a shadow; but it may hide what stands there."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="B")
    room.sleeve = True
    assert room.wait(1.0) == []
    room.sleeve = False
    assert scenes(room.wait(0.5)) == [{"b2": "B"}]


def test_pauses_while_a_board_is_turned_are_no_ends() -> None:
    """Three parts of a quarter are one; a board that is laid back was not turned."""
    parts = Turned(1.0, 40.0, 0).further(Turned(1.5, 30.0, 0)).further(Turned(2.0, 20.0, 0))
    assert (parts.t, parts.degrees, parts.quarters) == (2.0, 90.0, 1)
    assert parts.further(Turned(3.0, -90.0, 3)).whole


def test_a_turn_that_the_search_did_not_come_upon_is_read_with_it() -> None:
    """What the game expects and explains the pictures better is where reading begins again."""
    turn = Stacks.of({"b2": "B"})
    room = Room(Stacks(), turn)
    room.wait(1.0)
    room.put(b2="B")
    room.reader.stacks = Stacks()
    room.reader.odds = {turn: 9.0}
    room.reader.finds = True

    assert scenes(room.wait(0.3)) == [{"b2": "B"}]


def test_a_game_that_expects_everything_is_not_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free building on a large board: thousands of scenes would be weighed at every reading."""
    weighed: list[int] = []

    def weigh(others: Sequence[Stacks]) -> list[float]:
        weighed.append(len(others))
        return [0.0] * len(others)

    turns = [Stacks.of({"a1": "B" * (n // 40 + 1), "b1": "Y" * (n % 40 + 1)}) for n in range(1200)]
    room = Room(Stacks())
    room.follower._expected = lambda: turns
    monkeypatch.setattr(room.reader, "weigh", weigh)
    room.wait(1.0)
    before = room.reader.calls
    room.put(b2="B")
    room.reader.stacks = Stacks()
    room.wait(0.5)

    assert room.reader.calls > before
    assert 1200 not in weighed


def test_a_turn_that_was_not_seen_when_it_was_made_is_found_with_the_next() -> None:
    """A surprise that is a turn after another one, which may stand there, is both of them."""
    missed, both = Stacks.of({"b2": "B"}), Stacks.of({"b2": "B", "d4": "Y"})
    room = Room(Stacks(), missed, both)
    room.follower._expected = lambda: (missed,)
    room.wait(1.0)
    room.put(d4="Y")
    room.reader.odds = {both: 0.8}

    assert scenes(room.wait(1.0)) == [both.to_json()]


def test_a_unit_that_nobody_sees_may_have_the_colour_that_makes_a_turn() -> None:
    """Doubt between nothing and a block of which one half is hidden is settled by the game."""
    legal = Stacks.of({"b2": "YY", "d4": "B"})
    room = Room(Stacks(), legal)
    room.wait(0.5)
    room.put(d4="B")
    room.reader.unsure = {Cell.parse("b2"): {"?Y": 0.7, "": 0.3}}

    assert scenes(room.wait(2.5))[-1] == legal.to_json()


def test_doubt_about_one_cell_is_tried_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tall stack that nobody sees has hundreds of spellings: no pairs of them are looked at."""
    counts: list[int] = []

    def tried(ranked: Sequence[object], count: int) -> Iterator[tuple[object, ...]]:
        counts.append(count)
        return itertools.combinations(ranked, count)

    monkeypatch.setattr("vision.reconciling.combinations", tried)
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="BBB", d4="Y")
    room.reader.unsure = {Cell.parse("b2"): {"BBB": 0.4, "???": 0.4, "??": 0.2}}
    room.wait(2.5)

    assert {*counts} == {1}


def test_what_surprises_anyway_is_told_with_as_little_as_possible() -> None:
    """Where a cell may be as it was, nothing more is said to have changed on it."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="B", c3="Y")
    room.reader.unsure = {Cell.parse("c3"): {"Y": 0.6, "": 0.4}}

    assert scenes(room.wait(2.5))[-1] == {"b2": "B"}


def test_a_whole_piece_on_others_is_told_where_it_explains_more() -> None:
    """The reader looks for such pieces on the board only, and makes several of one."""
    beam = KitPiece(Shape("beam", (Extent(2, 1, 1),)), "B", 9)
    floor = Stacks.of({"b2": "B", "c2": "B"})
    stacked = Stacks.of({"b2": "BB", "c2": "BB"})
    room = Room(Stacks(), floor, kit=(beam,))
    room.wait(0.5)
    room.put(b2="B", c2="B")
    room.wait(0.5)
    room.put(b2="BB", c2="BB")
    room.reader.stacks = Stacks.of({"b2": "BBB", "c2": "Y"})
    room.reader.unsure = {Cell.parse("c2"): {"Y": 0.6, "YY": 0.4}}
    room.reader.odds = {stacked: 50.0}

    found = [seen for seen in room.wait(2.5) if isinstance(seen, Scene)][-1]
    assert found.stacks == stacked
    assert all(found.stacks.get(cell, "") in choices for cell, choices in found.unsure.items())


def test_half_a_block_is_not_taken_away() -> None:
    """That part of a block has gone is so rare that the turn beside it is taken for all of it."""
    flat, upright = Extent(2, 1, 1), Extent(1, 1, 2)
    block = KitPiece(Shape("block", (flat, upright)), "B", 9)
    lying = {"a1": "B", "b1": "B"}
    turn = {**lying, "c1": "BB"}
    room = Room(Stacks(), Stacks.of(lying), Stacks.of(turn), kit=(block,))
    room.wait(0.5)
    room.put(**lying)
    room.wait(0.5)
    room.put(c1="BB")
    room.reader.stacks = Stacks.of({"b1": "B", "c1": "BB"})
    room.reader.odds = {Stacks.of(turn): 0.002}

    assert scenes(room.wait(3.0)) == [turn]


def test_a_turn_of_which_nobody_sees_one_colour_is_told_at_once() -> None:
    """A unit under another may have any colour: the game's own turn is expected all the same."""
    seen = Stacks.of({"b2": "?B"})
    room = Room(Stacks(), Stacks.of({"b2": "YB"}))
    room.follower._explains = (*room.fine, seen).__contains__
    room.wait(0.5)
    room.put(b2="YB")
    room.reader.stacks = seen
    before = room.reader.calls

    assert scenes(room.wait(0.5)) == [{"b2": "?B"}]
    assert room.reader.calls == before + 1


def test_readings_that_differ_in_what_nobody_sees_agree() -> None:
    """One search guesses a colour under others, the next one does not: both mean one scene."""
    room = Room(Stacks())
    room.wait(0.5)
    room.put(b2="YB")
    room.reader.others = itertools.cycle([Stacks.of({"b2": "?B"}), Stacks.of({"b2": "YB"})])

    assert scenes(room.wait(1.0))


def test_the_rest_of_a_turn_that_may_be_out_of_sight_is_doubted() -> None:
    """Part of a turn is seen; what is missing may be there, and is told with the next scene."""
    part, whole = Stacks.of({"b2": "B"}), Stacks.of({"b2": "B", "b3": "B"})
    room = Room(Stacks(), part)
    room.follower._expected = lambda: (whole,)
    room.wait(0.5)
    room.put(b2="B")
    room.reader.odds = {whole: 0.25}
    room.wait(0.5)
    room.put(b2="B", d4="Y")

    found = [seen for seen in room.wait(1.0) if isinstance(seen, Scene)]
    assert found[-1].doubted == {Cell.parse("b3"): {"B": pytest.approx(0.2)}}


def test_what_cannot_be_told_yet_is_seldom_read_again() -> None:
    """More than a turn moves waits in any case: until then nothing is read anew each moment."""
    room = Room(Stacks())
    room.wait(1.0)
    room.put(a1="B", b1="BBY", c2="Y")
    before = room.reader.calls
    room.wait(0.6)

    assert room.reader.calls == before + 1


def test_what_pieces_explain_is_no_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece and its shadow at the rim look like a hand to the reader, and are told soon."""
    room = Room(Stacks(), Stacks.of({"b2": "B"}))
    room.wait(1.0)
    monkeypatch.setattr(WatchedCamera, "reached", lambda _: True)
    monkeypatch.setattr(WatchedCamera, "unexplained", lambda _, moved: 0.0 if moved else 9.0)
    room.put(b2="B")
    room.reader.covered = COVERED

    assert scenes(room.wait(1.2)) == [{"b2": "B"}]


@pytest.mark.parametrize(
    ("seconds", "told"), [(1.3, []), (2.2, [{"c2": "B"}])], ids=["soon", "after-three-readings"]
)
def test_what_rests_beside_a_breach_is_a_hand_for_a_while(
    monkeypatch: pytest.MonkeyPatch, seconds: float, told: list[dict[str, str]]
) -> None:
    """A surprise with more than pieces over the board waits, but not while all readings agree."""
    room = Room(Stacks())
    room.wait(1.0)
    monkeypatch.setattr(WatchedCamera, "unexplained", lambda *_: 9.0)
    room.put(c2="B")

    assert scenes(room.wait(seconds)) == told
