"""The pose of one camera: markers first, then the board's own structure, or four given corners."""

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats, Lens
from calibration.errors import NotFound
from calibration.known_pose import corner_places_mm, from_corners, from_markers
from calibration.pose_quality import HEIGHTS_MM, expected_errors, in_words
from calibration.scene import CameraPlace, Scene
from calibration.solve import FOCAL_GUESS, LensDoubt, Solution
from calibration.store import CameraRecord, LensRecord

Method = Literal["markers", "grid", "frame", "corners"]
CLOCK_TOLERANCE = 2.5  # hours; the table's clock may be an hour wrong, a quarter turn is three


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
) -> FoundPose:
    """The pose from an upright picture of the table; raises NotFound with what was tried."""
    size = (image.shape[1], image.shape[0])
    lens, doubt = lens_for(size, measured)
    known = measured is not None
    if corners_px is not None:
        solution = from_corners(corners_px, scene.board, lens, doubt)
        return _told(solution, "corners", scene, known)
    tried = []
    if scene.markers:
        try:
            solution = from_markers(image, scene.markers, lens, doubt)
        except NotFound as error:
            tried.append(f"markers: {error}")
        else:
            return _told(solution, "markers", scene, known)
    raise NotFound(f"the board was not found in the picture of {place.name!r}; " + "; ".join(tried))


def lens_for(size: tuple[int, int], measured: LensRecord | None) -> tuple[Lens, LensDoubt]:
    """The measured lens at this picture's size, or a usual one that is hardly trusted."""
    if measured is None:
        return Lens.simple(size, FOCAL_GUESS * size[0]), LensDoubt.unknown()
    lens = Camera.of(measured.lens, np.eye(3), np.array([0.0, 0.0, 1.0])).scaled(size).lens
    return lens, LensDoubt.measured(measured.focal_error)


def _told(solution: Solution, method: Method, scene: Scene, known: bool) -> FoundPose:
    errors = expected_errors(solution, scene.board, HEIGHTS_MM)
    return FoundPose(
        camera=solution.camera,
        method=method,
        rms_px=solution.rms_px,
        error_mm=errors,
        verdict=in_words(errors, method, solution.rms_px, lens_known=known),
        lens_method="measured" if known else "assumed",
        board_mm=corner_places_mm(scene.board),
    )
