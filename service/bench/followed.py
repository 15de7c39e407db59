"""Comparing what was told about a game with what happened: pure counting, no pictures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rules.events import Event
from rules.stacks import Stacks

SOON_S = 2.0  # a turn may be told so long before its hand has left
LATE_S = 5.0  # and a flag belongs to an illegal turn for so long after it


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it happened, or as it was told in the end."""

    n: int
    t: float
    player: str
    legal: bool
    stacks: Stacks
    move: str = ""
    fate: str = ""  # `taken-back` or `kept` for an illegal one

    def same(self, other: "Turn") -> bool:
        """Whether the same thing was done, in whatever order."""
        return (self.player, self.legal, self.stacks) == (other.player, other.legal, other.stacks)


@dataclass(slots=True)
class Counts:
    """What was counted over some games."""

    games: int = 0
    whole: int = 0  # games without any mistake
    turns: int = 0
    right: int = 0
    invented: int = 0
    illegal: int = 0
    flagged: int = 0
    legal: int = 0
    false_flags: int = 0
    fates: int = 0
    fates_right: int = 0
    asked: int = 0
    verdicts_s: list[float] = field(default_factory=list)
    seconds: float = 0.0
    work_s: float = 0.0  # of the processor
    follow_s: float = 0.0  # until a recording has been followed on two cores
    mistakes: list[str] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Adds other games."""
        for name in (
            "games", "whole", "turns", "right", "invented", "illegal", "flagged", "legal",
            "false_flags", "fates", "fates_right", "asked", "seconds", "work_s",
            "follow_s",
        ):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.verdicts_s += other.verdicts_s
        self.mistakes += other.mistakes


def happened(events: Iterable[Event]) -> list[Turn]:
    """The turns of the truth, those that nobody can see left out."""
    return [turn for turn in _turns(events) if not _unseen(turn.move)]


def compare(name: str, truth: Iterable[Event], told: Iterable[Event], late_s: float) -> Counts:
    """The counts of one game; cameras show a hand's leaving `late_s` after it happened."""
    real, events = happened(truth), list(told)
    final = [turn for turn in _turns(events) if not _unseen(turn.move)]
    pairs = aligned(real, final)
    found = Counts(games=1, turns=len(real), right=len(pairs), invented=len(final) - len(pairs))
    found.legal = sum(turn.legal for turn in real)
    found.illegal = len(real) - found.legal
    found.asked = sum(event.event == "ask" for event in events)
    flags = _flags(events)
    # What is wrong is told as soon as it is, however long the rest of that turn takes.
    became = {other.n: turn for turn, other in pairs if not turn.legal}
    theirs = [became.get(flag.n) or _flagged(flag, real) for flag in flags]
    found.flagged = len({turn.n for turn in theirs if turn is not None})
    flags = [flag for flag, turn in zip(flags, theirs, strict=True) if turn is None]
    found.false_flags = len(flags)
    matched = {id(a): b for a, b in pairs}
    for turn in real:
        other = matched.get(id(turn))
        if other is None:
            found.mistakes.append(
                f"{name} {turn.t:.1f} s: {turn.n} {turn.player} {turn.move} missed"
            )
            continue
        if not turn.legal:
            found.fates += 1
            found.fates_right += turn.fate == other.fate
        first = _first_told(events, other)
        found.verdicts_s.append(max(0.0, first - turn.t - late_s))
    for flag in flags:
        found.mistakes.append(f"{name} {flag.t:.1f} s: false flag, {flag.move}")
    found.whole = int(found.right == found.turns and not found.invented and not flags)
    return found


def aligned(real: list[Turn], told: list[Turn]) -> list[tuple[Turn, Turn]]:
    """The longest succession of turns that both lists have in the same order."""
    rows, columns = len(real), len(told)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            if real[i].same(told[j]):
                best[i][j] = best[i + 1][j + 1] + 1
            else:
                best[i][j] = max(best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < rows and j < columns:
        if real[i].same(told[j]):
            pairs.append((real[i], told[j]))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _turns(events: Iterable[Event]) -> list[Turn]:
    """The last version of every turn, with what became of illegal ones."""
    found: dict[int, Turn] = {}
    gone: set[int] = set()
    for event in events:
        data = event.data
        if event.event == "turn" and data["move"].startswith("claim"):
            continue  # it shares the number of the turn before, which stays what it was
        if event.event == "turn":
            found[data["n"]] = _turn(event.t, data)
            gone.discard(data["n"])
        elif event.event in ("taken-back", "kept") and data.get("n") in found:
            old = found[data["n"]]
            if old.legal and event.event == "taken-back":
                gone.add(old.n)
            found[old.n] = _fated(old, event.event)
    return [turn for n, turn in found.items() if n not in gone]


def _turn(t: float, data: Mapping[str, Any]) -> Turn:
    stacks = Stacks.of(data["stacks"])
    return Turn(data["n"], t, data["player"], data["legal"], stacks, data["move"])


def _fated(turn: Turn, fate: str) -> Turn:
    return Turn(turn.n, turn.t, turn.player, turn.legal, turn.stacks, turn.move, fate)


def _unseen(move: str) -> bool:
    return not move or move == "pass" or move.startswith("claim")


def _flags(events: Iterable[Event]) -> list[Turn]:
    """The first time that each turn was called illegal."""
    found: dict[int, Turn] = {}
    for event in events:
        if event.event == "turn" and not event.data["legal"]:
            found.setdefault(event.data["n"], _turn(event.t, event.data))
    return list(found.values())


def _flagged(flag: Turn, real: Iterable[Turn]) -> Turn | None:
    """The illegal turn that was meant, the one nearest in time; None where there is none."""
    near = [turn for turn in real if not turn.legal and -SOON_S <= flag.t - turn.t <= LATE_S]
    return min(near, key=lambda turn: abs(flag.t - turn.t), default=None)


def _first_told(events: Iterable[Event], turn: Turn) -> float:
    """When this version of a turn was told first."""
    for event in events:
        if (
            event.event == "turn"
            and event.data["n"] == turn.n
            and event.data["legal"] == turn.legal
        ):
            told = _turn(event.t, event.data)
            if told.stacks == turn.stacks:
                return told.t
    return turn.t
