"""Looks: what a scene that stands still means, seen from what was believed before.

Pure functions between the games and the referee. A belief is a tuple of positions with the same
stacks: more than one where the units can be pieces in several ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal

from rules.cells import Cell
from rules.game import Break, Game, Owed
from rules.stacks import Stacks
from rules.turn import Turn

Belief = tuple[Any, ...]
MOST_BELIEFS = 16  # ways to see pieces in units that are kept open at once
MOST_KNOWN = 256  # looks that are kept: a scene is asked about again and again, and judging is slow
MOST_SPELLINGS = 64  # ways to colour what nobody can see; of more none is tried


@dataclass(frozen=True, slots=True)
class Look:
    """One turn as an explanation: legal, unfinished (`owed`), or illegal with its reasons."""

    kind: Literal["legal", "owed", "illegal", "unexplained"]
    turn: Turn
    breaks: tuple[Break, ...] = ()
    owed: tuple[Owed, ...] = ()
    after: Belief = ()

    @property
    def fine(self) -> bool:
        """Whether nobody has a reason to complain."""
        return self.kind in ("legal", "owed")


@lru_cache(maxsize=MOST_KNOWN)
def look(game: Game[Any], belief: Belief, stacks: Stacks) -> Look:
    """The best explanation of these stacks as one turn of the player to move."""
    best: dict[str, Look] = {}
    after: list[Any] = []
    for position in belief:
        for turn in game.readings(position, stacks):
            found = _judged(game, position, turn)
            if found.kind == "legal":
                after += [p for p in found.after if p not in after]
            known = best.get(found.kind)
            if known is None or len(found.breaks) < len(known.breaks):
                best[found.kind] = found
    if "legal" in best:
        legal = best["legal"]
        return Look("legal", legal.turn, (), legal.owed, tuple(after[:MOST_BELIEFS]))
    for kind in ("owed", "illegal"):
        if kind in best:
            return best[kind]
    return Look("unexplained", Turn(belief[0].player))


def _judged(game: Game[Any], position: Any, turn: Turn) -> Look:
    verdict = game.judge(position, turn)
    if verdict.legal:
        return Look("legal", turn, (), verdict.owed, (verdict.after,))
    kind: Literal["owed", "illegal"] = "owed" if verdict.unfinished else "illegal"
    return Look(kind, turn, verdict.breaks, verdict.owed)


def two_turns(
    game: Game[Any], belief: Belief, stacks: Stacks, between: Stacks | None = None
) -> tuple[Look, Look] | None:
    """A complete legal turn and another player's after it that together explain the stacks.

    `between` is what was seen on the way, where it explained nothing.
    """
    for position in belief:
        for turn in game.first_of_two(position, stacks):
            first = _judged(game, position, turn)
            if first.kind != "legal":
                continue
            # What nobody saw standing was not there.
            if not still_stands(position.stacks, first.after[0].stacks, stacks):
                continue
            if between is not None and begun_early(
                position.stacks, first.after[0].stacks, stacks, between
            ):
                continue
            second = look(game, first.after, stacks)
            if second.fine:
                return first, second
    return None


def adopted(game: Game[Any], belief: Belief, stacks: Stacks, player: str) -> Belief:
    """The belief that the table stands as it does, whoever is to move."""
    found: list[Any] = []
    for position in belief:
        for way in islice(game.adopt(position, stacks, player), MOST_BELIEFS):
            if way not in found:
                found.append(way)
    return tuple(found[:MOST_BELIEFS])


def still_stands(before: Stacks, after: Stacks, seen: Stacks) -> bool:
    """Whether every change that was made from `before` to `after` is still there in `seen`."""
    for cell in before.differing(after):
        old, new, now = before.get(cell, ""), after.get(cell, ""), seen.get(cell, "")
        now = completed(now, new)
        if new.startswith(old):
            stands = now.startswith(new)
        elif old.startswith(new):  # also while more of the stack is gone, or other pieces stand
            other = now.startswith(new) and not now.startswith(old[: len(new) + 1])
            stands = new.startswith(now) or other
        else:
            stands = now == new
        if not stands:
            return False
    return True


def part_of(before: Stacks, after: Stacks, seen: Stacks) -> bool:
    """Whether some of the change from `before` to `after` is there, not all, and nothing else."""
    if seen in (before, after):
        return False
    for cell in {*before.differing(after), *after.differing(seen)}:
        old, new, now = before.get(cell, ""), after.get(cell, ""), seen.get(cell, "")
        if now in (old, new):
            continue
        less, more = sorted((old, new), key=len)
        if not (more.startswith(now) and now.startswith(less)):
            return False
    return True


def begun_early(before: Stacks, after: Stacks, seen: Stacks, between: Stacks) -> bool:
    """Whether something of a second turn (`after` to `seen`) was there before the first one was.

    Then whoever made the first turn (`before` to `after`) has done that, too.
    """
    if still_stands(before, after, between):
        return False
    return any(
        between.get(cell, "") not in (before.get(cell, ""), after.get(cell, ""))
        for cell in after.differing(seen)
    )


def missing_and_new(before: Stacks, seen: Stacks) -> tuple[int, int]:
    """How many units went away and how many came, cell by cell from the first difference up."""
    missing = new = 0
    for cell in before.differing(seen):
        old, now = before.get(cell, ""), seen.get(cell, "")
        same = 0
        while same < min(len(old), len(now)) and old[same] == now[same]:
            same += 1
        missing += len(old) - same
        new += len(now) - same
    return missing, new


def unknown(stacks: Stacks) -> bool:
    """Whether the colour of some unit could not be seen."""
    return any("?" in stack for stack in stacks.values())


def filled(seen: Stacks, believed: Stacks, hidden: Iterable[Cell] = ()) -> Stacks:
    """The scene with what was known before where a colour or a whole cell cannot be seen."""
    cells = {cell: completed(stack, believed.get(cell, "")) for cell, stack in seen.items()}
    for cell in hidden:
        if cell not in cells and cell in believed:
            cells[cell] = believed[cell]
    return Stacks(cells)


def spellings(stacks: Stacks, letters: Iterable[str]) -> Iterator[Stacks]:
    """The scene with every colour for units whose colour could not be seen.

    As it is where these are too many to try them all.
    """
    gaps = sum(stack.count("?") for stack in stacks.values())
    known = tuple(letters)
    if not gaps or len(known) ** gaps > MOST_SPELLINGS:
        yield stacks
        return
    for colours in product(known, repeat=gaps):
        rest = iter(colours)
        yield Stacks(
            {
                cell: "".join(next(rest) if letter == "?" else letter for letter in stack)
                for cell, stack in stacks.items()
            }
        )


def completed(stack: str, known: str) -> str:
    """A stack with what is known of units whose colour could not be seen."""
    return "".join(
        known[i] if letter == "?" and i < len(known) else letter for i, letter in enumerate(stack)
    )


def variants(
    seen: Stacks, unsure: Mapping[Cell, Mapping[str, float]], most: int = 12
) -> Iterator[tuple[Stacks, float]]:
    """The scenes that doubt leaves open, the likeliest first, with their weight against it."""
    doubtful = sorted(unsure, key=lambda cell: max(unsure[cell].values(), default=1.0))[:3]
    choices = [sorted(unsure[cell].items(), key=lambda kv: -kv[1])[:3] for cell in doubtful]
    found: list[tuple[float, Stacks]] = []
    for pick in product(*choices):
        weight = 1.0
        cells = dict(seen)
        for cell, (stack, chance), best in zip(doubtful, pick, choices, strict=True):
            weight *= chance / max(best[0][1], 1e-9)
            cells[cell] = stack
        found.append((weight, Stacks(cells)))
    found.sort(key=lambda entry: -entry[0])
    yield seen, 1.0
    for weight, stacks in found[:most]:
        if stacks != seen:
            yield stacks, weight
