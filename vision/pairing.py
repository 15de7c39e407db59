"""Pairing: frames of several recorded cameras that belong together, by time, never by arrival."""

import heapq
from collections.abc import Iterable, Iterator, Mapping

from vision.frame import Frame, Recorded

Moment = tuple[float, dict[str, Frame]]


def moments(sources: Iterable[Recorded], tolerance_s: float = 0.5 / 15) -> Iterator[Moment]:
    """The recordings as one: each moment with the frames that came since the moment before.

    Frames nearer to each other than the tolerance are one moment; a camera that has none then is
    left out of it.
    """
    merged: Iterator[Frame] = heapq.merge(
        *(source.frames() for source in sources), key=lambda frame: frame.seconds
    )
    waiting: dict[str, Frame] = {}
    began = 0.0
    for frame in merged:
        if waiting and (frame.camera in waiting or frame.seconds - began > tolerance_s):
            yield _moment(waiting)
            waiting = {}
        if not waiting:
            began = frame.seconds
        waiting[frame.camera] = frame
    if waiting:
        yield _moment(waiting)


def _moment(frames: Mapping[str, Frame]) -> Moment:
    return max(frame.seconds for frame in frames.values()), dict(frames)
