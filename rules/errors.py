"""Everything that can go wrong with what people give us, and what to say then.

KiebitzError                 a sentence for the user; the program ends with `exit_code`
+-- RulesError
    +-- NotationError        text that is no cell, stack, position or turn
    +-- RecordError          a line of a written record, with line and column
    +-- UnknownName          no such game, option or colour; tells the nearest known one
    +-- SetupError           a game cannot be set up like this
    +-- ImpossibleChange     there is nothing to take away, or the piece does not fit the lattice
    +-- IllegalTurn          the rules forbid it; carries every reason
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.game import Break


class KiebitzError(Exception):
    """A mistake that its message explains; never shown as a traceback."""

    exit_code = 2


class RulesError(KiebitzError):
    """Base of all errors of this package."""


class NotationError(RulesError, ValueError):
    """A text that is no cell, stack, position or turn."""


class RecordError(RulesError, ValueError):
    """A line of a written record that cannot be read."""

    def __init__(self, message: str, *, line: int, column: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column


class UnknownName(RulesError, ValueError):
    """A name that is not among the known ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown {what} {name!r}{nearest(name, known)}")


class SetupError(RulesError, ValueError):
    """A game that cannot be set up as asked."""


class ImpossibleChange(RulesError, ValueError):
    """A physical change that cannot happen to these stacks."""


class IllegalTurn(RulesError, ValueError):
    """A turn that the rules forbid, with every reason."""

    def __init__(self, breaks: tuple[Break, ...]) -> None:
        super().__init__("; ".join(b.say("en") for b in breaks))
        self.breaks = breaks


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest known name, or all of them when none is near."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known are {', '.join(names)}" if names else ""
