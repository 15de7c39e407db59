"""OpenCV with one set of shapes and types, whether it is 4.14 or 5.

Points come and go as (N, 2) float64 arrays, ids as (N,) integers, pictures as uint8. OpenCV 5
returns some arrays without the middle axis that version 4 has; nothing outside this module sees it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.errors import CalibrationError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Image = NDArray[np.uint8]  # (height, width, 3) blue, green, red, or (height, width) grey


def points(values: Any) -> Floats:
    """Any of OpenCV's shapes for a list of points as (N, 2); nothing found is (0, 2)."""
    if values is None:
        return np.zeros((0, 2))
    return np.asarray(values, dtype=np.float64).reshape(-1, 2)


def ids(values: Any) -> Ints:
    """Any of OpenCV's shapes for ids as (N,)."""
    if values is None:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64).ravel()


def read_image(path: Path) -> Image:
    """The colour picture of a file, upright after its EXIF tag; raises CalibrationError."""
    try:
        data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise CalibrationError(
            f"cannot read the picture {str(path)!r}: {(error.strerror or str(error)).lower()}"
        ) from error
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if image is None:
        if data[:2].tobytes() == b"\xff\xd8" or data[:4].tobytes() == b"\x89PNG":
            raise CalibrationError(
                f"the picture {str(path)!r} is damaged or cut off; copy it again, or take another"
            )
        raise CalibrationError(f"{str(path)!r} is no picture that can be read; use JPEG or PNG")
    return cast("Image", image)


def write_image(path: Path, image: Image) -> None:
    """Writes a picture; the kind follows the name's ending, PNG where there is none."""
    ending = path.suffix.lower() or ".png"
    try:
        done, data = cv2.imencode(ending, image)
    except cv2.error:
        done = False
    if not done:
        raise CalibrationError(f"cannot write a picture as {ending!r}; use .png or .jpg")
    try:
        path.write_bytes(data.tobytes())
    except OSError as error:
        raise CalibrationError(
            f"cannot write the picture {str(path)!r}: {(error.strerror or str(error)).lower()}"
        ) from error


def check_place(path: Path | None) -> None:
    """Raises CalibrationError where no picture can be written, before any work is done for it."""
    if path is None:
        return
    ending = path.suffix.lower() or ".png"
    if not cv2.haveImageWriter(f"x{ending}"):
        raise CalibrationError(f"cannot write a picture as {ending!r}; use .png or .jpg")
    if not path.parent.is_dir():
        raise CalibrationError(
            f"cannot write the picture {str(path)!r}: there is no folder {str(path.parent)!r}"
        )


def grey(image: Image) -> Image:
    """A grey picture of a colour or grey one."""
    return image if image.ndim == 2 else cast("Image", cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))


def upright(image: Image, rotate: int) -> Image:
    """The picture turned clockwise by 0, 90, 180 or 270 degrees."""
    if rotate % 90:
        raise CalibrationError(f"rotate = {rotate!r}; use 0, 90, 180 or 270")
    return np.ascontiguousarray(np.rot90(image, -(rotate // 90) % 4))


def rotation_of(vector: ArrayLike) -> Floats:
    """Rotation matrix of a rotation vector."""
    return np.asarray(cv2.Rodrigues(np.asarray(vector, dtype=np.float64))[0], dtype=np.float64)


def vector_of(rotation: ArrayLike) -> Floats:
    """Rotation vector of a rotation matrix."""
    return np.asarray(
        cv2.Rodrigues(np.asarray(rotation, dtype=np.float64))[0], dtype=np.float64
    ).ravel()


def sub_pixel(grey_image: Image, corners: Floats, window: int) -> Floats:
    """Corners of a checker moved to where the picture's gradients cross."""
    if not len(corners):
        return corners
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
    start = corners.reshape(-1, 1, 2).astype(np.float32)
    return points(cv2.cornerSubPix(grey_image, start, (window, window), (-1, -1), stop))


def detect_markers(
    grey_image: Image, dictionary: Any, parameters: Any | None = None
) -> tuple[list[Floats], Ints]:
    """Corners (4, 2) and ids of the ArUco markers of a dictionary."""
    how = parameters or cv2.aruco.DetectorParameters()
    corners, found, _ = cv2.aruco.ArucoDetector(dictionary, how).detectMarkers(grey_image)
    return [points(c) for c in corners], ids(found)


def dictionary_of(name: str) -> Any:
    """A marker dictionary by its name, such as DICT_4X4_50; raises CalibrationError."""
    code = getattr(cv2.aruco, name, None) if name.startswith("DICT_") else None
    if not isinstance(code, int):
        raise CalibrationError(f"unknown marker dictionary {name!r}; try 'DICT_5X5_100'")
    return cv2.aruco.getPredefinedDictionary(code)


def as_cv_points(values: ArrayLike, width: int) -> NDArray[np.float32]:
    """Points as OpenCV takes them: (N, 1, width) single precision."""
    return np.asarray(values, dtype=np.float32).reshape(-1, 1, width)


def solve_lens(
    boards: Sequence[Floats], views: Sequence[Floats], size: tuple[int, int], flags: int
) -> tuple[float, Floats, Floats, list[Floats], list[Floats], Floats, Floats]:
    """calibrateCameraExtended: rms, matrix, distortion, rotations, places, deviations, errors."""
    start = np.eye(3)
    start[0, 0] = start[1, 1] = float(max(size))
    start[:2, 2] = (size[0] - 1) / 2, (size[1] - 1) / 2
    rms, matrix, bend, rotations, places, deviation, _, errors = cv2.calibrateCameraExtended(
        [as_cv_points(b, 3) for b in boards],
        [as_cv_points(v, 2) for v in views],
        size,
        start,
        np.zeros(5),
        flags=flags | cv2.CALIB_USE_INTRINSIC_GUESS,
    )
    return (
        float(rms),
        np.asarray(matrix, dtype=np.float64),
        np.asarray(bend, dtype=np.float64).ravel(),
        [np.asarray(r, dtype=np.float64).ravel() for r in rotations],
        [np.asarray(t, dtype=np.float64).ravel() for t in places],
        np.asarray(deviation, dtype=np.float64).ravel(),
        np.asarray(errors, dtype=np.float64).ravel(),
    )


def place_again(
    points_mm: Floats, px: Floats, matrix: Floats, distortion: Floats, start: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Rotation and place from which a known lens sees points there, near a start."""
    _, turn, place = cv2.solvePnP(
        points_mm.reshape(-1, 1, 3),
        px.reshape(-1, 1, 2),
        matrix,
        distortion,
        vector_of(start[0]).reshape(3, 1).copy(),
        np.array(start[1], dtype=np.float64).reshape(3, 1),
        useExtrinsicGuess=True,
        flags=cv2.SOLVEPNP_ITERATIVE,
    )
    return rotation_of(turn), np.asarray(place, dtype=np.float64).ravel()
