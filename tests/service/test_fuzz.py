"""The interface, fuzzed from its own description: whatever is sent, the server never breaks."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case
from schemathesis.core.result import Ok

from service.api.context import Server
from service.app import create_app, make_server
from service.settings import Settings
from service.store import Store

SESSION = "fuzzed"
EXAMPLES = int(os.environ.get("KIEBITZ_FUZZ", "25"))
SETUP = {"game": "kewbz", "players": [{"id": "B"}, {"id": "Y"}]}


class Fuzzed:
    """A server with one session, and tokens of two roles."""

    def __init__(self, folder: Path) -> None:
        page = folder / "page"
        page.mkdir()
        (page / "index.html").write_text("<!doctype html><title>Kiebitz</title>")
        self.server: Server = make_server(Settings(data=folder), store=Store(None))
        self.app = create_app(self.server, page=page)
        self.schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", self.app)
        self.rounds = itertools.count()
        self.host = self.server.access.issue("host", None, None)
        self.player = ""

    def call(self, case: "Case[Any]") -> int:
        """Send one case, every second time to the session that exists; the status."""
        number = next(self.rounds)
        if all(kept.id != SESSION for kept in self.server.store.sessions()):
            self.server.sessions.create(SETUP, SESSION)
            self.player = self.server.access.issue("player", SESSION, "B")
        for name, known in (("session", SESSION), ("game", "kewbz")):
            if number % 2 and name in case.path_parameters:
                case.path_parameters[name] = known
        token = self.player if number % 3 == 1 else self.host
        # Not one of the fuzzer's cookies or headers may take the place of the token.
        answer = case.call(headers={"authorization": f"Bearer {token}"})
        return int(answer.status_code)


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[Fuzzed]:
    """The server under fire."""
    fuzzed = Fuzzed(tmp_path)
    yield fuzzed
    fuzzed.server.sessions.close()


@pytest.mark.slow
def test_no_request_breaks_the_server(fuzzed: Fuzzed, subtests: pytest.Subtests) -> None:
    """Every answer to a fuzzed request is a proper one, never an internal error."""
    operations = [
        found.ok() for found in fuzzed.schema.get_all_operations() if isinstance(found, Ok)
    ]
    assert len(operations) > 30

    for operation in operations:
        with subtests.test(operation.label):

            @given(case=operation.as_strategy())
            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            def fuzz(case: "Case[Any]") -> None:
                assert fuzzed.call(case) < 500

            fuzz()
