"""The program `kiebitz`: commands, exit codes, and errors that end in one sentence."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from rules.errors import KiebitzError
from rules.registry import GAMES
from service import __version__, cli
from service.demo import demo_games
from tests.conftest import ROOT

KIEBITZ = [sys.executable, "-m", "service.cli"]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Puts a function in the place of what `kiebitz demo` does."""

    def place(run: Callable[[], None]) -> None:
        monkeypatch.setattr("service.commands.demo.run", run)

    return place


class TestHelp:
    """What the program says about itself."""

    def test_lists_every_command_with_its_summary(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`kiebitz --help` names all commands and what they are for."""
        code = cli.main(["--help"])

        said = capsys.readouterr().out
        assert code == 0
        for name, summary in cli.COMMANDS.items():
            assert name in said
            assert summary.split()[0] in said

    @pytest.mark.parametrize("name", cli.COMMANDS)
    def test_every_command_has_help(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        """Every command answers `--help` with its summary and exit code 0."""
        code = cli.main([name, "--help"])

        assert code == 0
        assert cli.COMMANDS[name].split(".")[0][:40] in " ".join(capsys.readouterr().out.split())

    @pytest.mark.parametrize("name", ["", *cli.COMMANDS])
    def test_no_help_is_cut_or_shows_types(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Summaries are whole sentences, and arguments are named as in the documents."""
        cli.main([name, "--help"] if name else ["--help"])

        said = capsys.readouterr().out
        for ugly in ("...\n", "<list", "<path>", "<str>", "<int", "{", "[["):
            assert ugly not in said.replace("COMMAND [ARGS]...\n", "").replace("IMAGE...\n", "")

    def test_a_wrong_game_is_told_as_such(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Not as a mistake in the record that nobody has written yet."""
        assert cli.main(["referee", "chess"]) == 2
        assert capsys.readouterr().err.startswith("Error: unknown game 'chess'")

    def test_every_game_can_be_demonstrated(self) -> None:
        """The demo knows each game that has rules."""
        assert set(demo_games()) == set(GAMES) - {"free"}

    def test_version_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`kiebitz --version` prints name and version."""
        assert cli.main(["--version"]) == 0
        assert capsys.readouterr().out == f"kiebitz {__version__}\n"

    def test_starts_fast(self) -> None:
        """`kiebitz --version` loads nothing heavy: no numpy, no OpenCV, no web server."""
        loaded = "import sys; from service import cli; cli.main(['--version']); print(*sys.modules)"

        done = subprocess.run(
            [sys.executable, "-c", loaded], capture_output=True, text=True, check=True, cwd=ROOT
        )

        heavy = {"numpy", "cv2", "fastapi", "pydantic", "uvicorn", "sklearn"}
        assert not heavy & set(done.stdout.split())


class TestExitCodes:
    """0 for success, 1 where the answer is no, 2 on wrong use."""

    @pytest.mark.parametrize(
        "words",
        [
            pytest.param(["nonsense"], id="unknown-command"),
            pytest.param(["serve", "--prot", "1"], id="unknown-option"),
            pytest.param(["serve", "--port", "many"], id="wrong-value"),
            pytest.param(["table", "new"], id="missing-argument"),
        ],
    )
    def test_wrong_use_is_two(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """Wrong use prints nothing on standard output and ends with 2."""
        assert cli.main(words) == 2

        out, err = capsys.readouterr()
        assert not out
        assert "Error" in err

    def test_a_command_can_answer_no(self, command: Callable[[Callable[[], None]], None]) -> None:
        """A command that ends with `typer.Exit(1)` gives 1."""

        def no() -> None:
            raise typer.Exit(1)

        command(no)

        assert cli.main(["demo"]) == 1

    def test_interrupt_is_quiet(
        self, command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Ctrl-C ends without a word of complaint."""

        def interrupted() -> None:
            raise KeyboardInterrupt

        command(interrupted)

        assert cli.main(["demo"]) == 130
        assert capsys.readouterr() == ("", "")


class TestErrors:
    """No traceback ever reaches a user."""

    def test_a_foreseen_error_is_its_sentence(
        self, command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A KiebitzError is told on standard error, with its own exit code."""

        class NotToday(KiebitzError):
            exit_code = 1

        def fail() -> None:
            raise NotToday("no camera 'left'; known are 'right'")

        command(fail)

        assert cli.main(["demo"]) == 1
        assert capsys.readouterr() == ("", "Error: no camera 'left'; known are 'right'\n")

    def test_an_unforeseen_error_names_the_log(
        self,
        command: Callable[[Callable[[], None]], None],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        """Anything else is one sentence, and the traceback is in the log that it names."""
        monkeypatch.setenv("KIEBITZ_LOGS", str(tmp_path))

        def fail() -> None:
            raise ZeroDivisionError("division by zero")

        command(fail)

        assert cli.main(["demo"]) == 2
        out, err = capsys.readouterr()
        log = tmp_path / "kiebitz.log"
        assert not out
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert "division by zero" in err
        assert str(log) in err
        assert "Traceback" in log.read_text("utf-8")

    def test_a_log_that_cannot_be_written_hides_nothing(
        self,
        command: Callable[[Callable[[], None]], None],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        """Where no log can be written the error is still told in one sentence."""
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("KIEBITZ_LOGS", str(tmp_path / "file" / "logs"))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))

        def fail() -> None:
            raise ValueError

        command(fail)

        assert cli.main(["demo"]) == 2
        assert capsys.readouterr().err == (
            "Error: something went wrong inside Kiebitz: ValueError\n"
        )

    @pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
    def test_a_closed_pipe_is_quiet(self) -> None:
        """`kiebitz ... | head` gets no complaint from Python."""
        program = subprocess.Popen(
            [*KIEBITZ, "--help"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert program.stdout is not None
        program.stdout.close()

        _, err = program.communicate(timeout=20)

        assert err == b""


BUSY = """
import sys, threading, time
import cv2, numpy as np
from service import cli

def draw():
    while True:
        cv2.GaussianBlur(np.zeros((1500, 1500, 3), np.uint8), (31, 31), 5)

def demo(words):
    threading.Thread(target=draw, daemon=True).start()
    time.sleep(0.5)
    print("ended")
    return 0

cli.run = demo
sys.exit(cli.main())
"""


def test_a_busy_camera_does_not_abort_the_end() -> None:
    """A thread inside a library at the end is left there; the exit code says what was done."""
    program = [sys.executable, "-c", BUSY]
    ended = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")


class TestServe:
    """The page's server."""

    def test_port_in_use_is_one_sentence(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A port that something else uses is told, with what to do."""
        from service.web_server import listen

        with listen("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            code = cli.main(["demo", "--no-open", "--port", str(port)])

        assert code == 2
        err = capsys.readouterr().err
        assert f"port {port} is in use" in err
        assert "--port" in err

    def test_an_address_of_elsewhere_is_one_sentence(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A host that is not this machine is told, not raised."""
        assert cli.main(["demo", "ksar", "--no-open", "--host", "192.0.2.1", "--port", "0"]) == 2
        assert "cannot listen on '192.0.2.1'" in capsys.readouterr().err

    def test_a_game_without_demo_is_one_sentence(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Whatever way the game is named, the ones that there are are told."""
        for words in (["chess"], ["--game", "chess"]):
            assert cli.main(["demo", *words, "--no-open", "--port", "0"]) == 2
            assert "no demo of 'chess'; there is one of cube, kewbz" in capsys.readouterr().err

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
    def test_stops_gracefully(self) -> None:
        """The server says where the page is, answers, and ends with 0 on Ctrl-C."""
        import signal
        import urllib.request

        program = subprocess.Popen(
            [*KIEBITZ, "demo", "--no-open", "--port", "0"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert program.stderr is not None
        try:
            line = next(line for line in program.stderr if "http://" in line)
            url = line.split("the page is at ")[1].split()[0]
            with urllib.request.urlopen(url + "api/v1/health", timeout=10) as answer:
                status = answer.status
            program.send_signal(signal.SIGINT)
            program.communicate(timeout=20)
        finally:
            program.kill()

        assert status == 200
        assert program.returncode == 0
