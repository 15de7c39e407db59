"""How CUBE ends: the round or the bag is finished, then the twin decides, then a play-off."""

from __future__ import annotations

from rules.cube_house import House
from rules.cube_position import Bag, CubePosition, bag_of, movable, twin_places
from rules.game import Outcome


def outcome_of(house: House, position: CubePosition) -> Outcome | None:
    """Who has won and why, or None while the game goes on."""
    cards = position.cards
    bag = bag_of(position.columns)
    if cards.winner is not None:
        return _won(house, position, cards.winner, "cube.play-off")
    if cards.tied and not position.claiming:
        return _unfinished_play_off(house, position, bag)
    if not is_over(house, position, bag):
        return None
    if not house.cards_told(position):
        return Outcome((), "cube.cards-not-told")
    leaders, by_twin = _leaders(house, position)
    if len(leaders) > 1:
        return Outcome((), "cube.equal-cards")
    usual = "cube.most-cards" if bag.cubes else "cube.bag-empty"
    return _won(house, position, leaders[0], "cube.twin-decides" if by_twin else usual)


def _won(house: House, position: CubePosition, seat: int, reason: str) -> Outcome:
    player = house.players[seat]
    facts = (("player", player), ("cards", position.cards.laid[seat]))
    return Outcome((player,), reason, facts)


def _unfinished_play_off(house: House, position: CubePosition, bag: Bag) -> Outcome | None:
    """A draw, where the play-off cannot go on."""
    if not bag.cubes and house.bag_draw:
        return Outcome((), "cube.equal-cards")
    tied = [house.players[seat] for seat in position.cards.tied]
    twins = any(house.has_twin(position, p) for p in tied) and twin_places(position.columns)
    loose = movable(position.columns, -1, position.start, closed_rows=house.closed_rows)
    return None if bag.cubes or loose or twins else Outcome((), "cube.stuck")


def is_over(house: House, position: CubePosition, bag: Bag) -> bool:
    """Whether nobody may act on the board any more."""
    if position.cards.winner is not None:
        return True
    if position.claiming:
        return False
    if position.cards.tied:
        return _unfinished_play_off(house, position, bag) is not None
    return _has_ended(house, position, bag)


def _has_ended(house: House, position: CubePosition, bag: Bag) -> bool:
    """Whether the bag is empty, or the round in which the target was reached complete."""
    if not bag.cubes:
        return True
    return max(position.cards.laid) >= house.target and position.ply % len(house.players) == 0


def _leaders(house: House, position: CubePosition) -> tuple[list[int], bool]:
    """The seats with most cards, among equals those whose twin stands; if there were any."""
    laid = position.cards.laid
    first = [seat for seat, cards in enumerate(laid) if cards == max(laid)]
    twin = [seat for seat in first if house.players[seat] in position.used]
    return (twin or first), len(first) > 1


def settled(house: House, position: CubePosition) -> CubePosition:
    """The position itself, or with the play-off dealt where the end finds a tie (CUB-R11)."""
    cards = position.cards
    bag = bag_of(position.columns)
    if cards.tied or cards.winner is not None or not _has_ended(house, position, bag):
        return position
    leaders, _ = _leaders(house, position)
    drawn = house.bag_draw and not bag.cubes
    if len(leaders) == 1 or drawn or not (house.cards_told(position) and cards.can_deal(leaders)):
        return position
    last = house.seats[position.mover]  # draws first
    cards = cards.deal_play_off(sorted(leaders, key=lambda s: (s - last) % len(house.players)))
    if not house.manual:
        return position._replace(player=house.following(position.mover, cards), cards=cards)
    first = next(house.clockwise(last, cards))
    return position._replace(player=first, cards=cards.put_hands_aside(), claiming=True)
