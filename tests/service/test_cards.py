"""CUBE's cards and passing, through the API: whose turn it is to lay down, and who learns what."""

import pytest

from tests.service.conftest import API, Room

START = {"a1": "R", "d1": "Y", "a4": "B", "d4": "G"}
HAND = "RY/GB ? ?"  # the first card shows as soon as b1 holds G R and c1 holds B Y
SHOWING = {**START, "b1": "GR", "c1": "BY"}
ROWS = "RY/GB"


def cube(room: Room, **rules: object) -> None:
    """A game of Ada and player 2 at which the card shows after four turns."""
    body = {
        "game": "cube",
        "players": [{"id": "1", "name": "Ada"}, {"id": "2"}],
        "rules": rules,
        "details": {"hand.1": HAND},
    }
    made = room.host.post(f"{API}/sessions", json=body)
    assert made.status_code == 201, made.text
    room.session = made.json()["id"]
    room.see(**START)


def played(room: Room, *, passing: bool) -> None:
    """Four turns; where players are asked for cards, everybody says that he has none."""
    steps = [{"b1": "G"}, {"b1": "G", "c1": "B"}, {"b1": "GR", "c1": "B"}, {"b1": "GR", "c1": "BY"}]
    for number, step in enumerate(steps):
        room.see(**START, **step)
        if passing and number < len(steps) - 1:
            for _ in range(2):
                assert done(room, "pass") == 200


def done(room: Room, what: str) -> int:
    """The status of an action of the host."""
    return room.host.post(room.url("/actions"), json={"do": what}).status_code


def test_each_player_in_turn_lays_down_cards_or_passes(room: Room) -> None:
    """With `claims = manual` the mover is asked first; play goes on when all have passed."""
    cube(room, claims="manual")
    played(room, passing=True)
    state = room.host.get(room.url()).json()["state"]
    assert (state["next"], state["may_pass"]) == ("2", True)

    ada, two = room.guest("player", "1"), room.guest("player", "2")
    assert ada.post(room.url("/actions"), json={"do": "pass"}).status_code == 403
    assert two.post(room.url("/actions"), json={"do": "pass"}).status_code == 200
    claimed = ada.post(room.url("/claims"), json={"card": ROWS}).json()["state"]
    assert ada.post(room.url("/actions"), json={"do": "pass"}).status_code == 200

    assert claimed["score"] == {"1": 1, "2": 0}
    after = room.host.get(room.url()).json()["state"]
    assert (after["next"], after["may_pass"]) == ("1", False)
    assert done(room, "pass") == 409


def test_cards_that_could_be_laid_down_are_told_to_nobody(room: Room) -> None:
    """The legal turns of a player who is asked do not show his hand."""
    cube(room, claims="manual")
    played(room, passing=True)
    assert done(room, "pass") == 200  # now Ada is asked, whose hand shows

    for guest in (room.host, room.guest("player", "2"), room.guest("onlooker")):
        assert ROWS not in guest.get(room.url("/legal")).text
        assert ROWS not in guest.get(room.url()).text


def test_the_host_lays_a_card_down_for_a_player(room: Room) -> None:
    """Who has no phone says it aloud; a player lays down only his own cards."""
    cube(room)
    played(room, passing=False)
    two = room.guest("player", "2")

    assert two.post(room.url("/claims"), json={"player": "1", "card": ROWS}).status_code == 403
    assert room.host.post(room.url("/claims"), json={"card": ROWS}).status_code == 422
    laid = room.host.post(room.url("/claims"), json={"player": "1", "card": ROWS})

    assert laid.json()["state"]["score"] == {"1": 1, "2": 0}


def test_undo_takes_back_only_the_card(room: Room) -> None:
    """A card shares the number of the turn before; taking it back leaves that turn."""
    cube(room)
    played(room, passing=False)
    room.host.post(room.url("/claims"), json={"player": "1", "card": ROWS})

    assert done(room, "undo") == 200

    state = room.host.get(room.url()).json()["state"]
    assert [turn["n"] for turn in state["turns"]] == [1, 2, 3, 4]
    assert state["confirmed"] == SHOWING
    room.see(**SHOWING, a2="G")
    state = room.host.get(room.url()).json()["state"]
    assert [turn["n"] for turn in state["turns"]] == [1, 2, 3, 4, 5]
    assert state["score"] == {"1": 0, "2": 0}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "it is Ada's turn"),
        ("de", "Ada"),
        ("nl", "Ada"),
    ],
)
def test_sentences_call_players_by_their_names(room: Room, language: str, said: str) -> None:
    """Nobody is called `1` who has a name."""
    cube(room, claims="manual")
    room.see(**START, b1="G")
    state = room.host.post(room.url("/claims"), json={"player": "2", "card": ROWS}).json()["state"]

    breaks = state["turns"][-1]["breaks"]
    assert any(said in one["says"][language] for one in breaks), breaks
    assert any("Ada" in one["say"] for one in breaks)


def test_players_without_a_name_are_called_by_their_number(room: Room) -> None:
    """In the words of the language, not as a bare figure."""
    cube(room, claims="manual")
    room.see(**START, b1="G")
    assert done(room, "pass") == 200
    state = room.host.post(room.url("/claims"), json={"player": "1", "card": ROWS}).json()["state"]

    said = [one["says"] for one in state["turns"][-1]["breaks"]]
    assert any("Player 2" in says["en"] and "Spieler 2" in says["de"] for says in said), said


def test_a_player_who_cannot_move_passes(room: Room) -> None:
    """Passing is offered only where the rules allow it."""
    assert done(room, "pass") == 409
    room.see()
    assert done(room, "pass") == 409


def test_cameras_can_be_let_go(room: Room) -> None:
    """The host goes on by hand; guests cannot."""
    assert room.guest("player", "B").delete(room.url("/follower")).status_code == 403
    assert room.host.delete(room.url("/follower")).status_code == 204
    assert room.host.get(room.url()).json()["source"] == "none"


def test_demos_are_begun_by_the_host_alone(room: Room) -> None:
    """Everybody invited may know which demos there are."""
    onlooker = room.guest("onlooker")
    assert set(onlooker.get(f"{API}/demos").json()) >= {"kewbz", "qbq", "cube"}
    assert onlooker.post(f"{API}/demos/kewbz").status_code == 403
    assert room.host.post(f"{API}/demos/chess").status_code == 404
