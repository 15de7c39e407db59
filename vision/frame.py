"""A frame, and what gives frames: the protocol of every source."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import cv2
import numpy as np
from numpy.typing import NDArray

ImageBGR = NDArray[np.uint8]  # (height, width, 3); blue, green, red
SMALL_PX = 320  # as wide are small pictures, in which change is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of one camera; `seconds` is the recording's time, or since the source began."""

    image: ImageBGR
    seconds: float
    camera: str
    jpeg: bytes | None = None  # as it came from the camera, for recordings without a second loss
    small: ImageBGR | None = None  # the same picture made small, where somebody had the time

    def __post_init__(self) -> None:
        image = self.image
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(
                f"a frame needs uint8 pixels (height, width, 3), not {image.dtype} {image.shape}"
            )

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return self.image.nbytes + len(self.jpeg or b"")

    def prepared(self) -> "Frame":
        """The same with its small picture; whoever watches has less to do then."""
        return replace(self, small=made_small(self.image, small_size(self.image)))


def small_size(image: ImageBGR, width_px: int = SMALL_PX) -> tuple[int, int]:
    """Width and height of a picture made so wide; smaller ones stay as they are."""
    height, width = image.shape[:2]
    scale = min(1.0, width_px / width)
    return max(1, round(width * scale)), max(1, round(height * scale))


def made_small(image: ImageBGR, size: tuple[int, int]) -> ImageBGR:
    """A picture made small; noise averages out."""
    width, height = size
    while image.shape[1] >= 4 * width and image.shape[1] % 2 == image.shape[0] % 2 == 0:
        # By halves it is several times faster.
        half = (image.shape[1] // 2, image.shape[0] // 2)
        image = np.asarray(cv2.resize(image, half, interpolation=cv2.INTER_AREA), np.uint8)
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


@runtime_checkable
class Source(Protocol):
    """Where the frames of one camera come from."""

    @property
    def camera(self) -> str:
        """The camera's name at this table."""

    def latest(self) -> Frame | None:
        """The newest frame, at once; None where none has come yet. Never waits."""

    def close(self) -> None:
        """Gives the device back; closing twice is harmless."""


@runtime_checkable
class Recorded(Source, Protocol):
    """A source with times of its own: read as fast as one likes, it gives the same frames."""

    def frames(self) -> Iterator[Frame]:
        """Every frame in order of time, from the first one."""
