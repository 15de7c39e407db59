"""KSAR: cuboids of 1 x 2 x 3 inside a square frame, never one on another.

Nothing is moved once it lies, so a position is the pieces on the table and those still in hand.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from rules.errors import SetupError
from rules.game import Break, GameSpec, Option, Outcome, Setup, Verdict
from rules.ksar_breaks import NEUTRAL, hand_breaks, lasting, place_breaks, things
from rules.ksar_frame import EXTENTS, Heights, frame_of
from rules.ksar_pieces import UNITS, as_stacks, divisions, is_piece, still_standing
from rules.ksar_series import longest_series
from rules.lattice import Board, Lattice
from rules.pieces import CUBOID, KitPiece, Placed
from rules.stacks import Stacks
from rules.turn import Change, Turn

COLOURS = ("R", "B")
COLOURED = 12  # pieces of each colour
NEUTRALS = 3  # neutral pieces of each player
SMALLEST_FRAME = 6  # for examples; no real frame is known to be so small

Left = tuple[int, int, int, int]


class KsarPosition(NamedTuple):
    """Pieces on the table and in hand.

    `left` counts the red and the blue pieces in hand, then red's and blue's neutral ones;
    `heights` are the cells under pieces of each height, in the bits of the frame.
    """

    player: str
    left: Left
    heights: Heights
    pieces: tuple[Placed, ...]

    @property
    def stacks(self) -> Stacks:
        """What stands on the table, unit by unit."""
        return as_stacks(self.pieces)


class KsarGame:
    """KSAR as it is set up at one table."""

    def __init__(self, setup: Setup) -> None:
        self.spec = SPEC
        self.setup = setup
        self.players = SPEC.seats(setup)
        self.lattice = lattice = (setup.board or SPEC.board).lattice
        most = SPEC.sizes[1]
        if lattice.columns != lattice.ranks or not SMALLEST_FRAME <= lattice.columns <= most:
            raise SetupError(
                f"a KSAR frame of {lattice.columns} x {lattice.ranks} units: "
                f"expected a square one of {SPEC.sizes[0]} to {most}"
            )
        settings = SPEC.settings(setup)
        self.adjoining = settings["contact"] == "adjoining"
        self.neutral_series = bool(settings["neutralOnlySeries"])
        self._frame = frame = frame_of(lattice.columns)
        first, second = self.players
        self._other = {first: second, second: first}
        # the piece of each letter for each way to lie and each place, so that positions share them
        inside = {frame.place(cell): cell for cell in lattice.cells()}
        self._put = {
            letter: [
                {place: Placed(cell, 1, extent, letter) for place, cell in inside.items()}
                for extent in EXTENTS
            ]
            for letter in (*COLOURS, NEUTRAL)
        }

    def start(self) -> KsarPosition:
        """The empty frame."""
        left = (COLOURED, COLOURED, NEUTRALS, NEUTRALS)
        return KsarPosition(self.players[0], left, (0, 0, 0), ())

    def is_start(self, stacks: Stacks) -> bool:
        """Only the empty frame."""
        return not stacks

    def start_from(self, stacks: Stacks) -> KsarPosition:
        """The empty frame; raises SetupError for anything else."""
        if stacks:
            raise SetupError("KSAR begins with an empty frame")
        return self.start()

    # --- legal turns -------------------------------------------------------------------------

    def _openings(self, position: KsarPosition) -> tuple[int, ...]:
        """For each way to lie the places where any piece fits legally."""
        objects = None if self.adjoining else things(self._frame, position.pieces)
        return self._frame.openings(position.heights, objects)

    def _hands(self, position: KsarPosition) -> list[tuple[str, Left]]:
        """The letters that the player can still put down, and what is left then."""
        red, blue, red_neutral, blue_neutral = position.left
        if position.player == "R":
            own = (red - 1, blue, red_neutral, blue_neutral)
            neutral = (red, blue, red_neutral - 1, blue_neutral)
        else:
            own = (red, blue - 1, red_neutral, blue_neutral)
            neutral = (red, blue, red_neutral, blue_neutral - 1)
        hands = ((position.player, own), (NEUTRAL, neutral))
        return [(letter, left) for letter, left in hands if min(left) >= 0]

    def _stuck(self, position: KsarPosition) -> bool:
        """Whether the player has no piece left, or none fits: the end (KSA-R8)."""
        return not self._hands(position) or not any(self._openings(position))

    def _legal(self, position: KsarPosition) -> Iterator[KsarPosition]:
        """The position behind every legal turn; its last piece is the one put down."""
        hands = self._hands(position)
        if not hands:
            return
        player = self._other[position.player]
        pieces = position.pieces
        low, middle, high = position.heights
        for kind, openings in enumerate(self._openings(position)):
            foot = self._frame.feet[kind]
            height = EXTENTS[kind].height
            tables = [(self._put[letter][kind], left) for letter, left in hands]
            fits = openings
            while fits:
                bit = fits & -fits
                fits ^= bit
                mask = foot * bit
                if height == 1:
                    heights = (low | mask, middle, high)
                elif height == 2:
                    heights = (low, middle | mask, high)
                else:
                    heights = (low, middle, high | mask)
                place = bit.bit_length() - 1
                for table, left in tables:
                    yield KsarPosition(player, left, heights, (*pieces, table[place]))

    def successors(self, position: KsarPosition) -> Iterator[KsarPosition]:
        """The position behind every legal turn."""
        return self._legal(position)

    def turns(self, position: KsarPosition) -> Iterator[Turn]:
        """Every legal turn, one way to lie after the other."""
        for after in self._legal(position):
            yield Turn(position.player, (_put_down(after.pieces[-1]),))

    def random_turn(self, position: KsarPosition, rng: random.Random) -> Turn | None:
        """Some legal turn: way and place first, then own or neutral."""
        hands = self._hands(position)
        openings = self._openings(position) if hands else ()
        total = sum(fits.bit_count() for fits in openings)
        if not total:
            return None
        pick = rng.randrange(total)
        for extent, fits in zip(EXTENTS, openings, strict=True):
            if pick < fits.bit_count():
                cell = list(self._frame.cells(fits))[pick]
                letter = rng.choice(hands)[0]
                return Turn(position.player, (_put_down(Placed(cell, 1, extent, letter)),))
            pick -= fits.bit_count()
        raise AssertionError

    # --- judging any turn --------------------------------------------------------------------

    def judge(self, position: KsarPosition, turn: Turn) -> Verdict[KsarPosition]:
        """Every rule that a turn breaks, and what follows from it."""
        if self._stuck(position):
            return Verdict((Break("ksar.game-over"),))
        changes = lasting(position.pieces, turn.changes)
        known = all(c.letter in (*COLOURS, NEUTRAL, "?") for c in changes if c.add)
        if turn.claim or not known or len(changes) > 1 or any(not c.add for c in changes):
            cells = tuple(sorted({cell for c in changes for cell in c.cells() if cell.file < 26}))
            return Verdict((Break("ksar.malformed", cells),))
        if not changes:
            return Verdict((Break("ksar.must-play", (), (("player", position.player),)),))
        change = changes[0]
        in_hand = [letter for letter, _ in self._hands(position)]
        breaks = (
            *hand_breaks(change, position.player, in_hand),
            *self._place_breaks(position.heights, position.pieces, change),
        )
        if breaks:
            return Verdict(breaks)
        return Verdict((), self._after(position, change))

    def _place_breaks(
        self, heights: Heights, pieces: tuple[Placed, ...], change: Change
    ) -> Iterator[Break]:
        return place_breaks(self._frame, heights, pieces, change, adjoining=self.adjoining)

    def _after(self, position: KsarPosition, change: Change) -> KsarPosition:
        """The position behind a legal piece; one of unknown colour is taken to be the player's."""
        hands = dict(self._hands(position))
        letter = change.letter if change.letter in hands else next(iter(hands))
        kind = EXTENTS.index(change.extent)
        piece = self._put[letter][kind][self._frame.place(change.cell)]
        heights = list(position.heights)
        heights[change.extent.height - 1] |= self._frame.footprint(piece)
        return KsarPosition(
            self._other[position.player],
            hands[letter],
            (heights[0], heights[1], heights[2]),
            (*position.pieces, piece),
        )

    # --- what a camera saw -------------------------------------------------------------------

    def _differences(
        self, position: KsarPosition, stacks: Stacks
    ) -> tuple[list[Placed], list[Placed], list[tuple[Placed, ...]]]:
        """The pieces that still stand, those that are gone, and what the new units can be."""
        units = dict(stacks.units())
        kept = still_standing(position.pieces, units)
        gone = [piece for piece in position.pieces if piece not in kept]
        return kept, gone, divisions(units)

    def readings(self, position: KsarPosition, stacks: Stacks) -> tuple[Turn, ...]:
        """The piece that came, in every way in which the new units can be pieces."""
        _kept, gone, ways = self._differences(position, stacks)
        away = tuple(_take_away(piece) for piece in sorted(gone, key=lambda p: -p.level))
        found = [
            Turn(position.player, away + tuple(_put_down(piece) for piece in way))
            for way in ways
            if way or away
        ]
        single = [turn for turn in found if len(turn.changes) == 1]
        single.sort(key=lambda turn: not self.judge(position, turn).legal)
        return tuple(single or found[:1])

    def first_of_two(self, position: KsarPosition, stacks: Stacks) -> Iterator[Turn]:
        """Of two new pieces the one that the player to move can have put down first."""
        _kept, gone, ways = self._differences(position, stacks)
        later: list[Turn] = []
        for one, two in (pair for pair in ways if len(pair) == 2 and not gone):
            for first, second in ((one, two), (two, one)):
                turn = Turn(position.player, (_put_down(first),))
                after = self.judge(position, turn).after
                if after is None or second.letter not in (after.player, NEUTRAL, "?"):
                    continue
                if self.judge(after, Turn(after.player, (_put_down(second),))).legal:
                    yield turn
                else:
                    later.append(turn)
        yield from later

    def adopt(
        self, position: KsarPosition, stacks: Stacks, player: str
    ) -> tuple[KsarPosition, ...]:
        """The table as it stands; new neutral pieces are those of whoever moved last."""
        inside = Stacks((cell, stack) for cell, stack in stacks.items() if cell in self.lattice)
        kept, _gone, ways = self._differences(position, inside)
        return tuple(self._standing(position, (*kept, *way), player) for way in ways)

    def _standing(
        self, position: KsarPosition, pieces: tuple[Placed, ...], player: str
    ) -> KsarPosition:
        red, blue = (max(0, COLOURED - _count(pieces, colour)) for colour in COLOURS)
        neutral = list(position.left[2:])
        fresh = _count(pieces, NEUTRAL) - _count(position.pieces, NEUTRAL)
        mover = COLOURS.index(self._other[player])
        for seat in (mover, 1 - mover):
            before = neutral[seat]
            neutral[seat] = min(NEUTRALS, max(0, before - fresh))
            fresh = min(0, fresh + neutral[seat] - before)
        left = (red, blue, neutral[0], neutral[1])
        return KsarPosition(player, left, self._frame.heights(pieces), pieces)

    def next_player(self, position: KsarPosition, turn: Turn) -> str:
        """The other one; after a piece of the wrong colour, the opponent of that colour."""
        letters = [c.letter for c in turn.changes if c.add]
        movers = [p for p in (*letters, turn.player, position.player) if p in self._other]
        return self._other[movers[0]]

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """The invariants of every position: whole pieces, contacts, equal heights, counts."""
        found: list[Break] = []
        outside = tuple(sorted(cell for cell in stacks if cell not in self.lattice))
        if outside:
            found.append(Break("ksar.outside-frame", outside))
        (position, *_) = self.adopt(self.start(), stacks, self.players[0])
        for place, piece in enumerate(position.pieces):
            others = position.pieces[:place] + position.pieces[place + 1 :]
            if not is_piece(piece.extent):
                found.append(Break("ksar.bad-shape", tuple(piece.cells())))
            elif piece.level > 1:
                found.append(Break("ksar.on-another-piece", tuple(piece.cells())))
            else:
                put = _put_down(piece)
                found += self._place_breaks(self._frame.heights(others), others, put)
        for letter in (*COLOURS, NEUTRAL):
            most = 2 * NEUTRALS if letter == NEUTRAL else COLOURED
            if _count(position.pieces, letter) > most:
                found.append(Break("ksar.no-piece-left", (), (("player", letter),)))
        strange = {letter for _, letter in stacks.units()} - {*COLOURS, NEUTRAL, "?"}
        if strange:
            cells = tuple(sorted(c for c, stack in stacks.items() if strange & set(stack)))
            found.append(Break("ksar.malformed", cells))
        return tuple(found)

    # --- score and end -----------------------------------------------------------------------

    def score(self, position: KsarPosition) -> dict[str, int]:
        """The longest series of own and neutral pieces, minus the neutral ones in hand."""
        hands = dict(zip(COLOURS, position.left[2:], strict=True))
        return {
            player: longest_series(
                position.pieces, player, NEUTRAL, neutral_only=self.neutral_series
            )
            - hands[player]
            for player in self.players
        }

    def outcome(self, position: KsarPosition) -> Outcome | None:
        """The higher score once somebody cannot play; at a tie whoever played last (KSA-R9)."""
        if not self._stuck(position):
            return None
        score = self.score(position)
        last = self._other[position.player]
        tie = score[last] == score[position.player]
        winner = last if tie else max(score, key=lambda player: score[player])
        facts = (("player", position.player), ("winner", winner), ("points", score[winner]))
        return Outcome((winner,), "ksar.tie-last-mover" if tie else "ksar.longest-series", facts)


def _put_down(piece: Placed) -> Change:
    return Change(True, piece.cell, piece.letter, piece.extent)


def _take_away(piece: Placed) -> Change:
    return Change(False, piece.cell, "", piece.extent)


def _count(pieces: tuple[Placed, ...], letter: str) -> int:
    """How many pieces of a letter stand there, parts of pieces being one together."""
    units = sum(
        p.extent.width * p.extent.depth * p.extent.height for p in pieces if p.letter == letter
    )
    return -(-units // UNITS)


SPEC = GameSpec(
    name="ksar",
    title="KSAR",
    board=Board(
        Lattice(10, 10, 3, 15.0, (15.0, 15.0, 15.0)),
        frame_height_mm="auto",
        frame_width_mm="auto",
    ),
    colours={"R": "red", "B": "blue", "N": "natural"},
    kit=(
        KitPiece(CUBOID, "R", COLOURED),
        KitPiece(CUBOID, "B", COLOURED),
        KitPiece(CUBOID, "N", 2 * NEUTRALS),
    ),
    players=COLOURS,
    fewest_players=2,
    options=(
        Option("contact", "adjoining", ("adjoining", "any2")),
        Option("neutralOnlySeries", default=True),
    ),
    sizes=(7, 12),
    make=KsarGame,
    size_name="frame",
)
