"""CUBE: the worked examples of the rulings, each rule and option, cards, the end, random games."""

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.cells import Cell, Unit
from rules.cube import SPEC, CubeGame
from rules.cube_acts import CELLS
from rules.cube_cards import (
    COLOURS,
    VIEWS,
    Card,
    columns_of,
    fulfilled_together,
    fulfils,
    sightings,
    view_rows,
)
from rules.cube_position import CubePosition
from rules.errors import NotationError, SetupError, UnknownName
from rules.game import Setup, checked_apply, perft
from rules.judge_record import judge_record
from rules.lattice import Board, Lattice
from rules.record import parse_record
from rules.stacks import Stacks
from rules.turn import Change, Turn

HERE = Path(__file__).parent


def cube(
    players: str = "1 2", details: dict[str, str] | None = None, /, **rules: str | bool
) -> CubeGame:
    """CUBE for these players under these house rules."""
    return CubeGame(Setup(players=tuple(players.split()), details=details or {}, rules=rules))


def standing(
    game: CubeGame, stacks: dict[str, str], player: str = "1", *, ply: int = 8
) -> CubePosition:
    """A position of a later round with nothing locked by history; small letters are twins."""
    columns = tuple(stacks.get(str(cell), "") for cell in CELLS)
    used = "".join(p for p in game.players if game.house.twins[p].lower() in "".join(columns))
    start = game.start()
    return start._replace(
        columns=columns, player=player, ply=ply, start=(), used=used, mover=game.players[-1]
    )


def codes(game: CubeGame, position: CubePosition, turn: str) -> set[str]:
    """The slugs of everything wrong with a turn."""
    return {b.rule.partition(".")[2] for b in game.judge(position, Turn.parse(turn)).breaks}


def play(game: CubeGame, position: CubePosition, *turns: str) -> CubePosition:
    """The position behind legal turns."""
    for turn in turns:
        position = checked_apply(game, position, Turn.parse(turn))
    return position


SCENE = {"b3": "GB", "a2": "BY", "b2": "Y", "a1": "R", "c1": "G"}
FULL_LEVEL = {str(cell): "R" if i % 2 else "Y" for i, cell in enumerate(CELLS)}


class TestViews:
    """What is seen from above and from the four sides, and which cards that fulfils."""

    @pytest.mark.parametrize(
        ("view", "rows"),
        [
            ("south", "..../..../YB../RYG."),
            ("north", "..../..../..BY/.GGB"),
            ("east", "..../..../.YB./GYG."),
            ("west", "..../..../.BY./.GBR"),
            ("above", "..../.B../YY../R.G."),
        ],
    )
    def test_views_of_the_worked_example(self, view: str, rows: str) -> None:
        """The five views of the rulings' position, as each viewer stands there."""
        assert "/".join(view_rows(Stacks.of(SCENE), view)) == rows

    def test_t1_a_card_is_fulfilled_across_depths(self) -> None:
        """CUB-T1: Y B over R Y shows from the south, and only there."""
        found = {s.view: s.units for s in sightings(Stacks.of(SCENE), Card.parse("YB/RY"))}

        assert set(found) == {"south"}
        assert set(found["south"]) == {Unit.parse(u) for u in ("a2.2", "b3.2", "a1.1", "b2.1")}

    def test_t2_neighbours_on_the_card_are_neighbours_in_the_view(self) -> None:
        """CUB-T2: an empty field between R and G is not jumped over."""
        stacks = Stacks.of({"a2": "Y", "b2": "B", "a1": "R", "c1": "G"})

        assert not fulfilled_together(stacks, [Card.parse("YB/RG")])
        assert fulfilled_together(stacks, [Card.parse("YB./R.G")])

    def test_t3_a_thin_wall_fulfils_a_card_and_its_mirror(self) -> None:
        """CUB-T3: one row shows Y B over R G in front, and the mirror behind."""
        stacks = Stacks.of({"a1": "RY", "b1": "GB"})
        card, mirror = Card.parse("YB/RG"), Card.parse("BY/GR")

        assert card != mirror
        assert fulfilled_together(stacks, [card, mirror]) == (card, mirror)

    def test_t4_a_cube_in_front_hides_what_stands_behind(self) -> None:
        """CUB-T4: a second cube on a1 covers the Y from the south and undoes T1."""
        assert not fulfilled_together(Stacks.of({**SCENE, "a1": "RG"}), [Card.parse("YB/RY")])

    def test_a_cube_of_unknown_colour_is_not_held_against_a_card(self) -> None:
        """What no camera has seen may be any colour; the players see the card laid down."""
        assert fulfils(columns_of(Stacks.of({"a1": "?Y", "b1": "GB"})), Card.parse("YB/RG"))


class TestCards:
    """The text form of a card."""

    @pytest.mark.parametrize("text", ["YB/RY", "RYGB", "R..Y/..../..../G..B", "RY./.GB", "R/Y/G/B"])
    def test_a_card_is_one_card_however_it_is_turned(self, text: str) -> None:
        """Reading what was written gives the same card, in each of the four directions."""
        card = Card.parse(text)
        rows = text.split("/")
        for _ in range(4):
            rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
            assert Card.parse("/".join(rows)) == card
        assert Card.parse(str(card)) == card

    def test_empty_rows_around_a_card_do_not_matter(self) -> None:
        """A window drawn in full is the same card."""
        assert Card.parse("..../.YB./.RY./....") == Card.parse("YB/RY")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "YB",
            "YB/R",
            "YB/RYG",
            "YBX/R..",
            "yb/ry",
            "RYGBR",
            "Y...B/R...Y",
            "." * 41,
            "/",
            "RY/GB/RY",
        ],
    )
    def test_other_texts_are_refused(self, text: str) -> None:
        """A card names four places within four by four, in the four colours."""
        with pytest.raises(NotationError, match="is no card"):
            Card.parse(text)

    @given(
        st.lists(st.sampled_from([*COLOURS, ""]), min_size=64, max_size=64),
        st.lists(
            st.tuples(st.integers(0, 15), st.sampled_from(COLOURS)),
            min_size=4,
            max_size=4,
            unique_by=lambda placed: placed[0],
        ),
    )
    @settings(max_examples=150, deadline=None)
    def test_fulfilment_agrees_with_sliding_the_card_over_each_view(
        self, units: list[str], placed: list[tuple[int, str]]
    ) -> None:
        """The bit patterns find a card exactly where its four places match the drawn view."""
        stacks = Stacks({cell: "".join(units[4 * i : 4 * i + 4]) for i, cell in enumerate(CELLS)})
        marks = dict(placed)
        text = "/".join("".join(marks.get(4 * y + x, ".") for x in range(4)) for y in range(4))

        card = Card.parse(text)

        assert fulfils(columns_of(stacks), card) == slid(stacks, card)
        assert bool(list(sightings(stacks, card))) == slid(stacks, card)


def slid(stacks: Stacks, card: Card) -> bool:
    """Fulfilment in the plainest way: every view, direction and offset, letter by letter."""
    for view, turns in product(VIEWS, range(4)):
        seen = view_rows(stacks, view)
        rows = list(card.rows)
        for _ in range(turns):
            rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
        for right, down in product(range(5 - len(rows[0])), range(5 - len(rows))):
            if all(
                c in (".", seen[y + down][x + right])
                for y, row in enumerate(rows)
                for x, c in enumerate(row)
            ):
                return True
    return False


class TestStart:
    """The set-up."""

    @pytest.mark.parametrize(
        ("stacks", "is_start"),
        [
            ({"a1": "R", "d1": "Y", "d4": "G", "a4": "B"}, True),
            ({"a1": "B", "d1": "G", "d4": "R", "a4": "Y"}, True),
            ({"a1": "B", "d1": "B", "d4": "R", "a4": "Y"}, False),
            ({"a1": "B", "d1": "G", "d4": "R"}, False),
            ({"a1": "BY", "d1": "G", "d4": "R"}, False),
            ({"a1": "B", "d1": "G", "d4": "R", "a3": "Y"}, False),
            ({"a1": "B", "d1": "G", "d4": "R", "a4": "Y", "b2": "R"}, False),
        ],
    )
    def test_the_four_colours_stand_on_the_corners_in_any_order(
        self, stacks: dict[str, str], is_start: bool
    ) -> None:
        """Only one cube of each colour on the corner fields begins a game."""
        game = cube()
        assert game.is_start(Stacks.of(stacks)) == is_start
        if is_start:
            assert game.start_from(Stacks.of(stacks)).stacks == Stacks.of(stacks)
        else:
            with pytest.raises(SetupError):
                game.start_from(Stacks.of(stacks))

    @pytest.mark.parametrize(
        "setup",
        [
            Setup(details={"twin.1": "X"}),
            Setup(details={"twin.1": "R", "twin.2": "R"}),
            Setup(details={"twin.3": "R"}),
            Setup(details={"hand.1": "YB/R"}),
            Setup(details={"hand.1": "YB/RY YB/RY YB/RY YB/RY"}),
            Setup(details={"deck": "YB/RY"}),
            Setup(players=("1",)),
            Setup(players=("1", "5")),
            Setup(rules={"claims": "sometimes"}),
            Setup(board=Board(Lattice(5, 5, 4, 30.0, (25.0, 25.0, 25.0)))),
        ],
        ids=lambda setup: str(setup.details or setup.rules or setup.players or "board"),
    )
    def test_a_wrong_set_up_is_refused(self, setup: Setup) -> None:
        """Wrong twins, cards, players, rulings and boards are told as such."""
        with pytest.raises((SetupError, NotationError, UnknownName)):
            SPEC.set_up(setup)


LATER = {"a1": "RYG", "b1": "Y", "c1": "G", "d1": "BBBB", "a2": "R", "b2": "rG", "b3": "r"}

BROKEN = {
    "a draw": ("1 +b4R", set()),
    "a draw beside the board": ("1 +e1R", {"off-board"}),
    "a draw on a full column": ("1 +d1R", {"column-full"}),
    "a colour that no cube has": ("1 +b4X", {"malformed"}),
    "a move": ("1 -b1 +b4Y", set()),
    "a move with the cube named": ("1 -b1Y +b4Y", set()),
    "a move told backwards": ("1 +b4Y -b1", set()),
    "a move to the same field": ("1 -b1 +b1Y", {"same-place"}),
    "the same from a full column": ("1 -d1 +d1B", {"same-place"}),
    "the same told backwards": ("1 +b1Y -b1", {"same-place"}),
    "a cube put down and taken again": ("1 +b4Y -b4", {"must-play"}),
    "a move from an empty field": ("1 -b4 +c4Y", {"no-cube-there"}),
    "a move of a colour that is not there": ("1 -a1B +c4B", {"no-cube-there"}),
    "a move from beside the board": ("1 -e1 +c4Y", {"off-board"}),
    "a move off the board": ("1 -b1 +z9Y", {"off-board"}),
    "a cube that changed its colour": ("1 -b1 +c4R", {"malformed"}),
    "a move onto a full column": ("1 -b1 +d1Y", {"column-full"}),
    "a covered cube": ("1 -a1Y +c4Y", {"covered"}),
    "a covered cube, unit by unit": ("1 -a1 -a1 +a1G +c4Y", {"covered"}),
    "a covered cube pulled to the top": ("1 -a1Y +a1Y", {"covered", "same-place"}),
    "half a twin": ("1 -b3 +c4R", {"twin-fixed"}),
    "a covered half of a twin": ("1 -b2R +c4R", {"twin-fixed", "covered"}),
    "a whole twin": ("1 -b2~b3 +c3~c4R", {"twin-fixed"}),
    "a twin that is none": ("1 -a2~b1", {"malformed"}),
    "a twin where nothing stands": ("1 -c3~c4", {"no-cube-there"}),
    "a second twin": ("1 +c3~c4R", {"twin-used"}),
    "another player's twin": ("1 +c3~c4Y", {"twin-used"}),
    "a twin lying flat": ("2 +c3~c4Y", set()),
    "a twin written as a cuboid": ("2 +c3:1x2x1Y", set()),
    "a twin standing upright": ("2 +b1^Y", set()),
    "a twin across a corner": ("2 +c3~d4Y", {"twin-not-adjacent"}),
    "a twin across a gap": ("2 +a3~c3Y", {"twin-not-adjacent"}),
    "a twin upon itself": ("2 +a4~a4Y", {"twin-not-adjacent"}),
    "a twin on uneven columns": ("2 +a1~b1Y", {"twin-uneven"}),
    "a twin far away on uneven columns": ("2 +a1~c1Y", {"twin-not-adjacent", "twin-uneven"}),
    "a twin upright on three": ("2 +a1^Y", {"column-full"}),
    "a twin flat on four": ("2 +c1~d1Y", {"column-full", "twin-uneven"}),
    "a twin over the edge": ("2 +d3~e3Y", {"off-board"}),
    "a pass": ("1 pass", {"must-play"}),
    "two draws": ("1 +b4R +c4Y", {"malformed"}),
    "two moves": ("1 -b1 +b4Y -c1 +c4G", {"malformed"}),
    "a cuboid": ("1 +b4:1x2x3R", {"malformed"}),
    "a nobody": ("7 +b4R", {"malformed"}),
    "a lift alone": ("1 -b1", {"malformed"}),
    "a claim of no card": ("1 claim YB", {"malformed"}),
    "a card that does not show": ("1 claim BBB/B..", {"card-not-fulfilled"}),
    "a card that shows": ("1 claim YG/RY", set()),
}


@pytest.mark.parametrize(("turn", "broken"), BROKEN.values(), ids=BROKEN)
def test_every_broken_rule_is_told(turn: str, broken: set[str]) -> None:
    """Each rule on its own, and several at once."""
    game = cube()
    assert codes(game, standing(game, LATER), turn) == broken


def test_a_lifted_cube_is_owed_a_place() -> None:
    """A cube that may be moved and is in the hand is no mistake yet; a locked one is."""
    game = cube()
    position = standing(game, LATER)

    lifted = game.judge(position, Turn.parse("1 -b1"))
    covered = game.judge(position, Turn.parse("1 -a1Y"))

    assert lifted.unfinished
    assert lifted.owed[0].cells == ((Cell.parse("b1"), 1),)
    assert not covered.unfinished


class TestLocks:
    """Which cubes may not be moved."""

    def test_t5_a_closed_level_holds_its_cubes(self) -> None:
        """CUB-T5: all sixteen columns stand, so level 1 is closed and level 2 is free."""
        game = cube()
        position = standing(game, {**FULL_LEVEL, "b2": "YG", "c3": "YB"})

        assert codes(game, position, "1 -a1 +b4Y") == {"closed-level"}
        assert codes(game, position, "1 -b2 +b4G") == set()
        assert codes(game, position, "1 -b2Y +b4Y") == {"closed-level", "covered"}

    def test_a_twin_counts_for_a_closed_level(self) -> None:
        """A level with halves of twins in it is as closed as any."""
        game = cube()
        position = standing(game, {**FULL_LEVEL, "b2": "rG", "c2": "r"})

        assert codes(game, position, "1 -a1 +b4Y") == {"closed-level"}

    def test_closed_rows_are_a_variant(self) -> None:
        """CUB-R13: four in a line on a level are locked along either axis, columns never."""
        stacks = {
            "a2": "R",
            "b2": "RY",
            "c2": "R",
            "d2": "R",
            "d1": "G",
            "d3": "G",
            "d4": "GB",
            "a4": "RYGB",
        }
        plain, strict = cube(), cube(closedRows=True)

        assert codes(plain, standing(plain, stacks), "1 -a2 +a1R") == set()
        assert codes(strict, standing(strict, stacks), "1 -a2 +a1R") == {"closed-row"}
        assert codes(strict, standing(strict, stacks), "1 -d1 +a1G") == {"closed-row"}
        assert codes(strict, standing(strict, stacks), "1 -b2 +a1Y") == set()
        assert codes(strict, standing(strict, stacks), "1 -a4 +a1B") == set()
        level = standing(strict, FULL_LEVEL)
        assert codes(strict, level, "1 -a1 +b1Y") == {"closed-level", "closed-row"}

    def test_t7_the_moved_cube_is_taboo_for_one_turn(self) -> None:
        """CUB-T7: B may not move the cube that A has moved; after B's draw, C may."""
        game = cube("1 2 3")
        position = play(game, standing(game, LATER), "1 -b1 +b4Y")

        assert codes(game, position, "2 -b4 +c4Y") == {"taboo"}
        assert codes(game, position, "2 -b4") == {"taboo"}
        assert codes(game, play(game, position, "2 +b4R"), "3 -b4Y +c4Y") == {"covered"}
        assert codes(game, play(game, position, "2 +c4R"), "3 -b4 +c4Y") == set()

    def test_taboo_may_include_a_drawn_cube(self) -> None:
        """CUB-R7: a cube from the bag is free unless the table says otherwise."""
        plain, strict = cube(), cube(tabooIncludesPlaced=True)

        after = play(plain, standing(plain, LATER), "1 +b4Y")
        assert codes(plain, after, "2 -b4 +c4Y") == set()
        after = play(strict, standing(strict, LATER), "1 +b4Y")
        assert codes(strict, after, "2 -b4 +c4Y") == {"taboo"}

    def test_start_cubes_stay_in_the_first_round(self) -> None:
        """Everybody has one turn before a corner may be emptied; other cubes move at once."""
        game = cube("1 2 3")
        position = play(game, game.start(), "1 +a1G")

        assert codes(game, position, "2 -d1 +b2Y") == {"start-cube"}
        assert codes(game, position, "2 -a1R +b2R") == {"start-cube", "covered"}
        position = play(game, position, "2 -a1 +b2G")
        assert codes(game, position, "3 -d1 +b4Y") == {"start-cube"}
        position = play(game, position, "3 +b3G")
        assert codes(game, position, "1 -d1 +b4Y") == set()

    def test_the_first_round_may_be_for_drawing_only(self) -> None:
        """CUB-R8: under this option nobody moves a cube or plays a twin in round one."""
        game = cube(firstRoundDrawOnly=True)
        position = play(game, game.start(), "1 +a1G")

        assert codes(game, position, "2 -a1 +b2G") == {"draw-only"}
        assert codes(game, position, "2 -d1 +b2Y") == {"draw-only", "start-cube"}
        assert codes(game, position, "2 +b2~b3Y") == {"draw-only"}
        assert all(len(turn.changes) == 1 for turn in game.turns(position))
        assert codes(game, play(game, position, "2 +b2Y"), "1 -a1 +b2G") == set()


def test_t6_a_flat_twin_needs_equal_columns() -> None:
    """CUB-T6: not across heights 2 and 1; across 2 and 2 both become 3; upright not on 3."""
    game = cube()
    position = standing(game, {"a1": "YG", "b1": "Y", "c1": "YG", "d1": "BB", "a2": "GYG"})

    assert codes(game, position, "1 +a1~b1R") == {"twin-uneven"}
    after = play(game, position, "1 +c1~d1R")
    assert after.stacks[Cell.parse("c1")] == "YGR"
    assert after.stacks[Cell.parse("d1")] == "BBR"
    assert codes(game, after, "2 -c1G +a4G") == {"covered"}
    assert codes(game, position, "1 +a2^R") == {"column-full"}


def test_the_bag_holds_eight_cubes_of_a_colour() -> None:
    """A ninth cube of one colour cannot be drawn; the halves of a twin do not count."""
    game = cube()
    position = standing(game, {"a1": "RRRR", "b1": "RRR", "c1": "rr"})

    assert codes(game, position, "1 +d1R") == set()
    after = play(game, position, "1 +d1R")
    assert codes(game, after, "2 +d2R") == {"colour-not-in-bag"}
    assert codes(game, after, "2 +a1R") == {"colour-not-in-bag", "column-full"}


class TestTwinPermission:
    """CUB-R10: after the first own card, where cards are told."""

    def test_without_any_cards_told_twins_are_free(self) -> None:
        """Kiebitz does not complain about what it cannot know."""
        game = cube()
        assert codes(game, game.start(), "1 +b2~b3R") == set()

    def test_where_cards_are_told_the_first_own_one_comes_first(self) -> None:
        """A card laid down in the opponent's turn opens the own next turn."""
        game = cube("1 2", {"hand.1": "YB/RY ? ?"})
        position = standing(game, SCENE)

        assert codes(game, position, "1 +d3~d4R") == {"twin-too-early"}
        position = play(game, position, "1 +d4R")
        assert codes(game, position, "2 +d2~d3Y") == {"twin-too-early"}
        position = play(game, position, "2 +d3G", "1 claim YB/RY")
        assert position.player == "1"
        assert codes(game, position, "1 +c3~c4R") == set()

    def test_one_card_told_is_enough_to_expect_the_others(self) -> None:
        """From the first claim on, nobody may play a twin without a card."""
        game = cube()
        position = play(game, standing(game, SCENE), "1 +d4R", "1 claim YB/RY")

        assert codes(game, position, "2 +d2~d3Y") == {"twin-too-early"}
        assert codes(game, play(game, position, "2 +d3G"), "1 +c3~c4R") == set()


def near_the_end(
    game: CubeGame, laid: tuple[int, ...], stacks: dict[str, str], player: str = "1", ply: int = 8
) -> CubePosition:
    """A position with so many cards laid down."""
    position = standing(game, stacks, player, ply=ply)
    return position._replace(cards=position.cards._replace(laid=laid))


BAG_OF_ONE = {
    **{f"{f}1": "RYGB" for f in "abcd"},
    **{f"{f}2": "YGBR" for f in "abc"},
    "a4": "R", "b4": "Y", "c4": "G",
}  # fmt: skip


class TestEnd:
    """CUB-R11 and R12: complete rounds, ties, the play-off, the empty bag."""

    def test_t8_the_round_is_completed(self) -> None:
        """CUB-T8: the first player's seventh card leaves the second one turn."""
        game = cube()
        position = near_the_end(game, (6, 2), SCENE)
        position = play(game, position, "1 +d4R", "1 claim YB/RY")

        assert game.outcome(position) is None
        position = play(game, position, "2 +d3R")
        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (("1",), "cube.most-cards")
        assert codes(game, position, "1 +d2R") == {"game-over"}
        assert not list(game.turns(position))

    def test_t8_the_last_players_card_ends_it_at_once(self) -> None:
        """CUB-T8: the second player's seventh card comes with the round complete."""
        game = cube()
        position = near_the_end(game, (2, 6), SCENE, "2", ply=9)
        position = play(game, position, "2 +d4R", "2 claim YB/RY")

        outcome = game.outcome(position)
        assert outcome is not None
        assert outcome.winners == ("2",)

    @pytest.mark.parametrize(("players", "target"), [("1 2", 7), ("1 2 3", 6), ("1 2 3 4", 5)])
    def test_the_target_depends_on_the_number_of_players(self, players: str, target: int) -> None:
        """Seven, six or five cards."""
        game = cube(players)
        count = len(game.players)
        rest = (0,) * (count - 1)

        below = near_the_end(game, (target - 1, *rest), SCENE, ply=4 * count)
        there = near_the_end(game, (target, *rest), SCENE, ply=4 * count)

        assert game.outcome(below) is None
        assert game.outcome(there) is not None

    def test_the_twin_decides_between_equals(self) -> None:
        """Who has played the twin has a point more."""
        game = cube()
        position = near_the_end(game, (7, 6), {**SCENE, "d2": "y", "d3": "y"}, "2", ply=9)
        position = play(game, position, "2 +d4R", "2 claim YB/RY")

        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (("2",), "cube.twin-decides")

    def test_equals_play_off_with_one_card_each(self) -> None:
        """The last to act draws first; only the new cards count; the first to fulfil his wins."""
        cards = "RYGB YGBR GBRY YB/RY BY/GG RRR/R.. GGGG YYYY"
        game = cube("1 2", {"cards": cards})
        position = near_the_end(game, (7, 7), SCENE, "2", ply=9)
        position = play(game, position, "2 +d4R")

        assert game.outcome(position) is None
        assert position.player == "1"
        assert game.hand(position, "2")[-1] == "GGGG"
        assert game.hand(position, "1")[-1] == "YYYY"
        position = play(game, position, "1 +d4Y")
        assert game.hand(position, "1") == ("YYYY",)
        assert codes(game, position, "2 claim YB/RY") == {"card-not-in-hand"}
        position = play(
            game,
            position,
            "2 +d4Y",
            "1 +a4Y",
            "2 +b4Y",
            "1 +c4Y",
            "2 -c4 +d3Y",
            "1 +c4Y",
            "1 claim YYYY",
        )
        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (("1",), "cube.play-off")
        assert game.score(position) == {"1": 8, "2": 7}
        assert codes(game, position, "2 +a3R") == {"game-over"}
        assert codes(game, position, "2 claim GGGG") == {"game-over"}

    def test_a_late_card_of_the_last_turn_settles_the_tie(self) -> None:
        """Claims remain possible after the last turn of the round, before the play-off begins."""
        game = cube()
        position = near_the_end(game, (7, 7), SCENE, "2", ply=9)
        position = play(game, position, "2 +d4R", "1 claim YB/RY")

        outcome = game.outcome(position)
        assert outcome is not None
        assert outcome.winners == ("1",)
        position = play(game, position, "2 claim YB/RY")
        assert game.outcome(position) is None

    def test_a_play_off_that_a_late_card_has_settled_is_off(self) -> None:
        """The card drawn for it counts no more, unless the tie comes back."""
        game = cube("1 2", {"cards": "YB/RY RYGB GBRY RYGB YGBR GBRY BBBB YB/RY"})
        position = near_the_end(game, (7, 7), SCENE, "2", ply=9)
        position = play(game, position, "2 +d4R")
        assert game.hand(position, "1")[-1] == str(Card.parse("YB/RY"))

        position = play(game, position, "1 claim YB/RY")
        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (("1",), "cube.most-cards")
        assert codes(game, position, "1 claim YB/RY") == {"card-not-in-hand"}

    def test_a_third_player_watches_the_play_off(self) -> None:
        """Only the tied players go on."""
        game = cube("1 2 3")
        position = near_the_end(game, (6, 2, 5), SCENE, "3", ply=8)
        position = play(game, position, "3 +d4R", "3 claim YB/RY")
        assert position.player == "1"
        position = play(game, position, "1 +d4R")
        assert position.player == "3"
        assert codes(game, position, "2 claim YB/RY") == {"card-not-in-hand"}

    @pytest.mark.parametrize(
        ("laid", "stacks", "rules", "winners", "reason"),
        [
            ((3, 2), {}, {}, ("1",), "cube.bag-empty"),
            ((3, 3), {"d3": "yy"}, {}, ("2",), "cube.twin-decides"),
            ((3, 3), {"d3": "yy", "c3": "rr"}, {"bagEmptyTie": "draw"}, (), "cube.equal-cards"),
            ((0, 0), {"d3": "yy"}, {}, (), "cube.cards-not-told"),
        ],
        ids=["most cards", "twin", "draw", "no cards told"],
    )
    def test_the_last_cube_of_the_bag_ends_the_game_at_once(
        self,
        laid: tuple[int, int],
        stacks: dict[str, str],
        rules: dict[str, str],
        winners: tuple[str, ...],
        reason: str,
    ) -> None:
        """Within the round, whoever has most cards; twins do not matter for the bag."""
        game = cube(**rules)
        position = near_the_end(game, laid, {**BAG_OF_ONE, **stacks})
        position = play(game, position, "1 +d4B")

        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (winners, reason)

    def test_equals_at_the_empty_bag_play_off_by_moving(self) -> None:
        """By default a tie goes on with cards although no cube can be drawn."""
        game = cube()
        position = near_the_end(game, (3, 3), BAG_OF_ONE)
        position = play(game, position, "1 +d4B")

        assert game.outcome(position) is None
        assert codes(game, position, "2 +d4R") == {"colour-not-in-bag"}
        position = play(game, position, "2 -d4 +d3B")
        assert game.outcome(position) is None

    def test_a_play_off_without_a_free_cube_is_a_draw(self) -> None:
        """Two closed levels hold all cubes, and no twin is left."""
        game = cube()
        stacks = {str(cell): "RY" if i % 2 else "GB" for i, cell in enumerate(CELLS)}
        stacks["d4"] = "R"
        stacks = {**stacks, "a1": "GBr", "b1": "RYr", "a2": "GBy", "b2": "RYy"}
        position = near_the_end(game, (3, 3), stacks)
        position = play(game, position, "1 +d4Y")

        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == ((), "cube.stuck")

    def test_a_stuck_player_passes(self) -> None:
        """With an empty bag and only the taboo cube free, the turn goes on."""
        game = cube()
        stacks = {str(cell): "RY" if i % 2 else "GB" for i, cell in enumerate(CELLS)}
        stacks = {
            **stacks,
            "a1": "GBr",
            "b1": "RYr",
            "a2": "GBy",
            "b2": "RYy",
            "d4": "r",
            "c4": "RYR",
        }
        position = near_the_end(game, (3, 3), stacks, "2")
        cards = position.cards._replace(tied=(0, 1), hands=((), ()), extra=("?", "?"))
        position = position._replace(
            cards=cards, taboo=CELLS.index(Cell.parse("c4")), columns=(*position.columns[:15], "RR")
        )
        position = position._replace(columns=(*position.columns[:14], "GBY", "RR"))

        assert [turn.move for turn in game.turns(position)] == ["pass"]
        assert game.random_turn(position, random.Random(1)) == Turn("2")
        assert play(game, position, "2 pass").player == "1"
        assert next(iter(game.successors(position))).player == "1"


class TestClaims:
    """Laying down cards, told freely or asked for in turn."""

    def test_free_claims_come_in_any_order_after_a_turn(self) -> None:
        """Nobody claims before the first turn; then everybody may, and the turn stays."""
        game = cube("1 2", {"hand.1": "YB/RY"})
        before = standing(game, SCENE, ply=0)
        assert codes(game, before, "1 claim YB/RY") == {"no-claims-now"}

        position = play(game, standing(game, SCENE), "1 +d4G", "2 claim GYG/.Y.", "1 claim RY/YB")
        assert game.score(position) == {"1": 1, "2": 1}
        assert position.player == "2"
        assert codes(game, position, "1 claim ?") == set()

    def test_a_known_hand_draws_from_a_known_pile(self) -> None:
        """Three cards, and a new one for each that is laid down, until the pile is gone."""
        game = cube("1 2", {"cards": "YB/RY RRR/R.. RYGB BBBB YYYY GGGG R../GRR"})
        position = standing(game, SCENE)
        assert len(game.hand(position, "1")) == len(game.hand(position, "2")) == 3
        assert codes(game, position, "2 claim YB/RY") == {"card-not-in-hand"}

        (claim,) = game.claims(position)
        assert str(claim) == "1 claim BY/YR"
        position = play(game, position, str(claim))
        assert sorted(game.hand(position, "1")) == sorted(
            str(Card.parse(text)) for text in ("RRR/R..", "RYGB", "R../GRR")
        )

    def test_a_card_nobody_entered_counts_as_told(self) -> None:
        """`claim ?` lays down a card that only the people have seen."""
        game = cube()
        position = play(game, standing(game, SCENE), "1 +d4G", "1 claim ?")
        assert game.score(position) == {"1": 1, "2": 0}
        known = cube("1 2", {"hand.1": "RYGB RYGB RYGB"})
        assert codes(known, standing(known, SCENE), "1 claim ?") == {"card-not-in-hand"}

    def test_manual_claims_ask_one_player_after_another(self) -> None:
        """The active player first, then clockwise; the next turn waits for all answers."""
        game = cube("1 2 3", claims="manual")
        position = standing(game, SCENE)
        assert codes(game, position, "1 claim YB/RY") == {"no-claims-now"}

        position = play(game, position, "1 +d4G")
        assert codes(game, position, "2 +d3R") == {"claims-open"}
        assert codes(game, position, "2 +e4R") == {"claims-open", "off-board"}
        assert codes(game, position, "2 claim YB/RY") == {"claim-out-of-turn"}
        assert codes(game, position, "2 pass") == {"claim-out-of-turn"}
        position = play(game, position, "1 claim YB/RY", "1 claim YB/RY", "1 pass", "2 pass")
        assert codes(game, position, "1 claim YB/RY") == {"claim-out-of-turn"}
        position = play(game, position, "3 claim YB/RY", "3 pass")
        assert game.score(position) == {"1": 2, "2": 0, "3": 1}
        assert position.player == "2"
        assert codes(game, position, "2 pass") == {"must-play"}
        assert codes(game, position, "3 claim YB/RY") == {"no-claims-now"}

    def test_manual_play_off_asks_before_the_next_turn(self) -> None:
        """A card that already shows when it is drawn wins at once, the last active player first."""
        game = cube("1 2", {"cards": "RYGB " * 6 + "BBBB YB/RY"}, claims="manual")
        position = near_the_end(game, (7, 7), SCENE, "2", ply=9)
        position = play(game, position, "2 +d4R", "2 pass")
        assert game.outcome(position) is None
        position = play(game, position, "1 pass")
        assert (position.player, position.claiming) == ("2", True)
        assert game.hand(position, "2") == ("BBBB",)
        position = play(game, position, "2 pass", "1 claim YB/RY")
        outcome = game.outcome(position)
        assert outcome is not None
        assert (outcome.winners, outcome.reason) == (("1",), "cube.play-off")
        assert codes(game, position, "1 claim YB/RY") == {"game-over"}
        assert not list(game.turns(position))

    def test_no_sentence_tells_what_somebody_holds(self) -> None:
        """What is said about a wrong claim names the card claimed and no other."""
        game = cube("1 2", {"hand.1": "RYGB RRR/R.. BB/BB", "hand.2": "GGGG YYYY RRRR"})
        position = play(game, standing(game, SCENE), "1 +d4R")
        for text in ("1 claim YB/RY", "2 claim YB/RY", "1 claim RYGB", "2 +c3~c4Y"):
            turn = Turn.parse(text)
            for broken in game.judge(position, turn).breaks:
                said = " ".join(broken.say(code) for code in ("en", "de", "fr", "es", "nl"))
                facts = str(broken.facts)
                for player in "12":
                    for card in game.hand(position, player):
                        if str(Card.parse(turn.claim or "YB/RY")) != card:
                            assert card not in said + facts


class TestCamera:
    """From seen stacks to turns and positions."""

    @pytest.mark.parametrize(
        "turn",
        ["1 +b4R", "1 -b1 +b4Y", "1 -a1 +c4G", "2 +c3~c4Y", "2 +b1^Y", "1 -a1Y +c4Y", "1 -b1",
         "1 -a1Y +a1Y", "1 -b3 +c4R", "1 +b4R +c4Y", "1 -b1 -c1"],
    )  # fmt: skip
    def test_a_turn_is_read_from_what_it_leaves(self, turn: str) -> None:
        """Draws, moves, twins, lifts and illegal changes are told as they were made."""
        game = cube()
        played = Turn.parse(turn)
        position = standing(game, LATER, played.player)
        seen = after_all(position, played)

        assert game.readings(position, seen)[0] == played

    def test_a_twin_over_a_hole_is_told_as_uneven(self) -> None:
        """What hangs across two columns is a twin, and why it may not."""
        game = cube()
        position = standing(game, {"a1": "YG", "b1": "Y"}, "2")
        seen = Stacks.of({"a1": "YGY", "b1": "Y.Y"})

        (turn,) = game.readings(position, seen)

        assert str(turn) == "2 +a1~b1Y"
        assert codes(game, position, str(turn)) == {"twin-uneven"}
        (after, *_) = game.adopt(position, seen, "1")
        assert after.stacks == seen

    def test_a_pair_of_one_colour_is_a_twin_or_two_turns(self) -> None:
        """The mover's own colour: his twin. Another colour: two draws by two players."""
        game = cube()
        position = standing(game, LATER, "2")
        seen = position.stacks

        own = game.readings(position, Stacks({**seen, Cell(2, 2): "Y", Cell(2, 3): "Y"}))
        other = Stacks({**seen, Cell(2, 2): "B", Cell(2, 3): "B"})

        assert [str(turn) for turn in own] == ["2 +c3~c4Y"]
        assert {str(turn) for turn in game.first_of_two(position, other)} == {"2 +c3B", "2 +c4B"}

    def test_an_illegal_move_is_not_explained_away_by_two_turns(self) -> None:
        """A taboo cube moved on is told, although two other cubes could have swapped roles."""
        game = cube()
        position = play(game, standing(game, LATER | {"d4": "Y"}), "1 -b1 +b4Y")
        seen = after_all(position, Turn.parse("2 -b4 +c4Y"))

        assert not list(game.first_of_two(position, seen))

    def test_a_known_twin_stays_one_when_the_table_is_adopted(self) -> None:
        """Corrections elsewhere leave it fixed; a twin that is gone may be played again."""
        game = cube()
        position = standing(game, LATER)
        (kept,) = game.adopt(position, position.stacks.with_stack(Cell(3, 3), "G"), "1")
        (gone,) = game.adopt(position, position.stacks.with_stack(Cell(1, 2), ""), "1")

        assert codes(game, kept, "1 -b3 +c4R") == {"twin-fixed"}
        assert kept.used == "1"
        assert gone.used == ""

    def test_a_kept_illegal_twin_is_followed_both_ways(self) -> None:
        """Two new units of one colour may be a twin or two cubes; the twin is likelier."""
        game = cube()
        position = standing(game, {**LATER, "b2": "G", "b3": ""}, "2")
        seen = after_all(position, Turn.parse("2 +c3~c4R"))

        twin, cubes = game.adopt(position, seen, "1")

        assert (twin.used, cubes.used) == ("1", "")
        assert twin.stacks == cubes.stacks == seen

    def test_nine_units_of_a_colour_must_hold_a_twin(self) -> None:
        """More units than cubes of that colour: some pair of neighbours is the twin."""
        game = cube()
        seen = Stacks.of({"a1": "RRRR", "b1": "RRR", "d1": "RR"})

        found = game.adopt(game.start(), seen, "1")

        assert found
        assert all(after.used == "1" for after in found)

    def test_adopting_a_kept_move_keeps_count_of_the_round(self) -> None:
        """A start cube moved against the rule is still one, taboo, and the turn has passed."""
        game = cube("1 2 3")
        position = play(game, game.start(), "1 +b1R")
        seen = after_all(position, Turn.parse("2 -d1 +b2Y"))

        (after,) = game.adopt(position, seen, "3")

        assert (after.player, after.ply, after.mover) == ("3", 2, "2")
        assert codes(game, after, "3 -b2 +b3Y") == {"taboo", "start-cube"}
        (same,) = game.adopt(position, seen, "2")
        assert (same.player, same.ply) == ("2", 1)

    def test_unknown_colours_are_carried_along(self) -> None:
        """A cube that nobody can tell the colour of is drawn, moved and counted all the same."""
        game = cube()
        position = standing(game, LATER)
        (draw,) = game.readings(position, position.stacks.with_stack(Cell(3, 3), "?"))
        assert str(draw) == "1 +d4?"
        after = checked_apply(game, position, draw)

        moved = after.stacks.with_stack(Cell(3, 3), "").with_stack(Cell(2, 2), "?")
        assert [turn.move for turn in game.readings(after, moved)] == ["-d4 +c3?"]

    def test_impossible_stacks_are_told_with_every_reason(self) -> None:
        """Too high, in the air, beside the board, too many of a colour, and strange letters."""
        game = cube()
        stacks = Stacks.of(
            {"a1": "RRRRR", "b1": "RRRR", "c1": "RR", "d1": ".R", "e1": "Y", "a2": "X"}
        )

        found = {b.rule.partition(".")[2] for b in game.impossible(stacks)}

        assert found == {"column-full", "gap", "off-board", "colour-not-in-bag", "malformed"}
        assert not game.impossible(game.start().stacks)


def after_all(position: CubePosition, turn: Turn) -> Stacks:
    """What stands after these changes, whatever the rules say; covered cubes are pulled out."""
    stacks = dict(position.stacks)
    for change in turn.changes:
        for cell in change.cells():
            column = stacks.get(cell, "")
            if change.add:
                stacks[cell] = column + change.letter * change.extent.height
            else:
                at = column.rfind(change.letter) if change.letter else len(column) - 1
                stacks[cell] = column[:at] + column[at + 1 :]
    return Stacks(stacks)


# --- whole games ---------------------------------------------------------------------------------

TABLES: dict[str, tuple[str, dict[str, str], dict[str, str | bool]]] = {
    "two players": ("1 2", {}, {}),
    "four players with all variants": (
        "1 2 3 4",
        {},
        {"closedRows": True, "firstRoundDrawOnly": True, "tabooIncludesPlaced": True},
    ),
    "three players with cards": ("1 2 3", {"cards": "deal"}, {"bagEmptyTie": "draw"}),
    "two players asked for cards": ("2 1", {"cards": "deal"}, {"claims": "manual"}),
}


def at_table(name: str, seed: int) -> CubeGame:
    """One of the tables, with a shuffled pile where it has one."""
    players, details, rules = TABLES[name]
    rng = random.Random(seed)
    deal = [
        f"{rng.choice(COLOURS)}{rng.choice(COLOURS)}/{rng.choice(COLOURS)}{rng.choice(COLOURS)}"
        for _ in range(48)
    ]
    return cube(players, {key: " ".join(deal) for key in details}, **rules)


def game_of(
    game: CubeGame, rng: random.Random, most: int = 300
) -> Iterator[tuple[CubePosition, Turn, CubePosition]]:
    """A random game in which every claim that is possible is made."""
    position = game.start()
    for _ in range(most):
        claims = [] if game.house.manual else list(game.claims(position))
        turn = claims[0] if claims else game.random_turn(position, rng)
        if turn is None:
            return
        after = checked_apply(game, position, turn)
        yield position, turn, after
        position = after


def every_change(game: CubeGame, position: CubePosition) -> Iterator[Turn]:
    """Every draw, move and twin that can be written down on this board."""
    player = position.player
    cells = [str(cell) for cell in CELLS]
    for cell, letter in product(cells, COLOURS):
        yield Turn.parse(f"{player} +{cell}{letter}")
        yield Turn.parse(f"{player} +{cell}^{letter}")
    for source, target in product(cells, cells):
        top = position.stacks.get(Cell.parse(source), "R")[-1]
        yield Turn.parse(f"{player} -{source} +{target}{top}")
        if source < target:
            for letter in COLOURS:
                yield Turn.parse(f"{player} +{source}~{target}{letter}")
    yield Turn(player)


@pytest.mark.parametrize("name", TABLES)
def test_generated_turns_are_exactly_the_legal_ones(name: str) -> None:
    """Of everything that can be written, `turns` lists what `judge` allows, no less and no more."""
    for seed in range(2):
        game, rng = at_table(name, seed), random.Random(seed)
        for position, _, _ in game_of(game, rng):
            if position.claiming or rng.random() > 0.07:
                continue
            listed = list(game.turns(position))
            legal = {
                turn for turn in every_change(game, position) if game.judge(position, turn).legal
            }
            assert set(listed) == legal, (name, position)
            assert len(listed) == len(set(listed))
            behind = [checked_apply(game, position, turn) for turn in listed]
            assert list(game.successors(position)) == behind


@pytest.mark.parametrize("name", TABLES)
def test_random_games_keep_the_invariants(name: str) -> None:
    """Columns, bag, twins and score stay as they must; what is seen is read as what was played."""
    ends = set()
    for seed in range(12):
        game, rng = at_table(name, seed), random.Random(100 + seed)
        last = game.start()
        for before, turn, after in game_of(game, rng):
            units = sum(map(len, after.columns)) - sum(map(len, before.columns))
            assert units == sum(
                (1 if c.add else -1) * (2 if c.other or c.extent.height == 2 else 1)
                for c in turn.changes
            )
            assert not game.impossible(after.stacks)
            assert sum(game.score(after).values()) == sum(game.score(before).values()) + bool(
                turn.claim
            )
            if turn.changes and rng.random() < 0.3:
                assert turn in game.readings(before, after.stacks)
                (adopted, *_) = game.adopt(
                    before, after.stacks, game.house.following(turn.player, before.cards)
                )
                assert game.score(adopted) == game.score(before)
                assert adopted.stacks == after.stacks
            last = after
        outcome = game.outcome(last)
        ends.add(outcome.reason if outcome else "cut off")
        if outcome:
            assert game.random_turn(last, rng) is None
            assert not list(game.successors(last))
    assert ends - {"cut off"}


def test_two_turns_at_once_are_taken_apart() -> None:
    """Two legal turns whose traces can be seen are found as such, and quickly."""
    game, rng = cube("1 2 3"), random.Random(4)
    tried = 0
    for first, turn, middle in game_of(game, rng):
        second = game.random_turn(middle, rng)
        if second is None:
            break
        seen = checked_apply(game, middle, second).stacks
        changed = set(first.stacks.differing(seen))
        touched = {cell for change in turn.changes for cell in change.cells()}
        if not touched <= changed:
            continue
        tried += 1
        found = list(game.first_of_two(first, seen))
        single = [t for t in game.readings(first, seen) if game.judge(first, t).legal]
        assert turn in found or single
        for start in found:
            after = checked_apply(game, first, start)
            assert any(game.judge(after, t).legal for t in game.readings(after, seen))
    assert tried > 20


def counts() -> list[tuple[str, int, int]]:
    """The lines of the file of counts: table, depth, number of successions."""
    lines = (HERE / "counts" / "cube.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    return [(name.strip(), int(depth), int(count)) for name, depth, count in rows]


@pytest.mark.parametrize(("name", "depth", "count"), counts())
def test_the_number_of_successions_stays(name: str, depth: int, count: int) -> None:
    """The fingerprint of the rules from the start position."""
    players, _, rules = TABLES[name]
    game = cube(players, **rules)

    assert perft(game, game.start(), depth) == count


@pytest.mark.parametrize("path", sorted((HERE / "games").glob("cube-*.txt")), ids=lambda p: p.stem)
def test_the_example_games_are_judged_as_annotated(path: Path) -> None:
    """Lines whose comment begins with a code break just those rules; all others are legal."""
    text = path.read_text(encoding="utf-8")
    expected = []
    for line in text.splitlines():
        move, _, comment = line.partition("#")
        if move[:1] in "1234" and move[1:2] == " ":
            told = comment.strip().removeprefix("illegal: ") if "illegal:" in comment else ""
            expected.append(set(filter(None, told.split(", "))))

    events = [event for event in judge_record(parse_record(text)) if event.event == "turn"]

    found = [{b["rule"].partition(".")[2] for b in event.data["breaks"]} for event in events]
    assert found == expected


def test_a_position_is_small() -> None:
    """A recorded turn stays far under two kilobytes."""
    import sys

    game, rng = cube(), random.Random(3)
    *_, (_, _, last) = game_of(game, rng, 25)
    own = sys.getsizeof(last) + sys.getsizeof(last.columns) + sum(map(sys.getsizeof, last.columns))
    assert own < 2048


def test_turns_have_one_text_form() -> None:
    """Reading what was written gives the same turn."""
    game, rng = cube(), random.Random(5)
    for position, _, _ in game_of(game, rng, 12):
        for turn in game.turns(position):
            assert Turn.parse(str(turn)) == turn


def test_a_change_of_unknown_shape_is_refused_politely() -> None:
    """A written change may be anything; the verdict is never an error."""
    game, rng = cube(), random.Random(6)
    position = standing(game, LATER)
    cells = [Cell(rng.randrange(26), rng.randrange(12)) for _ in range(12)] + list(CELLS)
    for _ in range(3000):
        words = []
        for _ in range(rng.randrange(1, 5)):
            one, other = rng.choice(cells), rng.choice(cells)
            shape = rng.choice(["", "", "", f"~{other}", "^", ":2x1x1", ":3x2x1"])
            words.append(f"{rng.choice('+-')}{one}{shape}{rng.choice('RYGBX?')}")
        turn = Turn("1", tuple(Change.parse(word) for word in words))
        verdict = game.judge(position, turn)
        assert verdict.legal == (verdict.after is not None)
        for language in ("en", "nl"):
            assert all("{" not in b.say(language) for b in verdict.breaks)
