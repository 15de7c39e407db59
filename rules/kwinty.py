"""KWINTY: a wall of blocks, nine squares wide and high, and five squares in a line.

The wall stands on a strip of nine columns that is its window, or it floats on seventeen columns
of which the first block covers file i.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from rules.blocks import (
    ALONG,
    BLOCKS_EACH,
    COLOURS,
    OPPONENT,
    UPRIGHT,
    Standing,
    adopted,
    block_change,
    can_be_blocks,
    changed,
    is_block,
    named_cells,
    ways_between,
)
from rules.cells import Cell, Unit
from rules.errors import ImpossibleChange, SetupError
from rules.game import Break, GameSpec, Outcome, Setup, Verdict
from rules.kwinty_wall import (
    FILE_I,
    FLOATING,
    WINDOW,
    KwintyPosition,
    can_pass,
    can_place,
    five,
    following,
    fours,
    has_won,
    is_over,
    passed,
    places,
    raster,
    window,
)
from rules.lattice import Board, Lattice
from rules.pieces import BLOCK, KitPiece, Placed
from rules.stacks import MAX_HEIGHT, Stacks
from rules.turn import Change, Turn, after_changes


class KwintyGame:
    """KWINTY as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        SPEC.settings(setup)
        # without a table nothing fixes the window, and the wall floats (KWI-R2)
        strip = replace(SPEC.board.lattice, columns=FLOATING)
        lattice = setup.board.lattice if setup.board else strip
        if lattice.columns not in SPEC.sizes or lattice.ranks not in (1, lattice.columns):
            raise SetupError(
                f"a KWINTY strip of {lattice.columns} x {lattice.ranks} cells: expected 9 x 1, "
                "where the strip is the window of the wall, or 17 x 1, where the wall floats"
            )
        self.lattice = replace(lattice, ranks=1)
        self.floats = lattice.columns == FLOATING
        self._raster = raster(lattice.columns)

    def start(self) -> KwintyPosition:
        """The empty strip."""
        return KwintyPosition(
            self.lattice.columns, 0, 0, 0, 0, 0, 0, self.players[0], self.players[1]
        )

    def is_start(self, stacks: Stacks) -> bool:
        """Only the empty strip."""
        return not stacks

    def start_from(self, stacks: Stacks) -> KwintyPosition:
        """The empty strip; raises SetupError for anything else."""
        if stacks:
            raise SetupError("KWINTY begins without a wall")
        return self.start()

    # --- legal turns -------------------------------------------------------------------------

    def successors(self, position: KwintyPosition) -> Iterator[KwintyPosition]:
        """The position behind every legal turn."""
        columns, filled, light, dark, flat, upright, tops, player, moved = position
        if five(light if moved == "L" else dark, columns + 1):
            return
        new = tuple.__new__
        nobody = True
        next_player = following(position)
        for bits, start, rise, lies in places(position):
            nobody = False
            yield new(
                KwintyPosition,
                (
                    columns,
                    filled | bits,
                    light | bits if player == "L" else light,
                    dark if player == "L" else dark | bits,
                    flat | start if lies else flat,
                    upright if lies else upright | start,
                    tops + rise,
                    next_player,
                    player,
                ),
            )
        if nobody and can_pass(position):
            yield passed(position)

    def turns(self, position: KwintyPosition) -> Iterator[Turn]:
        """Every legal turn; a pass where no block fits."""
        if has_won(position):
            return
        blocks = self._blocks(position)
        for block in blocks:
            yield Turn(position.player, (block_change(block, add=True),))
        if not blocks and can_pass(position):
            yield Turn(position.player)

    def random_turn(self, position: KwintyPosition, rng: random.Random) -> Turn | None:
        """Some legal turn."""
        turns = list(self.turns(position))
        return rng.choice(turns) if turns else None

    def _blocks(self, position: KwintyPosition) -> list[Placed]:
        """Where the player to move may put a block."""
        unit = self._raster.unit
        found = []
        for _, start, _, lies in places(position):
            cell, level = unit(start.bit_length() - 1)
            found.append(Placed(cell, level, ALONG if lies else UPRIGHT, position.player))
        return found

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: KwintyPosition, turn: Turn) -> Verdict[KwintyPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if is_over(position):
            return Verdict((Break("kwinty.game-over"),))
        changes = self._net(position, turn.changes)
        if not changes and not turn.claim:
            return self._judge_pass(position)
        if turn.claim or len(changes) != 1 or not changes[0].add:
            reason = Break("kwinty.malformed", named_cells(*changes))
            return Verdict((reason,), kept=self._kept(position, turn))
        change = changes[0]
        breaks = list(self._piece_breaks(position, change))
        block = self._landing(position, change)
        breaks += self._place_breaks(position, block) if block else self._outside(change)
        if breaks or block is None:
            return Verdict(tuple(breaks), kept=self._kept(position, turn))
        return Verdict((), self._after(position, block))

    def _kept(self, position: KwintyPosition, turn: Turn) -> KwintyPosition | None:
        """The position behind an illegal turn of blocks put down that the players let stand."""
        now = position
        for change in turn.changes:
            block = self._landing(now, change) if change.add else None
            if not block or block.letter not in OPPONENT or block.level >= MAX_HEIGHT - 1:
                return None
            now = self._after(now, block)._replace(player=position.player)
        if now is position:
            return None
        moved = turn.changes[0].letter.replace("?", position.player)
        return now._replace(player=self.next_player(position, turn), moved=moved)

    def _judge_pass(self, position: KwintyPosition) -> Verdict[KwintyPosition]:
        if can_place(position):
            return Verdict((Break("kwinty.pass-not-allowed"),))
        return Verdict((), passed(position))

    def _net(self, position: KwintyPosition, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """What changes have done in the end, where something was taken away and put back."""
        if all(change.add for change in changes):
            return changes
        before = position.stacks
        try:
            after = after_changes(before, changes, self.lattice)
        except ImpossibleChange:
            return changes
        return ways_between(before, after, self._known(position), self.lattice)[0]

    def _piece_breaks(self, position: KwintyPosition, change: Change) -> Iterator[Break]:
        """What is wrong with the piece, wherever it is put."""
        cells = named_cells(change)
        colour = position.player if change.letter == "?" else change.letter
        if colour != position.player:
            yield Break("kwinty.wrong-colour", cells, (("player", position.player),))
        own = {"L": position.light, "D": position.dark}.get(colour, 0)
        if own.bit_count() >= 2 * BLOCKS_EACH - 1:
            yield Break("kwinty.no-block-left", (), (("player", colour),))
        if not _is_wall_block(change):
            yield Break("kwinty.bad-shape", cells)

    def _outside(self, change: Change) -> Iterator[Break]:
        """The reason why a block lies nowhere on the strip, if its shape is right."""
        cells = named_cells(change)
        if not _is_wall_block(change):
            return
        if self.floats or change.cell.rank:
            yield Break("kwinty.raster", cells)
        else:
            yield Break("kwinty.too-wide", cells)

    def _landing(self, position: KwintyPosition, change: Change) -> Placed | None:
        """Where a block comes to rest; None beside the strip or for another piece."""
        cells = change.cells()
        if not (_is_wall_block(change) and all(cell in self.lattice for cell in cells)):
            return None
        heights = position.tops.to_bytes(position.columns, "little")
        level = max(heights[cell.file] for cell in cells) + 1
        colour = position.player if change.letter == "?" else change.letter
        return Placed(cells[0], level, change.extent, colour)

    def _place_breaks(self, position: KwintyPosition, block: Placed) -> Iterator[Break]:
        """Every rule about the place that a block breaks there, each as if the others were kept."""
        cells = tuple(block.cells())
        level = (("level", block.level),)
        files = [cell.file for cell in cells]
        if position.filled:
            lowest, highest = window(position)
            if files[0] < lowest or files[-1] > highest:
                yield Break("kwinty.too-wide", cells)
        elif self.floats and FILE_I not in files:
            yield Break("kwinty.raster", cells)
        if block.level + block.extent.height - 1 > WINDOW:
            yield Break("kwinty.too-high", cells)
        if position.filled and not self._touches(position, block):
            yield Break("kwinty.no-contact", cells, level)
        below = [Unit(cell, block.level - 1) for cell in cells] if block.level > 1 else []
        holes = [unit.cell for unit in below if not self._has(position.filled, unit)]
        if holes:
            yield Break("kwinty.over-empty", tuple(holes), level)
        abutting = self._abutting(position, block)
        if abutting:
            yield Break("kwinty.end-to-end", cells + abutting, level)

    def _has(self, bits: int, unit: Unit) -> bool:
        in_strip = unit.cell in self.lattice and unit.level > 0
        return in_strip and bool(bits >> self._raster.place(unit) & 1)

    def _touches(self, position: KwintyPosition, block: Placed) -> bool:
        """Whether a block shares a face with another (KWI-R3)."""
        return any(
            self._has(position.filled, Unit(Cell(file + step, 0), level + rise))
            for (file, _), level in block.units()
            for step, rise in ((1, 0), (-1, 0), (0, -1))
        )

    def _abutting(self, position: KwintyPosition, block: Placed) -> tuple[Cell, ...]:
        """The cells of the blocks of its colour that meet a block end to end (KWI-R5)."""
        own = {"L": position.light, "D": position.dark}.get(block.letter, 0)
        file, level = block.cell.file, block.level
        if block.extent == UPRIGHT:
            starts, ends = position.upright & own, [(file, level - 2)]
        else:
            starts, ends = position.flat & own, [(file - 2, level), (file + 2, level)]
        found: list[Cell] = []
        for column, height in ends:
            if self._has(starts, Unit(Cell(column, 0), height)):
                found += Placed(Cell(column, 0), height, block.extent, block.letter).cells()
        return tuple(found)

    def _after(self, position: KwintyPosition, block: Placed) -> KwintyPosition:
        bits = self._raster.block_bits(block)
        start = bits & -bits
        light = block.letter == "L"
        lies = block.extent == ALONG
        rise = 257 if lies else 2
        return position._replace(
            filled=position.filled | bits,
            light=position.light | bits if light else position.light,
            dark=position.dark if light else position.dark | bits,
            flat=position.flat | start if lies else position.flat,
            upright=position.upright if lies else position.upright | start,
            tops=position.tops + (rise << 8 * block.cell.file),
            player=following(position),
            moved=position.player,
        )

    def next_player(self, position: KwintyPosition, turn: Turn) -> str:
        """The opponent of whose block was placed, unless he has none left."""
        placed = [change.letter for change in turn.changes if change.add]
        mover = placed[0] if placed and placed[0] in OPPONENT else position.player
        return following(position._replace(player=mover))

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: KwintyPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """The block that makes this difference, in every way in which it can be one."""
        gone, come = changed(position.stacks, stacks)
        if not gone and not come:
            return ()
        ways = ways_between(position.stacks, stacks, self._known(position), self.lattice)
        return tuple(Turn(position.player, changes) for changes in ways[:1])

    def first_of_two(self, position: KwintyPosition, stacks: Stacks) -> Iterator[Turn]:
        """Each legal block of the mover among what came, and a pass where no block fits."""
        gone, come = changed(position.stacks, stacks)
        if gone or not come or has_won(position):
            return
        own = {unit for unit, letter in come.items() if letter in (position.player, "?")}
        blocks = self._blocks(position)
        if not blocks and can_pass(position):
            yield Turn(position.player)
        for block in blocks:
            if own.issuperset(block.units()) and (
                len(come) > 2 or not can_place(self._after(position, block))
            ):
                yield Turn(position.player, (block_change(block, add=True),))

    def adopt(
        self, position: KwintyPosition, stacks: Stacks, player: str
    ) -> tuple[KwintyPosition, ...]:
        """The wall as it stands, known blocks kept; the likeliest cut into blocks first."""
        before = position.stacks
        units = {u: c for u, c in stacks.units() if u.cell in self.lattice}
        known = self._known(position)
        ways = adopted(known, before, units)
        old = set(known)
        found = []
        for way in ways:
            standing = self._raster.standing(units, way.blocks)
            new = {block.letter for block in way.blocks if block not in old} & {*COLOURS}
            moved = position.moved if player == position.player else position.player
            if len(new) == 1:
                (moved,) = new
            found.append(
                KwintyPosition(
                    position.columns,
                    *standing[:4],
                    standing.upright,
                    self._raster.tops(standing.filled),
                    player,
                    moved,
                )
            )
        # what breaks rule c is the less likely way to have built it
        found.sort(key=self._ends_together)
        return tuple(found)

    def _known(self, position: KwintyPosition) -> list[Placed]:
        standing = Standing(
            position.filled, position.light, position.dark, position.flat, 0, position.upright
        )
        return list(self._raster.blocks(standing))

    def _ends_together(self, position: KwintyPosition) -> int:
        """How often two blocks of one colour meet end to end."""
        stride = position.columns + 1
        return sum(
            (flat & flat >> 2).bit_count() + (upright & upright >> 2 * stride).bit_count()
            for colour in (position.light, position.dark)
            for flat, upright in ((position.flat & colour, position.upright & colour),)
        )

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants that every wall keeps."""
        return tuple(self._impossible(stacks))

    def _impossible(self, stacks: Stacks) -> Iterator[Break]:
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            yield Break("kwinty.raster", outside)
        cells = sorted(cell for cell in stacks if cell in self.lattice)
        if not cells:
            return
        if self.floats and Cell(FILE_I, 0) not in cells:
            yield Break("kwinty.raster", tuple(cells))
        width = cells[-1].file - cells[0].file + 1
        if width > WINDOW:
            yield Break("kwinty.too-wide", (cells[0], cells[-1]))
        if width > len(cells):
            gaps = (Cell(f, 0) for f in range(cells[0].file, cells[-1].file))
            beyond = [cell for cell in gaps if cell not in stacks]
            yield Break("kwinty.no-contact", (beyond[0],), (("level", 1),))
        high = tuple(cell for cell in cells if stacks.height(cell) > WINDOW)
        if high:
            yield Break("kwinty.too-high", high)
        for cell in cells:
            if "." in stacks[cell]:
                yield Break("kwinty.over-empty", (cell,), (("level", stacks.height(cell)),))
        units = {unit: letter for unit, letter in stacks.units() if unit.cell in self.lattice}
        if not can_be_blocks(units):
            yield Break("kwinty.bad-shape", tuple(cells))
        yield from self._miscounted(stacks, width)

    def _miscounted(self, stacks: Stacks, width: int) -> Iterator[Break]:
        """Too many blocks of a colour, or of one against the other before anybody can be stuck."""
        light, dark = stacks.count("L"), stacks.count("D")
        for player, squares in (("L", light), ("D", dark)):
            if squares > 2 * BLOCKS_EACH:
                yield Break("kwinty.no-block-left", (), (("player", player),))
        if width < WINDOW and abs(light - dark) > 2 + 2 * stacks.count("?"):
            facts = (("light", light), ("dark", dark))
            yield Break("kwinty.unequal", (), facts)

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: KwintyPosition) -> dict[str, int]:
        """Runs of exactly four own squares."""
        stride = position.columns + 1
        colours = {"L": position.light, "D": position.dark}
        return {player: fours(colours[player], stride) for player in self.players}

    def outcome(self, position: KwintyPosition) -> Outcome | None:
        """Five in a line at once, or more fours when no block fits any more."""
        if has_won(position):
            return Outcome((position.moved,), "kwinty.five", (("player", position.moved),))
        if not is_over(position):
            return None
        score = self.score(position)
        best = max(self.players, key=lambda player: score[player])
        other = OPPONENT[best]
        if score[best] == score[other]:
            return Outcome((), "kwinty.equal-fours", (("fours", score[best]),))
        facts = (("player", best), ("fours", score[best]), ("other", score[other]))
        return Outcome((best,), "kwinty.more-fours", facts)


def _is_wall_block(change: Change) -> bool:
    """Whether a piece is two adjoining squares of the wall."""
    return is_block(change) and change.extent in (ALONG, UPRIGHT)


SPEC = GameSpec(
    name="kwinty",
    title="KWINTY",
    board=Board(Lattice(WINDOW, 1, WINDOW, 27.0, (27.0, 27.0, 27.0))),
    colours={"L": "light", "D": "dark"},
    kit=(KitPiece(BLOCK, "L", BLOCKS_EACH), KitPiece(BLOCK, "D", BLOCKS_EACH)),
    players=COLOURS,
    fewest_players=2,
    options=(),
    sizes=(WINDOW, FLOATING),
    make=KwintyGame,
)
