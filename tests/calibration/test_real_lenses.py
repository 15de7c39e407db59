"""Lenses, chessboards and markers on real photographs; skipped where these are absent."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from calibration import cv, store
from calibration.lens_board import LensBoard, find_corners
from tests.calibration.shared_tables import free_table, kiebitz


def real_set(shared: Path, name: str) -> tuple[Path, dict[str, Any]]:
    """The pictures of a set and their labels."""
    folder = shared / "real" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    labels: dict[str, Any] = json.loads((folder / "labels.json").read_text("utf-8"))
    return folder / "images", labels


def test_a_charuco_board_tells_the_focal_length(shared: Path, tmp_path: Path) -> None:
    """Within half a percent of the reference, near duplicates left out."""
    images, labels = real_set(shared, "trifinger_charuco_rig")
    table = free_table(tmp_path, 9, 9, 20.0)
    pictures = sorted((images / "intrinsic").glob("*"))

    code = kiebitz(
        "calibrate", "lens", table, "camera", *pictures,
        "--board", "charuco:5x7:40:30:DICT_APRILTAG_16h5",
    )  # fmt: skip

    assert code == 0
    record = store.read(table).lenses["camera"]
    reference = labels["reference_intrinsics"]
    assert record.lens.matrix[0, 0] == pytest.approx(reference["fx"], rel=0.005)
    assert record.lens.matrix[1, 1] == pytest.approx(reference["fy"], rel=0.005)
    assert record.verdict.startswith("good")
    assert record.views < len(pictures)


def test_chessboards_tell_both_lenses_and_the_baseline(shared: Path, tmp_path: Path) -> None:
    """Focal lengths within one percent, the distance of the two cameras within two."""
    images, labels = real_set(shared, "opencv_stereo_chessboard")
    sides = ("left", "right")
    table = free_table(tmp_path, 9, 9, 20.0, sides)

    for side in sides:
        pictures = sorted(images.glob(f"{side}*.jpg"))
        assert kiebitz("calibrate", "lens", table, side, *pictures, "--board", "chess:9x6:25") == 0

    lenses = {side: store.read(table).lenses[side].lens for side in sides}
    for side in sides:
        assert lenses[side].matrix[0, 0] == pytest.approx(labels["reference"][side]["fx"], rel=0.01)
    board = LensBoard.parse("chess:9x6:25")
    baselines = []
    for pair in labels["pairs"]:
        places = []
        for side in sides:
            view = find_corners(cv.read_image(images / f"{side}{pair}.jpg"), board)
            assert view is not None, f"no chessboard found in {side}{pair}.jpg"
            lens = lenses[side]
            _, turn, place = cv2.solvePnP(
                board.points_mm()[view.ids], view.corners_px, lens.matrix, lens.distortion
            )
            places.append((cv.rotation_of(turn), np.asarray(place).ravel()))
        (R1, t1), (R2, t2) = places
        baselines.append(float(np.linalg.norm(t2 - R2 @ R1.T @ t1)) / 25)
    reference = labels["reference"]["stereo"]["baseline_in_squares"]
    assert np.median(baselines) == pytest.approx(reference, rel=0.02)


def test_chessboards_of_another_count_are_refused(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board that was counted wrongly is told, and no lens is stored."""
    images, _ = real_set(shared, "opencv_stereo_chessboard")
    table = free_table(tmp_path, 9, 9, 20.0)

    code = kiebitz(
        "calibrate", "lens", table, "camera", images / "left01.jpg", images / "left02.jpg",
        "--board", "chess:8x7:25",
    )  # fmt: skip

    assert code == 1
    assert "check --board" in capsys.readouterr().err
    assert not store.read(table).lenses


def _dictionary(images: Path, named: str) -> Any:
    if named.startswith("DICT"):
        return cv.dictionary_of(named)
    file = cv2.FileStorage(
        str(images.parent / "published/tutorial_dict.yml"), cv2.FILE_STORAGE_READ
    )
    dictionary = cv2.aruco.Dictionary()
    assert dictionary.readDictionary(file.root())
    return dictionary


@pytest.mark.parametrize(
    "name", ["singlemarkersoriginal", "gboriginal", "choriginal", "chocclusion_original"]
)
def test_markers_on_photographs_are_found_as_labelled(shared: Path, name: str) -> None:
    """Every labelled marker and no other, corners within a pixel and a half."""
    images, labels = real_set(shared, "opencv_aruco_photos")
    entry = labels[name]

    found, ids = cv.detect_markers(
        cv.grey(cv.read_image(images / f"{name}.jpg")),
        _dictionary(images, entry["dictionary"]),
    )

    seen = dict(zip(ids.tolist(), found, strict=True))
    assert seen.keys() == {int(number) for number in entry["markers"]}
    for number, corners in entry["markers"].items():
        assert np.abs(seen[int(number)] - np.array(corners)).max() < 1.5
