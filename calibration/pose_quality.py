"""How good a pose is: its error in millimetres on the board and above it, in words."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.belief import Belief, with_lens
from calibration.camera import Camera, Floats
from calibration.solve import Solution
from rules.lattice import Board

HEIGHTS_MM = (0.0, 100.0)
_DRAWS = 60
_LENS = 6  # values of a lens that are fitted
_LONGER = 0.02  # part by which a lens is made longer to see what that does
_DEVIATIONS = 1.96  # that 19 of 20 stay under
_FLOOR_MM = 0.1  # print, paper and wood are not exact
_RULER_MM = 0.3  # how exactly a board's longer side is known; no picture tells
_LEAST_OF_LENS = 0.5  # of the error above the board
_MOST_SHOWN = 0.5
_NOWHERE_MM = 1e3  # off: nothing is known
_TALL_MM, _HIGH_MM = 180.0, 250.0
HOPELESS_MM = 30.0  # on the board; more than a cube is no pose at all
GOOD_MM, USABLE_MM = 2.0, 5.0  # at 100 mm; a cube is about 20


def expected_errors(
    solution: Solution, board: Board, heights_mm: tuple[float, ...]
) -> dict[str, float]:
    """Height to the error that 19 of 20 such calibrations stay under, anywhere on the board.

    High above the board only what the picture shows counts; a height that it does not show is
    left out.
    """
    rng = np.random.default_rng(1)
    own = _never_seen_mm(board)
    with np.errstate(all="ignore"):  # of what is no pose at all wild cameras are drawn
        cameras = Belief(solution.camera, solution.covariance, board).drawn(rng, _DRAWS)
        return _told_of(cameras, solution.camera, board, heights_mm, own)


def _told_of(
    cameras: list[Camera], camera: Camera, board: Board, heights_mm: tuple[float, ...], own: float
) -> dict[str, float]:
    return {
        f"{height:g}": round(float(np.hypot(_error(camera, cameras, board, height), own)), 2)
        for height in heights_mm
        if height <= HEIGHTS_MM[-1] or _shown(camera, _places(board, height)).any()
    }


def _never_seen_mm(board: Board) -> float:
    """What no picture tells: how exactly the board was measured, made and printed."""
    wide, deep, _ = board.lattice.size_mm
    longer = _RULER_MM / max(wide, deep)
    at_corners = _DEVIATIONS * longer * float(np.hypot(wide, deep)) / 2
    return float(np.hypot(at_corners, _FLOOR_MM))


def focal_doubt(camera: Camera, error_mm: Mapping[str, float], board: Board) -> float:
    """How uncertain the focal length is, as a part, by the errors expected above the board.

    A lens that is longer stands farther away: the board looks the same, what is above it does not.
    """
    height = HEIGHTS_MM[-1]
    leaning = with_board({f"{height:g}": 0.0}, error_mm.get("0", 0.0), board)[f"{height:g}"]
    above = error_mm.get(f"{height:g}", np.inf)
    # Where leaning could explain all of it, that says nothing for the lens.
    of_lens = np.sqrt(max(above**2 - leaning**2, (_LEAST_OF_LENS * above) ** 2))
    change = np.zeros(_LENS)
    change[0] = _LONGER
    moved_mm = _error(camera, [with_lens(camera, change, board)], board, height)
    return float(of_lens / _DEVIATIONS * _LONGER / max(moved_mm, 1e-6))


def with_board(error_mm: Mapping[str, float], board_mm: float, board: Board) -> dict[str, float]:
    """Errors of a camera that stacks made certain: where the board lies they do not tell.

    A board that is seen askew by so much leans the more aside the higher one looks; one that was
    measured wrongly does not.
    """
    own = _never_seen_mm(board)
    askew = float(np.sqrt(max(board_mm**2 - own**2, 0.0)))
    flat = min(board_mm, own)
    half = min(board.lattice.size_mm[:2]) / 2
    if min(board.lattice.columns, board.lattice.ranks) == 1:
        half = max(board.lattice.size_mm[:2]) / 2
    return {
        height: round(float(np.linalg.norm([mm, flat, askew * (1 + float(height) / half)])), 2)
        for height, mm in error_mm.items()
    }


def _error(camera: Camera, cameras: list[Camera], board: Board, height: float) -> float:
    places = _places(board, height)
    if height > HEIGHTS_MM[-1]:
        places = places[_shown(camera, places)]
    px = camera.project(places)
    worst = [min(_off(other, px, places, height), _NOWHERE_MM) for other in cameras]
    return float(np.quantile(worst, 0.95))


def _places(board: Board, height: float) -> Floats:
    """Nine places above the cells, at a height."""
    wide, deep, _ = board.lattice.size_mm
    return np.array([[x * wide, y * deep, height] for x in (0, 0.5, 1) for y in (0, 0.5, 1)])


def _shown(camera: Camera, places: Floats) -> NDArray[np.bool_]:
    """Which places are in the picture."""
    px = np.nan_to_num(camera.project(places), nan=-1.0)
    return np.asarray(((px >= 0) & (px < np.array(camera.size))).all(axis=1))


def _off(other: Camera, px: Floats, places: Floats, height: float) -> float:
    back = other.back_project(px, height)
    off = np.linalg.norm(back[:, :2] - places[:, :2], axis=1)
    return float(np.nanmax(off)) if np.isfinite(off).any() else _NOWHERE_MM


def shown_up_to(camera: Camera, board: Board) -> float:
    """How high above the board most of what stands there is in the picture, in mm."""
    unit = board.lattice.unit_mm[2]
    for level in range(board.lattice.levels, 0, -1):
        if _shown(camera, _places(board, level * unit)).mean() > _MOST_SHOWN:
            return level * unit
    return 0.0


def heights_of(board: Board) -> tuple[float, ...]:
    """The heights at which errors count; 250 mm only where towers grow so high."""
    # Cameras before a wall stand no higher than it: there is no plane to look down on.
    tall = (
        board.lattice.size_mm[2] > _TALL_MM and min(board.lattice.columns, board.lattice.ranks) > 1
    )
    return (*HEIGHTS_MM, _HIGH_MM) if tall else HEIGHTS_MM


def in_words(
    error_mm: dict[str, float],
    method: str,
    rms_px: float,
    *,
    lens_known: bool,
    doubts: Sequence[str] = (),
    advice: str = "a lens calibration or the colour picture makes heights certain",
) -> str:
    """The verdict that people read; one that is doubted never begins like a good one."""
    worst = error_mm.get("100", max(error_mm.values()))
    word = "good" if worst <= GOOD_MM else "usable" if worst <= USABLE_MM else "rough"
    if doubts:
        word = "DOUBTFUL, " + "; ".join(doubts)
    by = {"markers": "by its markers", "corners": "by four given corners"}.get(
        method, f"by its {method}"
    )
    errors = ", ".join(f"{mm:.1f} mm at {height} mm height" for height, mm in error_mm.items())
    text = f"{word}: found {by}, {rms_px:.1f} px off on average; expected error {errors}"
    if not lens_known and worst > GOOD_MM:
        text += f"; {advice}"
    return text
