"""Serving: HTTPS with the machine's own authority, being found, and a graceful end."""

import datetime as dt
import json
import signal
import ssl
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from cryptography import x509
from fastapi import FastAPI
from websockets.sync.client import connect

from service.app import create_app, make_server
from service.bench.crash import running_server
from service.discovery import room_addresses
from service.errors import PortInUse
from service.running import Shown, screen
from service.settings import Settings
from service.store import Store
from service.tls import certificates
from service.web_server import Secure, address, listen, serve

NAMES = ["kiebitz.local", "localhost", "127.0.0.1"]


class TestCertificates:
    """The local authority and the server's certificate."""

    def test_they_are_made_once_and_kept(self, tmp_path: Path) -> None:
        """Phones that trust the authority go on trusting it after a restart."""
        first = certificates(tmp_path, NAMES)
        chain = first.chain.read_bytes()

        again = certificates(tmp_path, NAMES)

        assert again.authority == first.authority
        assert again.chain.read_bytes() == chain

    def test_a_new_address_gets_a_new_certificate(self, tmp_path: Path) -> None:
        """In another network the machine has another address; the authority stays."""
        first = certificates(tmp_path, NAMES)

        again = certificates(tmp_path, [*NAMES, "192.0.2.9"])

        assert again.authority == first.authority
        cert = x509.load_pem_x509_certificate(again.chain.read_bytes())
        names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert "192.0.2.9" in [str(ip) for ip in names.get_values_for_type(x509.IPAddress)]

    def test_phones_accept_its_life(self, tmp_path: Path) -> None:
        """Certificates that live too long are refused by phones."""
        cert = x509.load_pem_x509_certificate(certificates(tmp_path, NAMES).chain.read_bytes())

        assert cert.not_valid_after_utc - cert.not_valid_before_utc <= dt.timedelta(days=398)

    def test_only_the_owner_reads_the_keys(self, tmp_path: Path) -> None:
        """The authority's key would let anybody pretend to be any site to these phones."""
        certificates(tmp_path, NAMES)

        for key in tmp_path.glob("*.key"):
            assert stat.S_IMODE(key.stat().st_mode) == 0o600


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    """An application with one session."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html><title>Kiebitz</title>")
    server = make_server(Settings(data=tmp_path), store=Store(None))
    server.sessions.create({"game": "kewbz"}, "one")
    return create_app(server, page=page)


@pytest.fixture
def both(app: FastAPI, tmp_path: Path) -> tuple[str, str, ssl.SSLContext]:
    """HTTP and HTTPS in one process: both addresses, and a client that trusts the authority."""
    made = certificates(tmp_path / "certificates", NAMES)
    plain, secure = listen("127.0.0.1", 0), listen("127.0.0.1", 0)
    ready = threading.Event()
    urls = address(plain), address(secure, "https")
    thread = threading.Thread(
        target=serve,
        args=(app, plain),
        kwargs={"secure": Secure(secure, made), "show": ready.set},
        daemon=True,
    )
    thread.start()
    assert ready.wait(10)
    time.sleep(0.3)
    trusting = ssl.create_default_context(cadata=made.authority.decode())
    return (*urls, trusting)


class TestHttps:
    """Both ways into the same room."""

    def test_a_phone_that_trusts_the_authority_gets_in(
        self, both: tuple[str, str, ssl.SSLContext]
    ) -> None:
        """Page and WebSocket work over HTTPS without a warning, and HTTP keeps working."""
        plain, secure, trusting = both

        for url, context in ((plain, None), (secure, trusting)):
            with urllib.request.urlopen(f"{url}api/v1/health", context=context) as answer:
                assert json.loads(answer.read())["version"]
        address = f"{secure.replace('https', 'wss')}api/v1/sessions/one/live"
        with connect(address, ssl=trusting, proxy=None) as socket:
            assert json.loads(socket.recv())["event"] == "snapshot"

    def test_who_does_not_trust_it_is_warned(self, both: tuple[str, str, ssl.SSLContext]) -> None:
        """Without the authority's certificate the connection is refused by the client."""
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"{both[1]}api/v1/health", context=ssl.create_default_context())


class TestPortInUse:
    """What is told when something listens already where the page should be."""

    def test_kiebitz_itself_is_recognised(self, both: tuple[str, str, ssl.SSLContext]) -> None:
        """Who starts Kiebitz twice is told where it runs, and does not look for another program."""
        port = int(both[0].rstrip("/").rpartition(":")[2])

        with pytest.raises(PortInUse, match=f"running already, at http://localhost:{port}/"):
            listen("127.0.0.1", port)

    def test_another_program_is_not_taken_for_it(
        self, both: tuple[str, str, ssl.SSLContext]
    ) -> None:
        """What answers something else, or nothing that is HTTP, is another program."""
        port = int(both[1].rstrip("/").rpartition(":")[2])

        with pytest.raises(PortInUse, match="stop the other program"):
            listen("127.0.0.1", port)


class TestPrograms:
    """The command in a process of its own."""

    def test_it_stops_gracefully(self, tmp_path: Path) -> None:
        """Ctrl-C ends it within seconds although pages are connected, and without a traceback."""
        with running_server(["serve", "--empty"], tmp_path) as (process, url):
            request = urllib.request.Request(
                f"{url}/sessions", b'{"game": "kewbz"}', {"content-type": "application/json"}
            )
            with urllib.request.urlopen(request) as answer:
                session = json.loads(answer.read())["id"]
            live = f"{url.replace('http', 'ws', 1)}/sessions/{session}/live"
            with connect(live, proxy=None) as socket:
                socket.recv()
                began = time.monotonic()
                process.send_signal(signal.SIGINT)
                assert process.wait(10) == 0
            said = process.stderr.read().decode() if process.stderr else ""

        assert time.monotonic() - began < 8
        assert "Traceback" not in said

    def test_a_port_in_use_is_told(self, tmp_path: Path) -> None:
        """A second server on the same port says what to do."""
        taken = listen("127.0.0.1", 0)
        port = taken.getsockname()[1]

        with pytest.raises(PortInUse):
            listen("127.0.0.1", port)
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", "serve", "--empty", "--host", "127.0.0.1",
             "--port", str(port), "--data", str(tmp_path), "--no-open"],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        taken.close()

        assert done.returncode == 2
        assert f"port {port} is in use" in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_terminal_shows_how_to_get_in() -> None:
    """Address, pairing code, and an invitation to watch."""
    shown = Shown(
        url="http://localhost:8000/",
        room=("http://192.0.2.7:8000/",),
        code="ABCD-EFGH",
        watch="http://192.0.2.7:8000/#join=TOKEN",
    )

    text = screen(shown)

    for part in ("http://localhost:8000/", "http://192.0.2.7:8000/", "ABCD-EFGH", "#join=TOKEN"):
        assert part in text


def test_room_addresses_are_of_the_room() -> None:
    """Addresses that only this machine can reach are not shown to phones."""
    assert not [a for a in room_addresses() if a.startswith("127.")]
