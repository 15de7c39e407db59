"""Written records: their text form, and how wrong lines are told."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.errors import RecordError
from rules.judge_record import judge_record
from rules.record import parse_record

GAMES = sorted((Path(__file__).parent / "games").glob("*.txt"))

SMALL = "game = kewbz\n\nB +d4B\n"


@pytest.mark.parametrize("path", GAMES, ids=lambda p: p.stem)
def test_an_example_game_is_judged_to_its_end(path: Path) -> None:
    """Every asserted position of the annotated games stands."""
    events = list(judge_record(parse_record(path.read_bytes())))

    assert sum(event.event == "turn" for event in events) >= 5


@pytest.mark.parametrize("path", GAMES, ids=lambda p: p.stem)
def test_a_record_is_written_as_it_was_read(path: Path) -> None:
    """Without comments, parsing what was formatted gives the same record."""
    record = parse_record(path.read_bytes())

    again = parse_record(str(record))

    assert str(again) == str(record)
    assert [str(line) for line in again.lines] == [str(line) for line in record.lines]


WRONG = {
    "no game": ("B +d4B\n", "", "line 1, column 1: the header must begin"),
    "unknown game": ("game = kewbs\n", "", "did you mean 'kewbz'"),
    "another game": ("game = qbq\n", "kewbz", "a record of 'qbq', not of 'kewbz'"),
    "twice": (
        "game = kewbz\nsupply = 3\nsupply = 4\n",
        "",
        "line 3, column 1: 'supply' stands twice",
    ),
    "unknown option": ("game = kewbz\nsuply = 3\n", "", "line 2, column 1: unknown option"),
    "no number": ("game = kewbz\nsupply = many\n", "", "kewbz.supply = 'many'"),
    "negative": ("game = kewbz\nsupply = -3\n", "", "kewbz.supply = '-3'"),
    "size": ("game = kewbz\nsize = 99\n", "", "99"),
    "player": ("game = kewbz\nplayers = B Z\n", "", "players 'B Z'"),
    "no change": (SMALL + "Y d5\n", "", "line 4, column 3: 'd5' is no change"),
    "no letter": (SMALL + "Y +d5\n", "", "lacks the colour's letter"),
    "nothing": (SMALL + "Y\n", "", "line 4, column 1"),
    "no player": (SMALL + "+d5Y\n", "", "'+d5Y' is no player"),
    "ragged position": (SMALL + "= x3/x2\n", "", "line 4, column 1: rank 1 has 2 cells"),
    "other position": (SMALL + "= x8/x8/x8/x8/x8/x8/x8/x8\n", "", "d4 holds 'B', not 'nothing'"),
    "other board": (SMALL + "= x3/x3\n", "", "the position has 3 x 2 cells, the board 8 x 8"),
}


@pytest.mark.parametrize(("text", "game", "told"), WRONG.values(), ids=WRONG)
def test_a_bad_line_is_named_with_line_and_column(text: str, game: str, told: str) -> None:
    """Whatever is wrong, the message says where and what."""
    with pytest.raises(RecordError) as caught:
        list(judge_record(parse_record(text, game)))

    assert told in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_refused_or_judged(noise: bytes) -> None:
    """No text can do more harm than be refused."""
    for data in (noise, b"game = kewbz\n\n" + noise):
        with suppress(RecordError):
            list(judge_record(parse_record(data)))


def test_a_header_takes_options_and_players_in_any_order() -> None:
    """Options may carry the game's name, and `first` decides who begins."""
    text = "game = kewbz\nfirst = Y\nkewbz.supply = 9\nendByStacking = false\n\nY +a1Y\n"

    record = parse_record(text)

    assert record.setup.rules == {"supply": 9, "endByStacking": False}
    assert list(judge_record(record))[-1].data["legal"]


def test_an_illegal_turn_is_taken_back_unless_it_is_kept() -> None:
    """The next line is judged without it, or with it where the line says so."""
    text = SMALL + "Y +h8Y\nY +h8Y kept\nB +h7B\n"

    events = [e for e in judge_record(parse_record(text)) if e.event != "phase"]

    assert [e.event for e in events] == ["turn", "turn", "taken-back", "turn", "kept", "turn"]
    assert events[-1].data["legal"]


def test_a_kept_turn_can_end_the_game() -> None:
    """The end is told once, whatever the last turn was, and nothing after it ends it again."""
    text = "game = kewbz\nsupply = 1\n\nB +d4Y kept\nB +e4B kept\n"

    events = [e for e in judge_record(parse_record(text)) if e.event != "phase"]

    assert [e.event for e in events] == ["turn", "kept", "over", "turn", "kept"]
    assert events[2].data["winner"] == "Y"
    assert [b["rule"] for b in events[3].data["breaks"]] == ["kewbz.game-over"]


def test_a_kept_turn_counts_in_the_score() -> None:
    """What stands by agreement scores; what is taken back does not."""
    text = "game = kewbz\n\nB +d4B\nY +h8Y\nY +h8Y kept\n"

    turns = [e.data for e in judge_record(parse_record(text)) if e.event == "turn"]

    assert [turn["score"]["Y"] for turn in turns] == [-36, -36, -35]
