"""Every legal turn of QBQ in bits, in order or by chance."""

from __future__ import annotations

import random
from collections.abc import Iterator

from rules.qbq_actions import Action, Enter, Insert, Relocate, Tip
from rules.qbq_board import QbqPosition, View, bits
from rules.qbq_breaks import entrances
from rules.qbq_moves import Movement

# cell of the inserted cube or 0, source, target; a tip has -1, the tower and the step of its
# direction; a cube that enters has only its cell
Move = tuple[int, int, int]
_TIP = -1


def action_of(rules: Movement, move: Move) -> Action:
    """The move as people name it."""
    at, src, dst = move
    cell, row = rules.geometry.cell_of, rules.geometry.row
    if at == _TIP:
        return Tip(cell[src], (0, dst // row) if dst % row == 0 else (dst // abs(dst), 0))
    if not src:
        return Enter(cell[at])
    return Insert(cell[at], cell[src], cell[dst]) if at else Relocate(cell[src], cell[dst])


def legal_moves(rules: Movement, position: QbqPosition) -> Iterator[tuple[tuple[int, ...], Move]]:
    """Everybody's heights behind every legal move but a pass, each effect once, and the move.

    The heights hold where no stack is mixed.
    """
    view = position.view()
    seat = position.seat
    mine = position.heights[seat]
    before, behind = position.heights[:seat], position.heights[seat + 1 :]
    if not view.cubes:
        for at in bits(entrances(rules.geometry, position, view)):
            yield (*before, mine + at, *behind), (at, 0, 0)
        return
    for heights, at, src, dst in rules.compounds(view, mine):
        yield (*before, heights, *behind), (at, src, dst)
    yield from _tips(rules, position, view)


def _tips(
    rules: Movement, position: QbqPosition, view: View
) -> Iterator[tuple[tuple[int, ...], Move]]:
    seat = position.seat
    seen: set[tuple[int, ...]] = set()
    for src, step, line in rules.tips(position, view):
        height = position.height(src)
        if height == 2 and line and not line[0] & view.foreign:
            continue  # the top cube one cell further: a relocation
        landed = sum(line)
        spared = ~(landed * 15)
        heights = tuple(
            h - src * (height - 1) + landed if other == seat else h & spared
            for other, h in enumerate(position.heights)
        )
        if heights not in seen:
            seen.add(heights)
            yield heights, (_TIP, src, step)


def drawn_move(
    rules: Movement, position: QbqPosition, view: View, rng: random.Random
) -> Move | None:
    """A relocation, an insertion or a tip, or nothing where the dice fell on none."""
    kind = rng.randrange(3)
    if kind == 0:
        tips = list(rules.tips(position, view))
        if not tips:
            return None
        src, step, _ = rng.choice(tips)
        return _TIP, src, step
    at = 0
    if kind == 1:
        places = list(bits(rules.insertions(view)))
        if not places:
            return None
        at = rng.choice(places)
        view = rules.inserted(view, at)
    sources = rules.relocations(view, inserted=bool(at))
    if not sources:
        return None
    src, targets = rng.choice(sources)
    return at, src, rng.choice(list(bits(targets)))
