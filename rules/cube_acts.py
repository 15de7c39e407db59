"""What a turn of CUBE does in effect, in both directions: written changes, and columns seen.

Columns are the sixteen stacks, rank by rank from a1, letters from bottom to top. In a position the
halves of twins are small letters, because a twin never moves again; seen units are all capital.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rules.cells import Cell
from rules.cube_cards import COLOURS, SIDE
from rules.pieces import TWIN, Extent
from rules.turn import Change, flat

Columns = tuple[str, ...]
UPRIGHT = Extent(1, 1, 2)
CELLS = tuple(Cell(i % SIDE, i // SIDE) for i in range(SIDE * SIDE))
# The pairs of neighbouring columns on which a flat twin can lie.
NEIGHBOURS = tuple(
    (i, j)
    for i in range(SIDE * SIDE)
    for j in (i + 1, i + SIDE)
    if j < SIDE * SIDE and CELLS[i].touches(CELLS[j])
)


def column_of(cell: Cell) -> int | None:
    """The number of a cell's column, or None beside the board."""
    inside = 0 <= cell.file < SIDE and 0 <= cell.rank < SIDE
    return cell.rank * SIDE + cell.file if inside else None


class Act(NamedTuple):
    """The net effect of a turn.

    `lift` is a cube taken and not yet put down, `fixed` a twin taken away, `nothing` leaves the
    table as it was, and `other` is no action of the game. `level` counts from 0 within the source
    column; it is -1 where no such cube stands.
    """

    kind: Literal["draw", "move", "lift", "twin", "fixed", "nothing", "other"]
    cells: tuple[Cell, ...] = ()
    letter: str = ""
    source: Cell | None = None
    level: int = -1


def act_of(columns: Columns, changes: tuple[Change, ...]) -> Act:
    """What these changes do together; their order does not matter where the result is the same."""
    if not all(_is_piece(change) for change in changes):
        return Act("other")
    if len(changes) == 1:
        return _act_of_one(columns, changes[0])
    if len(changes) == 2 and changes[0].add != changes[1].add:
        gone, put = changes if changes[1].add else changes[::-1]
        if is_twin(gone):
            return Act("fixed", gone.cells())
        if _is_cube(put):
            return _act_of_pair(columns, gone, put, put_first=changes[0].add)
    return _act_of_many(columns, changes)


def _is_piece(change: Change) -> bool:
    """Whether such a piece is in the box."""
    known = change.letter in (*COLOURS, "?") or not change.add
    return known and (_is_cube(change) or is_twin(change))


def _is_cube(change: Change) -> bool:
    return change.other is None and change.extent == (1, 1, 1)


def is_twin(change: Change) -> bool:
    """Whether a change is about a two-unit piece (which two cells it names is another matter)."""
    return change.other is not None or change.extent in TWIN.extents


def _act_of_one(columns: Columns, change: Change) -> Act:
    if is_twin(change):
        return Act("twin" if change.add else "fixed", change.cells(), change.letter)
    if change.add:
        return Act("draw", (change.cell,), change.letter)
    return Act("lift", (), change.letter, change.cell, _level(columns, change))


def _level(columns: Columns, gone: Change) -> int:
    """Where the cube stands that was taken: the top one, or the highest of the colour named."""
    place = column_of(gone.cell)
    if place is None:
        return -1
    column = columns[place].upper()
    if gone.letter in ("", "?") or column.endswith("?"):
        return len(column) - 1
    return column.rfind(gone.letter)


def _act_of_pair(columns: Columns, gone: Change, put: Change, *, put_first: bool) -> Act:
    """One cube away and one put down."""
    level = _level(columns, gone)
    place = column_of(gone.cell)
    letter = columns[place][level].upper() if place is not None and level >= 0 else put.letter
    if "?" not in (letter, put.letter) and letter != put.letter:
        return Act("nothing") if put_first and put.cell == gone.cell else Act("other")
    if level < 0 and put_first and put.cell == gone.cell:
        return Act("nothing")
    if level < 0 and gone.letter not in ("", "?", put.letter):
        return Act("other")
    return Act("move", (put.cell,), put.letter if letter == "?" else letter, gone.cell, level)


def _act_of_many(columns: Columns, changes: tuple[Change, ...]) -> Act:
    """Longer or odder successions: done one after another, then explained as one action."""
    lifted: set[int] = set()
    new = list(columns)
    for change in changes:
        if not _do(new, change, lifted):
            return Act("other")
    after = tuple(new)
    if after == columns:
        if not lifted:
            return Act("nothing")
        place = min(lifted)
        letter = columns[place][-1].upper()
        cell = CELLS[place]
        return Act("move", (cell,), letter, cell, len(columns[place]) - 1)
    twins = any(change.add and is_twin(change) for change in changes)
    for simpler in explanations(columns, after):
        short = len(simpler) == 1 or (len(simpler) == 2 and simpler[0].add != simpler[1].add)
        if short and twins == any(map(is_twin, simpler)):
            return act_of(columns, simpler)
    return Act("other")


def _do(columns: list[str], change: Change, lifted: set[int]) -> bool:
    """Does one change to the columns, and notes those from which a cube was lifted."""
    places = [column_of(cell) for cell in change.cells()]
    height = change.extent.height
    levels = {len(columns[place]) for place in places if place is not None}
    if None in places or len(levels) != 1 or not change.one_piece:
        return False
    for place in places:
        assert place is not None  # noqa: S101 - told above
        column = columns[place]
        if change.add:
            letter = change.letter.lower() if is_twin(change) else change.letter
            columns[place] = column + letter * height
            continue
        top = column[-height:]
        if len(top) < height or change.letter not in ("", "?", *top.upper()):
            return False
        columns[place] = column[:-height]
        lifted.add(place)
    return True


# --- from what a camera saw ----------------------------------------------------------------------


def explanations(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Change, ...]]:
    """The changes that can have made new columns of old ones, the most likely first."""
    before, after = compared(old, new)
    differing = [i for i in range(SIDE * SIDE) if before[i] != after[i]]
    if len(differing) == 1:
        yield from _within(differing[0], before[differing[0]], after[differing[0]])
    elif len(differing) == 2:
        yield from _between(differing[0], differing[1], before, after)
    if differing:
        yield tuple(_units(before, after, differing))


def compared(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides in capitals, where a unit that one side does not know is what the other says."""
    before, after = [], []
    for left, right in zip(old, new, strict=True):
        here, there = list(left.upper()), list(right.upper())
        for level, (a, b) in enumerate(zip(here, there, strict=False)):
            if "?" in (a, b):
                here[level] = there[level] = b if a == "?" else a
        before.append("".join(here))
        after.append("".join(there))
    return before, after


def _within(place: int, old: str, new: str) -> Iterator[tuple[Change, ...]]:
    """Changes of one column."""
    cell = CELLS[place]
    level = _taken(old, new)
    if level is not None:
        yield (_lift(cell, old, level),)
    elif new.startswith(old) and len(new) == len(old) + 2 and new[-1] == new[-2] != "?":
        yield (Change(True, cell, new[-1], UPRIGHT),)
    elif (level := _pulled_up(old, new)) is not None:
        yield _lift(cell, old, level), Change(True, cell, new[-1])


def _between(
    first: int, second: int, old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[Change, ...]]:
    """Changes of two columns: a cube moved, or a twin laid across."""
    for source, target in ((first, second), (second, first)):
        level = _taken(old[source], new[source])
        if level is not None and new[target][:-1] == old[target]:
            letter = old[source][level]
            if new[target][-1] in (letter, "?"):
                gone = _lift(CELLS[source], old[source], level)
                yield gone, Change(True, CELLS[target], letter)
    base = max(len(old[first]), len(old[second]))
    letter = new[first][-1:]
    across = all(new[i] == old[i].ljust(base, ".") + letter for i in (first, second))
    if across and letter != "?" and CELLS[first].touches(CELLS[second]):
        yield (flat(True, CELLS[first], CELLS[second], letter),)


def _taken(old: str, new: str) -> int | None:
    """The level of the one unit that is gone, the highest if it can be several."""
    if len(old) != len(new) + 1:
        return None
    levels = range(len(new), -1, -1)
    return next((k for k in levels if old[:k] + old[k + 1 :] == new), None)


def _pulled_up(old: str, new: str) -> int | None:
    """The level of the unit that now stands on top of its own column."""
    level = _taken(old, new[:-1])
    return level if level is not None and old[level] == new[-1] else None


def _lift(cell: Cell, column: str, level: int) -> Change:
    """A cube taken off a column; one that was covered is told by its colour."""
    covered = level < len(column) - 1
    return Change(False, cell, column[level] if covered else "")


def _units(old: Sequence[str], new: Sequence[str], differing: list[int]) -> Iterator[Change]:
    """Unit by unit: everything that went, then everything that came."""
    same = {i: _common(old[i], new[i]) for i in differing}
    for i in differing:
        yield from [Change(False, CELLS[i])] * len(old[i][same[i] :].replace(".", ""))
    for i in differing:
        yield from (Change(True, CELLS[i], c) for c in new[i][same[i] :] if c != ".")


def _common(old: str, new: str) -> int:
    """How many units from the bottom are the same."""
    pairs = zip(old, new, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
