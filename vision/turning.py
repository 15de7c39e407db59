"""Turning: where a board or felt lies on the table after players have turned and shifted it.

Every camera's picture is laid flat on the table, and on the tops of the stacks. A pose is good
where the outline parts board from table, and the tops of the stacks have the colours that stood
there before.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour import FACES, CameraColours
from rules.lattice import Board
from rules.stacks import Stacks
from vision.frame import ImageBGR

F32 = NDArray[np.float32]
Key = tuple[float, float, float]  # degrees, millimetres along x and y
_LESS = 0.3  # a pose that is worth so much less than before may be wrong (a new piece: 0.2)
_OUTLINE = 0.05  # an outline that parts less well by so much lies elsewhere: 2 mm (0.03 to 0.1)
_QUARTERS = (0.0, 90.0, 180.0, 270.0)  # of a square, which look alike by its outline
_BETTER = 0.15  # so much better, and a moving board has moved on
_STAYED = 0.1  # a board whose pose is worth nearly as much as before has not been turned
_SURE = 0.6  # so much better, and it was turned
_CLEAR = 0.5  # of what the pose before was worth, or nothing is clear (0.3 to 0.7)
_DARK = 4.0  # grey levels; below, a camera tells noise
_MM_PX = 2.5  # of the flat pictures
_REACH_MM = 60.0  # how far players shift a board at most
_BANDS_MM = (3.5, 8.0, 13.0)  # how far from the outline its two sides are compared
_STEPS = ((5.0, 10.0, 180.0, 60.0), (1.5, 3.0, 6.0, 10.0), (0.5, 1.0, 1.5, 3.0))
_COARSE = 4  # of so many points beside the outline one is looked at while poses are far apart
_LOCAL = ((3.0, 6.0, 18.0, 12.0), (1.0, 2.0, 3.0, 4.0))


@dataclass(frozen=True, slots=True)
class Pose:
    """How the board lies against its calibration: turned about its middle, then shifted."""

    degrees: float = 0.0
    x_mm: float = 0.0
    y_mm: float = 0.0

    def camera(self, camera: Camera, board: Board) -> Camera:
        """A camera of the table as the turned board sees it."""
        a = math.radians(self.degrees)
        turn = np.array(
            [[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1.0]]
        )
        wide, deep, _ = board.lattice.size_mm
        middle = np.array([wide / 2, deep / 2, 0.0])
        place = middle + np.array([self.x_mm, self.y_mm, 0.0]) - turn @ middle
        return replace(
            camera,
            rotation=camera.rotation @ turn,
            translation_mm=camera.rotation @ place + camera.translation_mm,
        )


class Flat:
    """One camera's pictures laid flat at the levels of a lattice."""

    def __init__(self, camera: Camera, board: Board) -> None:
        self.lattice = board.lattice
        wide, deep, _ = self.lattice.size_mm
        half = math.hypot(*_half_size(board)) + _REACH_MM + 20
        count = math.ceil(2 * half / _MM_PX)
        self.origin = (wide / 2 - half, deep / 2 - half)
        steps = np.arange(count) * _MM_PX
        x, y = np.meshgrid(self.origin[0] + steps, self.origin[1] + steps)
        self._maps: list[tuple[F32, F32]] = []
        for level in range(self.lattice.levels + 1):
            z = np.full_like(x, level * self.lattice.unit_mm[2])
            px = camera.project(np.stack([x, y, z], axis=-1)).astype(np.float32)
            self._maps.append((px[..., 0], px[..., 1]))

    def at(self, image: ImageBGR, level: int) -> F32:
        """The picture as seen on the plane of this level's top."""
        across, along = self._maps[level]
        flat = cv2.remap(image, across, along, cv2.INTER_LINEAR)
        return np.asarray(cv2.blur(flat, (3, 3)), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one camera shows of the board, laid flat by level, and the colours that it had."""

    origin: tuple[float, float]
    flats: Mapping[int, F32]
    colours: F32  # (samples, 3) what the samples looked like before
    parting: F32  # (2, 3) the colours inside and outside of the outline before


class Turning:
    """Finds the pose of one board in the pictures of several cameras."""

    def __init__(self, board: Board, cameras: Mapping[str, Camera]) -> None:
        self._board = board
        self._flat = {name: Flat(camera, board) for name, camera in cameras.items()}
        wide, deep, _ = board.lattice.size_mm
        self._middle = np.array([wide / 2, deep / 2])
        self._inside, self._outside = _bands(board)
        self._samples: NDArray[np.float64] = np.zeros((0, 2))
        self._levels: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._known: dict[str, tuple[F32, F32]] = {}
        self._grounds: dict[str, F32] = {}  # the tables with the boards, as they looked then
        self._worth = 0.0
        self._parted = 0.0
        self.pose = Pose()
        self.tracked = Pose()

    def remember(self, images: Mapping[str, ImageBGR], stacks: Stacks) -> None:
        """How the board looks as it lies now, with these stacks."""
        self._samples, self._levels = _samples(self._board, stacks)
        self._known = {}
        for name, image in images.items():
            self._grounds[name] = self._flat[name].at(image, 0)
            look = self._look(name, image)
            here = np.array([self._key(self.pose)])
            sides = [
                np.median(_pick(look, self._placed(band, here), 0)[0], axis=0)
                for band in (self._inside, self._outside)
            ]
            colours = self._colours(look, self._placed(self._samples, here))[0]
            self._known[name] = colours, np.array(sides, dtype=np.float32)
        self.tracked = self.pose
        looks = self._looks(images)
        here = np.array([self._key(self.pose)])
        self._worth = float(self._scores(looks, here)[0])
        self._parted = self._outlines(looks, here)

    def lies(self, images: Mapping[str, ImageBGR]) -> bool:
        """Whether the board still lies where it lay; quickly answered."""
        looks = self._looks(images)
        degrees, *place = self._key(self.pose)
        quarters = np.array([(degrees + more, *place) for more in _QUARTERS])
        if not looks or self._scores(looks, quarters[:1])[0] > self._worth - _LESS:
            return True
        # Large pieces change much of what is seen of a small board, but not its outline.
        if self._outlines(looks, quarters[:1]) < self._parted - _OUTLINE:
            return False
        return int(self._scores(looks, quarters).argmax()) == 0

    def track(self, images: Mapping[str, ImageBGR]) -> None:
        """Goes along with a board that is being turned, frame by frame."""
        looks = self._looks(images)
        if not looks:
            return
        before = self._key(self.tracked)
        if self._scores(looks, np.array([before]))[0] > self._worth - _STAYED:
            return
        found = self._best(looks, before, _LOCAL)
        here, there = self._scores(looks, np.array([before, found]))
        if there > here + _BETTER:
            self.tracked = Pose(*(float(v) for v in found))

    def fit(self, images: Mapping[str, ImageBGR]) -> Pose | None:
        """Where the board lies now; None where it lies as it did, or nothing is clear."""
        looks = self._looks(images)
        if not looks:
            return None
        start = self._key(self.pose)
        found = self._best(looks, start, _STEPS)
        here, there = self._scores(looks, np.array([start, found]))
        if there < max(here + _SURE, _CLEAR * self._worth):
            return None
        degrees = (found[0] + 180.0) % 360.0 - 180.0
        return Pose(float(degrees), float(found[1]), float(found[2]))

    def _best(
        self, looks: Mapping[str, "Look"], start: Key, steps: tuple[tuple[float, ...], ...]
    ) -> Key:
        best = start
        for number, (angle, shift, angles, shifts) in enumerate(steps, 1):
            tried = _grid(best, angle, shift, angles, shifts)
            off = (tried[:, 0] - self.tracked.degrees + 180.0) % 360.0 - 180.0
            # Of equally good poses, as of an empty board, the one that it was followed to.
            each = 1 if number == len(steps) else _COARSE
            scores = self._scores(looks, tried, each) - 0.0005 * np.abs(off)
            x, y, z = tried[int(scores.argmax())]
            best = float(x), float(y), float(z)
        return best

    def _outlines(self, looks: Mapping[str, "Look"], here: NDArray[np.float64]) -> float:
        """How well the outline of one pose parts board and table, in all pictures."""
        inside, outside = self._placed(self._inside, here), self._placed(self._outside, here)
        parted = [float(_parted(look, inside, outside)[0]) for look in looks.values()]
        return sum(parted) / max(len(parted), 1)

    def _looks(self, images: Mapping[str, ImageBGR]) -> dict[str, "Look"]:
        return {name: self._look(name, i) for name, i in images.items() if name in self._known}

    @staticmethod
    def _key(pose: Pose) -> Key:
        return pose.degrees, pose.x_mm, pose.y_mm

    def _look(self, name: str, image: ImageBGR) -> Look:
        flat = self._flat[name]
        levels = {0, *self._levels.tolist()}
        nothing = np.zeros((0, 3), dtype=np.float32)
        colours, parting = self._known.get(name, (nothing, nothing))
        flats = {level: flat.at(image, level) for level in levels}
        if name in self._grounds:
            # Exposure and white balance change all colours alike, on felts of the table's as well.
            ratio = (flats[0] + _DARK) / (self._grounds[name] + _DARK)
            gain = np.median(ratio[::_COARSE, ::_COARSE].reshape(-1, 3), axis=0)
            flats = {level: seen / gain for level, seen in flats.items()}
        return Look(flat.origin, flats, colours, parting)

    def _placed(self, points: NDArray[np.float64], poses: NDArray[np.float64]) -> F32:
        """Points of the board (P, 2) on the table under each pose: (H, P, 2)."""
        a = np.radians(poses[:, 0])
        cos, sin = np.cos(a)[:, None], np.sin(a)[:, None]
        u, v = (points - self._middle).T
        x = cos * u - sin * v + self._middle[0] + poses[:, 1:2]
        y = sin * u + cos * v + self._middle[1] + poses[:, 2:3]
        return np.stack([x, y], axis=-1).astype(np.float32)

    def _scores(self, looks: Mapping[str, Look], poses: NDArray[np.float64], each: int = 1) -> F32:
        """How well each pose explains all pictures, by each or fewer points beside the outline."""
        total = np.zeros(len(poses), dtype=np.float32)
        for part in range(0, len(poses), 2000):
            some = poses[part : part + 2000]
            inside = self._placed(self._inside[::each], some)
            outside = self._placed(self._outside[::each], some)
            samples = self._placed(self._samples, some)
            for look in looks.values():
                own = 2.0 * _parted(look, inside, outside)
                off = np.abs(self._colours(look, samples) - look.colours).mean(axis=-1)
                own += 2.0 * (1.0 - np.minimum(off / 40.0, 1.0)).mean(axis=1)
                total[part : part + 2000] += own / len(looks)
        return total

    def _colours(self, look: Look, places: F32) -> F32:
        """What is seen at the samples, each at its own level."""
        found = np.zeros((*places.shape[:2], 3), dtype=np.float32)
        for level in np.unique(self._levels):
            which = np.flatnonzero(self._levels == level)
            found[:, which] = _pick(look, places[:, which], int(level))
        return found


def turned_picture(empty: ImageBGR, table: Camera, board: Board, pose: Pose) -> ImageBGR:
    """The picture of the empty table with the board lying elsewhere."""
    corners = np.array([(x, y, 0.0) for x, y in _corners(board)])
    old = table.project(corners).astype(np.float32)
    new = pose.camera(table, board).project(corners).astype(np.float32)
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        return empty
    size = (empty.shape[1], empty.shape[0])
    was, now = (np.zeros(size[::-1], dtype=np.uint8) for _ in range(2))
    cv2.fillConvexPoly(was, np.round(old).astype(np.int32), 255)
    cv2.fillConvexPoly(now, np.round(new).astype(np.int32), 255)
    ring = (cv2.dilate(was, np.ones((25, 25), np.uint8)) > 0) & (was == 0)
    picture = empty.copy()
    if ring.any():
        picture[was > 0] = np.median(empty[ring], axis=0)
    moved = cv2.warpPerspective(empty, cv2.getPerspectiveTransform(old, new), size)
    picture[now > 0] = moved[now > 0]
    return picture


def turned_colours(colours: CameraColours, degrees: float) -> CameraColours:
    """How the turned board's faces and ground look, from how they looked as calibrated.

    The light stays where it is: what was the right side faces backwards after a quarter turn.
    """
    quarters = round(degrees / 90) % 4
    around = ("right", "back", "left", "front")  # anticlockwise, seen from above
    order = [FACES.index(face) for face in FACES]
    for n, face in enumerate(around):
        order[FACES.index(face)] = FACES.index(around[(n + quarters) % 4])
    a = math.radians(degrees)
    c, s = math.cos(a), math.sin(a)
    flat, x, y, xx, xy, yy = (float(v) for v in colours.light)
    light = (
        flat,
        c * x + s * y,
        c * y - s * x,
        c * c * xx + c * s * xy + s * s * yy,
        2 * c * s * (yy - xx) + (c * c - s * s) * xy,
        s * s * xx - c * s * xy + c * c * yy,
    )
    return replace(
        colours,
        mean=colours.mean[:, order],
        clip=colours.clip[:, order],
        spread=colours.spread[:, order],
        seen=colours.seen[:, order],
        light=np.array(light, dtype=np.float32),
    )


def _half_size(board: Board) -> tuple[float, float]:
    left, front, right, back = board.margin_mm
    wide, deep, _ = board.lattice.size_mm
    return wide / 2 + max(left, right), deep / 2 + max(front, back)


def _corners(board: Board) -> list[tuple[float, float]]:
    left, front, right, back = board.margin_mm
    wide, deep, _ = board.lattice.size_mm
    x0, y0, x1, y1 = -left, -front, wide + right, deep + back
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _bands(board: Board) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points a little inside and a little outside of the board's outline, side by side."""
    corners = np.array(_corners(board))
    middle = corners.mean(axis=0)
    inside, outside = [], []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        for part in np.linspace(0.06, 0.94, 16):
            point = a + (b - a) * part
            side = (b - a) / np.linalg.norm(b - a)
            out = np.array([side[1], -side[0]])
            out *= np.sign(out @ (point - middle))
            inside += [point - far * out for far in _BANDS_MM]
            outside += [point + far * out for far in _BANDS_MM]
    return np.array(inside), np.array(outside)


def _samples(board: Board, stacks: Stacks) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points on the tops of all cells, stacks or none, and their levels."""
    lattice = board.lattice
    points: list[tuple[float, float]] = []
    levels: list[int] = []
    for cell in lattice.cells():
        x, y = lattice.centre_mm(cell)
        off = 0.22 * lattice.pitch_mm
        for dx, dy in ((-off, -off), (off, -off), (off, off), (-off, off)):
            points.append((x + dx, y + dy))
            levels.append(min(stacks.height(cell), lattice.levels))
    return np.array(points), np.array(levels, dtype=np.int64)


def _pick(look: Look, places: F32, level: int) -> F32:
    """The flat picture's colours at places on the table (H, P, 2)."""
    flat = look.flats[level]
    column = ((places[..., 0] - look.origin[0]) / _MM_PX + 0.5).astype(np.int32)
    row = ((places[..., 1] - look.origin[1]) / _MM_PX + 0.5).astype(np.int32)
    np.clip(column, 0, flat.shape[1] - 1, out=column)
    np.clip(row, 0, flat.shape[0] - 1, out=row)
    return np.asarray(flat[row, column])


def _parted(look: Look, inside: F32, outside: F32) -> F32:
    """How well the outline parts the board's colour from the table's, 1 where fully."""
    board, table = look.parting
    way = board - table
    length = float(way @ way) + 30.0
    middle = (board + table) / 2
    own = np.clip((_pick(look, inside, 0) - middle) @ way / length, -0.7, 0.7).mean(axis=1)
    other = np.clip((_pick(look, outside, 0) - middle) @ way / length, -0.7, 0.7).mean(axis=1)
    return np.asarray(own - other, dtype=np.float32)


def _grid(
    about: Key,
    angle: float,
    shift: float,
    angles: float,
    shifts: float,
) -> NDArray[np.float64]:
    """Poses around one: degrees, and millimetres along both axes."""
    turn = about[0] + np.arange(-angles, angles + 1e-6, angle)
    along = np.arange(-shifts, shifts + 1e-6, shift)
    grid = np.stack(np.meshgrid(turn, about[1] + along, about[2] + along), axis=-1)
    return np.asarray(grid.reshape(-1, 3))
