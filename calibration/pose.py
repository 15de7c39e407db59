"""The pose of one camera: markers first, then the board's own structure, or four given corners."""

from dataclasses import dataclass, replace
from typing import Literal, cast

import cv2
import numpy as np

from calibration import cv
from calibration.board_pose import (
    BoardPose,
    apart_mm,
    doubts_of_place,
    hides_its_cells,
    look_for_board,
    settle_on_board,
)
from calibration.camera import Camera, Floats, Lens
from calibration.errors import NotFound
from calibration.grid_pose import Say, Sight
from calibration.known_pose import corner_places_mm, from_corners, from_markers
from calibration.picture_faults import around, is_dark, picture_faults
from calibration.pose_quality import (
    HEIGHTS_MM,
    HOPELESS_MM,
    expected_errors,
    heights_of,
    in_words,
    shown_up_to,
    with_board,
)
from calibration.realign import Remembered
from calibration.rectify import lab_of
from calibration.scene import CameraPlace, Scene
from calibration.solve import FOCAL_GUESS, LensDoubt, Solution
from calibration.store import CameraRecord, LensRecord
from rules.cells import Cell
from rules.lattice import Board

Method = Literal["markers", "grid", "frame", "corners"]
_LINES_REACH = 0.5  # pitches; lines farther away from a pose by points are not the same board's
_TOWER = 1.5  # times as high as the board is wide
_HIGH_ENOUGH = 0.7  # of the highest tower: few games build higher
_MOST_NAMED = 6  # cells
_AGAIN = 0.05  # of the pitch: how far off places are that an old picture tells
_EMPTY = "show the whole board, evenly lit and free of pieces"
_FREE = (
    "the pieces hide too much of the board: take off those along two of its edges or all of them "
    "(a camera that was once calibrated on the empty board is found again among pieces)"
)
_NO_CELLS = (
    "hardly any cell is seen where it should be; look at the picture of --show: if its lines do "
    "not lie on the board's, check columns, ranks and pitch_mm in table.toml; if something stands "
    "on the board, take everything off it and take another picture"
)


@dataclass(frozen=True, slots=True, eq=False)
class FoundPose:
    """Where a camera stands, how that was found, and how well."""

    camera: Camera
    method: Method
    rms_px: float
    error_mm: dict[str, float]
    verdict: str
    lens_method: str
    board_mm: Floats  # (4, 3) the outline that is drawn
    doubts: tuple[str, ...] = ()  # reasons why it may be wrong altogether
    frame_mm: tuple[float, float] | None = None  # height and width of a frame that was measured
    hint: str = ""  # what a person should look at, though nothing speaks against the place
    covariance: Floats | None = None  # of the camera's values, where they were fitted

    def record(self, *, date: str, source: str) -> CameraRecord:
        """What calibration.json keeps."""
        return CameraRecord(
            camera=self.camera,
            method=self.method,
            rms_px=round(self.rms_px, 3),
            verdict=self.verdict,
            date=date,
            source=source,
            lens_method=self.lens_method,
            error_mm=self.error_mm,
            more={"doubts": list(self.doubts)} if self.doubts else {},
            covariance=self.covariance,
        )

    def drawn(self, image: cv.Image) -> cv.Image:
        """The picture with the cell area drawn into it, a1's corner marked."""
        picture = image.copy()
        steps = np.linspace(0, 1, 16)[:, None]
        sides = [
            self.board_mm[k] * (1 - steps) + self.board_mm[(k + 1) % 4] * steps for k in range(4)
        ]
        outline = self.camera.project(np.concatenate(sides))
        if np.isfinite(outline).all():
            line = np.round(outline).astype(np.int32)
            cv2.polylines(picture, [line], isClosed=True, color=(0, 0, 0), thickness=4)
            cv2.polylines(picture, [line], isClosed=True, color=(0, 220, 255), thickness=2)
            x, y = (int(v) for v in line[0])
            cv2.putText(picture, "a1", (x + 6, y - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 4)
            cv2.putText(
                picture, "a1", (x + 6, y - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 220, 255), 2
            )
        return picture


def find_pose(
    image: cv.Image,
    scene: Scene,
    place: CameraPlace,
    measured: LensRecord | None,
    *,
    corners_px: Floats | None = None,
    occupied: bool = False,
    say: Say = lambda _: None,
) -> FoundPose:
    """The pose from an upright picture of the table; raises NotFound with what was tried.

    Pieces on an `occupied` board make grids and frames of their own: what is not clearly the
    board is refused then, for it would take the place of a pose that was good.
    `say` is told what is looked for, for those who wait.
    """
    size = (image.shape[1], image.shape[0])
    lens, doubt = lens_for(size, measured)
    sight = Sight(lab_of(image), lens, doubt, place.clock)
    shown = image if corners_px is None else around(image, corners_px)
    asked = _Asked(scene, known=measured is not None, occupied=occupied, dark=is_dark(shown))
    if corners_px is not None:
        given = from_corners(corners_px, scene.board, lens, doubt)
        return asked.settled(given, "corners", sight)
    tried = []
    if scene.markers:
        say("markers")
        try:
            by_markers = from_markers(image, scene.markers, lens, doubt)
            return asked.settled(by_markers, "markers", sight)
        except NotFound as error:
            tried.append(f"markers: {error}")
    looked = look_for_board(sight, scene.board, say)
    tried.extend(looked.tried)
    if looked.pose is not None and occupied and looked.pose.astray:
        tried.append(f"{looked.pose.method}: refused, {'; '.join(looked.pose.doubts)}")
    elif looked.pose is not None:
        try:
            return asked.by_board(looked.pose)
        except NotFound as error:
            tried.append(str(error))
    faults = "; ".join(picture_faults(image))
    free = _FREE if occupied else _EMPTY
    raise NotFound(
        f"the board was not found in the picture of {place.name!r} (tried "
        + "; ".join(tried)
        + f"); {faults + '; ' if faults else ''}{free}, check columns, ranks and clock "
        "in table.toml, print the markers of `kiebitz mat`, or give its corners with --corners"
    )


def find_again(
    image: cv.Image, board: Board, stored: CameraRecord, empty: cv.Image, *, turnable: bool
) -> FoundPose | None:
    """The pose of a camera that was bumped, by its picture of the empty table.

    Pieces may stand on the board; where players turn it (`turnable`) only what lies around it
    counts. None where that is not sure, or nothing sure is known of before.
    """
    size = (image.shape[1], image.shape[0])
    if stored.doubts or size != stored.camera.size or empty.shape != image.shape:
        return None
    remembered = Remembered(stored.camera, empty, board, turnable=turnable)
    camera = remembered.realigned(image, board_lies=not turnable)
    if camera is None:
        return None
    errors = with_board(stored.error_mm, _AGAIN * board.lattice.pitch_mm, board)
    words = in_words(errors, "picture of the empty table", stored.rms_px, lens_known=True)
    return FoundPose(
        camera=camera,
        method=cast("Method", stored.method),
        rms_px=stored.rms_px,
        error_mm=errors,
        verdict=words,
        lens_method=stored.lens_method,
        board_mm=corner_places_mm(board),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a pose is found for, and what is wrong with its picture whatever is found in it."""

    scene: Scene
    known: bool  # whether the lens was measured
    occupied: bool
    dark: bool

    def settled(self, rough: Solution, method: Method, sight: Sight) -> FoundPose:
        """A pose by points; the board's own lines, where they tell more, decide the rest."""
        board = self.scene.board
        doubts = doubts_of_place(rough, sight, board)
        lines = settle_on_board(rough.camera, sight, board)
        if lines is None:
            found = self._told(rough, method, doubts)
            hidden = not self.occupied and hides_its_cells(rough.camera, sight, board)
            return replace(found, hint=_NO_CELLS if hidden else found.hint)
        apart = apart_mm(rough.camera, lines.solution.camera, board)
        if apart > _LINES_REACH * board.lattice.pitch_mm:
            doubt = f"the {method} and the board's own lines are {apart:.0f} mm apart"
            return self._told(rough, method, (*doubts, doubt))
        # In hollows shadows look like walls: cards beside the board may tell more.
        before, after = (
            sum(expected_errors(one, board, HEIGHTS_MM).values()) for one in (rough, lines.solution)
        )
        best = rough if before < after and not doubts else lines.solution
        return self._told(best, method, lines.doubts, lying=lines.lying)

    def by_board(self, found: BoardPose) -> FoundPose:
        """A pose by what the board itself shows."""
        return self._told(
            found.solution, found.method, found.doubts, lying=found.lying, frame_mm=found.frame_mm
        )

    def _told(
        self,
        solution: Solution,
        method: Method,
        doubts: tuple[str, ...] = (),
        *,
        lying: tuple[Cell, ...] = (),
        frame_mm: tuple[float, float] | None = None,
    ) -> FoundPose:
        errors = expected_errors(solution, self.scene.board, heights_of(self.scene.board))
        if errors["0"] > HOPELESS_MM:
            raise NotFound(
                f"the {method} are too small or too flat in the picture to tell where the camera "
                f"is (expected error {errors['0']:.0f} mm on the board); come nearer or look from "
                "higher"
            )
        if lying and not self.occupied:
            cells = " ".join(str(cell) for cell in lying[:_MOST_NAMED])
            more = " ..." if len(lying) > _MOST_NAMED else ""
            doubts = (*doubts, f"something seems to lie on the board ({cells}{more})")
        if self.dark:
            doubts = (*doubts, "the picture is very dark")
        words = in_words(errors, method, solution.rms_px, lens_known=self.known, doubts=doubts)
        return FoundPose(
            camera=solution.camera,
            method=method,
            rms_px=solution.rms_px,
            error_mm=errors,
            verdict=words,
            lens_method="measured" if self.known else "assumed",
            board_mm=corner_places_mm(self.scene.board),
            doubts=doubts,
            frame_mm=frame_mm,
            hint=_cut_off(solution.camera, self.scene.board),
            covariance=solution.covariance,
        )


def _cut_off(camera: Camera, board: Board) -> str:
    """What to say where towers will leave the picture; on wide boards few stacks grow high."""
    wide, deep, most = board.lattice.size_mm
    high = shown_up_to(camera, board)
    if most < _TOWER * max(wide, deep) or high >= _HIGH_ENOUGH * most:
        return ""
    return (
        f"its picture shows what stands up to about {high:.0f} mm high, and towers may grow to "
        f"{most:.0f} mm; move it farther away or tilt it upwards"
    )


def lens_for(size: tuple[int, int], measured: LensRecord | None) -> tuple[Lens, LensDoubt]:
    """The measured lens at this picture's size, or a usual one that is hardly trusted."""
    if measured is None:
        return Lens.simple(size, FOCAL_GUESS * size[0]), LensDoubt.unknown()
    lens = Camera.of(measured.lens, np.eye(3), np.array([0.0, 0.0, 1.0])).scaled(size).lens
    return lens, LensDoubt.measured(measured.focal_error)
