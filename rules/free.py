"""Free building: any board, any colours, no rules; whatever changes is a turn.

Also the shortest example of a game: see docs/adding-a-game.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from string import ascii_uppercase
from typing import NamedTuple

from rules.cells import Cell
from rules.errors import ImpossibleChange, SetupError
from rules.game import Break, GameSpec, Outcome, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes


class FreePosition(NamedTuple):
    """Whose turn it is, and what stands on the cells, rank by rank from a1."""

    player: str
    columns: int
    cells: tuple[str, ...]

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        columns = self.columns
        return Stacks((Cell(i % columns, i // columns), s) for i, s in enumerate(self.cells) if s)


class FreeGame:
    """A table without rules."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        SPEC.settings(setup)  # refuses rulings: there are none
        self.lattice = (setup.board or SPEC.board).lattice
        self.colours = setup.details.get("colours", " ".join(SPEC.colours)).split()
        if not self.colours or not set(self.colours) <= {*ascii_uppercase}:
            raise SetupError(
                f"colours = {' '.join(self.colours)!r}: expected letters such as 'R Y'"
            )

    def start(self) -> FreePosition:
        """The empty table."""
        return self.start_from(Stacks())

    def is_start(self, stacks: Stacks) -> bool:
        """The empty table; from any other one the host begins."""
        return not stacks

    def start_from(self, stacks: Stacks) -> FreePosition:
        """Whatever stands there."""
        return self._standing(stacks, self.players[0])

    def _standing(self, stacks: Stacks, player: str) -> FreePosition:
        cells = tuple(stacks.get(cell, "") for cell in self.lattice.cells())
        return FreePosition(player, self.lattice.columns, cells)

    def turns(self, position: FreePosition) -> Iterator[Turn]:
        """Every single unit put down or taken away; several at once are a turn as well."""
        for cell, stack in zip(self.lattice.cells(), position.cells, strict=True):
            for letter in self.colours if len(stack) < self.lattice.levels else ():
                yield Turn(position.player, (Change(True, cell, letter),))
            if stack:
                yield Turn(position.player, (Change(False, cell),))

    def successors(self, position: FreePosition) -> Iterator[FreePosition]:
        """The position behind each of these turns."""
        player, columns, cells = position
        following = self._following(player)
        for i, stack in enumerate(cells):
            new = [stack + c for c in self.colours] if len(stack) < self.lattice.levels else []
            if stack:
                new.append(stack[:-1].rstrip("."))
            for changed in new:
                yield FreePosition(following, columns, (*cells[:i], changed, *cells[i + 1 :]))

    def random_turn(self, position: FreePosition, rng: random.Random) -> Turn | None:
        """One unit more or less somewhere."""
        i = rng.randrange(len(position.cells))
        cell, height = Cell(i % position.columns, i // position.columns), len(position.cells[i])
        if height >= self.lattice.levels or (height and rng.random() < 0.3):
            return Turn(position.player, (Change(False, cell),))
        return Turn(position.player, (Change(True, cell, rng.choice(self.colours)),))

    def judge(self, position: FreePosition, turn: Turn) -> Verdict[FreePosition]:
        """Only what cannot be done on this board is wrong."""
        outside = [c for change in turn.changes for c in change.cells() if c not in self.lattice]
        if outside:
            return Verdict((Break("free.off-board", tuple(c for c in outside if c.file < 26)),))
        try:
            stacks = after_changes(position.stacks, turn.changes, self.lattice)
        except ImpossibleChange:
            return Verdict((Break("free.malformed"),))
        if turn.claim or turn.player not in self.players:
            return Verdict((Break("free.malformed"),))
        breaks = self.impossible(stacks)
        if breaks:
            return Verdict(breaks)
        return Verdict((), self._standing(stacks, self._following(turn.player)))

    def readings(self, position: FreePosition, stacks: Stacks) -> tuple[Turn, ...]:
        """All units that went and came, as one turn."""
        gone: list[Change] = []
        come: list[Change] = []
        for cell in position.stacks.differing(stacks):
            old, new = position.stacks.get(cell, ""), stacks.get(cell, "")
            same = 0
            while same < min(len(old), len(new)) and old[same] == new[same]:
                same += 1
            gone += [Change(False, cell)] * len(old[same:].replace(".", ""))
            come += [Change(True, cell, letter) for letter in new[same:] if letter != "."]
        return (Turn(position.player, (*gone, *come)),) if gone or come else ()

    def first_of_two(self, position: FreePosition, stacks: Stacks) -> Iterator[Turn]:
        """The change may have come in two parts."""
        for turn in self.readings(position, stacks):
            for many in range(1, len(turn.changes)):
                yield turn._replace(changes=turn.changes[:many])

    def adopt(
        self, _position: FreePosition, stacks: Stacks, player: str
    ) -> tuple[FreePosition, ...]:
        """The table as it stands."""
        return (self._standing(stacks, player),)

    def next_player(self, position: FreePosition, turn: Turn) -> str:
        """The next in turn order."""
        known = turn.player in self.players
        return self._following(turn.player) if known else position.player

    def _following(self, player: str) -> str:
        return self.players[(self.players.index(player) + 1) % len(self.players)]

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """Units beside the board, or higher than the table says."""
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        high = tuple(sorted(c for c, stack in stacks.items() if len(stack) > self.lattice.levels))
        return tuple(
            Break(rule, cells, (("levels", self.lattice.levels),))
            for rule, cells in (("free.off-board", outside), ("free.too-high", high))
            if cells
        )

    def score(self, position: FreePosition) -> dict[str, int]:
        """Units of the own colour, for players who are named by a colour's letter."""
        units = "".join(position.cells)
        return {player: units.count(player) for player in self.players}

    def outcome(self, _position: FreePosition) -> Outcome | None:
        """It never ends."""
        return None


SPEC = GameSpec(
    name="free",
    title="Free building",
    board=Board(Lattice(8, 8, 4, 22.0, (20.0, 20.0, 20.0)), (12.0, 12.0, 12.0, 12.0)),
    colours={"R": "red", "Y": "yellow", "G": "green", "B": "blue"},
    kit=(),
    players=("1", "2", "3", "4", *ascii_uppercase),
    fewest_players=1,
    options=(),
    sizes=(1, 26),
    make=FreeGame,
    details=("colours",),
)
