"""TURRIS: a tower of blocks on three by three squares, and a bonus for building in its middle.

A turn puts one block down. If that touches the middle, the player may add a bonus: one more block,
or a block of the opponent taken away. Both belong to one turn, whatever order they are written in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from rules.blocks import BLOCKS_EACH, COLOURS, OPPONENT, block_change, can_be_blocks
from rules.errors import SetupError
from rules.game import Break, GameSpec, Option, Outcome, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.pieces import BLOCK, KitPiece
from rules.stacks import Stacks
from rules.turn import Change, Turn
from rules.turris_camera import Camera
from rules.turris_judge import House, Judge
from rules.turris_tower import (
    FLOATING,
    SPAN,
    UNFINISHED,
    TurrisPosition,
    built,
    following,
    pass_on,
    placed,
    put,
    put_change,
    raster,
    removable,
    take,
    unfinished,
)
from rules.turris_views import totals


class TurrisGame:
    """TURRIS as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        settings = SPEC.settings(setup)
        floats = settings["anchor"] == "floating"
        self.side = FLOATING if floats else SPAN
        lattice = (setup.board or SPEC.board).lattice
        if lattice.columns != lattice.ranks or lattice.columns not in {SPAN, self.side}:
            raise SetupError(
                f"a TURRIS footprint of {lattice.columns} x {lattice.ranks} cells: expected 3 x 3"
                f"{', or 5 x 5 where the anchor is floating' if floats else ''}"
            )
        self.lattice = replace(lattice, columns=self.side, ranks=self.side)
        self._raster = raster(self.side)
        self._house = House(
            self.lattice,
            strict=settings["middleStrict"] == "both",
            chain=bool(settings["bonusChain"]),
            ban_passes=settings["banStuck"] == "pass",
        )
        self._judge = Judge(self._house)
        self._camera = Camera(self._judge)

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
        found = self._house.spots(position)
        player = following(position, 1)
        for spot in found:
            yield put(position, spot, player, 0)
            if spot.middle:
                yield from self._bonus_successors(built(position, spot))
        if not found and self._house.can_pass(position):
            yield pass_on(position)

    def _bonus_successors(self, now: TurrisPosition) -> Iterator[TurrisPosition]:
        player = following(now, 1)
        for spot in self._house.spots(now):
            yield put(now, spot, player, 0)
            if self._house.chain and spot.middle:
                yield from self._bonus_successors(built(now, spot))
        player = OPPONENT[now.player]  # who gets a block back is not skipped
        for spot in removable(now):
            yield take(now, spot, player, spot.bits)

    def turns(self, position: TurrisPosition) -> Iterator[Turn]:
        """Every legal turn, in the same order; a pass where no block fits."""
        player = position.player
        found = self._house.spots(position)
        for spot in found:
            change = put_change(position, spot)
            yield Turn(player, (change,))
            if spot.middle:
                for more in self._bonuses(built(position, spot)):
                    yield Turn(player, (change, *more))
        if not found and self._house.can_pass(position):
            yield Turn(player)

    def _bonuses(self, now: TurrisPosition) -> Iterator[tuple[Change, ...]]:
        """The changes of every bonus that may follow."""
        for spot in self._house.spots(now):
            change = put_change(now, spot)
            yield (change,)
            if self._house.chain and spot.middle:
                for more in self._bonuses(built(now, spot)):
                    yield (change, *more)
        for spot in removable(now):
            yield (block_change(placed(now, spot, OPPONENT[now.player]), add=False),)

    def random_turn(self, position: TurrisPosition, rng: random.Random) -> Turn | None:
        """Some legal turn: a block first, then, if it earned one, a bonus or none."""
        found = self._house.spots(position)
        if not found:
            return Turn(position.player) if self._house.can_pass(position) else None
        changes: list[Change] = []
        now = position
        while found:
            spot = rng.choice(found)
            if not spot.rise:  # only what is taken away leaves nothing higher
                block = placed(now, spot, OPPONENT[now.player])
                changes.append(block_change(block, add=False))
                break
            changes.append(put_change(now, spot))
            now = built(now, spot)
            found = []
            if spot.middle and (self._house.chain or len(changes) == 1) and rng.random() < 0.8:
                found = [*self._house.spots(now), *removable(now)]
        return Turn(position.player, tuple(changes))

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: TurrisPosition, turn: Turn) -> Verdict[TurrisPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        return self._judge.judge(position, turn)

    def next_player(self, position: TurrisPosition, turn: Turn) -> str:
        """The opponent of whose block was placed, unless he has none left."""
        return self._judge.next_player(position, turn)

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: TurrisPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """Every legal turn that makes this difference, else the illegal one that breaks least."""
        return self._camera.readings(position, stacks)

    def first_of_two(self, position: TurrisPosition, stacks: Stacks) -> Iterator[Turn]:
        """The legal turns that are part of a difference, those that explain most first."""
        return self._camera.first_of_two(position, stacks)

    def adopt(
        self, position: TurrisPosition, stacks: Stacks, player: str
    ) -> tuple[TurrisPosition, ...]:
        """The tower as it stands, known blocks kept; the likeliest cut into blocks first."""
        return self._camera.adopt(position, stacks, player)

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants that every tower keeps."""
        return tuple(self._impossible(stacks))

    def _impossible(self, stacks: Stacks) -> Iterator[Break]:
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            yield Break("turris.raster" if self._house.floats else "turris.footprint", outside)
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
        if not self._house.is_over(position):
            return None
        score = self.score(position)
        best = max(self.players, key=lambda player: score[player])
        other = OPPONENT[best]
        if score[best] == score[other]:
            return Outcome((), "turris.equal-totals", (("points", score[best]),))
        facts = (("player", best), ("points", score[best]), ("other", score[other]))
        return Outcome((best,), "turris.higher-total", facts)


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
