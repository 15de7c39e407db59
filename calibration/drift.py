"""Watches a camera between readings: has it moved, is it covered, dark or out of focus?

Some dozen small patches with corners in them - on the board and on the table around it - are
remembered from the reference picture at a fraction of its size. In a new frame each is looked for
near its old place; where most of them moved alike, the camera moved. Patches that players cover or
that show a moving thing simply do not take part. All of it costs less than three milliseconds.
"""

from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.board_pose import look_for_board, settle_on_board
from calibration.camera import Camera, Floats
from calibration.cv import Image
from calibration.fit import spread
from calibration.grid_pose import Sight, centre_of
from calibration.pose_quality import HEIGHTS_MM, expected_errors
from calibration.quads import clock_of
from calibration.rectify import lab_of
from calibration.solve import Evidence, LensDoubt, solve
from rules.lattice import Board

State = Literal["steady", "moved", "covered", "dark", "blurred"]
_WATCH_WIDTH = 320  # pictures are watched at this width
_PATCHES = 60
_MOVED_PX = 1.6  # of the full picture: half of what a reader would notice
_LEAST_TRACKED, _LEAST_STILL = 10, 4
_DARK, _DARK_SHARE = 14.0, 0.35  # mean brightness, and as a part of the reference's
_COVERED_SHARE = 0.30  # contrast left, as a part of the reference's
_BLURRED_SHARE = 0.45  # of the reference's sharpness
_ALIKE, _COARSE = 0.5, (32, 18)  # correlation with the reference in few large pixels
_STILL_SHARE = 0.3
_AGREE_PX = 0.5  # there and back again
_AROUND_PX, _FAINT = 15, 4.0  # over which light is evened out; contrast that counts as none
_BUMP_POINTS, _BUMP_CORNERS = 2500, 900
_FAINTEST_POINT, _UNLIKE_OTHERS = 0.008, 0.8  # of SIFT: contrast, and distance to the second best
_LEAST_FOUND, _LEAST_BESIDE = 15, 8  # points; of these beside the cells
_RIM = 0.3  # of the pitch
_CERTAIN_MM = 5.0  # expected error at 100 mm; less certain places are none


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of a camera since its reference picture."""

    state: State
    moved_px: float  # of the full picture, in the median of what did not move by itself
    moved_mm: float  # the same on the board
    tracked: int
    say: str


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What is remembered of one camera's reference picture."""

    camera: Camera
    doubt: LensDoubt
    small: Image
    scale: float  # small pixels a full pixel
    corners: NDArray[np.float32]  # (N, 1, 2) in the small picture
    brightness: float
    contrast: float
    sharpness: float
    coarse: NDArray[np.float32]
    reference: Image  # grey, full size

    @staticmethod
    def of(camera: Camera, reference: Image, doubt: LensDoubt | None = None) -> "Watch":
        """Remembers a reference picture, taken where the camera was calibrated."""
        grey = cv.grey(reference)
        small, scale = _small(grey)
        even = _evened(small)
        found = cv2.goodFeaturesToTrack(even, _PATCHES, 0.02, 8)
        corners = np.asarray(cv.as_cv_points(cv.points(found), 2))
        return Watch(
            camera=camera,
            doubt=doubt or LensDoubt.measured(0.001),
            small=even,
            scale=scale,
            corners=corners,
            brightness=float(small.mean()),
            contrast=float(small.std()),
            sharpness=_sharpness(small),
            coarse=_coarse(small),
            reference=grey,
        )

    def look(self, frame: Image) -> Drift:
        """Compares a frame with the reference."""
        grey = _shrunk(frame)
        return self._fault(grey) or self._drifted(grey)

    def _fault(self, grey: Image) -> Drift | None:
        """What keeps anything from being seen."""
        brightness, contrast = float(grey.mean()), float(grey.std())
        if brightness < max(_DARK, _DARK_SHARE * self.brightness) and contrast < self.contrast:
            return Drift("dark", 0.0, 0.0, 0, "the picture has become dark; switch the light on")
        if contrast < _COVERED_SHARE * self.contrast:
            return Drift("covered", 0.0, 0.0, 0, "something covers the camera")
        if _sharpness(grey) >= _BLURRED_SHARE * self.sharpness:
            return None
        # Out of focus the same things are seen as ever; a hand before the lens is something else.
        alike = float(np.corrcoef(_coarse(grey).ravel(), self.coarse.ravel())[0, 1])
        if alike < _ALIKE:
            return Drift("covered", 0.0, 0.0, 0, "something covers the camera")
        return Drift("blurred", 0.0, 0.0, 0, "the picture is out of focus")

    def _drifted(self, grey: Image) -> Drift:
        """Whether the picture lies where it lay."""
        moves = self._moves(_evened(grey))
        still = int((np.hypot(moves[:, 0], moves[:, 1]) < _MOVED_PX * self.scale).sum())
        if len(moves) < _LEAST_TRACKED:
            if still >= _LEAST_STILL and 2 * still > len(moves):
                return Drift("steady", 0.0, 0.0, len(moves), "")
            say = "the camera has moved far, or somebody stands before it"
            return Drift("moved", np.inf, np.inf, len(moves), say)
        # A turn about the axis moves patches in different directions: only lengths count.
        lengths = np.sort(np.hypot(moves[:, 0], moves[:, 1])) / self.scale
        # When the camera moves everything does; pieces and hands leave some patches in place.
        moved = float(lengths[int(_STILL_SHARE * len(lengths))])
        mm = moved * self._mm_a_pixel()
        if moved < _MOVED_PX:
            return Drift("steady", moved, mm, len(moves), "")
        moved = float(np.median(lengths))
        mm = moved * self._mm_a_pixel()
        return Drift("moved", moved, mm, len(moves), f"the camera has moved by {mm:.0f} mm")

    def _mm_a_pixel(self) -> float:
        """On the board below the middle of the picture."""
        middle = (np.array(self.camera.size) - 1) / 2
        a, b = self.camera.back_project(np.stack([middle, middle + np.array([1.0, 0.0])]))
        apart = float(np.linalg.norm(b - a))
        return apart if np.isfinite(apart) else 1.0

    def _moves(self, grey: Image) -> Floats:
        """By how much the patches moved that are found again both ways."""
        if not len(self.corners):
            return np.zeros((0, 2))
        there, found = _followed(self.small, grey, self.corners)
        back, again = _followed(grey, self.small, there)
        off = np.abs(back - self.corners).reshape(-1, 2).max(axis=1)
        good: NDArray[np.bool_] = np.asarray(found & again & (off < _AGREE_PX))
        return cv.points(there - self.corners)[good]

    def realigned(self, frame: Image, board: Board) -> Camera | None:
        """Where the camera stands now, after a bump; None where too little is recognised.

        Points of the board and of the table are found again in the frame, whatever the turn and
        shift, and carry the old pose over; the board's own lines then decide. The lens stays.
        """
        narrow = replace(self.doubt, focal=1e-4, centre=1e-5, first=1e-5, second=1e-5)
        rough = self._carried_over(cv.grey(frame), board)
        known = rough or self.camera
        sight = Sight(lab_of(frame), known.lens, narrow, clock_of(known, centre_of(board)))
        if rough is not None:
            lines = settle_on_board(rough, sight, board)
            return rough if lines is None else lines.solution.camera
        found = look_for_board(sight, board).pose
        return None if found is None or found.doubts else found.solution.camera

    def _carried_over(self, grey: Image, board: Board) -> Camera | None:
        """The camera by points that both pictures show; each kind of points must convince."""
        for found in (_found_by_shape, _found_by_corners):
            camera = self._by_points(*found(self.reference, grey), board)
            if camera is not None:
                return camera
        return None

    def _by_points(self, before: Floats, after: Floats, board: Board) -> Camera | None:
        """The camera by points of the reference and where they are now; None where unsure."""
        if len(before) < _LEAST_FOUND:
            return None
        places = self.camera.back_project(before, 0.0)
        wide, deep, _ = board.lattice.size_mm
        near = (np.abs(places[:, :2] - (wide / 2, deep / 2)) < 2.0 * max(wide, deep)).all(axis=1)
        before, after, places = before[near], after[near], places[near]
        if len(before) < _LEAST_FOUND:
            return None
        found = cv2.findHomography(
            cv.as_cv_points(before, 2), cv.as_cv_points(after, 2), cv2.RANSAC, 3.0
        )
        inside: object = found[1]  # None where no four points agree
        good = np.zeros(len(before)) > 0 if inside is None else np.asarray(inside).ravel() > 0
        # Cells look alike: a board seen one cell farther on fits itself, but not its surroundings.
        rim = _RIM * board.lattice.pitch_mm
        beside = ((places[:, :2] < -rim) | (places[:, :2] > (wide + rim, deep + rim))).any(axis=1)
        if good.sum() < _LEAST_FOUND or (good & beside).sum() < _LEAST_BESIDE:
            return None
        evidence = Evidence.of_points(places[good], after[good], 0.7)
        narrow = replace(self.doubt, focal=1e-4, centre=1e-5, first=1e-5, second=1e-5)
        solution = solve(self.camera, evidence, narrow, rounds=5)
        if spread(solution.errors_px) > 3.0:
            return None
        error = expected_errors(solution, board, HEIGHTS_MM)["100"]
        return solution.camera if error < _CERTAIN_MM else None


def _followed(
    before: Image, after: Image, corners: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Where patches of one small picture are in another, and which were found."""
    there, found, _ = cv2.calcOpticalFlowPyrLK(
        before, after, corners, np.empty_like(corners), winSize=(13, 13), maxLevel=2
    )
    return np.asarray(there, np.float32), np.asarray(np.asarray(found).ravel() == 1)


def _found_by_shape(old: Image, new: Image) -> tuple[Floats, Floats]:
    """Points (N, 2) of one picture, and where they are in another, whatever turn and shift."""
    sift = cv2.SIFT.create(nfeatures=_BUMP_POINTS, contrastThreshold=_FAINTEST_POINT)
    first, first_words = sift.detectAndCompute(old, None)
    second, second_words = sift.detectAndCompute(new, None)
    if min(len(first), len(second)) < _LEAST_FOUND:
        return np.zeros((0, 2)), np.zeros((0, 2))
    pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(first_words, second_words, k=2)
    good = [a for a, b in pairs if a.distance < _UNLIKE_OTHERS * b.distance]
    before = np.array([first[p.queryIdx].pt for p in good], dtype=np.float64).reshape(-1, 2)
    after = np.array([second[p.trainIdx].pt for p in good], dtype=np.float64).reshape(-1, 2)
    return before, after


def _found_by_corners(old: Image, new: Image) -> tuple[Floats, Floats]:
    """The same by another kind of points, which boards with sharp lines have more of."""
    orb = cv2.ORB.create(nfeatures=_BUMP_CORNERS, fastThreshold=7)
    first, first_words = orb.detectAndCompute(old, None)
    second, second_words = orb.detectAndCompute(new, None)
    if min(len(first), len(second)) < _LEAST_FOUND:
        return np.zeros((0, 2)), np.zeros((0, 2))
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(first_words, second_words)
    before = np.array([first[p.queryIdx].pt for p in pairs], dtype=np.float64).reshape(-1, 2)
    after = np.array([second[p.trainIdx].pt for p in pairs], dtype=np.float64).reshape(-1, 2)
    return before, after


def _evened(grey: Image) -> Image:
    """A small grey picture free of exposure and slow shadows."""
    fine = grey.astype(np.float32)
    window = (_AROUND_PX, _AROUND_PX)
    mean = cv2.blur(fine, window)
    variance = np.asarray(cv2.blur(fine * fine, window) - mean * mean, np.float32)
    even = (fine - mean) * (40.0 / (np.sqrt(np.maximum(variance, 0)) + _FAINT)) + 128.0
    return np.asarray(np.clip(even, 0, 255), np.uint8)


def _shrunk(frame: Image) -> Image:
    """A frame in grey at the width at which it is watched; fast rather than beautiful."""
    scale = _WATCH_WIDTH / frame.shape[1]
    size = (_WATCH_WIDTH, round(frame.shape[0] * scale))
    return np.asarray(cv2.resize(cv.grey(frame), size, interpolation=cv2.INTER_AREA), np.uint8)


def _small(grey: Image) -> tuple[Image, float]:
    return _shrunk(grey), _WATCH_WIDTH / grey.shape[1]


def _coarse(grey: Image) -> NDArray[np.float32]:
    """A picture in so few pixels that focus does not matter."""
    return np.asarray(cv2.resize(grey, _COARSE, interpolation=cv2.INTER_AREA), np.float32)


def _sharpness(grey: Image) -> float:
    """How much fine detail there is, whatever the contrast."""
    fine = float(cv2.Laplacian(grey, cv2.CV_16S).std())
    return fine / (float(grey.std()) + 1e-6)
