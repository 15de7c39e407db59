"""A felt that is turned and shifted during play, and cameras that are bumped or swapped."""

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from calibration.colour import FACES, CameraColours, light_terms
from rules.events import Event
from rules.registry import find_game
from rules.stacks import Stacks
from service.pipeline import Pipeline
from service.virtual_follower import virtual_reader
from tests.service.virtual_tables import virtual_table
from vision.frame import Frame
from vision.pairing import moments
from vision.turning import Pose, Turning, turned_colours
from vision.virtual.live import VirtualTable

TURRIS = """game = turris
players = L D

@ scene seed=9
L +c1~c2L
@ turn-board 95 20 -15
D +c3^D
"""
KWINTY = """game = kwinty
players = L D

@ scene seed=5 rig=two
L +h1~i1L
D +g1^D
@ bump overhead 10
L +f1^L
"""
KEWBZ = """game = kewbz
players = B Y

@ scene seed=5
B +d4B
@ bump overhead 0.7
Y +d5Y
"""


def pipeline_of(table: VirtualTable, game: str) -> Pipeline:
    """A pipeline as `kiebitz watch` makes it."""
    cv2.setNumThreads(1)
    return Pipeline(virtual_reader(table), find_game(game).set_up())


def followed(table: VirtualTable, game: str) -> list[Event]:
    """Everything that is told of a play."""
    pipeline = pipeline_of(table, game)
    return [
        event for t, frames in moments(table.sources.values()) for event in pipeline.see(t, frames)
    ]


def moves(events: list[Event]) -> Iterator[tuple[str, bool]]:
    """The turns as they were told first."""
    seen = set()
    for event in events:
        if event.event == "turn" and event.data["n"] not in seen:
            seen.add(event.data["n"])
            yield event.data["move"], event.data["legal"]


@pytest.mark.slow
def test_a_turned_felt_keeps_its_cells() -> None:
    """The turn of the felt is told by its angle, and the next block stands where the players mean."""
    told = followed(virtual_table(TURRIS), "turris")

    turned = [event for event in told if event.event == "turned"]
    assert len(turned) == 1
    assert turned[0].data["degrees"] == pytest.approx(95, abs=3)
    assert turned[0].data["quarters"] == 1
    assert list(moves(told)) == [("+c1~c2L", True), ("+c3^D", True)]


@pytest.mark.slow
def test_a_large_piece_on_a_small_felt_is_no_turning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of nine cells look new, but the felt's outline lies where it lay: nobody looks for it."""
    looked: list[Pose | None] = []
    monkeypatch.setattr(Turning, "fit", lambda *_: looked.append(None))
    told = followed(virtual_table(TURRIS.partition("@ turn-board")[0]), "turris")

    assert list(moves(told)) == [("+c1~c2L", True)]
    assert looked == []


def test_a_felt_of_the_tables_colour_lies_still_when_the_exposure_changes() -> None:
    """A hand in the picture makes all of it darker by more than felt and table differ."""
    table = virtual_table("game = turris\nplayers = L D\n\n@ scene seed=7101\n")
    turning = Turning(table.scene.kind.board, table.scene.cameras)
    empty = table.studio.empty()
    turning.remember(empty, Stacks())
    darker = {name: np.asarray(image * 0.8, dtype=np.uint8) for name, image in empty.items()}

    assert turning.lies(darker)
    assert turning.fit(darker) is None


@pytest.mark.slow
def test_a_bumped_camera_is_told_and_put_right() -> None:
    """Nothing is judged by the camera's old place, and the game goes on."""
    told = followed(virtual_table(KEWBZ), "kewbz")

    states = [(e.data["camera"], e.data["state"]) for e in told if e.event == "camera"]
    assert states == [("overhead", "moved"), ("overhead", "realigned")]
    assert list(moves(told)) == [("+d4B", True), ("+d5Y", True)]


@pytest.mark.slow
def test_a_camera_that_was_knocked_by_ten_degrees_is_put_right() -> None:
    """Far more than can be followed from picture to picture, on a board whose cells look alike."""
    told = followed(virtual_table(KWINTY), "kwinty")

    states = [(e.data["camera"], e.data["state"]) for e in told if e.event == "camera"]
    assert states == [("overhead", "moved"), ("overhead", "realigned")]
    assert list(moves(told)) == [("+h1~i1L", True), ("+g1^D", True), ("+f1^L", True)]


@pytest.mark.slow
def test_a_camera_that_was_knocked_too_far_is_told_and_left_out() -> None:
    """It cannot be found again; the other camera follows the game alone."""
    told = followed(virtual_table(KEWBZ.replace("overhead 0.7", "overhead 30")), "kewbz")

    states = [(e.data["camera"], e.data["state"]) for e in told if e.event == "camera"]
    assert states == [("overhead", "moved")]
    assert list(moves(told)) == [("+d4B", True), ("+d5Y", True)]


@pytest.mark.slow
def test_swapped_cameras_are_noticed_and_give_no_verdict() -> None:
    """Each shows what the other was calibrated for; nothing is told but that."""
    table = virtual_table(KEWBZ)
    pipeline = pipeline_of(table, "kewbz")
    other = {"overhead": "side", "side": "overhead"}
    told: list[Event] = []
    for t, frames in moments(table.sources.values()):
        if t > 3:
            break
        swapped = {other[n]: Frame(f.image, f.seconds, other[n]) for n, f in frames.items()}
        told += pipeline.see(t, swapped)

    assert {e.event for e in told} == {"camera"}
    assert {(e.data["camera"], e.data["state"]) for e in told} == {
        ("overhead", "swapped"),
        ("side", "swapped"),
    }


@pytest.mark.slow
def test_the_calibration_of_another_table_is_noticed_before_anything_is_judged() -> None:
    """Cameras that see another room are told within two seconds, and no event comes of them."""
    pipeline = pipeline_of(virtual_table(KEWBZ), "kewbz")
    elsewhere = virtual_table(KEWBZ.replace("@ scene seed=", "@ scene seed=7"))
    told: list[Event] = []
    for t, frames in moments(elsewhere.sources.values()):
        if t > 2.5:
            break
        told += pipeline.see(t, frames)

    assert [(e.event, e.data.get("state")) for e in told] == [("camera", "wrong-table")] * 2
    assert max(event.t for event in told) < 2


def test_light_stays_where_it_is_when_the_board_turns() -> None:
    """After a quarter turn the right side looks as the back did, and the bright corner moves on."""
    mean = np.arange(15, dtype=np.float32).reshape(1, 5, 3)
    light = np.array([0, 0.3, -0.2, 0.1, 0.05, -0.15], dtype=np.float32)
    spread, seen = np.ones((1, 5, 2), np.float32), np.ones((1, 5), np.bool_)
    before = CameraColours(("L",), mean, spread, seen, light)

    after = turned_colours(before, 90)

    right, back, left = (FACES.index(face) for face in ("right", "back", "left"))
    assert after.mean[0, right].tolist() == mean[0, back].tolist()
    assert after.mean[0, back].tolist() == mean[0, left].tolist()
    size = (60.0, 60.0, 60.0)
    on_board = np.array([(40.0, 35.0, 0.0), (10.0, 50.0, 0.0)])
    on_table = np.stack([60 - on_board[:, 1], on_board[:, 0], on_board[:, 2]], axis=1)
    assert light_terms(on_board, size) @ after.light == pytest.approx(
        light_terms(on_table, size) @ before.light, abs=1e-5
    )
    assert turned_colours(after, -90).light == pytest.approx(before.light, abs=1e-5)
