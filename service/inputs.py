"""What is put into a session, and how corrections reach back: the log replayed, not patched.

A correction says "what was read as this on that cell was really that", from one observation on.
Every later observation is understood through it until the cell changes in another way, and the
whole log is judged again. So later turns and scores follow by themselves.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

What = Literal[
    "observed", "tick", "correct", "start", "undo", "keep", "pause", "resume", "claim", "pass"
]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that happened: `seq` is its number in the log, `t` seconds since the start."""

    seq: int
    t: float
    what: What
    body: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        return {"t": self.t, "what": self.what, **self.body}

    @staticmethod
    def of(seq: int, body: Mapping[str, Any]) -> "Input":
        rest = {key: value for key, value in body.items() if key not in ("t", "what")}
        return Input(seq, float(body["t"]), body["what"], rest)


@dataclass(frozen=True, slots=True)
class Misread:
    """On one cell `read` stands for `real`."""

    read: str
    real: str

    def understand(self, stack: str) -> str | None:
        """The real stack behind a later reading, or None when the cell has changed otherwise."""
        if stack == self.read:
            return self.real
        if self.read and stack.startswith(self.read):
            return self.real + stack[len(self.read) :]
        return None


def effective(inputs: Iterable[Input]) -> Iterator[Input]:
    """The inputs as they would have been, had every correction been known when it was needed."""
    given = list(inputs)
    begins: dict[int, list[Json]] = {}
    for one in given:
        if one.what == "correct":
            begins.setdefault(int(one.body["since"]), []).append(one.body["cells"])
    misread: dict[str, Misread] = {}
    for one in given:
        if one.what != "observed":
            if one.what != "correct":
                yield one
            continue
        stacks: Mapping[str, str] = one.body["stacks"]
        for cells in begins.get(one.seq, ()):
            for cell, real in cells.items():
                misread[cell] = Misread(stacks.get(cell, ""), real)
        yield understood(one, misread)


def understood(observed: Input, misread: dict[str, Misread]) -> Input:
    """An observation through the corrections; those that no longer fit are dropped from them."""
    stacks = dict(observed.body["stacks"])
    doubts: Json = {
        key: dict(observed.body[key]) for key in ("unsure", "doubted") if key in observed.body
    }
    for cell, known in list(misread.items()):
        real = known.understand(stacks.get(cell, ""))
        if real is None:
            del misread[cell]
            continue
        for doubt in doubts.values():
            doubt.pop(cell, None)
        if real:
            stacks[cell] = real
        else:
            stacks.pop(cell, None)
    body = {**observed.body, "stacks": stacks, **doubts}
    return Input(observed.seq, observed.t, observed.what, body)
