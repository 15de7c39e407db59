"""Who sits in which corner of the QBQ board (QBQ-R19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from rules.cells import Cell
from rules.errors import NotationError, SetupError
from rules.qbq_board import Geometry

# the number of the corner, clockwise from a1, in which a colour's start cells are printed
PRINTED = {"B": 0, "R": 1, "O": 2, "G": 3}
_PREFIX = "corner."


def given_corners(
    details: Mapping[str, str], players: tuple[str, ...], geometry: Geometry
) -> dict[str, int]:
    """The corners that the table names, as numbers clockwise from a1; raises SetupError."""
    corners = geometry.corners()
    found: dict[str, int] = {}
    for key, name in details.items():
        player = key.removeprefix(_PREFIX)
        if player not in players:
            raise SetupError(f"{key} = {name!r}: {player} is none of the players {players}")
        try:
            cell = Cell.parse(name.strip())
        except NotationError:
            cell = Cell(-1, -1)
        if cell not in corners:
            known = ", ".join(map(str, corners))
            raise SetupError(f"{key} = {name!r}: expected a corner of the board, one of {known}")
        if corners.index(cell) in found.values():
            raise SetupError(f"{key} = {name!r}: another player sits in that corner")
        found[player] = corners.index(cell)
    return found


def usual_corners(
    players: tuple[str, ...], seating: str, given: Mapping[str, int]
) -> dict[str, int]:
    """A corner for every player: the named one, else the printed one, else the next that fits.

    Who begins has no say in it.
    """
    found = dict(given)
    for player in sorted(players, key=PRINTED.__getitem__):
        if player not in found:
            turns = [(PRINTED[player] + turn) % 4 for turn in range(4)]
            found[player] = next(
                corner
                for corner in turns
                if corner not in found.values()
                and fits({**found, player: corner}, players, seating)
            )
    return {player: found[player] for player in players}


def all_corners(
    players: tuple[str, ...], seating: str, given: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Every way to sit that the table leaves open."""
    for corners in permutations(range(4), len(players)):
        found = dict(zip(players, corners, strict=True))
        if all(found[p] == corner for p, corner in given.items()) and (
            len(given) == len(players) or fits(found, players, seating)
        ):
            yield found


def fits(corners: Mapping[str, int], players: tuple[str, ...], seating: str) -> bool:
    """Whether two players sit as agreed; with more there is nothing to agree on."""
    if len(players) != 2 or len(corners) < 2:
        return True
    one, two = corners.values()
    return ((one - two) % 4 == 2) == (seating == "opposite")
