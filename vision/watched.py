"""A watched camera: its newest frames, whether they move, and what has changed in them."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.drift import Watch
from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import Frame, ImageBGR
from vision.hands import Changed, Hands
from vision.health import Health
from vision.place import Anchor, Sighting
from vision.play_area import Mask, PlayArea
from vision.reaching import Brim, Direction
from vision.sight import in_sight
from vision.stillness import Stillness

_KEPT = 4  # still frames that can be averaged
_LEAST_PATCHES = 30  # of a picture; fewer may all be pieces and hands
_ARM = 0.2  # of a hand's region; with less of it beside all pieces it may be one of them
_SPECKS_PX = 2  # of a small picture; what comes or goes changes more
_LEAST_PX = 6  # a unit of which less is in the picture proves nothing


class WatchedCamera:
    """One camera of a followed table."""

    def __init__(
        self,
        camera: Camera,
        board: Board,
        anchor: Anchor | None = None,
        *,
        board_lies: bool = False,
    ) -> None:
        """`board_lies`: nobody turns or shifts the board during play."""
        self.area = PlayArea.of(camera, board)
        self.health = Health()
        self._camera = camera
        self._board = board
        self.anchor = anchor
        self._board_lies = board_lies
        self._stillness = Stillness(self.area)
        self._hands = Hands(self.area)
        self._play = self.area.reach(Stacks(), above=3)
        self._pieces = self.area.reach(Stacks(), above=board.lattice.levels)
        self._flat = self.area.play(Stacks())
        self._brim: Brim | None = None
        lowest = [np.count_nonzero(self.area.units(c, 1, 1)) for c in board.lattice.cells()]
        self._outline_px = max(float(np.median(lowest)), 1.0)
        self._frames: deque[Frame] = deque(maxlen=_KEPT)
        self._small: ImageBGR | None = None
        self._changed: Changed | None = None
        self._t = -np.inf
        self._stood: ImageBGR | None = None  # the picture in which it was sure to stand here
        self._watch: Watch | None = None  # for that picture, made when it is needed

    def take(self, t: float, frame: Frame) -> bool:
        """A new frame, and whether something moves in it."""
        self._small = self.area.small(frame)
        self.health.seen(t, frame.image, self._small)
        self._t = t
        self._changed = None
        moving = self._stillness.moving(self._small)
        if moving:
            self._frames.clear()
        self._frames.append(frame)
        return moving

    def fresh(self, t: float, stale_s: float) -> bool:
        """Whether it has sent a picture lately."""
        return bool(self._frames) and t - self._t <= stale_s

    def picture(self, count: int) -> ImageBGR:
        """The mean of the newest still frames, at most so many."""
        chosen = list(self._frames)[-count:]
        if len(chosen) == 1:
            return chosen[0].image
        total = np.zeros(chosen[0].image.shape, dtype=np.uint16)
        for frame in chosen:
            total += frame.image
        return np.asarray((total + len(chosen) // 2) // len(chosen), dtype=np.uint8)

    def place(self) -> Sighting | None:
        """Where the view lies against the calibration's; None before anything is known of it."""
        if self.anchor is None:
            # Nobody took a picture of the empty table: the first still picture must do.
            image = self._frames[-1].image
            self.anchor = Anchor(self._camera, self._board, image, board_lies=self._board_lies)
            return None
        return self.anchor.sight(self._frames[-1].image)

    def bumped(self) -> bool | None:
        """Whether all has moved since the last picture that was understood; None if unknown."""
        if self._stood is None and self.anchor is not None:
            self._stood = self.anchor.reference
        if self._watch is None and self._stood is not None:
            self._watch = Watch.of(self._camera, self._stood)
        if self._watch is None or len(self._watch.corners) < _LEAST_PATCHES:
            return None
        state = self._watch.look(self._frames[-1].image).state
        return state == "moved" if state in ("moved", "steady") else None

    def stands(self) -> None:
        """The newest picture shows it where it is known to be, whatever stands on the table."""
        if self._frames:
            self._stood, self._watch = self._frames[-1].image, None

    def believe(self, stacks: Stacks) -> None:
        """What stands on the table."""
        self._stillness.believe(stacks)
        self._play = self.area.reach(stacks, above=3)

    def understood(self, moved: Sequence[Unit] = (), covered: Iterable[Cell] = ()) -> None:
        """The newest picture shows what is believed, but for cells that a hand covers.

        `moved` are the pieces that came or went since the last one.
        """
        if self._small is not None:
            levels = self._board.lattice.levels
            hidden = self._units(Unit(cell, k + 1) for cell in covered for k in range(levels))
            pieces = self._units(moved)
            self._hands.understood(self._small, self._t, self._play, pieces, hidden)
            self._changed = None

    def _units(self, units: Iterable[Unit]) -> Mask:
        """Where units are seen in the small picture, if nothing hides them."""
        mask = np.zeros(self.area.around.shape, dtype=np.bool_)
        for cell, level in units:
            mask |= self.area.units(cell, level, level)
        return mask

    def forget(self) -> None:
        """The pictures until now tell nothing about the next ones."""
        self._hands.forget()
        self._frames.clear()

    def heir(self, camera: Camera, anchor: Anchor | None, stacks: Stacks) -> "WatchedCamera":
        """The same camera where camera or board have moved, which goes on with its frames."""
        heir = WatchedCamera(camera, self._board, anchor, board_lies=self._board_lies)
        heir.health = self.health
        for frame in self._frames:
            heir.take(self._t, frame)
        heir.believe(stacks)
        return heir

    def under_hand(self, stacks: Stacks, moved: Sequence[Unit] = ()) -> frozenset[Cell]:
        """The cells that a hand covers; none where there is no hand.

        Pieces that came or went (`moved`) may reach beyond the board by themselves.
        """
        changed = self._change()
        if changed is None:
            return frozenset()
        changed = changed.without(self._units(moved))
        hand = self._hands.hand(changed, self._play)
        return frozenset() if hand is None else self.area.cells_in(hand, stacks)

    def unexplained(self, moved: Sequence[Unit]) -> float:
        """What has come over the board besides `moved` pieces, in outlines of a unit.

        Be it only a shadow: so look hands of the table's colour, and sleeves on a dark one.
        """
        changed = self._change()
        if changed is None:
            return 0.0
        changed = changed.without(self._units(moved))
        reaching = self._hands.reaching(changed, self._play)
        if reaching is None:
            return 0.0
        return np.count_nonzero(reaching & self._pieces) / self._outline_px

    def hand_direction(self) -> Direction | None:
        """Which way a hand in the newest picture comes from, along the table."""
        changed = self._change()
        if changed is None or (hand := self._hands.hand(changed, self._flat)) is None:
            return None
        if self._brim is None:
            self._brim = Brim(self.area)
        return self._brim.direction(hand & changed.solid)

    def arm(self) -> bool:
        """Whether something reaches in that lies where no piece on the board could be seen."""
        changed = self._change()
        if changed is None or (hand := self._hands.hand(changed, self._play)) is None:
            return False
        beside = np.count_nonzero(hand & changed.solid & ~self._pieces)
        return bool(beside > _ARM * np.count_nonzero(hand & changed.solid))

    def unchanged(self) -> bool:
        """Whether nothing on and above the board looks other than when it was understood last."""
        changed = self._change()
        if changed is None:
            return False
        return bool(np.count_nonzero(changed.any & self._play) <= _SPECKS_PX)

    def reached(self) -> bool:
        """Whether something may have come over the board; a quick look that takes in shadows."""
        changed = self._change()
        return changed is None or self._hands.reaching(changed, self._play) is not None

    def changed_at(self, cell: Cell, low: int, high: int, new: Sequence[Unit] = ()) -> float | None:
        """The part of a cell's levels that looks changed; None where nothing can be said.

        What `new` pieces nearer to the camera have hidden looks changed because of them.
        """
        changed = self._change()
        if changed is None:
            return None
        where = self.area.units(cell, low, high)
        if np.count_nonzero(where) < _LEAST_PX:
            return None
        where = in_sight(self.area, where, Unit(cell, low), new)
        count = int(np.count_nonzero(where))
        return float(np.count_nonzero(changed.any & where)) / count if count >= _LEAST_PX else 0.0

    def _change(self) -> Changed | None:
        if self._changed is None and self._small is not None:
            self._changed = self._hands.changed(self._small)
        return self._changed


def fitted(frame: Frame, size: tuple[int, int]) -> Frame | None:
    """The frame at the calibrated size; None where its picture has another shape."""
    image = fitted_image(frame.image, size)
    if image is None:
        return None
    return frame if image is frame.image else replace(frame, image=image, small=None)


def fitted_image(image: ImageBGR, size: tuple[int, int]) -> ImageBGR | None:
    """The picture at the calibrated size; None where it has another shape."""
    height, width = image.shape[:2]
    if (width, height) == size:
        return image
    if abs(width * size[1] - height * size[0]) > 0.01 * width * size[1]:
        return None
    way = cv2.INTER_AREA if width > size[0] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=way), dtype=np.uint8)
