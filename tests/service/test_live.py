"""Live updates: a snapshot first, then numbered events; pictures newest first."""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import cv2
import numpy as np
import pytest

from rules.stacks import Stacks
from service.follower import CameraView, Feed, Picture, Seen, SourceKind
from service.phones import MOST_A_SECOND, PhoneCamera, jpeg_size
from service.pictures import jpeg_of
from service.stream import RING, Channel, Message
from tests.service.conftest import Room
from vision.frame import Frame

Result = TypeVar("Result")


def in_a_loop(scene: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """What a scene returns, from a loop of its own; browser tests keep one in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(scene())).result()


class Webcam:
    """A follower whose one camera shows a grey level that tests set."""

    kind: SourceKind = "virtual-camera"

    def __init__(self) -> None:
        self.newest: Picture | None = None
        self.stopped = False

    def start(self, feed: Feed) -> None:
        self.feed = feed

    def stop(self) -> None:
        self.stopped = True

    def cameras(self) -> Sequence[CameraView]:
        return (CameraView("left", "virtual", (64, 48)),)

    def picture(self, camera: str) -> Picture | None:
        return self.newest

    def believe(self, stacks: Stacks) -> None:
        self.believed = stacks

    def seconds(self) -> float:
        return time.monotonic()

    def show(self, number: int, grey: int) -> None:
        """The next picture."""
        self.newest = Picture(number, np.full((48, 64, 3), grey, dtype=np.uint8))


@pytest.fixture
def webcam(room: Room) -> Webcam:
    """A camera at the table."""
    webcam = Webcam()
    room.server.sessions.feed(room.session, webcam)
    return webcam


class TestEvents:
    """The WebSocket of a session."""

    def test_a_snapshot_comes_first(self, room: Room) -> None:
        """Whoever opens the page late has everything at once."""
        room.see()
        room.see(d4="B")

        with room.socket("/live") as socket:
            first = socket.receive_json()

        assert first["event"] == "snapshot"
        assert first["board"]["columns"] == 8
        assert first["state"]["turns"][0]["move"] == "+d4B"

    def test_events_follow_with_their_numbers(self, room: Room) -> None:
        """What happens afterwards arrives in order, numbered on from the snapshot."""
        room.see()
        with room.socket("/live") as socket:
            seq = socket.receive_json()["seq"]
            room.see(d4="B")
            told = [socket.receive_json() for _ in range(2)]

        assert [event["event"] for event in told] == ["settled", "turn"]
        assert [event["seq"] for event in told] == [seq + 2, seq + 3]  # seq + 1 is the input

    def test_a_page_that_comes_back_misses_nothing(self, room: Room) -> None:
        """With the last number it saw, a page gets exactly what came since."""
        room.see()
        with room.socket("/live") as socket:
            seq = socket.receive_json()["seq"]
        room.see(d4="B")
        room.see(d4="B", d5="Y")

        with room.socket(f"/live?since={seq}") as socket:
            told = [socket.receive_json() for _ in range(5)]

        assert [e["move"] for e in told if e["event"] == "turn" and not e["final"]] == [
            "+d4B",
            "+d5Y",
        ]

    def test_a_number_from_the_future_gets_a_snapshot(self, room: Room) -> None:
        """After a restored backup the page's number means nothing."""
        with room.socket("/live?since=99999") as socket:
            assert socket.receive_json()["event"] == "snapshot"

    def test_a_correction_sends_a_new_snapshot(self, room: Room) -> None:
        """When the past is judged again, everybody starts from the new state."""
        room.see()
        room.see(h8="B")
        with room.socket("/live") as socket:
            socket.receive_json()
            body = {"cells": {"h8": "", "d4": "B"}, "turn": 1}
            room.host.post(room.url("/corrections"), json=body)
            second = socket.receive_json()

        assert second["event"] == "snapshot"
        assert second["state"]["turns"][0]["move"] == "+d4B"


class Wire:
    """A list in place of a WebSocket."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send_text(self, data: str) -> None:
        self.sent.append(data)


class TestChannel:
    """Publish and subscribe."""

    def test_who_falls_behind_gets_a_snapshot(self) -> None:
        """A tab that slept through more than the ring holds is not flooded."""

        async def scene() -> list[str]:
            channel, wire = Channel(), Wire()
            for seq in range(1, RING + 50):
                channel.publish(Message(seq, str(seq)))
            snapshot = (RING + 49, "snapshot")
            task = asyncio.create_task(channel.follow(wire, lambda: snapshot, since=3))
            await asyncio.sleep(0.01)
            channel.publish(Message(RING + 50, "next"))
            await asyncio.sleep(0.01)
            task.cancel()
            return wire.sent

        assert in_a_loop(scene) == ["snapshot", "next"]

    def test_private_messages_reach_one_player(self) -> None:
        """A message for one player is sent to nobody else."""

        async def scene() -> tuple[list[str], list[str]]:
            channel, own, other = Channel(), Wire(), Wire()
            tasks = [
                asyncio.create_task(channel.follow(own, lambda: (0, "s"), "1")),
                asyncio.create_task(channel.follow(other, lambda: (0, "s"), "2")),
            ]
            await asyncio.sleep(0.01)
            channel.publish(Message(1, "secret", player="1"))
            channel.publish(Message(2, "public"))
            await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            return own.sent, other.sent

        assert in_a_loop(scene) == (["s", "secret", "public"], ["s", "public"])


class TestPictures:
    """Camera pictures on their way to pages and other programs."""

    def test_one_jpeg(self, room: Room, webcam: Webcam) -> None:
        """Any program can fetch the newest picture."""
        webcam.show(1, 200)

        answer = room.host.get(room.url("/cameras/left.jpg"))

        image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
        assert image is not None
        assert abs(int(image.mean()) - 200) < 3

    def test_no_picture_yet_is_said(self, room: Room, webcam: Webcam) -> None:
        """A camera without a picture, and an unknown one, get a sentence."""
        for path in ("/cameras/left.jpg", "/cameras/none.jpg"):
            assert room.host.get(room.url(path)).status_code == 404

    def test_the_next_frame_waits_for_the_last(self, room: Room, webcam: Webcam) -> None:
        """A slow viewer skips pictures instead of queueing them."""
        webcam.show(1, 10)
        with room.socket("/cameras/left/frames") as socket:
            first = socket.receive_bytes()
            for number in range(2, 6):
                webcam.show(number, 40 * number)
            socket.send_text("next")
            second = socket.receive_bytes()

        grey = cv2.imdecode(np.frombuffer(second, np.uint8), cv2.IMREAD_COLOR)
        assert first.startswith(b"\xff\xd8")
        assert grey is not None
        assert abs(int(grey.mean()) - 200) < 3

    def test_a_viewer_stays_when_the_follower_changes(self, room: Room, webcam: Webcam) -> None:
        """After a step of the set-up others look; the page goes on showing what they see."""
        webcam.show(1, 40)
        with room.socket("/cameras/left/frames") as socket:
            socket.receive_bytes()
            other = Webcam()
            other.show(1, 220)
            room.server.sessions.feed(room.session, other)
            socket.send_text("next")
            second = socket.receive_bytes()

        grey = cv2.imdecode(np.frombuffer(second, np.uint8), cv2.IMREAD_COLOR)
        assert grey is not None
        assert abs(int(grey.mean()) - 220) < 3

    @pytest.mark.usefixtures("webcam")
    def test_nothing_is_kept_for_a_viewer_who_left_before_any_picture(self, room: Room) -> None:
        """A camera may be silent for hours; nobody goes on waiting for it in his name."""
        waiting = room.server.sessions.get(room.session).pictures._newest
        with room.socket("/cameras/left/frames") as socket:
            ends = time.monotonic() + 5
            while "left" not in waiting and time.monotonic() < ends:
                time.sleep(0.02)
            came = "left" in waiting
            socket.close()
            while waiting and time.monotonic() < ends:
                time.sleep(0.02)
            left = not waiting

        assert (came, left) == (True, True)

    def test_each_turn_keeps_its_picture(self, room: Room, webcam: Webcam) -> None:
        """Replay shows what the cameras saw at each turn."""
        webcam.show(1, 100)
        session = room.server.sessions.get(room.session).session
        session.observed(Seen(Stacks()))
        session.observed(Seen(Stacks.of({"d4": "B"})))
        room.server.sessions.unfeed(room.session)
        room.server.sessions._background.shutdown(wait=True)

        assert room.host.get(room.url("/turns/1/pictures")).json() == ["left"]
        picture = room.host.get(room.url("/turns/1/pictures/left.jpg"))
        assert picture.content.startswith(b"\xff\xd8")


def jpeg(width: int = 64, height: int = 48) -> bytes:
    """A small JPEG."""
    return jpeg_of(np.full((height, width, 3), 90, dtype=np.uint8))


def eventually(get: Callable[[], Frame | None]) -> Frame:
    """What comes within two seconds."""
    for _ in range(200):
        found = get()
        if found is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("nothing came")


class TestPhones:
    """Phones that lend their camera."""

    def test_a_phone_sends_picture_by_picture(self, room: Room) -> None:
        """Each picture is acknowledged before the next is sent."""
        with room.guest("camera").websocket_connect(room.url("/cameras/phone/upload")) as socket:
            for _ in range(3):
                socket.send_bytes(jpeg())
                assert socket.receive_json() == {"ok": True, "problem": None}

        phone = room.server.phones[(room.session, "phone")]
        assert phone.taken == 3
        source = phone.source()
        try:
            assert eventually(source.latest).image.shape == (48, 64, 3)
        finally:
            source.close()

    def test_a_phone_can_post_instead(self, room: Room) -> None:
        """Where no WebSocket opens, plain requests do."""
        answer = room.guest("camera").post(room.url("/cameras/phone/frame"), content=jpeg())

        assert answer.json() == {"ok": True}

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"GIF89a" + bytes(100), "only JPEG"),
            (b"\xff\xd8\xff" + bytes(100), "cannot be used"),
            (jpeg(5000, 16), "cannot be used"),
            (bytes(2_000_001), "at most"),
        ],
        ids=["gif", "no-size", "too-wide", "too-large"],
    )
    def test_anything_else_is_refused(self, data: bytes, says: str) -> None:
        """Only JPEGs of sensible size are decoded at all."""
        problem = PhoneCamera("phone").take(data, 2_000_000)

        assert problem is not None
        assert re.search(says, problem)

    def test_a_flood_is_not_taken(self) -> None:
        """More pictures than any camera makes are refused, until a second has passed."""
        now = [0.0]
        phone = PhoneCamera("phone", lambda: now[0])
        told = [phone.take(jpeg(), 10**6) for _ in range(MOST_A_SECOND + 1)]
        now[0] = 1.0

        assert told[:-1] == [None] * MOST_A_SECOND
        assert told[-1] is not None
        assert phone.take(jpeg(), 10**6) is None

    def test_the_size_is_read_before_decoding(self) -> None:
        """A header that promises a giant picture is refused unseen."""
        assert jpeg_size(jpeg(640, 360)) == (640, 360)
        assert jpeg_size(b"\xff\xd8\xff") is None
