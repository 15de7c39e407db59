"""What is believed of a camera: the values that were found, and which others would do as well.

A lens that may be a tenth longer stands a tenth farther away: such cameras are no straight line of
values. So the lens is believed by itself, and the place by how far it is from the one in which the
board is seen as before.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats
from calibration.solve import CAMERA, aspect_of, moved
from rules.lattice import Board

_POSE, _LENS = 6, 6  # values that are fitted: of the place, then of the lens
_STRAIGHT = 0.01  # of the focal length: up to here places follow the lens in a straight line
_LITTLE = 0.05  # of a deviation: a step to both sides that tells how they follow it
_PARTS = (0.0, 0.33, 0.67, 1.0)
_SURELY = 1e-7  # of a deviation: nothing is known more exactly against the rest
_STILL = np.zeros(_LENS)


@dataclass(frozen=True, eq=False)
class Belief:
    """A camera, and how uncertain the values of `moved` are about it."""

    camera: Camera
    covariance: Floats  # (12, 12)
    board: Board

    @property
    def focal(self) -> float:
        """Standard deviation of the focal length, as a part."""
        return float(np.sqrt(self.covariance[_POSE, _POSE]))

    @cached_property
    def _gain(self) -> Floats:
        """How the place follows the lens, by all that was seen."""
        lens, both = self.covariance[_POSE:, _POSE:], self.covariance[:_POSE, _POSE:]
        return np.asarray(both @ np.linalg.pinv(lens, hermitian=True))

    @cached_property
    def _beside(self) -> Floats:
        """The part of it that is not for seeing the board as before.

        A board may itself be otherwise than it was measured: then other places explain it, too.
        """
        if self.focal <= _STRAIGHT:
            return self._gain
        steps = _LITTLE * np.sqrt(np.diag(self.covariance)[_POSE:])
        columns = []
        for change in np.diag(steps):
            there, back = (with_lens(self.camera, way * change, self.board) for way in (1.0, -1.0))
            columns.append(_apart(there, back) / (2 * change.sum()))
        return np.asarray(self._gain - np.stack(columns, axis=1))

    @cached_property
    def _rest(self) -> Floats:
        """How uncertain the place is once the lens is known; in scaled values: no digit is lost."""
        scale = np.sqrt(np.diag(self.covariance)) + 1e-12
        scaled = self.covariance / np.outer(scale, scale)
        information = np.linalg.pinv(scaled, hermitian=True)
        rest = np.linalg.pinv(information[:_POSE, :_POSE], hermitian=True)
        return np.asarray(rest * np.outer(scale[:_POSE], scale[:_POSE]))

    @cached_property
    def _roots(self) -> tuple[Floats, Floats]:
        """What turns errors of the place, and of the lens, into numbers of deviations."""
        return _whitening(self._rest), _whitening(self.covariance[_POSE:, _POSE:])

    def with_lens(self, change: Floats) -> Camera:
        """The camera with another lens, in the likeliest place."""
        if self.focal > _STRAIGHT:
            camera = with_lens(self.camera, change, self.board)
        else:
            camera = moved(self.camera, np.concatenate([np.zeros(_POSE), change]))
        return moved(camera, np.concatenate([self._beside @ change, _STILL]))

    def drawn(self, rng: np.random.Generator, count: int) -> list[Camera]:
        """Cameras that the evidence allows as well."""
        lens = self.covariance[_POSE:, _POSE:]
        lenses, places = (
            rng.multivariate_normal(
                np.zeros(len(spread)), spread, count, method="svd", check_valid="ignore"
            )
            for spread in (lens, self._rest)
        )
        return [
            moved(self.with_lens(change), np.concatenate([noise, _STILL]))
            for change, noise in zip(lenses, places, strict=True)
        ]

    def unlikely(self, camera: Camera) -> Floats:
        """By how many deviations (12,) a camera is off what is believed, in no order."""
        before, now = self.camera, camera
        change = np.concatenate(
            [
                [np.log(now.lens.focal_px / before.lens.focal_px)],
                now.matrix[:2, 2] - before.matrix[:2, 2],
                now.distortion[:2] - before.distortion[:2],
                [aspect_of(now.lens) - aspect_of(before.lens)],
            ]
        )
        place, lens = self._roots
        return np.concatenate([place @ _apart(now, self.with_lens(change)), lens @ change])

    @cached_property
    def slopes(self) -> Floats:
        """(12, 12) how `unlikely` changes with the values of `moved`, nearly."""
        place, lens = self._roots
        slopes = np.zeros((CAMERA, CAMERA))
        slopes[:_POSE, :_POSE], slopes[:_POSE, _POSE:] = place, -place @ self._gain
        slopes[_POSE:, _POSE:] = lens
        return slopes

    def shifted(self, errors_mm: Floats) -> "Belief":
        """The same where the board may besides lie elsewhere, along its three axes."""
        covariance = self.covariance.copy()
        turned = self.camera.rotation
        covariance[3:6, 3:6] += turned @ np.diag(np.square(errors_mm)) @ turned.T
        return replace(self, covariance=covariance)


def with_lens(camera: Camera, change: Floats, board: Board) -> Camera:
    """The camera with another lens, in the place from which it sees the board as before."""
    wide, deep, _ = board.lattice.size_mm
    grid = np.array([[x * wide, y * deep, 0.0] for x in _PARTS for y in _PARTS])
    other = moved(camera, np.concatenate([np.zeros(_POSE), change]))
    start = (other.rotation, other.translation_mm * np.exp(np.clip(change[0], -1.5, 1.5)))
    place = cv.place_again(grid, camera.project(grid), other.matrix, other.distortion, start)
    if not all(np.isfinite(values).all() for values in place):
        place = start  # no such camera sees the board there: it was no pose at all
    return Camera.of(other.lens, *place)


def _apart(one: Camera, other: Camera) -> Floats:
    """By which turn and shift one camera stands beside another."""
    turn = cv.vector_of(one.rotation @ other.rotation.T)
    return np.concatenate([turn, one.translation_mm - other.translation_mm])


def _whitening(covariance: Floats) -> Floats:
    scale = np.sqrt(np.diag(covariance)) + 1e-12
    spread, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray((axes / np.sqrt(np.maximum(spread, _SURELY))).T / scale)
