"""A camera's place again after a bump, from what its old picture and a new one both show.

Points of the board and of the table are found again, whatever the turn and shift, and carry the old
place over; the board's own lines then make it exact. A place counts only where the new picture, as
it would have been seen from the old place, is like the old picture, and was not before.
"""

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import cv
from calibration.board_pose import apart_mm, look_for_board, settle_on_board
from calibration.camera import Camera, Floats
from calibration.cv import Image
from calibration.drift import evened, shrunk
from calibration.fit import spread
from calibration.grid_pose import Sight, centre_of
from calibration.pose_quality import HEIGHTS_MM, expected_errors
from calibration.quads import clock_of
from calibration.rectify import lab_of
from calibration.solve import Evidence, LensDoubt, solve
from rules.lattice import Board

_LENS = replace(LensDoubt.measured(0.001), focal=1e-4, centre=1e-5, first=1e-5, second=1e-5)
_POINTS, _CORNERS = 2500, 900
_FAINTEST_POINT, _UNLIKE_OTHERS = 0.008, 0.8  # of SIFT: contrast, and distance to the second best
_LEAST_FOUND, _LEAST_BESIDE = 15, 8  # points; of these beside the cells
_RIM = 0.3  # of the pitch
_CERTAIN_MM = 5.0  # expected error at 100 mm; less certain places are none
_AGREE = 0.3  # of the pitch, by which points and lines may contradict each other
# Correlation with what is remembered, on and around the board: wrong places had 0.10 at most, true
# ones with a hand over the board 0.19; how much more than before; and enough in any case.
_ALIKE, _BETTER, _ENOUGH = 0.15, 0.08, 0.4
_ALIKE_AROUND = 0.25  # the same around the board alone: 0.17, and 0.48
_AROUND = 1.5  # board sizes about its middle that count as around it
_LEAST_SEEN_PX = 300  # of the small picture; less proves nothing
_BUMP_MM, _BUMP_DEGREES = 150.0, 20.0  # farther off it is another camera
_STEP_PX = 16  # between pixels whose place is computed; the others lie in between


class Remembered:
    """What a camera saw where it was calibrated, by which it is found again."""

    def __init__(
        self, camera: Camera, reference: Image, board: Board, *, turnable: bool = False
    ) -> None:
        """`turnable`: players turn the board, so that only its surroundings prove a place."""
        self._turnable = turnable
        self.camera = camera
        self.reference = reference
        self._board = board
        self._grey = cv.grey(reference)

    def realigned(self, frame: Image, *, board_lies: bool = True) -> Camera | None:
        """Where the camera stands now; None where that is not sure. The lens stays.

        `board_lies`: nobody has turned or shifted the board since, so that its lines count.
        """
        rough = self._carried_over(cv.grey(frame))
        camera = self._by_lines(frame, rough) if board_lies else rough
        if camera is None or not self._near(camera) or not self._explains(frame, camera):
            return None
        return camera

    def picture_from(self, camera: Camera) -> Image:
        """The remembered picture as it would look from another place."""
        across, along = _sources(camera, self.camera)
        moved = cv2.remap(
            self.reference, across, along, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(moved, np.uint8)

    def _near(self, camera: Camera) -> bool:
        """Whether a bump can have brought it there."""
        cosine = (np.trace(camera.rotation @ self.camera.rotation.T) - 1) / 2
        shift = float(np.linalg.norm(camera.position_mm - self.camera.position_mm))
        return shift < _BUMP_MM and bool(cosine > np.cos(np.radians(_BUMP_DEGREES)))

    def _by_lines(self, frame: Image, rough: Camera | None) -> Camera | None:
        """The place that the board's own lines tell; None where they contradict the points."""
        board, known = self._board, rough or self.camera
        sight = Sight(lab_of(frame), known.lens, _LENS, clock_of(known, centre_of(board)))
        if rough is None:
            found = look_for_board(sight, board).pose
            return None if found is None or found.doubts else found.solution.camera
        lines = settle_on_board(rough, sight, board)
        if lines is None:
            return rough
        camera = lines.solution.camera
        if apart_mm(rough, camera, board) < _AGREE * board.lattice.pitch_mm:
            # What is seen of hollows is their rim: it agrees, but lies above the floor.
            return rough if board.recess_mm else camera
        # Cells fit the lines one cell farther on as well: then the surroundings must tell.
        better = self._likeness(frame, rough) - self._likeness(frame, camera)
        return rough if better > _BETTER else None

    def _explains(self, frame: Image, camera: Camera) -> bool:
        """Whether board and surroundings are seen where that place would have them."""
        before = self._likeness(frame, self.camera)
        after = self._likeness(frame, camera)
        # A camera that stands where it stood cannot explain anything better than before.
        least = _ALIKE_AROUND if self._turnable else _ALIKE
        return after > least and after > min(before + _BETTER, _ENOUGH)

    def _likeness(self, frame: Image, camera: Camera) -> float:
        """How well a frame seen from there agrees with what is remembered."""
        old, new = shrunk(self._grey), shrunk(frame)
        height, width = old.shape
        scale = width / self.camera.size[0]
        columns, rows = np.meshgrid(np.arange(width), np.arange(height))
        px = (np.stack([columns, rows], axis=-1).reshape(-1, 2) + 0.5) / scale - 0.5
        places = self.camera.back_project(px, 0.0)
        there = ((camera.project(places) + 0.5) * scale - 0.5).reshape(height, width, 2)
        seen = (there > 2).all(axis=2) & (there < (width - 3, height - 3)).all(axis=2)
        there = np.where(seen[..., None], there, -9.0).astype(np.float32)
        moved = cv2.remap(new, there[..., 0], there[..., 1], cv2.INTER_LINEAR)
        wide, deep, _ = self._board.lattice.size_mm
        off = np.abs(places[:, :2] - (wide / 2, deep / 2)).reshape(height, width, 2)
        rim = _RIM * self._board.lattice.pitch_mm
        beside = (off > (wide / 2 + rim, deep / 2 + rim)).any(axis=2)
        around = seen & beside & (off < _AROUND * max(wide, deep)).all(axis=2)
        pictures = evened(old), evened(np.asarray(moved, np.uint8))
        likeness = _correlation(*pictures, around)
        if self._turnable:
            return likeness
        return (likeness + _correlation(*pictures, seen & ~beside)) / 2

    def _carried_over(self, grey: Image) -> Camera | None:
        """The camera by points that both pictures show; each kind of points must convince."""
        for found in (_found_by_shape, _found_by_corners):
            camera = self._by_points(*found(self._grey, grey))
            if camera is not None:
                return camera
        return None

    def _by_points(self, before: Floats, after: Floats) -> Camera | None:
        """The camera by points of the reference and where they are now; None where unsure."""
        if len(before) < _LEAST_FOUND:
            return None
        board = self._board
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
        solution = solve(self.camera, evidence, _LENS, rounds=5)
        if spread(solution.errors_px) > 3.0:
            return None
        error = expected_errors(solution, board, HEIGHTS_MM)["100"]
        return solution.camera if error < _CERTAIN_MM else None


def _correlation(one: Image, other: Image, where: NDArray[np.bool_]) -> float:
    """How alike two pictures are at some pixels; 0 where there are too few."""
    if np.count_nonzero(where) < _LEAST_SEEN_PX:
        return 0.0
    a, b = one[where].astype(np.float64), other[where].astype(np.float64)
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).mean() / (a.std() * b.std() + 1e-6))


def _sources(new: Camera, old: Camera) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where each pixel of the new place was seen from the old one: things on the table exactly."""
    width, height = new.size
    small = (-(-width // _STEP_PX), -(-height // _STEP_PX))
    columns, rows = np.meshgrid(
        (np.arange(small[0]) + 0.5) * (width / small[0]) - 0.5,
        (np.arange(small[1]) + 0.5) * (height / small[1]) - 0.5,
    )
    px = np.stack([columns, rows], axis=-1).reshape(-1, 2)
    there = old.project(new.back_project(px, 0.0))
    far = ~np.isfinite(there).all(axis=1)
    if far.any():  # beyond the table only the turn counts
        ahead = np.concatenate([new.lens.undistort(px[far]), np.ones((far.sum(), 1))], axis=1)
        turned = Camera.of(old.lens, old.rotation @ new.rotation.T, np.zeros(3))
        there[far] = turned.project(ahead)
    there = np.nan_to_num(there, nan=-1e4).clip(-1e4, 1e4).reshape(small[1], small[0], 2)
    whole = cv2.resize(there.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(whole[..., 0]), np.ascontiguousarray(whole[..., 1])


def _found_by_shape(old: Image, new: Image) -> tuple[Floats, Floats]:
    """Points (N, 2) of one picture, and where they are in another, whatever turn and shift."""
    sift = cv2.SIFT.create(nfeatures=_POINTS, contrastThreshold=_FAINTEST_POINT)
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
    orb = cv2.ORB.create(nfeatures=_CORNERS, fastThreshold=7)
    first, first_words = orb.detectAndCompute(old, None)
    second, second_words = orb.detectAndCompute(new, None)
    if min(len(first), len(second)) < _LEAST_FOUND:
        return np.zeros((0, 2)), np.zeros((0, 2))
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(first_words, second_words)
    before = np.array([first[p.queryIdx].pt for p in pairs], dtype=np.float64).reshape(-1, 2)
    after = np.array([second[p.trainIdx].pt for p in pairs], dtype=np.float64).reshape(-1, 2)
    return before, after
