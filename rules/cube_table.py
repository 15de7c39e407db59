"""The cards on a CUBE table: what each player holds, what is laid down, and the play-off.

A card that nobody has told is `?`; so a hand of three unknown cards is `? ? ?`, and an unknown
pile is as many `?` as the box leaves over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from rules.cube_cards import UNKNOWN_CARD, Card
from rules.errors import SetupError

HAND = 3
CARDS_IN_BOX = 48
T = TypeVar("T")


class CardTable(NamedTuple):
    """Cards laid down and held, by seat; cards are names as `str(Card)` gives them, or `?`.

    `extra` is the card that a player has drawn for the play-off, `tied` are the seats that play it.
    """

    laid: tuple[int, ...]
    hands: tuple[tuple[str, ...], ...]
    pile: tuple[str, ...]
    extra: tuple[str, ...]
    tied: tuple[int, ...] = ()
    winner: int | None = None

    @property
    def playing_off(self) -> bool:
        """Whether only the cards of the play-off count any more."""
        return bool(self.tied) and not any(self.hands)

    def held(self, seat: int) -> tuple[str, ...]:
        """The player's cards that count; that of a play-off only while it is on."""
        drawn = self.extra[seat] if seat in self.tied else ""
        return (*self.hands[seat], drawn) if drawn else self.hands[seat]

    def holds(self, seat: int, card: str) -> bool:
        """Whether the player can have this card, as far as anybody has told."""
        held = self.held(seat)
        return card in held or UNKNOWN_CARD in held

    def lay_down(self, seat: int, card: str) -> CardTable:
        """The card face up, and another drawn for it; a card of the play-off wins."""
        laid = _with(self.laid, seat, self.laid[seat] + 1)
        hand, extra = self.hands[seat], self.extra[seat] if seat in self.tied else ""
        if card not in hand and (card == extra or UNKNOWN_CARD not in hand):
            return self._replace(laid=laid, extra=_with(self.extra, seat, ""), winner=seat)
        left = list(hand)
        left.remove(card if card in hand else UNKNOWN_CARD)
        hands = _with(self.hands, seat, (*left, *self.pile[:1]))
        return self._replace(laid=laid, hands=hands, pile=self.pile[1:])

    def deal_play_off(self, tied: Iterable[int]) -> CardTable:
        """One more card for each tied player who has none yet, in this order."""
        seats = tuple(tied)
        extra, pile = list(self.extra), self.pile
        for seat in seats:
            if not extra[seat]:
                extra[seat], pile = pile[0], pile[1:]
        return self._replace(extra=tuple(extra), pile=pile, tied=tuple(sorted(seats)))

    def can_deal(self, tied: Iterable[int]) -> bool:
        """Whether the pile has a card for each of them."""
        return len(self.pile) >= sum(1 for seat in tied if not self.extra[seat])

    def put_hands_aside(self) -> CardTable:
        """From now on only the cards of the play-off count."""
        return self._replace(hands=((),) * len(self.hands))


def _with(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])


def first_table(players: tuple[str, ...], details: Mapping[str, str]) -> CardTable:
    """Hands and pile before the first turn; raises SetupError.

    A pile that is told deals the hands that are not, three cards each in turn order.
    """
    pile = _names("cards", details["cards"]) if "cards" in details else ()
    dealing = "cards" in details and not any(key.startswith("hand.") for key in details)
    hands: list[tuple[str, ...]] = []
    for player in players:
        key = f"hand.{player}"
        if dealing:
            hands.append(pile[:HAND])
            pile = pile[HAND:]
        else:
            hands.append(_names(key, details[key]) if key in details else (UNKNOWN_CARD,) * HAND)
    if "cards" not in details:
        pile = (UNKNOWN_CARD,) * (CARDS_IN_BOX - HAND * len(players))
    count = len(players)
    return CardTable((0,) * count, tuple(hands), pile, ("",) * count)


def _names(key: str, text: str) -> tuple[str, ...]:
    """The cards of a text, separated by blanks."""
    words = text.split()
    if len(words) > (HAND if key.startswith("hand") else CARDS_IN_BOX):
        raise SetupError(f"{key} has {len(words)} cards; a hand has {HAND}, the box {CARDS_IN_BOX}")
    return tuple(card_name(word) for word in words)


def card_name(text: str) -> str:
    """The one name of a card in whichever direction it is written; raises NotationError."""
    return UNKNOWN_CARD if text == UNKNOWN_CARD else str(Card.parse(text))
