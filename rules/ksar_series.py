"""KSAR's score: the largest set of own and neutral pieces that hang together by their faces."""

from __future__ import annotations

from collections.abc import Iterable

from rules.pieces import Placed


def longest_series(
    pieces: Iterable[Placed], player: str, neutral: str, *, neutral_only: bool
) -> int:
    """How many pieces the longest series of a player has, neutral ones included (KSA-R5).

    Branches are allowed; where `neutral_only` is off, a series needs a piece of the player's own.
    """
    counting = [piece for piece in pieces if piece.letter in (player, neutral)]
    touching = _contacts(counting)
    best = 0
    unseen = set(range(len(counting)))
    while unseen:
        series = {unseen.pop()}
        edge = list(series)
        while edge:
            for near in touching[edge.pop()] - series:
                series.add(near)
                edge.append(near)
        unseen -= series
        if neutral_only or any(counting[i].letter == player for i in series):
            best = max(best, len(series))
    return best


def _contacts(pieces: list[Placed]) -> list[set[int]]:
    """For each piece the others with which it shares some part of a face (KSA-R4)."""
    owner: dict[tuple[int, int, int], int] = {}
    for i, ((file, rank), level, (width, depth, height), _) in enumerate(pieces):
        for x in range(file, file + width):
            for y in range(rank, rank + depth):
                for z in range(level, level + height):
                    owner[x, y, z] = i
    found: list[set[int]] = [set() for _ in pieces]
    for (x, y, z), one in owner.items():
        for near in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)):
            two = owner.get(near, one)
            if two != one:
                found[one].add(two)
                found[two].add(one)
    return found
