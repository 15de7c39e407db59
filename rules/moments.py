"""Moments: scenes as they were played, so that they can be played again with what was hidden.

A piece that nobody saw when it was put down shows itself when another one rests on it. Then the
scenes since it can have come are told anew with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from rules.book import Book
from rules.cells import Cell
from rules.looks import completed, spellings
from rules.stacks import Stacks

MOST_MOMENTS = 10  # scenes that may be played again
MOST_PIECES = 2  # cells on which something was hidden at once
MOST_CHOICES = 8  # stacks that are tried for that
MOST_TRIES = 30  # ways to play it again; each takes some milliseconds a scene


class Waiting(NamedTuple):
    """What stands there unexplained, and since when: it may be mended, or may go on."""

    stacks: Stacks
    since: float
    begun: bool = False  # a legal turn is in it, and perhaps the beginning of the next one
    fresh: bool = False  # that legal turn comes after the open one
    theirs: bool = False  # another player's piece is gone, by the hand of who has just moved
    back: bool = False  # an illegal turn was taken back in part, and perhaps will be as a whole


class Asked(NamedTuple):
    """A scene that the players were asked about, and how it blames nobody, if that is known."""

    t: float
    scene: Stacks
    innocent: Stacks | None
    hand: str | None  # who had reached in
    breach: bool = False  # whatever the answer is, somebody has done something wrong


class Moment(NamedTuple):
    """A scene as it was played, and what was believed before it."""

    t: float
    stacks: Stacks
    hand: str | None
    book: Book
    waiting: Waiting | None


class Again(NamedTuple):
    """Some scenes with what was hidden in them, and the scene that shows it."""

    back: int  # the number of the first one
    moments: tuple[Moment, ...]
    cells: tuple[Cell, ...]
    now: Stacks


def again(
    moments: Sequence[Moment],
    seen: Stacks,
    doubted: Mapping[Cell, Iterable[str]],
    letters: Iterable[str],
) -> Iterator[Again]:
    """The ways in which the last scenes may have hidden something, what is simplest first.

    `doubted` are stacks that may have stood there, by what was read then.
    """
    tries = 0
    for cells, now in _hidden(moments, seen, doubted, tuple(letters)):
        for back in range(len(moments) - 1, -1, -1):
            if any(
                moments[back].stacks.get(cell) != moments[-1].stacks.get(cell) for cell in cells
            ):
                break  # it came later than that
            tries += 1
            if tries > MOST_TRIES:
                return
            anew = tuple(
                moment._replace(stacks=Stacks({**moment.stacks, **cells}))
                for moment in moments[back:]
            )
            # With it, what seemed half a turn may be a breach, although all was put right soon.
            for scenes in dict.fromkeys((anew, _without_detours(anew))):
                yield Again(back, scenes, tuple(sorted(cells)), now)


def _without_detours(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """The same moments but for scenes after which all stood as before: a piece nudged, say."""
    kept: list[Moment] = []
    for moment in moments:
        if len(kept) > 1 and kept[-2].stacks == moment.stacks:
            kept.pop()
        else:
            kept.append(moment)
    return tuple(kept)


def _hidden(
    moments: Sequence[Moment],
    seen: Stacks,
    doubted: Mapping[Cell, Iterable[str]],
    letters: Sequence[str],
) -> Iterator[tuple[dict[Cell, str], Stacks]]:
    """What may have stood there unseen, one cell or more, and how the scene is spelled then."""
    if not moments:
        return
    before = moments[-1].stacks
    for count in range(1, MOST_PIECES + 1):
        for now in spellings(seen, letters):
            choices = [*dict.fromkeys(_below(before, seen, now, doubted))][:MOST_CHOICES]
            for picked in combinations(choices, count):
                if len({cell for cell, _ in picked}) == count:
                    yield dict(picked), now


def _below(
    before: Stacks, seen: Stacks, now: Stacks, doubted: Mapping[Cell, Iterable[str]]
) -> Iterator[tuple[Cell, str]]:
    """What may have stood under what is seen: by what was doubted, or as nobody has seen it."""
    for cell in before.differing(now):
        old, stack = before.get(cell, ""), now.get(cell, "")
        hidden = {completed(choice, stack) for choice in doubted.get(cell, ())}
        for high in range(len(old) + 1, len(stack) + 1):
            unseen = seen[cell][high - 1] == "?" or stack[:high] in hidden
            if unseen and stack.startswith(old):
                yield cell, stack[:high]
