"""What every test can ask for, and what no test may do: log an error unnoticed."""

import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# A busy machine is no reason to fail; and where nobody looks for new examples, runs are repeatable.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def no_logged_errors(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that logged an error; one that expects them asks for `caplog` and clears it."""
    caplog: pytest.LogCaptureFixture = request.getfixturevalue("caplog")
    yield
    errors = [r.getMessage() for r in caplog.get_records("call") if r.levelno >= logging.ERROR]
    assert not errors, f"the test logged errors: {errors}"


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20240611)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of pictures from elsewhere, which are not part of the repository."""
    folder = Path(os.environ.get("KIEBITZ_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("no folder of outside pictures: set KIEBITZ_SHARED to one")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium for tests of the page."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium found; on Debian: apt install chromium")
    return found
