"""Printed mats: rendered back from the PDF, every marker lies at its millimetre."""

from pathlib import Path
from typing import get_args

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration import cv
from calibration.errors import CalibrationError
from calibration.lens_board import DEFAULT_BOARD, LensBoard, find_corners
from calibration.mat import Mat, Paper, kind_for, mat_for
from calibration.mat_pdf import write_mat
from rules.lattice import Board, Lattice
from rules.registry import find_game

PX_PER_MM = 8.0
GAMES = ["kewbz", "kwinty", "turris"]


def pages(path: Path) -> list[cv.Image]:
    """The pages of a PDF as grey pictures."""
    document = pypdfium2.PdfDocument(path)
    scale = PX_PER_MM * 25.4 / 72
    found = [cv.grey(page.render(scale=scale).to_numpy()[..., :3].copy()) for page in document]
    document.close()
    return found


def printed(game: str, paper: Paper, tmp_path: Path) -> tuple[Mat, Board, list[cv.Image]]:
    """The mat of a game and its pages."""
    board = find_game(game).board
    mat = mat_for(board, paper)
    write_mat(tmp_path / "mat.pdf", mat, board, LensBoard.parse(DEFAULT_BOARD), paper)
    return mat, board, pages(tmp_path / "mat.pdf")


def marker_corners_mm(page: cv.Image) -> dict[int, cv.Floats]:
    """Corners of the markers on a page, y upwards, from its lower left corner."""
    found, ids = cv.detect_markers(page, cv.dictionary_of("DICT_4X4_50"))
    height = page.shape[0]
    return {
        int(number): np.column_stack([corners[:, 0] + 0.5, height - corners[:, 1] - 0.5])
        / PX_PER_MM
        for number, corners in zip(ids, found, strict=True)
    }


@pytest.mark.parametrize("paper", get_args(Paper))
@pytest.mark.parametrize("game", ["kwinty", "turris"])
def test_a_sheet_holds_its_markers_where_the_table_says(
    game: str, paper: Paper, tmp_path: Path
) -> None:
    """All four are found, at the right distances from each other to a tenth of a millimetre."""
    mat, _, found = printed(game, paper, tmp_path)

    corners = marker_corners_mm(found[0])

    assert sorted(corners) == [marker.id for marker in mat.markers]
    low = {number: points.min(axis=0) for number, points in corners.items()}
    first = mat.markers[0]
    for marker in mat.markers:
        wanted = np.subtract(marker.corner_mm, first.corner_mm)
        assert np.abs(low[marker.id] - low[first.id] - wanted).max() < 0.15
        assert np.abs(np.ptp(corners[marker.id], axis=0) - marker.size_mm).max() < 0.2
        # upright for a viewer at 6 o'clock: the first corner is the upper left one
        assert corners[marker.id][0][0] < corners[marker.id][1][0]
        assert corners[marker.id][0][1] > corners[marker.id][3][1]


@pytest.mark.parametrize("paper", get_args(Paper))
def test_a_card_lies_right_when_its_notch_is_at_the_boards_corner(
    paper: Paper, tmp_path: Path
) -> None:
    """Marker against notch on the paper is marker against corner on the table."""
    mat, board, found = printed("kewbz", paper, tmp_path)
    wide, deep, _ = board.lattice.size_mm
    corner = {0: (-12, -12), 1: (wide + 12, -12), 2: (wide + 12, deep + 12), 3: (-12, deep + 12)}
    away = {0: (-48, -48), 1: (8, -48), 2: (8, 8), 3: (-48, 8)}

    corners = marker_corners_mm(found[0])

    assert sorted(corners) == [0, 1, 2, 3]
    for marker in mat.markers:
        wanted = np.add(corner[marker.id], away[marker.id])
        assert np.abs(np.subtract(marker.corner_mm, wanted)).max() < 1e-6
        notch = notch_corner_mm(found[0], corners[marker.id], marker.id)
        assert np.abs(corners[marker.id].min(axis=0) - notch - away[marker.id]).max() < 0.3


def notch_corner_mm(page: cv.Image, corners: cv.Floats, number: int) -> cv.Floats:
    """The inner corner of a card's notch, by the lines that are drawn there."""
    on_right, behind = number in (1, 2), number in (2, 3)
    inner = np.array(
        [corners[:, 0].min() if on_right else corners[:, 0].max(),
         corners[:, 1].min() if behind else corners[:, 1].max()]
    )  # fmt: skip
    step = np.array([-1 if on_right else 1, -1 if behind else 1])
    height = page.shape[0]
    found = []
    for axis in (0, 1):
        # walk from beside the marker into the notch until the first dark line
        for far in np.arange(3.0, 12.0, 1 / PX_PER_MM):
            place = inner + step * 12.0
            place[axis] = inner[axis] + step[axis] * far
            x, y = round(place[0] * PX_PER_MM), round(height - place[1] * PX_PER_MM)
            if page[y, x] < 225:
                found.append(place[axis])
                break
    return np.array(found)


@pytest.mark.parametrize("paper", get_args(Paper))
def test_the_lens_board_is_found_with_all_corners_to_scale(paper: Paper, tmp_path: Path) -> None:
    """The last page is the lens board, thirty millimetres a square."""
    _, _, found = printed("kewbz", paper, tmp_path)
    board = LensBoard.parse(DEFAULT_BOARD)
    picture = np.asarray(cv2.cvtColor(found[-1], cv2.COLOR_GRAY2BGR), dtype=np.uint8)

    view = find_corners(picture, board)

    assert view is not None
    assert len(view.ids) == len(board.points_mm())
    seen = view.corners_px / PX_PER_MM
    wanted = board.points_mm()[view.ids][:, :2]
    assert np.abs((seen - seen[0]) - (wanted - wanted[0])).max() < 0.15


def test_the_same_table_prints_the_same_bytes(tmp_path: Path) -> None:
    """Nothing in the PDF tells when it was made."""
    first = tmp_path / "a"
    second = tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        printed("turris", "a4", folder)

    assert (first / "mat.pdf").read_bytes() == (second / "mat.pdf").read_bytes()


@pytest.mark.parametrize(
    ("game", "kind"), [("kewbz", "cards"), ("kwinty", "sheet"), ("turris", "felt")]
)
def test_each_kind_of_board_gets_its_mat(game: str, kind: str) -> None:
    """A wall stands on a sheet, a felt is a sheet, everything else gets cards."""
    assert kind_for(find_game(game).board) == kind


def test_a_strip_longer_than_the_paper_is_told() -> None:
    """Seventeen squares of a floating wall do not fit on one sheet."""
    board = Board(Lattice(17, 1, 9, 27.0, (27.0, 27.0, 27.0)))

    with pytest.raises(CalibrationError, match="too long for this paper"):
        mat_for(board, "a4")
