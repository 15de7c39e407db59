"""The actions of QBQ, and which of them a player can have meant by what he did on the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rules.cells import Cell
from rules.lattice import Lattice
from rules.stacks import Stacks
from rules.turn import Change

Step = tuple[int, int]
_STRAIGHT: tuple[Step, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL: tuple[Step, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))


class Relocate(NamedTuple):
    """The top cube of a stack goes elsewhere."""

    src: Cell
    dst: Cell


class Insert(NamedTuple):
    """A cube from the supply, and then a relocation."""

    at: Cell
    src: Cell
    dst: Cell


class Add(NamedTuple):
    """A cube from the supply and nothing more: an insertion without its relocation."""

    at: Cell


class Enter(NamedTuple):
    """The one cube of a player who has none on the board."""

    at: Cell


class Tip(NamedTuple):
    """All cubes of a tower but the lowest fall in one direction."""

    src: Cell
    step: Step


Action = Relocate | Insert | Add | Enter | Tip


class Handled(NamedTuple):
    """What passed through the player's hands, in order."""

    added: tuple[Cell, ...]  # own cubes put down
    taken: tuple[Cell, ...]  # own cubes taken, or tried to take where nothing stood
    captured: tuple[Cell, ...]  # other cubes taken
    strange: tuple[Cell, ...]  # other cubes put down
    put_back: tuple[Cell, ...]  # own cubes that went straight back to where they had been
    fresh: bool  # whether a cube that came in this turn was taken up again
    hollow: tuple[Cell, ...]  # cells from which something was to be taken although nothing stood
    after: Stacks

    @property
    def idle(self) -> bool:
        """Whether nothing was done, or what was done was undone."""
        net = Counter(self.added) == Counter(self.taken) and not self.put_back
        return net and not (self.captured or self.strange)


def handle(stacks: Stacks, changes: Iterable[Change], player: str) -> Handled:
    """What passed through the hands of a player when he made these changes."""
    standing: dict[Cell, str] = {}
    added: list[Cell] = []
    taken: list[Cell] = []
    captured: list[Cell] = []
    strange: list[Cell] = []
    put_back: list[Cell] = []
    hollow: list[Cell] = []
    new: Counter[Cell] = Counter()
    fresh = False
    last: Change | None = None
    for change in changes:
        cell = change.cell
        stack = standing.get(cell, stacks.get(cell, ""))
        if change.add:
            letter = player if change.letter == "?" else change.letter
            (added if letter == player else strange).append(cell)
            standing[cell] = stack + letter
            if letter == player:
                if last and not last.add and last.cell == cell and taken and taken[-1] == cell:
                    put_back.append(cell)
                new[cell] += 1
        else:
            foreign = bool(stack) and stack[-1] != player
            (captured if foreign else taken).append(cell)
            hollow += [] if stack else [cell]
            standing[cell] = stack[:-1]
            if not foreign and new[cell]:
                new[cell] -= 1
                fresh = True
        last = change
    after = Stacks({**stacks, **standing})
    restored = {cell for cell in strange if after.get(cell) == stacks.get(cell)}
    return Handled(
        tuple(added),
        tuple(taken),
        tuple(c for c in captured if c not in restored),
        tuple(c for c in strange if c not in restored),
        tuple(put_back),
        fresh,
        tuple(hollow),
        after,
    )


def meant(handled: Handled, stacks: Mapping[Cell, str], board: Lattice) -> list[Action]:
    """The actions that these changes can be, the most literal one first; none if there is none."""
    added, taken = handled.added, handled.taken
    found: list[Action] = []
    if taken and not handled.fresh:
        found += _tips(handled, stacks, board)
    if len(taken) == 0 and len(added) == 1:
        found += [Add(added[0]), Enter(added[0])]
    elif len(taken) == 1 and len(added) == 1:
        found.append(Relocate(taken[0], added[0]))
    elif len(taken) == 1 and len(added) == 2:
        found += _insertions(handled)
    net = handled if found else _net(handled)
    return found if net == handled else meant(net, stacks, board)


def _insertions(handled: Handled) -> list[Action]:
    """The inserted cube is either of two."""
    one, two = handled.added
    (src,) = handled.taken
    return [Insert(one, src, two), Insert(two, src, one)]


def _net(handled: Handled) -> Handled:
    """The same without cubes that came and went."""
    added, taken = Counter(handled.added), Counter(handled.taken)
    return handled._replace(
        added=tuple((added - taken).elements()),
        taken=tuple((taken - added).elements()),
        put_back=(),
        fresh=False,
    )


def _tips(handled: Handled, stacks: Mapping[Cell, str], board: Lattice) -> list[Action]:
    """The directions in which a tower can have been tipped."""
    src = handled.taken[0]
    falling = len(handled.taken)
    height = len(stacks.get(src, ""))
    lone = falling == height == 1 and handled.captured  # told as no tower
    if set(handled.taken) != {src} or not (falling == height - 1 or lone):
        return []
    landed = Counter(handled.added)
    return [
        Tip(src, step)
        for step in (*_STRAIGHT, *(_DIAGONAL if landed else ()))
        if landed == Counter(cell for cell in fall(src, step, falling) if cell in board)
    ]


def fall(src: Cell, step: Step, count: int) -> list[Cell]:
    """The cells on which the cubes of a tower fall, on the board or beyond."""
    return [Cell(src.file + i * step[0], src.rank + i * step[1]) for i in range(1, count + 1)]


def changes_of(
    action: Action, stacks: Mapping[Cell, str], player: str, board: Lattice
) -> tuple[Change, ...]:
    """The physical changes of an action, in the order in which people make them."""
    match action:
        case Relocate(src, dst):
            return Change(False, src), Change(True, dst, player)
        case Insert(at, src, dst):
            return Change(True, at, player), Change(False, src), Change(True, dst, player)
        case Add(at) | Enter(at):
            return (Change(True, at, player),)
        case Tip(src, step):
            falling = len(stacks.get(src, "")) - 1
            line = [cell for cell in fall(src, step, falling) if cell in board]
            return (*[Change(False, src)] * falling, *_landed(line, stacks, player))


def _landed(line: list[Cell], stacks: Mapping[Cell, str], player: str) -> list[Change]:
    """A cube on every cell of the line; foreign ones make room for it."""
    found: list[Change] = []
    for cell in line:
        stack = stacks.get(cell, "")
        if stack and stack[-1] != player:
            found += [Change(False, cell)] * len(stack)
        found.append(Change(True, cell, player))
    return found
