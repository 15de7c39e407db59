"""The set-up assistant, end to end: from nothing to a judged turn with one phone camera."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import cv2
import numpy as np
import pytest

from rules.registry import find_game
from rules.stacks import Stacks
from service.assistant import Told
from service.pictures import jpeg_of
from tests.service.conftest import API, Room
from vision.frame import ImageBGR
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

CAMERA = "overhead"
BODY = {
    "folder": "kitchen",
    "game": "kewbz",
    "players": [{"id": "B", "name": "Ada"}, {"id": "Y", "name": "Bo"}],
    "first": "B",
    "cameras": {CAMERA: {"source": "phone", "clock": 6}},
}


class Phone:
    """A phone that sends what it sees, ten times a second."""

    def __init__(self, take: Callable[[bytes, int], str | None]) -> None:
        self._take = take
        self._pictures: list[bytes] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def see(self, image: ImageBGR) -> None:
        """From now on this is before the phone, with the noise of a camera that is alive."""
        rng = np.random.default_rng(1)
        noises = [rng.normal(0, 1.5, image.shape) for _ in range(5)]
        self._pictures = [
            jpeg_of(cv2.add(image, noise, dtype=cv2.CV_8U), 95)  # type: ignore[arg-type]
            for noise in noises
        ]
        time.sleep(0.6)

    def _run(self) -> None:
        for number in count():
            if self._stop.wait(0.1):
                return
            if self._pictures:
                self._take(self._pictures[number % len(self._pictures)], 10**7)

    def close(self) -> None:
        """Put the phone away."""
        self._stop.set()
        self._thread.join()


@pytest.fixture
def studio() -> Studio:
    """A virtual table that takes the pictures."""
    return Studio(Scene.from_seed(3, Kind.of(find_game("kewbz")), rig="two"))


@pytest.fixture
def phone(room: Room) -> Iterator[Phone]:
    """The table of the assistant, with its phone."""
    made = room.host.post(f"{API}/tables", json=BODY)
    assert made.status_code == 201, made.text
    room.session = made.json()["id"]
    phone = Phone(room.server.phones[(room.session, CAMERA)].take)
    yield phone
    phone.close()


def eventually(get: Callable[[], Any], wanted: Callable[[Any], bool], seconds: float = 40) -> Any:
    """What comes within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = get()
        if wanted(found):
            return found
        time.sleep(0.2)
    raise AssertionError(f"it did not come; the last was {found!r}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ("side: 9 faces of 3 colours measured", False),
        ("side: heights made certain by the stacks; DOUBTFUL, its edges", False),
        ("side: 9 faces of 3 colours measured\nDOUBTFUL: B nearly black", True),
    ],
    ids=["sure", "place-doubted", "colours-doubted"],
)
def test_a_doubtful_place_casts_no_doubt_on_colours(text: str, *, doubted: bool) -> None:
    """Both are told by the same step; the colours are not odd because a camera's place is."""
    assert Told(good=True, text=text).doubted is doubted


def test_from_nothing_to_a_judged_turn(room: Room, phone: Phone, studio: Studio) -> None:
    """Table, four corners, colours, and the first turn is read and judged."""
    camera = studio.scene.cameras[CAMERA]
    size = 8 * 22.0
    outer = np.array([[0, 0, 0], [size, 0, 0], [size, size, 0], [0, size, 0]], dtype=float)
    corners = camera.project(outer).tolist()
    phone.see(studio.empty()[CAMERA])
    eventually(
        lambda: room.host.get(room.url(f"/cameras/{CAMERA}.jpg")).status_code, lambda s: s == 200
    )

    posed = room.host.post(room.url(f"/cameras/{CAMERA}/pose"), json={"corners": corners}).json()
    known = room.host.get(room.url("/colours")).json()
    phone.see(studio.still(Stacks.of(known), spare=False)[CAMERA])
    needs = [camera["needs"] for camera in room.host.get(room.url()).json()["cameras"]]
    before = room.host.get(room.url()).json()["state"]
    learned = room.host.post(room.url("/colours"), json={"stacks": known}).json()
    phone.see(studio.empty()[CAMERA])

    assert posed["good"], posed["text"]
    assert (needs, before["phase"], before["stacks"]) == (["colours"], "setup", {})
    assert learned.get("good"), learned
    state = lambda: room.host.get(room.url()).json()["state"]  # noqa: E731
    eventually(state, lambda s: s["phase"] == "play")
    phone.see(studio.still(Stacks.of({"d4": "B"}))[CAMERA])
    played = eventually(state, lambda s: s["turns"])
    assert played["turns"][0]["move"] == "+d4B"
    assert room.host.get(f"{API}/tables").json() == ["kitchen"]


@pytest.mark.slow
def test_a_virtual_table_is_set_up_like_a_real_one(room: Room) -> None:
    """It waits empty, then with the pieces to learn from; then a game is played before it."""
    cameras = {name: {"source": "virtual:kewbz"} for name in ("a", "b")}
    made = room.host.post(f"{API}/tables", json={**BODY, "cameras": cameras}).json()
    room.session = made["id"]
    url = room.url()

    assert made["source"] == "virtual-camera"
    names = [camera["name"] for camera in made["cameras"]]
    assert names == ["overhead", "side"]
    for name in names:
        pose = room.url(f"/cameras/{name}/pose")
        # On a busy machine a table takes longer to be drawn than a camera is given to wake up.
        posed = eventually(
            lambda pose=pose: room.host.post(pose, json={}).json(),  # type: ignore[misc]
            lambda told: "sent no picture yet" not in told.get("error", ""),
            60,
        )
        assert posed.get("good"), posed
    known = room.host.get(room.url("/colours")).json()
    learned = room.host.post(room.url("/colours"), json={"stacks": known}).json()
    assert learned.get("good"), learned
    turns = eventually(lambda: room.host.get(url).json()["state"]["turns"], bool, 60)
    assert turns[0]["player"] == "B"


def test_a_new_table_takes_its_cameras_from_others(room: Room) -> None:
    """A device shows its pictures to one table; who lends his phone elsewhere goes on."""
    cameras = {name: {CAMERA: {"source": name}} for name in ("7", "phone")}
    made = [
        room.host.post(f"{API}/tables", json={**BODY, "folder": folder, "cameras": cameras[source]})
        for folder, source in (("one", "7"), ("two", "phone"), ("three", "7"))
    ]
    live = {line["id"] for line in room.host.get(f"{API}/sessions").json() if line["live"]}

    assert live == {made[1].json()["id"], made[2].json()["id"]}


def test_only_the_virtual_table_that_is_followed_is_kept(room: Room) -> None:
    """Each holds pictures; who tries one after the other fills no memory with them."""
    cameras = {"a": {"source": "virtual:kewbz"}}
    made = [
        room.host.post(f"{API}/tables", json={**BODY, "folder": folder, "cameras": cameras})
        for folder in ("one", "two")
    ]

    assert list(room.server.plays) == [made[1].json()["id"]]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"folder": "../../etc"}, "folder"),
        ({"cameras": {}}, "cameras"),
        ({"cameras": {"a": {"source": "/etc/passwd"}}}, "no camera"),
        ({"cameras": {"a": {"source": "virtual:x.txt"}}}, "no camera"),
        ({"cameras": {"a": {"source": "virtual:ksar"}}}, "'virtual:kewbz'"),
        ({"cameras": {c: {"source": "virtual:kewbz"} for c in "abcd"}}, "one to three cameras"),
        ({"game": "chess"}, "unknown game"),
    ],
    ids=["folder", "no-camera", "file", "virtual-file", "other-virtual", "too-many", "game"],
)
def test_tables_stay_in_their_place(room: Room, change: dict[str, Any], says: str) -> None:
    """Neither folders elsewhere nor files of this machine can be named from a page."""
    answer = room.host.post(f"{API}/tables", json={**BODY, **change})

    assert answer.status_code == 422
    assert says in answer.json()["error"]


def test_guests_set_nothing_up(room: Room) -> None:
    """Tables and calibration are the host's."""
    for role in ("player", "onlooker", "camera"):
        guest = room.guest(role, "B" if role == "player" else None)
        assert guest.get(f"{API}/tables").status_code == 403
        assert guest.post(f"{API}/tables", json=BODY).status_code == 403
        assert guest.post(room.url("/cameras/a/pose"), json={}).status_code == 403
