"""Scripts: a game record with stage directions, and the cues that it becomes.

A direction is a line that begins with `@` and happens between the turns around it:

    @ scene seed=7 family=check rig=two      once, anywhere
    @ wait 2.5
    @ hand 6 d4                              reaches over d4 and leaves with nothing
    @ bump overhead 0.6                      degrees
    @ lamp 1 0.4                             the first lamp at that part of its light
    @ turn-board 90 12 -8 a1                 degrees, a shift in millimetres, the cell of a hand
    @ passer 3                               seconds that somebody walks behind the table
    @ drop side 0.5                          seconds without a frame
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rules.cells import Cell
from rules.errors import KiebitzError
from rules.record import Record, parse_record
from rules.turn import Change
from vision.errors import SourceError


@dataclass(frozen=True, slots=True)
class Direction:
    """One stage direction: its words, and before which line of the record it stands."""

    words: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """A record, its directions, and the scene in which it plays."""

    record: Record
    directions: tuple[Direction, ...] = ()
    scene: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """The text that gives this script again."""
        header = str(replace(self.record, lines=())).strip()
        scene = " ".join(f"{key}={value}" for key, value in self.scene.items())
        rows = [(d.line, f"@ {' '.join(d.words)}") for d in self.directions]
        rows += [(line.line, str(line)) for line in self.record.lines]
        body = [text for _, text in sorted(rows, key=lambda row: row[0])]
        return "\n".join([header, "", *([f"@ scene {scene}"] if scene else []), *body, ""])


def parse_script(text: str | bytes) -> Script:
    """The script of a text; a plain game record is one; raises SourceError and RecordError."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", errors="replace")
    plain: list[str] = []
    directions: list[Direction] = []
    scene: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.partition("#")[0].strip()
        if not stripped.startswith("@"):
            plain.append(line)
            continue
        plain.append("")
        words = tuple(stripped[1:].split())
        if words[:1] == ("scene",):
            scene |= dict(_setting(word, number) for word in words[1:])
        else:
            _check(words, number)
            directions.append(Direction(words, number))
    return Script(parse_record("\n".join(plain)), tuple(directions), scene)


def _number(low: float, high: float) -> Callable[[str], float]:
    """Numbers between two bounds; what else there is in floats, such as nan, is none."""

    def parsed(word: str) -> float:
        value = float(word)
        if not low <= value <= high:
            raise ValueError(word)
        return value

    return parsed


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parsed(word: str) -> int:
        return int(_number(low, high)(str(int(word))))

    return parsed


_SETTINGS: dict[str, Callable[[str], object]] = {
    "seed": _whole(0, 1 << 40),
    "family": str,  # which there are is for the scene to say
    "rig": str,
    "pace": _number(0.05, 20),
}


def _setting(word: str, line: int) -> tuple[str, str]:
    key, _, value = word.partition("=")
    try:
        _SETTINGS[key](value)
    except (KeyError, ValueError):
        raise SourceError(
            f"line {line}: {word!r} is no part of a scene; use seed=7 family=tune rig=two pace=1"
        ) from None
    return key, value


def _cell(word: str) -> None:
    Cell.parse(word)


_CLOCK = _number(0, 24)
_SECONDS = _number(0, 3600)
_SHIFT_MM = _number(-1000, 1000)
_WORDS: dict[str, tuple[Callable[[str], object], ...]] = {
    "wait": (_SECONDS,),
    "hand": (_CLOCK, _cell),
    "bump": (str, _number(0, 45)),
    "lamp": (_whole(1, 9), _number(0, 10)),
    "turn-board": (_number(-720, 720), _SHIFT_MM, _SHIFT_MM),
    "passer": (_SECONDS,),
    "drop": (str, _SECONDS),
}


def _check(words: tuple[str, ...], line: int) -> None:
    kinds = _WORDS.get(words[0]) if words else None
    if kinds is None:
        known = ", ".join(_WORDS)
        raise SourceError(f"line {line}: unknown direction {' '.join(words)!r}; use {known}")
    given = words[1:]
    if words[0] == "turn-board":
        kinds = (*kinds, _cell) if len(given) == len(kinds) + 1 else kinds
        given = (*given, "0", "0") if len(given) == 1 else given
    try:
        for kind, word in zip(kinds, given, strict=True):
            kind(word)
    except (ValueError, KiebitzError):
        raise SourceError(
            f"line {line}: {' '.join(words)!r} is not understood; see docs/virtual-table.md"
        ) from None


# --- cues: what happens at which second ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """A hand that goes from one place to another between two moments; places are cell names.

    A place of None is outside. `held` is the letter and change that it carries.
    """

    start: float
    end: float
    clock: float
    source: Cell | None
    goal: Cell | None
    seed: int
    held: Change | None = None


@dataclass(frozen=True, slots=True)
class Touch:
    """A piece that appears or goes at a moment."""

    seconds: float
    change: Change


@dataclass(frozen=True, slots=True)
class Cue:
    """Anything else, by the words of its direction, with the time that it takes."""

    start: float
    end: float
    words: tuple[str, ...]


class Clockwork:
    """Collects cues one after another and knows what time it is."""

    def __init__(self, seed: int, pace: float) -> None:
        self.rng = np.random.default_rng([seed, 91])
        self.pace = pace
        self.now = 0.0
        self.stretches: list[Stretch] = []
        self.touches: list[Touch] = []
        self.cues: list[Cue] = []

    def wait(self, low: float, high: float | None = None) -> None:
        """Lets time pass, drawn between two bounds."""
        high = low if high is None else high
        self.now += float(self.rng.uniform(low, high)) / self.pace

    def move(
        self,
        clock: float,
        source: Cell | None,
        goal: Cell | None,
        seed: int,
        seconds: float,
        held: Change | None = None,
    ) -> None:
        """Moves a hand."""
        end = self.now + seconds / self.pace
        self.stretches.append(Stretch(self.now, end, clock, source, goal, seed, held))
        self.now = end

    def hand(self, clock: float, changes: tuple[Change, ...], seed: int) -> None:
        """A hand comes, makes changes one after another, and leaves; long turns in several goes."""
        place: Cell | None = None
        for number, change in enumerate(changes):
            held = change if change.add else None
            if place is not None and change.add and self.rng.random() < 0.5:
                self.move(clock, place, None, seed, float(self.rng.uniform(0.3, 0.45)))
                self.wait(0.2, 0.9)
                place = None
            quick = 0.35 if place is None else 0.25
            self.move(
                clock, place, change.cell, seed, float(self.rng.uniform(quick, 2 * quick)), held
            )
            self.touches.append(Touch(self.now, change))
            place = change.cell
            if number == len(changes) - 1 or self.rng.random() < 0.4:
                self.move(clock, place, place, seed, float(self.rng.uniform(0.1, 0.4)))
        self.move(clock, place, None, seed, float(self.rng.uniform(0.3, 0.5)))

    def direct(self, words: tuple[str, ...]) -> None:
        """One stage direction."""
        kind = words[0]
        if kind == "wait":
            self.now += float(words[1])
        elif kind == "hand":
            self.reach(float(words[1]), Cell.parse(words[2]))
        else:
            holder = self._holder(words)
            if holder is not None:
                self.move(*holder, float(self.rng.uniform(0.35, 0.7)))
            lasts = {
                "turn-board": float(self.rng.uniform(0.8, 1.6)),
                "passer": float(words[1]) if kind == "passer" else 0.0,
                "drop": float(words[2]) if kind == "drop" else 0.0,
            }.get(kind, 0.0)
            self.cues.append(Cue(self.now, self.now + lasts, words))
            if kind == "turn-board":
                self.now += lasts
            if holder is not None:
                clock, _, cell, seed = holder
                start = self.cues[-1].start
                self.stretches.append(Stretch(start, self.now, clock, cell, cell, seed))
                self.move(clock, cell, None, seed, float(self.rng.uniform(0.3, 0.5)))
            if kind != "passer":
                self.wait(0.8, 1.4)

    def _holder(self, words: tuple[str, ...]) -> tuple[float, None, Cell, int] | None:
        """From which hour to which cell the hand comes that turns the board, and its seed."""
        if words[0] != "turn-board" or len(words) < 5:
            return None
        clock = float(self.rng.choice((6.0, 12.0)) + self.rng.normal(0, 0.5))
        return clock, None, Cell.parse(words[4]), int(self.rng.integers(1 << 16))

    def reach(self, clock: float, cell: Cell) -> None:
        """A hand that touches nothing."""
        seed = int(self.rng.integers(1 << 16))
        self.move(clock, None, cell, seed, float(self.rng.uniform(0.35, 0.7)))
        self.move(clock, cell, cell, seed, float(self.rng.uniform(0.3, 0.9)))
        self.move(clock, cell, None, seed, float(self.rng.uniform(0.3, 0.5)))
