"""What everybody may see of a session: built from the events alone, one after another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
_ALERTS = 20


@dataclass(slots=True)
class PlayState:
    """The state of play; `take` brings it up to the next event."""

    phase: str = "setup"
    t: float = 0.0
    next: str | None = None
    may_pass: bool = False
    stacks: dict[str, str] = field(default_factory=dict)  # as seen last
    start: dict[str, str] = field(default_factory=dict)
    confirmed: dict[str, str] = field(default_factory=dict)  # what the record says stands there
    certainty: float | None = None
    unsure: Json = field(default_factory=dict)
    corrected: list[str] = field(default_factory=list)  # misread, as a later scene has shown
    turns: list[Json] = field(default_factory=list)
    score: dict[str, int] = field(default_factory=dict)
    owed: list[Json] = field(default_factory=list)
    asks: list[Json] = field(default_factory=list)
    cameras: dict[str, Json] = field(default_factory=dict)
    over: Json | None = None
    quarters: int = 0

    def take(self, event: Mapping[str, Any]) -> None:
        """Bring the state up to this event; unknown events change nothing."""
        self.t = max(self.t, float(event.get("t", 0.0)))
        if "next" in event:
            self.next = event["next"]
            self.may_pass = bool(event.get("may_pass"))
        handler = getattr(self, f"_{str(event['event']).replace('-', '_')}", None)
        if handler is not None:
            handler(event)

    def _phase(self, event: Mapping[str, Any]) -> None:
        if event["phase"] == "play" and self.phase in ("setup", "over"):
            self.turns, self.owed, self.asks, self.over = [], [], [], None
            self.score = {}  # the game before may have ended on this very table
            self.start = self.confirmed = dict(self.stacks)
        self.phase = event["phase"]

    def _settled(self, event: Mapping[str, Any]) -> None:
        if dict(event["stacks"]) != self.stacks:
            self.asks = []  # the same scene seen anew does not answer what was asked about it
        self.stacks = dict(event["stacks"])
        self.certainty = event.get("certainty")
        self.unsure = dict(event.get("unsure", {}))
        self.corrected = []

    def _corrected(self, event: Mapping[str, Any]) -> None:
        self.corrected = [] if event.get("by") == "players" else list(event["cells"])

    def _turn(self, event: Mapping[str, Any]) -> None:
        kept = self.turns if _is_claim(event) else [t for t in self.turns if t["n"] < event["n"]]
        self.turns = [*kept, dict(event)]
        self.score = dict(event["score"])
        self.owed = []
        if not _is_claim(event):
            self.asks = []
        if event["legal"] or event.get("kept"):
            self.confirmed = dict(event["stacks"])

    def _stand_by_record(self) -> None:
        """What the last turn that stands says about score and position."""
        standing = [turn for turn in self.turns if turn["legal"] or turn.get("kept")]
        self.confirmed = dict(standing[-1]["stacks"]) if standing else dict(self.start)
        self.score = dict(standing[-1]["score"]) if standing else {}

    def _owed(self, event: Mapping[str, Any]) -> None:
        others = [one for one in self.owed if one["what"] != event["what"]]
        self.owed = [*others, dict(event)]

    def _taken_back(self, event: Mapping[str, Any]) -> None:
        if self.turns and self.turns[-1]["n"] == event["n"] and _is_claim(self.turns[-1]):
            self.turns = self.turns[:-1]  # the turn on the table with the same number stands
            self._stand_by_record()
            return
        # A legal turn is as if it had not been; an illegal one stays in the list, marked.
        for turn in self.turns:
            if turn["n"] == event["n"] and not turn["legal"]:
                turn["taken_back"] = True
        self.turns = [
            turn for turn in self.turns if turn["n"] != event["n"] or turn.get("taken_back")
        ]
        self.owed = []
        self._stand_by_record()

    def _kept(self, event: Mapping[str, Any]) -> None:
        for turn in self.turns:
            if turn["n"] == event.get("n"):
                turn["kept"] = True
                turn["final"] = True
                self.confirmed = dict(turn["stacks"])

    def _ask(self, event: Mapping[str, Any]) -> None:
        self.asks = [one for one in self.asks if one["cells"] != event["cells"]] + [dict(event)]

    def _answered(self, event: Mapping[str, Any]) -> None:
        self.asks = [one for one in self.asks if not set(one["cells"]) & set(event["cells"])]

    def _camera(self, event: Mapping[str, Any]) -> None:
        self.cameras[event["camera"]] = {
            key: event.get(key, "") for key in ("state", "say", "says")
        }

    def _turned(self, event: Mapping[str, Any]) -> None:
        self.quarters = (self.quarters + int(event.get("quarters", 0))) % 4

    def _over(self, event: Mapping[str, Any]) -> None:
        self.over = dict(event)
        self.phase = "over"
        self.score = dict(event["score"])

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


def _is_claim(turn: Mapping[str, Any]) -> bool:
    """Whether a card was laid down; that shares the number of the turn before."""
    return str(turn["move"]).startswith("claim")


@dataclass(frozen=True, slots=True)
class Difference:
    """What is missing and what is too much against the position that was confirmed last."""

    missing: dict[str, dict[int, str]]
    surplus: dict[str, dict[int, str]]

    @staticmethod
    def between(confirmed: Mapping[str, str], seen: Mapping[str, str]) -> "Difference":
        return Difference(_units_not_in(confirmed, seen), _units_not_in(seen, confirmed))

    def to_json(self) -> Json:
        return {
            "same": not (self.missing or self.surplus),
            "missing": [_unit(c, n, letter) for c, n, letter in _flat(self.missing)],
            "surplus": [_unit(c, n, letter) for c, n, letter in _flat(self.surplus)],
        }


def _units_not_in(stacks: Mapping[str, str], other: Mapping[str, str]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for cell, stack in stacks.items():
        there = other.get(cell, "")
        units = {
            level: letter
            for level, letter in enumerate(stack, 1)
            if letter != "." and there[level - 1 : level] not in (letter, "?")
        }
        if units:
            found[cell] = units
    return found


def _flat(units: Mapping[str, Mapping[int, str]]) -> list[tuple[str, int, str]]:
    return sorted(
        ((cell, level, letter) for cell, rest in units.items() for level, letter in rest.items()),
        key=lambda unit: (unit[1], unit[0]),
    )


def _unit(cell: str, level: int, letter: str) -> Json:
    return {"unit": f"{cell}.{level}", "colour": letter}
