"""Judging TURRIS: what a turn has done, and every rule that it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

from rules.blocks import OPPONENT, UPRIGHT, Raster, is_block, named_cells
from rules.cells import Cell, Unit
from rules.game import Break, Owed, Verdict
from rules.lattice import Lattice
from rules.pieces import Placed
from rules.stacks import MAX_HEIGHT
from rules.turn import Change, Turn
from rules.turris_tower import (
    FLOATING,
    UNFINISHED,
    Spot,
    TurrisPosition,
    built,
    following,
    footprint,
    frame_of,
    pass_on,
    raster,
    removable,
    spot_of,
    spots,
    unfinished,
    widens,
    with_block,
    without_block,
)

Reason = tuple[str, tuple[Cell, ...], tuple[tuple[str, str | int], ...]]


class Step(NamedTuple):
    """A change with the block that it means, if there is one."""

    change: Change
    block: Placed | None


class Deed(NamedTuple):
    """What a turn has done in the end: blocks put down and taken away, and what then stands.

    There is no `standing` where a change is not about a block or cannot be done.
    """

    puts: list[Step]
    takes: list[Step]
    standing: TurrisPosition | None


@dataclass(frozen=True, slots=True)
class House:
    """How a table plays TURRIS; see `docs/games/turris.md`."""

    lattice: Lattice
    strict: bool
    chain: bool
    ban_passes: bool

    @property
    def side(self) -> int:
        """Cells a side of the raster."""
        return self.lattice.columns

    @property
    def floats(self) -> bool:
        """Whether the footprint is not fixed."""
        return self.side == FLOATING

    def spots(self, position: TurrisPosition) -> list[Spot]:
        """Every block that the player to move may put down."""
        return spots(position, position.banned, strict=self.strict)

    def can_place(self, position: TurrisPosition) -> bool:
        """Whether the player to move can put a block down."""
        return bool(self.spots(position))

    def can_pass(self, position: TurrisPosition) -> bool:
        """Whether the game goes on although the player to move cannot place a block."""
        free = position._replace(banned=0)
        if self.ban_passes and position.banned and self.can_place(free):
            return True  # only the ban keeps him from it, and it ends with this turn
        return self.can_place(free._replace(player=OPPONENT[position.player]))

    def is_over(self, position: TurrisPosition) -> bool:
        """Whether nobody can put a block down any more."""
        return not (self.can_place(position) or self.can_pass(position))


class Judge:
    """Judges turns under the rules of one house."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.side = house.side
        self.lattice = house.lattice
        self._raster: Raster = raster(house.side)

    def judge(self, position: TurrisPosition, turn: Turn) -> Verdict[TurrisPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if self.house.is_over(position):
            return Verdict((Break("turris.game-over"),))
        if turn.claim:
            return Verdict((Break("turris.malformed"),))
        deed = self._deed(position, turn.changes)
        if not deed.puts:
            return self._judge_without_block(position, deed)
        verdict = self.judge_order(position, deed.puts, deed.takes)
        if verdict.breaks and 1 < len(deed.puts) < 4:
            for puts in list(permutations(deed.puts))[1:]:
                other = self.judge_order(position, puts, deed.takes)
                if other.legal:
                    return other
        return replace(verdict, kept=self._kept(position, deed)) if verdict.breaks else verdict

    def _kept(self, position: TurrisPosition, deed: Deed) -> TurrisPosition | None:
        """The position behind an illegal turn that the players let stand."""
        if deed.standing is None:
            return None
        banned = self._raster.bits(
            u for step in deed.takes if step.block for u in step.block.units()
        )
        return deed.standing._replace(player=self._next(position, deed), banned=banned)

    def _judge_without_block(self, position: TurrisPosition, deed: Deed) -> Verdict[TurrisPosition]:
        """A pass, or a block of the opponent taken before the own one is put down."""
        if deed.takes:
            cells = named_cells(*(step.change for step in deed.takes))
            early = self.can_precede(position, deed.takes)
            return Verdict(
                (Break("turris.malformed", cells),),
                owed=(self._owed_block(position),) if early else (),
                unfinished=early,
                kept=self._kept(position, deed),
            )
        if self.house.can_place(position):
            return Verdict((Break("turris.pass-not-allowed"),))
        return Verdict((), pass_on(position))

    def _owed_block(self, position: TurrisPosition) -> Owed:
        """The block that must still earn what was taken away: one that touches the middle."""
        middle = self._raster.unit(frame_of(position).middle).cell
        return Owed(position.player, "stack", ((middle, 1),))

    def can_precede(self, position: TurrisPosition, takes: list[Step]) -> bool:
        """Whether a block that is yet to come can earn what was taken away."""
        if len(takes) != 1:
            return False
        return any(
            spot.middle and not any(self._take_breaks(built(position, spot), takes[0]))
            for spot in self.house.spots(position)
        )

    def judge_order(
        self, position: TurrisPosition, puts: Iterable[Step], takes: Iterable[Step]
    ) -> Verdict[TurrisPosition]:
        """The judgement on blocks put down in this order, then blocks taken away."""
        now, prefix, earned = position, "", True
        breaks: list[Break] = []
        banned = 0
        for step in puts:
            if not earned:
                breaks.append(Break("turris.bonus-not-earned", named_cells(step.change)))
            breaks += self._put_breaks(now, step, prefix)
            earned = (self.house.chain or not prefix) and is_inner(now, step.block)
            now = with_block(now, step.block) if step.block else now
            prefix = "bonus-"
        for step in takes:
            if not earned:
                breaks.append(Break("turris.bonus-not-earned", named_cells(step.change)))
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
        return self.house.can_place(now) or next(removable(now), None) is not None

    def _deed(self, position: TurrisPosition, changes: Iterable[Change]) -> Deed:
        """Blocks put down and taken away, without what was put back or taken back at once."""
        puts: list[Step] = []
        takes: list[Step] = []
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
                    puts.append(Step(change, block))
                continue
            block = self._meant(now, change)
            sound = sound and block is not None and not self._is_covered(now, block)
            now = without_block(now, block) if block else now
            mine = next((step for step in puts if block and step.block == block), None)
            if mine:
                puts.remove(mine)
            else:
                takes.append(Step(change, block))
        return Deed(puts, takes, now if sound else None)

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

    def _put_breaks(self, now: TurrisPosition, step: Step, prefix: str) -> Iterator[Break]:
        """Every rule that a block breaks, each as if the others were kept."""
        for slug, cells, facts in self._put_reasons(now, step):
            yield Break(f"turris.{prefix}{slug}", cells, facts)

    def _put_reasons(self, now: TurrisPosition, step: Step) -> Iterator[Reason]:
        change, block = step
        cells = named_cells(change)
        letter = now.player if change.letter == "?" else change.letter
        if letter != now.player:
            yield "wrong-colour", cells, (("player", now.player),)
        if letter in OPPONENT and not now.left(letter):
            yield "no-block-left", (), (("player", letter),)
        if not is_block(change):
            yield "bad-shape", cells, ()
        elif block is None:
            yield "raster" if self.house.floats else "footprint", cells, ()
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
        if self.house.floats:
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
        if not self.house.strict and levels:
            bare = [level for level in bare if level == levels[0]]
        if bare:
            yield "middle-before-edge", (middle,), (("level", bare[0]),)

    def _take_breaks(self, now: TurrisPosition, step: Step) -> Iterator[Break]:
        """Every rule that taking a block away breaks (TUR-R10)."""
        change, block = step
        cells = named_cells(change)
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

    def _next(self, position: TurrisPosition, deed: Deed) -> str:
        letters = [step.change.letter for step in deed.puts]
        mover = letters[0] if letters and letters[0] in OPPONENT else position.player
        return following((deed.standing or position)._replace(player=mover), 0)


def is_inner(now: TurrisPosition, block: Placed | None) -> bool:
    """Whether a block earns a bonus (TUR-R9)."""
    return block is not None and spot_of(now, block).middle


def _each_once(breaks: list[Break]) -> tuple[Break, ...]:
    """The breaks, each code told once."""
    found: dict[str, Break] = {}
    for reason in breaks:
        found.setdefault(reason.rule, reason)
    return tuple(found.values())
