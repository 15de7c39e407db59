"""An application in memory, and people who ask it: the host, a player, an onlooker, a stranger."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketTestSession

from service.api.context import Server
from service.app import create_app, make_server
from service.settings import Settings
from service.store import Store

API = "/api/v1"
PEOPLE = "http://192.0.2.7:8000"


@dataclass
class Room:
    """A running application with the clients that tests need."""

    app: FastAPI
    server: Server
    host: TestClient
    session: str

    def url(self, rest: str = "") -> str:
        """An address below the session."""
        return f"{API}/sessions/{self.session}{rest}"

    def guest(self, role: str = "", player: str | None = None) -> TestClient:
        """Somebody in the room with an invitation; without a role a stranger."""
        client = TestClient(self.app, base_url=PEOPLE, client=("192.0.2.50", 5000))
        if role:
            body = {"role": role, "player": player}
            token = self.host.post(self.url("/invitations"), json=body).json()["url"]
            client.headers["authorization"] = f"Bearer {token.split('#join=')[1]}"
        return client

    def socket(self, rest: str, **headers: str) -> WebSocketTestSession:
        """A WebSocket that the host's browser opens."""
        named = {"host": "localhost:8000", **headers}
        session: WebSocketTestSession = self.host.websocket_connect(self.url(rest), headers=named)
        return session

    def see(self, **cells: str) -> dict[str, Any]:
        """One scene, told by the host."""
        answer = self.host.post(self.url("/observations"), json={"stacks": cells})
        assert answer.status_code == 200, answer.text
        state: dict[str, Any] = answer.json()["state"]
        return state


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A room with one KEWBZ session and no camera."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html><title>Kiebitz</title>")
    server = make_server(Settings(data=tmp_path), store=Store(None))
    app = create_app(server, page=page)
    here = ("127.0.0.1", 5000)
    with TestClient(app, base_url="http://localhost:8000", client=here) as host:
        body = {"game": "kewbz", "players": [{"id": "B", "name": "Ada"}, {"id": "Y"}]}
        session = host.post(f"{API}/sessions", json=body).json()["id"]
        yield Room(app, server, host, session)
