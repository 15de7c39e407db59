"""Printed things: marker cards beside the board and the lens board in somebody's hands."""

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Camera
from rules.lattice import Board
from vision.virtual.backdrop import Card
from vision.virtual.values import F32, f32

MARKER_MM = 40.0
MARKER_GAP_MM = 15.0
_OVER_TABLE_MM = 5.0
_NEAREST = 0.6  # of its distance, so that the lens board does not outgrow the picture
_WHITE = (0.80, 0.80, 0.78)
_BLACK = (0.022, 0.022, 0.024)


def marker_corners(board: Board) -> tuple[tuple[int, float, float], ...]:
    """Id and corner with the smallest x and y of the four markers beside the board."""
    left, front, right, back = board.margin_mm
    wide, deep, _ = board.lattice.size_mm
    strip = board.frame_width_mm if isinstance(board.frame_width_mm, int | float) else 0.0
    gap = MARKER_GAP_MM + strip
    away = gap + MARKER_MM
    return (
        (0, -left - away, -front - away),
        (1, wide + right + gap, -front - away),
        (2, wide + right + gap, deep + back + gap),
        (3, -left - away, deep + back + gap),
    )


def _printed(grey: cv.Image) -> F32:
    part = (grey.astype(np.float32) / 255)[..., None]
    return np.asarray(f32(_BLACK) + (f32(_WHITE) - f32(_BLACK)) * part, dtype=np.float32)


def marker_cards(board: Board, thickness_mm: float) -> tuple[Card, ...]:
    """The four marker cards lying on the table, upright for a viewer at 6 o'clock."""
    dictionary = cv.dictionary_of("DICT_4X4_50")
    border, scale = 8.0, 4.0
    cards = []
    for number, x, y in marker_corners(board):
        side = round(MARKER_MM * scale)
        marker = np.asarray(cv2.aruco.generateImageMarker(dictionary, number, side), np.uint8)
        pad = round(border * scale)
        sheet = cv2.copyMakeBorder(marker, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=255)
        cards.append(
            Card(
                _printed(np.asarray(sheet, np.uint8)),
                (x - border, y + MARKER_MM + border, 0.1 - thickness_mm),
                (1.0, 0.0, 0.0),
                (0.0, -1.0, 0.0),
                scale,
            )
        )
    return tuple(cards)


def lens_board_picture(px_per_mm: float = 4.0) -> F32:
    """The printed lens board: 7 x 5 squares of 30 mm, markers of 22 mm."""
    board = cv2.aruco.CharucoBoard((7, 5), 30.0, 22.0, cv.dictionary_of("DICT_5X5_100"))
    width, height = round(7 * 30 * px_per_mm), round(5 * 30 * px_per_mm)
    margin = round(12 * px_per_mm)
    grey = board.generateImage((width, height))
    sheet = cv2.copyMakeBorder(grey, margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=255)
    return _printed(np.asarray(sheet, np.uint8))


def lens_board(camera: Camera, shot: int, rng: np.random.Generator) -> Card:
    """The lens board before a camera; the shots go round the picture, tilted each time."""
    picture = lens_board_picture()
    scale = 4.0
    size = np.array([picture.shape[1], picture.shape[0]]) / scale
    width, height = camera.size
    far = camera.lens.focal_px * size[0] / (width * rng.uniform(0.45, 0.62))
    spots = ((0, 0), (-1, -1), (1, -1), (1, 1), (-1, 1), (-1, 0), (1, 0), (0, -1), (0, 1))
    spot = spots[shot % len(spots)]
    px = np.array([width * (0.5 + 0.16 * spot[0]), height * (0.5 + 0.15 * spot[1])])
    origin, direction = camera.rays(px)
    centre = origin + direction * far / float(direction @ camera.looks_along)
    yaw, pitch = rng.uniform(0.25, 0.6, 2) * rng.choice([-1, 1], 2)
    roll = rng.uniform(-0.35, 0.35)
    turn = (
        cv.rotation_of([0, 0, roll]) @ cv.rotation_of([0, yaw, 0]) @ cv.rotation_of([pitch, 0, 0])
    )
    if shot == 0:
        turn = cv.rotation_of([0.2, 0.15, roll])
    axes = turn.T @ camera.rotation  # rows: right, down, ahead, on the table
    right, down = axes[0], axes[1]
    half = (right * size[0] + down * size[1]) / 2
    reach = (abs(right[2]) * size[0] + abs(down[2]) * size[1]) / 2
    # Over the table, not through it: held nearer to the camera, and only then higher.
    fall = float(centre[2] - origin[2])
    room = _OVER_TABLE_MM + reach - float(origin[2])
    nearer = float(np.clip(room / fall, _NEAREST, 1)) if fall < 0 else 1.0
    centre = origin + (centre - origin) * nearer
    lift = max(0.0, _OVER_TABLE_MM + reach - float(centre[2]))
    corner = centre + np.array([0, 0, lift]) - half
    return Card(picture, _xyz(corner), _xyz(right), _xyz(down), scale)


def _xyz(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
