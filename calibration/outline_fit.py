"""A camera fitted to long straight edges of the board: its outline, a felt's, a frame's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera, Floats
from calibration.edges import Line, Strips, lines_across, look_across, noise_of, settle
from calibration.grid_pose import Sight
from calibration.rectify import Plane
from calibration.solve import (
    Evidence,
    SizePrior,
    Solution,
    alike,
    solve,
    together,
)

_PIECES = 18
_ENDS = 0.06  # corners are rounded or hidden
_FOUND = 0.5  # a line counts as found when so many of its pieces show it
_BESIDE = 0.2  # merit that a pixel off costs
_NOT_THERE, _LACKING = 0.25, 0.1  # of an edge that is seen; merit that each other one costs
DRAWN_WORTH = 0.3  # of a rectangle that is only drawn, against one that stands out
_FLANK_PX = 3.5  # of an edge: so far its flank reaches
_COMMON = 0.3  # of what stands out, where its colour is seen everywhere
_LEAST_EDGES, _LEAST_MORE = 4, 2  # that tell a place, by themselves and besides other evidence
_STRONG = 0.35  # of the strongest line: weaker ones are grain or folds


@dataclass(frozen=True, slots=True, eq=False)
class EdgeLine:
    """One straight edge of the board, and how it moves with each unknown size."""

    name: str
    start_mm: Floats  # (3,)
    end_mm: Floats  # (3,)
    inward: Floats  # (3,) towards the middle of the board
    moves: Floats  # (S, 3)


Plan = Callable[[Camera, Floats], list[EdgeLine]]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Evidence of other things that the same camera sees, and what is known of their sizes."""

    evidence: Evidence
    sizes: SizePrior


@dataclass(frozen=True, slots=True, eq=False)
class OutlineFit:
    """A camera fitted to an outline, with what of each edge was seen."""

    solution: Solution
    sizes: Floats
    support: dict[str, float]
    evidence: Evidence
    lines: tuple[tuple[EdgeLine, int], ...]  # those that were found, and how many pieces of each
    stands_out: float = 1.0  # the part of its sides that look like those of a thing
    rare: float = 1.0  # how rare its colour is beside it
    plain: float = 0.0  # how much more it is a thing by being plain than by its colours

    @property
    def merit(self) -> float:
        """1 where every edge is seen over its whole length, 0 where one is not there at all.

        Edges between like colours are seen by what is plain on one side of them only.
        """
        seen = np.array(list(self.support.values()))
        if not seen.size:
            return 0.0
        return max(float(0.5 * seen.mean() + 0.5 * np.percentile(seen, 20)), self.plain)

    @property
    def worth(self) -> float:
        """The merit, less where edges are seen beside their places: other edges lie there."""
        return self.merit - _BESIDE * self.solution.rms_px

    @property
    def likely(self) -> float:
        """How much its surroundings tell of a thing that lies there, and no part of a pattern."""
        return DRAWN_WORTH + self.stands_out * (1 - _COMMON * (1 - self.rare))

    @property
    def standing(self) -> float:
        """The worth, less for what may be lines without a thing, and for each edge not there."""
        return self._seen * self.likely

    @property
    def standing_anywhere(self) -> float:
        """The same, whether or not its colour is seen elsewhere: a felt may be like its table."""
        return self._seen * (DRAWN_WORTH + self.stands_out)

    @property
    def _seen(self) -> float:
        lacking = sum(share < _NOT_THERE for share in self.support.values())
        return self.worth - _LACKING * lacking

    def evidence_with_slack(self) -> Evidence:
        """The evidence of many edges, each of which may lie a little farther in: rounded, worn.

        The last unknown is common to all of the hole's edges: pieces need some play.
        """
        count = len(self.lines)
        shape = np.zeros((len(self.evidence.points_mm), count + 1, 3))
        start = 0
        for k, (line, pieces) in enumerate(self.lines):
            rows = slice(start, start + pieces)
            shape[rows, k] = line.inward
            if line.name.startswith("inner"):
                shape[rows, count] = line.inward
            start += pieces
        return replace(self.evidence, shape=np.concatenate([self.evidence.shape, shape], axis=1))

    def evidence_with_margins(self) -> Evidence:
        """The evidence of a plain outline, with each side's margin as a further unknown size."""
        points = self.evidence.points_mm
        low, high = points.min(axis=0), points.max(axis=0)
        shape = np.zeros((len(points), 4, 3))
        for k, (axis, edge) in enumerate(((0, low), (1, low), (0, high), (1, high))):
            on = np.abs(points[:, axis] - edge[axis]) < 1e-6
            shape[on, k, axis] = 1.0
        return replace(self.evidence, shape=np.concatenate([self.evidence.shape, shape], axis=1))


def outline_plan(corners_mm: Floats) -> Plan:
    """The four sides of a rectangle; a size, where one is given: how thick what lies there is.

    Towards the camera the lower edge of a side face is seen, away from it the upper one.
    """
    middle = corners_mm.mean(axis=0)
    down = np.array([0.0, 0.0, -1.0])

    def plan(camera: Camera, sizes: Floats) -> list[EdgeLine]:
        edges = []
        for k, name in enumerate(("front", "right", "back", "left")):
            a, b = corners_mm[k], corners_mm[(k + 1) % 4]
            inward = middle - (a + b) / 2
            shown = float((camera.position_mm - a) @ inward) < 0
            moves = np.array([down * shown] * len(sizes)).reshape(-1, 3)
            low = (moves * sizes[:, None]).sum(axis=0)
            inward = inward / np.linalg.norm(inward)
            edges.append(EdgeLine(name, a + low, b + low, inward, moves))
        return edges

    return plan


def sheet_plan(corners_mm: Floats) -> Plan:
    """The four sides of a flat rectangle; sizes: by how much farther out each of them lies."""
    middle = corners_mm.mean(axis=0)

    def plan(_: Camera, sizes: Floats) -> list[EdgeLine]:
        edges = []
        for k, name in enumerate(("front", "right", "back", "left")):
            a, b = corners_mm[k], corners_mm[(k + 1) % 4]
            inward = middle - (a + b) / 2
            inward = inward / np.linalg.norm(inward)
            moves = np.zeros((len(sizes), 3))
            moves[k] = -inward
            out = -inward * sizes[k]
            edges.append(EdgeLine(name, a + out, b + out, inward, moves))
        return edges

    return plan


def frame_edges(wide: float, deep: float, sizes: Floats) -> list[EdgeLine]:
    """All edges of a frame around the cell area, hidden ones as well.

    Sizes: its height above the cells, its width, and how much lower than the cells it stands:
    some frames are open below, others have a bottom.
    """
    height, width, bottom = sizes
    inner = np.array([[0.0, 0, 0], [wide, 0, 0], [wide, deep, 0], [0, deep, 0]])
    outward = np.array([[0.0, -1, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0]])
    up, still = np.array([0.0, 0, 1]), np.zeros(3)
    edges = []
    for k, name in enumerate(("front", "right", "back", "left")):
        a, b, out = inner[k], inner[(k + 1) % 4], outward[k]
        # Outer edges run on to the outer corners.
        before, after = outward[k - 1], outward[(k + 1) % 4]
        oa, ob = a + (out + before) * width, b + (out + after) * width
        for what, (one, two), lift, moves in (
            ("inner top", (a, b), height, (up, still, still)),
            ("outer top", (oa, ob), height, (up, out, still)),
            ("inner foot", (a, b), 0.0, (still, still, still)),
            ("outer foot", (oa, ob), -bottom, (still, out, -up)),
        ):
            line = (one + up * lift, two + up * lift)
            edges.append(EdgeLine(f"{what} {name}", *line, -out, np.stack(moves)))
    return edges


def frame_plan(wide: float, deep: float, *, outer_feet: bool = True) -> Plan:
    """The edges of a frame around the cell area that a camera can see; sizes as above.

    From high above, the edges of the outer walls lie so near together that one is taken for both.
    """

    def plan(camera: Camera, sizes: Floats) -> list[EdgeLine]:
        def shown(edge: EdgeLine) -> bool:
            inside = float((camera.position_mm - edge.start_mm) @ edge.inward)
            high = float(sizes[0])
            if edge.name.startswith("inner foot"):
                return inside > high
            return not edge.name.startswith("outer foot") or (outer_feet and -inside > high)

        return [edge for edge in frame_edges(wide, deep, sizes) if shown(edge)]

    return plan


def fit_outline(
    camera: Camera,
    sight: Sight,
    plan: Plan,
    *,
    sizes: tuple[Sequence[float], Sequence[float]] = ((), ()),
    innermost: bool = True,
    reaches_px: Sequence[float] = (12, 8, 12, 8, 5, 4),
    besides: Known | None = None,
) -> OutlineFit | None:
    """Fits the camera to a plan's edges in ever closer looks; None where too few are there.

    `sizes` are the unknown sizes of the plan: what is expected, and how surely. What is known
    `besides` holds the camera in its place; its unknown sizes come first in the solution.
    """
    trusted = Camera.of(sight.lens, camera.rotation, camera.translation_mm)
    expected, errors = (np.array(s, dtype=np.float64) for s in sizes)
    values = expected
    noise = noise_of(sight.lab)
    result: OutlineFit | None = None
    for reach in reaches_px:
        parts: list[Evidence] = []
        lines: list[tuple[EdgeLine, int]] = []
        support: dict[str, float] = {}
        for edge in plan(camera, values):
            seen = _look(camera, sight.lab, edge, reach)
            if seen is None:
                continue
            part = _evidence(seen, edge, camera, noise, innermost=innermost)
            support[edge.name] = part[1] if part else 0.0
            if part and part[1] >= _FOUND:
                parts.append(part[0])
                lines.append((edge, len(part[0].px)))
        if len(parts) < (_LEAST_EDGES if besides is None else _LEAST_MORE):
            return result
        evidence, prior = alike(parts), SizePrior(expected - values, errors)
        if besides is not None:
            evidence = together([besides.evidence, evidence])
            prior = besides.sizes.before(prior)
        solution = solve(camera, evidence, sight.doubt, trusted=trusted, sizes=prior)
        own = len(prior.error_mm) - len(values)
        camera, values = solution.camera, values + solution.sizes[own:]
        result = OutlineFit(solution, values, support, evidence, tuple(lines))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """The strips across one edge, and which places of the edge they belong to."""

    strips: Strips
    place: Floats  # (N,) 0 at the start, 1 at the end
    middle_mm: Floats  # (N, 3)


def _look(camera: Camera, lab: Plane, edge: EdgeLine, reach_px: float) -> _Look | None:
    """Strips across the part of an edge that is in the picture."""
    t = np.linspace(_ENDS, 1 - _ENDS, _PIECES + 1)[:, None]
    spots = edge.start_mm * (1 - t) + edge.end_mm * t
    px = camera.project(spots)
    width, height = camera.size
    good = np.isfinite(px).all(axis=1)
    good &= (px > 1).all(axis=1) & (px[:, 0] < width - 2) & (px[:, 1] < height - 2)
    both = good[:-1] & good[1:]
    if both.sum() < 5:
        return None
    strips = look_across(lab, px[:-1][both], px[1:][both], reach_px)
    middle = (spots[:-1] + spots[1:])[both] / 2
    place = ((t[:-1] + t[1:]) / 2).ravel()[both]
    return _Look(strips, place, middle)


def _evidence(
    look: _Look, edge: EdgeLine, camera: Camera, noise: float, *, innermost: bool
) -> tuple[Evidence, float] | None:
    """Where an edge is, and the part of it that shows it."""
    found = lines_across(look.strips, look.place, noise)
    if not found:
        return None
    lines = _likeliest_first(found, look, edge, camera, innermost=innermost)
    # The flank of a blurred edge may pass for a line of its own, but it has no peak.
    same = [line for line in lines if _beside_px(line, lines[0]) < _FLANK_PX]
    tried = [settle(look.strips, look.place, line, noise) for line in same]
    exact, shown = next((t for t in tried if t[1].mean() >= _FOUND), tried[0])
    strips = look.strips
    px = strips.middle_px + exact[:, None] * strips.normal
    sizes = len(edge.moves)
    moves = np.broadcast_to(edge.moves, (len(px), sizes, 3))
    error = np.full(len(px), 0.35)
    part = Evidence(
        look.middle_mm[shown], px[shown], strips.normal[shown], error[shown], moves[shown].copy()
    )
    return part, float(shown.mean())


def _beside_px(one: Line, other: Line) -> float:
    return max(abs(one.first_px - other.first_px), abs(one.last_px - other.last_px))


def _likeliest_first(
    found: list[Line], look: _Look, edge: EdgeLine, camera: Camera, *, innermost: bool
) -> list[Line]:
    """Among parallel edges first the one that is meant.

    The top edge of a board lies inside of the lower edge of its side face and of its shadow.
    Edges of a frame are many: there the one nearest to the expected place is meant.
    """
    good = [f for f in found if f.support >= max(_FOUND, 0.7 * found[0].support)]
    good = good or found[:1]
    strongest = max(f.strength for f in good)
    good = [f for f in good if f.strength >= _STRONG * strongest]
    if not innermost:
        return sorted(good, key=lambda f: abs(f.first_px) + abs(f.last_px))
    middle = look.middle_mm.mean(axis=0)
    inside = camera.project(middle + edge.inward) - camera.project(middle)
    sign = 1.0 if float(inside @ look.strips.normal.mean(axis=0)) > 0 else -1.0
    return sorted(good, key=lambda f: -sign * (f.first_px + f.last_px))
