"""Every rule that an action of QBQ breaks, each tested as if the others were kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules.cells import Cell
from rules.game import Break
from rules.qbq_actions import Action, Add, Enter, Handled, Insert, Relocate, Tip, fall
from rules.qbq_board import CUBES, Geometry, QbqPosition, View
from rules.qbq_moves import Movement
from rules.stacks import Stacks


@dataclass(frozen=True, slots=True)
class Table:
    """One position as the rules are tested on it."""

    rules: Movement
    position: QbqPosition
    view: View
    stacks: Stacks

    @property
    def board(self) -> Geometry:
        """Sets of cells."""
        return self.rules.geometry

    def bit(self, cell: Cell) -> int:
        """The cell as a set, 0 beside the board."""
        return self.board.bit_of.get(cell, 0)


def breaks_of(table: Table, action: Action, handled: Handled) -> tuple[Break, ...]:
    """Every rule that an action breaks."""
    own = bool(table.view.cubes)
    match action:
        case Enter(at):
            found = [*_entering(table, at)]
        case Add(at):
            found = [*_inserting(table, at), Break("qbq.relocation-missing", _named(at))]
        case Relocate(src, dst):
            found = [*_relocating(table, table.view, src, dst)]
        case Insert(at, src, dst):
            found = [*_inserting(table, at), *_after_inserting(table, at, src, dst)]
        case Tip(src, step):
            found = [*_tipping(table, src, step, handled)]
    if not isinstance(action, Tip) and handled.captured:
        found.append(Break("qbq.not-own-cube", _named(*handled.captured)))
    if handled.hollow:
        found.append(Break("qbq.nothing-there", _named(*handled.hollow)))
    if not own and not isinstance(action, Enter):
        found.append(Break("qbq.must-enter", (), (("player", table.position.player),)))
    return tuple(dict.fromkeys(found))


# --- relocating ------------------------------------------------------------------------------


def _relocating(
    table: Table, view: View, src: Cell, dst: Cell, *, inserted: bool = False
) -> Iterator[Break]:
    """Rules about the cube, then about its new place, then about what that does to groups."""
    board = table.board
    lifted, landed = table.bit(src), table.bit(dst)
    movable = False
    if lifted & view.foreign:
        yield Break("qbq.not-own-cube", _named(src))
    elif not lifted & view.own:
        yield Break("qbq.nothing-there", _named(src))
    elif not (lifted & view.deep or board.beside(lifted) & view.own):
        yield Break("qbq.lone-cube-frozen", _named(src))
        movable = True
    else:
        movable = True
    if landed and landed == lifted:
        yield Break("qbq.same-cell", _named(dst))
        return
    if not landed:
        yield Break("qbq.off-board", _named(dst))
    if landed & view.foreign:
        yield Break("qbq.onto-foreign", _named(dst))
    if movable:
        yield from _regrouping(table, view, lifted, landed, inserted=inserted)


def _regrouping(
    table: Table, view: View, lifted: int, landed: int, *, inserted: bool
) -> Iterator[Break]:
    """Whether the cube stays with its group, and the group together (QBQ-R4, R5).

    A cube that lands beside the board touches nothing, but what it leaves behind may fall apart.
    """
    board, rules = table.board, table.rules
    home = board.group(view.own, lifted)
    rest = home if lifted & view.deep else home ^ lifted
    others = view.own ^ home
    place = board.cells(landed)
    near = landed | board.beside(landed)
    if landed and not near & rest:
        if near & others:
            if not (rules.crossing and inserted):
                yield Break("qbq.other-group", place)
        elif rest:
            only = board.cornering(landed) & (rest | others)
            yield Break("qbq.diagonal-only" if only else "qbq.not-connected", place)
    parts = board.groups(rest)
    if len(parts) > 1:
        met = [part for part in parts if part & near]
        together = len(met) == len(parts)
        if rules.counting:
            together = len(met) + sum(1 for g in board.groups(others) if g & near) >= len(parts)
        if not together:
            yield Break("qbq.splits-group", board.cells(rest))
    lone = [part for part in parts if _becomes_lone(view, part, lifted) and not part & near]
    if lone:
        yield Break("qbq.leaves-lone-cube", board.cells(sum(lone)))


def _becomes_lone(view: View, part: int, lifted: int) -> bool:
    """Whether a part of a group is one single cube when the lifted one has gone."""
    if part & part - 1:
        return False
    return not part & (view.high if part == lifted else view.deep)


_LEAVING = (
    "qbq.nothing-there",
    "qbq.lone-cube-frozen",
    "qbq.other-group",
    "qbq.splits-group",
    "qbq.leaves-lone-cube",
)


# --- inserting -------------------------------------------------------------------------------


def _inserting(table: Table, at: Cell) -> Iterator[Break]:
    """Rules about a cube from the supply; without a group of one's own there are none."""
    view, board = table.view, table.board
    place = table.bit(at)
    if view.cubes >= CUBES:
        yield Break("qbq.supply-empty", (), (("player", table.position.player),))
    if not place:
        yield Break("qbq.off-board", _named(at))
        return
    if place & view.foreign:
        yield Break("qbq.onto-foreign", _named(at))
    if view.own and not (place | board.beside(place)) & view.own:
        only = board.cornering(place) & view.own
        yield Break("qbq.diagonal-only" if only else "qbq.not-connected", _named(at))


def _after_inserting(table: Table, at: Cell, src: Cell, dst: Cell) -> Iterator[Break]:
    """The rules of the relocation on the board with the inserted cube."""
    place = table.bit(at)
    before = view = table.view
    if place:
        view = table.rules.inserted(view, place)
        view = view._replace(foreign=view.foreign & ~place)
    joined = (place | table.board.beside(place)) & before.own and not place & before.foreign
    for broken in _relocating(table, view, src, dst, inserted=True):
        # a wrongly inserted cube that moves on leaves no group behind
        if joined or src != at or broken.rule not in _LEAVING:
            yield broken


# --- entering --------------------------------------------------------------------------------


def _entering(table: Table, at: Cell) -> Iterator[Break]:
    """Rules about the one cube of a player who has none on the board (QBQ-R16)."""
    position, view = table.position, table.view
    place = table.bit(at)
    starts = position.layout.starts[position.seat]
    if view.cubes:
        yield Break("qbq.enter-has-cubes", _named(at), (("player", position.player),))
    if not place:
        yield Break("qbq.off-board", _named(at))
        return
    taken = view.own | view.foreign
    if place & taken:
        yield Break("qbq.enter-occupied", _named(at))
    if starts & ~taken:
        if not place & starts:
            yield Break("qbq.enter-start-cell-free", table.board.cells(starts & ~taken))
    elif not place & _within_reach(table.board, starts, taken):
        yield Break("qbq.enter-not-nearest", _named(at))


def entrances(board: Geometry, position: QbqPosition, view: View) -> int:
    """The cells on which a player without cubes may put one."""
    taken = view.own | view.foreign
    starts = position.layout.starts[position.seat]
    return _within_reach(board, starts, taken) & ~taken


def _within_reach(board: Geometry, starts: int, taken: int) -> int:
    """All cells no further from the start cells than the nearest free one; cubes do not hinder."""
    reach = starts
    while not reach & ~taken and reach != board.all:
        reach |= board.beside(reach)
    return reach


# --- tipping ---------------------------------------------------------------------------------


def _tipping(table: Table, src: Cell, step: tuple[int, int], handled: Handled) -> Iterator[Break]:
    """Rules about the tower, the line of fall, and the cubes that were taken off it."""
    stacks, player = table.stacks, table.position.player
    tower = stacks.get(src, "")
    if tower != player * len(tower):
        yield Break("qbq.not-own-cube", _named(src))
    if 0 not in step:
        yield Break("qbq.diagonal-tip", _named(src))
    cells = [cell for cell in fall(src, step, max(1, len(tower) - 1)) if table.bit(cell)]
    if len(tower) < 2:
        yield Break("qbq.no-tower", _named(src))
    else:
        far = CUBES * CUBES if table.rules.whole_line else len(cells)
        line = [cell for cell in fall(src, step, far) if table.bit(cell)]
        yield from _in_the_way(table, src, line)
    foreign = {c: stacks[c] for c in cells if c in stacks and stacks[c][-1] != player}
    taken = [c for c in handled.captured if c not in foreign]
    if taken:
        yield Break("qbq.not-own-cube", _named(*taken))
    left = [c for c, stack in foreign.items() if handled.captured.count(c) < len(stack)]
    if left:
        yield Break("qbq.onto-foreign", _named(*left))


def _in_the_way(table: Table, src: Cell, line: list[Cell]) -> Iterator[Break]:
    """Stacks in the line of fall that are too high (QBQ-R11, R13)."""
    stacks, player = table.stacks, table.position.player
    height = len(stacks[src])
    standing = [(c, stacks[c]) for c in line if c in stacks]
    foreign = [(c, len(stack)) for c, stack in standing if stack[-1] != player]
    facts = (("tower", str(src)), ("height", height))
    equal = [c for c, other in foreign if other == height]
    if equal:
        yield Break("qbq.tip-equal-height", _named(*equal), facts)
    higher = [c for c, other in foreign if other > height]
    if higher:
        yield Break("qbq.tip-higher-tower", _named(*higher), facts)
    own = [c for c, stack in standing if stack[-1] == player and len(stack) >= height]
    if own and table.rules.own_blocks:
        yield Break("qbq.own-stack-blocks", _named(*own), facts)


def _named(*cells: Cell) -> tuple[Cell, ...]:
    """The cells of a reason, each once, as far as they have names."""
    return tuple(cell for cell in dict.fromkeys(cells) if 0 <= cell.file < 26 and cell.rank >= 0)
