"""How sure a position is: probabilities of the stacks on each cell, from their scores.

Scores of rays are not independent, so a difference of one is worth less than one unit of
log-odds; how much less was fitted on pictures with known positions.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from vision.evidence import ColumnGains
from vision.position import Position

Colours = tuple[int, ...]  # a stack from below, 1 + number of the colour; -1 where unseen
Rivals = dict[Colours, float]  # other stacks, with what the score would gain by them


@dataclass(frozen=True, slots=True, kw_only=True)
class CertaintySettings:
    """The curve from differences of score to probabilities."""

    sharpness: float = 0.28  # log-odds for a difference of one
    sharpness_of_pieces: float = 0.12  # where pieces of several units make answers differ widely
    least_doubt: float = 2e-5  # no cell is surer than this
    seen_weight: float = 1.0  # a unit in sight of less (in full rays) counts as unseen
    sliver: float = 0.08  # of a face: where less is seen, a colour must be beyond doubt
    open_odds: float = 2.9  # log-odds under which it is not
    hidden_occupied: float = 0.15  # how often something stands where nobody sees it
    reach: float = 90.0  # stacks that lose more than this are no rivals
    looked_at: int = 9  # columns on which others are tried, however sure they seem
    tried: int = 8  # rivals that are tried exactly, on each of them
    unseen_odds: float = 1.4  # log-odds that no slivers exceed: they deceive together
    face_odds: float = 5.0  # and for as many rays as a whole face is seen by
    pairs: int = 24  # rivals that are tried with what their neighbours would then be
    pairs_again: int = 8  # of them where only what changed is read again
    pair_odds: float = 3.0  # log-odds beyond which neither is
    suspicion: float = 0.02  # rivals more likely than this are tried exactly
    usual_misfit: float = 0.5  # regret of a ray where what was read explains what is seen
    least_sharpness: float = 0.15  # what is left of the sharpness where nothing explains it
    strange_doubt: float = 0.1  # no cell is surer than one less this there
    misfit_reach: float = 0.4  # so much more than usual, and the least is left
    strange_misfit: float = 0.7  # more in a whole picture, and it is not of this table
    strange_share: float = 0.27  # the same for the share of pixels that nothing explains


@dataclass(frozen=True, slots=True, eq=False)
class CellDoubt:
    """One column: its candidate stacks with probabilities, best first.

    `unseen` are the levels (from 0) of the best stack that no camera sees, `hidden` says that
    nothing of the column is seen at all.
    """

    stacks: tuple[Colours, ...]
    chances: tuple[float, ...]
    unseen: frozenset[int]
    hidden: bool


def rivals(
    gains: ColumnGains, column: int, stack: Colours, reach: float, last: Colours | None, hold: float
) -> Rivals:
    """The other stacks that could stand on a column: other heights, and other single colours.

    What differs from `last`, the last known stack, loses `hold`.
    """
    levels = gains.by_height.shape[1] - 1
    high = len(stack)
    now = gains.worth(column, np.array(stack, dtype=np.int8))
    found: Rivals = {}
    for other in range(levels + 1):
        gain = float(gains.by_height[column, other]) - now
        if other != high and gain > -reach:
            found[tuple(int(c) for c in gains.stack_of_height(column, other))] = gain
    for k in range(high):
        by_colour = gains.gains[:, column, k, high - 1]
        for c in np.flatnonzero(by_colour - by_colour[stack[k] - 1] > -reach):
            if c + 1 != stack[k]:
                changed = (*stack[:k], int(c) + 1, *stack[k + 1 :])
                found[changed] = gains.worth(column, np.array(changed, dtype=np.int8)) - now
    if last is not None:
        if last != stack:
            found[last] = gains.worth(column, np.array(last, dtype=np.int8)) - now + hold
        else:
            found = {other: gain - hold for other, gain in found.items()}
    return found


def strange_sights(position: Position, settings: CertaintySettings) -> list[int]:
    """The numbers of cameras whose whole picture is not explained by this position."""
    found = []
    for number, sight in enumerate(position.sights):
        regret, unexplained = sight.misfit()
        if regret > settings.strange_misfit or unexplained > settings.strange_share:
            found.append(number)
    return found


def trust(position: Position, settings: CertaintySettings) -> NDArray[np.float64]:
    """How much a difference of score is worth on each column: less where much is unexplained.

    A camera that moved, an answer that the search missed or a strange table explain their pixels
    badly, and then differences of score mean little.
    """
    least = settings.least_sharpness
    if 2 * len(strange_sights(position, settings)) >= max(len(position.sights), 1):
        return np.full(position.evidence.columns, least)
    beyond = (position.misfits() - settings.usual_misfit) / settings.misfit_reach
    return np.clip(1.0 - beyond * (1.0 - least), least, 1.0)


class Doubts:
    """The doubt about every column, all others taken as they are read."""

    def __init__(
        self,
        position: Position,
        gains: ColumnGains,
        settings: CertaintySettings,
        only: Collection[int] | None = None,
        *,
        doubted: bool = False,
    ) -> None:
        """`only`: columns that can have changed; nothing is known of the others then.

        `doubted`: there is reason to trust nothing.
        """
        self._votes: NDArray[np.float64] | None = None
        self._even = False  # stacks are parts of pieces, and have one colour
        self._doubted = doubted
        self._position = position
        self._settings = settings
        self._look(position)
        faces = [sight.table.face_rays for sight in position.sights]
        self._face_rays = max(float(np.mean(faces)) if faces else 0.0, 1.0)
        self._whole = only is None
        hold = position.evidence.settings.change_cost
        self._rivals = [
            rivals(gains, c, self._stack(c), settings.reach, self._last(c), hold)
            if only is None or c in only
            else {}
            for c in range(position.evidence.columns)
        ]

    def look_at(self, position: Position) -> None:
        """Goes on with another copy of the position."""
        self._position = position
        self._look(position)

    def suspects(self) -> list[int]:
        """Columns on which something else is not out of the question, the most doubtful first."""
        cells = [self.cell(column) for column in range(len(self._rivals))]
        open_ = sorted(
            ((1 - cell.chances[0], column) for column, cell in enumerate(cells)), reverse=True
        )
        least = self._settings.suspicion
        found = [column for doubt, column in open_ if doubt > least]
        if self._whole:
            # Once stacks stand where they fit, others may be better than they seemed before.
            gains = sorted(((max(r.values()), c) for c, r in enumerate(self._rivals) if r))
            further = [c for _, c in reversed(gains) if c not in found]
            found += further[: max(0, self._settings.looked_at - len(found))]
        return found

    def settle(self, columns: list[int], passes: int = 2) -> None:
        """Tries the rivals on these columns exactly, and takes those that are better."""
        for _ in range(passes):
            changed = False
            for column in columns:
                now = self._stack(column)
                pool = sorted(self._rivals[column].items(), key=lambda rival: -rival[1])
                likely = [s for s, _ in pool if s != now][: self._settings.tried]
                exact = {
                    s: self._position.gain({column: np.array(s, dtype=np.int8)}) for s in likely
                }
                best = max(exact, key=lambda s: exact[s], default=now)
                if exact and exact[best] > 0.02:
                    gain = exact.pop(best)
                    self._position.change({column: np.array(best, dtype=np.int8)})
                    exact = {s: g - gain for s, g in exact.items()} | {now: -gain}
                    changed = True
                self._rivals[column] = exact
            if not changed:
                break
        self._look(self._position)

    def _look(self, position: Position) -> None:
        self._in_sight = position.sight().reshape(-1, position.levels)
        self._firm = position.firm_sight().reshape(-1, position.levels)
        self._trust = self._trusted(position)

    def _trusted(self, position: Position) -> NDArray[np.float64]:
        if self._doubted:
            return np.full(position.evidence.columns, self._settings.least_sharpness)
        return trust(position, self._settings)

    def hear(self, votes: NDArray[np.float64]) -> None:
        """Takes note of how likely each colour is by whole faces, as of `votes_on`."""
        self._votes = votes

    def cell(self, column: int) -> CellDoubt:
        """The candidates of one column with their probabilities."""
        cfg = self._settings
        stack, in_sight = self._stack(column), self._in_sight[column]
        high = len(stack)
        seen = self._seen(column)
        unseen = frozenset(k for k in range(high) if not seen[k])
        hidden = bool(high == 0 and (in_sight < cfg.seen_weight).all())
        best = _masked(stack, seen)
        if hidden:
            return CellDoubt((best,), (1.0,), unseen, hidden)
        odds: dict[Colours, float] = {best: 1.0}
        capped = False
        for other, gain in sorted(self._rivals[column].items(), key=lambda rival: -rival[1]):
            masked = _masked(other, seen)
            if masked == best:
                continue
            told = cfg.sharpness * self._trust[column] * gain
            if not capped:
                # Slivers deceive, but all together only once.
                faces = self._faces_between(stack, other, column)
                told, capped = max(told, -cfg.unseen_odds - cfg.face_odds * faces), True
            told = max(told, -self._apart(stack, other, column))
            odd = float(np.exp(min(told, 50.0)))
            if len(other) > high:
                # Places above the stack that nobody sees may be filled without anybody noticing.
                dark = in_sight[high : len(other)] < cfg.seen_weight
                odd *= cfg.hidden_occupied if dark.all() else 1.0
            odds[masked] = max(odds.get(masked, 0.0), odd)
        for other in self._unheard(stack, column):
            odd = float(np.exp(-self._apart(stack, other, column)))
            masked = _masked(other, seen)
            if masked != best:
                odds[masked] = max(odds.get(masked, 0.0), odd)
        # Where nothing explains the picture, something that was not thought of may stand.
        lost = float(1 - self._trust[column]) / (1 - cfg.least_sharpness)
        total = sum(odds.values()) / (1 - cfg.least_doubt - cfg.strange_doubt * lost * lost)
        ranked = sorted(odds.items(), key=lambda item: (item[0] != best, -item[1]))[:5]
        return CellDoubt(
            tuple(s for s, _ in ranked), tuple(o / total for _, o in ranked), unseen, hidden
        )

    def options(self) -> list[tuple[int, NDArray[np.int8], float]]:
        """Every rival as column, stack and gain, the likeliest first."""
        found = [
            (column, np.array(stack, dtype=np.int8), gain)
            for column, own in enumerate(self._rivals)
            for stack, gain in own.items()
        ]
        return sorted(found, key=lambda option: -option[2])

    @property
    def least_gain(self) -> float:
        """Stacks that lose more than this are hardly likely."""
        return -self._settings.pair_odds / self._settings.sharpness

    def likeliest(self) -> list[tuple[int, NDArray[np.int8]]]:
        """The likeliest rivals, without those that differ only in what nobody sees."""
        found: dict[tuple[int, Colours], tuple[int, NDArray[np.int8]]] = {}
        most = self._settings.pairs if self._whole else self._settings.pairs_again
        for column, stack, gain in self.options():
            if gain > self.least_gain and len(found) < most:
                seen = np.append(self._seen(column), np.ones(len(stack), dtype=bool))
                found.setdefault((column, _masked(tuple(stack.tolist()), seen)), (column, stack))
        return list(found.values())

    def moved(self, changes: Mapping[int, NDArray[np.int8]]) -> None:
        """Other stacks were taken on these columns: what was read before becomes a rival."""
        for column, stack in changes.items():
            taken = tuple(int(c) for c in stack)
            gain = self._rivals[column].pop(taken, 0.0)
            self._rivals[column] = {s: g - gain for s, g in self._rivals[column].items()}
        self._look(self._position)

    def take(self, others: Mapping[int, Rivals]) -> None:
        """Uses these rivals instead, for columns that are parts of pieces of one colour."""
        self._even = True
        for column in range(len(self._rivals)):
            self._rivals[column] = dict(others.get(column, {}))

    def told_again(self, column: int, stack: Colours, gain: float) -> None:
        """Takes note that one rival gains so much by all that is known now."""
        self._rivals[column][stack] = gain

    def add(self, others: Mapping[int, Rivals]) -> None:
        """Takes note of further rivals, of columns that change together."""
        for column, rivals_there in others.items():
            own, now = self._rivals[column], self._stack(column)
            for stack, gain in rivals_there.items():
                if stack != now:
                    own[stack] = max(own.get(stack, -np.inf), gain)

    def cells(self) -> list[CellDoubt]:
        """All columns in order."""
        return [self.cell(column) for column in range(len(self._rivals))]

    def _stack(self, column: int) -> Colours:
        return tuple(int(c) for c in self._position.stack(column))

    def _last(self, column: int) -> Colours | None:
        last = self._position.anchored(column)
        return None if last is None else tuple(int(c) for c in last)

    def _faces_between(self, one: Colours, other: Colours, column: int) -> float:
        """How many faces' worth of rays see the places in which two stacks differ."""
        total = 0.0
        for k, (a, b) in enumerate(zip_longest(one, other, fillvalue=0)):
            if a != b:
                total += self._firm[column, k] if a else self._in_sight[column, k]
        return float(total) / self._face_rays

    def _unheard(self, stack: Colours, column: int) -> Iterator[Colours]:
        """Stacks of another colour that are no rivals: where no colour fits, none is certain."""
        if self._votes is None:
            return
        votes = self._votes[column * self._in_sight.shape[1] :]
        for k, colour in enumerate(stack or (0,)):
            for c in np.flatnonzero(votes[k]):
                other = (*stack[:k], int(c), *stack[k + 1 :])
                if self._even:
                    other = (int(c),) * max(len(stack), 1)
                if c and c != colour and other not in self._rivals[column]:
                    yield other

    def _apart(self, stack: Colours, other: Colours, column: int) -> float:
        """By how much whole faces are surer of a stack than of one of other colours."""
        if not stack and len(other) == 1:
            stack = (0,)
        if self._votes is None or len(other) != len(stack):
            return np.inf
        votes = self._votes[column * self._in_sight.shape[1] :]
        differ = [k for k, (a, b) in enumerate(zip(stack, other, strict=True)) if a != b]
        heard = [votes[k, stack[k]] - votes[k, other[k]] for k in differ if votes[k].any()]
        # Units of one piece have one vote together, however many of them are in this column.
        return max(float(sum(heard)) / (len(heard) if self._even else 1), 0.0) if heard else np.inf

    def _seen(self, column: int) -> NDArray[np.bool_]:
        """Which levels are seen well enough to tell a colour.

        Where only a sliver shows and it could have another colour just as well, none is told.
        """
        cfg = self._settings
        stack, in_sight = self._stack(column), self._in_sight[column]
        seen = in_sight >= cfg.seen_weight
        slivers = seen & (in_sight < cfg.sliver * self._face_rays)
        for other, gain in self._rivals[column].items():
            if len(other) == len(stack) and cfg.sharpness * gain > -cfg.open_odds:
                differ = [k for k, (a, b) in enumerate(zip(stack, other, strict=True)) if a != b]
                if len(differ) == 1 and slivers[differ[0]]:
                    seen[differ[0]] = False
        return np.asarray(seen)


def _masked(stack: Colours, seen: NDArray[np.bool_]) -> Colours:
    """The stack with -1 for units of which nobody sees the colour."""
    return tuple(c if seen[k] else -1 for k, c in enumerate(stack))
