"""Positions as they come up in play, and how hands put pieces down: a little off, never inside."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import cv2
import numpy as np

from .tables import Board, between, pick

Cell = tuple[int, int]
COUNTS = {
    "kewbz": (10, 44),
    "qbq": (16, 36),
    "ksar": (4, 19),
    "kwinty": (5, 26),
    "turris": (4, 22),
    "cube": (8, 30),
}


@dataclass(frozen=True)
class Piece:
    """A piece on the lattice: lower left cell, level from 1, extent in units, colour."""

    cell: Cell
    level: int
    extent: tuple[int, int, int]
    letter: str

    def columns(self) -> list[Cell]:
        """The cells on which it stands."""
        return [
            (self.cell[0] + i, self.cell[1] + j)
            for i in range(self.extent[0])
            for j in range(self.extent[1])
        ]

    def levels(self) -> range:
        """The levels that it fills."""
        return range(self.level, self.level + self.extent[2])


@dataclass(frozen=True)
class Pose:
    """Where a piece's foot is, in millimetres, and by how many degrees it is turned."""

    x: float
    y: float
    z: float
    degrees: float


def name(cell: Cell) -> str:
    """As a person writes it."""
    return f"{chr(97 + cell[0])}{cell[1] + 1}"


def stacks(pieces: Iterable[Piece]) -> dict[str, str]:
    """Letters from bottom to top of each cell; raises ValueError where something floats."""
    units = {(c, z): p.letter for p in pieces for c in p.columns() for z in p.levels()}
    found: dict[str, str] = {}
    for cell, z in sorted(units):
        have = found.get(name(cell), "")
        if len(have) != z - 1:
            raise ValueError(f"a gap below {name(cell)}.{z}")
        found[name(cell)] = have + units[cell, z]
    return found


def draw_position(game: str, board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """About `count` pieces."""
    grow = {
        "kewbz": _kewbz,
        "qbq": _qbq,
        "ksar": _ksar,
        "kwinty": _blocks,
        "turris": _blocks,
        "cube": _cube,
    }[game]
    return grow(board, count, rng)


def colour_picture(game: str, board: Board, letters: str, rng: np.random.Generator) -> list[Piece]:
    """Pieces of each colour apart from each other: single ones, or also a stack of two of each."""
    wide, deep = board.columns, board.ranks
    if game == "kwinty":
        return [Piece((x, 0), 1, (1, 1, 2), c) for x, c in zip((0, 2, 6, 8), "LDDL", strict=True)]
    if game == "turris":
        return [
            Piece(cell, 1, (1, 1, 2), c)
            for cell, c in zip(((0, 0), (2, 2), (2, 0), (0, 2)), "LLDD", strict=True)
        ]
    if game == "ksar":
        spots = ((1, 1), (4, 4), (1, 6), (7, 1), (7, 6), (4, 1))
        return [
            Piece(spot, 1, (1, 3, 2) if i < 3 else (2, 1, 3), c)
            for i, (spot, c) in enumerate(zip(spots, letters * 2, strict=True))
        ]
    spots = (
        [(0, 0), (wide - 1, 0), (0, deep - 1), (wide - 1, deep - 1)]
        if game == "cube"
        else [(1, 1), (wide - 2, deep - 2), (1, deep - 2), (wide - 2, 1)]
    )
    double = rng.random() < 0.6
    return [
        Piece(s, z, (1, 1, 1), c)
        for s, c in zip(spots, letters, strict=False)
        for z in range(1, 3 if double else 2)
    ]


def _around(cell: Cell, diagonal: bool) -> list[Cell]:
    steps = [
        (i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i or j) and (diagonal or not (i and j))
    ]
    return [(cell[0] + i, cell[1] + j) for i, j in steps]


def _cells(board: Board) -> list[Cell]:
    return [(i, j) for i in range(board.columns) for j in range(board.ranks)]


def _kewbz(board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """Lines that branch, never a 2x2 of bases, towers where they meet."""
    start = pick(rng, _cells(board))
    heights, pieces = {start: 1}, [Piece(start, 1, (1, 1, 1), pick(rng, "BY"))]

    def squares(cell: Cell) -> bool:
        x, y = cell
        return any(
            all(q in heights for q in ((x + i, y), (x, y + j), (x + i, y + j)))
            for i in (-1, 1)
            for j in (-1, 1)
        )

    def meets(cell: Cell) -> bool:
        x, y = cell
        return ((x - 1, y) in heights or (x + 1, y) in heights) and (
            (x, y - 1) in heights or (x, y + 1) in heights
        )

    for _ in range(4000):
        if len(pieces) >= count:
            break
        towers = [c for c in heights if heights[c] < 5 and meets(c)]
        if towers and rng.random() < 0.55:
            cell = pick(rng, towers)
        else:
            free = [
                c
                for c in _cells(board)
                if c not in heights
                and not squares(c)
                and any(n in heights for n in _around(c, True))
            ]
            cell = pick(rng, free or [c for c in heights if heights[c] < 5])
        heights[cell] = heights.get(cell, 0) + 1
        pieces.append(Piece(cell, heights[cell], (1, 1, 1), pick(rng, "BY")))
    return pieces


def _qbq(board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """One group, stacks of one colour each, nine cubes of a colour."""
    bag = [c for c in "BGOR" for _ in range(9)]
    rng.shuffle(bag)
    towers: dict[Cell, list[str]] = {
        (int(rng.integers(1, 5)), int(rng.integers(1, 5))): [bag.pop()]
    }
    while bag and sum(map(len, towers.values())) < count:
        letter = bag.pop()
        own = [c for c, t in towers.items() if t[0] == letter and len(t) < 6]
        free = [
            c
            for c in _cells(board)
            if c not in towers and any(n in towers for n in _around(c, False))
        ]
        if own and (rng.random() < 0.4 or not free):
            towers[pick(rng, own)].append(letter)
        else:
            towers[pick(rng, free)] = [letter]
    return [
        Piece(c, z, (1, 1, 1), letter) for c, t in towers.items() for z, letter in enumerate(t, 1)
    ]


def _cube(board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """Cubes anywhere, and up to one twin of each colour, upright or across two equal columns."""
    left = dict.fromkeys("RYGB", 8)
    twins = {c for c in "RYGB" if rng.random() < 0.3}
    heights = dict.fromkeys(_cells(board), 0)
    pieces: list[Piece] = []
    while len(pieces) < count:
        cell = pick(rng, [c for c in heights if heights[c] < 4])
        letter = pick(rng, [c for c in left if left[c]])
        extent = (1, 1, 1)
        if letter in twins:
            extent = pick(rng, ((1, 1, 2), (2, 1, 1), (1, 2, 1)))
        piece = Piece(cell, heights[cell] + 1, extent, letter)
        if (
            any(heights.get(c) != heights[cell] for c in piece.columns())
            or heights[cell] + extent[2] > 4
        ):
            continue
        if extent == (1, 1, 1):
            left[letter] -= 1
        else:
            twins.discard(letter)
        heights.update(dict.fromkeys(piece.columns(), heights[cell] + extent[2]))
        pieces.append(piece)
    return pieces


def _ksar(board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """Cuboids of 1x2x3 any way up, side by side, most of them against another one or the frame."""
    bag = list("RRRRRRRRRRRRBBBBBBBBBBBBNNNNNN")
    rng.shuffle(bag)
    taken: set[Cell] = set()
    pieces: list[Piece] = []
    for _ in range(3000):
        if len(pieces) >= count:
            break
        piece = Piece(
            pick(rng, _cells(board)), 1, pick(rng, list(permutations((1, 2, 3)))), bag[-1]
        )
        inside = set(piece.columns())
        if inside & taken or not inside <= set(_cells(board)):
            continue
        near = {n for c in inside for n in _around(c, False)} - inside
        if not (near & taken) and rng.random() < 0.85 and pieces:
            continue
        taken |= inside
        bag.pop()
        pieces.append(piece)
    return pieces


def _blocks(board: Board, count: int, rng: np.random.Generator) -> list[Piece]:
    """Two-unit blocks, flat or upright, all supported: KWINTY's walls and TURRIS's towers."""
    heights = dict.fromkeys(_cells(board), 0)
    tower = board.ranks > 1
    pieces: list[Piece] = []
    flats = [(2, 1, 1), (1, 2, 1)] if tower else [(2, 1, 1)]
    for _ in range(4000):
        if len(pieces) >= count:
            break
        extent = pick(rng, [(1, 1, 2), *flats])
        cell = pick(rng, _cells(board))
        piece = Piece(cell, heights[cell] + 1, extent, pick(rng, "LD"))
        top = heights[cell] + extent[2]
        level = min(heights.values()) + 3 if tower else 9
        if (
            any(heights.get(c) != heights[cell] for c in piece.columns())
            or top > level
            or top > 8 + (not tower)
        ):
            continue
        if pieces and not any(
            heights.get(n) for c in piece.columns() for n in (*_around(c, False), c)
        ):
            continue
        heights.update(dict.fromkeys(piece.columns(), top))
        pieces.append(piece)
    return pieces


def settle(
    board: Board, pieces: list[Piece], sloppy: float, rng: np.random.Generator
) -> dict[Piece, Pose]:
    """Poses: the ideal ones are moved one after the other, as far as nothing is in the way.

    A piece follows those below it, so that towers lean as real ones do.
    """
    ideal = {
        p: Pose(
            (p.cell[0] + p.extent[0] / 2) * board.pitch,
            (p.cell[1] + p.extent[1] / 2) * board.pitch,
            (p.level - 1) * board.unit,
            0.0,
        )
        for p in pieces
    }
    poses = dict(ideal)
    for piece in sorted(pieces, key=lambda p: (p.level, rng.random())):
        below = [
            q
            for q in pieces
            if q.level + q.extent[2] == piece.level and set(q.columns()) & set(piece.columns())
        ]
        dx = float(np.mean([poses[q].x - ideal[q].x for q in below])) if below else 0.0
        dy = float(np.mean([poses[q].y - ideal[q].y for q in below])) if below else 0.0
        turn = float(np.mean([poses[q].degrees for q in below])) * 0.5 if below else 0.0
        step = np.clip(rng.normal(0, sloppy * board.pitch, 2), -1.6, 1.6)
        twist = float(np.clip(rng.normal(0, 2.2 if max(piece.extent[:2]) == 1 else 0.9), -6, 6))
        for share in (1.0, 0.6, 0.3, 0.1, 0.0):
            at = ideal[piece]
            trial = Pose(
                at.x + 0.9 * dx + share * step[0],
                at.y + 0.9 * dy + share * step[1],
                at.z,
                turn + share * twist,
            )
            if _fits(board, piece, trial, poses):
                poses[piece] = trial
                break
    return poses


def footprint(board: Board, piece: Piece) -> tuple[float, float]:
    """Width and depth as made: twins span the gap, blocks without gap are a little smaller."""
    made = board.unit - (0.25 if board.pitch == board.unit else 0.0)
    return (piece.extent[0] - 1) * board.pitch + made, (piece.extent[1] - 1) * board.pitch + made


def _fits(board: Board, piece: Piece, pose: Pose, poses: dict[Piece, Pose]) -> bool:
    rectangle = ((pose.x, pose.y), footprint(board, piece), pose.degrees)
    corners = cv2.boxPoints(rectangle)
    if piece.level == 1 and board.hollow:
        slack = (board.pitch - board.hollow) / 2
        low = np.array(piece.cell) * board.pitch + slack
        high = (np.array(piece.cell) + piece.extent[:2]) * board.pitch - slack
        if (corners < low).any() or (corners > high).any():
            return False
    if board.frame and ((corners < 0).any() or (corners > board.size).any()):
        return False
    for other, there in poses.items():
        if (
            other is piece
            or not set(other.levels()) & set(piece.levels())
            or math.dist((pose.x, pose.y), (there.x, there.y)) > 4 * board.pitch
        ):
            continue
        kind, shape = cv2.rotatedRectangleIntersection(
            rectangle, ((there.x, there.y), footprint(board, other), there.degrees)
        )
        if kind and cv2.contourArea(cv2.convexHull(shape)) > 0.02:
            return False
    return True


def spare_places(
    board: Board, count: int, keep: float, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Places beside the board, at least `keep` from it and from each other."""
    wide, deep = board.size
    edge = board.margin + (board.frame[1] if board.frame else 0) + keep
    found: list[tuple[float, float]] = []
    for _ in range(count * 60):
        x, y = between(rng, -260, wide + 260), between(rng, -170, deep + 220)
        outside = x < -edge or x > wide + edge or y < -edge or y > deep + edge
        if (
            len(found) < count
            and outside
            and all(math.dist((x, y), other) > 1.7 * keep for other in found)
        ):
            found.append((x, y))
    return found
