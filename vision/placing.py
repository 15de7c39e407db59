"""The search for whole pieces: no single cubes in the kit, and pieces as high as the lattice.

A piece fills its columns evenly, so that a wrong height of one column alone is no answer at all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rules.lattice import Lattice
from rules.pieces import KitPiece
from vision.evidence import ColumnGains
from vision.position import Position, Stack, around
from vision.trials import Trials


@dataclass(frozen=True, slots=True)
class Spot:
    """A piece in its place: its columns, its colour (1 + number), the levels below and its own."""

    columns: tuple[int, ...]
    colour: int
    high: int
    base: int = 0

    def stack(self) -> Stack:
        """What stands on each of its columns."""
        return np.full(self.high, self.colour, dtype=np.int8)


_Answer = tuple[float, NDArray[np.int8], dict[int, Spot]]  # its worth, state and pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingSettings:
    """How pieces are tried."""

    piece_cost: float = 2.0
    tried: int = 20  # placements that are tried exactly in a round, the most promising ones
    rounds: int = 60
    looks: int = 1000  # rounds in all: under a hand nothing fits, and trying would never end
    usual_regret: float = 0.4  # of a ray that is explained as well as can be hoped
    regret: float = 4.0  # places whose rays have less than this beyond the usual are left alone
    beginnings: int = 4  # pieces that are laid next, each for itself, where a place is laid anew
    side_by_side: int = 4  # ways of laying it that are followed at once
    ways: int = 24  # in which each of two pieces is laid anew together with the other one
    patch: int = 7  # pieces of one colour, hanging together, that are laid anew together
    cuts: int = 24  # ways of both together that are tried exactly
    runner_up: float = 60.0  # other answers that are so much worse are forgotten
    runners_up: int = 40  # answers that are looked at again
    shaky_regret: float = 0.6  # of a ray of a piece, beyond which it may be another one
    faint: float = 0.6  # of the score a ray that a piece in the dark, say, must gain to be sure
    shaky_gap: float = 15.0  # how much worse others may then seem
    unseen: float = 8.0  # rays through the places of a piece; with fewer it may lie there
    unruly: float = 0.0  # above 0 where rules keep equal heights apart: what rivals gain thereby
    rival_gap: float = 40.0  # placements predicted further below the best are no rivals


class Kit:
    """Every way in which the pieces of a kit can lie on the lattice's floor."""

    def __init__(self, kit: Sequence[KitPiece], letters: Sequence[str], lattice: Lattice) -> None:
        self.lattice = lattice
        kinds = {
            (*piece.shape.extents[i], letters.index(piece.letter))
            for piece in kit
            if piece.letter in letters
            for i in range(len(piece.shape.extents))
        }
        self.spots = [
            Spot(columns, colour + 1, height)
            for width, depth, height, colour in sorted(kinds)
            if height <= lattice.levels
            for columns in _footprints(width, depth, lattice)
        ]
        most = max((len(spot.columns) for spot in self.spots), default=1)
        none = lattice.columns * lattice.ranks
        self.columns = np.array(
            [spot.columns + (none,) * (most - len(spot.columns)) for spot in self.spots],
            dtype=np.int64,
        ).reshape(-1, most)
        self.colour = np.array([spot.colour - 1 for spot in self.spots], dtype=np.int64)
        self.high = np.array([spot.high for spot in self.spots], dtype=np.int64)

        self.beside = {
            spot.columns: frozenset(_beside(spot.columns, lattice)) for spot in self.spots
        }
        self._alike: dict[tuple[int, int], list[Spot]] = {}  # by colour and column
        for spot in self.spots:
            for column in spot.columns:
                self._alike.setdefault((spot.colour, column), []).append(spot)

    def instead_of(self, spot: Spot) -> list[Spot]:
        """The other ways in which a piece of this colour can lie on some of its columns."""
        return [other for other in self.on(spot.colour, spot.columns) if other != spot]

    def on(self, colour: int, columns: Iterable[int]) -> list[Spot]:
        """The ways in which a piece of a colour can lie on some of these columns."""
        alike = self._alike
        return list({spot: None for c in columns for spot in alike.get((colour, c), ())})

    @staticmethod
    def is_rigid(kit: Sequence[KitPiece], lattice: Lattice) -> bool:
        """Whether whole pieces must be searched: no single cubes, and nothing need be stacked."""
        extents = [extent for piece in kit for extent in piece.shape.extents]
        return bool(
            extents
            and all(e.width * e.depth * e.height > 1 for e in extents)
            and max(e.height for e in extents) >= lattice.levels
        )


def _gained(one: tuple[float, Spot | None]) -> float:
    return one[0]


def _worth(answer: _Answer) -> float:
    return answer[0]


def _place(spot: Spot) -> tuple[int, ...]:
    return spot.columns


def _footprints(width: int, depth: int, lattice: Lattice) -> Iterator[tuple[int, ...]]:
    for rank in range(lattice.ranks - depth + 1):
        for file in range(lattice.columns - width + 1):
            yield tuple(
                (rank + r) * lattice.columns + file + f for r in range(depth) for f in range(width)
            )


def _beside(columns: tuple[int, ...], lattice: Lattice) -> Iterator[int]:
    """The columns that share a side with these, without them."""
    for column in columns:
        rank, file = divmod(column, lattice.columns)
        for r, f in ((rank - 1, file), (rank + 1, file), (rank, file - 1), (rank, file + 1)):
            beside = r * lattice.columns + f
            if 0 <= r < lattice.ranks and 0 <= f < lattice.columns and beside not in columns:
                yield beside


class Placing:
    """Pieces on the lattice, and the search for better ones."""

    def __init__(
        self,
        kit: Kit,
        position: Position,
        settings: PlacingSettings,
        pieces: Iterable[Spot] = (),
    ) -> None:
        self.kit = kit
        self.position = position
        self.trials = Trials(position)
        self.settings = settings
        self.owner = {c: spot for spot in pieces for c in spot.columns}  # the piece on a column
        self.met: list[tuple[NDArray[np.int8], dict[int, Spot]]] = []  # other good answers
        self._looks = 0
        self._cut: set[tuple[Spot, Spot]] = set()  # pairs that were laid anew together
        self._divided: set[frozenset[Spot]] = set()  # and patches

    def climb(self, within: NDArray[np.bool_] | None = None) -> None:
        """Puts, replaces and takes away pieces until nothing gains any more."""
        for _ in range(self.settings.rounds):
            moves = self._best_moves(within=within)
            done: set[int] = set()
            for gain, spot in moves:
                changes = self._changes(spot)
                if gain < 0.3 * moves[0][0] or done & self._around(changes):
                    continue
                if done and self._gain(spot) < 0.5 * gain:
                    continue
                self._put(spot)
                done |= set(changes)
            if not done and not self._turn_over(within) and not self._take_away(within):
                return

    def _turn_over(self, within: NDArray[np.bool_] | None) -> bool:
        """Lays a piece in another way where it lies, if that gains; others stay as they are.

        What single columns promise says little there: they are seen as they are now.
        """
        done = False
        for piece in sorted(self.pieces(), key=lambda spot: spot.columns):
            if within is not None and not within[list(piece.columns)].any():
                continue
            ways = self._turns(piece)
            gains = zip(self._gains(ways), ways, strict=True)
            gain, best = max(gains, default=(0.0, None), key=_gained)
            if best is not None and gain > 0.5:
                self._put(best)
                done = True
        return done

    def shake(self, tries: int, least: int = 0) -> None:
        """Lays the pieces anew around places that are explained badly, in several ways.

        The `least` worst places are tried even if they are explained as well as can be hoped:
        another answer may explain them better still, and what is met there tells how sure the
        answer is. Where none is, it must be quick.
        """
        tried: set[tuple[int, frozenset[Spot]]] = set()
        for number in range(tries):
            if self._looks > self.settings.looks:
                return
            regret, rays = self.position.explained()
            regrets = around(regret - self.settings.usual_regret * rays, self.kit.lattice)
            for column in np.argsort(-regrets).tolist():
                near = self._near(column)
                place = (-1 if near else column, near)
                if place not in tried:
                    break
            else:
                return
            if number >= least and regrets[column] < self.settings.regret:
                return
            tried.add(place)
            if not (least and (self._recut(column) or self._divide(column))):
                near = self._near(column)
                self._lay_anew(near, [column])

    def _near(self, column: int) -> frozenset[Spot]:
        """The pieces on a column and beside it."""
        return frozenset(self.owner[c] for c in self._around([column]) if c in self.owner)

    def _divide(self, column: int) -> bool:
        """Lays all that hangs together in one colour near a column anew.

        The pictures hardly show where one piece ends and the next one of its colour begins, so
        that a patch may be divided wrongly everywhere at once, and no piece of it can be mended
        while the others stay.
        """
        done = False
        for piece in sorted(self._near(column), key=_place):
            if self.owner.get(piece.columns[0]) != piece:
                continue
            patch = self._patch(piece)
            if len(patch) > 2 and patch not in self._divided:
                self._divided.add(patch)
                done |= self._lay_anew(patch)
        return done

    def _patch(self, piece: Spot) -> frozenset[Spot]:
        """The pieces of one colour that hang together with this one, the nearest of many."""
        patch, edge = {piece: None}, [piece]
        while edge and len(patch) < self.settings.patch:
            beside = self.kit.beside[edge.pop(0).columns]
            near = {self.owner[c] for c in beside if c in self.owner} - patch.keys()
            more = sorted((s for s in near if s.colour == piece.colour), key=_place)
            edge += more
            patch |= dict.fromkeys(more)
        return frozenset(list(patch)[: self.settings.patch])

    def _lay_anew(self, touched: Collection[Spot], more: Sequence[int] = ()) -> bool:
        """Takes pieces away and lays others there and on `more` columns, several ways side by side.

        What explains most by itself may leave no room for what explains most together. Tells
        whether that was better.
        """
        state, owner, worth = self.position.state[:-1].copy(), dict(self.owner), self.worth()
        self._clear({c for spot in touched for c in spot.columns})
        within = np.zeros(self.position.evidence.columns + 1, dtype=bool)
        within[[*(c for spot in touched for c in spot.columns), *more]] = True
        ways = [(self.worth(), self.position.state[:-1].copy(), dict(self.owner))]
        best = ways[0]
        for _ in range(self.settings.rounds):
            longer: dict[bytes, _Answer] = {}
            for so_far, begun, pieces in ways:
                self._restore(begun, pieces)
                for gain, spot in self._best_moves(within=within)[: self.settings.beginnings]:
                    changes = self._changes(spot)
                    laid = {c: s for c, s in pieces.items() if c not in changes}
                    laid |= dict.fromkeys(spot.columns, spot)
                    after = self.position.with_changes(changes)
                    if not np.array_equal(after, state):
                        longer[after.tobytes()] = (so_far + gain, after, laid)
            ways = sorted(longer.values(), key=_worth)[::-1][: self.settings.side_by_side]
            if not ways:
                break
            best = max(best, ways[0], key=_worth)
        self._restore(*best[1:])
        self.climb(within)
        better = self._kept(state, owner, worth)
        if not better:
            self._restore(state, owner)
        return better

    def _recut(self, column: int) -> bool:
        """Lays two pieces that touch near a column anew together; others stay as they are.

        Neither can be laid rightly while the other one lies wrongly.
        """
        near = self._around(self._around([column]))
        pieces = sorted({self.owner[c] for c in near if c in self.owner}, key=_place)
        for one, two in combinations(pieces, 2):
            if (one, two) in self._cut or not self._around(one.columns) & set(two.columns):
                continue
            self._cut.add((one, two))
            if self._laid_better(one, two):
                return True
        return False

    def _laid_better(self, one: Spot, two: Spot) -> bool:
        """Takes the best way in which two pieces can lie together; remembers the others."""
        self._looks += 1
        state, owner, worth = self.position.state[:-1].copy(), dict(self.owner), self.worth()
        touched = {*one.columns, *two.columns}
        self._clear(touched)
        now = worth - self.worth()
        ways = {colour: self._ways(colour, touched) for colour in {one.colour, two.colour}}
        tries = {
            frozenset(spot for spot in (first, second) if spot is not None): a + b
            for a, first in ways[one.colour]
            for b, second in ways[two.colour]
            if first is None or second is None or not set(first.columns) & set(second.columns)
        }
        tries.pop(frozenset({one, two}), None)
        likely = sorted(tries, key=lambda other: -tries[other])[: self.settings.cuts]
        changes = [{c: spot.stack() for spot in spots for c in spot.columns} for spots in likely]
        best, least = None, now + 0.05
        for spots, change, gained in zip(likely, changes, self.trials.gains(changes), strict=True):
            gain = gained - self.settings.piece_cost * len(spots)
            if gain > least:
                best, least = spots, gain
            if gain > now - self.settings.runner_up:
                others = self.owner | {c: spot for spot in spots for c in spot.columns}
                self.met.append((self.position.with_changes(change), others))
        if best is None:
            self._restore(state, owner)
            return False
        self.met.append((state, owner))
        for spot in sorted(best, key=_place):
            self._put(spot)
        within = np.zeros(self.position.evidence.columns + 1, dtype=bool)
        within[list(touched)] = True
        self.climb(within)
        return True

    def _ways(self, colour: int, touched: set[int]) -> list[tuple[float, Spot | None]]:
        """Where a piece of a colour could lie on some of these columns, the best ways; or not."""
        open_ = [
            spot
            for spot in self.kit.on(colour, touched)
            if not any(c in self.owner for c in spot.columns)
        ]
        free = dict(zip(open_, self._gains(open_), strict=True))
        best = sorted(free, key=lambda spot: -free[spot])[: self.settings.ways]
        return [(0.0, None), *((free[spot], spot) for spot in best)]

    def _kept(self, state: NDArray[np.int8], owner: dict[int, Spot], worth: float) -> bool:
        """Whether what stands now is better than what stood before; remembers the other."""
        better = self.worth() > worth + 0.05
        if better:
            self.met.append((state, owner))
        elif self.worth() > worth - self.settings.runner_up:
            self.met.append((self.position.state[:-1].copy(), dict(self.owner)))
        return better

    def worth(self) -> float:
        """The score less what the pieces cost."""
        return self.position.score - self.settings.piece_cost * len(self.pieces())

    def _unruly(self, spots: Collection[Spot], without: Collection[Spot]) -> int:
        """How many of these pieces stand beside others of their height, where some are gone."""
        pairs, known = 0, list[Spot]()
        for spot in spots:
            beside = self.kit.beside[spot.columns]
            near = {self.owner[c] for c in beside if c in self.owner}.difference(without)
            near |= {other for other in known if not beside.isdisjoint(other.columns)}
            pairs += sum(other.high == spot.high for other in near)
            known.append(spot)
        return pairs

    def _mended(self, gain: float, gone: Collection[Spot], laid: Collection[Spot] = ()) -> float:
        """What a rival gains that breaks fewer rules; one that breaks more is judged by its looks.

        So the rules never make an answer surer, or another one than the pictures show: what is
        worse by its looks becomes as good as what is told at most.
        """
        if not self.settings.unruly or gain >= 0:
            return gain
        fewer = self._unruly(gone, gone) - self._unruly(laid, gone)
        return min(gain + self.settings.unruly * max(fewer, 0), 0.0)

    def _clear(self, columns: set[int]) -> None:
        self.position.change(dict.fromkeys(columns, np.zeros(0, dtype=np.int8)))
        for column in columns:
            del self.owner[column]

    def _restore(self, state: NDArray[np.int8], owner: dict[int, Spot]) -> None:
        self.position.restore(state)
        self.owner = dict(owner)

    def rivals(self, *, unseen: bool = False) -> dict[int, dict[tuple[int, ...], float]]:
        """For every column other stacks, with what the score would gain (mostly lose) by them.

        They come of other pieces, of none where one stands, and of whole other answers that the
        search met; `unseen`: of pieces that no camera would see, too.
        """
        found: dict[int, dict[tuple[int, ...], float]] = {}

        def add(changes: Mapping[int, Stack], gain: float) -> None:
            for column, stack in changes.items():
                other = tuple(int(c) for c in stack)
                if other != tuple(int(c) for c in self.position.stack(column)):
                    own = found.setdefault(column, {})
                    own[other] = max(own.get(other, -np.inf), gain)

        for changes, gain in self.instead():
            add(changes, gain)
        for spot in self._unseen() if unseen else ():
            add(self._changes(spot), -self.settings.piece_cost)
        return found

    def instead(self) -> Iterator[tuple[Mapping[int, Stack], float]]:
        """Other answers, as far as they differ, and what each would gain."""
        none = np.zeros(0, dtype=np.int8)
        pieces = sorted(self.pieces(), key=_place)
        for spot, gain in zip(pieces, self._without(pieces), strict=True):
            yield dict.fromkeys(spot.columns, none), self._mended(gain, [spot])
        for spot in self._shaky():
            for high in range(self.position.levels + 1):
                other = np.full(high, spot.colour, dtype=np.int8)
                yield dict.fromkeys(spot.columns, other), -self.settings.shaky_gap
        least = -self.settings.rival_gap
        moves = self._best_moves(least=least - self.settings.unruly, tried=40)
        for gain, spot in [*moves, *self._turned()]:
            worth = self._mended(gain, self._gone(spot), [spot])
            if worth > least:
                yield self._changes(spot), worth
        for gain, state, owner in self._ranked():
            there, here = set(owner.values()), self.pieces()
            worth = self._mended(gain, here - there, there - here)
            if worth > least:
                yield self.position.differing(state), worth

    def _turned(self) -> Iterator[tuple[float, Spot]]:
        """What each piece would gain by lying in another way where it lies; others stay.

        One that lies flat in the shade looks much like one that stands upright, and what single
        columns promise tells nothing of that.
        """
        for piece in sorted(self.pieces(), key=_place):
            ways = self._turns(piece)
            yield from zip(self._gains(ways), ways, strict=True)

    def _turns(self, piece: Spot) -> list[Spot]:
        """The other ways in which a piece may lie where it lies without touching others."""
        ways = self.kit.instead_of(piece)
        return [s for s in ways if {self.owner.get(c, piece) for c in s.columns} == {piece}]

    def _unseen(self) -> list[Spot]:
        """Where a piece could lie that no camera would see."""
        kit, levels = self.kit, self.position.levels
        seen = self.position.sight().reshape(-1, levels).cumsum(axis=1)
        none = np.zeros((1, levels))
        by_spot = np.concatenate([seen, none])[kit.columns, kit.high[:, None] - 1].sum(axis=1)
        free = np.ones(len(seen) + 1, dtype=bool)
        free[list(self.owner)] = False
        dark = (by_spot < self.settings.unseen) & free[kit.columns].all(axis=1)
        return [kit.spots[i] for i in np.flatnonzero(dark)]

    def _shaky(self) -> list[Spot]:
        """Pieces whose rays are explained worse than those of pieces that are read rightly.

        Something stands there, but the search may never have met what it is. Where they are hardly
        explained better than without the piece, less is suspicious: a floor deep in the shade of
        pieces has their tint.
        """
        regret, rays = self.position.explained()
        pieces, cfg = sorted(self.pieces(), key=_place), self.settings
        shaky, open_ = [], []
        for spot, lost in zip(pieces, self._without(pieces), strict=True):
            own = list(spot.columns)
            many = max(rays[own].sum(), 1.0)
            faint = -lost < cfg.faint * many
            if regret[own].sum() > (cfg.usual_regret if faint else cfg.shaky_regret) * many:
                shaky.append(spot)
            elif regret[own].sum() > cfg.usual_regret * many:
                open_.append(spot)
        # What hangs together in one colour may be divided in another way.
        return shaky + [spot for spot in open_ if not self._patch(spot).isdisjoint(shaky)]

    def remember(self, before: "Placing") -> None:
        """Takes over what another search met, and goes to the best of it if that is better here."""
        self.met = [*before.met]
        ranked = self._ranked()
        if ranked and ranked[0][0] > 0.05:
            _, state, owner = ranked[0]
            self.met.append((self.position.state[:-1].copy(), dict(self.owner)))
            self._restore(state, owner)

    def moved_to(self, position: Position) -> "Placing":
        """The same search at another position, with all that was met, also what stands here."""
        pieces = pieces_in(position.copy(), self.kit)
        other = Placing(self.kit, position, self.settings, pieces)
        other.met = [*self.met, (self.position.state[:-1].copy(), dict(self.owner))]
        return other

    def _ranked(self) -> list[tuple[float, NDArray[np.int8], dict[int, Spot]]]:
        """The last different answers that were met, with what would be gained by them, best first.

        Each is scored anew: the evidence may have changed since.
        """
        here = len(self.pieces())
        last = {state.tobytes(): (state, owner) for state, owner in self.met}
        found = []
        others = list(last.values())[-self.settings.runners_up :]
        gained = self.trials.gains([self.position.differing(state) for state, _ in others])
        for gain, (state, owner) in zip(gained, others, strict=True):
            more = len(set(owner.values())) - here
            found.append((gain - self.settings.piece_cost * more, state, owner))
        return sorted(found, key=lambda other: -other[0])

    def pieces(self) -> set[Spot]:
        """The pieces that stand."""
        return set(self.owner.values())

    def units(self) -> list[NDArray[np.int64]]:
        """The units of each piece that stands."""
        levels = self.position.levels
        return [
            (np.array(spot.columns)[:, None] * levels + np.arange(spot.high)).ravel()
            for spot in sorted(self.pieces(), key=_place)
        ]

    def without(self, spot: Spot) -> float:
        """What the score would gain (mostly lose) without this piece."""
        return self._without([spot])[0]

    def _without(self, spots: Sequence[Spot]) -> list[float]:
        none = np.zeros(0, dtype=np.int8)
        gained = self.trials.gains([dict.fromkeys(spot.columns, none) for spot in spots])
        return [gain + self.settings.piece_cost for gain in gained]

    def _best_moves(
        self,
        *,
        within: NDArray[np.bool_] | None = None,
        least: float = 0.5,
        tried: int = 0,
    ) -> list[tuple[float, Spot]]:
        """Pieces that would gain, exactly, best first; `within`: at least partly on these columns.

        What single columns promise tells which ones are worth an exact trial.
        """
        self._looks += 1
        kit = self.kit
        worth, now = self._worth(self.position.columns_gain())
        more = (
            worth[kit.colour[:, None], kit.columns, kit.high[:, None] - 1] - now[kit.columns]
        ).sum(axis=1)
        if within is not None:
            more = np.where(within[kit.columns].any(axis=1), more, -np.inf)
        found: list[tuple[float, Spot]] = []
        for i in np.argsort(-more)[:80]:
            if more[i] <= least:
                break
            spot = kit.spots[i]
            if self.owner.get(spot.columns[0]) != spot:
                lost = sum(float(now[c]) for c in self._swept(spot.columns))
                found.append((float(more[i]) - lost, spot))
        found.sort(key=lambda move: -move[0])
        likely = [s for promised, s in found[: tried or self.settings.tried] if promised > least]
        exact = zip(self._gains(likely), likely, strict=True)
        return sorted((m for m in exact if m[0] > least), key=lambda move: -move[0])

    def _worth(self, gains: ColumnGains) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Worth (C, J + 1, height) of even stacks on columns, and of what stands there (J + 1)."""
        levels = self.position.levels
        columns = self.position.evidence.columns
        even = np.zeros((self.position.evidence.colours, columns + 1, levels))
        for high in range(1, levels + 1):
            own = gains.gains[:, :, :high, high - 1].sum(axis=2)
            even[:, :columns, high - 1] = own - gains.settings.unit_cost * high
        now = np.zeros(columns + 1)
        now[:columns] = gains.worths(self.position.state[:-1].reshape(-1, levels))
        return even, now

    def _swept(self, columns: Iterable[int]) -> set[int]:
        """Columns of the pieces that must go when a piece comes here, but for its own."""
        own = set(columns)
        return {
            c for column in own if column in self.owner for c in self.owner[column].columns
        } - own

    def _changes(self, spot: Spot) -> dict[int, Stack]:
        none = np.zeros(0, dtype=np.int8)
        return dict.fromkeys(self._swept(spot.columns), none) | dict.fromkeys(
            spot.columns, spot.stack()
        )

    def _gain(self, spot: Spot) -> float:
        return self._gains([spot])[0]

    def _gains(self, spots: Sequence[Spot]) -> list[float]:
        """What would be gained by each of these pieces in its place."""
        gained = self.trials.gains([self._changes(spot) for spot in spots])
        more = [1 - len(self._gone(spot)) for spot in spots]
        cost = self.settings.piece_cost
        return [gain - cost * many for gain, many in zip(gained, more, strict=True)]

    def _gone(self, spot: Spot) -> set[Spot]:
        """The pieces that must go when one comes here."""
        return {self.owner[c] for c in spot.columns if c in self.owner}

    def _put(self, spot: Spot) -> None:
        changes = self._changes(spot)
        self.position.change(changes)
        for column in changes:
            self.owner.pop(column, None)
        for column in spot.columns:
            self.owner[column] = spot

    def _take_away(self, within: NDArray[np.bool_] | None) -> bool:
        pieces = [s for s in self.pieces() if within is None or within[list(s.columns)].any()]
        gains = zip(self._without(pieces), pieces, strict=True)
        best = max(gains, default=None, key=lambda m: m[0])
        if best is None or best[0] <= 0.02:
            return False
        self.position.change(dict.fromkeys(best[1].columns, np.zeros(0, dtype=np.int8)))
        for column in best[1].columns:
            del self.owner[column]
        return True

    def _around(self, columns: Iterable[int]) -> set[int]:
        wide = self.kit.lattice.columns
        return {c + d for c in columns for d in (0, 1, -1, wide, -wide)}


def pieces_in(position: Position, kit: Kit) -> set[Spot]:
    """Pieces that make up a state as far as possible; columns that fit none are emptied."""
    levels = position.levels
    state = position.state[:-1].reshape(-1, levels)
    alike: dict[int, tuple[int, int]] = {}
    for column in np.flatnonzero(state.any(axis=1)):
        own = state[column][state[column] > 0]
        if len(set(own.tolist())) == 1 and (state[column][: len(own)] > 0).all():
            alike[int(column)] = (int(own[0]), len(own))
    found: set[Spot] = set()
    by_first: dict[int, list[Spot]] = {}
    for spot in kit.spots:
        by_first.setdefault(spot.columns[0], []).append(spot)

    def cover(open_: list[int], used: set[int]) -> bool:
        open_ = [c for c in open_ if c not in used]
        if not open_:
            return True
        for spot in by_first.get(open_[0], ()):
            fits = all(alike.get(c) == (spot.colour, spot.high) for c in spot.columns)
            if fits and not used & set(spot.columns):
                found.add(spot)
                if cover(open_, used | set(spot.columns)):
                    return True
                found.discard(spot)
        return False

    for group in _groups(alike, kit.lattice):
        cover(group, set())
    covered = {c for spot in found for c in spot.columns}
    loose = set(np.flatnonzero(state.any(axis=1)).tolist()) - covered
    position.change(dict.fromkeys(loose, np.zeros(0, dtype=np.int8)))
    return found


def _groups(alike: Mapping[int, tuple[int, int]], lattice: Lattice) -> Iterator[list[int]]:
    """Connected columns of one colour and height, each group in order."""
    left = set(alike)
    wide = lattice.columns
    while left:
        group, edge = set(), [min(left)]
        while edge:
            column = edge.pop()
            if column not in left:
                continue
            left.remove(column)
            group.add(column)
            file = column % wide
            beside = [column - wide, column + wide]
            beside += [column - 1] if file else []
            beside += [column + 1] if file < wide - 1 else []
            edge += [c for c in beside if alike.get(c) == alike[column]]
        yield sorted(group)
