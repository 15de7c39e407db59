"""KEWBZ: corners and towers on a square board.

A turn puts one cube on the board, next to another, and then stacks cubes on every corner that it
creates or extends. Positions hold their cells with a rim of empty ones around the board, so that
neighbours need no test for the edge.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple, cast

from rules.cells import Cell
from rules.errors import SetupError
from rules.game import Break, GameSpec, Option, Outcome, Owed, Setup, Verdict
from rules.lattice import Board, Lattice
from rules.pieces import CUBE, KitPiece
from rules.stacks import Stacks
from rules.turn import Change, Turn

TOWER = 5  # the most cubes in one tower
COLOURS = ("B", "Y")


class KewbzPosition(NamedTuple):
    """What stands where, cell by cell with the rim, the cubes left of B and Y, who is to move."""

    cells: tuple[str, ...]
    base: int  # one bit for each occupied cell
    left: tuple[int, int]
    player: str
    over: bool = False

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""
        shared = shared_cells(len(self.cells))
        return Stacks((shared[i], stack) for i, stack in enumerate(self.cells) if stack)


@cache
def shared_cells(places: int) -> tuple[Cell, ...]:
    """One cell for each place of a board with its rim, so that long games share them."""
    width = math.isqrt(places)
    return tuple(Cell(place % width - 1, place // width - 1) for place in range(places))


class _Geometry:
    """Bit arithmetic on a board of one size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.width = width = size + 2
        self.places = width * width
        self.board = sum(1 << self.place(Cell(f, r)) for f in range(size) for r in range(size))
        # each line direction with the step to a perpendicular neighbour
        self.lines = ((1, width), (-1, width), (width, 1), (-width, 1))

    def place(self, cell: Cell) -> int:
        return (cell.rank + 1) * self.width + cell.file + 1

    def cell(self, place: int) -> Cell:
        return shared_cells(self.places)[place]

    def open_cells(self, base: int) -> int:
        """The cells on which a cube may be put next."""
        if not base:
            return self.board
        beside = base | base << 1 | base >> 1
        around = beside | beside << self.width | beside >> self.width
        return around & self.board & ~base & ~self.squares(base)

    def squares(self, base: int) -> int:
        """The cells that would complete a square of four."""
        width = self.width
        up, down = base << width, base >> width
        right, left = base << 1, base >> 1
        # a bit set in `up` means that the cell below it is occupied, and so on
        return (
            (up & right & (up << 1))
            | (up & left & (up >> 1))
            | (down & right & (down << 1))
            | (down & left & (down >> 1))
        )

    def square_at(self, base: int, place: int) -> tuple[Cell, ...]:
        """The cells of the squares that a cube on this place completes, without its own."""
        found: set[int] = set()
        for step, rise in product((1, -1), (self.width, -self.width)):
            corner = (place + step, place + rise, place + step + rise)
            if all(base >> p & 1 for p in corner):
                found.update(corner)
        return tuple(sorted(self.cell(p) for p in found))


_geometry = cache(_Geometry)


class KewbzGame:
    """KEWBZ as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        lattice = (setup.board or SPEC.board).lattice
        least, most = SPEC.sizes
        if lattice.columns != lattice.ranks or not least <= lattice.columns <= most:
            raise SetupError(
                f"a KEWBZ board of {lattice.columns} x {lattice.ranks} cells: "
                f"expected a square one of {least} to {most}"
            )
        self.lattice = lattice
        settings = SPEC.settings(setup)
        self.supply = cast("int", settings["supply"])
        self.status = settings["doubleExtension"] == "status"
        self.end_by_stacking = bool(settings["endByStacking"])
        self._geometry = _geometry(lattice.columns)
        self._cells = lattice.columns * lattice.ranks
        first, second = self.players
        self._other = {first: second, second: first}

    def start(self) -> KewbzPosition:
        """The empty board."""
        cells = ("",) * self._geometry.places
        return KewbzPosition(cells, 0, (self.supply, self.supply), self.players[0])

    def is_start(self, stacks: Stacks) -> bool:
        """Only the empty board."""
        return not stacks

    def start_from(self, stacks: Stacks) -> KewbzPosition:
        """The empty board; raises SetupError for anything else."""
        if stacks:
            raise SetupError("KEWBZ begins with an empty board")
        return self.start()

    # --- what a placed cube owes -------------------------------------------------------------

    def owing(self, cells: tuple[str, ...], place: int) -> dict[int, int]:
        """Cubes owed on each place, before the cap, for a cube on an empty place (KEW-R2)."""
        width = self._geometry.width
        owed: dict[int, int] = {}
        across = (1 if cells[place - 1] else 0) + (1 if cells[place + 1] else 0)
        along = (1 if cells[place - width] else 0) + (1 if cells[place + width] else 0)
        if across and along:
            owed[place] = across * along
        for step, side in self._geometry.lines:
            there = place + step
            while cells[there]:
                branches = (1 if cells[there + side] else 0) + (1 if cells[there - side] else 0)
                if branches:
                    if self.status and there != place + step:
                        branches *= 1 + (1 if cells[there + step] else 0)
                    owed[there] = branches
                there += step
        return owed

    def _due(self, cells: tuple[str, ...], place: int) -> dict[int, int]:
        """Cubes owed on each place after the cap of five."""
        return _capped(self.owing(cells, place), cells)

    # --- legal turns -------------------------------------------------------------------------

    def successors(self, position: KewbzPosition) -> Iterator[KewbzPosition]:
        """The position behind every legal turn."""
        for after, _place, _stacked in self._legal(position):
            yield after

    def turns(self, position: KewbzPosition) -> Iterator[Turn]:
        """Every legal turn: the cube on the board first, then the towers in board order."""
        for _after, place, stacked in self._legal(position):
            yield self._turn(position.player, place, stacked)

    def _turn(self, player: str, place: int, stacked: dict[int, int]) -> Turn:
        places = [place, *(there for there in sorted(stacked) for _ in range(stacked[there]))]
        cell = self._geometry.cell
        return Turn(player, tuple(Change(True, cell(there), player) for there in places))

    def _legal(
        self, position: KewbzPosition
    ) -> Iterator[tuple[KewbzPosition, int, dict[int, int]]]:
        cells, base, left, player, over = position
        if over:
            return
        blue = player == "B"
        own = left[0] if blue else left[1]
        other = self._other[player]
        open_cells = self._geometry.open_cells(base)
        while open_cells:
            bit = open_cells & -open_cells
            open_cells ^= bit
            place = bit.bit_length() - 1
            due = self.owing(cells, place)
            if due:
                due = _capped(due, cells)
            needed = sum(due.values())
            for stacked in (due,) if needed < own else _choices(due, own - 1):
                new = list(cells)
                new[place] = player
                spent = own - 1
                for there, count in stacked.items():
                    new[there] += player * count
                    spent -= count
                after = (spent, left[1]) if blue else (left[0], spent)
                done = self._next(tuple(new), base | bit, after, other, positioned=not stacked)
                yield done, place, stacked

    def _next(
        self,
        cells: tuple[str, ...],
        base: int,
        left: tuple[int, int],
        player: str,
        *,
        positioned: bool = False,
    ) -> KewbzPosition:
        """The position with its end tested: nobody out of cubes, and somewhere to go.

        `positioned` says that the last cube played went on the board.
        """
        ends = positioned or self.end_by_stacking
        over = not (left[0] and left[1]) if ends else not left[player != "B"]
        # each empty cell must see three cubes of a square, so no board fills up below 3/7
        if not over and base.bit_count() * 7 >= self._cells * 3:
            over = not self._geometry.open_cells(base)
        return KewbzPosition(cells, base, left, player, over)

    def random_turn(self, position: KewbzPosition, rng: random.Random) -> Turn | None:
        """Some legal turn: a cell first, then how the cubes are shared out if they run short."""
        places = [] if position.over else _bits(self._geometry.open_cells(position.base))
        if not places:
            return None
        place = rng.choice(places)
        due = self._due(position.cells, place)
        spare = position.left[position.player != "B"] - 1
        if sum(due.values()) > spare:
            due = rng.choice(list(_choices(due, spare)))
        return self._turn(position.player, place, due)

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: KewbzPosition, turn: Turn) -> Verdict[KewbzPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if position.over:
            return Verdict((Break("kewbz.game-over"),))
        changes = self._lasting(position, turn.changes) if _single_cubes(turn) else None
        if changes is None or any(c.add and c.letter not in (*COLOURS, "?") for c in changes):
            return Verdict((Break("kewbz.malformed"),))
        adds = tuple(change for change in changes if change.add)
        breaks = list(self._board_breaks(position, changes, adds))
        geometry = self._geometry
        added = Counter(geometry.place(c.cell) for c in adds if c.cell in self.lattice)
        # whatever the order of the changes, a cube on an empty cell is the one that was placed
        fresh = [place for place in added if not position.cells[place]]
        placed = fresh[0] if fresh else next(iter(added), None)
        owing: dict[int, int] = {}
        stack_first = not fresh and not breaks and self._can_follow(position, added)
        high = self._too_high(position, changes, added)
        if placed is None:
            if not any(b.rule == "kewbz.off-board" for b in breaks):
                breaks.append(Break("kewbz.must-place"))
        else:
            added[placed] -= 1
            if fresh:
                breaks += self._place_breaks(position.base, fresh)
                owing = self.owing(position.cells, placed)
            else:
                breaks.append(Break("kewbz.occupied", (geometry.cell(placed),)))
        second = fresh[1:]
        if second:
            breaks.append(Break("kewbz.second-placement", tuple(map(geometry.cell, second))))
            added.subtract(second)
        breaks += self._extra(owing, added)
        if high:
            breaks.append(Break("kewbz.stack-over-cap", high))
        missing = self._missing(position, len(adds), owing, added)
        if missing:
            breaks.append(Break("kewbz.stack-missing", tuple(cell for cell, _ in missing.cells)))
        if not breaks:
            return Verdict((), self._after(position, changes))
        unfinished = stack_first or all(b.rule == "kewbz.stack-missing" for b in breaks)
        return Verdict(tuple(breaks), None, (missing,) if missing else (), unfinished)

    def _lasting(
        self, position: KewbzPosition, changes: tuple[Change, ...]
    ) -> tuple[Change, ...] | None:
        """What the changes come to when hands are off (GEN-R1); None if they cannot be done."""
        if all(change.add for change in changes):
            return changes
        standing = dict(position.stacks)
        for change in changes:
            stack = standing.get(change.cell, "")
            if not change.add and not stack:
                return None
            standing[change.cell] = stack + change.letter if change.add else stack[:-1]
        return self._changes(position, Stacks(standing))

    def _board_breaks(
        self, position: KewbzPosition, changes: tuple[Change, ...], adds: tuple[Change, ...]
    ) -> Iterator[Break]:
        """Cubes beside the board, moved ones, cubes of the wrong colour and too many of them."""
        outside = [c.cell for c in changes if c.cell not in self.lattice]
        if outside:
            yield Break("kewbz.off-board", tuple(dict.fromkeys(outside)))
        moved = [c.cell for c in changes if not c.add and c.cell in self.lattice]
        if moved:
            yield Break("kewbz.cube-moved", tuple(dict.fromkeys(moved)))
        wrong = [c.cell for c in adds if c.letter not in (position.player, "?")]
        if wrong:
            facts = (("player", position.player),)
            yield Break("kewbz.wrong-colour", tuple(dict.fromkeys(wrong)), facts)
        used = Counter(position.player if c.letter == "?" else c.letter for c in adds)
        for letter, left in zip(COLOURS, position.left, strict=True):
            if used[letter] > left:
                yield Break("kewbz.supply-exceeded", (), (("left", left), ("player", letter)))

    def _place_breaks(self, base: int, fresh: list[int]) -> Iterator[Break]:
        """The rules about a cube that goes on the board, for each one where there are several."""
        geometry = self._geometry
        waiting = list(fresh)
        while waiting:
            free = geometry.open_cells(base)
            place = next((place for place in waiting if free >> place & 1), waiting[0])
            here = (geometry.cell(place),)
            square = geometry.square_at(base, place)
            if square:
                yield Break("kewbz.square", here + square, (("cell", str(here[0])),))
            elif not free >> place & 1:
                yield Break("kewbz.not-adjacent", here)
            waiting.remove(place)
            base |= 1 << place

    def _too_high(
        self, position: KewbzPosition, changes: tuple[Change, ...], added: Counter[int]
    ) -> tuple[Cell, ...]:
        """The towers that became higher than five."""
        place = self._geometry.place
        taken = Counter(place(c.cell) for c in changes if not c.add and c.cell in self.lattice)
        return tuple(
            sorted(
                self._geometry.cell(there)
                for there, count in added.items()
                if len(position.cells[there]) - taken[there] + count > TOWER
            )
        )

    def _can_follow(self, position: KewbzPosition, added: Counter[int]) -> bool:
        """Whether a cube on the board, yet to come, makes these tower cubes legal."""
        places = _bits(self._geometry.open_cells(position.base))
        return bool(added) and any(
            all(count <= due.get(there, 0) for there, count in added.items())
            for due in (self._due(position.cells, place) for place in places)
        )

    def _extra(self, owing: dict[int, int], added: Counter[int]) -> Iterator[Break]:
        """Cubes stacked where none is owed, or more than are."""
        extra = [there for there, count in added.items() if count > owing.get(there, 0)]
        if extra:
            yield Break("kewbz.stack-extra", tuple(sorted(map(self._geometry.cell, extra))))

    def _missing(
        self, position: KewbzPosition, spent: int, owing: dict[int, int], added: Counter[int]
    ) -> Owed | None:
        """Cubes still owed while the player has any left."""
        missing = {
            there: short
            for there, count in owing.items()
            if (short := min(count, TOWER - (len(position.cells[there]) or 1)) - added[there]) > 0
        }
        if not missing or spent >= position.left[position.player != "B"]:
            return None
        cells = sorted((self._geometry.cell(there), count) for there, count in missing.items())
        return Owed(position.player, "stack", tuple(cells))

    def _after(self, position: KewbzPosition, changes: tuple[Change, ...]) -> KewbzPosition:
        new = list(position.cells)
        base = position.base
        for change in changes:
            place = self._geometry.place(change.cell)
            new[place] += position.player
            base |= 1 << place
        blue, other = position.left
        spent = len(changes)
        left = (blue - spent, other) if position.player == "B" else (blue, other - spent)
        player = self._other[position.player]
        return self._next(tuple(new), base, left, player, positioned=spent == 1)

    # --- what a camera saw -------------------------------------------------------------------

    def readings(self, position: KewbzPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """The one turn that makes this difference, the cube on the board before the towers."""
        changes = self._changes(position, stacks)
        return (Turn(position.player, changes),) if changes else ()

    def _changes(self, position: KewbzPosition, stacks: Stacks) -> tuple[Change, ...]:
        """What was taken away, then what was put on the board, then on towers."""
        before = position.stacks
        away: list[Change] = []
        placed: list[Change] = []
        stacked: list[Change] = []
        for cell in before.differing(stacks):
            old, new = before.get(cell, ""), stacks.get(cell, "")
            same = 0
            while same < min(len(old), len(new)) and (old[same] == new[same] or new[same] == "?"):
                same += 1
            away += [Change(False, cell)] * (len(old) - same)
            added = [Change(True, cell, letter) for letter in new[same:]]
            if not old:
                placed += added[:1]
                added = added[1:]
            stacked += added
        placed.sort(key=lambda change: change.letter != position.player)
        return (*away, *placed, *stacked)

    def first_of_two(self, position: KewbzPosition, stacks: Stacks) -> Iterator[Turn]:
        """The turn made of everything in the mover's colour, if that is a legal turn."""
        changes = self._changes(position, stacks)
        own = tuple(c for c in changes if c.add and c.letter == position.player)
        if own and len(own) < len(changes):
            turn = Turn(position.player, own)
            if self.judge(position, turn).legal:
                yield turn

    def adopt(self, position: KewbzPosition, stacks: Stacks, player: str) -> tuple[KewbzPosition]:
        """The table as it stands; the cubes left are those that do not stand on it."""
        del position  # nothing but the stacks matters here
        geometry = self._geometry
        cells = [""] * geometry.places
        base = 0
        for cell, stack in stacks.items():
            if cell in self.lattice:
                place = geometry.place(cell)
                cells[place] = stack
                base |= 1 << place
        left = (max(0, self.supply - stacks.count("B")), max(0, self.supply - stacks.count("Y")))
        return (self._next(tuple(cells), base, left, player),)

    def next_player(self, position: KewbzPosition, turn: Turn) -> str:
        """The other one; after a cube of the wrong colour, the opponent of that colour."""
        placed = [c.letter for c in turn.changes if c.add and c.letter in COLOURS]
        return self._other[placed[0] if placed else position.player]

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants that every position keeps."""
        found: list[Break] = []
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            found.append(Break("kewbz.off-board", outside))
        (position,) = self.adopt(self.start(), stacks, self.players[0])
        geometry = self._geometry
        for place in _bits(position.base):
            square = geometry.square_at(position.base, place)
            if square and geometry.cell(place) < min(square):
                cell = geometry.cell(place)
                found.append(Break("kewbz.square", (cell, *square), (("cell", str(cell)),)))
        high = tuple(sorted(cell for cell, stack in stacks.items() if len(stack) > TOWER))
        if high:
            found.append(Break("kewbz.stack-over-cap", high))
        for letter in COLOURS:
            if stacks.count(letter) > self.supply:
                facts = (("left", self.supply), ("player", letter))
                found.append(Break("kewbz.supply-exceeded", (), facts))
        return tuple(found)

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: KewbzPosition) -> dict[str, int]:
        """A point a cube of each tower for the owner of its top cube, minus unplayed cubes."""
        points = {"B": -position.left[0], "Y": -position.left[1]}
        for stack in position.cells:
            if len(stack) > 1 and stack[-1] in points:
                points[stack[-1]] += len(stack)
        return {player: points[player] for player in self.players}

    def outcome(self, position: KewbzPosition) -> Outcome | None:
        """Most points once a supply has run out or no cell is left."""
        if not position.over:
            return None
        score = self.score(position)
        best = max(score.values())
        winners = tuple(player for player in self.players if score[player] == best)
        empty = [c for c, left in zip(COLOURS, position.left, strict=True) if not left]
        reason = "kewbz.supply-empty" if empty else "kewbz.no-cell-left"
        facts = (("player", empty[0]),) if empty else ()
        return Outcome(winners if len(winners) == 1 else (), reason, facts)


def _bits(mask: int) -> list[int]:
    """The places of the bits that are set."""
    found = []
    while mask:
        bit = mask & -mask
        found.append(bit.bit_length() - 1)
        mask ^= bit
    return found


def _capped(owing: dict[int, int], cells: tuple[str, ...]) -> dict[int, int]:
    """What is owed, no tower higher than five (KEW-R9)."""
    return {
        there: min(count, TOWER - (len(cells[there]) or 1))
        for there, count in owing.items()
        if len(cells[there]) < TOWER
    }


def _single_cubes(turn: Turn) -> bool:
    """Whether the turn moves nothing but single cubes."""
    return not turn.claim and all(c.extent == (1, 1, 1) and c.other is None for c in turn.changes)


def _choices(due: dict[int, int], cubes: int) -> Iterator[dict[int, int]]:
    """Every way to stack what is due, or all the cubes left where they do not suffice (KEW-R10)."""
    if sum(due.values()) <= cubes:
        yield due
        return
    places = list(due)
    for counts in product(*(range(due[there] + 1) for there in places)):
        if sum(counts) == cubes:
            yield {there: count for there, count in zip(places, counts, strict=True) if count}


SPEC = GameSpec(
    name="kewbz",
    title="KEWBZ",
    board=Board(Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)), (12.0, 12.0, 12.0, 12.0)),
    colours={"B": "blue", "Y": "yellow"},
    kit=(KitPiece(CUBE, "B", 36), KitPiece(CUBE, "Y", 36)),
    players=COLOURS,
    fewest_players=2,
    options=(
        Option("supply", 36, least=1, most=200),
        Option("doubleExtension", "branch", ("branch", "status")),
        Option("endByStacking", default=True),
    ),
    sizes=(5, 12),
    make=KewbzGame,
    mendable=("stack-missing", "must-place"),
)
