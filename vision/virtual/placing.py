"""From pieces of the lattice to boxes on the table, put down as sloppily as people do."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rules.cells import Cell, Unit
from rules.lattice import Lattice
from rules.pieces import Extent, KitPiece, Placed, Shape
from rules.stacks import Stacks
from vision.virtual.values import Paint, Solid

_TOUCHING_MM = 1.0  # pieces with less air between them push each other straight


@dataclass(frozen=True, slots=True)
class Sloppiness:
    """How far pieces stand from where they should."""

    shift_mm: float = 2.0
    twist_deg: float = 5.0
    level_mm: float = 0.8  # what each level may add
    leaning: float = 0.1  # the part of all stacks that lean to one side
    stretch: float = 0.008  # how much air pieces that touch take over a whole row


USUAL = Sloppiness()
NEAT = Sloppiness(0.0, 0.0, 0.0, 0.0, 0.0)


def pieces_of(stacks: Stacks, shapes: Iterable[Shape]) -> tuple[Placed, ...]:
    """Pieces that can make these stacks, the largest first; single units where none fits."""
    left = dict(stacks.units())
    extents = sorted(
        {extent for shape in shapes for extent in shape.extents},
        key=lambda e: -e.width * e.depth * e.height,
    )
    found: list[Placed] = []
    for unit in sorted(left, key=lambda u: (u.level, u.cell.rank, u.cell.file)):
        if unit not in left:
            continue
        letter = left[unit]
        for extent in (*extents, Extent(1, 1, 1)):
            piece = Placed(unit.cell, unit.level, extent, letter)
            units = list(piece.units())
            if all(left.get(u) == letter for u in units):
                found.append(piece)
                for u in units:
                    del left[u]
                break
    return tuple(found)


def stacks_of(pieces: Iterable[Placed]) -> Stacks:
    """The stacks that pieces make."""
    units = {unit: piece.letter for piece in pieces for unit in piece.units()}
    heights: dict[Cell, int] = {}
    for unit in units:
        heights[unit.cell] = max(heights.get(unit.cell, 0), unit.level)
    return Stacks(
        {
            cell: "".join(units.get(Unit(cell, level), ".") for level in range(1, high + 1))
            for cell, high in heights.items()
        }
    )


def solids_of(
    pieces: Sequence[Placed],
    lattice: Lattice,
    paints: Mapping[str, Paint],
    sloppy: Sloppiness,
    seed: int,
) -> tuple[Solid, ...]:
    """A box for each piece, in the same order."""
    return Layout(lattice, paints, sloppy, seed).solids(pieces)


class Layout:
    """Puts pieces down; one that stands stays where it is while others come and go."""

    def __init__(
        self, lattice: Lattice, paints: Mapping[str, Paint], sloppy: Sloppiness, seed: int
    ) -> None:
        self._lattice = lattice
        self._paints = paints
        self._sloppy = sloppy
        self._seed = seed
        self._touching = lattice.pitch_mm - min(lattice.unit_mm[:2]) < _TOUCHING_MM
        rng = np.random.default_rng([seed, 1])
        wide = float(rng.uniform(0, sloppy.stretch))
        tilt = math.radians(float(rng.normal(0, 0.5)))
        self._stretch = 1 + wide if self._touching else 1.0
        self._tilt = tilt if self._touching and sloppy.shift_mm else 0.0
        self._standing: dict[Placed, Solid] = {}

    def solids(self, pieces: Sequence[Placed]) -> tuple[Solid, ...]:
        """A box for each piece, in the same order; pieces that are not named are taken away."""
        owner = {unit: piece for piece in pieces for unit in piece.units()}
        stay = set(pieces)
        self._standing = {p: s for p, s in self._standing.items() if p in stay}
        for piece in sorted(pieces, key=lambda p: p.level):
            if piece not in self._standing:
                self._standing[piece] = self._put(piece, owner)
        middle = self._lattice.size_mm[0] / 2, self._lattice.size_mm[1] / 2
        return tuple(
            _stretched(self._standing[p], self._stretch, self._tilt, middle) for p in pieces
        )

    def _put(self, piece: Placed, owner: Mapping[Unit, Placed]) -> Solid:
        rng = np.random.default_rng([self._seed, 2, *_key(piece)])
        below = {
            owner[under]
            for cell in piece.cells()
            if (under := Unit(cell, piece.level - 1)) in owner
        }
        paint = self._paints[piece.letter]
        box = _exact(piece, self._lattice, paint, int(rng.integers(1 << 20)))
        return _moved(
            box,
            [(self._standing[b], b) for b in sorted(below)],
            self._lattice,
            self._sloppy,
            rng,
            crowded=self._touching or _neighbours(piece, owner) > 0,
            touching=self._touching,
        )


def _key(piece: Placed) -> tuple[int, ...]:
    return (*piece.cell, piece.level, *piece.extent, ord(piece.letter))


def _exact(piece: Placed, lattice: Lattice, paint: Paint, seed: int) -> Solid:
    pitch, unit = lattice.pitch_mm, lattice.unit_mm
    width, depth, height = piece.extent
    # A longer piece is whole units long; it lies in the middle of the cells that it covers.
    size = (
        (width - 1) * pitch + unit[0],
        (depth - 1) * pitch + unit[1],
        height * unit[2],
    )
    x = (piece.cell.file + width / 2) * pitch
    y = (piece.cell.rank + depth / 2) * pitch
    z = (piece.level - 1 + height / 2) * unit[2]
    tone = np.random.default_rng(seed).normal(1, 0.05)
    rgb = tuple(float(np.clip(v * tone, 0, 1)) for v in paint.rgb)
    return Solid(
        (x, y, z), size, replace(paint, rgb=(rgb[0], rgb[1], rgb[2])), bevel_mm=0.9, seed=seed
    )


def _neighbours(piece: Placed, owner: Mapping[Unit, Placed]) -> int:
    """How many pieces stand beside this one."""
    mine = set(piece.units())
    beside = set()
    for cell, level in mine:
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            unit = Unit(Cell(cell.file + dx, cell.rank + dy), level)
            if unit in owner and unit not in mine:
                beside.add(owner[unit])
    return len(beside)


def _moved(
    box: Solid,
    below: Sequence[tuple[Solid, Placed]],
    lattice: Lattice,
    sloppy: Sloppiness,
    rng: np.random.Generator,
    *,
    crowded: bool,
    touching: bool,
) -> Solid:
    air = lattice.pitch_mm - min(lattice.unit_mm[:2])
    limit = sloppy.shift_mm
    if touching:
        limit = min(limit, 0.25)
    elif crowded:
        limit = min(limit, 0.45 * air + 0.1)
    twist_limit = min(sloppy.twist_deg, 0.5 if touching else 2.0 if crowded else 90.0)
    if below:
        offsets = [_offset(solid, piece, lattice) for solid, piece in below]
        start = np.mean(offsets, axis=0)
        turn = float(np.mean([solid.turn_deg for solid, _ in below])) * 0.7
        step = min(sloppy.level_mm, limit) if crowded else sloppy.level_mm
        leans = rng.random() < sloppy.leaning and not touching
        move = rng.normal(0, 0.5 * step, 2) if not leans else np.sign(start) * 1.5 * step
        turn += float(rng.normal(0, 0.3 * twist_limit))
        most = limit + sloppy.level_mm if crowded else limit + 3 * sloppy.level_mm
    else:
        start, turn = np.zeros(2), float(rng.normal(0, 0.45 * twist_limit))
        move, most = rng.normal(0, 0.5 * limit, 2), limit
    shift = np.clip(start + move, -most, most)
    x, y, z = box.centre_mm
    return replace(
        box,
        centre_mm=(x + float(shift[0]), y + float(shift[1]), z),
        turn_deg=float(np.clip(turn, -twist_limit, twist_limit)),
    )


def _offset(solid: Solid, piece: Placed, lattice: Lattice) -> tuple[float, float]:
    pitch = lattice.pitch_mm
    return (
        solid.centre_mm[0] - (piece.cell.file + piece.extent.width / 2) * pitch,
        solid.centre_mm[1] - (piece.cell.rank + piece.extent.depth / 2) * pitch,
    )


def _stretched(solid: Solid, stretch: float, tilt: float, middle: tuple[float, float]) -> Solid:
    """The air that touching pieces take, and the lean of a whole wall."""
    x, y, z = solid.centre_mm
    return replace(
        solid,
        centre_mm=(
            middle[0] + (x - middle[0]) * stretch,
            middle[1] + (y - middle[1]) * stretch + z * math.sin(tilt),
            z,
        ),
        lean=(-tilt, 0.0),
    )


def random_pieces(
    lattice: Lattice,
    kit: Sequence[KitPiece],
    count: int,
    rng: np.random.Generator,
    *,
    one_colour: bool = False,
) -> tuple[Placed, ...]:
    """Pieces as physics allows them, near each other as in a game; no rules are asked."""
    supply = [piece for piece in kit for _ in range(piece.count)]
    placed: list[Placed] = []
    heights: dict[Cell, int] = {}
    tops: dict[Cell, str] = {}
    for _ in range(40 * count):
        if len(placed) >= count or not supply:
            break
        pick = int(rng.integers(len(supply)))
        kind = supply[pick]
        extent = kind.shape.extents[int(rng.integers(len(kind.shape.extents)))]
        anchor = _low_anchor(lattice, extent, heights, rng)
        if anchor is None:
            continue
        trial = Placed(anchor, 1, extent, kind.letter)
        under = {heights.get(cell, 0) for cell in trial.cells()}
        if len(under) > 1 or max(under) + extent.height > lattice.levels:
            continue
        if one_colour and any(tops.get(c, kind.letter) != kind.letter for c in trial.cells()):
            continue
        piece = trial._replace(level=under.pop() + 1)
        placed.append(piece)
        supply.pop(pick)
        for cell in piece.cells():
            heights[cell] = piece.level + extent.height - 1
            tops[cell] = kind.letter
    return tuple(placed)


def _low_anchor(
    lattice: Lattice, extent: Extent, heights: Mapping[Cell, int], rng: np.random.Generator
) -> Cell | None:
    """The lowest of a few places most of the time: people seldom build needles."""
    anchors = [_anchor(lattice, extent, heights, rng) for _ in range(3)]
    if rng.random() < 0.4:
        return anchors[0]
    return min(
        anchors,
        key=lambda a: 99 if a is None else heights.get(a, 0),
    )


def _anchor(
    lattice: Lattice, extent: Extent, heights: Mapping[Cell, int], rng: np.random.Generator
) -> Cell | None:
    columns, ranks = lattice.columns - extent.width + 1, lattice.ranks - extent.depth + 1
    if columns < 1 or ranks < 1:
        return None
    if heights and rng.random() < 0.75:
        near = list(heights)[int(rng.integers(len(heights)))]
        file = near.file + int(rng.integers(-extent.width, 2))
        rank = near.rank + int(rng.integers(-extent.depth, 2))
        return Cell(file, rank) if 0 <= file < columns and 0 <= rank < ranks else None
    return Cell(int(rng.integers(columns)), int(rng.integers(ranks)))
