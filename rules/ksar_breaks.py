"""Every rule that a piece of KSAR breaks, each tested as if the others were kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rules.cells import Cell
from rules.game import Break
from rules.ksar_frame import HIGHEST, Frame, Heights
from rules.ksar_pieces import is_piece
from rules.pieces import Placed
from rules.turn import Change

NEUTRAL = "N"
Pieces = tuple[Placed, ...]


def lasting(pieces: Pieces, changes: tuple[Change, ...]) -> list[Change]:
    """The changes without pieces that were put down and taken up again, or put back."""
    left: list[Change] = []
    for change in changes:
        opposite = next((c for c in reversed(left) if _undoes(pieces, c, change)), None)
        if opposite is None:
            left.append(change)
        else:
            left.remove(opposite)
    return left


def _undoes(pieces: Pieces, one: Change, two: Change) -> bool:
    """Whether the second change brings back what was before the first."""
    if one.add == two.add or (one.cell, one.extent) != (two.cell, two.extent):
        return False
    if one.add:
        return two.letter in ("", one.letter)
    return any((p.cell, p.extent, p.letter) == (two.cell, two.extent, two.letter) for p in pieces)


def hand_breaks(change: Change, player: str, in_hand: Collection[str]) -> Iterator[Break]:
    """A piece of the other colour, one that is not in hand, or none of this game."""
    cells = _told(change)
    if change.letter not in (player, NEUTRAL, "?"):
        yield Break("ksar.wrong-colour", cells, (("player", player),))
    elif change.letter not in (*in_hand, "?"):
        yield Break("ksar.no-piece-left", cells, (("player", player),))
    if not change.one_piece or not is_piece(change.extent):
        yield Break("ksar.bad-shape", cells)


def place_breaks(
    frame: Frame, heights: Heights, pieces: Pieces, change: Change, *, adjoining: bool
) -> Iterator[Break]:
    """What is wrong with the place; what does not lie inside and on the table touches nothing."""
    inside = [cell for cell in dict.fromkeys(change.cells()) if frame.has(cell)]
    outside = tuple(cell for cell in _told(change) if not frame.has(cell))
    if outside:
        yield Break("ksar.outside-frame", outside)
    solid = heights[0] | heights[1] | heights[2]
    mask = sum(1 << frame.place(cell) for cell in inside)
    if mask & solid:
        yield Break("ksar.on-another-piece", tuple(frame.cells(mask & solid)))
    if outside or mask & solid or not change.one_piece:
        return
    faces = frame.faces(change.cell, change.extent)
    if adjoining:
        if not faces.adjoining(solid | frame.rim):
            yield Break("ksar.no-adjoining-contact", _told(change), _span(change))
    elif len([thing for thing in things(frame, pieces) if thing & faces.around]) < 2:
        yield Break("ksar.touches-fewer-than-two", _told(change), _span(change))
    height = change.extent.height
    equal = faces.around & heights[height - 1] if height <= HIGHEST else 0
    if equal:
        touched = tuple(frame.cells(equal))
        facts = (*_span(change), ("at", str(touched[0])))
        yield Break("ksar.same-height-contact", (*_told(change), *touched), facts)


def things(frame: Frame, pieces: Pieces) -> list[int]:
    """The four strips of the frame and every piece, by the cells that they cover."""
    return [*frame.strips, *map(frame.footprint, pieces)]


def _told(change: Change) -> tuple[Cell, ...]:
    """The cells of a piece, as far as they have names."""
    return tuple(cell for cell in change.cells() if cell.file < 26)


def _span(change: Change) -> tuple[tuple[str, str | int], ...]:
    """From which cell to which a piece reaches."""
    cells = _told(change)
    return ("from", str(cells[0])), ("to", str(cells[-1]))
