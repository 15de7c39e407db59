"""The printed lens board: what it looks like, and its corners in one picture."""

import re
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.camera import Floats
from calibration.cv import Image, Ints
from calibration.errors import CalibrationError

DEFAULT_BOARD = "charuco:7x5:30:22:DICT_5X5_100"
_NUMBER = r"\d+(?:\.\d+)?"
_BOARD = re.compile(
    r"(?P<kind>charuco|chess):(?P<columns>\d+)[xX](?P<rows>\d+):"
    rf"(?P<square>{_NUMBER})(?::(?P<marker>{_NUMBER}):(?P<dictionary>\w+))?\Z"
)


@dataclass(frozen=True, slots=True)
class LensBoard:
    """A checkered board: squares with markers (ChArUco) or without (a plain chessboard)."""

    kind: str  # `charuco` or `chess`
    columns: int  # squares for charuco, inner corners for chess
    rows: int
    square_mm: float
    marker_mm: float = 0.0
    dictionary: str = ""

    @staticmethod
    def parse(text: str) -> "LensBoard":
        """From `charuco:7x5:30:22:DICT_5X5_100` or `chess:9x6:25`; raises CalibrationError."""
        match = _BOARD.match(text)
        if match is None or (match["kind"] == "charuco") != (match["dictionary"] is not None):
            raise CalibrationError(
                f"{text!r} is no lens board; write 'charuco:7x5:30:22:DICT_5X5_100' (squares, "
                "square mm, marker mm, dictionary) or 'chess:9x6:25' (inner corners, mm)"
            )
        columns, rows, square = int(match["columns"]), int(match["rows"]), float(match["square"])
        marker, dictionary = float(match["marker"] or 0), match["dictionary"] or ""
        board = LensBoard(match["kind"], columns, rows, square, marker, dictionary)
        if not (2 < columns < 100 and 2 < rows < 100 and square > 0):
            raise CalibrationError(f"the lens board {text!r} must have 3 to 99 squares a side")
        if board.kind == "charuco":
            if not 0 < board.marker_mm < square:
                raise CalibrationError(f"the markers of {text!r} must be smaller than its squares")
            known = len(cv.dictionary_of(board.dictionary).bytesList)
            if columns * rows // 2 > known:
                raise CalibrationError(
                    f"the lens board {text!r} needs {columns * rows // 2} markers, its dictionary "
                    f"has {known}; take fewer squares, or a larger dictionary such as DICT_5X5_1000"
                )
        return board

    @property
    def inner(self) -> tuple[int, int]:
        """Inner corners, along and across."""
        less = 1 if self.kind == "charuco" else 0
        return self.columns - less, self.rows - less

    def points_mm(self) -> Floats:
        """All inner corners (N, 3), row by row."""
        along, across = self.inner
        y, x = np.mgrid[0:across, 0:along]
        flat = np.stack([x.ravel() + 1, y.ravel() + 1, np.zeros(x.size)], axis=1)
        return np.asarray(flat * self.square_mm)

    def charuco(self, *, legacy: bool = False) -> Any:
        """OpenCV's board object."""
        board = cv2.aruco.CharucoBoard(
            (self.columns, self.rows),
            self.square_mm,
            self.marker_mm,
            cv.dictionary_of(self.dictionary),
        )
        board.setLegacyPattern(legacy)
        return board


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """The corners found in one picture, and how sharp their edges are."""

    ids: Ints
    corners_px: Floats
    edge_width_px: float
    clipped: float  # part of the board's area at the brightest value


def find_corners(image: Image, board: LensBoard) -> BoardView | None:
    """The board's inner corners; None where not even four are seen."""
    grey = cv.grey(image)
    if board.kind == "charuco":
        found = _charuco_corners(grey, board)
    else:
        found = _chess_corners(grey, board)
    if found is None or len(found[0]) < 4:
        return None
    which, corners = found
    return BoardView(
        which, corners, _edge_width(grey, board, which, corners), _glare(grey, corners)
    )


def _charuco_corners(grey: Image, board: LensBoard) -> tuple[Ints, Floats] | None:
    best: tuple[Ints, Floats] | None = None
    for legacy in (False, True):  # boards printed by programs before 2022 begin with a white square
        detector = cv2.aruco.CharucoDetector(board.charuco(legacy=legacy))
        corners, found, _, _ = detector.detectBoard(grey)
        which, where = cv.ids(found), cv.points(corners)
        keep = _fits_plane(board.points_mm()[which], where)
        which, where = which[keep], where[keep]
        if best is None or len(which) > len(best[0]):
            best = which, where
        if len(which) >= 0.5 * len(board.points_mm()):
            break
    if best is None or not len(best[0]):
        return None
    which, where = best
    return which, cv.sub_pixel(grey, where, _window(board, which, where))


def _chess_corners(grey: Image, board: LensBoard) -> tuple[Ints, Floats] | None:
    pattern = board.inner
    flags = cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE
    done, corners = cv2.findChessboardCorners(grey, pattern, flags=flags)
    if not done:
        done, corners = cv2.findChessboardCornersSB(
            grey, pattern, flags=cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_EXHAUSTIVE
        )
    if not done:
        return None
    which, where = np.arange(pattern[0] * pattern[1]), cv.points(corners)
    return which, cv.sub_pixel(grey, where, _window(board, which, where))


def _fits_plane(board_mm: Floats, corners_px: Floats) -> NDArray[np.bool_]:
    """Which corners agree with one plane, leaving room for a bent lens."""
    if len(corners_px) < 4:
        return np.zeros(len(corners_px), dtype=np.bool_)
    size = float(np.ptp(corners_px, axis=0).max())
    found: Any = cv2.findHomography(
        cv.as_cv_points(board_mm[:, :2], 2),
        cv.as_cv_points(corners_px, 2),
        cv2.RANSAC,
        max(2.0, 0.015 * size),
    )
    good = found[1]
    if good is None:
        return np.zeros(len(corners_px), dtype=np.bool_)
    return np.asarray(good).ravel().astype(np.bool_)


def _window(board: LensBoard, which: Ints, where: Floats) -> int:
    """Half the side of the patch in which a corner is refined: free of markers and neighbours."""
    square = _square_px(board, which, where)
    clear = 0.5 * (1 - board.marker_mm / board.square_mm) if board.kind == "charuco" else 0.25
    return int(np.clip(clear * square * 0.9, 2, 9))


def _neighbours(board: LensBoard, which: Ints) -> list[tuple[int, int]]:
    """Index pairs of found corners that are next to each other on the board."""
    along = board.inner[0]
    place = {int(w): i for i, w in enumerate(which)}
    pairs = []
    for w, i in place.items():
        if (w + 1) % along and w + 1 in place:
            pairs.append((i, place[w + 1]))
        if w + along in place:
            pairs.append((i, place[w + along]))
    return pairs


def _square_px(board: LensBoard, which: Ints, where: Floats) -> float:
    pairs = _neighbours(board, which)
    if not pairs:
        return 20.0
    return float(np.median([np.hypot(*(where[a] - where[b])) for a, b in pairs]))


def _edge_width(grey: Image, board: LensBoard, which: Ints, where: Floats) -> float:
    """How many pixels the edges between squares need from black to white; large is blurred.

    Along and across are judged apart, the worse one counts: a moving board blurs in one direction.
    """
    widths: tuple[list[float], list[float]] = ([], [])
    picture = grey.astype(np.float32)
    for a, b in _neighbours(board, which):
        edge = where[b] - where[a]
        length = float(np.hypot(*edge))
        if length < 8:
            continue
        across = np.array([-edge[1], edge[0]]) / length
        reach = max(0.13 * length, 2.0)
        s = np.arange(-reach, reach + 0.25, 0.5)
        middle = where[a] + np.array([[0.35], [0.5], [0.65]]) * edge
        spots = (middle[:, None, :] + s[None, :, None] * across).astype(np.float32)
        profile = cv2.remap(picture, spots[..., 0], spots[..., 1], cv2.INTER_LINEAR).mean(axis=0)
        contrast, steepest = float(np.ptp(profile)), float(np.abs(np.diff(profile)).max() / 0.5)
        if contrast > 20:
            widths[abs(int(which[a]) - int(which[b])) != 1].append(contrast / max(steepest, 1e-6))
    return max((float(np.median(w)) for w in widths if w), default=0.0)


def _glare(grey: Image, where: Floats) -> float:
    hull = cv2.convexHull(cv.as_cv_points(where, 2))
    mask = np.zeros(grey.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round(hull).astype(np.int32), 1)
    inside = grey[mask > 0]
    return float((inside >= 254).mean()) if inside.size else 0.0
