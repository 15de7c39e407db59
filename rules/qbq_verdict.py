"""The judgement on changes on a QBQ board: what they mean, what they break, what may follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rules.cells import Cell
from rules.errors import ImpossibleChange
from rules.game import Break, Owed
from rules.lattice import Lattice
from rules.qbq_actions import Action, Add, Enter, Handled, Insert, changes_of, handle, meant
from rules.qbq_board import CUBES
from rules.qbq_breaks import Table, breaks_of, entrances
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes


class Opinion(NamedTuple):
    """Every broken rule, what stands behind the changes, and whether more may follow."""

    breaks: tuple[Break, ...]
    after: Stacks
    unfinished: bool = False
    owed: tuple[Owed, ...] = ()


def opinion(table: Table, handled: Handled, lattice: Lattice, *, in_order: bool) -> Opinion:
    """The judgement on what passed through the player's hands.

    `in_order` says that a cube came in, one was lifted and put down, just as the rules say it:
    then the inserted cube and the relocated one are known. Otherwise any division will do.
    """
    foreign = handled.strange or (handled.captured and not handled.taken)
    actions = [] if foreign else _actions(table, handled, lattice)
    judged = [(breaks_of(table, action, handled), action) for action in actions]
    if not judged:
        breaks = _foreign_hands(table, handled) if foreign else (Break("qbq.malformed"),)
        return Opinion(breaks, handled.after, _may_follow(table, handled))
    breaks, action = min(judged, key=lambda told: len(told[0]))
    if not breaks:
        return Opinion((), handled.after, owed=_still_allowed(table, action))
    if in_order:
        breaks, action = judged[0]
    unfinished = _may_follow(table, handled)
    owed: tuple[Owed, ...] = ()
    if unfinished and isinstance(action, Add):
        owed = (Owed(table.position.player, "relocate", ((action.at, 1),)),)
    return Opinion(breaks, handled.after, unfinished, owed)


def _foreign_hands(table: Table, handled: Handled) -> tuple[Break, ...]:
    """Cubes of others were moved, and not as part of a tip."""
    moved = tuple(dict.fromkeys((*handled.captured, *handled.strange)))
    put = dict.fromkeys((*handled.added, *handled.strange))
    outside = tuple(cell for cell in put if not table.bit(cell) and cell.file < 26)
    found = [Break("qbq.not-own-cube", moved)]
    if outside:
        found.append(Break("qbq.off-board", outside))
    if handled.hollow:
        found.append(Break("qbq.nothing-there", tuple(dict.fromkeys(handled.hollow))))
    if not (table.view.cubes or handled.added):
        found.append(Break("qbq.must-enter", (), (("player", table.position.player),)))
    return tuple(found)


def _actions(table: Table, handled: Handled, lattice: Lattice) -> list[Action]:
    """The actions that the changes can be; a lone new cube depends on who has cubes."""
    found = meant(handled, table.stacks, lattice)
    found = [action for action in found if not isinstance(action, Enter) or _entry(table, action)]
    lone = _lone_cube(handled)
    if lone and not table.view.cubes:
        return [Enter(lone)]
    if lone and handled.taken:
        # something was relocated, with the effect of a cube that came in elsewhere and moved on
        found += _detour(table, lone)
    return found


def _entry(table: Table, action: Enter) -> bool:
    """Whether it looks like entering the board, be it the player's turn for that or not."""
    there = entrances(table.board, table.position, table.view)
    return table.view.cubes < CUBES and bool(table.bit(action.at) & there)


def _lone_cube(handled: Handled) -> Cell | None:
    """The cell of the only new cube, whatever way it took."""
    net = list((Counter(handled.added) - Counter(handled.taken)).elements())
    alone = len(net) == 1 and len(handled.added) == len(handled.taken) + 1
    return net[0] if alone and not (handled.captured or handled.hollow) else None


def _detour(table: Table, dst: Cell) -> list[Action]:
    """The insertion of a cube that was itself relocated: afterwards only one new cube is seen."""
    at = table.rules.detour(table.view, table.bit(dst))
    if not at:
        return []
    cell = table.board.cell_of[at]
    return [Insert(cell, cell, dst)]


def _still_allowed(table: Table, action: Action) -> tuple[Owed, ...]:
    """A relocation, where all that can be seen of a legal turn is one new cube."""
    if not isinstance(action, Insert) or action.at != action.src:
        return ()
    return (Owed(table.position.player, "relocate", ((action.dst, 1),)),)


# --- unfinished turns ------------------------------------------------------------------------


def _may_follow(table: Table, handled: Handled) -> bool:
    """Whether the changes so far are part of a legal turn, in whatever order they came."""
    player, stacks = table.position.player, table.stacks
    ups: list[int] = []
    downs: list[int] = []
    own_only = True
    differing = stacks.differing(handled.after)
    for cell in differing:
        before, after = stacks.get(cell, ""), handled.after.get(cell, "")
        change = len(after) - len(before)
        longer, shorter = (after, before) if change > 0 else (before, after)
        own_only = own_only and change != 0 and longer == shorter + player * abs(change)
        (ups if change > 0 else downs).extend([table.bit(cell)] * abs(change))
    if not differing or 0 in (*ups, *downs):
        return False
    if own_only and table.rules.completes(table.view, ups, downs):
        return True
    tips = table.rules.tips(table.position, table.view)
    return any(_part_of_tip(table, handled.after, src, line) for src, _, line in tips)


def _part_of_tip(table: Table, after: Stacks, src: int, line: list[int]) -> bool:
    """Whether some of a tip's cubes have been moved and nothing else has changed."""
    player, name = table.position.player, table.board.cell_of
    differing = table.stacks.differing(after)
    landing = {name[bit] for bit in line}
    tower = name[src]
    if not set(differing) <= landing | {tower} or not after.get(tower):
        return False
    if len(after.get(tower, "")) > len(table.stacks[tower]):
        return False
    return all(
        after.get(cell, "") in _while_falling(table.stacks.get(cell, ""), player)
        for cell in differing
        if cell != tower
    )


def _while_falling(stack: str, player: str) -> Iterator[str]:
    """What can stand for a moment where a cube falls."""
    if stack and stack[-1] != player:
        for left in range(len(stack)):
            yield stack[:left]
            yield stack[:left] + player
        yield stack + player
    else:
        yield stack + player


# --- what a camera saw -----------------------------------------------------------------------


def turns_between(table: Table, stacks: Stacks, lattice: Lattice) -> list[Turn]:
    """What the player to move can have done to bring these stacks about, or the mere changes."""
    player = table.position.player
    raw = _as_changes(table.stacks, stacks, player)
    if not raw:
        return []
    handled = handle(table.stacks, raw, player)
    found: list[tuple[Change, ...]] = []
    if not handled.strange:
        actions = _actions(table, handled, lattice)
        for action in actions:
            ways = (*_detour(table, action.at), action) if isinstance(action, Add) else (action,)
            found += [changes_of(way, table.stacks, player, lattice) for way in ways]
        found = [c for c in found if _leads_to(table.stacks, c, handled.after, lattice)]
    return [Turn(player, changes) for changes in dict.fromkeys(found or [raw])]


def _as_changes(before: Stacks, after: Stacks, player: str) -> tuple[Change, ...]:
    """The difference as changes: what was taken, then what was put down."""
    away: list[Change] = []
    added: list[Change] = []
    for cell in before.differing(after):
        old, new = before.get(cell, ""), after.get(cell, "")
        same = 0
        while same < min(len(old), len(new)) and new[same] in (old[same], "?"):
            same += 1
        away += [Change(False, cell)] * (len(old) - same)
        added += [Change(True, cell, player if c in "?." else c) for c in new[same:]]
    return (*away, *added)


def _leads_to(before: Stacks, changes: tuple[Change, ...], after: Stacks, lattice: Lattice) -> bool:
    """Whether these changes end in these stacks."""
    try:
        return after_changes(before, changes, lattice) == after
    except ImpossibleChange:
        return False
