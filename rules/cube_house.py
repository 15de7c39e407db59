"""Who plays CUBE at this table, and by which house rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rules.cube_cards import COLOURS
from rules.cube_position import CubePosition
from rules.cube_table import CardTable
from rules.errors import SetupError
from rules.game import Setup, Value

PLAYERS = ("1", "2", "3", "4")
TARGETS = {2: 7, 3: 6, 4: 5}  # cards to lay down, by number of players


@dataclass(frozen=True, slots=True)
class House:
    """The players with their twins' colours, and the rulings that the table has chosen."""

    players: tuple[str, ...]
    twins: Mapping[str, str]
    manual: bool
    closed_rows: bool
    first_round_draw: bool
    taboo_placed: bool
    bag_draw: bool
    told: bool  # cards are entered before the game
    seats: Mapping[str, int] = field(default_factory=dict)

    @property
    def target(self) -> int:
        """How many cards end the game."""
        return TARGETS[len(self.players)]

    def first_round(self, position: CubePosition) -> bool:
        """Whether somebody has not had a turn yet."""
        return position.ply < len(self.players)

    def draws_only(self, position: CubePosition) -> bool:
        """Whether everybody has to draw now (CUB-R8)."""
        return self.first_round_draw and self.first_round(position)

    def cards_told(self, position: CubePosition) -> bool:
        """Whether anybody tells Kiebitz about cards at this table."""
        return self.told or any(position.cards.laid)

    def may_use_twin(self, position: CubePosition, player: str) -> bool:
        """From the turn after the first own card (CUB-R10), where cards are told at all."""
        return position.cards.laid[self.seats[player]] > 0 or not self.cards_told(position)

    def has_twin(self, position: CubePosition, player: str) -> bool:
        """Whether the player's twin is still to be played, and may be."""
        return player not in position.used and self.may_use_twin(position, player)

    def clockwise(self, seat: int, cards: CardTable) -> Iterator[str]:
        """The players still in the game, in turn order from a seat."""
        count = len(self.players)
        for step in range(count):
            there = (seat + step) % count
            if not cards.tied or there in cards.tied:
                yield self.players[there]

    def following(self, player: str, cards: CardTable) -> str:
        """Who acts after this player: the next in turn order, in a play-off the next tied one."""
        return next(self.clockwise(self.seats[player] + 1, cards))


def house_of(players: tuple[str, ...], settings: Mapping[str, Value], setup: Setup) -> House:
    """The house of a set-up; raises SetupError."""
    return House(
        players=players,
        twins=_twin_colours(players, setup),
        manual=settings["claims"] == "manual",
        closed_rows=bool(settings["closedRows"]),
        first_round_draw=bool(settings["firstRoundDrawOnly"]),
        taboo_placed=bool(settings["tabooIncludesPlaced"]),
        bag_draw=settings["bagEmptyTie"] == "draw",
        told=settings["claims"] == "manual"
        or any(key == "cards" or key.startswith("hand.") for key in setup.details),
        seats={player: seat for seat, player in enumerate(players)},
    )


def _twin_colours(players: tuple[str, ...], setup: Setup) -> dict[str, str]:
    """The colour of each player's twin; raises SetupError."""
    for key in setup.details:
        owner = key.partition(".")[2]
        if owner and owner not in players:
            raise SetupError(f"{key}: there is no player {owner!r} at this table")
    usual = dict(zip(PLAYERS, COLOURS, strict=True))
    colours = {p: setup.details.get(f"twin.{p}", usual[p]) for p in players}
    if set(colours.values()) - set(COLOURS) or len(set(colours.values())) != len(colours):
        raise SetupError(
            f"twins {' '.join(colours.values())!r}: expected different ones of {' '.join(COLOURS)}"
        )
    return colours
