#!/usr/bin/env python3
"""Sets Kiebitz up and starts it; needs nothing but Python 3.11.

    python3 run.py               the demo table opens in the browser
    python3 run.py WORDS ...     the same as `kiebitz WORDS ...`
    python3 run.py test [...]    every test; further words go to pytest
    python3 run.py check         format, lint, types, then every test

The first start makes `.venv` beside this file, installs the locked packages into it and builds
the page; later starts only look whether one of these has to be done again.
"""

# This file must start on any Python 3, or it could not say that a newer one is needed: nothing
# newer than 3.6 here except in what runs after `need_python`.
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, Iterator, List

HERE = Path(__file__).resolve().parent  # one name, also for `python3 ../run.py`
VENV = HERE / ".venv"
STAMP = VENV / "kiebitz-setup.json"  # written last: what the finished set-up was made from
UNFINISHED = VENV / "kiebitz-setup-unfinished"  # there while packages are being installed
LOG = HERE / ".cache" / "setup.log"
NEEDED = (3, 11)
PLAY_LOCK = "requirements.lock"
TEST_LOCK = "requirements-dev.lock"  # holds everything that PLAY_LOCK holds
NODE_LOCK = "requirements-node.lock"
PROJECT_FILES = ("pyproject.toml", "hatch_build.py", "page_build.py", "service/__init__.py")

APART = "{} lacks files of Kiebitz; start run.py in the whole folder of Kiebitz, or fetch that anew"
DISK_FULL = "the disk is full; Kiebitz needs about 1 GB beside run.py"
NOT_ALLOWED = "no permission to write here; put Kiebitz into a folder that is yours"
NO_NETWORK = "the packages cannot be fetched; the first start needs the internet"
NO_TRUST = "the package index shows a certificate that this machine does not trust"
WRONG_HASH = "a downloaded package is not the one that the lock names; try again later"
NO_VENV = (
    "this Python has no venv module; on Debian and Ubuntu it comes with: "
    "sudo apt install python3-venv"
)
# What installers print when something outside the project is wrong, and what to say then.
TROUBLES = (
    ("no space left|enospc|not enough space|os error 28|quota exceeded", DISK_FULL),
    ("permission denied|eacces|read-only file system|os error 13|os error 30", NOT_ALLOWED),
    ("certificate|sslerror|self_signed_cert|unable_to_get_issuer", NO_TRUST),
    ("do not match the hashes|hash mismatch|eintegrity", WRONG_HASH),
    ("name resolution|name or service not known|getaddrinfo|eai_again|enotfound", NO_NETWORK),
    ("newconnectionerror|connecttimeout|failed to establish|connection refused", NO_NETWORK),
    ("network is unreachable|econnrefused|econnreset|etimedout|read timed out", NO_NETWORK),
    ("dns error|failed to lookup|tcp connect error|error sending request", NO_NETWORK),
    ("could not fetch url|from versions: none|proxyerror", NO_NETWORK),
)


class Trouble(Exception):
    """Something that the person at the keyboard must know; the message is all that is shown."""


def main(words: List[str]) -> int:
    """Set up what is missing, then go on with the words."""
    need_python()
    set_up(TEST_LOCK if words[:1] in (["test"], ["check"]) else PLAY_LOCK)
    if words[:1] == ["test"]:
        return run_tests(words[1:])
    if words[:1] == ["check"]:
        return run_checks(words[1:])
    return kiebitz(words or ["demo"])


def need_python() -> None:
    """Stop where this Python is too old."""
    if sys.version_info[:2] < NEEDED:
        raise Trouble(
            "Kiebitz needs Python {}.{} or newer, but this is {}.{}; install a newer one and start "
            "run.py with it, for example: python3.12 run.py".format(*NEEDED, *sys.version_info[:2])
        )


# --- what there is to do -------------------------------------------------------------------


def set_up(lock: str) -> None:
    """Bring `.venv`, packages, page and project to what the files here say, and remember it."""
    if TEST_LOCK in read_stamp():
        lock = TEST_LOCK
    if read_stamp() == fingerprints(lock):
        return
    with only_one_at_a_time():
        wanted = fingerprints(lock)
        if read_stamp() == wanted:
            return
        began = time.monotonic()
        say("setting up Kiebitz in {}".format(HERE))
        make_venv()
        if read_stamp().get(lock) != wanted[lock]:
            forget_stamp()
            install_packages(lock)
        build_page()
        install_project()
        check_itself()
        write_stamp(fingerprints(lock))
        say("set up in {:.0f} s".format(time.monotonic() - began))


def fingerprints(lock: str) -> Dict[str, str]:
    """What the set-up depends on, each as a short text."""
    if not all((HERE / name).is_file() for name in (*PROJECT_FILES, lock)):
        raise Trouble(APART.format(HERE))
    import page_build

    project = hashlib.sha256()
    for name in PROJECT_FILES:
        project.update((HERE / name).read_bytes())
    return {
        **surroundings(),
        lock: hashlib.sha256((HERE / lock).read_bytes()).hexdigest(),
        "project": project.hexdigest(),
        "page": "built" if page_build.is_built() else "to be built",
    }


def surroundings() -> Dict[str, str]:
    """What `.venv` itself is tied to: its scripts name the folder, its packages the Python."""
    return {"folder": str(HERE), "python": os.path.realpath(str(venv_program("python")))}


def read_stamp() -> Dict[str, str]:
    """What the last finished set-up was made from; empty when there was none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(done: Dict[str, str]) -> None:
    """Remember a finished set-up, in one step and last of all."""
    waiting = STAMP.with_name("kiebitz-setup.new")
    waiting.write_text(json.dumps(done, indent=1), encoding="utf-8")
    waiting.replace(STAMP)


def forget_stamp() -> None:
    """From here on the set-up is not finished."""
    if STAMP.exists():
        STAMP.unlink()


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Wait while another start in this folder sets up; the lock goes with its process."""
    LOG.parent.mkdir(exist_ok=True)
    with (LOG.parent / "setup.lock").open("a") as file:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("another start is setting up here; waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


# --- the steps -----------------------------------------------------------------------------


def make_venv() -> None:
    """Make `.venv` where there is none that can be trusted."""
    python = str(venv_program("python"))
    if VENV.exists():
        stamp = read_stamp()
        same = all(stamp.get(key, value) == value for key, value in surroundings().items())
        if UNFINISHED.exists():
            say("the last set-up was interrupted; starting afresh")
        elif same and quietly([python, "-c", "import sys"]):
            return
        shutil.rmtree(str(VENV))
    step = Step("making .venv")
    # A Python that itself runs in an environment must not be the base of another one.
    base = getattr(sys, "_base_executable", None) or sys.executable
    uv = shutil.which("uv")
    if quietly([base, "-c", "import venv, ensurepip"]):
        command = [base, "-m", "venv", str(VENV)]
    elif uv:
        command = [uv, "venv", "--python", base, "--allow-existing", str(VENV)]
    else:
        raise Trouble(NO_VENV)
    VENV.mkdir()
    UNFINISHED.touch()
    run_step(command, step)
    step.done()


def install_packages(lock: str) -> None:
    """Install what the lock names, nothing else, and only if the hashes are right."""
    count = len(re.findall(r"(?m)^\S+==", (HERE / lock).read_text(encoding="utf-8")))
    step = Step("installing {} packages".format(count))
    UNFINISHED.touch()
    install(["--require-hashes", "-r", str(HERE / lock)], step)
    UNFINISHED.unlink()
    step.done()


def build_page() -> None:
    """Build the web page, with the machine's Node or with one from the package index."""
    import page_build

    if page_build.is_built():
        return
    if page_build.node_of_machine() is None:
        step = Step("fetching Node, which builds the page")
        install(["--require-hashes", "-r", str(HERE / NODE_LOCK)], step)
        step.done()
    step = Step("building the page")
    run_step([str(venv_program("python")), str(HERE / "page_build.py")], step)
    step.done()


def install_project() -> None:
    """Put the project's own packages and the program `kiebitz` into `.venv`."""
    step = Step("installing Kiebitz")
    install(["--no-deps", "--no-build-isolation", "--editable", str(HERE)], step)
    step.done()


def check_itself() -> None:
    """See whether the program starts and everything that it needs can be loaded."""
    step = Step("checking")
    run_step([str(venv_program("python")), "-m", "service.self_check"], step)
    step.done()


def install(what: List[str], step: "Step") -> None:
    """Install into `.venv`: with uv where there is one, else or if that fails with pip."""
    python = str(venv_program("python"))
    uv = shutil.which("uv")
    if uv:
        with contextlib.suppress(Trouble):  # pip may know a mirror or a proxy that uv does not
            run_step([uv, "pip", "install", "--python", python, *what], step)
            return
    if not quietly([python, "-m", "pip", "--version"]):
        run_step([python, "-m", "ensurepip"], step)
    run_step([python, "-m", "pip", "install", "--no-input", *what], step)


# --- running programs ----------------------------------------------------------------------


class Step:
    """One line on the terminal for one step, with what goes on in it and how long it took."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.began = time.monotonic()
        self.live = sys.stderr.isatty()
        if not self.live:
            say("  {} ...".format(title))
        self.show("")

    def show(self, line: str) -> None:
        """The newest line of the running program, as far as it fits on the terminal."""
        if self.live:
            width = max(20, shutil.get_terminal_size().columns - 1)
            text = "  {} ... {}".format(self.title, line.strip())[:width]
            sys.stderr.write("\r{}\r{}".format(" " * width, text))
            sys.stderr.flush()

    def done(self) -> None:
        """Close the line with the time that the step took."""
        self.show("")
        back = "\r" if self.live else ""
        say("{}  {}: {:.1f} s".format(back, self.title, time.monotonic() - self.began))


def run_step(command: List[str], step: Step) -> None:
    """Run one command of the set-up; what it prints goes to the log, its failure is explained."""
    printed = []
    with LOG.open("a", encoding="utf-8") as log:
        log.write("\n{} {}\n".format(time.strftime("%Y-%m-%d %H:%M:%S"), " ".join(command)))
        with subprocess.Popen(
            command,
            cwd=str(HERE),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            errors="replace",
        ) as program:
            try:
                for line in program.stdout or ():
                    printed.append(line)
                    log.write(line)
                    step.show(line)
            except BaseException:
                program.terminate()
                raise
    if program.returncode:
        if step.live:
            say("")
        raise Trouble(explain(step.title, "".join(printed)))


def explain(title: str, printed: str) -> str:
    """One sentence about a step that failed, from what its program printed."""
    for pattern, sentence in TROUBLES:
        if re.search(pattern, printed, re.IGNORECASE):
            return sentence
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    last = lines[-1] if lines else "it printed nothing"
    return "{} failed: {} (more in {})".format(title, last, LOG)


def quietly(command: List[str]) -> bool:
    """Whether a command succeeds."""
    try:
        return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def venv_program(name: str) -> Path:
    """The path of a program in `.venv`."""
    return VENV / "Scripts" / (name + ".exe") if os.name == "nt" else VENV / "bin" / name


def say(text: str) -> None:
    """Tell the person at the keyboard; standard output belongs to the program."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


# --- what it is set up for -----------------------------------------------------------------


def kiebitz(words: List[str]) -> int:
    """Become `kiebitz` with these words."""
    if os.name == "nt":
        return subprocess.call([str(venv_program("kiebitz")), *words])
    python = str(venv_program("python"))
    # By its interpreter: the first line of a script cannot name a folder with blanks.
    return os.execv(python, [python, str(venv_program("kiebitz")), *words])


def run_tests(words: List[str]) -> int:
    """Every test on all cores, or what the words ask pytest for."""
    command = [str(venv_program("python")), "-m", "pytest", *(words or ["-n", "auto"])]
    return subprocess.call(command, cwd=str(HERE))


def run_checks(words: List[str]) -> int:
    """Format, lint, types of Python and page, and the tests unless `--no-tests` is given."""
    python = str(venv_program("python"))
    checks = [
        ("format", [python, "-m", "ruff", "format", "--check"]),
        ("lint", [python, "-m", "ruff", "check"]),
        ("types", [python, "-m", "mypy"]),
    ]
    npm = shutil.which("npm")
    dashboard = HERE / "service" / "dashboard"
    if npm and (dashboard / "node_modules").is_dir():
        checks.append(("types of the page", [npm, "--prefix", str(dashboard), "run", "check"]))
    failed = [title for title, command in checks if not passes(title, command)]
    if "--no-tests" not in words and run_tests([]):
        failed.append("tests")
    say("not in order: {}".format(", ".join(failed)) if failed else "everything is in order")
    return 1 if failed else 0


def passes(title: str, command: List[str]) -> bool:
    """Run one check and tell which."""
    say("--- {}".format(title))
    return subprocess.call(command, cwd=str(HERE)) == 0


def start(words: List[str]) -> int:
    """Do what the words say; whatever goes wrong ends in one sentence."""
    try:
        return main(words)
    except Trouble as trouble:
        say(str(trouble))
        return 2
    except OSError as error:
        say(explain("set-up", "{}: {}".format(error.strerror, error.filename)))
        return 2
    except KeyboardInterrupt:
        say("\nstopped; start run.py again and it goes on from here")
        return 130


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
