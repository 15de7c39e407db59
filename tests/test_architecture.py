"""What holds for the whole repository: imports point one way, and no file names a registry."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("rules", "calibration", "vision", "service")  # each may import those before it
ALLOWED_IN_RULES = sys.stdlib_module_names | {"rules"}
# Any of them in a tracked file would tie the project to one network. Written in pieces, so that
# this file holds none of them.
REGISTRIES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"py" + r"pi\.org",
        r"pythonhosted" + r"\.org",
        r"registry\.npm" + r"js\.org",
        r"registry\.yarn" + r"pkg\.com",
        r"(deb|security|ftp)\.debian" + r"\.org",
        r"index-url" + r"\s*[= ]\s*\S+://",
        r'"resolved"' + r"\s*:",
    )
]


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with the line, wherever in the file it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module


def upward_imports(package: str, path: Path, text: str) -> list[str]:
    """Each import in a file of this package that it must not have, as `file:line: what`."""
    above = PACKAGES[PACKAGES.index(package) + 1 :]
    found = []
    for line, module in imports(ast.parse(text)):
        top = module.partition(".")[0]
        if top in above or top in ("tests", "benchmarks"):
            found.append(f"{path}:{line}: {package} imports {module}")
        elif package == "rules" and top not in ALLOWED_IN_RULES:
            found.append(f"{path}:{line}: rules imports {module}, not of the standard library")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package: str) -> None:
    """No package imports one that stands after it in rules, calibration, vision, service."""
    files = sorted((ROOT / package).rglob("*.py"))

    found = [
        line
        for path in files
        if "node_modules" not in path.parts
        for line in upward_imports(package, path.relative_to(ROOT), path.read_text("utf-8"))
    ]

    assert files
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("package", "text", "told"),
    [
        pytest.param(
            "rules", "import numpy", "rules/x.py:1: rules imports numpy", id="rules-numpy"
        ),
        pytest.param("vision", "\nfrom service import app", "x.py:2: vision imports", id="upward"),
        pytest.param(
            "calibration", "def f():\n    import vision.frame", "x.py:2: calibration", id="hidden"
        ),
    ],
)
def test_wrong_imports_are_told_with_file_and_line(package: str, text: str, told: str) -> None:
    """The message of the import test names the offending line."""
    found = upward_imports(package, Path(package) / "x.py", text)

    assert len(found) == 1
    assert told in found[0]


def test_imports_along_the_arrow_are_fine() -> None:
    """A package may import the ones before it, and the standard library."""
    assert not upward_imports(
        "vision", Path("x.py"), "import rules\nimport calibration.cv\nimport os"
    )


def tracked_files() -> list[Path]:
    """The files that git knows; skips where this is no checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_tracked_file_holds_a_registry_address() -> None:
    """Locks and settings work behind any mirror, because none is named."""
    found = []
    for path in tracked_files():
        if not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [
            f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
            for pattern in REGISTRIES
            if (match := pattern.search(text))
        ]

    assert not found, "\n" + "\n".join(found)
