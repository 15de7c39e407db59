"""Patience: how long the referee waits, and what it takes for likely."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds and counts before the referee speaks up."""

    missing_s: float = 1.0  # a piece taken off and nothing added: perhaps only nudged (1 to 10)
    lifted_s: float = 2.0  # a piece that is gone besides a legal turn: by the next player (2 to 10)
    revise_s: float = 3.0  # a piece moved on so soon is the same player's second thought (1 to 5)
    bonus_s: float = 20.0  # a last bonus that nobody uses is declined (10 to 60)
    knocked: int = 3  # so many units gone at once are an accident, not a turn
    doubt: float = 0.05  # an explanation this likely beside the best is worth a question
    seen: float = 0.5  # a piece of which nothing is as likely as this accuses nobody
    misread: float = 0.1  # what was doubted as much may be corrected later (0.05 to 0.3)
    most_misread: int = 8  # stacks that are tried for that, one by one and in threes
