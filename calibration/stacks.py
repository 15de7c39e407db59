"""Cameras made certain by stacks of known height: what a flat board cannot tell.

Seen from straight above, a flat board looks the same through a long lens from afar and a short one
near by; a stack does not. Its edges are looked for in the colour picture, in all cameras together:
where it stands exactly is unknown, but it is one place for all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.belief import Belief
from calibration.camera import Camera, Floats
from calibration.cv import Image
from calibration.edges import lines_across, look_across, noise_of, settle
from calibration.fit import huber_weights, levenberg_marquardt, spread
from calibration.pose_quality import expected_errors, heights_of
from calibration.rectify import Plane, lab_of
from calibration.solve import (
    CAMERA,
    Evidence,
    LensDoubt,
    Solution,
    alike,
    evidence_errors_px,
    evidence_slopes,
    moved,
)
from rules.cells import Cell
from rules.lattice import Board, Lattice

_UNKNOWN_FOCAL = 0.06  # from this doubt on nobody has measured the lens
_POSE = 6  # values of `moved` before those of the lens
_BOX = 5  # shift along x and y, twist, shift of the top against the foot along x and y
_BOX_ERRORS = np.array([0.10, 0.10])  # of the pitch: how far off its cell a piece may stand
_TWIST_ERROR = np.radians(6.0)
_LEAN_MM = 0.7  # how far each level stands beside the one below it
_UPRIGHT_MM = 0.05  # single pieces do not lean
_EDGE_ERROR_MM = 0.5  # pieces have rounded edges
_EDGE_ERROR_PX = 0.75  # of a whole edge: light on its faces moves all its pieces alike
_BOARD_ERROR_PX = 0.12  # the board's plane was found before and must stay where it is
_REACHES_PX = (7.0, 5.0, 4.0, 3.0)
_SEARCH = 0.22  # of the pitch: how far off stacks are looked for
_LONGER = (-0.3, -0.2, -0.1, 0.1, 0.2, 0.3)  # logarithms of focal lengths that are tried first
_CLEARLY = 0.02  # by how much more of the edges must be seen for that
_PIECES = 7
_SLIVER_PX = 7.0
_LEAST_HIGH_MM = 5.0  # flat pieces tell nothing of heights
# How far from where it was found the board is not believed to lie any more, and how far it may. The
# floor of hollows is not seen by itself: rim, foot and shadow are mixed up.
_ELSEWHERE_MM = 1.5
_HOLLOW_MM, _HOLLOW_ELSEWHERE_MM = np.array([0.7, 0.7, 2.0]), 6.0
_MEASURED_MM = np.array([0.7, 0.7, 0.4])  # where somebody did measure how deep they are
_IN_HOLLOW_MM = 0.7  # how loosely pieces stand there


@dataclass(frozen=True, slots=True, eq=False)
class StackView:
    """One camera's picture of the known stacks; the empty table helps to see only what is new."""

    camera: Camera
    doubt: LensDoubt
    picture: Image
    empty: Image | None = None
    hollow: bool = False  # the board was found by its hollows
    covariance: Floats | None = None  # of the camera's values, where its pose told them

    def belief(self, board: Board) -> Belief:
        """What is known of the camera before the stacks are looked at."""
        covariance = self.covariance
        if covariance is None:
            covariance = _by_the_board(self.camera, self.doubt, board)
        found = Belief(self.camera, covariance, board)
        if not self.hollow:
            return found
        return found.shifted(_HOLLOW_MM if board.recess_mm == "auto" else _MEASURED_MM)


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """A camera after a look at the stacks."""

    camera: Camera
    error_mm: dict[str, float]
    changed: bool  # False where the stacks were not seen well enough to say anything
    covariance: Floats | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A stack, or pieces that stand wall to wall as one: its middle, size and height."""

    x_mm: float
    y_mm: float
    wide_mm: float
    deep_mm: float
    high_mm: float
    lean_mm: float = 0.0  # how far its top may stand beside its foot


def refine_with_stacks(
    views: Mapping[str, StackView], board: Board, heights: Mapping[Cell, int]
) -> dict[str, Refined]:
    """Cameras that see stacks of these heights (in levels) where they really are.

    Cameras whose lens was measured stay nearly as they are and help the others.
    """
    boxes = [b for b in boxes_of(heights, board.lattice) if b.high_mm > _LEAST_HIGH_MM]
    unchanged = {name: Refined(view.camera, {}, changed=False) for name, view in views.items()}
    beliefs = {name: view.belief(board) for name, view in views.items()}
    if not boxes or all(beliefs[n].focal < 0.02 and not v.hollow for n, v in views.items()):
        return unchanged
    names = list(views)
    scene = _Scene([views[n] for n in names], [beliefs[n] for n in names], boxes, board)
    solved = scene.solve()
    if solved is None:
        return unchanged
    result = {}
    for name, solution in zip(names, solved, strict=True):
        old = views[name].camera
        if solution is None or not _believable(old, solution.camera, board, views[name].hollow):
            result[name] = unchanged[name]
        else:
            errors = expected_errors(solution, board, heights_of(board))
            result[name] = Refined(
                solution.camera, errors, changed=True, covariance=solution.covariance
            )
    return result


def boxes_of(heights: Mapping[Cell, int], lattice: Lattice) -> list[Box]:
    """The stacks as boxes; cells wall to wall of one height are one, if together a rectangle."""
    left = {cell: n for cell, n in heights.items() if n > 0}
    wide, deep, high = lattice.unit_mm
    pitch = lattice.pitch_mm
    walls = wide > 0.97 * pitch and deep > 0.97 * pitch
    boxes = []
    while left:
        group = _touching(next(iter(left)), left) if walls else [next(iter(left))]
        levels = {left[cell] for cell in group}
        for cell in group:
            del left[cell]
        files, ranks = [c.file for c in group], [c.rank for c in group]
        columns, rows = max(files) - min(files) + 1, max(ranks) - min(ranks) + 1
        if len(levels) == 1 and columns * rows == len(group):
            x = (min(files) + max(files) + 1) / 2 * pitch
            y = (min(ranks) + max(ranks) + 1) / 2 * pitch
            size = (wide + (columns - 1) * pitch, deep + (rows - 1) * pitch)
            level = levels.pop()
            # A stack of two may be a piece or two: each level above the lowest can be shifted.
            boxes.append(Box(x, y, *size, level * high, _LEAN_MM * float(np.sqrt(level - 1))))
    return boxes


def _touching(first: Cell, cells: Mapping[Cell, int]) -> list[Cell]:
    group, edge = {first}, [first]
    while edge:
        here = edge.pop()
        for other in cells:
            if other not in group and here.touches(other):
                group.add(other)
                edge.append(other)
    return sorted(group)


def _believable(old: Camera, new: Camera, board: Board, hollow: bool) -> bool:
    """The board must stay about where it was, and the lens must remain a webcam's."""
    wide, deep, _ = board.lattice.size_mm
    corners = np.array([[0, 0, 0], [wide, 0, 0], [wide, deep, 0], [0, deep, 0.0]])
    back = new.back_project(old.project(corners), 0.0)
    off = np.linalg.norm(back - corners, axis=1)
    most = _ELSEWHERE_MM
    if hollow:
        # A floor that lies lower is seen the farther aside the flatter one looks.
        ways = corners - new.position_mm
        off = off * np.abs(ways[:, 2]) / np.linalg.norm(ways, axis=1)
        most = _HOLLOW_ELSEWHERE_MM
    focal = abs(float(np.log(new.lens.focal_px / old.lens.focal_px)))
    return bool(np.isfinite(off).all()) and float(off.max()) < most and focal < 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    start_mm: Floats
    end_mm: Floats
    inward: Floats  # horizontal, towards the middle of the box: how a rounded edge seems to lie


def _corners(box: Box, place: Floats) -> Floats:
    """The eight corners (8, 3) of a box that stands off by `place`; lower four first."""
    dx, dy, twist, *lean = place
    half = np.array([box.wide_mm, box.deep_mm]) / 2
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    c, s = np.cos(twist), np.sin(twist)
    turned = square @ np.array([[c, s], [-s, c]]) + (box.x_mm + dx, box.y_mm + dy)
    low = np.concatenate([turned, np.zeros((4, 1))], axis=1)
    return np.concatenate([low, low + np.array([*lean, box.high_mm])])


def _visible_edges(corners: Floats, camera: Camera) -> list[_Edge]:
    """Edges of a box that at least one face towards the camera has, but for those on the board."""
    eye = camera.position_mm
    middle = corners.mean(axis=0)
    facing = []
    for k in range(4):
        a, b = corners[k], corners[(k + 1) % 4]
        out = np.array([b[1] - a[1], a[0] - b[0], 0.0])
        facing.append(bool((eye - a) @ out > 0))
    edges = []
    for k in range(4):
        a, b = corners[4 + k], corners[4 + (k + 1) % 4]
        inward = middle - (a + b) / 2
        inward[2] = 0
        edges.append(_Edge(a, b, inward / np.linalg.norm(inward)))
        if facing[k] or facing[k - 1]:
            inward = middle - corners[k]
            inward[2] = 0
            edges.append(_Edge(corners[k], corners[4 + k], inward / np.linalg.norm(inward)))
        if facing[k]:
            a, b = corners[k], corners[(k + 1) % 4]
            inward = middle - (a + b) / 2
            inward[2] = 0
            edges.append(_Edge(a, b, 0 * inward))
    return edges


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """Everything that is solved together: cameras, and where the stacks stand."""

    views: Sequence[StackView]
    beliefs: Sequence[Belief]
    boxes: Sequence[Box]
    board: Board

    def solve(self) -> list[Solution | None] | None:
        """A solution for each camera; None where too little of the stacks is seen."""
        news = [_news(view) for view in self.views]
        noises = [noise_of(n) for n in news]
        maps = [_loudness(n) for n in news]
        cameras = [self._start(b, loud) for b, loud in zip(self.beliefs, maps, strict=True)]
        places = [self._search(box, cameras, maps)[0] for box in self.boxes]
        solutions: list[Solution] | None = None
        counts = [0] * len(cameras)
        for reach in _REACHES_PX:
            seen = [
                self._edges(camera, new, noise, places, reach)
                for camera, new, noise in zip(cameras, news, noises, strict=True)
            ]
            counts = [len(s.px) if s else 0 for s in seen]
            if sum(counts) < 12:
                return None
            solutions, places = self._joint(cameras, seen, places)
            cameras = [s.camera for s in solutions]
        if solutions is None:
            return None
        return [s if n >= 8 else None for s, n in zip(solutions, counts, strict=True)]

    @property
    def _edge(self) -> int:
        """The number of the unknown that tells how rounded edges are, after those of the boxes."""
        return _BOX * len(self.boxes)

    @property
    def _free(self) -> int:
        """How many values are unknown beside those of the cameras."""
        return self._edge + 1

    def _free_errors(self) -> Floats:
        """How much each of them may be."""
        place = np.array([*(_BOX_ERRORS * self.board.lattice.pitch_mm), _TWIST_ERROR])
        if any(view.hollow for view in self.views):
            place[:2] = np.minimum(place[:2], _IN_HOLLOW_MM)
        boxes = [[*place, *[max(box.lean_mm, _UPRIGHT_MM)] * 2] for box in self.boxes]
        return np.concatenate([np.ravel(boxes), [_EDGE_ERROR_MM]])

    def _start(self, belief: Belief, loud: NDArray[np.float32]) -> Camera:
        """The camera, with another focal length where the stacks look clearly more like that.

        With a lens that is far from it other edges would be found where theirs are looked for.
        """
        if belief.focal < _UNKNOWN_FOCAL:
            return belief.camera

        def seen(camera: Camera) -> float:
            return float(np.mean([self._search(box, [camera], [loud])[1] for box in self.boxes]))

        best, most = belief.camera, seen(belief.camera) + _CLEARLY
        for longer in _LONGER:
            change = np.zeros(CAMERA - _POSE)
            change[0] = longer
            camera = belief.with_lens(change)
            score = seen(camera)
            if score > most:
                best, most = camera, score
        return best

    def _search(
        self, box: Box, cameras: Sequence[Camera], maps: Sequence[NDArray[np.float32]]
    ) -> tuple[Floats, float]:
        """Roughly where on its cell a stack stands, by the edges in all pictures; how well seen."""
        reach = _SEARCH * self.board.lattice.pitch_mm
        best, place = -1.0, np.zeros(_BOX)
        for steps, width, twists in (
            (9, reach, (0.0,)),
            (5, reach / 5, (-0.16, -0.08, 0, 0.08, 0.16)),
        ):
            middle = place
            for dx in np.linspace(-width, width, steps):
                for dy in np.linspace(-width, width, steps):
                    for twist in twists:
                        trial = middle + np.array([dx, dy, twist, 0, 0])
                        score = sum(
                            _loud_share(_corners(box, trial), c, m)
                            for c, m in zip(cameras, maps, strict=True)
                        )
                        if score > best:
                            best, place = score, trial
        return place, best

    def _edges(
        self,
        camera: Camera,
        new: Plane,
        noise: float,
        places: Sequence[Floats],
        reach_px: float,
    ) -> Evidence | None:
        """The edges of all stacks that one picture shows."""
        parts = []
        bodies = [_corners(b, p) for b, p in zip(self.boxes, places, strict=True)]
        for k, (box, place, corners) in enumerate(zip(self.boxes, places, bodies, strict=True)):
            middle = np.array([box.x_mm + place[0], box.y_mm + place[1], 0.0])
            others = bodies[:k] + bodies[k + 1 :]
            for edge in _alone(_visible_edges(corners, camera), camera):
                found = _find(edge, camera, new, noise, reach_px)
                if found is None:
                    continue
                points, px, normals = found
                free = ~_hidden(points, camera, others)
                points, px, normals = points[free], px[free], normals[free]
                shape = np.zeros((len(points), self._free, 3))
                shape[:, _BOX * k, 0] = 1.0
                shape[:, _BOX * k + 1, 1] = 1.0
                up = points[:, 2] / box.high_mm
                shape[:, _BOX * k + 3, 0] = shape[:, _BOX * k + 4, 1] = up
                around = points - middle
                shape[:, _BOX * k + 2, 0], shape[:, _BOX * k + 2, 1] = -around[:, 1], around[:, 0]
                shape[:, self._edge] = edge.inward
                error = np.full(len(points), _EDGE_ERROR_PX * np.sqrt(len(points)))
                parts.append(Evidence(points, px, normals, error, shape))
        parts = [p for p in parts if len(p.px)]
        return alike(parts) if parts else None

    def _joint(
        self,
        cameras: Sequence[Camera],
        seen: Sequence[Evidence | None],
        places: Sequence[Floats],
    ) -> tuple[list[Solution], list[Floats]]:
        """All cameras and all stacks at once."""
        evidence = [s if s is not None else _nothing(self._free) for s in seen]
        count = CAMERA * len(cameras)
        free, free_errors = self._free, self._free_errors()
        expected = np.zeros(free)
        expected[: self._edge] = -np.concatenate(places)
        weights = [np.ones(len(e.px)) for e in evidence]

        def points(values: Floats, k: int) -> Floats:
            sizes = values[count:]
            return np.asarray(
                evidence[k].points_mm + np.einsum("nsi,s->ni", evidence[k].shape, sizes)
            )

        def off(values: Floats, k: int) -> Floats:
            own = values[CAMERA * k : CAMERA * (k + 1)]
            return evidence_errors_px(cameras[k], own, points(values, k), evidence[k])

        def residuals(values: Floats) -> Floats:
            rows = []
            for k, belief in enumerate(self.beliefs):
                rows.append(off(values, k) * np.sqrt(weights[k]) / evidence[k].error_px)
                own = values[CAMERA * k : CAMERA * (k + 1)]
                rows.append(belief.unlikely(moved(cameras[k], own)))
            rows.append((values[count:] - expected) / free_errors)
            return np.concatenate(rows)

        def slopes(values: Floats) -> Floats:
            rows = []
            for k, belief in enumerate(self.beliefs):
                first = CAMERA * k
                own = values[first : first + CAMERA]
                here = _slopes(cameras[k], own, points(values, k), evidence[k])
                here *= (np.sqrt(weights[k]) / evidence[k].error_px)[:, None]
                block = np.zeros((len(here) + CAMERA, len(values)))
                block[: len(here), first : first + CAMERA] = here[:, :CAMERA]
                block[: len(here), count:] = here[:, CAMERA:]
                block[len(here) :, first : first + CAMERA] = belief.slopes
                rows.append(block)
            sizes = np.zeros((free, len(values)))
            sizes[:, count:] = np.diag(1 / free_errors)
            return np.concatenate([*rows, sizes])

        values = np.zeros(count + free)
        for _ in range(3):
            fit = levenberg_marquardt(residuals, values, jacobian=slopes, rounds=15)
            values = fit.values
            for k, e in enumerate(evidence):
                error = off(values, k) / e.error_px
                weights[k] = huber_weights(error / max(1.0, spread(error)), 2.0)
        solutions = []
        for k, camera in enumerate(cameras):
            own = slice(CAMERA * k, CAMERA * (k + 1))
            solutions.append(
                Solution(
                    camera=moved(camera, values[own]),
                    covariance=fit.covariance[own, own],
                    sizes=values[count:],
                    errors_px=off(values, k),
                    weights=weights[k],
                )
            )
        moves = values[count : count + self._edge].reshape(-1, _BOX)
        return solutions, [p + m for p, m in zip(places, moves, strict=True)]


def _nothing(shapes: int) -> Evidence:
    """Of a camera that sees no edge."""
    none = np.zeros((0, 2))
    return Evidence(np.zeros((0, 3)), none, none, np.zeros(0), np.zeros((0, shapes, 3)))


def _slopes(camera: Camera, own: Floats, points: Floats, evidence: Evidence) -> Floats:
    """As `evidence_slopes`, also of a camera that sees no edge."""
    if not len(evidence.px):
        return np.zeros((0, CAMERA + evidence.shape.shape[1]))
    return evidence_slopes(camera, own, points, evidence)


def _by_the_board(camera: Camera, doubt: LensDoubt, board: Board) -> Floats:
    """How uncertain a camera is that sees the board's plane in its place, whatever its lens."""
    wide, deep, _ = board.lattice.size_mm
    x, y = np.meshgrid(np.linspace(0, wide, 5), np.linspace(0, deep, 5))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    evidence = Evidence.of_points(points, camera.project(points), _BOARD_ERROR_PX)
    seen = evidence_slopes(camera, np.zeros(CAMERA), evidence.points_mm, evidence)
    known = np.zeros((CAMERA - _POSE, CAMERA))
    known[:, _POSE:] = np.diag(1 / doubt.deviations(camera.lens))
    both = np.concatenate([seen / _BOARD_ERROR_PX, known])
    return np.asarray(np.linalg.pinv(both.T @ both, hermitian=True))


def _news(view: StackView) -> Plane:
    """What the stacks change in the picture; the picture itself where no empty one is known."""
    now = lab_of(view.picture)
    if view.empty is None or view.empty.shape != view.picture.shape:
        return now
    return np.asarray(now - lab_of(view.empty), dtype=np.float32)


def _loudness(new: Plane) -> NDArray[np.float32]:
    """How much changes at each pixel, bounded so that no single edge decides."""
    soft = cv2.GaussianBlur(new, (0, 0), 1.5)
    dx = np.linalg.norm(cv2.Sobel(soft, cv2.CV_32F, 1, 0, scale=0.125), axis=2)
    dy = np.linalg.norm(cv2.Sobel(soft, cv2.CV_32F, 0, 1, scale=0.125), axis=2)
    slope = np.hypot(dx, dy)
    return np.asarray(slope / (slope + 4.0), np.float32)


def _loud_share(corners: Floats, camera: Camera, loud: NDArray[np.float32]) -> float:
    """The mean loudness along the visible edges of a box."""
    t = np.linspace(0.08, 0.92, 10)[:, None]
    spots = [e.start_mm * (1 - t) + e.end_mm * t for e in _visible_edges(corners, camera)]
    px = camera.project(np.concatenate(spots)).astype(np.float32)
    if not np.isfinite(px).all():
        return 0.0
    return float(cv2.remap(loud, px[None, :, 0], px[None, :, 1], cv2.INTER_LINEAR).mean())


def _alone(edges: Sequence[_Edge], camera: Camera) -> list[_Edge]:
    """The edges that no other one runs beside: a sliver of a face blurs two edges into one."""
    ends = [camera.project(np.stack([e.start_mm, e.end_mm])) for e in edges]
    kept = []
    for k, (edge, (a, b)) in enumerate(zip(edges, ends, strict=True)):
        along = (b - a) / (np.linalg.norm(b - a) + 1e-9)
        normal = np.array([-along[1], along[0]])
        beside = False
        for j, other in enumerate(ends):
            if j == k:
                continue
            off = np.abs((other - a) @ normal)
            run = (other - a) @ along
            over = min(run.max(), float((b - a) @ along)) - max(run.min(), 0.0)
            beside |= bool(off.max() < _SLIVER_PX and over > 0.3 * float((b - a) @ along))
        if not beside:
            kept.append(edge)
    return kept


def _find(
    edge: _Edge, camera: Camera, new: Plane, noise: float, reach_px: float
) -> tuple[Floats, Floats, Floats] | None:
    """Places on an edge, and where the picture shows them."""
    t = np.linspace(0.08, 0.92, _PIECES + 1)[:, None]
    spots = edge.start_mm * (1 - t) + edge.end_mm * t
    px = camera.project(spots)
    width, height = camera.size
    inside = np.isfinite(px).all() and (px > 2).all() and (px < (width - 3, height - 3)).all()
    if not inside or float(np.hypot(*(px[-1] - px[0]))) < 10:
        return None
    strips = look_across(new, px[:-1], px[1:], reach_px)
    place = ((t[:-1] + t[1:]) / 2).ravel()
    lines = [li for li in lines_across(strips, place, noise, most=3) if li.support > 0.6]
    if not lines:
        return None
    line = min(lines, key=lambda li: abs(li.first_px) + abs(li.last_px))
    exact, shown = settle(strips, place, line, noise)
    if shown.sum() < 3:
        return None
    middle = (spots[:-1] + spots[1:]) / 2
    there = strips.middle_px + exact[:, None] * strips.normal
    return middle[shown], there[shown], strips.normal[shown]


def _hidden(points: Floats, camera: Camera, others: Sequence[Floats]) -> NDArray[np.bool_]:
    """Which points lie behind another stack."""
    eye = camera.position_mm
    hidden = np.zeros(len(points), dtype=np.bool_)
    ways = points - eye
    ways = np.where(np.abs(ways) < 1e-9, 1e-9, ways)
    for corners in others:
        low, high = corners.min(axis=0) - 1.0, corners.max(axis=0) + 1.0
        a, b = (low - eye) / ways, (high - eye) / ways
        enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
        hidden |= (enter < leave) & (enter > 0) & (enter < 0.995)
    return hidden
