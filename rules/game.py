"""What every game answers: the protocol between a game, the referee and the page.

A game is a value made by its `GameSpec` from a `Setup`. Positions are immutable and belong to
the game; everybody else looks only at `player` and `stacks`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from rules.cells import Cell
from rules.errors import IllegalTurn, SetupError, UnknownName
from rules.lattice import Board, Lattice
from rules.pieces import KitPiece
from rules.sentences import sentence
from rules.stacks import Stacks
from rules.turn import Turn

Value = str | int | bool
Owing = Literal["stack", "relocate", "bonus"]


class Break(NamedTuple):
    """One broken rule: its code, the cells concerned, and what the sentence needs to know."""

    rule: str
    cells: tuple[Cell, ...] = ()
    facts: tuple[tuple[str, str | int], ...] = ()

    def say(self, language: str = "en") -> str:
        """The reason in words that a player accepts."""
        return sentence(self.rule, language, self.cells, dict(self.facts))


class Owed(NamedTuple):
    """What a turn still needs (`stack`, `relocate`) or allows (`bonus`), by cell."""

    player: str
    what: Owing
    cells: tuple[tuple[Cell, int], ...]


class Outcome(NamedTuple):
    """How a game ended: one winner, several, or none (a draw), and the reason's code.

    The reason is a sentence code such as `kewbz.over-supply`, told like a broken rule.
    """

    winners: tuple[str, ...]
    reason: str
    facts: tuple[tuple[str, str | int], ...] = ()


class Position(Protocol):
    """What everybody may know about a position of any game."""

    @property
    def player(self) -> str:
        """Who is to move (who would be, after the end)."""

    @property
    def stacks(self) -> Stacks:
        """What stands on the table."""


P = TypeVar("P", bound=Position)


@dataclass(frozen=True, slots=True)
class Verdict(Generic[P]):
    """The judgement on one turn.

    `breaks` holds every broken rule; empty means legal. `unfinished` says that the changes are
    part of a legal turn, so that more may follow instead of a complaint. `after` is the position
    behind a legal turn; `owed` what is still to do, or, after a legal turn, allowed. `kept` is the
    position behind an illegal turn that is let stand, where the turn tells more than its stacks.
    """

    breaks: tuple[Break, ...] = ()
    after: P | None = None
    owed: tuple[Owed, ...] = ()
    unfinished: bool = False
    kept: P | None = None

    @property
    def legal(self) -> bool:
        """Whether no rule is broken."""
        return not self.breaks


class Game(Protocol[P]):
    """One game as it is set up at this table.

    `judge` is the centre: it answers for any turn, however wrong, with every broken rule.
    `readings` is the bridge from the camera: which turns of the player to move could have led to
    what is seen.
    """

    spec: GameSpec
    setup: Setup

    def __hash__(self) -> int:
        """Every set-up is a game of its own."""

    @property
    def lattice(self) -> Lattice:
        """Where pieces can stand."""

    @property
    def players(self) -> tuple[str, ...]:
        """The players' ids in turn order, the first to move first."""

    def start(self) -> P:
        """The position before the first turn."""

    def is_start(self, stacks: Stacks) -> bool:
        """Whether these stacks can be the start position (CUBE's may be any of several)."""

    def start_from(self, stacks: Stacks) -> P:
        """The position before the first turn with these stacks standing."""

    def turns(self, position: P) -> Iterator[Turn]:
        """Every legal turn; none after the end."""

    def successors(self, position: P) -> Iterator[P]:
        """The position behind every legal turn, in the order of `turns` and as fast as possible."""

    def random_turn(self, position: P, rng: random.Random) -> Turn | None:
        """Some legal turn, cheaply; None where there is none."""

    def judge(self, position: P, turn: Turn) -> Verdict[P]:
        """Every rule that a turn breaks, and what follows from it."""

    def readings(self, position: P, stacks: Stacks) -> tuple[Turn, ...]:
        """Turns of the player to move that lead from the position to these stacks, best first.

        Legal and unfinished ones first; if there is none, the most sensible illegal one.
        """

    def first_of_two(self, position: P, stacks: Stacks) -> Iterator[Turn]:
        """Complete legal turns after which another player's turn can have led to these stacks.

        For two turns in one observation; never a product of all turns with all turns.
        """

    def adopt(self, position: P, stacks: Stacks, player: str) -> tuple[P, ...]:
        """The table as it stands although no legal turn leads there, `player` to move next.

        More than one where units can be pieces in several ways; the most likely first.
        """

    def next_player(self, position: P, turn: Turn) -> str:
        """Who is to move after this turn, be it legal or kept."""

    def impossible(self, stacks: Stacks) -> tuple[Break, ...]:
        """Every reason why no succession of legal turns can lead to such stacks."""

    def score(self, position: P) -> dict[str, int]:
        """What would count for each player if the game ended now."""

    def outcome(self, position: P) -> Outcome | None:
        """Who has won and why, or None while the game goes on."""


@dataclass(frozen=True, slots=True)
class Option:
    """A ruling or number that a table may choose; the key is the part after the game's dot."""

    key: str
    default: Value
    choices: tuple[Value, ...] = ()
    least: int = 0
    most: int = 0

    def check(self, game: str, value: object) -> Value:
        """The value itself if the option allows it; raises SetupError."""
        name = f"{game}.{self.key}"
        wanted = type(self.default)
        if type(value) is not wanted or not isinstance(value, (str, int, bool)):
            kind = {bool: "true or false", int: "a whole number", str: "a text"}[wanted]
            shown = str(self.default).lower() if wanted is bool else repr(self.default)
            raise SetupError(f"{name} = {value!r}: expected {kind}, such as {shown}")
        if self.choices and value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            raise SetupError(f"{name} = {value!r}: expected one of {known}")
        if wanted is int and self.most and not self.least <= int(value) <= self.most:
            raise SetupError(f"{name} = {value!r}: expected {self.least} to {self.most}")
        return value


@dataclass(frozen=True, slots=True)
class Setup:
    """What a table decides before the first turn; what is left out is the game's default.

    `details` holds what only one game knows, such as QBQ's corners or CUBE's cards, as texts.
    What belongs to one player ends in a dot and the id: `corner.B` is what stands as `corner` in
    that player's entry of table.toml.
    """

    board: Board | None = None
    players: tuple[str, ...] = ()
    first: str = ""
    rules: Mapping[str, Value] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GameSpec:
    """A game before it is set up: names, defaults, kit, options, and how to make it."""

    name: str
    title: str
    board: Board
    colours: Mapping[str, str]
    kit: tuple[KitPiece, ...]
    players: tuple[str, ...]
    fewest_players: int
    options: tuple[Option, ...]
    sizes: tuple[int, int]
    make: Callable[[Setup], Game[Any]]
    details: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()  # the details that not everybody at the table may see
    # slugs of breaches that further changes in the same turn may mend: not told before it is over
    mendable: tuple[str, ...] = ()
    size_name: str = "size"  # another name that records may give to the size of a square board

    def option(self, key: str) -> Option:
        """The option of this key; raises UnknownName."""
        for option in self.options:
            if option.key == key:
                return option
        raise UnknownName(f"option of {self.name}", key, (o.key for o in self.options))

    def settings(self, setup: Setup) -> dict[str, Value]:
        """Every option with its value, the table's where it gives one; raises RulesError."""
        values: dict[str, Value] = {option.key: option.default for option in self.options}
        for key, value in setup.rules.items():
            values[key] = self.option(key).check(self.name, value)
        return values

    def seats(self, setup: Setup) -> tuple[str, ...]:
        """The players in turn order, the first to move first; raises SetupError."""
        players = setup.players or self.players[: max(2, self.fewest_players)]
        unknown = [p for p in players if p not in self.players]
        if unknown or len(set(players)) != len(players):
            known = " ".join(self.players)
            raise SetupError(f"players {' '.join(players)!r}: expected different ones of {known}")
        if not self.fewest_players <= len(players) <= len(self.players):
            raise SetupError(
                f"{self.title} is for {self.fewest_players} to {len(self.players)} players, "
                f"not {len(players)}"
            )
        if not setup.first:
            return players
        if setup.first not in players:
            raise SetupError(f"first = {setup.first!r} is none of the players {' '.join(players)}")
        start = players.index(setup.first)
        return players[start:] + players[:start]

    def set_up(self, setup: Setup | None = None) -> Game[Any]:
        """The game at this table; raises RulesError."""
        setup = setup or Setup()
        unknown = [key for key in setup.details if key not in self.details]
        if unknown:
            raise UnknownName(f"detail of {self.name}", unknown[0], self.details)
        return self.make(setup)


def checked_apply(game: Game[P], position: P, turn: Turn) -> P:
    """The position behind a legal turn; raises IllegalTurn with every reason."""
    verdict = game.judge(position, turn)
    if verdict.after is None or verdict.breaks:
        raise IllegalTurn(verdict.breaks)
    return verdict.after


def perft(game: Game[P], position: P, depth: int) -> int:
    """How many successions of that many legal turns there are: a fingerprint of the rules."""
    if depth == 1:
        return sum(1 for _ in game.successors(position))
    return sum(perft(game, after, depth - 1) for after in game.successors(position))
