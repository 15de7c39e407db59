"""Taking a CUBE table as it stands, whatever led there, and finding whole pieces in its units."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from rules.cells import Cell
from rules.cube_acts import NEIGHBOURS, Columns, act_of, column_of, explanations
from rules.cube_cards import COLOURS, SIDE
from rules.cube_end import settled
from rules.cube_house import House
from rules.cube_position import CUBES_A_COLOUR, CubePosition, Place

Pair = tuple[Place, Place]
_MANY = 8  # more ways to see pieces in the units than this are not followed
_WAYS = 3  # for one colour


def as_pieces(old: Columns, seen: Columns, twins: str) -> list[Columns]:
    """Seen columns with their twins, in every likely way, the most likely first.

    A twin that stood before stands still, if its units do. A new pair of one colour is a twin if
    both units appeared together, or if there are more units than cubes. `twins` are the colours
    that the players have.
    """
    ways = [_twin_ways(old, seen, letter, letter in twins) for letter in COLOURS]
    ranked = sorted(product(*(range(len(way)) for way in ways)), key=sum)
    return [
        _with_twins(seen, [way[k] for way, k in zip(ways, picks, strict=True)])
        for picks in islice(ranked, _MANY)
    ]


def _twin_ways(old: Columns, seen: Columns, letter: str, in_play: bool) -> list[Pair | None]:
    """Where the twin of a colour can stand, `None` for nowhere."""
    known = tuple(_places(old, letter.lower()))
    units = set(_places(seen, letter))
    if len(known) == 2 and units.issuperset(known):
        return [(known[0], known[1])]
    stood = {place for place in units if old[place[0]][place[1] : place[1] + 1].upper() == letter}
    fresh = units - stood
    pairs = sorted(_pairs(units), key=lambda pair: -len(fresh.intersection(pair)))
    if len(units) > CUBES_A_COLOUR:
        return [*pairs[:_WAYS]] or [None]
    new = [pair for pair in pairs if fresh.issuperset(pair)][:_WAYS]
    if not in_play or not new:
        return [None]
    return [new[0], None] if len(fresh) == 2 else [None, *new]


def _places(columns: Columns, letter: str) -> Iterator[Place]:
    for i, column in enumerate(columns):
        for level, c in enumerate(column):
            if c == letter:
                yield i, level


def _pairs(units: set[Place]) -> Iterator[Pair]:
    """All pairs of units that can be one twin."""
    for i, level in sorted(units):
        if (i, level + 1) in units:
            yield (i, level), (i, level + 1)
        for j in (i + 1, i + SIDE):
            if (j, level) in units and (i, j) in NEIGHBOURS:
                yield (i, level), (j, level)


def _with_twins(seen: Columns, twins: list[Pair | None]) -> Columns:
    rows = [list(column) for column in seen]
    for pair in twins:
        for i, level in pair or ():
            rows[i][level] = rows[i][level].lower()
    return tuple("".join(row) for row in rows)


def adopted(
    house: House, position: CubePosition, seen: Columns, player: str
) -> Iterator[CubePosition]:
    """The positions that these columns can be, `player` to move; see `Game.adopt`.

    Where the turn has passed on, the change counts as the turn of whoever had it.
    """
    passed = player != position.player
    actor = (
        house.following(position.mover, position.cards) if position.claiming else position.player
    )
    ahead = (house.seats[player] - house.seats[actor]) % len(house.players) if passed else 0
    moved, goal = _moved_cube(position.columns, seen)
    taboo = goal if passed else position.taboo
    if not passed and taboo >= 0 and seen[taboo] != position.columns[taboo].upper():
        taboo = -1
    if passed and moved is None and not house.taboo_placed:
        taboo = -1
    for columns in as_pieces(position.columns, seen, "".join(house.twins.values())):
        standing = "".join(columns)
        after = position._replace(
            player=player,
            columns=columns,
            ply=position.ply + ahead,
            taboo=taboo,
            used="".join(p for p in house.players if house.twins[p].lower() in standing),
            start=tuple(_frozen(position, columns, moved, goal)),
            mover=actor if passed else position.mover,
            claiming=position.claiming and not passed,
        )
        if not house.first_round(after):
            after = after._replace(start=())
        yield after if after.claiming else settled(house, after)


def _moved_cube(old: Columns, seen: Columns) -> tuple[Place | None, int]:
    """Where the one cube stood that was moved, if one was; and where the moved or new one is."""
    changes = next(explanations(old, seen), ())
    act = act_of(old, changes) if 0 < len(changes) < 3 else None
    if act is None or act.kind not in ("move", "draw"):
        return None, -1
    goal = _column(act.cells[0])
    return (_column(act.source), act.level) if act.source else None, goal


def _column(cell: Cell) -> int:
    place = column_of(cell)
    return -1 if place is None else place


def _frozen(
    position: CubePosition, columns: Columns, moved: Place | None, goal: int
) -> Iterator[Place]:
    """The start cubes where they stand now."""
    for column, level in position.start:
        if (column, level) == moved:
            yield goal, len(columns[goal]) - 1
        elif columns[column][level : level + 1] == position.columns[column][level]:
            yield column, level
