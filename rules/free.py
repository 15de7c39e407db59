"""Free building: any board, any colours, no rules; whatever changes is a turn.

Also the shortest example of a game: see docs/adding-a-game.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from string import ascii_uppercase
from typing import NamedTuple

from rules.errors import ImpossibleChange, SetupError
from rules.game import Break, GameSpec, Outcome, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_changes


class FreePosition(NamedTuple):
    """What stands on the table, and whose turn it is."""

    player: str
    stacks: Stacks


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
        return FreePosition(self.players[0], stacks)

    def turns(self, position: FreePosition) -> Iterator[Turn]:
        """Every single unit put down or taken away; several at once are a turn as well."""
        for cell in self.lattice.cells():
            if position.stacks.height(cell) < self.lattice.levels:
                for letter in self.colours:
                    yield Turn(position.player, (Change(True, cell, letter),))
            if cell in position.stacks:
                yield Turn(position.player, (Change(False, cell),))

    def successors(self, position: FreePosition) -> Iterator[FreePosition]:
        """The position behind each of these turns."""
        following = self._following(position.player)
        for turn in self.turns(position):
            (change,) = turn.changes
            stack = position.stacks.get(change.cell, "")
            new = stack + change.letter if change.add else stack[:-1].rstrip(".")
            yield FreePosition(following, position.stacks.with_stack(change.cell, new))

    def random_turn(self, position: FreePosition, rng: random.Random) -> Turn | None:
        """One unit more or less somewhere."""
        cell = rng.choice(list(self.lattice.cells()))
        height = position.stacks.height(cell)
        if height == self.lattice.levels or (height and rng.random() < 0.3):
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
        return Verdict((), FreePosition(self._following(turn.player), stacks))

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
        self, position: FreePosition, stacks: Stacks, player: str
    ) -> tuple[FreePosition, ...]:
        """The table as it stands."""
        return (position._replace(stacks=stacks, player=player),)

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
        return {player: position.stacks.count(player) for player in self.players}

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
