"""From the look of all cells' sides to evidence: where in the picture each border really is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.cell_sides import OUTWARDS, CommonLook, Sides, common_look, look_at_sides
from calibration.rectify import Plane, scale_on_board, top_view
from calibration.solve import Evidence, LensDoubt, SizePrior, Solution, solve
from rules.lattice import Board

_USUAL_DEPTH_MM = (0.7, 1.2)  # of hollows that nobody measured, many are painted; and its spread
# How far a wall shifts what is seen of all sides of one direction: hollows are up to 3 mm deep, and
# a lamp at half height throws shadows as far onto their floor: anything from 0 to 3 mm.
_WALL_MM = 1.7
_SHADOW_MM = 0.8  # the same where the shadows themselves tell
_BAND_LIKE = 0.8  # so much alike sides with shadows must be
_ROOM_MM = 1.3  # hollows are so much wider than pieces
_FOOT_MM = 0.8  # how far below the rim that may lie
BORDER = 0.02  # of the pitch: by how much the outermost line may lie beside its place
_SURE = 0.5  # a side that correlates less with the common look says nothing
LIKE = 0.55  # from this likeness on a side counts as seen
_NEARLY_ALL, _GOES_ON, _BEYOND_COST = 0.8, 0.4, 0.2
_GIVE_UP_AFTER, _HOPELESS = 1, 0.08  # rounds, merit
_COARSE = 12  # elements of a top view a pitch, for a first look
_SHIFTS = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1))
_SHIFT_GAIN = 2.0
_SIDE_SEEN, _SIDE_MISSING = 2.0, -0.8  # logarithms: how much likelier where a cell is
_FEW_WALLS = 6  # sides of one direction that have no look of their own
_MOST_PX_PER_MM = 6.0
_ONE_SIGN = 0.3  # balance of signs, 0 to 1, beyond which all sides must have the same


@dataclass(frozen=True, slots=True, eq=False)
class Lags:
    """For each side: how far outward of its place the common look lies, and how well it fits."""

    off_mm: Floats
    likeness: Floats  # correlation at the best lag, -1 to 1 without sign
    strength: Floats  # slope along the common look, at no lag


def view_scale(camera: Camera, board: Board) -> float:
    """Pixels a millimetre worth having in a top view."""
    wide, deep, _ = board.lattice.size_mm
    scale = scale_on_board(camera, np.array([wide / 2, deep / 2, 0.0]))
    most = min(_MOST_PX_PER_MM, 800 / max(wide, deep))
    return float(np.clip(1.2 * scale, 8 / board.lattice.pitch_mm, most))


def sides_in(
    camera: Camera, lab: Plane, board: Board, height_mm: float = 0.0, *, coarse: bool = False
) -> Sides:
    """The sides of all cells and of one ring around them, as a camera would have them."""
    wide, deep, _ = board.lattice.size_mm
    edge = 1.5 * board.lattice.pitch_mm
    scale = view_scale(camera, board)
    if coarse:
        scale = min(scale, _COARSE / board.lattice.pitch_mm)
    view = top_view(camera, lab, (-edge, -edge), (wide + edge, deep + edge), scale, height_mm)
    return look_at_sides(view, board.lattice)


def inside(sides: Sides, board: Board) -> NDArray[np.bool_]:
    """Which sides belong to cells of the board."""
    size = (board.lattice.columns, board.lattice.ranks)
    return np.asarray(((sides.cells >= 0) & (sides.cells < size)).all(axis=1))


def lags(sides: Sides, look: CommonLook, most_mm: float) -> Lags:
    """Where the common look fits each side best, up to a distance."""
    step = float(sides.reach_mm[1] - sides.reach_mm[0])
    most = max(1, min(round(most_mm / step), len(sides.reach_mm) // 3))
    moves = np.arange(-most, most + 1)
    middle = slice(most, len(sides.reach_mm) - most)
    piece = look.profile[:, middle]
    piece = piece / (np.linalg.norm(piece) + 1e-12)
    scores = np.empty((len(moves), len(sides.profiles)))
    norms = np.empty_like(scores)
    for row, move in enumerate(moves):
        part = sides.profiles[:, :, middle.start + move : middle.stop + move]
        scores[row] = np.einsum("ncs,cs->n", part, piece)
        norms[row] = np.sqrt((part**2).sum(axis=(1, 2))) + 1e-9
    strong = np.abs(scores)
    # The two edges of a line or of a wall between recesses look alike but for their sign. Where
    # nearly all sides agree on theirs, the few others have caught the wrong edge.
    signs = np.take_along_axis(scores, strong.argmax(axis=0)[None], axis=0)[0]
    if abs(signs.sum()) > _ONE_SIGN * np.abs(signs).sum():
        strong = np.maximum(scores * np.sign(signs.sum()), 0)
    like = strong / norms
    best = np.clip(strong.argmax(axis=0), 1, len(moves) - 2)
    which = np.arange(strong.shape[1])
    left, mid, right = strong[best - 1, which], strong[best, which], strong[best + 1, which]
    bend = np.minimum(left - 2 * mid + right, -1e-12)
    fraction = np.clip(0.5 * (left - right) / bend, -1, 1)
    return Lags(
        off_mm=(moves[best] + fraction) * step,
        likeness=like[best, which],
        strength=strong[most],
    )


def _by_wall(sides: Sides, found: Lags, most_mm: float) -> Lags:
    """The same with each direction's own look, for walls look different to each side.

    What all sides share tells where the walls are, the look of one direction alone how each of
    them lies to the others.
    """
    off, like = found.off_mm.copy(), found.likeness.copy()
    for way in OUTWARDS:
        these = np.asarray((sides.outward == way).all(axis=1))
        if these.sum() < _FEW_WALLS:
            continue
        own = lags(sides.part(these), common_look(sides.part(these)), most_mm)
        sure = own.likeness > _SURE
        if sure.sum() >= _FEW_WALLS // 2:
            middle = float(np.median(off[these][sure]) - np.median(own.off_mm[sure]))
            off[these], like[these] = own.off_mm + middle, own.likeness
    return Lags(off, like, found.strength)


def cell_evidence(
    camera: Camera, sides: Sides, found: Lags, board: Board, depth_mm: float | None = None
) -> Evidence:
    """Borders of cells, shifted to where the picture shows them; their common inset is unknown.

    So is that of the outermost line: it is drawn wider than the others, or cut in half.
    Hollows are seen by their upper rim; how much deeper their floor is, is a second unknown. Their
    walls are seen and shaded differently to each side, by their rim or by their foot: eight more
    unknowns.
    """
    keep = found.likeness > _SURE
    middle = sides.middle_mm[keep]
    out = sides.outward[keep]
    at = np.column_stack([middle, np.full(len(middle), depth_mm or 0.0)])
    outward = np.concatenate([out, np.zeros((len(out), 1))], axis=1)
    along = np.stack([-out[:, 1], out[:, 0], np.zeros(len(out))], axis=1)
    px = camera.project(at + found.off_mm[keep, None] * outward)
    edge = camera.project(at + 0.5 * along) - camera.project(at - 0.5 * along)
    normals = np.stack([-edge[:, 1], edge[:, 0]], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # A shift of one millimetre on the board is so many pixels across the border.
    scale = np.abs(((camera.project(at + outward) - camera.project(at)) * normals).sum(axis=1))
    error = np.clip(0.10 * scale * (1.3 - found.likeness[keep]) / 0.3, 0.08, 2.0)
    beside = sides.cells[keep] + out
    size = (board.lattice.columns, board.lattice.ranks)
    outermost = np.asarray(((beside < 0) | (beside >= size)).any(axis=1))[:, None] * outward
    shape = np.stack([outward, outermost], axis=1)
    if depth_mm is not None:
        up = np.broadcast_to([0.0, 0.0, 1.0], outward.shape)
        ways = [(out == way).all(axis=1)[:, None] * outward for way in OUTWARDS]
        rises = [(out == way).all(axis=1)[:, None] * up for way in OUTWARDS]
        shape = np.stack([outward, outermost, up, *ways, *rises], axis=1)
    good = np.isfinite(px).all(axis=1) & np.isfinite(normals).all(axis=1)
    return Evidence(at[good], px[good], normals[good], error[good], shape[good])


def depth_prior(board: Board) -> tuple[float, float] | None:
    """How deep hollows are thought to be, and how surely; None for boards without any."""
    if board.recess_mm is None:
        return None
    return _USUAL_DEPTH_MM if board.recess_mm == "auto" else (float(board.recess_mm), 0.3)


@dataclass(frozen=True, slots=True, eq=False)
class CellFit:
    """A camera fitted to the cells, and how sure one can be that these are the cells."""

    solution: Solution
    explained: float  # part of the sides that one look explains
    inside: float  # median likeness of the cells' sides
    outside: float  # the same in the ring around them: no cells
    covered: float  # part of the cells' sides that lie in the picture
    seen: float  # part of the cells' sides that show it
    beyond: float  # the same of the row or column of places beside the lattice that shows most
    rim: float  # and of the lattice's own outermost row or column that shows least
    evidence: Evidence
    unlike: tuple[tuple[int, int], ...] = ()  # file and rank of cells none of whose sides is seen

    @property
    def merit(self) -> float:
        """For choosing among fits: 1 is a lattice beyond doubt, 0 none at all."""
        # A grid that goes on beyond the cells is one all the same, though never a sure one.
        goes_on = _GOES_ON * self.inside if self.seen > _NEARLY_ALL else 0.0
        merit = self.seen * max(self.inside - max(self.outside, 0.0), goes_on)
        # One cell beside its place a lattice leaves cells out, and reaches out of the picture.
        return self.covered * merit * (1 - _BEYOND_COST * self.beyond)

    @property
    def convincing(self) -> bool:
        """Whether nothing else needs to be tried."""
        return self.merit > 0.6 and self.seen > 0.9 and self.beyond < 0.5


def fit_cells(
    camera: Camera,
    lab: Plane,
    board: Board,
    doubt: LensDoubt,
    *,
    trusted: Camera | None = None,
    rounds: tuple[float, ...] = (0.25, 0.2, 0.12, 0.08, 0.06),
    coarse: bool = False,
) -> CellFit | None:
    """Fits the camera to the sides of the cells in ever closer looks; None where there are none."""
    result: CellFit | None = None
    pitch = board.lattice.pitch_mm
    trusted = trusted or camera
    prior = depth_prior(board)
    depth = prior[0] if prior is not None else None
    shadows = [0.0] * len(OUTWARDS)
    for number, reach in enumerate(rounds):
        sides = sides_in(camera, lab, board, depth or 0.0, coarse=coarse)
        within = inside(sides, board)
        if within.sum() < 0.5 * 4 * board.lattice.columns * board.lattice.ranks:
            return result
        cells = sides.part(within)
        # While places are compared, what is loud may be something else than cells; but of the
        # walls of hollows the one that is lit or in shadow tells most.
        look = common_look(cells, 1.0) if coarse and depth is None else common_look(cells)
        found = lags(cells, look, reach * pitch)
        if depth is not None:
            found = _by_wall(cells, found, reach * pitch)
            found, shadows = _by_shadow(cells, found, board)
        evidence = cell_evidence(camera, cells, found, board, depth)
        if len(evidence.px) < 8:
            return result
        expected, errors = [0.0, 0.0], [1e3, BORDER * pitch]
        if prior is not None and depth is not None:
            expected += [prior[0] - depth, *shadows, *[0.0] * len(OUTWARDS)]
            walls = [_SHADOW_MM if shadow else _WALL_MM for shadow in shadows]
            errors += [prior[1], *walls, *[_FOOT_MM] * len(OUTWARDS)]
        sizes = SizePrior(np.array(expected), np.array(errors))
        solution = solve(camera, evidence, doubt, trusted=trusted, sizes=sizes)
        if depth is not None:
            depth += float(solution.sizes[2])
        likeness = _likeness(sides, cells, look, board)
        result = _told(solution, look, sides, likeness, board, evidence)
        camera = solution.camera
        if number == _GIVE_UP_AFTER and result.merit < _HOPELESS:
            return result
        if number == len(rounds) - 2 and not coarse:
            # The lattice may have been caught one cell beside its place: where do cells end?
            camera = _shifted(camera, _best_shift(sides, likeness, board), pitch)
    return result


def _told(
    solution: Solution,
    look: CommonLook,
    sides: Sides,
    likeness: Floats,
    board: Board,
    evidence: Evidence,
) -> CellFit:
    within = inside(sides, board)
    # The sides of the ring that face the lattice are its own border.
    facing = replace(sides, cells=sides.cells + sides.outward)
    own, around = likeness[within], likeness[~within & ~inside(facing, board)]
    return CellFit(
        solution=solution,
        explained=look.explained,
        inside=float(np.median(own)),
        outside=float(np.median(around)) if around.size else 0.0,
        covered=len(own) / (4 * board.lattice.columns * board.lattice.ranks),
        seen=float((own > LIKE).mean()),
        beyond=max(_rows(sides, likeness, board, beside=True), default=0.0),
        rim=min(_rows(sides, likeness, board, beside=False), default=1.0),
        evidence=evidence,
        unlike=_unlike(sides.cells[within], own),
    )


def _unlike(cells: Floats, likeness: Floats) -> tuple[tuple[int, int], ...]:
    """Cells of which at least three sides are in view and none looks like the others' sides."""
    places, which = np.unique(cells.astype(int), axis=0, return_inverse=True)
    which = which.ravel()
    count = np.bincount(which)
    alike = np.bincount(which, weights=likeness > LIKE)
    return tuple((int(f), int(r)) for f, r in places[(count >= 3) & (alike == 0)])


def likeness_of(sides: Sides, look: CommonLook) -> Floats:
    """Correlation of each side with the common look, without sign."""
    flat = sides.profiles.reshape(len(sides.profiles), -1)
    size = np.linalg.norm(flat, axis=1) + 1e-9
    return np.asarray(np.abs(flat @ look.profile.ravel()) / size)


def _likeness(sides: Sides, cells: Sides, look: CommonLook, board: Board) -> Floats:
    """Correlation of each side with the common look, or with that of its own kind of sides."""
    likeness = likeness_of(sides, look)
    if board.recess_mm is not None:
        return np.maximum(likeness, _like_their_way(sides, cells))
    if min(board.lattice.columns, board.lattice.ranks) == 1:
        return np.maximum(likeness, _like_their_axis(sides, cells))
    return likeness


def _like_their_way(sides: Sides, cells: Sides) -> Floats:
    """Correlation of each side with the look of those that face the same way.

    In low light one wall of a hollow throws a shadow, the wall across is lit and hardly seen.
    """
    return _like_these(sides, cells, [[way] for way in OUTWARDS])


def _like_their_axis(sides: Sides, cells: Sides) -> Floats:
    """Correlation of each side with the look of those along the same axis.

    Only between the cells of a row does each show its own line and its neighbour's; and a row is
    seen so flat that the lines along it are drawn finer than those across.
    """
    return _like_these(sides, cells, [OUTWARDS[:2], OUTWARDS[2:]])


def _like_these(sides: Sides, cells: Sides, groups: Sequence[Sequence[tuple[int, int]]]) -> Floats:
    """Correlation of each side with the look of the cells' sides of its own group."""
    like = np.zeros(len(sides.profiles))
    for ways in groups:
        these, own = (
            np.any([(some.outward == way).all(axis=1) for way in ways], axis=0)
            for some in (sides, cells)
        )
        if own.sum() >= _FEW_WALLS:
            like[these] = likeness_of(sides.part(these), common_look(cells.part(own)))
    return like


@dataclass(frozen=True, slots=True)
class _Band:
    """A dark band along all sides of one direction: where its middle is seen, how wide it is."""

    middle_mm: float  # outward of the border
    width_mm: float
    at_last: bool  # whether the last cells in that direction have it, too


def _by_shadow(sides: Sides, found: Lags, board: Board) -> tuple[Lags, list[float]]:
    """The same by shadows, where low light throws one along a wall of each hollow.

    The wall across is hardly seen: what looks like it is the shadow in the next hollow. But beside
    the last hollow there is none. Also told is how far outward of the borders each direction is
    seen then; 0.0 where nothing is known of it.
    """
    off = found.off_mm.copy()
    seen = [0.0] * len(OUTWARDS)
    for axis in (0, 1):
        ways = [number for number, way in enumerate(OUTWARDS) if way[axis]]
        one, two = (_band(sides, OUTWARDS[number], board) for number in ways)
        if one is None or two is None or one.at_last == two.at_last:
            continue
        aside = 0.5 * (one.width_mm + two.width_mm) / 2 + 0.5 * _rib_mm(board)
        for number, band in zip(ways, (one, two), strict=True):
            these = np.asarray((sides.outward == OUTWARDS[number]).all(axis=1))
            off[these] += band.middle_mm - float(np.median(off[these]))
            seen[number] = -aside if band.at_last else aside
    return replace(found, off_mm=off), seen


def _band(cells: Sides, way: tuple[int, int], board: Board) -> _Band | None:
    """The dark band at the sides of one direction, if they are alike and show one."""
    part = cells.part(np.asarray((cells.outward == way).all(axis=1)))
    axis = 0 if way[0] else 1
    size = (board.lattice.columns, board.lattice.ranks)[axis]
    last = part.cells[:, axis] == (size - 1 if way[axis] > 0 else 0)
    if min(last.sum(), (~last).sum()) < _FEW_WALLS // 2:
        return None
    like = likeness_of(part, common_look(part))
    slope = np.asarray(part.profiles[~last, 0].mean(axis=0))
    dark, bright = part.reach_mm[[slope.argmin(), slope.argmax()]]  # outwards, darker then brighter
    if np.median(like[~last]) < _BAND_LIKE or bright <= dark:
        return None
    at_last = bool(np.median(like[last]) > LIKE)
    return _Band(float(dark + bright) / 2, float(bright - dark), at_last)


def _rib_mm(board: Board) -> float:
    """How wide the ribs between hollows probably are: pieces need some room in them."""
    room = board.lattice.pitch_mm - max(board.lattice.unit_mm[:2])
    return max(room - _ROOM_MM, 0.5)


def _rows(sides: Sides, likeness: Floats, board: Board, *, beside: bool) -> list[float]:
    """How much the four outermost rows of cells, or the places `beside` them, look like cells."""
    size = np.array([board.lattice.columns, board.lattice.ranks])
    shares = []
    for out in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        axis = 0 if out[0] else 1
        last = size[axis] - 1 if out[axis] > 0 else 0
        row = sides.cells[:, axis] == last + (out[axis] if beside else 0)
        row &= (sides.cells[:, 1 - axis] >= 0) & (sides.cells[:, 1 - axis] < size[1 - axis])
        # The side towards the lattice is the border of what lies further inside.
        row &= ~(sides.outward == -np.array(out)).all(axis=1)
        if row.sum() >= 3:
            shares.append(float((likeness[row] > LIKE).mean()))
    return shares


def _best_shift(sides: Sides, likeness: Floats, board: Board) -> tuple[int, int]:
    """By how many cells the lattice must move to cover the places that look most like cells."""
    size = np.array([board.lattice.columns, board.lattice.ranks])
    # Pieces hide sides of cells, but nothing makes sides where there are none: a side that is
    # not seen says little. Out of the picture is as good as not seen: boards are shown whole.
    whole = 4 * board.lattice.columns * board.lattice.ranks
    speaks = np.where(likeness > LIKE, _SIDE_SEEN, _SIDE_MISSING)
    best, most = (0, 0), -np.inf
    for dx, dy in sorted(_SHIFTS, key=lambda s: abs(s[0]) + abs(s[1])):
        cells = sides.cells - (dx, dy)
        covered = ((cells >= 0) & (cells < size)).all(axis=1)
        score = float(speaks[covered].sum()) + _SIDE_MISSING * (whole - int(covered.sum()))
        if score > most + (_SHIFT_GAIN if (dx, dy) != (0, 0) else 0.0):
            best, most = (dx, dy), score
    return best


def _shifted(camera: Camera, cells: tuple[int, int], pitch: float) -> Camera:
    """The camera for a lattice that begins so many cells farther on."""
    if cells == (0, 0):
        return camera
    move = camera.rotation @ (np.array([*cells, 0.0]) * pitch)
    return replace(camera, translation_mm=camera.translation_mm + move)
