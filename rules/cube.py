"""CUBE: columns of cubes on four by four fields, and cards that show in one of five views.

A turn draws a cube from the bag, moves one, or plays the player's own twin. After every turn cards
are laid down: `claims = free` takes each claim as it is told, `manual` asks one player after
another. As long as nobody has told Kiebitz of a card, it plays without them: twins are free, and
the end names no winner.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import cast

from rules.cells import Cell
from rules.cube_acts import CELLS, UPRIGHT, Act, Columns, act_of, column_of, compared, explanations
from rules.cube_adopt import adopted
from rules.cube_cards import COLOURS, SIDE, UNKNOWN_CARD, Card, columns_of, fulfils
from rules.cube_end import is_over, outcome_of, settled
from rules.cube_house import PLAYERS, house_of
from rules.cube_judge import act_breaks
from rules.cube_position import (
    CUBES_A_COLOUR,
    Bag,
    CubePosition,
    bag_of,
    movable,
    twin_places,
)
from rules.cube_table import card_name, first_table
from rules.errors import NotationError, SetupError
from rules.game import Break, GameSpec, Option, Outcome, Owed, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.pieces import CUBE, TWIN, KitPiece
from rules.stacks import Stacks
from rules.turn import Change, Turn, flat

CORNERS = (Cell(0, 0), Cell(3, 0), Cell(3, 3), Cell(0, 3))
START = dict(zip(CORNERS, COLOURS, strict=True))

_Step = tuple[int, int, int, str]  # from column (or -1), to column, to another (or -1), colour


class CubeGame:
    """CUBE as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        self.lattice = (setup.board or SPEC.board).lattice
        if (self.lattice.columns, self.lattice.ranks) != (SIDE, SIDE):
            raise SetupError(
                f"a CUBE board of {self.lattice.columns} x {self.lattice.ranks} fields: "
                f"expected {SIDE} x {SIDE}"
            )
        self.house = house_of(self.players, SPEC.settings(setup), setup)
        self._cards = first_table(self.players, setup.details)

    # --- the start ---------------------------------------------------------------------------

    def start(self) -> CubePosition:
        """One cube of each colour on the corners, in the usual arrangement."""
        return self.start_from(Stacks(START))

    def is_start(self, stacks: Stacks) -> bool:
        """One cube of each colour on the corners, in any arrangement."""
        standing = [stacks.get(corner, "") for corner in CORNERS]
        return len(stacks) == len(CORNERS) and sorted(standing) == sorted(COLOURS)

    def start_from(self, stacks: Stacks) -> CubePosition:
        """The position before the first turn; raises SetupError for any other arrangement."""
        if not self.is_start(stacks):
            raise SetupError("CUBE begins with one cube of each colour on the corner fields")
        frozen = tuple((CELLS.index(corner), 0) for corner in CORNERS)
        first = self.players[0]
        return CubePosition(first, columns_of(stacks), 0, -1, "", frozen, self._cards, "")

    # --- legal turns -------------------------------------------------------------------------

    def turns(self, position: CubePosition) -> Iterator[Turn]:
        """Every legal turn on the board; for a player who is asked, his known cards and passing."""
        if position.claiming:
            yield from self.claims(position, position.player)
            yield Turn(position.player)
            return
        bag = bag_of(position.columns)
        if is_over(self.house, position, bag):
            return
        stuck = True
        for *_, step in self._steps(position, bag):
            stuck = False
            yield _turn(position.player, step)
        if stuck:
            yield Turn(position.player)

    def successors(self, position: CubePosition) -> Iterator[CubePosition]:
        """The position behind every legal turn, in the order of `turns`."""
        player, columns, ply, _, _, start, cards, _, claiming = position
        house, bag = self.house, bag_of(columns)
        if claiming or bag.cubes < 2 or cards.tied or max(cards.laid) >= house.target:
            # the game may end here, or go into the play-off
            for turn in self.turns(position):
                yield cast("CubePosition", self.judge(position, turn).after)
            return
        new, kind, ply, manual = tuple.__new__, CubePosition, ply + 1, house.manual
        following = player if manual else house.following(player, cards)
        start = start if ply < len(self.players) else ()
        for after, taboo, used, _ in self._steps(position, bag):
            yield new(kind, (following, after, ply, taboo, used, start, cards, player, manual))

    def _steps(self, position: CubePosition, bag: Bag) -> Iterator[tuple[Columns, int, str, _Step]]:
        """What a player can do: the columns then, the taboo, the twins played, and the step."""
        player, columns, _, taboo, used, start, _, _, _ = position
        house = self.house
        free = [i for i, column in enumerate(columns) if len(column) < SIDE]
        for letter in bag.letters:
            for i in free:
                after = (*columns[:i], columns[i] + letter, *columns[i + 1 :])
                yield after, i if house.taboo_placed else -1, used, (-1, i, -1, letter)
        if house.draws_only(position):
            return
        for i in movable(columns, taboo, start, closed_rows=house.closed_rows):
            lifted = list(columns)
            letter = lifted[i][-1]
            lifted[i] = lifted[i][:-1]
            for j in free:
                if i != j:
                    row = lifted.copy()
                    row[j] += letter
                    yield tuple(row), j, used, (i, j, -1, letter)
        if house.has_twin(position, player):
            twin = house.twins[player]
            for i, j in twin_places(columns):
                yield _with_twin(columns, i, j, twin), -1, used + player, (-1, i, j, twin)

    def random_turn(self, position: CubePosition, rng: random.Random) -> Turn | None:
        """Some legal turn, each as likely as the others."""
        house, player, columns = self.house, position.player, position.columns
        if position.claiming:
            return rng.choice(list(self.turns(position)))
        bag = bag_of(columns)
        if is_over(house, position, bag):
            return None
        free = [i for i, column in enumerate(columns) if len(column) < SIDE]
        draws = [(-1, -1, letter) for letter in bag.letters]
        tops: list[int] = []
        twins: list[tuple[int, int]] = []
        if not house.draws_only(position):
            tops = movable(columns, position.taboo, position.start, closed_rows=house.closed_rows)
            twins = twin_places(columns) if house.has_twin(position, player) else []
        lifts = [(i, -1, columns[i][-1]) for i in tops if free not in ([], [i])]
        singles = (draws + lifts) if free else []
        count = len(singles) * len(free)
        while count + len(twins):
            pick = rng.randrange(count + len(twins))
            if pick >= count:
                return _turn(player, (-1, *twins[pick - count], house.twins[player]))
            source, other, letter = singles[pick // len(free)]
            target = free[pick % len(free)]
            if source != target:
                return _turn(player, (source, target, other, letter))
        return Turn(player)

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: CubePosition, turn: Turn) -> Verdict[CubePosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if turn.player not in self.players:
            return _broken(Break("cube.malformed"))
        if turn.claim or (position.claiming and not turn.changes):
            return self._judge_claim(position, turn)
        bag = bag_of(position.columns)
        if is_over(self.house, position, bag):
            return _broken(Break("cube.game-over"))
        if turn.changes:
            return self._judge_act(position, turn, bag)
        if next(self._steps(position._replace(player=turn.player), bag), None):
            return _broken(Break("cube.must-play"))
        return Verdict((), self._behind(position, turn.player, position.columns, -1))

    def _judge_act(self, position: CubePosition, turn: Turn, bag: Bag) -> Verdict[CubePosition]:
        """The judgement on physical changes."""
        player = turn.player
        act = act_of(position.columns, turn.changes)
        breaks = [Break("cube.claims-open")] if position.claiming else []
        breaks += act_breaks(self.house, position, player, act, bag)
        if breaks:
            return Verdict(tuple(breaks))
        if act.kind == "lift":
            cell = cast("Cell", act.source)
            owed = Owed(player, "relocate", ((cell, 1),))
            return Verdict((Break("cube.malformed", (cell,)),), None, (owed,), unfinished=True)
        columns, taboo = self._done(position.columns, player, act)
        return Verdict((), self._behind(position, player, columns, taboo, twin=act.kind == "twin"))

    def _done(self, columns: Columns, player: str, act: Act) -> tuple[Columns, int]:
        """The columns behind a legal act, and the new taboo (CUB-R7)."""
        places = [cast("int", column_of(cell)) for cell in act.cells]
        if act.kind == "twin":
            return _with_twin(columns, places[0], places[-1], self.house.twins[player]), -1
        new = list(columns)
        if act.kind == "move":
            source = cast("int", column_of(cast("Cell", act.source)))
            new[source] = new[source][:-1]
        new[places[0]] += act.letter
        return tuple(new), places[0] if act.kind == "move" or self.house.taboo_placed else -1

    def _behind(
        self,
        position: CubePosition,
        player: str,
        columns: Columns,
        taboo: int,
        *,
        twin: bool = False,
    ) -> CubePosition:
        """The position behind a turn on the board."""
        house, cards = self.house, position.cards
        if cards.tied and not cards.playing_off:
            cards = cards.put_hands_aside()
        after = CubePosition(
            player=player if house.manual else house.following(player, cards),
            columns=columns,
            ply=position.ply + 1,
            taboo=taboo,
            used=position.used + player if twin else position.used,
            start=position.start if position.ply + 1 < len(self.players) else (),
            cards=cards,
            mover=player,
            claiming=house.manual,
        )
        return after if house.manual else settled(house, after)

    # --- claims ------------------------------------------------------------------------------

    def claims(self, position: CubePosition, player: str = "") -> Iterator[Turn]:
        """The legal claims of known cards, of one player or of all; secret until they are made."""
        for name in (player,) if player else self.players:
            for card in dict.fromkeys(self.hand(position, name)):
                turn = Turn(name, (), card)
                if card != UNKNOWN_CARD and self.judge(position, turn).legal:
                    yield turn

    def hand(self, position: CubePosition, player: str) -> tuple[str, ...]:
        """The cards that a player holds, `?` for those that nobody has told; for his eyes only."""
        return position.cards.held(self.house.seats[player])

    def _judge_claim(self, position: CubePosition, turn: Turn) -> Verdict[CubePosition]:
        """The judgement on a card laid down, or on laying down no more."""
        if not turn.claim:
            return self._judge_no_claim(position, turn)
        breaks = tuple(self._claim_breaks(position, turn))
        if breaks:
            return Verdict(breaks)
        house = self.house
        cards = position.cards.lay_down(house.seats[turn.player], card_name(turn.claim))
        if cards.winner is not None:
            return Verdict((), position._replace(cards=cards, claiming=False))
        if house.manual:
            return Verdict((), position._replace(cards=cards))
        if not cards.playing_off:
            cards = cards._replace(tied=())  # one card more may have settled the tie, or made one
        following = house.following(position.mover, cards)
        return Verdict((), settled(house, position._replace(cards=cards, player=following)))

    def _claim_breaks(self, position: CubePosition, turn: Turn) -> Iterator[Break]:
        """What forbids laying down this card now (CUB-R2, CUB-R9)."""
        manual, cards = self.house.manual, position.cards
        try:
            card = card_name(turn.claim)
        except NotationError:
            yield Break("cube.malformed")
            return
        if cards.winner is not None or (manual and self.outcome(position)):
            yield Break("cube.game-over")
            return
        if not (position.claiming if manual else position.ply):
            yield Break("cube.no-claims-now")
        elif manual and turn.player != position.player:
            yield _not_asked(position)
        if not cards.holds(self.house.seats[turn.player], card):
            yield Break("cube.card-not-in-hand", (), (("card", turn.claim),))
        if card != UNKNOWN_CARD and not fulfils(position.columns, Card.parse(card)):
            yield Break("cube.card-not-fulfilled", (), (("card", turn.claim),))

    def _judge_no_claim(self, position: CubePosition, turn: Turn) -> Verdict[CubePosition]:
        """A player who is asked lays down no further card: the next one is asked, or acts."""
        if turn.player != position.player:
            return _broken(_not_asked(position))
        house, cards = self.house, position.cards
        asked = list(house.clockwise(house.seats[position.mover], cards))
        rest = asked[asked.index(position.player) + 1 :]
        if rest:
            return Verdict((), position._replace(player=rest[0]))
        following = house.following(position.mover, cards)
        return Verdict((), settled(house, position._replace(player=following, claiming=False)))

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: CubePosition, stacks: Stacks) -> tuple[Turn, ...]:
        """The turns that make this difference; a pair of one colour is taken for a twin first."""
        player = self._actor(position)
        explained = dict.fromkeys(explanations(position.columns, columns_of(stacks)))
        judged = [
            (self.judge(position, turn), turn)
            for turn in (Turn(player, changes) for changes in explained)
        ]
        legal = [turn for verdict, turn in judged if verdict.legal]
        begun = [turn for verdict, turn in judged if verdict.unfinished]
        return tuple(legal + begun) or tuple(turn for _, turn in judged[:1])

    def _actor(self, position: CubePosition) -> str:
        """Who takes the next turn on the board."""
        if position.claiming:
            return self.house.following(position.mover, position.cards)
        return position.player

    def first_of_two(self, position: CubePosition, stacks: Stacks) -> Iterator[Turn]:
        """Legal turns after which one more makes what is seen.

        Only turns that can still be seen: one whose traces the second turn has wiped out would
        explain away many an illegal turn.
        """
        bag = bag_of(position.columns)
        if position.claiming or is_over(self.house, position, bag):
            return
        _, seen = compared(position.columns, columns_of(stacks))
        differing = {i for i, column in enumerate(position.columns) if column.upper() != seen[i]}
        if len(differing) > 4:
            return
        for columns, _, _, step in self._steps(position, bag):
            touched = {i for i in step[:3] if i >= 0}
            if (
                touched <= differing
                and 0 < sum(columns[i].upper() != seen[i] for i in differing) < 3
            ):
                turn = _turn(position.player, step)
                if self._one_turn_away(self.judge(position, turn).after, stacks):
                    yield turn

    def _one_turn_away(self, position: CubePosition | None, stacks: Stacks) -> bool:
        """Whether a legal turn of the next player makes what is seen."""
        if position is None:
            return False
        position = position._replace(player=self._actor(position), claiming=False)
        return any(
            self.judge(position, Turn(position.player, changes)).legal
            for changes in explanations(position.columns, columns_of(stacks))
        )

    def adopt(
        self, position: CubePosition, stacks: Stacks, player: str
    ) -> tuple[CubePosition, ...]:
        """The table as it stands; where `player` is another one, the turn has passed on to him."""
        seen = tuple(column.upper() for column in columns_of(stacks))
        return tuple(adopted(self.house, position, seen, player))

    def next_player(self, position: CubePosition, turn: Turn) -> str:
        """Who is to move after this turn; a claim leaves the turn where it is."""
        after = self.judge(position, turn).after
        if after is not None:
            return after.player
        if turn.claim or turn.player not in self.players:
            return position.player
        return self.house.following(turn.player, position.cards)

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants that every position keeps."""
        checks = {
            "cube.off-board": [cell for cell in stacks if cell not in self.lattice],
            "cube.column-full": [cell for cell, stack in stacks.items() if len(stack) > SIDE],
            "cube.gap": [cell for cell, stack in stacks.items() if "." in stack],
            "cube.malformed": [c for c, stack in stacks.items() if set(stack) - {*COLOURS, *"?."}],
        }
        for letter in COLOURS:
            most = CUBES_A_COLOUR + (2 if letter in self.house.twins.values() else 0)
            if stacks.count(letter) > most:
                checks.setdefault("cube.colour-not-in-bag", []).extend(
                    cell for cell, stack in stacks.items() if letter in stack
                )
        return tuple(
            Break(rule, tuple(sorted({*cells}))) for rule, cells in checks.items() if cells
        )

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: CubePosition) -> dict[str, int]:
        """The cards laid down."""
        return dict(zip(self.players, position.cards.laid, strict=True))

    def outcome(self, position: CubePosition) -> Outcome | None:
        """Most cards once the round or the bag is finished, then the twin, then the play-off."""
        return outcome_of(self.house, position)


def _broken(broken: Break) -> Verdict[CubePosition]:
    return Verdict((broken,))


def _not_asked(position: CubePosition) -> Break:
    return Break("cube.claim-out-of-turn", (), (("player", position.player),))


def _turn(player: str, step: _Step) -> Turn:
    """The turn of a step."""
    source, target, other, letter = step
    cell = CELLS[target]
    if other == target:
        return Turn(player, (Change(True, cell, letter, UPRIGHT),))
    if other >= 0:
        return Turn(player, (flat(True, cell, CELLS[other], letter),))
    put = Change(True, cell, letter)
    return Turn(player, (Change(False, CELLS[source]), put) if source >= 0 else (put,))


def _with_twin(columns: Columns, one: int, other: int, letter: str) -> Columns:
    new = list(columns)
    new[one] += letter.lower()
    new[other] += letter.lower()
    return tuple(new)


SPEC = GameSpec(
    name="cube",
    title="CUBE",
    board=Board(
        Lattice(SIDE, SIDE, SIDE, 30.0, (25.0, 25.0, 25.0)),
        (12.0, 12.0, 12.0, 12.0),
        recess_mm="auto",
    ),
    colours={"R": "red", "Y": "yellow", "G": "green", "B": "blue"},
    kit=tuple(
        KitPiece(shape, letter, count)
        for letter in COLOURS
        for shape, count in ((CUBE, CUBES_A_COLOUR), (TWIN, 1))
    ),
    players=PLAYERS,
    fewest_players=2,
    options=(
        Option("claims", "free", ("free", "manual")),
        Option("closedRows", default=False),
        Option("firstRoundDrawOnly", default=False),
        Option("tabooIncludesPlaced", default=False),
        Option("bagEmptyTie", "cards", ("cards", "draw")),
    ),
    sizes=(SIDE, SIDE),
    make=CubeGame,
    details=("cards", *(f"{kind}.{p}" for kind in ("twin", "hand") for p in PLAYERS)),
    secrets=("cards", *(f"hand.{p}" for p in PLAYERS)),
)
