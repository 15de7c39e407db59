"""From the look of all cells' sides to evidence: where in the picture each border really is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Floats
from calibration.cell_sides import CommonLook, Sides, common_look, look_at_sides
from calibration.rectify import Plane, scale_on_board, top_view
from calibration.solve import Evidence, LensDoubt, Solution, solve
from rules.lattice import Board

_SURE = 0.5  # a side that correlates less with the common look says nothing
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
    most = min(_MOST_PX_PER_MM, 1000 / max(wide, deep))
    return float(np.clip(1.3 * scale, 8 / board.lattice.pitch_mm, most))


def sides_in(camera: Camera, lab: Plane, board: Board, height_mm: float = 0.0) -> Sides:
    """The sides of all cells and of one ring around them, as a camera would have them."""
    wide, deep, _ = board.lattice.size_mm
    edge = 1.5 * board.lattice.pitch_mm
    scale = view_scale(camera, board)
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


def cell_evidence(camera: Camera, sides: Sides, found: Lags, height_mm: float = 0.0) -> Evidence:
    """Borders of cells, shifted to where the picture shows them; their common inset is unknown."""
    keep = found.likeness > _SURE
    middle = sides.middle_mm[keep]
    out = sides.outward[keep]
    at = np.concatenate([middle, np.full((len(middle), 1), height_mm)], axis=1)
    outward = np.concatenate([out, np.zeros((len(out), 1))], axis=1)
    along = np.stack([-out[:, 1], out[:, 0], np.zeros(len(out))], axis=1)
    px = camera.project(at + found.off_mm[keep, None] * outward)
    edge = camera.project(at + 0.5 * along) - camera.project(at - 0.5 * along)
    normals = np.stack([-edge[:, 1], edge[:, 0]], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # A shift of one millimetre on the board is so many pixels across the border.
    scale = np.abs(((camera.project(at + outward) - camera.project(at)) * normals).sum(axis=1))
    error = np.clip(0.10 * scale * (1.3 - found.likeness[keep]) / 0.3, 0.08, 2.0)
    good = np.isfinite(px).all(axis=1) & np.isfinite(normals).all(axis=1)
    return Evidence(at[good], px[good], normals[good], error[good], outward[good][:, None, :])


@dataclass(frozen=True, slots=True, eq=False)
class CellFit:
    """A camera fitted to the cells, and how sure one can be that these are the cells."""

    solution: Solution
    explained: float  # part of the sides that one look explains
    inside: float  # median likeness of the cells' sides
    outside: float  # the same in the ring around them: no cells
    weakest: float  # tenth percentile of the cells' likeness
    evidence: Evidence


def fit_cells(
    camera: Camera,
    lab: Plane,
    board: Board,
    doubt: LensDoubt,
    *,
    trusted: Camera | None = None,
    extra: Evidence | None = None,
    rounds: tuple[float, ...] = (0.25, 0.2, 0.12, 0.08, 0.06),
) -> CellFit | None:
    """Fits the camera to the sides of the cells in ever closer looks; None where there are none."""
    result: CellFit | None = None
    pitch = board.lattice.pitch_mm
    trusted = trusted or camera
    for reach in rounds:
        sides = sides_in(camera, lab, board)
        within = inside(sides, board)
        if within.sum() < 0.5 * 4 * board.lattice.columns * board.lattice.ranks:
            return result
        cells = sides.part(within)
        look = common_look(cells)
        found = lags(cells, look, reach * pitch)
        evidence = cell_evidence(camera, cells, found)
        if len(evidence.px) < 8:
            return result
        solution = solve(camera, evidence, doubt, trusted=trusted)
        around = _likeness(sides.part(~within), look)
        own = _likeness(cells, look)
        result = CellFit(
            solution,
            look.explained,
            float(np.median(own)),
            float(np.median(around)) if around.size else 0.0,
            float(np.percentile(own, 10)),
            evidence,
        )
        camera = solution.camera
    return result


def _likeness(sides: Sides, look: CommonLook) -> Floats:
    flat = sides.profiles.reshape(len(sides.profiles), -1)
    size = np.linalg.norm(flat, axis=1) + 1e-9
    return np.asarray(np.abs(flat @ look.profile.ravel()) / size)
