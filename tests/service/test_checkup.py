"""`kiebitz doctor`: what is wrong is found by trying, and passwords are never told."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from service.checkup import checkup, masked
from service.settings import Settings


def findings(tmp_path: Path, folder: Path | None = None) -> dict[str, tuple[bool, str]]:
    """All findings by what was looked at."""
    settings = Settings(data=tmp_path / "data", port=0, https_port=0)
    return {one.what: (one.good, one.found) for one in checkup(settings, folder, 0.3)}


def test_storage_and_disk_are_tried(tmp_path: Path) -> None:
    """A fresh folder works."""
    found = findings(tmp_path)

    assert found["storage"][0]
    assert found["storage"][1].startswith("0 games")
    assert found["disk"][0]


def test_a_damaged_database_is_found(tmp_path: Path) -> None:
    """A file that is no database is told with what to do."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kiebitz.sqlite").write_bytes(b"nonsense" * 100)

    good, told = findings(tmp_path)["storage"]

    assert not good
    assert "move it away" in told


def test_a_tables_cameras_are_tried(tmp_path: Path) -> None:
    """A camera that gives pictures is told with its size; one that does not, with advice."""
    table = tmp_path / "table"
    pictures = table / "pictures"
    pictures.mkdir(parents=True)
    for number in range(3):
        image = np.full((48, 64, 3), number * 50, dtype=np.uint8)
        cv2.imwrite(str(pictures / f"{number}.png"), image)
    (table / "table.toml").write_text(
        'game = "kewbz"\n[cameras.left]\nsource = "pictures"\n'
        '[cameras.right]\nsource = "nowhere.avi"\n'
    )

    found = findings(tmp_path, table)

    assert "64 x 48" in found["camera 'left' of the table"][1]
    assert not found["camera 'right' of the table"][0]


@pytest.mark.parametrize(
    ("source", "text", "shown"),
    [
        ("rtsp://eva:geheim@192.0.2.3/live", "no answer from {}", "rtsp://eva:***@192.0.2.3/live"),
        ("http://192.0.2.3/video", "no answer from {}", "http://192.0.2.3/video"),
        (0, "no camera {}", "0"),
    ],
    ids=["password", "address", "device"],
)
def test_passwords_are_masked(source: int | str, text: str, shown: str) -> None:
    """What the terminal shows never holds a camera's password."""
    assert masked(text.format(source), source) == text.format(shown)
