"""The search for the stacks that explain the pictures best: column by column, uphill."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vision.certainty import Rivals
from vision.evidence import ColumnGains, State
from vision.position import Position, Stack

USUAL = 0.35  # regret of a ray that is explained as well as can be hoped
SUSPECT = 2.5  # columns whose rays have less regret than this beyond the usual are left alone
SHARED = 60.0  # what a whole face may gain as its rays share their light
REACH = 500.0  # stacks that promise so much less are not tried
ALONG = 0.85  # cosine of the angle to the line of sight that still lies along it
_NOTHING = np.zeros(0, dtype=np.int8)
Wish = tuple[float, int, Stack]  # the gain, the column, its better stack


def climb(position: Position, *, sweeps: int = 40, frozen: Collection[int] = ()) -> ColumnGains:
    """Changes columns to their best stacks until nothing gains any more."""
    gains = position.columns_gain()
    for _ in range(sweeps):
        wishes = [w for w in _wishes(position, gains) if w[1] not in frozen]
        if not wishes:
            break
        for batch in (_apart(wishes, position), *([w] for w in wishes[:6])):
            changes = {column: best for _, column, best in batch}
            if position.gain(changes) > 0.02:
                position.change(changes)
                break
        else:
            break
        gains = position.columns_gain()
    return gains


def propose(position: Position, states: Sequence[State], *, tried: int = 4) -> None:
    """Goes to the best of some whole states, if it is better than the present one.

    What single columns promise tells which states are worth an exact trial.
    """
    if not states:
        return
    gains = position.columns_gain()
    now = gains.worths(position.state[:-1].reshape(-1, position.levels))
    promised = [float((gains.worths(s.reshape(-1, position.levels)) - now).sum()) for s in states]
    best, best_gain = None, 0.02
    for i in np.argsort(promised)[::-1][:tried]:
        changes = position.differing(states[i])
        gain = position.gain(changes) if changes else 0.0
        if gain > best_gain:
            best, best_gain = changes, gain
    if best:
        position.change(best)


def shake(position: Position, gains: ColumnGains, *, tries: int) -> ColumnGains:
    """Escapes from answers that no single column can leave.

    Where a stack explains its pixels badly, it is tried lower or higher while the others find
    their places around it.
    """
    done: set[int] = set()
    for _ in range(tries):
        regret, rays = position.explained()
        regrets = regret - USUAL * rays
        suspects = [int(c) for c in np.argsort(-regrets) if int(c) not in done]
        if not suspects or regrets[suspects[0]] < SUSPECT:
            break
        column = suspects[0]
        done.add(column)
        for other in _others(gains, column, len(position.stack(column))):
            kept, score = position.state[:-1].copy(), position.score
            position.change({column: other})
            climb(position, sweeps=4, frozen=(column,))
            climb(position, sweeps=2)
            if position.score > score + 0.05:
                done = {column}
                break
            position.restore(kept)
        gains = position.columns_gain()
    return gains


def slide(position: Position, origin: NDArray[np.float64]) -> dict[int, Rivals]:
    """Moves stacks one place along the line of sight, lower or higher, where that is better.

    To one camera, at `origin`, a stack looks much like a lower one behind its place, or a higher
    one before it. What is nearly as good is returned for both columns: neither is certain then.
    """
    levels = position.levels
    found: dict[int, Rivals] = {}
    for column in np.flatnonzero(position.state[:-1].reshape(-1, levels).any(axis=1)).tolist():
        tries = [
            changes
            for other, behind in _along(position, column, origin)
            for changes in _moved(position, column, other, behind)
        ]
        if not tries:
            continue
        gains = [position.gain(changes) for changes in tries]
        best = int(np.argmax(gains))
        if gains[best] > 0.05:
            kept = {c: position.stack(c) for c in tries[best]}
            position.change(tries[best])
            tries, gains = [kept], [-gains[best]]
        for changes, gain in zip(tries, gains, strict=True):
            for c, other in changes.items():
                own = found.setdefault(c, {})
                told = tuple(int(k) for k in other)
                own[told] = max(own.get(told, -np.inf), gain)
    return found


def exchange(
    position: Position, options: Sequence[tuple[int, Stack]], least: float
) -> dict[int, Rivals]:
    """Tries stacks together with what their neighbours could then be.

    What one column loses by another stack a neighbour may win back: the same pixels are explained
    by the one or the other. Better pairs are taken; those that lose less than `least` are returned
    as rivals of both.
    """
    found: dict[int, Rivals] = {}
    won = 0.0

    def note(column: int, stack: Stack, gain: float) -> None:
        own, told = found.setdefault(column, {}), tuple(stack.tolist())
        own[told] = max(own.get(told, -np.inf), won + gain)

    for column, stack in options:
        own = position.stack(column)
        first = position.gain({column: stack})
        position.change({column: stack})
        better: tuple[float, int, Stack] | None = None
        for other, answer in _answers(position, column, least - first):
            joint = first + position.gain({other: answer})
            if joint > least:
                note(other, answer, joint)
                note(column, stack, joint)
                if joint > (better[0] if better else 0.05):
                    better = joint, other, answer
        if better is None:
            position.change({column: own})
        else:
            gain, other, answer = better
            note(column, own, 0.0)
            note(other, position.stack(other), 0.0)
            position.change({other: answer})
            won += gain
    now = {column: tuple(position.stack(column).tolist()) for column in found}
    return {
        column: {stack: gain - won for stack, gain in rivals.items() if stack != now[column]}
        for column, rivals in found.items()
    }


def _answers(position: Position, column: int, least: float) -> Iterator[tuple[int, Stack]]:
    """The best other stack of each column beside this one, if it promises to gain enough."""
    beside = list(_beside(position, column))
    gains = position.columns_gain(beside)
    for number, other in enumerate(beside):
        now = position.stack(other)
        worth = gains.by_height[number] - gains.worth(number, now)
        if np.array_equal(gains.stack_of_height(number, len(now)), now):
            worth[len(now)] = -np.inf
        for heights in (slice(0, len(now)), slice(len(now), None)):
            if len(worth[heights]) and worth[heights].max() > least - SHARED:
                high = int(worth[heights].argmax()) + (heights.start or 0)
                yield other, gains.stack_of_height(number, high)


def _beside(position: Position, column: int) -> Iterator[int]:
    """The columns around this one."""
    lattice = position.evidence.lattice
    rank, file = divmod(column, lattice.columns)
    for r in range(max(rank - 1, 0), min(rank + 2, lattice.ranks)):
        for f in range(max(file - 1, 0), min(file + 2, lattice.columns)):
            if (r, f) != (rank, file):
                yield r * lattice.columns + f


def _along(
    position: Position, column: int, origin: NDArray[np.float64]
) -> Iterator[tuple[int, bool]]:
    """The columns beside this one that lie behind or before it, as a camera sees."""
    lattice = position.evidence.lattice
    rank, file = divmod(column, lattice.columns)
    middle = (np.array([file, rank]) + 0.5) * lattice.pitch_mm
    away = middle - origin[:2]
    away /= float(np.linalg.norm(away)) + 1e-9
    for other in _beside(position, column):
        step = np.array([other % lattice.columns - file, other // lattice.columns - rank])
        along = float(away @ step) / float(np.linalg.norm(step))
        if abs(along) > ALONG:
            yield other, along > 0


def _moved(position: Position, column: int, other: int, behind: bool) -> Iterator[dict[int, Stack]]:
    """Ways in which the stack, or its upper part, looks alike on the other column.

    The top is seen best, the foot is not: it stands lower behind its place, and higher before it.
    """
    stack, there = position.stack(column), position.stack(other)
    many = len(stack)
    for high in (many - 1, many) if behind else (many, many + 1):
        come = high - len(there)
        if come <= 0 or high > position.levels:
            continue
        moved = stack[-come:] if come <= many else np.append(stack[:1], stack)
        # What looks like one tower may be a low stack and a lower tower behind it.
        left = range(many) if behind and not len(there) else {0, max(many - come, 0)}
        for below in left:
            yield {column: stack[:below], other: np.append(there, moved)}


def _others(gains: ColumnGains, column: int, high: int) -> list[Stack]:
    """Other stacks worth a try: the best one, the best much lower one, the best higher one."""
    worth = gains.by_height[column]
    heights = np.arange(len(worth))
    picked: list[int] = []
    between = (heights > high // 2) & (heights < high - 1)
    for allowed in (heights != high, heights <= high // 2, between, heights > high):
        other = allowed & (heights != high)
        if other.any():
            best = int(heights[other][worth[other].argmax()])
            if best not in picked and worth[best] > worth.max() - REACH:
                picked.append(best)
    return [gains.stack_of_height(column, h) for h in picked]


def _wishes(position: Position, gains: ColumnGains) -> list[Wish]:
    """Columns that would rather have another stack, the most eager first."""
    state = position.state[:-1].reshape(-1, position.levels)
    now = gains.worths(state)
    best = gains.by_height.max(axis=1)
    hold = 0.0
    if position.anchor is not None:
        hold = position.evidence.settings.change_cost
        moved = (state != position.anchor).any(axis=1)
        now = now + np.where(moved, 0.0, hold)
        anchor = gains.worths(position.anchor) + hold
    found: list[Wish] = []
    for column in np.flatnonzero(best - now > 0.05 - hold).tolist():
        choice, gain = gains.best_stack(column), float(best[column] - now[column])
        last = position.anchored(column)
        if last is not None:
            if np.array_equal(choice, last):
                gain += hold
            elif anchor[column] > best[column]:
                choice, gain = last, float(anchor[column] - now[column])
        if gain > 0.05 and not np.array_equal(position.stack(column), choice):
            found.append((gain, column, choice))
    return sorted(found, key=lambda wish: -wish[0])


def _apart(wishes: list[Wish], position: Position) -> list[Wish]:
    """Wishes that can be granted together: strong ones that are not neighbours."""
    columns = position.evidence.lattice.columns
    taken: list[Wish] = []
    for wish in wishes:
        near = any(_near(wish[1], other[1], columns) for other in taken)
        if wish[0] > 0.3 * wishes[0][0] and not near:
            taken.append(wish)
    return taken


def _near(a: int, b: int, columns: int) -> bool:
    rank_a, file_a = divmod(a, columns)
    rank_b, file_b = divmod(b, columns)
    return abs(rank_a - rank_b) <= 1 and abs(file_a - file_b) <= 1
