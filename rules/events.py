"""Events: what the referee, the follower and the page tell each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rules.cells import Cell
from rules.game import Break, Game, Outcome, Owed
from rules.sentences import sentence
from rules.stacks import Stacks
from rules.turn import Turn


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name, its time in seconds, and what belongs to it, ready for JSON."""

    event: str
    t: float
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The object that is sent and printed."""
        return {"event": self.event, "t": round(self.t, 3), **self.data}


def names(cells: Iterable[Cell]) -> list[str]:
    """Cells as they stand in events."""
    return [str(cell) for cell in cells]


def break_as_dict(broken: Break, language: str) -> dict[str, Any]:
    """A broken rule as it stands in events; `facts` lets a page say it in other languages."""
    said: dict[str, Any] = {"rule": broken.rule, "cells": names(broken.cells)}
    if broken.facts:
        said["facts"] = dict(broken.facts)
    return {**said, "say": broken.say(language)}


def turn_event(
    t: float,
    n: int,
    turn: Turn,
    breaks: Iterable[Break],
    *,
    final: bool,
    score: Mapping[str, int],
    stacks: Stacks,
    language: str,
) -> Event:
    """What a player did and whether it was legal."""
    told = [break_as_dict(b, language) for b in breaks]
    data = {
        "n": n,
        "player": turn.player,
        "move": turn.move,
        "legal": not told,
        "breaks": told,
        "final": final,
        "score": dict(score),
        "stacks": stacks.to_json(),
    }
    return Event("turn", t, data)


def owed_event(t: float, n: int, owed: Owed) -> Event:
    """What the open turn still needs or allows."""
    cells = {str(cell): count for cell, count in owed.cells}
    return Event("owed", t, {"n": n, "player": owed.player, "cells": cells, "what": owed.what})


def over_event(t: float, outcome: Outcome, score: Mapping[str, int], language: str) -> Event:
    """How the game ended."""
    winners = outcome.winners
    data = {
        "winner": None if not winners else winners[0] if len(winners) == 1 else list(winners),
        "reason": outcome.reason,
        "facts": dict(outcome.facts),
        "say": sentence(outcome.reason, language, (), dict(outcome.facts)),
        "score": dict(score),
    }
    return Event("over", t, data)


def outcome_event(t: float, game: Game[Any], position: Any, language: str) -> Event | None:
    """The end of the game at this position, if it is one."""
    outcome = game.outcome(position)
    return outcome and over_event(t, outcome, game.score(position), language)
