"""What a camera saw of TURRIS: turns out of units, and towers taken as they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import NamedTuple

from rules.blocks import (
    COLOURS,
    OPPONENT,
    adopted,
    block_change,
    changed,
    tilings,
    ways_between,
)
from rules.cells import Unit
from rules.pieces import Placed
from rules.stacks import Stacks
from rules.turn import Change, Turn
from rules.turris_judge import Judge, Step, is_inner
from rules.turris_tower import (
    TurrisPosition,
    built,
    pass_on,
    placed,
    put_change,
    raster,
    removable,
    take,
)


class _Line(NamedTuple):
    """The changes of a legal turn, and the position behind it."""

    changes: tuple[Change, ...]
    after: TurrisPosition


class Camera:
    """Explains scenes under the rules of one house."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.house = judge.house
        self.lattice = judge.lattice
        self._raster = raster(judge.side)

    def readings(self, position: TurrisPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """Every legal turn that makes this difference, else the illegal one that breaks least."""
        player = position.player
        gone, come = changed(position.stacks, stacks)
        if not gone and not come:
            return ()
        found: list[Turn] = []
        known = list(self._raster.blocks(position.standing))
        if len(come) <= 6 and all(letter in (player, "?") for letter in come.values()):
            away = [block for block in known if all(unit in gone for unit in block.units())]
            if len(gone) == 2 * len(away) <= 2:
                found = self._own_turns(position, dict.fromkeys(come, player), away)
        if found:
            return tuple(found)
        ways = ways_between(position.stacks, stacks, known, self.lattice)
        turns = [Turn(player, way) for way in ways]
        return (min(turns, key=lambda turn: len(self.judge.judge(position, turn).breaks)),)

    def _own_turns(
        self, position: TurrisPosition, come: dict[Unit, str], away: list[Placed]
    ) -> list[Turn]:
        """The legal and unfinished turns that put units of the own colour down."""
        takes = [Step(block_change(block, add=False), block) for block in away]
        if not come:
            turn = Turn(position.player, tuple(step.change for step in takes))
            return [turn] if self.judge.can_precede(position, takes) else []
        found = []
        for way in tilings(come):
            for blocks in permutations(way.blocks) if not way.singles else ():
                puts = [Step(block_change(block, add=True), block) for block in blocks]
                if self.judge.judge_order(position, puts, takes).legal:
                    changes = tuple(step.change for step in (*puts, *takes))
                    found.append(Turn(position.player, changes))
        return found

    def first_of_two(self, position: TurrisPosition, stacks: Stacks) -> Iterator[Turn]:
        """The legal turns that are part of a difference, those that explain most first."""
        gone, come = changed(position.stacks, stacks)
        if not (gone or come):
            return
        player = position.player
        own = self._raster.bits(unit for unit, letter in come.items() if letter in (player, "?"))
        lost = self._raster.bits(gone)
        lines = list(self._lines_within(position, own, lost))
        lines.sort(key=lambda line: -len(line.changes))
        everything = len(come) + len(gone)
        for line in lines:
            explained = 2 * len(line.changes)
            if explained < everything or not self.house.can_place(line.after):
                yield Turn(player, line.changes)
        if not self.house.can_place(position):
            if self.house.can_pass(position):
                yield Turn(player)
        elif not gone and own.bit_count() == 2:
            yield from self._vanished(position, own)

    def _lines_within(self, position: TurrisPosition, own: int, lost: int) -> Iterator[_Line]:
        """The legal turns that put down only what came and take away only what went."""
        for spot in self.house.spots(position):
            if not spot.bits & ~own:
                line = _Line((put_change(position, spot),), built(position, spot))
                yield from self._lines_behind(line, own, lost, earned=spot.middle)

    def _lines_behind(self, line: _Line, own: int, lost: int, *, earned: bool) -> Iterator[_Line]:
        """The turn as it is, and with every bonus that fits."""
        changes, now = line
        yield _Line(changes, pass_on(now))
        if not earned:
            return
        for more in self.house.spots(now):
            if not more.bits & ~own:
                longer = _Line((*changes, put_change(now, more)), built(now, more))
                again = self.house.chain and more.middle
                yield from self._lines_behind(longer, own, lost, earned=again)
        other = OPPONENT[now.player]
        for more in removable(now):
            if not more.bits & ~lost:
                away = block_change(placed(now, more, other), add=False)
                yield _Line((*changes, away), take(now, more, other, more.bits))

    def _vanished(self, position: TurrisPosition, own: int) -> Iterator[Turn]:
        """Two blocks of which only the bonus is still there: the first fell to the next bonus."""
        for spot in self.house.spots(position):
            if not spot.middle or spot.bits & own:
                continue
            now = built(position, spot)
            for more in self.house.spots(now):
                if more.bits == own:
                    changes = (put_change(position, spot), put_change(now, more))
                    yield Turn(position.player, changes)

    def adopt(
        self, position: TurrisPosition, stacks: Stacks, player: str
    ) -> tuple[TurrisPosition, ...]:
        """The tower as it stands, known blocks kept; the likeliest cut into blocks first."""
        units = {u: c for u, c in stacks.units() if u.cell in self.lattice}
        known = list(self._raster.blocks(position.standing))
        found = []
        for way in adopted(known, position.stacks, units):
            standing = self._raster.standing(units, way.blocks)
            old = set(known)
            new = [block for block in way.blocks if block not in old]
            lasts = [self._last(position, colour, new, way.blocks) for colour in COLOURS]
            found.append(
                TurrisPosition(
                    self.house.side,
                    *standing,
                    tops=self._raster.tops(standing.filled),
                    player=player,
                    last_light=lasts[0],
                    last_dark=lasts[1],
                    banned=self._banned(position, known, standing.filled, player),
                )
            )
        # lying on one block alone is the less likely way to have built it
        found.sort(key=_lying_on_one)
        return tuple(found)

    def _last(
        self, position: TurrisPosition, colour: str, new: list[Placed], blocks: Iterable[Placed]
    ) -> int:
        """The units of the block of a colour that was put down last: a new one, else as before."""
        fresh = [block for block in new if block.letter == colour]
        if fresh:
            # a bonus comes after the block in the middle that earned it
            block = min(fresh, key=lambda b: (is_inner(position, b), -b.level))
            return self._raster.block_bits(block)
        before = position.last_light if colour == "L" else position.last_dark
        there = {self._raster.block_bits(block) for block in blocks if block.letter == colour}
        return before if before in there else 0

    def _banned(
        self, position: TurrisPosition, known: list[Placed], filled: int, player: str
    ) -> int:
        """What the player to move may not fill again, because a turn has just taken it away."""
        if player == position.player:
            return position.banned & ~filled
        freed = 0
        for block in known:
            bits = self._raster.block_bits(block)
            freed |= 0 if bits & filled else bits
        return freed


def _lying_on_one(position: TurrisPosition) -> int:
    """How many flat blocks lie on a single one."""
    area = position.side * position.side
    along, across = position.along, position.across
    return (along & along >> area).bit_count() + (across & across >> area).bit_count()
