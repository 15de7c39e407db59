"""QBQ: groups of cubes creep across the board, towers tip over; the first formation wins.

Legal turns come from sets of cells (`qbq_moves`, `qbq_turns`); whatever else people do on the table
is told as an action first (`qbq_actions`) and then with every rule that it breaks (`qbq_breaks`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import cast

from rules.errors import SetupError
from rules.game import Break, GameSpec, Option, Outcome, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.pieces import CUBE, KitPiece
from rules.qbq_actions import Handled, changes_of, handle
from rules.qbq_board import CUBES, Layout, QbqPosition, Trail, geometry_of
from rules.qbq_breaks import Table
from rules.qbq_moves import Movement
from rules.qbq_seating import all_corners, given_corners, usual_corners
from rules.qbq_turns import Move, action_of, drawn_move, legal_moves
from rules.qbq_verdict import opinion, turns_between
from rules.stacks import Stacks
from rules.turn import Turn, after_changes

COLOURS = ("B", "R", "O", "G")  # clockwise, as their corners lie
_REPEATED = 3
_TRIES = 20

Result = tuple[tuple[int, ...], tuple[tuple[int, str], ...], Move]


class QbqGame:
    """QBQ as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        self.lattice = lattice = (setup.board or SPEC.board).lattice
        least, most = SPEC.sizes
        if not (least <= lattice.columns <= most and least <= lattice.ranks <= most):
            raise SetupError(
                f"a QBQ board of {lattice.columns} x {lattice.ranks} cells: "
                f"expected {least} to {most} a side, usually 6 x 6"
            )
        settings = SPEC.settings(setup)
        self._geometry = geometry = geometry_of(lattice.columns, lattice.ranks)
        self._rules = Movement(
            geometry,
            crossing=bool(settings["crossGroupAfterInsert"]),
            counting=settings["bridge"] == "count",
            whole_line=settings["fallLine"] == "whole",
            own_blocks=bool(settings["ownStackBlocks"]),
        )
        self._repetition = bool(settings["repetitionDraw"])
        seating = cast("str", settings["seating"])
        given = given_corners(setup.details, self.players, geometry)
        usual = usual_corners(self.players, seating, given)
        ways = [usual, *all_corners(self.players, seating, given)]
        self._layouts = [
            Layout(geometry, {p: geometry.corners()[corner] for p, corner in way.items()})
            for way in ways
        ]
        after = (*self.players[1:], self.players[0])
        self._next = dict(zip(self.players, after, strict=True))

    # --- the beginning -----------------------------------------------------------------------

    def start(self) -> QbqPosition:
        """Four cubes of each player on the start cells of his corner."""
        return self._begin(self._layouts[0])

    def _begin(self, layout: Layout) -> QbqPosition:
        return self._position(self.players[0], layout.starts, (), layout, None)

    def is_start(self, stacks: Stacks) -> bool:
        """Whether everybody's four cubes stand in a corner that may be his."""
        return any(self._begin(layout).stacks == stacks for layout in self._layouts)

    def start_from(self, stacks: Stacks) -> QbqPosition:
        """The start with the corners that are taken on the table; raises SetupError."""
        for layout in self._layouts:
            position = self._begin(layout)
            if position.stacks == stacks:
                return position
        raise SetupError("QBQ begins with four cubes of each player on the 2 x 2 of a corner")

    def _position(
        self,
        player: str,
        heights: tuple[int, ...],
        odd: tuple[tuple[int, str], ...],
        layout: Layout,
        trail: Trail | None,
    ) -> QbqPosition:
        if self._repetition:
            trail = Trail((player, heights), trail)
        return QbqPosition(player, heights, layout, odd, trail)

    # --- legal turns -------------------------------------------------------------------------

    def successors(self, position: QbqPosition) -> Iterator[QbqPosition]:
        """The position behind every legal turn; turns with the same effect count once."""
        if self._decided(position):
            return
        player = self._next[position.player]
        layout = position.layout
        moved = False
        for heights, odd, _ in self._legal(position):
            moved = True
            if self._repetition:
                yield self._position(player, heights, odd, layout, position.trail)
            else:
                yield QbqPosition(player, heights, layout, odd)
        if not moved:
            yield self._passed(position)

    def turns(self, position: QbqPosition) -> Iterator[Turn]:
        """Every legal turn; of several with the same effect the first."""
        if self._decided(position):
            return
        stacks = position.stacks
        moved = False
        for _, _, move in self._legal(position):
            moved = True
            yield self._turn(position.player, stacks, move)
        if not moved:
            yield Turn(position.player)

    def _turn(self, player: str, stacks: Stacks, move: Move) -> Turn:
        action = action_of(self._rules, move)
        return Turn(player, changes_of(action, stacks, player, self.lattice))

    def _legal(self, position: QbqPosition) -> Iterator[Result]:
        """Heights, mixed stacks and move of every legal turn but a pass, each effect once."""
        moves = legal_moves(self._rules, position)
        if position.odd:
            stacks = position.stacks
            for _, move in moves:
                changes = self._turn(position.player, stacks, move).changes
                after = after_changes(stacks, changes, self.lattice)
                yield *position.layout.heights(after), move
        else:
            for heights, move in moves:
                yield heights, (), move

    def random_turn(self, position: QbqPosition, rng: random.Random) -> Turn | None:
        """Some legal turn, drawn step by step."""
        if self._decided(position):
            return None
        view = position.view()
        stacks = position.stacks
        if view.cubes:
            for _ in range(_TRIES):
                move = drawn_move(self._rules, position, view, rng)
                if move:
                    return self._turn(position.player, stacks, move)
        moves = [move for _, move in legal_moves(self._rules, position)]
        if not moves:
            return Turn(position.player)
        return self._turn(position.player, stacks, rng.choice(moves))

    def _passed(self, position: QbqPosition) -> QbqPosition:
        """The position behind a pass, which is legal only where nothing else is (QBQ-R18)."""
        _, heights, layout, odd, trail = position
        return self._position(self._next[position.player], heights, odd, layout, trail)

    # --- judging any turn --------------------------------------------------------------------

    def _table(self, position: QbqPosition) -> Table:
        return Table(self._rules, position, position.view(), position.stacks)

    def judge(self, position: QbqPosition, turn: Turn) -> Verdict[QbqPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if self._decided(position):
            return Verdict((Break("qbq.game-over"),))
        table = self._table(position)
        handled = handle(table.stacks, turn.changes, position.player)
        if not self._cubes_only(turn, handled):
            return Verdict((Break("qbq.malformed"),))
        if handled.idle:
            return self._judge_pass(position, table)
        in_order = [change.add for change in turn.changes] == [True, False, True]
        said = opinion(table, handled, self.lattice, in_order=in_order)
        if said.breaks:
            return Verdict(said.breaks, None, said.owed, said.unfinished)
        heights, odd = position.layout.heights(said.after)
        player = self._next[position.player]
        after = self._position(player, heights, odd, position.layout, position.trail)
        return Verdict((), after, () if self._decided(after) else said.owed)

    def _cubes_only(self, turn: Turn, handled: Handled) -> bool:
        """Whether the turn is made of single cubes, and leaves none but of those who play."""
        single = all(c.extent == (1, 1, 1) and c.other is None for c in turn.changes)
        put = (c for c in turn.changes if c.add and c.cell in handled.strange)
        return single and not turn.claim and all(c.letter in (*self.players, "?") for c in put)

    def _judge_pass(self, position: QbqPosition, table: Table) -> Verdict[QbqPosition]:
        if next(legal_moves(self._rules, position), None) is None:
            return Verdict((), self._passed(position))
        facts = (("player", position.player),)
        breaks = [Break("qbq.pass-not-allowed", (), facts)]
        if not table.view.cubes:
            breaks.append(Break("qbq.must-enter", (), facts))
        return Verdict(tuple(breaks))

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: QbqPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """The actions with this result; a lone new cube can have been inserted elsewhere first."""
        turns = turns_between(self._table(position), stacks, self.lattice)
        judged = {turn: self.judge(position, turn) for turn in turns}
        # turns with the same effect are one: the first will do
        legal = [turn for turn, verdict in judged.items() if verdict.legal][:1]
        unfinished = [turn for turn, verdict in judged.items() if verdict.unfinished][:1]
        rest = sorted(judged, key=lambda turn: len(judged[turn].breaks))[:1]
        return (*legal, *unfinished) or tuple(rest)

    def first_of_two(self, position: QbqPosition, stacks: Stacks) -> Iterator[Turn]:
        """Turns after which the rest of the difference is the next player's.

        The mover's own cubes must then stand as they do now, but for those that were captured:
        that leaves few of his turns to be looked at closely.
        """
        if self._decided(position):
            return
        seat = position.seat
        heights, odd = position.layout.heights(stacks)
        loose = 0
        for other, there in enumerate(heights):
            if other != seat:
                loose |= there | there >> 1 | there >> 2 | there >> 3
        loose = (loose & self._geometry.all | sum(bit for bit, _ in odd)) * 15
        wanted = heights[seat] & ~loose
        before = position.stacks
        later: list[Turn] = []
        player = self._next[position.player]
        if next(legal_moves(self._rules, position), None) is None:
            yield Turn(position.player)
        for after, mixed, move in self._legal(position):
            if after[seat] & ~loose != wanted:
                continue
            then = self._position(player, after, mixed, position.layout, position.trail)
            verdicts = [self.judge(then, second) for second in self.readings(then, stacks)[:1]]
            turn = self._turn(position.player, before, move)
            if verdicts and verdicts[0].legal:
                yield turn
            elif verdicts and (verdicts[0].unfinished or self._decided(then)):
                later.append(turn)
        yield from later

    def adopt(self, position: QbqPosition, stacks: Stacks, player: str) -> tuple[QbqPosition, ...]:
        """The table as it stands; supplies are what is not on the board."""
        heights, odd = position.layout.heights(stacks)
        return (self._position(player, heights, odd, position.layout, position.trail),)

    def next_player(self, position: QbqPosition, turn: Turn) -> str:
        """The next one clockwise, after cubes of another player whoever comes after him."""
        placed = [c.letter for c in turn.changes if c.add]
        movers = [p for p in (*placed, turn.player, position.player) if p in self._next]
        return self._next[movers[0]]

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants of every position: one colour a stack, nine cubes a player."""
        found: list[Break] = []
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            found.append(Break("qbq.off-board", outside))
        strange = tuple(
            sorted(c for c, stack in stacks.items() if set(stack) - {*self.players, "?"})
        )
        if strange:
            found.append(Break("qbq.malformed", strange))
        mixed = tuple(sorted(c for c, stack in stacks.items() if len(set(stack) - {"?"}) > 1))
        if mixed:
            found.append(Break("qbq.onto-foreign", mixed))
        many = [player for player in self.players if stacks.count(player) > CUBES]
        found += [Break("qbq.supply-empty", (), (("player", player),)) for player in many]
        return tuple(found)

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: QbqPosition) -> dict[str, int]:
        """Own cubes inside the own target."""
        layout, stacks = position.layout, position.stacks
        return {
            player: sum(
                stack.count(player)
                for cell, stack in stacks.items()
                if self._geometry.bit_of.get(cell, 0) & target
            )
            for player, target in zip(layout.players, layout.targets, strict=True)
        }

    def _winner(self, position: QbqPosition) -> str | None:
        """Who has a formation: whoever moved last before the others, clockwise (QBQ-R17)."""
        layout = position.layout
        seat = position.seat - 1
        for turn in range(len(layout.players)):
            here = (seat + turn) % len(layout.players)
            if position.heights[here] in layout.wins[here]:
                player = layout.players[here]
                if not any(player in stack for _, stack in position.odd):
                    return player
        return None

    def _repeated(self, position: QbqPosition) -> bool:
        """Whether the position stands for the third time."""
        trail = position.trail
        times = 0
        while trail is not None and times < _REPEATED:
            times += trail.key == (position.player, position.heights)
            trail = trail.before
        return times >= _REPEATED

    def _decided(self, position: QbqPosition) -> bool:
        return self._winner(position) is not None or (self._repetition and self._repeated(position))

    def outcome(self, position: QbqPosition) -> Outcome | None:
        """The formation that wins, or a draw by repetition where the table wants that."""
        winner = self._winner(position)
        if winner is not None:
            cubes = position._replace(player=winner).view().cubes
            reason = {4: "square-of-four", 8: "block-of-eight", 9: "square-of-nine"}[cubes]
            return Outcome((winner,), f"qbq.{reason}", (("winner", winner),))
        if self._repetition and self._repeated(position):
            return Outcome((), "qbq.repetition")
        return None


SPEC = GameSpec(
    name="qbq",
    title="QBQ",
    board=Board(Lattice(6, 6, 9, 27.0, (25.0, 25.0, 25.0)), (10.0, 10.0, 10.0, 10.0)),
    colours={"B": "blue", "G": "green", "O": "orange", "R": "red"},
    kit=tuple(KitPiece(CUBE, letter, CUBES) for letter in "BGOR"),
    players=COLOURS,
    fewest_players=2,
    options=(
        Option("crossGroupAfterInsert", default=False),
        Option("fallLine", "reach", ("reach", "whole")),
        Option("ownStackBlocks", default=False),
        Option("bridge", "reconnect", ("reconnect", "count")),
        Option("seating", "opposite", ("opposite", "adjacent")),
        Option("repetitionDraw", default=False),
    ),
    sizes=(4, 12),
    make=QbqGame,
    details=tuple(f"corner.{letter}" for letter in "BGOR"),
    mendable=("relocation-missing",),
)
