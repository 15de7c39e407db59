"""Whether a picture shows the stacks that were told: on these cells, so high, and no others.

Known pieces change what the empty table looks like, all over their silhouettes and hardly anywhere
else. Told on a wrong cell, or too high, their silhouettes hold a part of the table that is as it
was, and what they changed remains unexplained beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour_fit import ColourView, exposure_change
from calibration.colour_space import (
    DARKEST,
    Floats32,
    gains_of,
    light_of,
    of_light,
    smoothed,
)
from calibration.cv import Image
from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.stacks import Stacks

Heights = Mapping[Cell, int]
Mask = NDArray[np.bool_]

_WIDTH = 640  # pictures are compared at this width
_NEW_BRIGHT, _NEW_HUE = 0.45, 0.14  # a pixel that shows something new
_TOE = 0.002  # light by which the darkest channel of a shadow may be drawn wrongly
_SHADOW = 0.5  # what only became darker may be a shadow as well
_TINT, _LEAST_TINTED = 0.35, 200  # the most that shadows differ in hue; pixels that tell it
_LIKE_BRIGHT, _LIKE_HUE = 1.2, 0.25  # what looks so much like the told piece may be it
_LEAST_LOOK = 0.12  # of a colour's silhouettes must be new to tell how it looks
_DEEP = 2.5  # and what became darker than any shadow is black
_WHOLE, _ABSENT = 0.85, 0.45  # of a silhouette: less is not this stack, is no stack at all
_SURELY_NEW, _AS_IT_WAS = 0.35, 3.0  # see `_told`
_LEAST_PX = 30
_STRANGE, _FREE = 0.9, 0.45  # of a cube's silhouette: new, and not hidden by what was told
_MOST_NEW = 0.5  # of the cells: more is another light, or another table
_TOP_GONE, _TOP_PX = 0.5, 60  # of what the topmost piece alone shows
_BETTER = 0.03  # by how much another arrangement must explain the picture better
_AS_LARGE = 0.3  # of a told stack: another one, which something may hide a part of
_MOST_NAMED = 8
_FARTHEST = 2  # cells by which whole arrangements are shifted
_MIRRORED = "mirrored, as front cameras of phones draw things unless that is switched off"
_STEPS = {
    (1, 0): "to the right",
    (-1, 0): "to the left",
    (0, 1): "farther back",
    (0, -1): "nearer to the front",
}


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where the told stacks would fit the picture better, and how that differs from the told."""

    cells: tuple[Cell, ...]
    how: str
    seen: bool = True  # most of its stacks; else all stand somewhere else, such as beside the board

    @property
    def turned(self) -> bool:
        """Whether the board would have to lie another way: a `clock` may be wrong."""
        return self.how.startswith("turned")


@dataclass(frozen=True, slots=True)
class ToldCheck:
    """How the told stacks fit the pictures; shares are of their silhouettes, in the worst view."""

    shares: Mapping[Cell, float] = field(default_factory=dict)
    lower: tuple[Cell, ...] = ()  # where the topmost piece of the told is not there
    higher: tuple[Cell, ...] = ()  # where something stands on what was told
    strange: tuple[Cell, ...] = ()  # cells where something stands that was not told
    rather: Arrangement | None = None

    @property
    def absent(self) -> tuple[Cell, ...]:
        """Where nothing stands that could be what was told."""
        return tuple(sorted(cell for cell, share in self.shares.items() if share < _ABSENT))

    @property
    def partly(self) -> tuple[Cell, ...]:
        """Where something stands, but less than was told, or beside its cell."""
        some = {c for c, share in self.shares.items() if _ABSENT <= share < _WHOLE}
        return tuple(sorted(some | set(self.lower) - set(self.absent)))

    @property
    def doubts(self) -> list[str]:
        """What contradicts the told stacks, in words."""
        found = []
        for cells, what in (
            (self.absent, "nothing is seen to stand on"),
            (self.partly, "less than was told is seen on"),
            (self.higher, "more than was told is seen on"),
            (self.strange, "something that was not told is seen on"),
        ):
            if cells:
                found.append(f"{what} {' '.join(str(cell) for cell in cells[:_MOST_NAMED])}")
        if self.rather is not None:
            there = " ".join(str(cell) for cell in sorted(self.rather.cells)[:_MOST_NAMED])
            found.append(f"all would fit better {self.rather.how} ({there})")
        return found

    @property
    def fits(self) -> bool:
        """Whether nothing contradicts what was told."""
        return not (self.absent or self.partly or self.higher or self.strange)


def check_told(views: Sequence[ColourView], board: Board, stacks: Stacks) -> ToldCheck:
    """Compares the pictures with those of the empty table; nothing is told without these."""
    heights = {cell: stacks.height(cell) for cell in stacks}
    sights = [s for view in views if (s := _Sight.of(view, board, stacks)) is not None]
    shares = {
        cell: min(seen)
        for cell, levels in heights.items()
        if (seen := [x for s in sights if (x := s.share(cell, levels)) is not None])
    }
    lower: list[Cell] = []
    higher: list[Cell] = []
    strange: list[Cell] = []
    for cell in _cells(board):
        levels = heights.get(cell, 0)
        seen = [x for s in sights if (x := s.unexplained(cell, levels + 1, heights)) is not None]
        if seen and min(seen) > _STRANGE:
            (higher if levels else strange).append(cell)
        tops = [x for s in sights if levels > 1 and (x := s.top(cell, heights)) is not None]
        if tops and min(tops) < _TOP_GONE:
            lower.append(cell)
    told = ToldCheck(shares, tuple(lower), tuple(higher), tuple(strange))
    return told if told.fits else replace(told, rather=_rather(sights, board, heights))


def changed_cells(view: ColourView, board: Board) -> tuple[Cell, ...]:
    """Cells of which something new is seen, if most of the board is as it was."""
    sight = _Sight.of(view, board, Stacks())
    if sight is None:
        return ()
    cells = list(_cells(board))
    new = [c for c in cells if (sight.unexplained(c, 1, {}) or 0.0) > _STRANGE]
    return tuple(new) if len(new) < _MOST_NEW * len(cells) else ()


def new_elsewhere(view: ColourView, board: Board, stacks: Stacks) -> bool:
    """Whether things as large as what was told are new in a picture, but not where the board is.

    Where nothing new is seen on the board either, something else may have been taken for it.
    """
    sight = _Sight.of(view, board, stacks)
    if sight is None:
        return False
    told = [sight.silhouette(cell, stacks.height(cell)).sum() for cell in stacks]
    beside = np.asarray((sight.new > _SHADOW) & ~sight.zone, np.uint8)
    parts = cv2.connectedComponentsWithStats(beside)[2][1:, cv2.CC_STAT_AREA]
    return bool((parts > max(_LEAST_PX, _AS_LARGE * min(told, default=0))).any())


def _rather(sights: Sequence["_Sight"], board: Board, heights: Heights) -> Arrangement | None:
    """The same stacks shifted, turned or mirrored, where that explains the pictures better."""
    best, found = _worth(sights, heights) + _BETTER, None
    for other, how in _arrangements(board, heights):
        worth = _worth(sights, other)
        if worth > best:
            best, found = worth, Arrangement(tuple(other), how, _mostly_seen(sights, other))
    return found


def _mostly_seen(sights: Sequence["_Sight"], heights: Heights) -> bool:
    """Whether something new is seen where most of these stacks would stand."""
    there = [
        min((sight.new_share(cell, levels) for sight in sights), default=0.0) >= _ABSENT
        for cell, levels in heights.items()
    ]
    return 2 * sum(there) >= len(there)


def _worth(sights: Sequence["_Sight"], heights: Heights) -> float:
    return float(np.mean([sight.agreement(heights) for sight in sights]))


def _arrangements(board: Board, heights: Heights) -> Iterator[tuple[Heights, str]]:
    """All stacks moved alike by some cells, then as by a turned or mirrored board."""
    right, back = board.lattice.columns - 1, board.lattice.ranks - 1
    span = range(-_FARTHEST, _FARTHEST + 1)
    for dx, dy in ((x, y) for x in span for y in span if x or y):
        moved = {Cell(c.file + dx, c.rank + dy): n for c, n in heights.items()}
        if all(0 <= c.file <= right and 0 <= c.rank <= back for c in moved):
            yield moved, " and ".join(_steps(dx, dy))
    yield {Cell(right - c.file, back - c.rank): n for c, n in heights.items()}, "turned by half"
    if right == back:
        left = {Cell(right - c.rank, c.file): n for c, n in heights.items()}
        yield left, "turned by a quarter"
        yield {Cell(c.rank, right - c.file): n for c, n in heights.items()}, "turned by a quarter"
    yield {Cell(right - c.file, c.rank): n for c, n in heights.items()}, _MIRRORED
    yield {Cell(c.file, back - c.rank): n for c, n in heights.items()}, _MIRRORED


def _steps(dx: int, dy: int) -> list[str]:
    """`one cell to the right`, for each direction."""
    words = []
    for x, y in ((dx, 0), (0, dy)):
        many = abs(x) + abs(y)
        if many:
            way = _STEPS[int(np.sign(x)), int(np.sign(y))]
            words.append(f"{'one cell' if many == 1 else f'{many} cells'} {way}")
    return words


def _cells(board: Board) -> Iterator[Cell]:
    for file in range(board.lattice.columns):
        for rank in range(board.lattice.ranks):
            yield Cell(file, rank)


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """What one camera shows: how new each pixel is, and where pieces could be seen at all."""

    camera: Camera
    board: Board
    scale: float
    new: NDArray[np.float32]  # 1 where something new is seen, less where it may be a shadow
    unshaded: NDArray[np.float32]  # the same where the hue of shadows on the board is known
    zone: Mask
    shown: Mapping[Cell, Mask]  # where told stacks may be seen, though the table looked like them
    cache: dict[tuple[Cell, int], Mask]

    @staticmethod
    def of(view: ColourView, board: Board, stacks: Stacks) -> "_Sight | None":
        """None where nothing can be compared."""
        if view.picture is None or view.empty is None or view.empty.shape != view.picture.shape:
            return None
        heights = {cell: stacks.height(cell) for cell in stacks}
        scale = min(1.0, _WIDTH / view.picture.shape[1])
        change = _Change.between(view.picture, view.empty, scale)
        new = change.newness()
        sight = _Sight(view.camera, board, scale, new, new, new > 2, {}, {})
        for cell in _cells(board):
            own = sight.silhouette(cell, max(heights.values(), default=1))
            np.logical_or(sight.zone, own, out=sight.zone)
        if not heights:
            return sight
        unshaded = change.newness(sight.zone & ~sight.all_of(heights))
        return replace(sight, unshaded=unshaded, shown=sight._shown(change.seen, stacks))

    def _shown(self, seen: Floats32, stacks: Stacks) -> Mapping[Cell, Mask]:
        """Where each stack's colours are seen: as they look where they surely are."""
        like: dict[str, Mask] = {}
        for letter in sorted({letter for _, letter in stacks.units()}):
            own = self.all_of({c: len(s) for c, s in stacks.items() if letter in s})
            sure = own & (self.new > _SHADOW)
            if sure.sum() > max(_TOP_PX, _LEAST_LOOK * own.sum()):
                off = np.abs(seen - np.median(seen[sure], axis=0))
                like[letter] = (off[..., 0] < _LIKE_BRIGHT) & (off[..., 1:].max(2) < _LIKE_HUE)
        nothing = np.zeros(self.new.shape, np.bool_)
        return {
            cell: np.any([like.get(letter, nothing) for letter in stack], axis=0)
            for cell, stack in stacks.items()
        }

    def silhouette(self, cell: Cell, levels: int) -> Mask:
        """The pixels that a stack covers, whatever stands before it."""
        known = self.cache.get((cell, levels))
        if known is not None:
            return known
        low, _ = self.board.lattice.box_mm(Unit(cell, 1))
        _, high = self.board.lattice.box_mm(Unit(cell, levels))
        box = np.array(list(product(*zip(low, high, strict=True))))
        mask = np.zeros(self.new.shape, np.uint8)
        px = (self.camera.project(box) + 0.5) * self.scale - 0.5
        if np.isfinite(px).all():
            outline = cv2.convexHull(px.astype(np.float32)).reshape(-1, 2)
            cv2.fillConvexPoly(mask, np.round(outline * 16).astype(np.int32), 1, shift=4)
        self.cache[cell, levels] = found = mask > 0
        return found

    def all_of(self, heights: Heights) -> Mask:
        """The silhouettes of many stacks together."""
        mask = np.zeros(self.new.shape, np.bool_)
        for cell, levels in heights.items():
            mask |= self.silhouette(cell, levels)
        return mask

    def share(self, cell: Cell, levels: int) -> float | None:
        """The part of a silhouette that shows something new; None where it is out of sight."""
        own = self.silhouette(cell, levels)
        return self._told(own, cell) if own.sum() > _LEAST_PX else None

    def new_share(self, cell: Cell, levels: int) -> float:
        """The same, whatever was told; 1 where it is out of sight: nothing speaks against it."""
        own = self.silhouette(cell, levels)
        return float(self.new[own].mean()) if own.sum() > _LEAST_PX else 1.0

    def _told(self, own: Mask, cell: Cell) -> float:
        """How much of a part of the picture shows something new, or what was told of a cell.

        Dark wood may be a shadow all over. Where some of it is surely new, it is missed only where
        the table is as it was, and a little of that tells a lot.
        """
        new = np.where(self.shown[cell][own], 1.0, self.new[own])
        if (new > _SHADOW).mean() < _SURELY_NEW:
            return float(new.mean())
        return float(max(new.mean(), 1.0 - _AS_IT_WAS * (new == 0).mean()))

    def unexplained(self, cell: Cell, levels: int, heights: Heights) -> float | None:
        """How new the picture is where one more piece than told would be seen; None if hidden."""
        own = self.silhouette(cell, levels)
        free = own & ~self.all_of(heights)
        if free.sum() < max(_LEAST_PX, _FREE / levels * own.sum()):
            return None
        return float((self.unshaded[free] > _SHADOW).mean())

    def top(self, cell: Cell, heights: Heights) -> float | None:
        """The same of what only the topmost piece of a told stack covers."""
        below = dict(heights) | {cell: heights[cell] - 1}
        own = self.silhouette(cell, heights[cell]) & ~self.all_of(below)
        return self._told(own, cell) if own.sum() > _TOP_PX else None

    def agreement(self, heights: Heights) -> float:
        """How alike silhouettes and what is new are: 1 where they are one (after Dice)."""
        told = self.all_of(heights)
        new = self.new * self.zone
        return float(2 * new[told].sum() / (told.sum() + new.sum() + 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """What became of each pixel of the empty table: in brightness, and in hue at its brightness."""

    seen: Floats32  # as if in the light of the empty table
    bright: Floats32
    hue: Floats32
    doubt: Floats32  # of the hue: nobody knows how a camera draws what is nearly black

    @staticmethod
    def between(picture: Image, empty: Image, scale: float) -> "_Change":
        """The change at a smaller scale, free of that of all light."""
        size = (round(picture.shape[1] * scale), round(picture.shape[0] * scale))
        now, before = (
            smoothed(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8))
            for image in (picture, empty)
        )
        light = light_of(now) / gains_of(exposure_change(picture, empty))
        known = light_of(before)
        seen, old = of_light(light), of_light(known)
        bright = seen[..., 0] - old[..., 0]
        # A shadow leaves a part of every channel; of dark ones the hue is drawn to grey with it.
        left = light.sum(axis=2) / np.maximum(known.sum(axis=2), 1e-6)
        shaded = of_light(known * np.minimum(left, 1.0)[..., None])
        doubt = np.where(bright < 0, _TOE / (light.min(axis=2) + DARKEST), 0.0)
        return _Change(seen, bright, (seen - shaded)[..., 1:], doubt.astype(np.float32))

    def newness(self, shadows: Mask | None = None) -> Floats32:
        """1 where something new is seen, less where it may be a shadow.

        What became darker in `shadows`, where nothing was told to stand, tells their hue: a window
        fills what a lamp does not reach.
        """
        hue = self.hue
        if shadows is not None:
            dark = shadows & (self.bright < -_NEW_BRIGHT) & (self.bright > -_DEEP)
            dark &= np.abs(hue).max(axis=2) < _TINT  # the rest has a colour of its own
            if dark.sum() > _LEAST_TINTED:
                tint = np.median(hue[dark], axis=0)
                depth = self.bright / min(float(np.median(self.bright[dark])), -_NEW_BRIGHT)
                hue = hue - np.clip(depth, 0.0, 1.5)[..., None] * tint
        far = np.abs(hue).max(axis=2)
        darker = np.where(self.bright < -_NEW_BRIGHT, _SHADOW, 0.0)
        sure = (far > _NEW_HUE + self.doubt) | (self.bright > _NEW_BRIGHT) | (self.bright < -_DEEP)
        return np.where(sure, 1.0, darker).astype(np.float32)
