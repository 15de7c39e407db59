"""Doubt: what may have stood there instead, now or before, and what would follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from rules.book import Book
from rules.cells import Cell
from rules.events import Event, names
from rules.looks import Belief, Look, adopted, look, variants
from rules.patience import Patience
from rules.sentences import sentence
from rules.stacks import Stacks

Chances = Mapping[Cell, Mapping[str, float]]  # of the stacks that a cell may hold


class Mended(NamedTuple):
    """A belief with which a scene is a legal turn, and the cells in which it was wrong."""

    cells: list[Cell]
    stays: bool  # the open turn was really made
    belief: Belief


class Whole(NamedTuple):
    """An open turn that was finished out of sight, and what stands there now."""

    cell: Cell
    turn: Look
    stacks: Stacks  # behind that turn
    now: Stacks


def innocent_instead(
    seen: Stacks, unsure: Chances, least: float, innocent: Callable[[Stacks], bool]
) -> list[Stacks]:
    """Scenes that are at least so likely beside what was seen, and that nobody complains about."""
    return [
        stacks
        for stacks, weight in variants(seen, unsure)
        if weight >= least and stacks != seen and innocent(stacks)
    ]


def differing(seen: Stacks, others: Sequence[Stacks]) -> list[Cell]:
    """The cells on which other scenes differ from what was seen."""
    return sorted({cell for stacks in others for cell in seen.differing(stacks)})


def question(t: float, seen: Stacks, others: Sequence[Stacks], language: str) -> Event:
    """The question which of some scenes stands there."""
    cells = differing(seen, others)
    choices = {
        str(cell): list(dict.fromkeys(stacks.get(cell, "") for stacks in (seen, *others)))
        for cell in cells
    }
    say = sentence("shared.unsure", language, cells)
    return Event("ask", t, {"cells": names(cells), "choices": choices, "say": say})


def likely(doubted: Chances, patience: Patience) -> dict[Cell, list[str]]:
    """What else may have stood on cells, where that was likely enough to come back to it."""
    return {
        cell: [stack for stack, chance in choices.items() if chance >= patience.misread]
        for cell, choices in doubted.items()
    }


def mended(book: Book, stacks: Stacks, doubted: Chances, patience: Patience) -> Mended | None:
    """The fewest cells to correct in what was believed, so that this scene is a legal turn."""
    return next(_mendings(book, stacks, likely(doubted, patience), patience.most_misread), None)


def _mendings(
    book: Book, stacks: Stacks, other: Mapping[Cell, Sequence[str]], most: int
) -> Iterator[Mended]:
    bases = [(False, book.belief)]
    if book.open is not None and book.open.legal:
        bases.insert(0, (True, book.after(book.open)))
    choices = [
        (cell, stack)
        for cell, found in sorted(other.items())
        for stack in found
        if stack != book.standing.get(cell, "")
    ][:most]
    first = book.position.player
    players = sorted(book.game.players, key=lambda player: player != first)
    # Nothing is mended into what cannot stand, unless that was believed all along.
    sound = not book.game.impossible(book.standing)
    for count in range(1, 4):
        for picked in combinations(choices, count):
            cells = dict(picked)
            if len(cells) < count:
                continue
            for stays, base in bases:
                before = Stacks({**base[0].stacks, **cells})
                if sound and book.game.impossible(before):
                    continue
                for player in players:
                    belief = adopted(book.game, base, before, player)
                    if belief and look(book.game, belief, stacks).kind == "legal":
                        yield Mended(sorted(cells), stays, belief)


def whole(book: Book, stacks: Stacks, doubted: Chances, least: float) -> Whole | None:
    """How the open turn was finished if what seemed to be owed was only not seen."""
    opened = book.open
    if opened is None or opened.seen.kind != "owed" or look(book.game, book.belief, stacks).fine:
        return None
    unseen = sorted(
        (-chance, cell, stack)
        for cell, choices in doubted.items()
        for stack, chance in choices.items()
        if chance >= least and stacks.get(cell, "") == opened.stacks.get(cell, "")
    )
    for _, cell, stack in unseen:
        finished, now = opened.stacks.with_stack(cell, stack), stacks.with_stack(cell, stack)
        turn = look(book.game, book.belief, finished)
        if turn.kind == "legal" and look(book.game, turn.after, now).fine:
            return Whole(cell, turn, finished, now)
    return None
