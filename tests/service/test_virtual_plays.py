"""What `virtual:NAME` plays: files beside the table, and whole games by name."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from calibration.scene import CameraPlace
from rules.registry import find_game
from service.camera_pictures import take_picture
from service.table_folder import default_table, write_table
from service.virtual_plays import virtual_cameras
from service.watching import wanted_sources
from vision.errors import SourceError


@pytest.mark.parametrize(
    ("game", "cameras"),
    [
        ("kewbz", ["camera"]),
        ("qbq", ["overhead", "side"]),
        ("kwinty", ["front"]),
        ("turris", ["left", "right", "overhead"]),
        ("cube", ["right"]),
    ],
    ids=["one", "two", "front", "three", "some"],
)
def test_a_game_plays_before_the_cameras_of_the_table(
    tmp_path: Path, game: str, cameras: list[str]
) -> None:
    """The rig is the first one that has these cameras, and each gives pictures."""
    found = virtual_cameras(tmp_path, game, cameras)

    for name in cameras:
        assert next(islice(found[name].frames(), 1)).image.shape == (720, 1280, 3)


def test_a_virtual_camera_takes_the_picture_of_the_empty_table(tmp_path: Path) -> None:
    """Calibration finds where a virtual camera stands from its own source, as with a device."""
    table = default_table(find_game("kewbz"))
    cameras = {
        name: CameraPlace(name=name, source="virtual:kewbz") for name in ("overhead", "side")
    }
    write_table(tmp_path, replace(table, scene=replace(table.scene, cameras=cameras)))

    picture = take_picture(cameras["overhead"], tmp_path)

    truth = virtual_cameras(tmp_path, "kewbz", cameras)["overhead"]
    first = next(islice(truth.frames(), 1)).image
    assert np.abs(picture.astype(int) - first).mean() < 4


def test_a_file_of_that_name_comes_first(tmp_path: Path) -> None:
    """A record called like a game is a record."""
    (tmp_path / "kewbz").write_text("game = kewbz\n\n@ scene rig=corners\nB +d4B\n", "utf-8")

    assert set(virtual_cameras(tmp_path, "kewbz", ["overhead"])) == {"left", "right"}


def test_cameras_that_no_rig_has_are_told(tmp_path: Path) -> None:
    """A camera of another name is an error in words that says how to call it."""
    with pytest.raises(SourceError, match="no cameras ceiling; call them camera"):
        virtual_cameras(tmp_path, "ksar", ["ceiling"])


def test_a_game_is_not_taken_for_a_path() -> None:
    """On the command line `virtual:kewbz` stays what it is, and a file gets its whole path."""
    given = wanted_sources(["a=virtual:kewbz", "b=virtual:game.txt"], {"a": None, "b": None})  # type: ignore[dict-item]

    assert given == {"a": "virtual:kewbz", "b": f"virtual:{Path('game.txt').resolve()}"}
