"""The sources of the page: types hold, and every language says everything."""

import re
import subprocess
from pathlib import Path

import pytest

import page_build

LANGUAGES = page_build.SOURCES / "src" / "lang"


@pytest.mark.slow
def test_types_hold(built_page: Path) -> None:
    """The TypeScript compiler finds nothing to complain about."""
    npm = page_build.node_of_machine() or page_build.node_of_package()
    if npm is None or not (page_build.SOURCES / "node_modules").is_dir():
        pytest.skip("no Node with the page's packages on this machine")

    done = subprocess.run(
        [*npm, "run", "check"], cwd=page_build.SOURCES, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def texts(language: str) -> dict[str, str]:
    """All texts of a language by their keys."""
    file = (LANGUAGES / f"{language}.ts").read_text("utf-8")
    return dict(re.findall(r'^  "([^"]+)": "(.*)",$', file, re.MULTILINE))


@pytest.mark.parametrize("language", ["de", "fr", "es", "nl"])
def test_translations_say_everything(language: str) -> None:
    """Each text is there, with the same places to fill in, and not left in English."""
    english, other = texts("en"), texts(language)

    def places(text: str) -> list[str]:
        return sorted(re.findall(r"\{\w+\}", text))

    assert other.keys() == english.keys()
    assert [key for key, text in english.items() if places(text) != places(other[key])] == []
    long = [key for key, text in english.items() if len(text) > 25 and other[key] == text]
    assert long == []
