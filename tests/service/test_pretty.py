"""Events as people at a terminal read them."""

import re
from pathlib import Path
from typing import Any

import pytest

from rules.events import Event
from rules.registry import find_game
from rules.sentences import LANGUAGES, catalogue
from service.judging import camera_event
from service.pretty import Pretty

PAGE_WORDS = Path(__file__).parents[2] / "service" / "dashboard" / "src" / "lang"
EVENTS = [
    Event("phase", 1.0, {"phase": "play"}),
    Event("phase", 1.0, {"phase": "paused", "cells": ["d4"]}),
    Event("taken-back", 2.0, {"n": 9}),
    Event("kept", 3.0, {"n": 9}),
    Event("corrected", 4.0, {"cells": ["d4", "f6"]}),
    Event("answered", 5.0, {"cells": ["d4"]}),
    Event("turned", 6.0, {"degrees": 90.0, "quarters": 1}),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_event_is_a_sentence(language: str) -> None:
    """Nobody has to read the names of events or of their fields."""
    pretty = Pretty(find_game("kewbz").set_up(), language, coloured=False)

    lines = [pretty.text(event) for event in EVENTS]

    assert all(len(line.split()) > 2 for line in lines)
    assert not [line for line in lines if "{" in line or "taken-back" in line]


def test_facts_stand_in_the_sentence() -> None:
    """Which turn, which cells."""
    pretty = Pretty(find_game("kewbz").set_up(), coloured=False)

    assert pretty.text(EVENTS[2]) == "  0:02.0  turn 9 is taken back"
    assert pretty.text(EVENTS[4]).endswith("misread before, corrected now: d4, f6")


def owed(what: str, **cells: int) -> Event:
    """What Blue's open turn still needs or allows."""
    return Event("owed", 1.0, {"n": 3, "player": "B", "cells": cells, "what": what})


OWED = [
    pytest.param(owed("stack", h6=1), "Blue: 1 piece on h6", "Blau: 1 Stein auf h6", id="one"),
    pytest.param(owed("stack", d4=2), "Blue: 2 pieces on d4", "Blau: 2 Steine auf d4", id="two"),
    pytest.param(owed("relocate"), "Blue: move a piece", "Blau: einen Stein umsetzen", id="move"),
    pytest.param(
        owed("relocate", d4=1, e4=1),
        "Blue: move a piece at d4 and e4",
        "Blau: einen Stein umsetzen bei d4 und e4",
        id="move there",
    ),
]


@pytest.mark.parametrize(("event", "english", "german"), OWED)
def test_what_is_owed_is_a_sentence(event: Event, english: str, german: str) -> None:
    """Nobody has to know what `relocate` is, nor who B is."""
    game = find_game("kewbz").set_up()

    assert Pretty(game, coloured=False).text(event) == f"  0:01.0  still to do – {english}"
    assert Pretty(game, "de", coloured=False).text(event) == f"  0:01.0  noch zu tun – {german}"


def test_a_bonus_is_no_debt() -> None:
    """It may be declined: nobody should think that something is missing."""
    game = find_game("kewbz").set_up()
    english, german = (
        Pretty(game, one, coloured=False).text(owed("bonus")) for one in ("en", "de")
    )

    assert english == "  0:01.0  still allowed – Blue may use a bonus"
    assert german == "  0:01.0  noch erlaubt – Blau darf einen Bonus nutzen"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_the_same(language: str) -> None:
    """The terminal and the page tell what is owed in the same words."""
    page = (PAGE_WORDS / f"{language}.ts").read_text(encoding="utf-8")
    told = dict(re.findall(r'"owed\.(\w+)": "(.*)"', page))

    for slug, entry in catalogue("owed").items():
        key = re.sub("-(.)", lambda letter: letter[1].upper(), slug)
        assert told[key] == entry[language]


def turn(*, final: bool, blue: int) -> Event:
    """Blue's illegal third turn."""
    data: dict[str, Any] = {"n": 3, "player": "B", "move": "+h8B", "legal": False, "final": final}
    broken = {"rule": "kewbz.unconnected", "cells": ["h8"], "say": "h8 has no neighbour."}
    data |= {"breaks": [broken], "score": {"B": blue, "Y": 2}, "stacks": {"h8": "B"}}
    return Event("turn", 4.0, data)


def test_a_kept_turn_is_printed_once() -> None:
    """When it may stand everybody has seen its board; what is new is the score."""
    pretty = Pretty(find_game("kewbz").set_up(), coloured=False)

    made = pretty.text(turn(final=False, blue=1))
    ended = pretty.text(turn(final=True, blue=3))
    kept = pretty.text(Event("kept", 5.0, {"n": 3}))

    assert "3. Blue +h8B  illegal" in made
    assert "score: Blue 1  Yellow 2" in made
    assert ended == ""
    assert kept.splitlines() == ["  0:05.0  turn 3 may stand", "        score: Blue 3  Yellow 2"]


def test_a_turn_that_ends_as_it_is_told_is_printed() -> None:
    """A pass that is no turn of the game is over at once, and nobody has read of it before."""
    pretty = Pretty(find_game("kewbz").set_up(), coloured=False)

    assert "3. Blue +h8B  illegal" in pretty.text(turn(final=True, blue=1))


def test_a_camera_called_camera_is_known_by_its_quotes() -> None:
    """Nobody reads `the camera camera was moved`."""
    says = camera_event("camera", "moved", "")["says"]

    assert says["en"].startswith("The camera “camera” was moved")
    assert says["de"].startswith("Die Kamera „camera“ wurde")
