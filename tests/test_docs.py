"""What the documentation says must be true: commands exist, links lead somewhere."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from service import cli
from service.table_folder import read_table
from tests.conftest import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")],
)


def blocks(page: Path, language: str) -> list[str]:
    """What stands in a page's blocks of one language."""
    return re.findall(rf"(?ms)^ *```{language}\n(.*?)^ *```", page.read_text("utf-8"))


def commands(page: Path) -> Iterator[list[str]]:
    """The words after `kiebitz` or `run.py` of every such line in a page's blocks of commands."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", "").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] == ["python3", "run.py"]:
                yield words[2:]
            elif words[:1] == ["kiebitz"]:
                yield words[1:]


SHOWN = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)}")
    for page in PAGES
    for words in commands(page)
    if words and words[0] not in ("test", "check")
]


@pytest.mark.parametrize("words", SHOWN)
def test_commands_and_options_exist(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Every command that a page shows is one, and has the options that the page gives it."""
    path: list[str] = []
    for word in words:
        if cli.main([*path, word, "--help"]) != 0:
            break
        path.append(word)
        if capsys.readouterr().out.find("Commands:") < 0:
            break

    capsys.readouterr()
    assert path, f"there is no command {words[0]!r}"
    cli.main([*path, "--help"])
    known = capsys.readouterr().out
    options = [word for word in words if word.startswith("--") and word != "--help"]
    assert not [option for option in options if f"{option.partition('=')[0]} " not in known]


def test_the_first_game_of_the_readme_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables that the README makes can be made one after the other, and read."""
    monkeypatch.chdir(tmp_path)
    made = [words for words in commands(ROOT / "README.md") if words[:2] == ["table", "new"]]

    for words in made:
        assert cli.main(words) == 0

    assert made
    for words in made:
        assert read_table(tmp_path / words[2]).game == "kewbz"


@pytest.mark.slow
def test_our_pictures_are_read_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who copies a table of ours and types what is written there reads the position."""
    readme = (ROOT / "README.md").read_text("utf-8")
    copied = re.search(r"(?m)^cp -r (\S+) try$", readme)
    assert copied
    shutil.copytree(ROOT / copied[1], tmp_path / "try")
    monkeypatch.chdir(tmp_path)

    for words in commands(ROOT / "README.md"):
        if "try" in words:
            capsys.readouterr()
            assert cli.main(words) == 0

    read = json.loads(capsys.readouterr().out)
    truth = json.loads((tmp_path / "try" / "truth.json").read_text("utf-8"))
    assert read["stacks"] == truth["stills"]["still06"]["stacks"]
    assert (tmp_path / "try" / "read.png").exists()


@pytest.mark.slow
def test_an_excerpt_is_watched_as_the_documentation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who types what stands there sees a game followed, with an illegal turn in it."""
    page = ROOT / "docs" / "following.md"
    copied = re.search(r"(?m)^cp -r (\S+) evening$", page.read_text("utf-8"))
    assert copied
    shutil.copytree(ROOT / copied[1], tmp_path / "evening")
    monkeypatch.chdir(tmp_path)

    for words in commands(page):
        if "evening" in words:
            capsys.readouterr()
            # A shell puts names where stars are.
            each = (sorted(map(str, tmp_path.glob(w))) if "*" in w else [w] for w in words)
            assert cli.main([name for names in each for name in names]) == 0

    told = capsys.readouterr().out
    assert "illegal" in told
    assert re.search(r" 10\. B .* legal", told)


@pytest.mark.slow
def test_a_drawn_table_is_calibrated_as_the_documentation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Table, script, sources, pictures and commands, one after the other."""
    page = ROOT / "docs" / "virtual-table.md"
    monkeypatch.chdir(tmp_path)
    new, *others = [words for words in commands(page) if "drawn" in words]
    (game,) = blocks(page, "text")
    (cameras,) = blocks(page, "toml")
    (drawing,) = [block for block in blocks(page, "python") if 'Path("drawn")' in block]

    assert cli.main(new) == 0
    table = tmp_path / "drawn" / "table.toml"
    begun, rules = re.split(r"(?ms)^\[cameras.*?(?=^\[rules\])", table.read_text("utf-8"))
    table.write_text(f"{begun}{cameras}\n{rules}", "utf-8")
    (tmp_path / "drawn" / "game.txt").write_text(game, "utf-8")
    exec(compile(drawing, str(page), "exec"), {})
    for words in others:
        assert cli.main(words) == 0

    assert "2. Yellow +d5Y  legal" in capsys.readouterr().out


def test_the_readme_lists_every_command() -> None:
    """The table of commands in the README is complete, and names none that does not exist."""
    text = (ROOT / "README.md").read_text("utf-8")

    listed = re.findall(r"(?m)^\| `kiebitz ([\w-]+)", text)

    assert sorted(set(listed)) == sorted(cli.COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a file of the repository has that file."""
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))

    files = [link for link in links if "://" not in link and not link.startswith("mailto:")]

    assert not [link for link in files if not (page.parent / link).exists()]
