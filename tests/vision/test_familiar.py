"""Whether single pictures are of the calibrated table, on a traced sample table."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.colour import CameraColours
from calibration.cv import read_image
from rules.lattice import Board
from service.bench.traced import true_camera
from service.table_folder import read_table
from vision.familiar import familiar
from vision.frame import ImageBGR
from vision.likelihood import CameraEye

TABLE = Path(__file__).parents[2] / "sample_images" / "tune" / "kewbz-one"


@pytest.fixture(scope="module")
def board() -> Board:
    """The board of the sample table."""
    return read_table(TABLE).scene.board


@pytest.fixture(scope="module")
def eye() -> CameraEye:
    """Its camera, which stands where it stood; no colour is looked at here."""
    truth = json.loads((TABLE / "truth.json").read_text("utf-8"))
    mean, spread, seen = np.zeros((0, 5, 3)), np.zeros((0, 5, 2)), np.zeros((0, 5)) > 0
    light = np.zeros(6, dtype=np.float32)
    colours = CameraColours((), mean.astype(np.float32), spread.astype(np.float32), seen, light)
    empty = read_image(TABLE / "empty.camera.jpg")
    return CameraEye(true_camera(truth["cameras"]["camera"]), colours, empty)


@pytest.fixture(scope="module")
def still() -> ImageBGR:
    """Pieces on the table."""
    return read_image(TABLE / "still01.camera.jpg")


@pytest.mark.parametrize("light", [1.0, 0.25, 0.15])
def test_less_light_moves_no_camera(
    light: float, board: Board, eye: CameraEye, still: ImageBGR
) -> None:
    """A darker picture of the same view is read from the old place, with nothing told."""
    darker = np.asarray(still * light, dtype=np.uint8)

    found = familiar({"camera": eye}, board, {"camera": darker})

    assert found.eyes["camera"] is eye
    assert not found.moved
    assert not found.told


@pytest.mark.parametrize(
    ("flip", "why"),
    [
        pytest.param(1, "mirrored; switch", id="mirrored"),
        pytest.param(-1, "upside down; turn", id="upside down"),
        pytest.param(0, "mirrored and upside down; switch", id="both"),
    ],
)
def test_a_picture_that_was_turned_over_is_told(
    flip: int, why: str, board: Board, eye: CameraEye, still: ImageBGR
) -> None:
    """What lies around the board tells how the picture was turned, be it dark, too."""
    turned = np.asarray(cv2.flip(still, flip) * 0.4, dtype=np.uint8)

    found = familiar({"camera": eye}, board, {"camera": turned})

    assert not found.eyes
    assert f"left out, its picture is {why}" in found.told["camera"]
