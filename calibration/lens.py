"""The lens from pictures of a lens board: which pictures count, the fit, and how good it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Floats, Lens, Size
from calibration.errors import NotFound, WrongSize
from calibration.fit import huber_weights, levenberg_marquardt, spread
from calibration.lens_board import BoardView, LensBoard, find_corners

_CORNER_ERROR_PX = 0.25
# What is known of webcam lenses before any picture: pixels are square, the axis is near the
# middle, distortion is moderate. As weak as it may be: real pictures soon outweigh it.
_ASPECT_ERROR = 0.003
_CENTRE_ERROR = 0.04  # of the picture's width
_DISTORTION_ERRORS = np.array([0.3, 0.25, 0.003, 0.003, 0.15])
_GOOD_FOCAL_ERROR, _WORST_FOCAL_ERROR = 0.004, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LensResult:
    """A measured lens, what it rests on and what was left out."""

    lens: Lens
    rms_px: float
    focal_error: float  # standard deviation, as a part of the focal length
    reach: float  # how far from the middle corners were seen; 1 is the picture's corner
    tilt_deg: float  # how differently the board was held
    used: tuple[str, ...]
    dropped: Mapping[str, str]
    poses: Mapping[str, tuple[Floats, Floats]]  # rotation vector, place in mm
    views: Mapping[str, BoardView]

    @property
    def good(self) -> bool:
        """Whether heights will be right."""
        return self.focal_error <= _GOOD_FOCAL_ERROR and self.reach > 0.55 and len(self.used) >= 4

    @property
    def advice(self) -> tuple[str, ...]:
        """What further pictures would help."""
        missing = []
        if self.tilt_deg < 25:
            missing.append("hold the board tilted by 30 to 45 degrees, to every side")
        if self.reach < 0.65:
            missing.append("hold the board into the corners of the picture")
        if len(self.used) < 6:
            missing.append(f"take more pictures ({len(self.used)} of use, 8 to 15 are good)")
        return tuple(missing)

    @property
    def verdict(self) -> str:
        """The quality in words."""
        word = "good" if self.good else "usable" if self.focal_error <= 0.015 else "poor"
        text = (
            f"{word}: focal length {self.lens.focal_px:.1f} px, right within "
            f"{200 * self.focal_error:.2f} %; corners {self.rms_px:.2f} px off on average in "
            f"{len(self.used)} pictures, seen out to {100 * self.reach:.0f} % of the way to the "
            "picture's corners"
        )
        return text if self.good else "; ".join((text, *self.advice))


def calibrate_lens(pictures: Mapping[str, cv.Image], board: LensBoard) -> LensResult:
    """The lens from named pictures; raises NotFound with a reason for each useless picture."""
    if not pictures:
        raise NotFound("no pictures of the lens board were given; take 8 to 15")
    size = _common_size(pictures)
    found = {name: find_corners(picture, board) for name, picture in pictures.items()}
    seen = {name: view for name, view in found.items() if view is not None}
    dropped = {name: "no lens board found" for name, view in found.items() if view is None}
    _drop_partial(seen, dropped, board)
    _drop_blurred(seen, dropped)
    _drop_duplicates(seen, dropped, size)
    return _fit_without_outliers(seen, dropped, board, size)


def _common_size(pictures: Mapping[str, cv.Image]) -> Size:
    sizes = {name: (p.shape[1], p.shape[0]) for name, p in pictures.items()}
    first = next(iter(sizes.values()))
    for name, size in sizes.items():
        if size != first:
            raise WrongSize(
                f"{name!r} is {size[0]} x {size[1]}, others are {first[0]} x {first[1]}; "
                "take all pictures of a lens with one camera at one size"
            )
    return first


def _drop_partial(seen: dict[str, BoardView], dropped: dict[str, str], board: LensBoard) -> None:
    total = board.inner[0] * board.inner[1]
    for name, view in list(seen.items()):
        if len(view.ids) < max(6, 0.25 * total):
            why = "glaring" if view.clipped > 0.25 else "partial"
            dropped[name] = f"{why}: only {len(view.ids)} of {total} corners seen"
            del seen[name]


def _drop_blurred(seen: dict[str, BoardView], dropped: dict[str, str]) -> None:
    if not seen:
        return
    usual = float(np.median([v.edge_width_px for v in seen.values()]))
    for name, view in list(seen.items()):
        if view.edge_width_px > max(4.0, 1.8 * usual) and len(seen) > 3:
            dropped[name] = (
                f"blurred: edges are {view.edge_width_px:.0f} px wide, {usual:.0f} px elsewhere"
            )
            del seen[name]


def _drop_duplicates(seen: dict[str, BoardView], dropped: dict[str, str], size: Size) -> None:
    kept: list[str] = []
    order = sorted(seen, key=lambda n: (-len(seen[n].ids), seen[n].edge_width_px, n))
    for name in order:
        for other in kept:
            both, mine, theirs = np.intersect1d(
                seen[name].ids, seen[other].ids, return_indices=True
            )
            if len(both) < 4:
                continue
            apart = seen[name].corners_px[mine] - seen[other].corners_px[theirs]
            if float(np.median(np.hypot(*apart.T))) < 0.006 * size[0]:
                dropped[name] = f"duplicate of {other}"
                break
        else:
            kept.append(name)
    for name in list(seen):
        if name not in kept:
            del seen[name]


def _fit_without_outliers(
    seen: dict[str, BoardView], dropped: dict[str, str], board: LensBoard, size: Size
) -> LensResult:
    """Fits, leaves out the picture that fits worst while one stands out, and fits again."""
    while True:
        if not seen:
            reasons = "; ".join(f"{name}: {why}" for name, why in dropped.items())
            raise NotFound(
                f"no usable picture of the lens board ({reasons}); hold the whole board still, "
                "in good light, and check --board"
            )
        result = _fit(seen, dropped, board, size)
        off = {n: _view_rms(result, board, n) for n in seen}
        usual, worst = float(np.median(list(off.values()))), max(off, key=lambda n: off[n])
        if off[worst] <= max(3.0 * usual, 0.4) or len(seen) <= 3:
            break
        why = "glaring" if seen[worst].clipped > 0.25 else "bent, moved or blurred"
        dropped[worst] = f"{why}: corners {off[worst]:.1f} px off, {usual:.1f} px elsewhere"
        del seen[worst]
    if result.focal_error > _WORST_FOCAL_ERROR:
        raise NotFound(
            f"the pictures do not tell the focal length (uncertain by "
            f"{200 * result.focal_error:.0f} %); " + "; ".join(result.advice)
        )
    return result


def _view_rms(result: LensResult, board: LensBoard, name: str) -> float:
    off = _corner_errors(result, board, name)
    return float(np.sqrt(np.mean(np.minimum(off, 6.0) ** 2)))


def _corner_errors(result: LensResult, board: LensBoard, name: str) -> Floats:
    view, (turn, place) = result.views[name], result.poses[name]
    there = board.points_mm()[view.ids] @ cv.rotation_of(turn).T + place
    off = result.lens.distort(there[:, :2] / there[:, 2:]) - view.corners_px
    return np.asarray(np.hypot(off[:, 0], off[:, 1]))


def _fit(
    seen: Mapping[str, BoardView], dropped: Mapping[str, str], board: LensBoard, size: Size
) -> LensResult:
    names, views = list(seen), list(seen.values())
    boards = [board.points_mm()[v.ids] for v in views]
    problem = _Problem(boards, [v.corners_px for v in views], size)
    weights = [np.ones(len(b)) for b in boards]
    values = problem.start()
    for _ in range(4):
        fit = levenberg_marquardt(
            partial(problem.residuals, weights=weights),
            values,
            jacobian=partial(problem.jacobian, weights=weights),
            rounds=25,
        )
        values = fit.values
        offs = [np.hypot(*r.T) for r in problem.errors(values)]
        scale = max(spread(np.concatenate(offs)) / 1.2, 0.03)
        weights = [np.sqrt(huber_weights(o / scale, 2.5)) for o in offs]
    lens = problem.lens(values)
    near = np.concatenate([o[w > 0.5] for o, w in zip(offs, weights, strict=True)])
    rms = float(np.sqrt(np.mean(near**2)))
    middle = (np.array(size) - 1) / 2
    corners = np.concatenate([v.corners_px for v in views])
    far = np.hypot(*(corners - middle).T) / np.hypot(*middle)
    turns = values[9:].reshape(-1, 6)
    # Errors of neighbouring corners have common causes (paper, blur): count a third of them.
    noise = max(rms / np.sqrt(2), 0.05) / _CORNER_ERROR_PX * np.sqrt(3)
    return LensResult(
        lens=lens,
        rms_px=rms,
        focal_error=float(np.sqrt(fit.covariance[0, 0]) * noise / lens.focal_px),
        reach=float(np.percentile(far, 98)),
        tilt_deg=_tilt([t[:3] for t in turns]),
        used=tuple(names),
        dropped=dict(dropped),
        poses={n: (t[:3], t[3:]) for n, t in zip(names, turns, strict=True)},
        views=dict(seen),
    )


def _tilt(turns: Sequence[Floats]) -> float:
    """Largest angle between two ways in which the board was held, about any axis but its own."""
    normals = np.array([cv.rotation_of(t)[:, 2] for t in turns])
    return float(np.degrees(np.arccos(np.clip((normals @ normals.T).min(), -1, 1))))


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """All corners in all pictures as one least-squares problem: nine lens values, six a picture."""

    boards: list[Floats]
    corners: list[Floats]
    size: Size

    def start(self) -> Floats:
        """A first guess by OpenCV's own solver with few unknowns."""
        flags = (
            cv2.CALIB_FIX_ASPECT_RATIO
            | cv2.CALIB_ZERO_TANGENT_DIST
            | cv2.CALIB_FIX_PRINCIPAL_POINT
            | cv2.CALIB_FIX_K2
            | cv2.CALIB_FIX_K3
        )
        _, matrix, bend, turns, places, _, _ = cv.solve_lens(
            self.boards, self.corners, self.size, flags
        )
        focal = float(np.clip(matrix[0, 0], 0.4 * self.size[0], 4 * self.size[0]))
        first = float(np.clip(bend[0], -0.4, 0.4))
        lens = [focal, focal, matrix[0, 2], matrix[1, 2], first, 0, 0, 0, 0]
        poses = [np.concatenate([t, p]) for t, p in zip(turns, places, strict=True)]
        return np.concatenate([np.array(lens), *poses])

    def lens(self, values: Floats) -> Lens:
        fx, fy, cx, cy = values[:4]
        return Lens(self.size, np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), values[4:9])

    def _project(self, values: Floats, view: int) -> tuple[Floats, Floats]:
        pose = values[9 + 6 * view : 15 + 6 * view]
        matrix = np.array([[values[0], 0, values[2]], [0, values[1], values[3]], [0, 0, 1]])
        pixels, slope = cv2.projectPoints(
            self.boards[view], pose[:3], pose[3:], matrix, values[4:9]
        )
        return cv.points(pixels), np.asarray(slope, dtype=np.float64)

    def errors(self, values: Floats) -> list[Floats]:
        """How far the corners of each picture are off, in pixels."""
        return [self._project(values, i)[0] - c for i, c in enumerate(self.corners)]

    def _prior(self, values: Floats) -> Floats:
        width = self.size[0]
        middle = (np.array(self.size) - 1) / 2
        return np.concatenate(
            [
                [np.log(values[0] / values[1]) / _ASPECT_ERROR],
                (values[2:4] - middle) / (_CENTRE_ERROR * width),
                values[4:9] / _DISTORTION_ERRORS,
            ]
        )

    def residuals(self, values: Floats, weights: Sequence[Floats]) -> Floats:
        """Weighted errors over their expected size, then the prior."""
        rows = [
            (e * w[:, None]).ravel() / _CORNER_ERROR_PX
            for e, w in zip(self.errors(values), weights, strict=True)
        ]
        return np.concatenate([*rows, self._prior(values)])

    def jacobian(self, values: Floats, weights: Sequence[Floats]) -> Floats:
        """Slopes of the residuals."""
        blocks = []
        for i, w in enumerate(weights):
            slope = self._project(values, i)[1]
            block = np.zeros((2 * len(w), len(values)))
            block[:, :9] = slope[:, [6, 7, 8, 9, 10, 11, 12, 13, 14]]
            block[:, 9 + 6 * i : 15 + 6 * i] = slope[:, :6]
            blocks.append(block * np.repeat(w, 2)[:, None] / _CORNER_ERROR_PX)
        prior = np.zeros((8, len(values)))
        prior[0, 0], prior[0, 1] = 1 / (values[0] * _ASPECT_ERROR), -1 / (values[1] * _ASPECT_ERROR)
        prior[[1, 2], [2, 3]] = 1 / (_CENTRE_ERROR * self.size[0])
        prior[np.arange(3, 8), np.arange(4, 9)] = 1 / _DISTORTION_ERRORS
        return np.concatenate([*blocks, prior])
