"""Seats: from which side of the table each player reaches in, learned turn by turn.

Where the pieces do not show who moved them, the arm does, if everybody sits at another side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

FEWEST = 2  # turns of a player before his side counts (2 to 4)
ONE_SIDE = 0.7  # how much of a player's directions must be common, or he has no side (0.5 to 0.9)
CLEARER_H = 1.5  # hours by which a hand must be nearer to one player than to all others (1 to 2)
FAR_H = 3.0  # nobody whose side is known reaches in from so far beside it (2.5 to 4)
ACROSS_H = 4.5  # hands that come from so far apart are two players' (4 to 6)


def apart(one: float, other: float) -> float:
    """How many hours lie between two, the shorter way round."""
    return abs((one - other + 6.0) % 12.0 - 6.0)


def across(one: float, other: float) -> bool:
    """Whether nobody reaches in from both of these hours."""
    return apart(one, other) >= ACROSS_H


class Seats:
    """The hours, as on a clock that lies on the table, from which players have reached in."""

    def __init__(self) -> None:
        self._hours: dict[str, list[float]] = {}

    def note(self, player: str, hour: float) -> None:
        """The player of a turn, and from where it was made."""
        self._hours.setdefault(player, []).append(hour)

    def whose(self, hour: float, players: Sequence[str]) -> str | None:
        """The player whose hand came from there; None where that could be several of them.

        It is that of the one player whose side is not known, if it comes from nobody else's.
        """
        sides = {player: self._side(player) for player in players}
        off = sorted((apart(hour, s), player) for player, s in sides.items() if s is not None)
        unknown = [player for player, side in sides.items() if side is None]
        if unknown:
            nobody_elses = off and off[0][0] >= FAR_H
            return unknown[0] if len(unknown) == 1 and nobody_elses else None
        if len(off) < 2 or off[1][0] - off[0][0] < CLEARER_H:
            return None
        return off[0][1]

    def _side(self, player: str) -> float | None:
        """The middle of the hours from which a player has reached in, if they have one."""
        angles = [math.radians(30.0 * hour) for hour in self._hours.get(player, ())]
        if len(angles) < FEWEST:
            return None
        x = sum(map(math.sin, angles)) / len(angles)
        y = sum(map(math.cos, angles)) / len(angles)
        if math.hypot(x, y) < ONE_SIDE:
            return None
        return math.degrees(math.atan2(x, y)) / 30.0 % 12.0
