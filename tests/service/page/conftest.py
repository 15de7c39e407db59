"""A running server and a real Chromium, at the size of a desktop and of a phone."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

import page_build
from rules.stacks import Stacks
from service.api.context import Server
from service.app import create_app, make_server
from service.follower import CameraView, Feed, Picture, Seen, SourceKind
from service.session import GameSession
from service.settings import Settings
from service.web_server import listen

expect.set_options(timeout=15_000)  # ms; two browsers at once on two busy cores

DESKTOP = {"width": 1360, "height": 850}
PHONE = {"width": 390, "height": 844}
SETUP = {"game": "kewbz", "name": "Test", "players": [{"id": "B", "name": "Ada"}, {"id": "Y"}]}


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The page as the browser gets it, built from the sources that are there."""
    try:
        page_build.build()
    except page_build.PageBuildError as error:
        pytest.skip(f"the page cannot be built: {error}")
    return page_build.PAGE


@pytest.fixture(scope="session")
def chromiums() -> Iterator[Playwright]:
    """Starts browsers; there can be only one of it."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(chromium: str, chromiums: Playwright) -> Iterator[Browser]:
    """One Chromium for most tests."""
    browser = chromiums.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    yield browser
    browser.close()


class Quiet:
    """A follower without pictures; tests tell the session what it would have seen."""

    kind: SourceKind = "camera"

    def start(self, feed: Feed) -> None:
        """Nothing to begin."""

    def stop(self) -> None:
        """Nothing to end."""

    def cameras(self) -> Sequence[CameraView]:
        return ()

    def picture(self, camera: str) -> Picture | None:
        return None

    def believe(self, stacks: Stacks) -> None:
        """Whatever the players say is true."""

    def seconds(self) -> float:
        return time.monotonic()


@dataclass
class Site:
    """A running server; `stop` and `start` are what a restart looks like to a page."""

    settings: Settings
    page: Path
    port: int = 0
    server: Server | None = None
    problems: list[str] = field(default_factory=list)
    _running: uvicorn.Server | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Serve on the same port as before."""
        listener = listen("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        self.server = make_server(self.settings)
        app = create_app(self.server, page=self.page)
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        self._running = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()
        while not self._running.started:
            time.sleep(0.01)

    def _run(self, listener: socket.socket) -> None:
        assert self._running is not None
        self._running.run(sockets=[listener])
        listener.close()

    def stop(self) -> None:
        """Stop as on Ctrl-C."""
        if self._running and self._thread:
            self._running.should_exit = True
            self._thread.join(15)

    @property
    def sessions(self) -> Any:
        """The sessions of the server that runs now."""
        assert self.server is not None
        return self.server.sessions

    def url(self, path: str = "/") -> str:
        """An address of the page."""
        return f"http://localhost:{self.port}{path}"

    def session(self, *, by_hand: bool = False, **setup: Any) -> GameSession:
        """A new session, shown first to visitors; unless by hand, as if a camera followed it."""
        table = self.sessions.create({**SETUP, **setup})
        self.sessions.show(table.session.id)
        if not by_hand:
            self.sessions.feed(table.session.id, Quiet())
        session: GameSession = table.session
        return session


@pytest.fixture
def site(tmp_path: Path, built_page: Path) -> Iterator[Site]:
    """A server with a data folder of its own."""
    site = Site(Settings(data=tmp_path), built_page)
    site.start()
    yield site
    site.stop()


Opener = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Opener]:
    """Opens pages; at the end no page may have logged an error or asked another host."""
    contexts: list[BrowserContext] = []

    def open_page(
        path: str = "/",
        size: dict[str, int] | None = None,
        before: Callable[[Page], object] = lambda _: None,
        **options: Any,
    ) -> Page:
        options.setdefault("locale", "en-GB")
        options.setdefault("reduced_motion", "reduce")
        context = browser.new_context(viewport=size or DESKTOP, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: site.problems.append(str(error)))
        page.on(
            "console",
            lambda said: site.problems.append(said.text) if said.type == "error" else None,
        )
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((site.url(""), "data:", "blob:", "ws://localhost"))
                else site.problems.append(f"asked {asked.url}")
            ),
        )
        before(page)
        page.goto(site.url(path))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert site.problems == []


def see(session: GameSession, **cells: str) -> None:
    """One still scene."""
    session.observed(Seen(Stacks.of(cells)))


def play(session: GameSession) -> None:
    """Three turns: d4, d5, and a corner at d5 with its cube."""
    see(session)
    see(session, d4="B")
    see(session, d4="B", d5="Y")
    see(session, d4="B", d5="YB", c5="B")
