"""The pose from what the board itself shows: its lattice, its frame, its outline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeVar

import cv2
import numpy as np

from calibration import cv
from calibration.camera import Camera, Floats
from calibration.cell_fit import LIKE, CellFit, inside, likeness_of, sides_in
from calibration.cell_sides import common_look
from calibration.contour_search import contour_rectangles, signed_area
from calibration.grid_pose import (
    Say,
    Sight,
    board_corners,
    camera_for,
    centre_of,
    fit_lattices,
    has_frame,
    lattice_candidates,
    rough_cells,
    settled_cells,
)
from calibration.lattice_search import Found, Shape
from calibration.look_pose import by_looks, noted
from calibration.outline_fit import OutlineFit
from calibration.outline_pose import (
    by_standing_out,
    fit_frames,
    fit_outlines,
    outline_size,
    rectangles,
    taking_turns,
)
from calibration.painted import without_painted
from calibration.pose_quality import HEIGHTS_MM, HOPELESS_MM, expected_errors
from calibration.quads import clock_of, hours_apart
from calibration.rectify import scale_on_board
from calibration.row_lean import Lean, lean_of
from calibration.row_pose import SHEET_MARGINS_MM, Row, row_on
from calibration.segments import Segments, find_segments
from calibration.solve import Solution, is_absurd
from rules.cells import Cell
from rules.lattice import Board, Lattice

_LEAST_MERIT, _SURE_MERIT = 0.22, 0.42
_LEAST_SEEN, _SURE_SEEN = 0.5, 0.75
_HARDLY_WORSE = 0.7  # of the best fit's merit
_SOME_SEEN, _CLEAR_SEEN = 0.25, 0.6
_LEAST_EDGES, _SURE_EDGES = 0.55, 0.8
_LEAST_OUT = 0.6  # of the sides of a felt: across them the picture differs
_SURE_FRAME = 0.88  # of a frame's worth: so many edges lie side by side that others fit nearly
# Smaller boards cannot be read: of the picture, and of its squared width for each cell.
_LEAST_AREA, _LEAST_CELL = 0.004, 0.00006
_RIVAL, _RIVAL_MM = 0.93, 4.0  # another reading nearly as good, at another place
_RIVAL_OUTLINE = "another rectangle in the picture could be the board as well"
_RIVAL_FRAME = "its edges could also be read otherwise: inner edges as outer ones, or other lines"
_ALIKE = 0.02  # of a frame's standing: between fits so near in it chance decides
_UNLIKE_RAILS = "edges like the frame's are seen, but its rails would look unlike each other"
_LIKE_AROUND = "a rectangle like the board is seen, but it looks like what lies around it"
_EITHER_WAY = (
    "a row of cells seen from so straight above could also lean to the other side; look along the "
    "wall from 10 to 30 degrees, or print its sheet with `kiebitz mat`"
)
_NO_ROW = "no row of cells is seen in the rectangle that was found"
_BESIDE = 0.25  # of the pitch: margins that are told wrongly move the cells as far
_EVERYWHERE = 0.15  # how rare the colour of a cloth's squares is at most
_SHEETS = 3  # of a table with so many things like one, on which a row of cells is looked for
_LINES_PX = 1.2
_POINTS_MM = 1.25  # cards are cut by hand, and pushed against the board
_LYING = 2  # cells unlike all others; a single one may have a picture printed on it
_MOST_HALVED = 13  # columns
_HALVED = 0.7  # as many lines through the middles of cells as borders look like borders
_OUTSIDE = 0.03  # of the picture
_RIM_SEEN = 0.2  # of the sides of each outermost row, or there is none
_GOES_ON = 0.6  # of the sides of a row beside the cells look like theirs
_HOURS = 2.0  # so far nobody errs who looks at the clock
_FOCAL_REACH = 0.62  # logarithm; no webcam is farther from the guess


Fit = TypeVar("Fit", CellFit, OutlineFit)


@dataclass(frozen=True, slots=True, eq=False)
class BoardPose:
    """A pose found by the board's own structure, and every reason to doubt it."""

    solution: Solution
    method: Literal["grid", "frame"]
    doubts: tuple[str, ...]
    frame_mm: tuple[float, float] | None = None  # height and width, where a frame was fitted
    astray: bool = False  # whether the doubts are that something else than the board was found
    lying: tuple[Cell, ...] = ()  # cells on which something seems to lie


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """The outcome of looking for the board: the pose, or what was tried in vain."""

    pose: BoardPose | None
    tried: tuple[str, ...]


def look_for_board(sight: Sight, board: Board, say: Say = lambda _: None) -> Looked:
    """Tries lattice, frame and outline in turn, from nothing but the picture and the clock."""
    say("straight lines")
    segments = find_segments(sight.lab, sight.lens)
    tried: list[str] = []
    frames: list[OutlineFit] = []
    if has_frame(board):
        by_frame, frames = _by_frame(segments, sight, board, say)
        if by_frame is not None:
            return Looked(by_frame, ())
    places: list[Found] = []
    candidates = noted(lattice_candidates(segments, sight, board), places)
    fits = _sound(fit_lattices(candidates, sight, board, say), sight, board)
    # A single row of cells alone does not tell how far one looks down on it; its sheet does.
    plain = not _marked(board)  # whose cells, if any are drawn, say less than its outline
    enough = bool(fits) and fits[0].convincing and not plain
    around: list[Found] = []
    if not enough and not has_frame(board):
        say("the board's outline")
        around = _outlines(segments, sight, board)
    if _narrow(board) and around:
        # Seen flat, what lies a few pixels beside its place fits other lines than the sheet's own:
        # cells that are clearly seen inside it tell whether it does.
        fits.extend(_sound(_cells_inside(around, sight, board), sight, board))
        fits = _telling(sorted(fits, key=lambda f: -f.merit), board)
    if plain and not enough and not has_frame(board):
        by_sheet = _by_sheet(around, fits, segments, sight, board)
        if by_sheet is not None:
            return Looked(_surer(by_sheet, fits, sight, board), tuple(tried))
    if around and not _narrow(board):
        fits.extend(_sound(_cells_inside(around, sight, board), sight, board))
        fits.sort(key=lambda f: -f.merit)
    fits = _ending_first(_whole_first(fits, board), board)
    found = _by_seen_cells(fits, places, around, sight, board, say)
    if found is not None:
        return Looked(found, tuple(tried))
    tried.append(_tried_cells(fits, board))
    edges = frames or _sound_edges(fit_outlines(around, sight, board), sight, board)
    found, why = _by_last_edges(edges, fits, sight, board)
    return Looked(found, tuple(tried) if found is not None else (*tried, why))


def _whole_first(fits: Sequence[CellFit], board: Board) -> list[CellFit]:
    """The fits, best first; without those that the picture cuts off where others are hardly worse.

    On bent paper a lattice one cell beside its place may fit the rest of it better.
    """
    whole = [fit for fit in fits if not _cut_off(fit.solution.camera, board)]
    if not whole or fits[0].convincing or whole[0].merit < _HARDLY_WORSE * fits[0].merit:
        return list(fits)
    return whole


def _ending_first(fits: Sequence[CellFit], board: Board) -> list[CellFit]:
    """The fits, best first; before a grid that goes on beyond its cells those that end.

    Checked cloths, tiles and planks have cells, too, but no end: what lies on them has.
    """
    if not fits or fits[0].beyond <= _GOES_ON:
        return list(fits)
    ending = [fit for fit in fits if fit.beyond <= _GOES_ON and _enough(fit, board)]
    return [*ending, *(fit for fit in fits if fit not in ending)]


def _enough(fit: CellFit, board: Board) -> bool:
    """Whether so much is seen of the cells as must be for this board."""
    if not _marked(board):
        return _sure(fit)
    return fit.merit > _LEAST_MERIT and fit.seen > _LEAST_SEEN


def _by_seen_cells(
    fits: Sequence[CellFit],
    places: Sequence[Found],
    around: Sequence[Found],
    sight: Sight,
    board: Board,
    say: Say,
) -> BoardPose | None:
    """The pose by cells whose borders are seen well enough, or that all show the same."""
    if _marked(board) and not (fits and _sure(fits[0])):
        say("what all cells show alike")
        alike = _by_looks(fits, places, around, sight, board)
        if alike is not None:
            return alike
    if fits and _enough(fits[0], board):
        return _by_cells(fits[0], fits[1:], sight, board)
    return None


def _by_last_edges(
    edges: Sequence[OutlineFit], fits: Sequence[CellFit], sight: Sight, board: Board
) -> tuple[BoardPose | None, str]:
    """The pose by edges where cells tell none; or what was tried in vain."""
    what = "frame" if has_frame(board) else "outline"
    if not edges or edges[0].merit <= _LEAST_EDGES:
        return None, _tried_edges(edges, what)
    found = _by_edges(edges, sight, board)
    unsure = _marked(board) or (_narrow(board) and found.astray)
    if unsure and not _agreeing(edges[0], fits, board):
        # Books and table tops are rectangles too.
        return None, f"{what}: a rectangle of the board's shape, but no cells in it"
    return found, ""


def _sure(fit: CellFit) -> bool:
    return fit.merit > _SURE_MERIT and fit.seen > _SURE_SEEN


def _by_looks(
    fits: Sequence[CellFit],
    places: Sequence[Found],
    around: Sequence[Found],
    sight: Sight,
    board: Board,
) -> BoardPose | None:
    """The pose where all cells show the same, though their borders are not all seen."""
    cells, outline = board_corners(board), board_corners(board, board.margin_mm)
    starts = [(places, cells), (around, outline)]
    look = by_looks(starts, [fit.solution.camera for fit in fits], sight, board)
    if look is None or not _plausible(look.solution.camera, sight, board):
        return None
    solution = look.solution
    told = expected_errors(solution, board, HEIGHTS_MM)["0"]
    for fit in fits:
        near = apart_mm(fit.solution.camera, solution.camera, board) < told
        if near and fit.seen > _LEAST_SEEN and fit.merit > _LEAST_MERIT:
            # Its borders tell more exactly where they are, and the cells that it is they.
            solution = fit.solution
            break
    unlike = without_painted(look.unlike, solution.camera, sight.lab, board.lattice)
    return BoardPose(
        solution,
        "grid",
        tuple(_doubts(solution, sight, board)),
        astray=_wrong_hour(solution, sight, board),
        lying=unlike if len(unlike) >= _LYING else (),
    )


def doubts_of_place(solution: Solution, sight: Sight, board: Board) -> tuple[str, ...]:
    """Reasons to doubt a pose by points whose places are known."""
    scale = scale_on_board(solution.camera, centre_of(board))
    return tuple(_doubts(solution, sight, board, _POINTS_MM * scale))


def settle_on_board(camera: Camera, sight: Sight, board: Board) -> BoardPose | None:
    """The board's own lines near a pose that is already roughly known; None where unsure."""
    cells = settled_cells(camera, sight, board)
    if cells is not None and cells.merit > _SURE_MERIT and cells.seen > _SURE_SEEN:
        return _by_cells(cells, [], sight, board)
    return None


def hides_its_cells(camera: Camera, sight: Sight, board: Board) -> bool:
    """Whether cells should be seen from here, but hardly any look like it."""
    if not _marked(board):
        return False
    cells = settled_cells(camera, sight, board)
    return cells is None or cells.seen < _CLEAR_SEEN


def _marked(board: Board) -> bool:
    """Whether cells are to be seen on it; felts and frames have wide margins and plain floors."""
    plain = has_frame(board) or _narrow(board)
    return not plain and min(board.margin_mm) < board.lattice.pitch_mm


def _agreeing(edges: OutlineFit, fits: Sequence[CellFit], board: Board) -> bool:
    """Whether some cells are seen where an outline would have them."""
    near = 0.5 * board.lattice.pitch_mm
    return any(
        fit.seen > _SOME_SEEN and apart_mm(edges.solution.camera, fit.solution.camera, board) < near
        for fit in fits
    )


def _by_sheet(
    around: Sequence[Found],
    fits: Sequence[CellFit],
    segments: Segments,
    sight: Sight,
    board: Board,
) -> BoardPose | None:
    """The pose by a felt's or a sheet's outline; sheets under a row of cells have any margin."""
    found = _sure_sheet(around, fits, sight, board, board)
    if not _narrow(board) or (found is not None and not found.astray):
        return found
    for margin in SHEET_MARGINS_MM:
        other = replace(board, margin_mm=(margin,) * 4)
        seen = _outlines(segments, sight, other)
        again = _sure_sheet(seen, fits, sight, other, board)
        if again is not None and not again.astray:
            return again
    return found


def _surer(by_sheet: BoardPose, fits: Sequence[CellFit], sight: Sight, board: Board) -> BoardPose:
    """What tells more of the camera: a sheet, or a row of cells that is clearly seen without."""
    clear = _clear_rows(fits, by_sheet.solution.camera, board) if _narrow(board) else []
    if not clear:
        return by_sheet
    by_cells = _by_cells(clear[0], clear[1:], sight, board)
    here, there = (
        sum(expected_errors(pose.solution, board, HEIGHTS_MM).values())
        for pose in (by_cells, by_sheet)
    )
    return by_cells if here < there and not by_cells.astray else by_sheet


def _sure_sheet(
    around: Sequence[Found], fits: Sequence[CellFit], sight: Sight, board: Board, told: Board
) -> BoardPose | None:
    """The pose by the outline of a felt or a sheet, where that is clearly seen.

    `told` is the board with the margins that the table tells.
    """
    sheets = _sound_edges(fit_outlines(around, sight, board), sight, board)
    if not sheets or sheets[0].merit <= _SURE_EDGES:
        return None
    if _narrow(board):
        return _sure_row(sheets, fits, sight, board, told)
    return _by_edges(_telling(sheets, board), sight, board)


def _sure_row(
    sheets: Sequence[OutlineFit],
    fits: Sequence[CellFit],
    sight: Sight,
    board: Board,
    told: Board,
) -> BoardPose | None:
    """The pose by the row of cells on a sheet; with a doubt where a sheet shows none."""
    # A book beside the wall has straight edges, too, and so has what somebody lets see of a sheet:
    # the cells in it decide.
    sheet, row = _sheet_with_row(sheets, sight, board)
    place = (sheet if row is None else row.fit).solution.camera
    if row is None and sheet.rare < _EVERYWHERE:
        return None  # a square of the cloth, or several in a row
    # Beside a row on its sheet those that are seen elsewhere are its cloth's.
    clear = [f for f in fits if f.convincing] if row is None else _clear_rows(fits, place, board)
    if _contradicted(place, clear, board):
        return None
    others = [other for other in sheets if other is not sheet]
    if row is not None:
        others = [o for o in others if not _overlap(o.solution.camera, place, board)]
    found = _by_edges([sheet, *others], sight, board)
    if found.astray:
        return None  # anything long has the shape of a sheet under a wall
    if row is None:
        return replace(found, doubts=(*found.doubts, _NO_ROW), astray=True)
    lean = lean_of(row.fit, sight, row.board)
    either = (_EITHER_WAY,) if _leans_either_way(lean, board) else ()
    doubts = (*found.doubts, *row.doubts(told), *either)
    return replace(found, solution=lean.solution, doubts=doubts)


def _sheet_with_row(
    sheets: Sequence[OutlineFit], sight: Sight, board: Board
) -> tuple[OutlineFit, Row | None]:
    """The sheet on which a row of cells is seen that ends on it, or the best one without."""
    for sheet in sheets[:_SHEETS]:
        if sheet.merit > _SURE_EDGES and sheet.standing > _HARDLY_WORSE * sheets[0].standing:
            row = row_on(sheet, sight, board)
            if row is not None and row.fit.beyond <= _GOES_ON:
                return sheet, row
    return sheets[0], None


def _contradicted(sheet: Camera, clear: Sequence[CellFit], board: Board) -> bool:
    """Whether a row of cells is clearly seen, but not where a sheet would have it.

    A line that is printed round the cells, or cut off by others, has the shape of a sheet, too.
    """
    near = _BESIDE * board.lattice.pitch_mm
    apart = [apart_mm(sheet, fit.solution.camera, board) for fit in clear]
    return bool(apart) and min(apart) > near


def _clear_rows(fits: Sequence[CellFit], sheet: Camera, board: Board) -> list[CellFit]:
    """The rows of cells that are clearly seen where a sheet lies, and not on the cloth around."""
    return [f for f in fits if f.convincing and _overlap(f.solution.camera, sheet, board)]


def _overlap(one: Camera, other: Camera, board: Board) -> bool:
    """Whether two cameras see the board in places that have something in common."""
    here, there = (
        cv.as_cv_points(camera.project(board_corners(board)), 2) for camera in (one, other)
    )
    return cv2.intersectConvexConvex(here, there)[0] > 0


def _narrow(board: Board) -> bool:
    return min(board.lattice.columns, board.lattice.ranks) == 1


def _outlines(segments: Segments, sight: Sight, board: Board) -> list[Found]:
    size = board.lattice.size_mm[:2] if has_frame(board) else outline_size(board)
    shape = Shape(size, sight.lens, sight.lens_known)
    figures = contour_rectangles(sight.lab, shape, plain=not has_frame(board))
    drawn = rectangles(segments, sight, [size])[0]
    if not has_frame(board):
        figures, drawn = (by_standing_out(f, sight, board) for f in (figures, drawn))
    return taking_turns(figures, drawn)


def _cells_inside(around: Sequence[Found], sight: Sight, board: Board) -> list[CellFit]:
    """Lattices fitted from where the board's outline would have them."""
    corners = board_corners(board, board.margin_mm)
    fits = []
    for one in around[:4]:
        camera = camera_for(one.corners, corners, sight, centre_of(board), one.factor)
        rough = None if camera is None else rough_cells(camera, sight, board)
        if rough is not None:
            fits.append(rough)
    fits.sort(key=lambda f: -f.merit)
    exact = [settled_cells(rough.solution.camera, sight, board) for rough in fits[:2]]
    return [fit for fit in exact if fit is not None]


def _sound(fits: list[CellFit], sight: Sight, board: Board) -> list[CellFit]:
    return [f for f in fits if _plausible(f.solution.camera, sight, board)]


def _telling(fits: list[Fit], board: Board) -> list[Fit]:
    """Without what tells nothing of the camera's place, or only by an absurd lens.

    Where nothing else fits as well, that must do.
    """

    def tells(fit: Fit) -> bool:
        if is_absurd(fit.solution.camera.lens):
            return False
        return expected_errors(fit.solution, board, HEIGHTS_MM)["0"] < HOPELESS_MM

    telling = [fit for fit in fits if tells(fit)]
    good = telling and telling[0].merit > _HARDLY_WORSE * fits[0].merit
    return telling if good else fits


def _sound_edges(fits: list[OutlineFit], sight: Sight, board: Board) -> list[OutlineFit]:
    return [f for f in fits if _plausible(f.solution.camera, sight, board)]


def _plausible(camera: Camera, sight: Sight, board: Board) -> bool:
    """Whether a camera can stand there: above the board, the board large enough in its picture."""
    corners = camera.project(board_corners(board))
    if not np.isfinite(corners).all() or camera.position_mm[2] <= 0:
        return False
    width, height = camera.size
    area = abs(signed_area(np.clip(corners, 0, np.array([width, height]))))
    near = abs(float(np.log(camera.lens.focal_px / sight.lens.focal_px))) < _FOCAL_REACH
    cells = board.lattice.columns * board.lattice.ranks
    return near and area > max(_LEAST_AREA * width * height, cells * _LEAST_CELL * width**2)


def _by_cells(fit: CellFit, rivals: Sequence[CellFit], sight: Sight, board: Board) -> BoardPose:
    doubts = list(_doubts(fit.solution, sight, board))
    astray = _wrong_hour(fit.solution, sight, board)
    astray |= fit.merit < _SURE_MERIT and fit.seen < _CLEAR_SEEN
    goes_on = fit.beyond > _GOES_ON
    if fit.seen < _SURE_SEEN or (fit.merit < _SURE_MERIT and not goes_on):
        doubts.append(f"only {100 * fit.seen:.0f} % of the cells' borders look alike")
    if goes_on:
        doubts.append(
            "the grid seems to go on beyond the cells that table.toml counts; "
            "run `kiebitz table measure`"
        )
    if fit.rim < _RIM_SEEN <= fit.seen:
        doubts.append(
            "the outermost row or column of the cells that table.toml counts is not seen; "
            "run `kiebitz table measure`"
        )
    for rival in rivals:
        apart = apart_mm(fit.solution.camera, rival.solution.camera, board)
        endless = not goes_on and rival.beyond > _GOES_ON  # the pattern of the table, then
        if rival.merit > _RIVAL * fit.merit and apart > _RIVAL_MM and not endless:
            doubts.append("the grid could also lie in another place")
            # A grid that goes on fits one cell farther on as well, and says so.
            astray |= not goes_on
            break
    solution = fit.solution
    if _narrow(board):
        lean = lean_of(fit, sight, board)
        solution = lean.solution
        if _leans_either_way(lean, board):
            doubts.append(_EITHER_WAY)
    if _halved(fit.solution.camera, sight, board):
        astray = True
        doubts.append(
            "each cell that table.toml counts seems to be several; run `kiebitz table measure`"
        )
    lying: tuple[Cell, ...] = ()
    others = 1 - len(fit.unlike) / (board.lattice.columns * board.lattice.ranks)
    unlike = sorted(Cell(*place) for place in fit.unlike)
    high = without_painted(unlike, solution.camera, sight.lab, board.lattice)
    if len(high) >= _LYING and fit.seen > _SURE_SEEN * others:
        lying = high
    return BoardPose(solution, "grid", tuple(doubts), astray=astray, lying=lying)


def _halved(camera: Camera, sight: Sight, board: Board) -> bool:
    """Whether lines like the borders of the cells run through the middles of the cells, too."""
    old = board.lattice
    if min(old.columns, old.ranks) == 1 or old.columns > _MOST_HALVED:
        return False
    # Cells keep their millimetres: the same view of a board twice as large, from twice as far.
    fine = Lattice(2 * old.columns, 2 * old.ranks, old.levels, old.pitch_mm, old.unit_mm)
    far = replace(camera, translation_mm=2 * camera.translation_mm)
    both = replace(board, lattice=fine)
    sides = sides_in(far, sight.lab, both)
    sides = sides.part(inside(sides, both))
    beyond = np.where(sides.outward > 0.5, sides.cells + 1, sides.cells)
    line = (beyond * np.abs(sides.outward)).sum(axis=1)
    middles = np.asarray(line % 2 == 1)
    if middles.sum() < 8 or middles.all():
        return False
    like = likeness_of(sides, common_look(sides.part(~middles)))
    alike = like > LIKE
    return float(alike[middles].mean()) > _HALVED * max(float(alike[~middles].mean()), _SOME_SEEN)


def _by_frame(
    segments: Segments, sight: Sight, board: Board, say: Say
) -> tuple[BoardPose | None, list[OutlineFit]]:
    """The pose of a framed board beyond doubt, or none, and the frames that were found."""
    # Cells that are clearly drawn inside a frame leave no choice which of its edges are seen.
    by_lines = islice(lattice_candidates(segments, sight, board), 1)
    cells = _sound(fit_lattices(by_lines, sight, board, say, stretch=False), sight, board)
    if cells and cells[0].convincing:
        return _by_cells(cells[0], cells[1:], sight, board), []
    say("the board's frame")
    around = _outlines(segments, sight, board)
    frames = _sound_edges(fit_frames(around, segments, sight, board), sight, board)
    frames = _most_agreed_first(frames, board)
    if not frames or frames[0].worth <= _SURE_EDGES:
        return None, frames
    found = _by_edges(frames, sight, board)
    # Else fainter lines between cells may tell which edges they are.
    return None if found.doubts else found, frames


def _by_edges(fits: Sequence[OutlineFit], sight: Sight, board: Board) -> BoardPose:
    best = fits[0]
    doubts = list(_doubts(best.solution, sight, board))
    astray = _wrong_hour(best.solution, sight, board) or _marked(board)
    astray |= best.merit < _SURE_EDGES
    if _marked(board):
        doubts.append("a rectangle like the board is seen, but hardly any cells in it")
    if best.stands_out < _LEAST_OUT and not _narrow(board):
        astray = True
        doubts.append(_UNLIKE_RAILS if has_frame(board) else _LIKE_AROUND)
    missing = [name for name, share in best.support.items() if share < 0.5]
    unsure = best.worth < _SURE_FRAME or min(best.support.values()) < _SOME_SEEN
    if best.merit < _SURE_EDGES or (has_frame(board) and unsure):
        doubts.append("some edges are hardly seen: " + ", ".join(missing[:4] or ["all"]))
    for rival in fits[1:]:
        apart = apart_mm(best.solution.camera, rival.solution.camera, board)
        # What lacks an edge that the best one shows is no rival.
        lacks = min(rival.support.values()) < _SOME_SEEN < min(best.support.values())
        # On a sheet lines are drawn as well: they are the board as likely as the sheet's edge.
        drawn = _narrow(board) and _overlap(rival.solution.camera, best.solution.camera, board)
        as_good = (
            rival.worth > _RIVAL * best.worth
            if drawn
            else _standing_beside(rival, best, board) > _RIVAL * best.standing
        )
        if as_good and apart > _RIVAL_MM and not lacks:
            doubts.append(_RIVAL_FRAME if has_frame(board) else _RIVAL_OUTLINE)
            astray = True
            break
    frame = (float(best.sizes[0]), float(best.sizes[1])) if has_frame(board) else None
    return BoardPose(best.solution, "frame", tuple(doubts), frame, astray)


def _standing_beside(rival: OutlineFit, best: OutlineFit, board: Board) -> float:
    """How well a rival stands: squares of a cloth are many, and smaller than what lies on it."""
    corners = board_corners(board, board.margin_mm)
    larger = _area_px(rival.solution.camera, corners) > _area_px(best.solution.camera, corners)
    return rival.standing_anywhere if larger else rival.standing


def _area_px(camera: Camera, corners: Floats) -> float:
    return abs(signed_area(camera.project(corners)))


def _doubts(
    solution: Solution, sight: Sight, board: Board, most_px: float = _LINES_PX
) -> list[str]:
    """Reasons to doubt any pose."""
    doubts = []
    if _wrong_hour(solution, sight, board):
        hour = clock_of(solution.camera, centre_of(board))
        doubts.append(
            f"the picture looks as if taken from {hour:.0f} o'clock, not {sight.clock:g} "
            "as table.toml says"
        )
    if _cut_off(solution.camera, board):
        doubts.append("a part of the board is out of the picture")
    if solution.rms_px > most_px:
        doubts.append(f"what was found lies {solution.rms_px:.1f} px beside where it should be")
    return doubts


def _cut_off(camera: Camera, board: Board) -> bool:
    """Whether corners of the board lie out of the picture."""
    width, height = camera.size
    corners = camera.project(board_corners(board))
    beyond = corners > np.array([width, height]) * (1 + _OUTSIDE)
    return bool((corners < -_OUTSIDE * width).any() or beyond.any())


def _wrong_hour(solution: Solution, sight: Sight, board: Board) -> bool:
    hour = clock_of(solution.camera, centre_of(board))
    return hours_apart(hour, sight.clock) > _HOURS


def _leans_either_way(lean: Lean, board: Board) -> bool:
    """Whether a row that leans to the other side would look the same, and far from this one."""
    if lean.other is None:
        return False
    high = HEIGHTS_MM[-1]
    told = expected_errors(lean.solution, board, HEIGHTS_MM)[f"{high:g}"]
    return apart_mm(lean.solution.camera, lean.other.camera, board, high) > 2 * told


def _most_agreed_first(frames: Sequence[OutlineFit], board: Board) -> list[OutlineFit]:
    """The fits, but first of those nearly as good as the best the one nearest to all of these.

    From straight above a frame's height, its width and the lens explain each other.
    """
    if not frames:
        return []
    alike = [fit for fit in frames if fit.standing > frames[0].standing - _ALIKE]
    apart = [
        sum(min(apart_mm(f.solution.camera, o.solution.camera, board), _RIVAL_MM) for o in alike)
        for f in alike
    ]
    middle = alike[int(np.argmin(apart))]
    return [middle, *(fit for fit in frames if fit is not middle)]


def apart_mm(one: Camera, other: Camera, board: Board, height_mm: float = 0.0) -> float:
    """How far the same pixels lie apart over the board's corners, at a height."""
    corners: Floats = board_corners(board) + np.array([0.0, 0.0, height_mm])
    back = other.back_project(one.project(corners), height_mm)
    off = np.linalg.norm(back - corners, axis=1)
    return float(off.mean()) if np.isfinite(off).all() else float("inf")


def _tried_cells(fits: Sequence[CellFit], board: Board) -> str:
    counts = f"{board.lattice.columns} x {board.lattice.ranks}"
    if not fits:
        return f"grid: no {counts} lines or cells that could be the board's"
    share = f"{100 * fits[0].seen:.0f} %"
    return f"grid: at best {share} of the borders of {counts} cells seen in one place"


def _tried_edges(fits: Sequence[OutlineFit], what: str) -> str:
    if not fits:
        return f"{what}: no rectangle of the board's shape"
    return f"{what}: at best {100 * fits[0].merit:.0f} % of its edges seen"
