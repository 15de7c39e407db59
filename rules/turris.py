"""TURRIS: a tower of blocks on three by three squares, and a bonus for building in its middle.

A turn puts one block down. If that touches the middle, the player may add a bonus: one more block,
or a block of the opponent taken away. Both belong to one turn, whatever order they are written in.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from rules.blocks import (
    BLOCKS_EACH,
    COLOURS,
    OPPONENT,
    UPRIGHT,
    adopted,
    block_change,
    can_be_blocks,
    changed,
    is_block,
    tilings,
    ways_between,
)
from rules.cells import Cell, Unit
from rules.errors import SetupError
from rules.game import Break, GameSpec, Option, Outcome, Owed, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.pieces import BLOCK, KitPiece, Placed
from rules.stacks import MAX_HEIGHT, Stacks
from rules.turn import Change, Turn
from rules.turris_tower import (
    SPAN,
    UNFINISHED,
    Spot,
    TurrisPosition,
    built,
    following,
    footprint,
    frame_of,
    pass_on,
    placed,
    put,
    raster,
    removable,
    spot_of,
    spots,
    take,
    unfinished,
    widens,
    with_block,
    without_block,
)
from rules.turris_views import totals

Reason = tuple[str, tuple[Cell, ...], tuple[tuple[str, str | int], ...]]

FLOATING = 5  # cells a side of the raster on which the footprint is not fixed


class _Step(NamedTuple):
    """A change with the block that it means, if there is one."""

    change: Change
    block: Placed | None


class _Deed(NamedTuple):
    """What a turn has done in the end: blocks put down and taken away, and what then stands.

    There is no `standing` where a change is not about a block or cannot be done.
    """

    puts: list[_Step]
    takes: list[_Step]
    standing: TurrisPosition | None


class _Line(NamedTuple):
    """The changes of a legal turn, and the position behind it."""

    changes: tuple[Change, ...]
    after: TurrisPosition


class TurrisGame:
    """TURRIS as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        settings = SPEC.settings(setup)
        self.floats = settings["anchor"] == "floating"
        self.strict = settings["middleStrict"] == "both"
        self.chain = bool(settings["bonusChain"])
        self.ban_passes = settings["banStuck"] == "pass"
        self.side = FLOATING if self.floats else SPAN
        lattice = (setup.board or SPEC.board).lattice
        if lattice.columns != lattice.ranks or lattice.columns not in {SPAN, self.side}:
            raise SetupError(
                f"a TURRIS footprint of {lattice.columns} x {lattice.ranks} cells: expected 3 x 3"
                f"{', or 5 x 5 where the anchor is floating' if self.floats else ''}"
            )
        self.lattice = replace(lattice, columns=self.side, ranks=self.side)
        self._raster = raster(self.side)

    def start(self) -> TurrisPosition:
        """The empty felt."""
        return TurrisPosition(self.side, 0, 0, 0, 0, 0, 0, 0, self.players[0])

    def is_start(self, stacks: Stacks) -> bool:
        """Only the empty felt."""
        return not stacks

    def start_from(self, stacks: Stacks) -> TurrisPosition:
        """The empty felt; raises SetupError for anything else."""
        if stacks:
            raise SetupError("TURRIS begins without a tower")
        return self.start()

    # --- legal turns -------------------------------------------------------------------------

    def successors(self, position: TurrisPosition) -> Iterator[TurrisPosition]:
        """The position behind every legal turn: without a bonus first, then with each."""
        found = spots(position, position.banned, strict=self.strict)
        player = following(position, 1)
        for spot in found:
            yield put(position, spot, player, 0)
            if spot.middle:
                yield from self._bonus_successors(built(position, spot))
        if not found and self._can_pass(position):
            yield pass_on(position)

    def _bonus_successors(self, now: TurrisPosition) -> Iterator[TurrisPosition]:
        player = following(now, 1)
        for spot in spots(now, now.banned, strict=self.strict):
            yield put(now, spot, player, 0)
            if self.chain and spot.middle:
                yield from self._bonus_successors(built(now, spot))
        player = OPPONENT[now.player]  # who gets a block back is not skipped
        for spot in removable(now):
            yield take(now, spot, player, spot.bits)

    def turns(self, position: TurrisPosition) -> Iterator[Turn]:
        """Every legal turn, in the same order; a pass where no block fits."""
        player = position.player
        found = spots(position, position.banned, strict=self.strict)
        for spot in found:
            change = self._put_change(position, spot)
            yield Turn(player, (change,))
            if spot.middle:
                for more in self._bonuses(built(position, spot)):
                    yield Turn(player, (change, *more))
        if not found and self._can_pass(position):
            yield Turn(player)

    def _bonuses(self, now: TurrisPosition) -> Iterator[tuple[Change, ...]]:
        """The changes of every bonus that may follow."""
        for spot in spots(now, now.banned, strict=self.strict):
            change = self._put_change(now, spot)
            yield (change,)
            if self.chain and spot.middle:
                for more in self._bonuses(built(now, spot)):
                    yield (change, *more)
        for spot in removable(now):
            yield (block_change(placed(now, spot, OPPONENT[now.player]), add=False),)

    def random_turn(self, position: TurrisPosition, rng: random.Random) -> Turn | None:
        """Some legal turn: a block first, then, if it earned one, a bonus or none."""
        found = spots(position, position.banned, strict=self.strict)
        if not found:
            return Turn(position.player) if self._can_pass(position) else None
        changes: list[Change] = []
        now = position
        while found:
            spot = rng.choice(found)
            if not spot.rise:  # only what is taken away leaves nothing higher
                block = placed(now, spot, OPPONENT[now.player])
                changes.append(block_change(block, add=False))
                break
            changes.append(self._put_change(now, spot))
            now = built(now, spot)
            found = []
            if spot.middle and (self.chain or len(changes) == 1) and rng.random() < 0.8:
                found = [*spots(now, now.banned, strict=self.strict), *removable(now)]
        return Turn(position.player, tuple(changes))

    def _put_change(self, now: TurrisPosition, spot: Spot) -> Change:
        return block_change(placed(now, spot, now.player), add=True)

    def _can_place(self, position: TurrisPosition, banned: int) -> bool:
        return bool(spots(position, banned, strict=self.strict))

    def _can_pass(self, position: TurrisPosition) -> bool:
        """Whether the game goes on although the player to move cannot place a block."""
        if self.ban_passes and position.banned and self._can_place(position, 0):
            return True  # only the ban keeps him from it, and it ends with this turn
        return self._can_place(position._replace(player=OPPONENT[position.player]), 0)

    def _is_over(self, position: TurrisPosition) -> bool:
        return not (self._can_place(position, position.banned) or self._can_pass(position))

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: TurrisPosition, turn: Turn) -> Verdict[TurrisPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if self._is_over(position):
            return Verdict((Break("turris.game-over"),))
        if turn.claim:
            return Verdict((Break("turris.malformed"),))
        deed = self._deed(position, turn.changes)
        if not deed.puts:
            return self._judge_without_block(position, deed)
        verdict = self._judge_order(position, deed.puts, deed.takes)
        if verdict.breaks and 1 < len(deed.puts) < 4:
            for puts in list(permutations(deed.puts))[1:]:
                other = self._judge_order(position, puts, deed.takes)
                if other.legal:
                    return other
        return replace(verdict, after=self._kept(position, deed)) if verdict.breaks else verdict

    def _kept(self, position: TurrisPosition, deed: _Deed) -> TurrisPosition | None:
        """The position behind an illegal turn that the players let stand."""
        if deed.standing is None:
            return None
        banned = self._raster.bits(
            u for step in deed.takes if step.block for u in step.block.units()
        )
        return deed.standing._replace(player=self._next(position, deed), banned=banned)

    def _judge_without_block(
        self, position: TurrisPosition, deed: _Deed
    ) -> Verdict[TurrisPosition]:
        """A pass, or a block of the opponent taken before the own one is put down."""
        if deed.takes:
            cells = tuple(cell for step in deed.takes for cell in step.change.cells())
            return Verdict(
                (Break("turris.malformed", tuple(dict.fromkeys(cells))),),
                unfinished=self._can_precede(position, deed.takes),
            )
        if self._can_place(position, position.banned):
            return Verdict((Break("turris.pass-not-allowed"),))
        return Verdict((), pass_on(position))

    def _can_precede(self, position: TurrisPosition, takes: list[_Step]) -> bool:
        """Whether a block that is yet to come can earn what was taken away."""
        if len(takes) != 1:
            return False
        return any(
            spot.middle and not any(self._take_breaks(built(position, spot), takes[0]))
            for spot in spots(position, position.banned, strict=self.strict)
        )

    def _judge_order(
        self, position: TurrisPosition, puts: Iterable[_Step], takes: Iterable[_Step]
    ) -> Verdict[TurrisPosition]:
        """The judgement on blocks put down in this order, then blocks taken away."""
        now, prefix, earned = position, "", True
        breaks: list[Break] = []
        banned = 0
        for step in puts:
            if not earned:
                breaks.append(Break("turris.bonus-not-earned", step.change.cells()))
            breaks += self._put_breaks(now, step, prefix)
            earned = (self.chain or not prefix) and self._is_inner(now, step.block)
            now = with_block(now, step.block) if step.block else now
            prefix = "bonus-"
        for step in takes:
            if not earned:
                breaks.append(Break("turris.bonus-not-earned", step.change.cells()))
            breaks += self._take_breaks(now, step)
            earned = False
            if step.block:
                now = without_block(now, step.block)
                banned |= self._raster.block_bits(step.block)
        if breaks:
            return Verdict(_each_once(breaks))
        owed = (Owed(position.player, "bonus", ()),) if earned and self._has_bonus(now) else ()
        return Verdict((), pass_on(now, banned), owed)

    def _has_bonus(self, now: TurrisPosition) -> bool:
        """Whether a bonus that was earned can be used."""
        return self._can_place(now, now.banned) or next(removable(now), None) is not None

    def _is_inner(self, now: TurrisPosition, block: Placed | None) -> bool:
        """Whether a block earns a bonus (TUR-R9)."""
        return block is not None and spot_of(now, block).middle

    def _deed(self, position: TurrisPosition, changes: Iterable[Change]) -> _Deed:
        """Blocks put down and taken away, without what was put back or taken back at once."""
        puts: list[_Step] = []
        takes: list[_Step] = []
        now = position
        sound = True
        for change in changes:
            if change.add:
                block = self._landing(now, change)
                sound = sound and block is not None and block.level < MAX_HEIGHT - 1
                now = with_block(now, block) if block and sound else now
                again = next((step for step in takes if block and step.block == block), None)
                if again:
                    takes.remove(again)
                else:
                    puts.append(_Step(change, block))
                continue
            block = self._meant(now, change)
            sound = sound and block is not None and not self._is_covered(now, block)
            now = without_block(now, block) if block else now
            mine = next((step for step in puts if block and step.block == block), None)
            if mine:
                puts.remove(mine)
            else:
                takes.append(_Step(change, block))
        return _Deed(puts, takes, now if sound else None)

    def _landing(self, now: TurrisPosition, change: Change) -> Placed | None:
        """Where a block comes to rest; None beside the raster or for another piece."""
        cells = change.cells()
        if not (is_block(change) and all(cell in self.lattice for cell in cells)):
            return None
        heights = now.tops.to_bytes(self.side * self.side, "little")
        level = max(heights[cell.rank * self.side + cell.file] for cell in cells) + 1
        letter = now.player if change.letter == "?" else change.letter
        return Placed(cells[0], level, change.extent, letter)

    def _meant(self, now: TurrisPosition, change: Change) -> Placed | None:
        """The block of the map that a change takes away: a free one, else the highest."""
        found = [
            block
            for block in self._raster.blocks(now.standing)
            if block.cell == min(change.cells())
            and block.extent == change.extent
            and is_block(change)
            and change.letter in ("", "?", block.letter)
        ]
        return max(found, key=lambda b: (not self._is_covered(now, b), b.level), default=None)

    def _is_covered(self, now: TurrisPosition, block: Placed) -> bool:
        bits = self._raster.block_bits(block)
        return bool(now.filled & ~bits & bits << self._raster.stride)

    # --- the rules about one block -----------------------------------------------------------

    def _put_breaks(self, now: TurrisPosition, step: _Step, prefix: str) -> Iterator[Break]:
        """Every rule that a block breaks, each as if the others were kept."""
        for slug, cells, facts in self._put_reasons(now, step):
            yield Break(f"turris.{prefix}{slug}", cells, facts)

    def _put_reasons(self, now: TurrisPosition, step: _Step) -> Iterator[Reason]:
        change, block = step
        cells = change.cells()
        letter = now.player if change.letter == "?" else change.letter
        if letter != now.player:
            yield "wrong-colour", cells, (("player", now.player),)
        if letter in OPPONENT and not now.left(letter):
            yield "no-block-left", (), (("player", letter),)
        if not is_block(change):
            yield "bad-shape", cells, ()
        elif block is None:
            yield "raster" if self.floats else "footprint", cells, ()
        else:
            yield from self._place_reasons(now, block)

    def _place_reasons(self, now: TurrisPosition, block: Placed) -> Iterator[Reason]:
        cells = tuple(block.cells())
        level = (("level", block.level),)
        bits = self._raster.block_bits(block)
        if now.banned & bits:
            yield "refilled", cells, level
        if now.filled & bits:
            yield "occupied", cells, level
            return
        if self.floats:
            yield from self._raster_reasons(now, cells)
        yield from self._support_reasons(now, block)
        after = unfinished(now.filled | bits, self.side)
        if after > UNFINISHED and after > unfinished(now.filled, self.side):
            yield "fourth-unfinished-level", cells, level
        yield from self._middle_reasons(now, block)

    def _raster_reasons(self, now: TurrisPosition, cells: tuple[Cell, ...]) -> Iterator[Reason]:
        """The reasons that there are only where the footprint is not fixed."""
        used = [unit.cell for unit in self._raster.units(footprint(now))]
        if not used:
            if Cell(FLOATING // 2, FLOATING // 2) not in cells:
                yield "raster", cells, ()
        elif widens(used, cells):
            yield "footprint", cells, ()

    def _support_reasons(self, now: TurrisPosition, block: Placed) -> Iterator[Reason]:
        """Rules a to d: what a block must touch and what it must rest on."""
        cells = tuple(block.cells())
        level = (("level", block.level),)
        own = list(block.units())
        below = [Unit(cell, block.level - 1) for cell in cells] if block.level > 1 else []
        beside = [
            Unit(Cell(cell.file + step, cell.rank + rise), height)
            for cell, height in own
            for step, rise in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        at_side = any(self._stands(now, unit) for unit in beside)
        resting = [self._stands(now, unit) for unit in below]
        if now.filled and not at_side and not any(resting):
            yield "no-contact", cells, level
        if not all(resting):
            holes = (c for c, rests in zip(cells, resting, strict=True) if not rests)
            yield "over-empty", tuple(holes), level
        if now.filled and not at_side and block.extent == UPRIGHT:
            yield "upright-no-side-contact", cells, level
        if block.extent != UPRIGHT and below and all(resting):
            # the block under both halves lies the same way, one level lower
            lower = block._replace(level=block.level - 1)
            if self._begins(now, lower):
                yield "flat-not-on-two-blocks", cells, level

    def _stands(self, now: TurrisPosition, unit: Unit) -> bool:
        return unit.cell in self.lattice and bool(now.filled >> self._raster.place(unit) & 1)

    def _begins(self, now: TurrisPosition, block: Placed) -> bool:
        """Whether a flat block stands exactly there."""
        starts = now.along if block.extent.width == 2 else now.across
        return bool(starts >> self._raster.place(Unit(block.cell, block.level)) & 1)

    def _middle_reasons(self, now: TurrisPosition, block: Placed) -> Iterator[Reason]:
        """Rule f: the edge of a level before its middle (TUR-R8)."""
        around = frame_of(now)
        if around.middle < 0:
            return
        middle = self._raster.unit(around.middle).cell
        levels = [unit.level for unit in block.units() if unit.cell == middle]
        bare = [
            level
            for level in levels
            if not now.filled >> (level - 1) * self._raster.stride & around.edge
        ]
        if not self.strict and levels:
            bare = [level for level in bare if level == levels[0]]
        if bare:
            yield "middle-before-edge", (middle,), (("level", bare[0]),)

    def _take_breaks(self, now: TurrisPosition, step: _Step) -> Iterator[Break]:
        """Every rule that taking a block away breaks (TUR-R10)."""
        change, block = step
        cells = change.cells()
        if block is None:
            yield Break("turris.remove-nothing", cells)
            return
        if block.letter == now.player:
            yield Break("turris.remove-own", cells)
        if self._is_covered(now, block):
            yield Break("turris.remove-covered", cells)
        last = now.last_dark if now.player == "L" else now.last_light
        bits = self._raster.block_bits(block)
        if bits == last and block.letter != now.player:
            yield Break("turris.remove-last-placed", cells)
        after = unfinished(now.filled & ~bits, self.side)
        if after > UNFINISHED and after > unfinished(now.filled, self.side):
            yield Break("turris.remove-fourth-unfinished-level", cells)

    def next_player(self, position: TurrisPosition, turn: Turn) -> str:
        """The opponent of whose block was placed, unless he has none left."""
        return self._next(position, self._deed(position, turn.changes))

    def _next(self, position: TurrisPosition, deed: _Deed) -> str:
        letters = [step.change.letter for step in deed.puts]
        mover = letters[0] if letters and letters[0] in OPPONENT else position.player
        return following((deed.standing or position)._replace(player=mover), 0)

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: TurrisPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """Every legal turn that makes this difference, else the illegal one that breaks least."""
        player = position.player
        gone, come = changed(position.stacks, stacks)
        if not gone and not come:
            passed = Turn(player)
            return (passed,) if self.judge(position, passed).legal else ()
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
        return (min(turns, key=lambda turn: len(self.judge(position, turn).breaks)),)

    def _own_turns(
        self, position: TurrisPosition, come: dict[Unit, str], away: list[Placed]
    ) -> list[Turn]:
        """The legal and unfinished turns that put units of the own colour down."""
        takes = [_Step(block_change(block, add=False), block) for block in away]
        if not come:
            turn = Turn(position.player, tuple(step.change for step in takes))
            return [turn] if self._can_precede(position, takes) else []
        found = []
        for way in tilings(come):
            for blocks in permutations(way.blocks) if not way.singles else ():
                puts = [_Step(block_change(block, add=True), block) for block in blocks]
                if self._judge_order(position, puts, takes).legal:
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
            if explained < everything or not self._can_place(line.after, line.after.banned):
                yield Turn(player, line.changes)
        if not self._can_place(position, position.banned):
            if self._can_pass(position):
                yield Turn(player)
        elif not gone and own.bit_count() == 2:
            yield from self._vanished(position, own)

    def _lines_within(self, position: TurrisPosition, own: int, lost: int) -> Iterator[_Line]:
        """The legal turns that put down only what came and take away only what went."""
        for spot in spots(position, position.banned, strict=self.strict):
            if not spot.bits & ~own:
                line = _Line((self._put_change(position, spot),), built(position, spot))
                yield from self._lines_behind(line, own, lost, earned=spot.middle)

    def _lines_behind(self, line: _Line, own: int, lost: int, *, earned: bool) -> Iterator[_Line]:
        """The turn as it is, and with every bonus that fits."""
        changes, now = line
        yield _Line(changes, pass_on(now))
        if not earned:
            return
        for more in spots(now, now.banned, strict=self.strict):
            if not more.bits & ~own:
                longer = _Line((*changes, self._put_change(now, more)), built(now, more))
                again = self.chain and more.middle
                yield from self._lines_behind(longer, own, lost, earned=again)
        other = OPPONENT[now.player]
        for more in removable(now):
            if not more.bits & ~lost:
                away = block_change(placed(now, more, other), add=False)
                yield _Line((*changes, away), take(now, more, other, more.bits))

    def _vanished(self, position: TurrisPosition, own: int) -> Iterator[Turn]:
        """Two blocks of which only the bonus is still there: the first fell to the next bonus."""
        for spot in spots(position, position.banned, strict=self.strict):
            if not spot.middle or spot.bits & own:
                continue
            now = built(position, spot)
            for more in spots(now, now.banned, strict=self.strict):
                if more.bits == own:
                    changes = (self._put_change(position, spot), self._put_change(now, more))
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
                    self.side,
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
            block = min(fresh, key=lambda b: (self._is_inner(position, b), -b.level))
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

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants that every tower keeps."""
        return tuple(self._impossible(stacks))

    def _impossible(self, stacks: Stacks) -> Iterator[Break]:
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            yield Break("turris.raster" if self.floats else "turris.footprint", outside)
        cells = sorted(cell for cell in stacks if cell in self.lattice)
        for axis in (0, 1):
            numbers = [cell[axis] for cell in cells]
            if numbers and max(numbers) - min(numbers) >= SPAN:
                yield Break("turris.footprint", tuple(cells))
                break
        for cell in cells:
            if "." in stacks[cell]:
                yield Break("turris.over-empty", (cell,), (("level", stacks.height(cell)),))
        units = {unit: letter for unit, letter in stacks.units() if unit.cell in self.lattice}
        if not can_be_blocks(units):
            yield Break("turris.bad-shape", tuple(cells))
        filled = self._raster.bits(units)
        if unfinished(filled, self.side) > UNFINISHED:
            top = max(stacks.height(cell) for cell in cells)
            high = tuple(cell for cell in cells if stacks.height(cell) == top)
            yield Break("turris.fourth-unfinished-level", high, (("level", top),))
        for player in COLOURS:
            if stacks.count(player) > 2 * BLOCKS_EACH:
                yield Break("turris.no-block-left", (), (("player", player),))

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: TurrisPosition) -> dict[str, int]:
        """The biggest groups of the five views together."""
        light, dark = totals(position.filled, position.light, position.dark, position.side)
        points = {"L": light, "D": dark}
        return {player: points[player] for player in self.players}

    def outcome(self, position: TurrisPosition) -> Outcome | None:
        """The higher total when no block can be put down any more."""
        if not self._is_over(position):
            return None
        score = self.score(position)
        best = max(self.players, key=lambda player: score[player])
        other = OPPONENT[best]
        if score[best] == score[other]:
            return Outcome((), "turris.equal-totals", (("points", score[best]),))
        facts = (("player", best), ("points", score[best]), ("other", score[other]))
        return Outcome((best,), "turris.higher-total", facts)


def _lying_on_one(position: TurrisPosition) -> int:
    """How many flat blocks lie on a single one."""
    area = position.side * position.side
    along, across = position.along, position.across
    return (along & along >> area).bit_count() + (across & across >> area).bit_count()


def _each_once(breaks: list[Break]) -> tuple[Break, ...]:
    """The breaks, each code told once."""
    found: dict[str, Break] = {}
    for reason in breaks:
        found.setdefault(reason.rule, reason)
    return tuple(found.values())


SPEC = GameSpec(
    name="turris",
    title="TURRIS",
    board=Board(Lattice(SPAN, SPAN, 11, 27.0, (27.0, 27.0, 27.0)), (49.5, 49.5, 49.5, 49.5)),
    colours={"L": "light", "D": "dark"},
    kit=(KitPiece(BLOCK, "L", BLOCKS_EACH), KitPiece(BLOCK, "D", BLOCKS_EACH)),
    players=COLOURS,
    fewest_players=2,
    options=(
        Option("anchor", "fixed", ("fixed", "floating")),
        Option("middleStrict", "both", ("both", "lower")),
        Option("bonusChain", default=False),
        Option("banStuck", "pass", ("pass", "end")),
    ),
    sizes=(SPAN, FLOATING),
    make=TurrisGame,
)
