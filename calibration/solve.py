"""A camera fitted to what was measured in a picture, with what was known before as a prior."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats, Lens, bend
from calibration.fit import Fit, huber_weights, levenberg_marquardt, spread
from calibration.slopes import pixel_slopes

# How far a webcam's lens may be from a plain pinhole of 0.84 picture widths when nobody measured
# it: logarithm of the focal length, centre as a part of the width, first two distortion terms.
FOCAL_GUESS = 0.84
UNKNOWN_LENS = (0.15, 0.010, 0.07, 0.03)
_POSE = 6
CAMERA = 12  # values of `moved`: turn, shift, focal length, centre, k1, k2, aspect
_OUT_OF_SIGHT_PX = 1e3
_OFF_CENTRE = 0.015  # lenses that were measured lie so far off; bent paper would have it farther
_SKEWED = 0.0007  # root mean square of those that were measured of three webcams
_BEND = 2.0  # standard deviations from which evidence is doubted
_LEAST_FOCAL, _MOST_FOCAL, _WALL = -0.58, 0.36, 0.0005  # logarithm of the focal length
_WILDEST = np.array([3.0, 3, 3, 1e4, 1e4, 1e4, 1.5, 1e3, 1e3, 2, 2, 0.5])


@dataclass(frozen=True, slots=True)
class LensDoubt:
    """Standard deviations of what is believed of a lens."""

    focal: float  # as a part
    centre: float  # as a part of the picture's width
    first: float  # k1
    second: float  # k2
    aspect: float = 0.0015  # pixels are square, but for pictures that somebody stretched
    off_centre: float = 0.0  # as `centre`, of what the fit does not look for but may be
    skewed: float = 0.0  # p1 and p2, which are not fitted: of glass that sits askew

    @staticmethod
    def unknown() -> "LensDoubt":
        """Nobody measured the lens."""
        return LensDoubt(*UNKNOWN_LENS, off_centre=_OFF_CENTRE, skewed=_SKEWED)

    @staticmethod
    def measured(focal_error: float) -> "LensDoubt":
        """A lens measured with the lens board."""
        return LensDoubt(max(focal_error, 0.0005), 0.0008, 0.003, 0.005)

    def deviations(self, lens: Lens) -> Floats:
        """In the order of the values that are fitted."""
        width = lens.size[0]
        return np.array(
            [
                self.focal,
                self.centre * width,
                self.centre * width,
                self.first,
                self.second,
                self.aspect,
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Places of the board and where the picture shows them, each across one direction.

    A corner, whose place is known in both directions, is two pieces of evidence.
    """

    points_mm: Floats  # (N, 3)
    px: Floats  # (N, 2)
    normals: Floats  # (N, 2) unit vectors: only the error along them is known
    error_px: Floats  # (N,) standard deviation
    shape: Floats = field(default_factory=lambda: np.zeros((0, 0, 3)))  # (N, S, 3): see below

    # `shape` says how a point moves with each unknown size of the board: an inset, a margin.

    @staticmethod
    def of_points(points_mm: Floats, px: Floats, error_px: float) -> "Evidence":
        """Corners: both directions of each."""
        twice = np.repeat(points_mm, 2, axis=0)
        normals = np.tile(np.eye(2), (len(px), 1))
        return Evidence(twice, np.repeat(px, 2, axis=0), normals, np.full(len(twice), error_px))

    @property
    def shapes(self) -> int:
        """How many unknown sizes there are."""
        return self.shape.shape[1] if self.shape.size else 0


@dataclass(frozen=True, slots=True, eq=False)
class SizePrior:
    """What is known of the unknown sizes: by how much they should change, and how surely."""

    expected_mm: Floats
    error_mm: Floats

    def before(self, other: "SizePrior") -> "SizePrior":
        """What is known of these sizes and of others after them."""
        return SizePrior(
            np.concatenate([self.expected_mm, other.expected_mm]),
            np.concatenate([self.error_mm, other.error_mm]),
        )


def alike(parts: Sequence[Evidence]) -> Evidence:
    """Evidence with the same unknown sizes as one."""
    return Evidence(
        np.concatenate([p.points_mm for p in parts]),
        np.concatenate([p.px for p in parts]),
        np.concatenate([p.normals for p in parts]),
        np.concatenate([p.error_px for p in parts]),
        np.concatenate([p.shape for p in parts]),
    )


def together(parts: Sequence[Evidence]) -> Evidence:
    """Evidence as one, where every part keeps its own unknown sizes."""
    total = sum(p.shapes for p in parts)
    moved_parts, before = [], 0
    for part in parts:
        block = np.zeros((len(part.points_mm), total, 3))
        if part.shapes:
            block[:, before : before + part.shapes] = part.shape
        before += part.shapes
        moved_parts.append(replace(part, shape=block))
    return alike(moved_parts)


def aspect_of(lens: Lens) -> float:
    """Logarithm of how much wider than high pixels are seen."""
    return float(np.log(lens.matrix[0, 0] / lens.matrix[1, 1]))


def moved(camera: Camera, values: Floats) -> Camera:
    """The camera turned, shifted (about its own axes) and its lens changed by fitted values."""
    return Camera(camera.size, *_moved(camera, values))


def _moved(camera: Camera, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Matrix, distortion, rotation and place of the moved camera."""
    # A search may try wild values; they only have to stay numbers that a camera can have.
    values = np.clip(np.nan_to_num(values), -_WILDEST, _WILDEST)
    matrix, distortion = camera.matrix.copy(), camera.distortion.copy()
    matrix[0, 0] *= np.exp(values[6] + values[11] / 2)
    matrix[1, 1] *= np.exp(values[6] - values[11] / 2)
    matrix[:2, 2] += values[7:9]
    distortion[:2] += values[9:11]
    rotation = cv.rotation_of(values[:3]) @ camera.rotation
    return matrix, distortion, rotation, camera.translation_mm + values[3:6]


def evidence_errors_px(
    camera: Camera, values: Floats, points: Floats, evidence: Evidence
) -> Floats:
    """How far each point is off along its normal for the moved camera; far where out of sight.

    The same as projecting with `moved`, without building a camera for each of many thousand tries.
    """
    matrix, distortion, rotation, place = _moved(camera, values)
    seen = points @ rotation.T + place
    behind = seen[:, 2] <= 1e-6
    depth = np.where(behind, 1.0, seen[:, 2])
    x, y = bend(distortion, seen[:, 0] / depth, seen[:, 1] / depth)
    off_x = matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] - evidence.px[:, 0]
    off_y = matrix[1, 1] * y + matrix[1, 2] - evidence.px[:, 1]
    along = off_x * evidence.normals[:, 0] + off_y * evidence.normals[:, 1]
    return np.where(behind | ~np.isfinite(along), _OUT_OF_SIGHT_PX, along)


def evidence_slopes(camera: Camera, values: Floats, points: Floats, evidence: Evidence) -> Floats:
    """Slopes (N, values + sizes) of `evidence_errors_px`; 0 for what is out of sight."""
    values = np.clip(values, -_WILDEST, _WILDEST)
    matrix, distortion, rotation, place = _moved(camera, values)
    turned = points @ rotation.T
    ahead = turned[:, 2] + place[2] > 1e-6
    slopes = np.zeros((len(points), CAMERA + evidence.shapes))
    by_value, by_place = pixel_slopes(matrix, distortion, values[:3], turned[ahead], place)
    normals = evidence.normals[ahead]
    slopes[ahead, :CAMERA] = np.einsum("nij,ni->nj", by_value, normals)
    if evidence.shapes:
        across = np.einsum("nij,ni->nj", by_place, normals) @ rotation
        slopes[ahead, CAMERA:] = np.einsum("nsj,nj->ns", evidence.shape[ahead], across)
    return np.nan_to_num(slopes)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The fitted camera, how uncertain it is, and how the evidence fits it."""

    camera: Camera
    covariance: Floats  # of the values of `moved`
    sizes: Floats  # the unknown sizes
    errors_px: Floats  # (N,) signed error of each piece of evidence
    weights: Floats  # (N,) below 1 where a piece of evidence was doubted

    @property
    def rms_px(self) -> float:
        """Root mean square of the errors of evidence that was believed."""
        kept = self.errors_px[self.weights > 0.5]
        return float(np.sqrt(np.mean(kept**2))) if kept.size else float("inf")


def _beyond(change: Floats) -> Floats:
    """By how much the focal length is farther from the usual one than any webcam's."""
    return np.asarray(np.maximum(change - _MOST_FOCAL, 0) + np.minimum(change - _LEAST_FOCAL, 0))


def is_absurd(lens: Lens) -> bool:
    """Whether no webcam has such a focal length; a fit was stopped there."""
    return bool(_beyond(np.log([lens.focal_px / (FOCAL_GUESS * lens.size[0])])).any())


def _off_centre(covariance: Floats, doubt: LensDoubt, width: int) -> Floats:
    """What is known if the lens may sit farther off its place than the fit looked for."""
    told, could = width * doubt.centre, width * doubt.off_centre
    for value in (_POSE + 1, _POSE + 2) if could > told else ():
        covariance = _less_sure(covariance, value, told**2, could**2)
    return covariance


def _less_sure(covariance: Floats, value: int, told: float, could: float) -> Floats:
    """What a covariance would be if this much less had been known of a value beforehand."""
    now = covariance[value, value]
    then = 1 / max(1 / now - 1 / told + 1 / could, 1e-12)
    follows = covariance[:, value] / now
    return np.asarray(covariance + np.outer(follows, follows) * (then - now))


def _pull_of_skewed_glass(camera: Camera, points_mm: Floats, evidence: Evidence) -> Floats:
    """(N, 2) how p1 and p2 of a lens shift what is seen, which other values then explain."""
    still = np.zeros(CAMERA)
    columns = []
    for term in (2, 3):
        off = []
        for way in (_SKEWED, -_SKEWED):
            distortion = camera.distortion.copy()
            distortion[term] += way
            other = replace(camera, distortion=distortion)
            off.append(evidence_errors_px(other, still, points_mm, evidence))
        columns.append((off[0] - off[1]) / (2 * _SKEWED))
    return np.stack(columns, axis=1)


def solve(
    camera: Camera,
    evidence: Evidence,
    doubt: LensDoubt,
    *,
    trusted: Camera | None = None,
    sizes: "SizePrior | None" = None,
    rounds: int = 4,
) -> Solution:
    """The camera that explains the evidence best, without letting outliers pull.

    The prior of the lens is about that of `trusted`, or of the camera itself.
    """
    about = (trusted or camera).lens
    expected = np.concatenate(
        [
            [np.log(about.focal_px / camera.lens.focal_px)],
            about.matrix[:2, 2] - camera.matrix[:2, 2],
            about.distortion[:2] - camera.distortion[:2],
            [aspect_of(about) - aspect_of(camera.lens)],
        ]
    )
    deviations = doubt.deviations(camera.lens)
    sizes = sizes or SizePrior(np.zeros(evidence.shapes), np.full(evidence.shapes, 1e3))
    weights = np.ones(len(evidence.px))

    def points(values: Floats) -> Floats:
        if not evidence.shapes:
            return evidence.points_mm
        return np.asarray(
            evidence.points_mm + np.einsum("nsi,s->ni", evidence.shape, values[CAMERA:])
        )

    def errors(values: Floats) -> Floats:
        return evidence_errors_px(camera, values[:CAMERA], points(values), evidence)

    def residuals(values: Floats) -> Floats:
        lens = (values[_POSE:CAMERA] - expected) / deviations
        size = (values[CAMERA:] - sizes.expected_mm) / sizes.error_mm
        # Bent paper can be explained by absurd lenses; no webcam is so far from the usual one.
        far = _beyond(lens[:1] * deviations[:1]) / _WALL
        return np.concatenate([errors(values) * root, lens, far, size])

    def slopes(values: Floats) -> Floats:
        seen = evidence_slopes(camera, values[:CAMERA], points(values), evidence) * root[:, None]
        far = np.zeros((1, len(values)))
        far[0, _POSE] = np.sign(_beyond(values[_POSE : _POSE + 1] - expected[0])[0]) / _WALL
        known = np.diag(1 / np.concatenate([np.ones(_POSE), deviations, sizes.error_mm]))
        return np.concatenate([seen, known[_POSE:CAMERA], far, known[CAMERA:]])

    values = np.zeros(CAMERA + evidence.shapes)
    fit: Fit | None = None
    worse = 1.0  # how much farther off the evidence is than it claims: bent paper, rough wood
    for _ in range(rounds):
        root = np.sqrt(weights) / (worse * evidence.error_px)
        fit = levenberg_marquardt(residuals, values, jacobian=slopes, rounds=20)
        values = fit.values
        off = errors(values)
        worse = max(1.0, spread(off / evidence.error_px))
        # Where all is farther off than claimed the board is bent: its ends are no outliers.
        tolerated = _BEND + min(worse - 1.0, 1.0)
        weights = huber_weights(off / (worse * evidence.error_px), tolerated)
    assert fit is not None  # noqa: S101  # there is at least one round
    covariance = fit.covariance
    if _beyond(values[_POSE : _POSE + 1] - expected[0])[0]:
        # Where it was stopped is no measurement of the focal length.
        J = np.delete(slopes(values), len(evidence.px) + CAMERA - _POSE, axis=0)
        covariance = np.linalg.pinv(J.T @ J, hermitian=True).astype(np.float64)
        follows = covariance[:, _POSE] / covariance[_POSE, _POSE]  # the place goes with the lens
        covariance += np.outer(follows, follows) * deviations[0] ** 2
    covariance = _off_centre(covariance, doubt, camera.lens.size[0])
    if doubt.skewed:
        seen = slopes(values)[: len(evidence.px)]
        pull = _pull_of_skewed_glass(moved(camera, values[:CAMERA]), points(values), evidence)
        gain = covariance @ seen.T @ (pull * root[:, None]) * doubt.skewed
        covariance = covariance + gain @ gain.T
    return Solution(
        camera=moved(camera, values[:CAMERA]),
        covariance=covariance[:CAMERA, :CAMERA],
        sizes=values[CAMERA:],
        errors_px=off,
        weights=weights,
    )
