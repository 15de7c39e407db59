"""Reading path-traced tables by another renderer, with their true cameras; skipped where absent."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.camera import Camera, Lens
from calibration.cv import read_image
from rules.lattice import Board, Lattice
from rules.registry import find_game
from rules.stacks import Stacks
from service.bench.read import differing_units, make_reader, units_in_sight


def true_camera(cam: Mapping[str, Any]) -> Camera:
    """The camera of a set-up file: where it is, where it looks, how it is rolled."""
    place, aim = np.array(cam["at"], float), np.array(cam["to"], float)
    ahead = (aim - place) / np.linalg.norm(aim - place)
    right = np.cross(ahead, np.array(cam.get("up", [0, 0, 1]), float))
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    roll = cam.get("roll", 0.0)
    turned = np.cos(roll) * right + np.sin(roll) * down
    rotation = np.stack([turned, -np.sin(roll) * right + np.cos(roll) * down, ahead])
    matrix = np.array([[cam["f"], 0, cam["centre"][0]], [0, cam["f"], cam["centre"][1]], [0, 0, 1]])
    width, height = cam["size"]
    lens = Lens((width, height), matrix, np.array(cam["dist"]))
    return Camera.of(lens, rotation, -rotation @ place)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kewbz-11-two", "cube-11-two"])
def test_positions_of_another_renderer_are_read(shared: Path, name: str) -> None:
    """Nearly every position is exact, every height is right, and nothing wrong is told as sure."""
    folder = shared / "foreign" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    setup = json.loads((folder / "setup.json").read_text())
    truth = json.loads((folder / "truth.json").read_text())
    sizes = json.loads((folder.parent / "tables.json").read_text())[truth["game"]]
    lattice = Lattice(
        sizes["nx"],
        sizes["ny"],
        sizes["nz"],
        sizes["pitch"],
        tuple(sizes["unit"]),
    )
    spec = find_game(truth["game"])
    cameras = {n: true_camera(c) for n, c in setup["cameras"].items()}

    def pictures(shot: str) -> dict[str, NDArray[np.uint8]]:
        return {n: read_image(folder / "shots" / f"{shot}.{n}.jpg") for n in cameras}

    reader = make_reader(
        Board(lattice, (float(sizes["margin"]),) * 4),
        cameras,
        pictures("empty"),
        pictures("colours"),
        Stacks.of(truth["colours"]),
        spec.colours,
        spec,
    )

    exact = 0
    for shot, still in truth["stills"].items():
        stacks = Stacks.of(still["stacks"])
        reading = reader.read(pictures(shot))
        wrong = differing_units(stacks, reading.stacks, units_in_sight(cameras, lattice, stacks))
        exact += not wrong
        assert all(reading.stacks.height(c) == stacks.height(c) for c in lattice.cells())
        assert all(unit.cell in reading.unsure for unit in wrong), f"{shot}: sure of {wrong}"

    assert exact >= len(truth["stills"]) - 2
    assert not reader.read(pictures("empty")).stacks
