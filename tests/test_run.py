"""`run.py`: what it does when, and what it says when something is missing."""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import page_build
from tests.conftest import ROOT


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module `run.py`, at work in an empty folder with files like those of the project."""
    spec = importlib.util.spec_from_file_location("run_under_test", ROOT / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    home = tmp_path / "a folder"
    for name in (*module.PROJECT_FILES, module.PLAY_LOCK, module.TEST_LOCK, module.NODE_LOCK):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"package==1 # {name}\n")
    monkeypatch.setattr(module, "HERE", home)
    monkeypatch.setattr(module, "VENV", home / ".venv")
    monkeypatch.setattr(module, "STAMP", home / ".venv" / "stamp.json")
    monkeypatch.setattr(module, "UNFINISHED", home / ".venv" / "unfinished")
    monkeypatch.setattr(module, "LOG", home / ".cache" / "setup.log")
    return module


@pytest.fixture
def steps(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that a set-up would run, in short; a venv appears, nothing else happens."""
    done: list[str] = []

    def run_step(command: list[str], _: object) -> None:
        if "venv" in command:
            done.append("venv")
            run.venv_program("python").parent.mkdir(parents=True)
            run.venv_program("python").symlink_to(sys.executable)
        elif "-r" in command:
            done.append(f"install {Path(command[-1]).name}")
        else:
            done.append(Path(command[-1]).name)

    monkeypatch.setattr(run, "run_step", run_step)
    monkeypatch.setattr(run, "quietly", lambda command: Path(command[0]).exists())
    monkeypatch.setattr(page_build, "is_built", lambda: True)
    return done


class TestOldPython:
    """A Python that is too old is told so."""

    def test_the_file_is_readable_by_an_old_python(self) -> None:
        """Nothing in run.py is newer than Python 3.6, as far as its grammar goes."""
        ast.parse((ROOT / "run.py").read_text("utf-8"), feature_version=(3, 6))

    def test_nothing_new_is_imported_at_once(self) -> None:
        """What run.py imports before it looks at the version was there in Python 3.6."""
        tree = ast.parse((ROOT / "run.py").read_text("utf-8"))
        names = {
            (node.names[0].name if isinstance(node, ast.Import) else str(node.module))
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
        }

        old = {"contextlib", "hashlib", "json", "os", "re", "shutil", "subprocess", "sys", "time"}
        assert names <= old | {"pathlib", "typing"}

    def test_is_told_in_one_sentence(
        self, run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The sentence names both versions."""
        monkeypatch.setattr(sys, "version_info", (3, 9, 18))

        assert run.start([]) == 2

        said = capsys.readouterr().err
        assert "needs Python 3.11 or newer, but this is 3.9" in said
        assert said.count("\n") == 1


class TestSetUp:
    """What the first start does, and what later ones need not do again."""

    def test_does_everything_once(self, run: ModuleType, steps: list[str]) -> None:
        """The first start does every step, the second none."""
        run.set_up(run.PLAY_LOCK)
        first = list(steps)
        run.set_up(run.PLAY_LOCK)

        assert first == ["venv", "install requirements.lock", "a folder", "service.self_check"]
        assert steps == first

    def test_tests_need_more(self, run: ModuleType, steps: list[str]) -> None:
        """A set-up for playing is completed for tests, and serves for both from then on."""
        run.set_up(run.PLAY_LOCK)
        steps.clear()

        run.set_up(run.TEST_LOCK)
        run.set_up(run.PLAY_LOCK)

        assert steps == ["install requirements-dev.lock", "a folder", "service.self_check"]

    @pytest.mark.parametrize(
        ("change", "again"),
        [
            pytest.param("requirements.lock", ["install requirements.lock", "a folder"], id="lock"),
            pytest.param("pyproject.toml", ["a folder"], id="project"),
            pytest.param("service/__init__.py", ["a folder"], id="version"),
        ],
    )
    def test_what_changed_is_done_again(
        self, run: ModuleType, steps: list[str], change: str, again: list[str]
    ) -> None:
        """A changed lock is installed, a changed project file installs the project."""
        run.set_up(run.PLAY_LOCK)
        steps.clear()

        (run.HERE / change).write_text("package==2\n")
        run.set_up(run.PLAY_LOCK)

        assert steps == [*again, "service.self_check"]

    def test_a_changed_page_is_built_again(
        self, run: ModuleType, steps: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Page sources that do not match what was built lead to a build and nothing else new."""
        run.set_up(run.PLAY_LOCK)
        steps.clear()
        built = iter([False, False, False, True])
        monkeypatch.setattr(page_build, "is_built", lambda: next(built))
        monkeypatch.setattr(page_build, "node_of_machine", lambda: ["npm"])

        run.set_up(run.PLAY_LOCK)

        assert steps == ["page_build.py", "a folder", "service.self_check"]

    def test_node_comes_from_its_package_where_there_is_none(
        self, run: ModuleType, steps: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a Node that is new enough, the locked package is installed first."""
        built = iter([False, False, False, True])
        monkeypatch.setattr(page_build, "is_built", lambda: next(built))
        monkeypatch.setattr(page_build, "node_of_machine", lambda: None)

        run.set_up(run.PLAY_LOCK)

        assert steps[2:4] == ["install requirements-node.lock", "page_build.py"]

    def test_an_interrupted_set_up_starts_afresh(
        self, run: ModuleType, steps: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Packages that were only half installed are not trusted; the environment is remade."""
        install = run.install
        monkeypatch.setattr(run, "install", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run.start(["--version"]) == 130
        monkeypatch.setattr(run, "install", install)
        steps.clear()

        run.set_up(run.PLAY_LOCK)

        assert steps[:2] == ["venv", "install requirements.lock"]
        assert not run.UNFINISHED.exists()

    def test_an_interrupted_check_is_repeated(
        self, run: ModuleType, steps: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A set-up counts only when its last step is done."""
        check = run.check_itself
        monkeypatch.setattr(run, "check_itself", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run.start(["--version"]) == 130
        monkeypatch.setattr(run, "check_itself", check)
        steps.clear()

        run.set_up(run.PLAY_LOCK)

        assert steps[-1] == "service.self_check"

    @pytest.mark.parametrize(
        "damage",
        [
            pytest.param(lambda run: run.venv_program("python").unlink(), id="python-gone"),
            pytest.param(
                lambda run: run.STAMP.write_text(
                    json.dumps({**run.read_stamp(), "folder": "/elsewhere"})
                ),
                id="moved",
            ),
            pytest.param(
                lambda run: run.STAMP.write_text(
                    json.dumps({**run.read_stamp(), "python": "/usr/bin/python3.10"})
                ),
                id="other-python",
            ),
        ],
    )
    def test_an_environment_that_cannot_work_is_remade(
        self, run: ModuleType, steps: list[str], damage: Callable[[ModuleType], None]
    ) -> None:
        """A moved folder or a vanished Python is noticed, and everything is done again."""
        run.set_up(run.PLAY_LOCK)
        steps.clear()

        damage(run)
        run.set_up(run.PLAY_LOCK)

        assert steps[:2] == ["venv", "install requirements.lock"]

    def test_a_damaged_stamp_is_no_stamp(self, run: ModuleType, steps: list[str]) -> None:
        """A stamp that cannot be read leads to a set-up, not to an error."""
        run.set_up(run.PLAY_LOCK)
        steps.clear()

        run.STAMP.write_text("{ha")
        run.set_up(run.PLAY_LOCK)

        assert steps == ["install requirements.lock", "a folder", "service.self_check"]

    def test_a_part_of_the_project_is_told(self, run: ModuleType, steps: list[str]) -> None:
        """`run.py` alone in a folder says so and begins nothing."""
        (run.HERE / "page_build.py").unlink()

        with pytest.raises(run.Trouble, match=re.escape(f"{run.HERE} lacks files of Kiebitz")):
            run.main(["doctor"])

        assert steps == []

    def test_the_way_to_the_folder_does_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Started as `../run.py` it is the same folder, whose environment is not made anew."""
        spec = importlib.util.spec_from_file_location("run_from", ROOT / "docs" / ".." / "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setattr(module, "__file__", str(ROOT / "docs" / ".." / "run.py"))

        spec.loader.exec_module(module)

        assert module.HERE == ROOT

    def test_looking_takes_no_time(self) -> None:
        """A later start finds out within a fraction of a second that nothing is to be done."""
        look = "import run; run.fingerprints(run.PLAY_LOCK); print('looked')"
        began = time.monotonic()

        done = subprocess.run(
            [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True
        )

        assert done.stdout == "looked\n"
        assert time.monotonic() - began < 1.5  # 0.1 s on an idle machine


class TestTroubles:
    """One clear sentence for everything outside the project that can be wrong."""

    def test_no_venv_module(
        self, run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A Python without venv or ensurepip is told with the package to install."""
        monkeypatch.setattr(run, "quietly", lambda _: False)
        monkeypatch.setattr(shutil, "which", lambda _: None)

        assert run.start([]) == 2

        assert "apt install python3-venv" in capsys.readouterr().err
        assert not run.VENV.exists()

    @pytest.mark.parametrize(
        ("number", "sentence"), [(28, "the disk is full"), (13, "no permission to write")]
    )
    def test_errors_of_the_disk(
        self,
        run: ModuleType,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        number: int,
        sentence: str,
    ) -> None:
        """A full disk and a folder of somebody else's are told, not raised."""

        def fail(_: str) -> None:
            raise OSError(number, os.strerror(number), "somewhere")

        monkeypatch.setattr(run, "set_up", fail)

        assert run.start([]) == 2
        assert sentence in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("printed", "sentence"),
        [
            ("OSError: [Errno 28] No space left on device", "the disk is full"),
            ("npm error code ENOSPC", "the disk is full"),
            ("error: failed to copy (os error 28)", "the disk is full"),
            ("PermissionError: [Errno 13] Permission denied: 'x'", "no permission"),
            ("npm error code EAI_AGAIN", "cannot be fetched"),
            ("  dns error: failed to lookup address information", "cannot be fetched"),
            ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "try again"),
            ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY", "does not trust"),
            ("one\nerror: something new\n\n", "step failed: error: something new"),
            ("", "it printed nothing"),
        ],
    )
    def test_what_installers_print_is_explained(
        self, run: ModuleType, printed: str, sentence: str
    ) -> None:
        """What pip, uv and npm print becomes one sentence."""
        assert sentence in run.explain("step", printed)

    def test_no_network_for_pip(self, run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        """What pip really prints without a network is understood."""
        pytest.importorskip("pip")
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX" + "_URL", "http://127.0.0.1:9/")
        monkeypatch.setenv("PIP_RETRIES", "0")
        run.LOG.parent.mkdir()
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir"]

        with pytest.raises(run.Trouble, match="cannot be fetched; the first start needs"):
            run.run_step([*command, "--dest", str(run.HERE), "surely-not-here"], run.Step("x"))

        assert "127.0.0.1" in run.LOG.read_text("utf-8")

    @pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine")
    def test_no_network_for_npm(self, run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        """What npm really prints without a network is understood."""
        monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        monkeypatch.setenv("npm_config_cache", str(run.HERE / "cache"))
        run.LOG.parent.mkdir()
        npm = shutil.which("npm")
        assert npm is not None

        with pytest.raises(run.Trouble, match="cannot be fetched; the first start needs"):
            run.run_step([npm, "view", "surely-not-here"], run.Step("x"))


class TestWords:
    """What the words after run.py lead to."""

    @pytest.mark.parametrize(
        ("words", "lock", "called"),
        [
            pytest.param([], "requirements.lock", ["demo"], id="nothing"),
            pytest.param(["read", "home"], "requirements.lock", ["read", "home"], id="kiebitz"),
            pytest.param(["test"], "requirements-dev.lock", ["pytest", "-n", "auto"], id="test"),
            pytest.param(
                ["test", "-k", "x"], "requirements-dev.lock", ["pytest", "-k", "x"], id="pytest"
            ),
        ],
    )
    @pytest.mark.skipif(os.name == "nt", reason="there, a process cannot become another")
    def test_go_where_they_belong(
        self,
        run: ModuleType,
        monkeypatch: pytest.MonkeyPatch,
        words: list[str],
        lock: str,
        called: list[str],
    ) -> None:
        """`test` is for run.py, everything else for kiebitz; tests need the other lock."""
        locks: list[str] = []
        commands: list[list[str]] = []
        monkeypatch.setattr(run, "set_up", locks.append)
        monkeypatch.setattr(os, "execv", lambda _, command: commands.append(command))
        monkeypatch.setattr(subprocess, "call", lambda command, **_: commands.append(command))

        run.start(words)

        assert locks == [lock]
        assert commands[0][-len(called) :] == called


class TestLocks:
    """What the locks must hold."""

    @staticmethod
    def pins(name: str) -> dict[str, set[str]]:
        """Names and versions in a lock."""
        found: dict[str, set[str]] = {}
        for line in (ROOT / name).read_text("utf-8").splitlines():
            if match := re.match(r"([A-Za-z0-9_.-]+)(?:\[.*\])?==([^\s;]+)", line):
                found.setdefault(match[1].lower(), set()).add(match[2])
        return found

    def test_tests_run_on_what_players_get(self) -> None:
        """Every pin of the players' lock is in the development lock, so one environment is enough."""
        play, test = self.pins("requirements.lock"), self.pins("requirements-dev.lock")

        assert play
        assert {name: test.get(name) for name in play} == play

    @pytest.mark.parametrize(
        "name", ["requirements.lock", "requirements-dev.lock", "requirements-node.lock"]
    )
    def test_every_pin_has_hashes(self, name: str) -> None:
        """Nothing is installed that was not looked at when the lock was written."""
        text = (ROOT / name).read_text("utf-8")
        blocks = re.split(r"(?m)^(?=\S+==)", text)[1:]

        assert len(blocks) == sum(map(len, self.pins(name).values()))
        assert all("--hash=sha256:" in block for block in blocks)

    def test_no_requirement_is_missing(self) -> None:
        """What pyproject.toml asks for is in the locks, in a version that it allows."""
        import tomllib

        from packaging.requirements import Requirement

        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        groups = project["dependency-groups"]
        wanted = {
            "requirements.lock": [*project["project"]["dependencies"], *groups["build"]],
            "requirements-dev.lock": project["project"]["optional-dependencies"]["dev"],
            "requirements-node.lock": groups["node"],
        }
        for lock, requirements in wanted.items():
            pins = self.pins(lock)
            for requirement in map(Requirement, requirements):
                versions = pins.get(requirement.name.lower(), set())
                assert versions, f"{requirement.name} is missing in {lock}"
                assert all(map(requirement.specifier.contains, versions)), str(requirement)


class TestPage:
    """The page and the wheel that holds it."""

    @pytest.mark.parametrize(
        ("version", "enough"),
        [
            ("v18.20.4", False),
            ("v20.18.3", False),
            ("v20.19.0", True),
            ("v21.7.0", False),
            ("v22.11.0", False),
            ("v22.12.0", True),
            ("v24.1.0", True),
            ("nonsense", False),
        ],
    )
    def test_node_must_be_new_enough(self, version: str, enough: bool) -> None:
        """Vite says which versions it runs on."""
        assert page_build.node_is_new_enough(version) is enough

    def test_any_change_of_the_sources_is_noticed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A changed, renamed or new file of the page leads to a new build; packages do not."""
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "main.ts").write_text("1")
        monkeypatch.setattr(page_build, "SOURCES", tmp_path)
        digests = [page_build.sources_digest()]

        (tmp_path / "src" / "main.ts").write_text("2")
        digests.append(page_build.sources_digest())
        (tmp_path / "src" / "main.ts").rename(tmp_path / "src" / "other.ts")
        digests.append(page_build.sources_digest())
        (tmp_path / "new.css").write_text("")
        digests.append(page_build.sources_digest())
        (tmp_path / "node_modules").mkdir()
        (tmp_path / "node_modules" / "x.js").write_text("")

        assert len(set(digests)) == 4
        assert page_build.sources_digest() == digests[-1]

    def test_a_failed_build_keeps_the_old_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While a new page cannot be built the old one stays, and the error holds what npm said."""
        page = tmp_path / "static"
        page.mkdir()
        (page / "index.html").write_text("old")
        sources = tmp_path / "dashboard"
        sources.mkdir()
        (sources / "page.ts").write_text("")
        monkeypatch.setattr(page_build, "SOURCES", sources)
        monkeypatch.setattr(page_build, "PAGE", page)
        monkeypatch.setattr(page_build, "is_built", lambda: False)
        broken = [sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"]
        monkeypatch.setattr(page_build, "node_of_machine", lambda: broken)

        with pytest.raises(page_build.PageBuildError) as caught:
            page_build.build()

        assert caught.value.printed == "no such thing\n"
        assert (page / "index.html").read_text() == "old"

    def test_a_wheel_holds_page_and_program(self, tmp_path: Path) -> None:
        """A wheel, built by the hook, has the page and `kiebitz`, but nothing to build it from."""
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]

        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)

        with zipfile.ZipFile(next(tmp_path.glob("kiebitz-*.whl"))) as wheel:
            names = wheel.namelist()
        assert "service/static/index.html" in names
        assert any(re.fullmatch(r"service/static/assets/.*\.js", name) for name in names)
        assert "rules/errors.py" in names
        assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
        assert not [name for name in names if "dashboard" in name or name.startswith("tests")]
