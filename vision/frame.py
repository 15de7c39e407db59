"""A frame, and what gives frames: the protocol of every source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

ImageBGR = NDArray[np.uint8]  # (height, width, 3); blue, green, red


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of one camera; `seconds` is the recording's time, or since the source began."""

    image: ImageBGR
    seconds: float
    camera: str
    jpeg: bytes | None = None  # as it came from the camera, for recordings without a second loss

    def __post_init__(self) -> None:
        image = self.image
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(
                f"a frame needs uint8 pixels (height, width, 3), not {image.dtype} {image.shape}"
            )


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
