"""Follows a virtual table: drawn pictures, and everything after them is the real thing."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from calibration.colour_fit import ColourView, fit_colours
from rules.game import GameSpec
from service.camera_follower import CameraFollower, Eye, view_of
from service.follower import CameraView, Needs
from service.table_eyes import keeps_heights_apart, never_mixes_colours
from vision.frame import Frame, ImageBGR, Source
from vision.likelihood import CameraEye
from vision.reader import Reader
from vision.virtual.live import VirtualSource, VirtualTable


class PlayClock:
    """Time as it passes in the play; on a slow machine it waits for the pictures to be drawn."""

    _LONGEST_STEP_S = 0.08

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._play = 0.0
        self._began = 0.0
        self._asked = time.monotonic()

    def __call__(self) -> float:
        now = time.monotonic()
        self._play += min(now - self._asked, self._LONGEST_STEP_S)
        self._asked = now
        return self._play

    def now(self) -> float:
        """The time that the play has reached; asking does not make it pass."""
        return self._play

    def over(self) -> bool:
        """Whether the play has ended; the next one begins with that."""
        ended = self._play - self._began > self._seconds
        if ended:
            self._began = self._play
        return ended


def virtual_follower(table: VirtualTable, again_s: float = 20.0) -> CameraFollower:
    """A follower of the virtual table's cameras, calibrated as a host would do it.

    So many seconds after its end the game is played again.
    """
    clock = PlayClock(table.play.seconds + again_s)
    eyes = [
        Eye(VirtualSource(table, name, clock), view_of(name, "virtual", camera))
        for name, camera in table.scene.cameras.items()
    ]
    return CameraFollower(
        lambda: virtual_reader(table),
        eyes,
        kind="virtual-camera",
        over=clock.over,
        clock=clock.now,
        per_second=8.0,
        turnable=table.scene.kind.turned,
    )


class StillSource:
    """A virtual camera while nothing is played: always the same picture, drawn when asked for."""

    def __init__(self, camera: str, draw: Callable[[], Mapping[str, ImageBGR]]) -> None:
        self.camera = camera
        self._draw = draw
        self._frame: Frame | None = None

    def latest(self) -> Frame | None:
        """The picture."""
        if self._frame is None:
            self._frame = Frame(self._draw()[self.camera], 0.0, self.camera)
        return self._frame

    def close(self) -> None:
        """There is nothing to give back."""


def set_up_follower(
    table: VirtualTable, views: Sequence[CameraView], make_reader: Callable[[], Reader]
) -> CameraFollower:
    """A follower of a virtual table that a host sets up like a real one.

    The table waits for him: empty until all cameras know their places, then with the pieces from
    which colours are learned; when nothing is missing, the game is played.
    """
    clock = PlayClock(table.play.seconds)
    needs: set[Needs] = {view.needs for view in views}

    @cache
    def draw() -> Mapping[str, ImageBGR]:
        studio = table.studio
        return studio.empty() if "pose" in needs else studio.colour_picture().pictures

    def source(name: str) -> Source:
        return VirtualSource(table, name, clock) if needs == {""} else StillSource(name, draw)

    return CameraFollower(
        make_reader,
        [Eye(source(view.name), view) for view in views],
        kind="virtual-camera",
        clock=clock.now,
        per_second=8.0,
        turnable=table.scene.kind.turned,
    )


def virtual_reader(table: VirtualTable, spec: GameSpec | None = None) -> Reader:
    """A reader that has seen the empty table, and each colour on known cells."""
    scene, studio = table.scene, table.studio
    empty, known = studio.empty(), studio.colour_picture()
    views = {
        name: ColourView(camera, known.pictures[name], empty[name])
        for name, camera in scene.cameras.items()
    }
    board = scene.kind.board
    fitted = fit_colours(list(views.values()), board, scene.kind.colours, known.stacks)
    eyes = {
        name: CameraEye(view.camera, colours, view.empty)
        for (name, view), colours in zip(views.items(), fitted, strict=True)
    }
    kit = scene.kind.kit
    if spec is None:
        return Reader(board, eyes, kit)
    alike, apart = never_mixes_colours(spec), keeps_heights_apart(spec)
    return Reader(board, eyes, kit, one_colour_stacks=alike, heights_apart=apart)
