"""The light that reaches every place between pieces, from where lamps and windows seem to be.

What stands on the table casts shadows, and hides the sky from what stands beside it. From the
faces and the bare board that are surely seen follows where light comes from: from each direction
so much, never less than nothing. Then every answer must explain why it is dark where it is dark.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour_space import Floats32
from rules.lattice import Board
from vision.evidence import State
from vision.likelihood import RayLooks, above_board
from vision.position import HALF, Position, Sight
from vision.rays import normal, unit_boxes
from vision.shading import BOUNDS
from vision.shadows import NORMALS, OFF_MM, SKY, SOME, Floats, Heights, Ints, around, unit_vector

_DARKEST = 0.03  # of the usual light; deeper shade is not told apart
_STEP = 0.05  # of tables over expected brightness
_EXPECTED = np.arange(math.log(_DARKEST), 0.8, _STEP)
_AXIS = np.abs(NORMALS).argmax(axis=1)
_HIGH_SIDE = NORMALS.max(axis=1) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LampSettings:
    """How much computed light is believed."""

    surely: float = 0.7  # so surely a ray shows a face from which light is fitted
    most: int = 1200  # rays of a camera that tell where light comes from
    least: int = 60  # rays on faces of one direction; with fewer nothing is expected of them
    open: float = 0.5  # how firmly a place that nothing shades is as bright as calibrated
    few: float = 0.3  # how much it costs that light comes from many directions
    strange: float = 0.4  # brightness so far off what is expected counts less
    rounds: int = 3
    spread: tuple[float, float] = (0.15, 0.40)  # least and most doubt about brightness
    other: tuple[float, float] = (0.10, 0.60)  # share of pixels that the light does not explain
    weak: float = 0.005  # of all light; directions that give less are left out
    tinted: float = 0.8  # most of the light that pieces throw at the bare board
    finer: tuple[float, ...] = (7.0, 3.5)  # degrees between directions tried around each lamp
    lamp: float = 0.15  # of all light, and it is looked where exactly it comes from
    lamps: int = 3  # at most, that are looked for so
    one_lamp: float = 0.9  # cosine; directions so near give the light of one lamp
    cap: float = 16.0  # what the rays of one face or cell tell together, at most


@dataclass(frozen=True, slots=True, eq=False)
class _Lit:
    """The light on faces of one direction: what each direction gives, and what is thrown back.

    `told` (2, S, classes) is how much likelier each class of brightness is where `_EXPECTED` is
    expected than anywhere: on the bare board, and on pieces.
    """

    light: Floats  # from each direction
    thrown: float  # back by what hides the sky
    told: Floats

    def expected(self, fall: Floats32, hidden: Floats32) -> Floats:
        """How bright places are, given what each direction would give to each of them."""
        return np.asarray(self.light @ fall + self.thrown * hidden)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What each ray of one camera shows in a state."""

    entry: NDArray[np.int32]  # one past the last where no piece is met
    how_surely: Floats32
    points: Floats
    face: Ints  # -1 where it shows nothing clearly, or the room


class Lamplight:
    """Light fitted to one position, which tells how well others explain their shadows."""

    def __init__(
        self,
        board: Board,
        cameras: Sequence[Camera],
        position: Position,
        looks: Sequence[RayLooks],
        usual: tuple[Floats, Floats],
        settings: LampSettings | None = None,
        towards: Floats | None = None,
    ) -> None:
        """`usual` is how often classes of brightness occur on pieces and on the bare board.

        `towards` are the directions of light where another answer has told them already.
        """
        self._cfg = settings or LampSettings()
        self._board, self._usual = board, usual[::-1]
        low, high = unit_boxes(board.lattice)
        if position.moved_mm:
            moved = np.mean(position.moved_mm, axis=0)
            low[:, :2] += moved
            high[:, :2] += moved
        self._low, self._high = low, high
        self._above = above_board(board.lattice)
        self._views = [
            _View(sight, own, *camera.rays(sight.table.rays.px.astype(np.float64)))
            for camera, sight, own in zip(cameras, position.sights, looks, strict=True)
        ]
        state = position.state
        heights = self._heights(state)
        self.towards = SKY.towards if towards is None else towards
        self._lit = [self._fitted(view, state, heights) for view in self._views]
        if towards is None:
            for degrees in self._cfg.finer:
                finer = self._finer(degrees)
                if not len(finer):
                    break
                self.towards = np.concatenate([SKY.towards, finer])
                self._lit = [self._fitted(view, state, heights) for view in self._views]
            self._leave_out_the_dark()
        self._worths: dict[bytes, float] = {}

    def worth(self, state: State) -> float:
        """By how much computed light explains all brightness better in a state than none."""
        key = state.tobytes()
        if key not in self._worths:  # answers are compared with several others
            self._worths[key] = self._worth(state)
        return self._worths[key]

    def _worth(self, state: State) -> float:
        state = np.append(state, 0).astype(np.int8)  # one more that is never there
        heights = self._heights(state)
        total = 0.0
        for view, lit in zip(self._views, self._lit, strict=True):
            shown = self._shown(view, state)
            some = np.flatnonzero(np.isin(shown.face, list(lit)))
            if not len(some):
                continue
            face = shown.face[some]
            fall = heights.fall(shown.points[some], face, self.towards)
            hidden = _hidden(fall[SOME], face)
            told = np.zeros(len(some))
            shade, piece = view.shade(state, shown.entry[some], some)
            for number, own in lit.items():
                here = face == number
                light = own.expected(fall[:, here], hidden[here])
                told[here] = own.told[piece[here], _row(light), shade[here]]
                # Bare board that lamps do not reach has the colours of what stands around it.
                bare = np.flatnonzero(here & (piece == 0))
                back = own.thrown * hidden[bare] / np.maximum(light[piece[here] == 0], _DARKEST)
                share = np.clip(back, 0, self._cfg.tinted)
                told[bare] += np.log1p(share * (view.tinted[some[bare]] - 1))
            by_group = np.bincount(view.group(shown.entry[some], some), told * view.weight[some])
            total += float(by_group.clip(-self._cfg.cap, self._cfg.cap).sum())
        return total

    def _leave_out_the_dark(self) -> None:
        """Keeps the directions that give light, and those that tell how much of the sky is seen."""
        keep = np.zeros(len(self.towards), dtype=bool)
        keep[SOME] = True
        for own in self._lit:
            for lit in own.values():
                keep |= lit.light > self._cfg.weak
        self.towards = self.towards[keep]
        self._lit = [
            {face: replace(lit, light=lit.light[keep]) for face, lit in own.items()}
            for own in self._lit
        ]

    def _finer(self, degrees: float) -> Floats:
        """Directions so far apart around those from which most light comes."""
        cfg = self._cfg
        light = np.zeros(len(self.towards))
        for own in self._lit:
            for lit in own.values():
                light += lit.light / sum(map(len, self._lit))
        found: list[Floats] = []
        while len(found) < cfg.lamps:
            near = self.towards @ self.towards[light.argmax()] > cfg.one_lamp
            if light[near].sum() < cfg.lamp:
                break
            found.append(unit_vector(light[near] @ self.towards[near]))
            light[near] = 0.0
        return np.concatenate([around(lamp, degrees) for lamp in found] or [self.towards[:0]])

    def _heights(self, state: State) -> Heights:
        there = state[:-1] > 0
        return Heights(self._board, self._low[there], self._high[there])

    def _shown(self, view: "_View", state: State) -> _Shown:
        """What each ray shows, and where it meets it."""
        table = view.table
        part = table.part[table.matrix] * (state[table.matrix_unit] > 0)
        clear = np.cumprod(1 - part, axis=1)
        light = part.copy()
        light[:, 1:] *= clear[:, :-1]
        slot = light.argmax(axis=1)
        rays = np.arange(table.count)
        met, bare = light[rays, slot], clear[:, -1]
        face_of = np.append(table.rays.face, 0)
        entry = np.where(met > HALF, table.matrix[rays, slot], len(table.unit) - 1)
        face = np.where(met > HALF, face_of[entry], -1).astype(np.int64)
        ground = (bare > HALF) & (table.ground_column >= 0) & table.rays.on_board
        face[ground] = 0
        points = np.column_stack([table.rays.ground_mm, np.full(table.count, OFF_MM)])
        own = np.flatnonzero(met > HALF)
        points[own] = self._met(view, own, table.unit[entry[own]].astype(np.int64), face[own])
        return _Shown(entry, np.where(ground, bare, met), points.astype(np.float64), face)

    def _met(self, view: "_View", rays: Ints, unit: Ints, face: Ints) -> Floats:
        """Where rays meet these faces of units, a little before them."""
        low, high = self._low[unit], self._high[unit]
        row, axis = np.arange(len(rays)), _AXIS[face]
        plane = np.where(_HIGH_SIDE[face], high[row, axis], low[row, axis])
        along = view.along[rays]
        slow = along[row, axis]
        far = (plane - view.origin[axis]) / np.where(np.abs(slow) < 1e-9, 1e-9, slow)
        points = np.clip(view.origin + far[:, None] * along, low + 0.5, high - 0.5)
        points[row, axis] = plane
        return np.asarray(points + OFF_MM * NORMALS[face])

    def _fitted(self, view: "_View", state: State, heights: Heights) -> dict[int, _Lit]:
        """For each direction of faces that is seen well enough, the light that falls on it."""
        cfg = self._cfg
        shown = self._shown(view, state)
        clear = (shown.how_surely > cfg.surely) & (shown.face >= 0) & (view.sharp > 0.9)
        some = np.flatnonzero(clear)
        some = some[:: max(1, round(len(some) / cfg.most))]
        face, entry = shown.face[some], shown.entry[some]
        off = view.brightness(state, entry, some, self._above)
        fall = heights.fall(shown.points[some], face, self.towards)
        hidden = _hidden(fall[SOME], face)
        found = {}
        for number in range(len(NORMALS)):
            here = face == number
            if np.count_nonzero(here) < cfg.least:
                continue
            sources = np.vstack([fall[:, here], hidden[None, here]]).T.astype(np.float64)
            open_ = np.append(np.maximum(self.towards @ NORMALS[number], 0), 0.0)
            light = _fit(sources, off[here], open_, cfg)
            away = off[here] - np.log(np.maximum(sources @ light, _DARKEST))
            spread = 1.48 * float(np.median(np.abs(away - np.median(away))))
            spread = float(np.clip(spread, *cfg.spread))
            other = float(np.clip((np.abs(away) > 3 * spread).mean() + 0.1, *cfg.other))
            told = np.stack([_told(usual, spread, other) for usual in self._usual])
            found[number] = _Lit(light[:-1], float(light[-1]), told)
        return found


class _View:
    """One camera's rays, and how bright each of them is against what it may show."""

    def __init__(self, sight: Sight, looks: RayLooks, origin: Floats, along: Floats) -> None:
        self.table, self.origin, self.along = sight.table, origin, along
        self.weight, self.sharp = sight.view.weight, sight.view.sharp
        self._shades, self._looks = sight.view.shade, looks
        self.tinted = looks.tinted

    def shade(
        self, state: State, entry: NDArray[np.int32], rays: Ints
    ) -> tuple[NDArray[np.int8], Ints]:
        """The class of brightness of what rays show, and whether it is a piece."""
        colour = state[self.table.unit[entry]]
        piece = colour > 0
        own = self._shades[colour - 1, entry]
        return np.where(piece, own, self._looks.nothing_shade[rays]), piece.astype(np.int64)

    def group(self, entry: NDArray[np.int32], rays: Ints) -> NDArray[np.int32]:
        """The face or cell of which rays show a part."""
        table = self.table
        bare = entry == len(table.unit) - 1
        return np.where(bare, table.ground_group[rays], table.face_group[entry])

    def brightness(
        self, state: State, entry: NDArray[np.int32], rays: Ints, above: Floats32
    ) -> Floats:
        """How much brighter what rays show is than usual, in logarithms."""
        looks, table = self._looks, self.table
        off = looks.nothing_off[rays, 0].astype(np.float64)
        piece = np.flatnonzero(entry < len(table.unit) - 1)
        unit, face = table.unit[entry[piece]], table.rays.face[entry[piece]]
        usual = looks.followed.colours.mean[state[unit] - 1, face, 0]
        if looks.followed.rising is not None:
            usual = usual + above[unit % table.lattice.levels] * looks.followed.rising[face, 0]
        off[piece] = looks.values[rays[piece], 0] - usual
        return np.asarray(off)


def _hidden(fall: Floats32, face: Ints) -> Floats32:
    """How much of the sky things hide from places, by what some directions of it give."""
    whole = np.maximum(SKY.towards[SOME] @ NORMALS.T, 0) * SKY.share[SOME][:, None]
    seen = SKY.share[SOME].astype(np.float32) @ fall
    return np.asarray(1 - seen / whole.sum(axis=0)[face], dtype=np.float32)


def _fit(sources: Floats, off: Floats, open_: Floats, cfg: LampSettings) -> Floats:
    """What each source gives, never less than nothing, that places are so bright."""
    bright = np.exp(np.clip(off, -3.0, 0.7))
    firm = cfg.open * math.sqrt(len(off))
    weight = 1 / (bright + 0.15)
    light = np.zeros(sources.shape[1])
    for _ in range(cfg.rounds):
        own = sources * weight[:, None]
        square = own.T @ own + firm**2 * np.outer(open_, open_) + cfg.few**2 * np.eye(len(light))
        light = _not_negative(square, own.T @ (bright * weight) + firm**2 * open_, light)
        away = np.log(np.maximum(sources @ light, _DARKEST)) - np.log(np.maximum(bright, _DARKEST))
        weight = 1 / (bright + 0.15) / np.sqrt(1 + (away / cfg.strange) ** 2)
    return light


def _not_negative(square: Floats, target: Floats, start: Floats, steps: int = 150) -> Floats:
    """The least squares solution without negative parts, from a first guess."""
    rate = 1 / float(np.linalg.norm(square, 2))
    x, before, speed = start, start, 1.0
    for _ in range(steps):
        faster = (1 + math.sqrt(1 + 4 * speed * speed)) / 2
        ahead = x + (speed - 1) / faster * (x - before)
        before, speed = x, faster
        x = np.maximum(ahead - rate * (square @ ahead - target), 0)
    return x


def _told(usual: Floats, spread: float, other: float) -> Floats:
    """How much likelier each class of brightness is for each expected one (S, classes)."""
    bounds = np.array([-np.inf, *BOUNDS, np.inf])
    expected = np.diff(normal((bounds - _EXPECTED[:, None]) / spread), axis=1)
    return np.asarray(np.log((1 - other) * expected / usual + other))


def _row(light: Floats) -> Ints:
    """The row of tables over expected brightness."""
    place = (np.log(np.maximum(light, _DARKEST)) - _EXPECTED[0]) / _STEP
    return np.asarray(np.rint(place).clip(0, len(_EXPECTED) - 1), dtype=np.int64)
