"""The pose from points whose places are known: printed markers, or four given corners."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats, Lens
from calibration.errors import CalibrationError, NotFound
from calibration.quads import place_camera
from calibration.scene import Marker
from calibration.solve import Evidence, LensDoubt, SizePrior, Solution, solve
from rules.lattice import Board

MARKER_ERROR_PX = 0.5  # of a marker's corner, blurred and cut by hand
CORNER_ERROR_PX = 2.0  # of a corner dragged by a finger
_FACTORS = np.geomspace(0.72, 1.4, 14)  # focal lengths tried where nobody measured the lens
_NO_CORNERS = "these points cannot be corners of this board seen from above it"
_SMALLER_MM = 0.5  # how far a black square's sides may seem to lie inside or outside: blur, ink
_LOW_MM = (-4.0, 4.0)  # where cards lie below a board's surface: usual height and its spread


def from_markers(
    image: cv.Image, markers: Sequence[Marker], lens: Lens, doubt: LensDoubt
) -> Solution:
    """The camera by two or more of the table's markers; raises NotFound."""
    found, ids = cv.detect_markers(cv.grey(image), cv.dictionary_of("DICT_4X4_50"))
    known = {marker.id: marker for marker in markers}
    seen = {int(n): px for n, px in zip(ids, found, strict=True) if int(n) in known}
    if len(seen) < 2:
        told = ", ".join(map(str, sorted(seen))) or "none"
        raise NotFound(f"fewer than two of the table's markers are seen (seen: {told})")
    points = np.concatenate([_corners_mm(known[number]) for number in seen])
    px = np.concatenate(list(seen.values()))
    flat = np.array([known[number].z_mm == "auto" for number in seen]).repeat(4)
    evidence = _evidence(points, px, flat)
    prior = SizePrior(np.zeros(2), np.array([_SMALLER_MM, _LOW_MM[1]]))
    return _best(points, px, evidence, lens, doubt, prior)


def from_corners(corners_px: Floats, board: Board, lens: Lens, doubt: LensDoubt) -> Solution:
    """The camera by four points: a1's corner, front right, back right, back left.

    They are the outer corners of the cell area, or of the whole sheet under a wall one cell deep,
    whose strip alone is too narrow to say much. Who gives the strip's corners all the same is
    understood: the two shapes differ so much that only one of them fits.
    """
    fits: list[tuple[float, Solution]] = []
    for points in _corner_places(board):
        evidence = Evidence.of_points(points, corners_px, CORNER_ERROR_PX)
        try:
            solution = _best(points, corners_px, evidence, lens, doubt, None)
        except NotFound:
            continue
        fits.append((_cost(solution, evidence, doubt, lens), solution))
    if not fits:
        raise NotFound(_NO_CORNERS)
    return min(fits, key=lambda fit: fit[0])[1]


def corner_places_mm(board: Board) -> Floats:
    """The four points that `--corners` names, on the board."""
    return _corner_places(board)[0]


def _corner_places(board: Board) -> list[Floats]:
    """What four given corners may be, the likeliest first."""
    wide, deep, _ = board.lattice.size_mm
    margins = [(0.0,) * 4]
    if board.lattice.ranks == 1 and any(board.margin_mm):
        margins.insert(0, board.margin_mm)
    return [
        np.array(
            [
                [-left, -front, 0.0],
                [wide + right, -front, 0.0],
                [wide + right, deep + back, 0.0],
                [-left, deep + back, 0.0],
            ]
        )
        for left, front, right, back in margins
    ]


def _corners_mm(marker: Marker) -> Floats:
    """A marker's corners as they are detected: upper left, upper right, lower right, lower left."""
    x, y = marker.corner_mm
    size = marker.size_mm
    z = _LOW_MM[0] if marker.z_mm == "auto" else float(marker.z_mm)
    return np.array([[x, y + size, z], [x + size, y + size, z], [x + size, y, z], [x, y, z]])


def _evidence(
    points: Floats, px: Floats, flat: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Evidence:
    """The corners; unknown: how large squares are seen, and the height of cards nobody measured."""
    evidence = Evidence.of_points(points, px, MARKER_ERROR_PX)
    shape = np.zeros((len(evidence.points_mm), 2, 3))
    shape[:, 0, :2] = np.tile(
        np.repeat([[-1, 1], [1, 1], [1, -1], [-1, -1]], 2, axis=0), (len(px) // 4, 1)
    )
    shape[np.repeat(flat, 2), 1, 2] = 1.0
    return Evidence(evidence.points_mm, evidence.px, evidence.normals, evidence.error_px, shape)


def _best(
    points: Floats,
    px: Floats,
    evidence: Evidence,
    lens: Lens,
    doubt: LensDoubt,
    prior: SizePrior | None,
) -> Solution:
    """The best solution from several focal lengths; raises NotFound where none fits."""
    factors = _FACTORS if doubt.focal > 0.05 else np.ones(1)
    starts = [c for f in factors if (c := _start(points, px, lens, doubt, float(f))) is not None]
    if not starts:
        raise NotFound(_NO_CORNERS)
    nominal = Camera.of(lens, starts[0].rotation, starts[0].translation_mm)
    solutions = [solve(start, evidence, doubt, trusted=nominal, sizes=prior) for start in starts]
    sound = [s for s in solutions if _above(s.camera, points)]
    if not sound:
        raise NotFound(_NO_CORNERS)
    return min(sound, key=lambda s: _cost(s, evidence, doubt, lens))


def _start(
    points: Floats, px: Floats, lens: Lens, doubt: LensDoubt, factor: float
) -> Camera | None:
    """A camera by the plane homography of all points; None where it cannot be."""
    tangents = lens.undistort(px)
    level = float(points[:, 2].mean())
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    around = np.array(
        [[low[0], low[1], level], [high[0], low[1], level], [high[0], high[1], level],
         [low[0], high[1], level]]
    )  # fmt: skip
    found: Any = cv2.findHomography(points[:, :2], tangents, 0)[0]
    plane = np.zeros((3, 3)) if found is None else np.asarray(found, dtype=np.float64)
    hom = np.column_stack([around[:, :2], np.ones(4)]) @ plane.T
    if (np.abs(hom[:, 2]) < 1e-9).any() or len({bool(w > 0) for w in hom[:, 2]}) > 1:
        return None
    return place_camera(hom[:, :2] / hom[:, 2:], around, lens, doubt, factor)


def _above(camera: Camera, points: Floats) -> bool:
    return bool(
        camera.position_mm[2] > points[:, 2].max() and np.isfinite(camera.project(points)).all()
    )


def _cost(solution: Solution, evidence: Evidence, doubt: LensDoubt, lens: Lens) -> float:
    """Squared errors of evidence and prior, in standard deviations."""
    off = solution.errors_px / evidence.error_px
    focal = np.log(solution.camera.lens.focal_px / lens.focal_px) / doubt.focal
    return float(np.minimum(off**2, 25).sum() + focal**2)


def parse_corners(text: str) -> Floats:
    """The four points of `x,y,x,y,x,y,x,y`; raises CalibrationError."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 8 or not np.isfinite(values).all():
        raise CalibrationError(
            f"{text[:60]!r} are no four corners; write x,y of a1's corner, front right, "
            "back right and back left: 'x,y,x,y,x,y,x,y'"
        )
    return np.array(values).reshape(4, 2)
