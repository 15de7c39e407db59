"""Roles: who may see and do what, tried by trying; and what protects browsers and people."""

import zipfile
from io import BytesIO

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from service.auth import Access, Who
from service.errors import NotAllowed, TooMuch
from service.store import Store
from tests.service.conftest import API, PEOPLE, Room

READS = ["", "/events", "/legal", "/restore", "/record", "/export", "/cameras"]


class TestRoles:
    """What each role reaches."""

    @pytest.mark.parametrize("path", READS)
    def test_a_stranger_sees_nothing(self, room: Room, path: str) -> None:
        """Without an invitation nothing of a game is told, not even that it exists."""
        guest = room.guest()

        assert guest.get(room.url(path)).status_code == 401
        assert guest.get(f"{API}/sessions/no-such{path}").status_code == 401

    @pytest.mark.parametrize("path", READS)
    def test_an_onlooker_sees_the_game(self, room: Room, path: str) -> None:
        """Whoever may watch sees everything that is public."""
        assert room.guest("onlooker").get(room.url(path)).status_code == 200

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/actions", {"do": "start"}),
            ("/corrections", {"cells": {"a1": "B"}}),
            ("/observations", {"stacks": {}}),
            ("/invitations", {"role": "player", "player": "B"}),
            ("/claims", {"card": "YB/RY"}),
        ],
    )
    def test_an_onlooker_changes_nothing(
        self, room: Room, path: str, body: dict[str, object]
    ) -> None:
        """Watching is watching."""
        for role in ("onlooker", "camera"):
            assert room.guest(role).post(room.url(path), json=body).status_code == 403

    def test_a_player_decides_but_does_not_invite(self, room: Room) -> None:
        """Players may correct and pause; devices are invited by the host alone."""
        player = room.guest("player", "B")

        assert player.post(room.url("/actions"), json={"do": "pause"}).status_code == 200
        body = {"role": "onlooker"}
        assert player.post(room.url("/invitations"), json=body).status_code == 403
        assert player.delete(room.url()).status_code == 403

    def test_an_invitation_is_for_one_table(self, room: Room) -> None:
        """A player of one game is a stranger at the next table."""
        other = room.host.post(f"{API}/sessions", json={"game": "kewbz"}).json()["id"]
        player = room.guest("player", "B")

        assert player.get(f"{API}/sessions/{other}").status_code == 403
        assert [line["id"] for line in player.get(f"{API}/sessions").json()] == [room.session]

    def test_a_revoked_device_is_a_stranger(self, room: Room) -> None:
        """The host can take a role away."""
        guest = room.guest("onlooker")
        (device,) = room.host.get(room.url("/tokens")).json()

        room.host.delete(room.url(f"/tokens/{device['id']}"))

        assert guest.get(room.url()).status_code == 401

    def test_a_revoked_device_is_shown_out(self, room: Room) -> None:
        """What it had open is closed within seconds."""
        guest = room.guest("onlooker")
        with guest.websocket_connect(room.url("/live")) as socket:
            socket.receive_json()
            (device,) = room.host.get(room.url("/tokens")).json()
            room.host.delete(room.url(f"/tokens/{device['id']}"))

            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()

    def test_a_revoked_camera_is_not_heard(self, room: Room) -> None:
        """Its next picture closes the connection."""
        guest = room.guest("camera")
        with guest.websocket_connect(room.url("/cameras/left/upload")) as socket:
            (device,) = room.host.get(room.url("/tokens")).json()
            room.host.delete(room.url(f"/tokens/{device['id']}"))
            socket.send_bytes(b"\xff\xd8\xff")

            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()


class TestPrivateCards:
    """Cards reach only the player who holds them."""

    def test_cards_reach_only_their_player(self, room: Room) -> None:
        """Everybody else asks everywhere, and finds the card nowhere."""
        holder = room.guest("player", "B")
        assert holder.put(room.url("/cards"), json={"cards": ["SECRET/CARD"]}).status_code == 200
        room.see()

        others = [room.host, room.guest("player", "Y"), room.guest("onlooker"), room.guest()]

        assert holder.get(room.url("/cards")).json() == {"cards": ["SECRET/CARD"]}
        for other in others:
            for path in ["/cards", "/tokens", *READS]:
                assert b"SECRET" not in other.get(room.url(path)).content
        with room.socket("/live") as socket:
            assert "SECRET" not in socket.receive_text()

    def test_hands_that_the_host_dealt_are_told_to_nobody_else(self, room: Room) -> None:
        """Hands in the set-up stay out of records, files and descriptions for guests."""
        body = {"game": "cube", "details": {"hand.1": "RY/GB RG/YB GY/BR"}}
        made = room.host.post(f"{API}/sessions", json=body)
        assert made.status_code == 201, made.text
        room.session = made.json()["id"]

        for role, player in (("player", "2"), ("onlooker", None)):
            guest = room.guest(role, player)
            for path in READS:
                content = guest.get(room.url(path)).content
                if content.startswith(b"PK"):
                    with zipfile.ZipFile(BytesIO(content)) as file:
                        content = b"".join(file.read(name) for name in file.namelist())
                assert b"RY/GB" not in content, path

    def test_the_host_has_no_cards(self, room: Room) -> None:
        """Being host does not open other people's hands."""
        assert room.host.get(room.url("/cards")).status_code == 403


class TestPairing:
    """Becoming host on another device."""

    def test_the_code_makes_a_host(self, room: Room) -> None:
        """The right code sets a cookie that no script can read."""
        guest = room.guest()

        answer = guest.post(f"{API}/pair", json={"code": room.server.access.code.lower()})

        assert answer.json()["role"] == "host"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert guest.get(f"{API}/me").json()["role"] == "host"

    def test_guessing_is_slow(self) -> None:
        """After ten wrong codes within a minute even the right one has to wait."""
        now = [0.0]
        access = Access(Store(None), lambda: now[0])
        for _ in range(10):
            with pytest.raises(NotAllowed):
                access.pair("AAAA-AAAA", "")

        with pytest.raises(TooMuch):
            access.pair(access.code, "")
        now[0] = 61.0

        assert access.who(access.pair(access.code, "")) == Who("host")

    def test_tokens_are_kept_as_hashes(self) -> None:
        """Who steals the database has no token."""
        store = Store(None)
        token = Access(store).issue("host", None, None)

        assert token not in "".join(store._db.iterdump())

    def test_leaving_forgets_the_role(self, room: Room) -> None:
        """The cookie goes."""
        guest = room.guest()
        guest.post(f"{API}/pair", json={"code": room.server.access.code})

        guest.post(f"{API}/leave")

        assert guest.get(f"{API}/me").json()["role"] == "stranger"


class TestBrowsers:
    """What other web sites in the same browser cannot do."""

    def test_another_sites_page_cannot_act(self, room: Room) -> None:
        """A foreign origin is refused although the browser is at this machine."""
        for origin in ("http://evil.example", "null", "http://localhost:9999"):
            answer = room.host.post(
                room.url("/actions"), json={"do": "start"}, headers={"origin": origin}
            )
            assert answer.status_code == 403

    def test_another_sites_page_cannot_listen(self, room: Room) -> None:
        """Nor does it get a WebSocket."""
        with pytest.raises(WebSocketDisconnect):
            room.socket("/live", origin="http://evil.example").__enter__()

    def test_a_rebound_name_is_not_answered(self, room: Room) -> None:
        """A foreign name that suddenly points to this machine gets nothing."""
        answer = room.host.get(room.url(), headers={"host": "evil.example"})

        assert answer.status_code == 421

    def test_a_proxy_does_not_make_hosts(self, room: Room) -> None:
        """Whoever comes through a proxy on this machine is no host."""
        answer = room.host.get(f"{API}/me", headers={"x-forwarded-for": "192.0.2.99"})

        assert answer.json()["role"] == "stranger"

    def test_another_machine_is_not_here(self, room: Room) -> None:
        """Claiming to be localhost does not help from elsewhere."""
        client = TestClient(room.app, base_url="http://localhost:8000", client=("192.0.2.50", 1))

        assert client.get(f"{API}/me").json()["role"] == "stranger"

    def test_every_answer_carries_careful_headers(self, room: Room) -> None:
        """Page and API are neither framed nor sniffed, and load nothing from elsewhere."""
        for path in ("/", f"{API}/health", f"{API}/nothing"):
            headers = room.host.get(path).headers
            assert "default-src 'self'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"

    @pytest.mark.parametrize(
        "path",
        [
            "/../service/store.py",
            "/%2e%2e/service/store.py",
            "/assets/..%2f..%2fapp.py",
            "//etc/passwd",
        ],
    )
    def test_no_way_out_of_the_page_folder(self, room: Room, path: str) -> None:
        """Only files of the page are ever sent."""
        answer = room.host.get(f"{PEOPLE}{path}")

        assert answer.status_code in (200, 401, 404)
        assert b"import" not in answer.content
        assert b"root:" not in answer.content

    def test_strangers_get_no_websocket(self, room: Room) -> None:
        """Each WebSocket asks for a token."""
        for path in ("/live", "/cameras/left/frames", "/cameras/left/upload"):
            with room.guest().websocket_connect(room.url(path)) as socket:
                with pytest.raises(WebSocketDisconnect) as closed:
                    socket.receive_text()
                assert closed.value.code == 1008

    def test_an_onlooker_is_no_camera(self, room: Room) -> None:
        """Pictures are taken from the host and from invited camera phones only."""
        guest = room.guest("onlooker")

        answer = guest.post(room.url("/cameras/left/frame"), content=b"\xff\xd8\xff")

        assert answer.status_code == 403
