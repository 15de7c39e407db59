"""The HTTP interface: sessions, actions, corrections, files, errors."""

import pytest

from rules.sentences import LANGUAGES
from tests.service.conftest import API, Room


class TestSessions:
    """Opening, playing and listing games."""

    def test_a_game_is_played_by_telling_scenes(self, room: Room) -> None:
        """Another program may tell positions; turns, score and next player follow."""
        room.see()
        room.see(d4="B")
        state = room.see(d4="B", d5="Y")

        assert [turn["move"] for turn in state["turns"]] == ["+d4B", "+d5Y"]
        assert state["next"] == "B"
        assert state["score"] == {"B": -35, "Y": -35}

    def test_the_list_says_how_games_stand(self, room: Room) -> None:
        """Every game is listed with its title, phase and number of turns."""
        room.see()
        room.see(d4="B")

        (line,) = room.host.get(f"{API}/sessions").json()

        assert (line["title"], line["phase"], line["turns"]) == ("KEWBZ", "play", 1)

    def test_games_that_do_not_run_are_listed_from_their_log(self, room: Room) -> None:
        """After a restart the list says the same, without judging any game again."""
        room.see()
        room.see(d4="B")
        room.see(d4="B", d5="Y")
        before = room.host.get(f"{API}/sessions").json()

        room.server.sessions._open.clear()

        assert room.host.get(f"{API}/sessions").json() == before
        assert not room.server.sessions._open

    def test_a_session_describes_its_board(self, room: Room) -> None:
        """A page gets all it needs to draw: board, colours with looks, names."""
        found = room.host.get(room.url()).json()

        assert found["board"]["columns"] == 8
        assert found["colours"]["B"]["rgb"] == [36, 84, 168]
        assert found["players"][0] == {"id": "B", "name": "Ada"}
        assert found["source"] == "none"

    def test_events_are_numbered_and_can_be_asked_again(self, room: Room) -> None:
        """The log answers what came after a number."""
        room.see()
        room.see(d4="B")

        told = room.host.get(room.url("/events")).json()
        later = room.host.get(room.url("/events"), params={"since": told[-2]["seq"]}).json()

        assert [event["seq"] for event in told] == sorted(event["seq"] for event in told)
        assert later == told[-1:]

    def test_actions_change_the_game(self, room: Room) -> None:
        """Undo, keep, pause and resume do what they say."""
        room.see()
        room.see(d4="B")
        room.see(d4="B", h8="Y")

        kept = room.host.post(room.url("/actions"), json={"do": "keep"}).json()["state"]
        undone = room.host.post(room.url("/actions"), json={"do": "undo"}).json()["state"]

        assert kept["turns"][-1]["kept"] is True
        assert undone["next"] == "Y"

    def test_restore_lists_what_differs(self, room: Room) -> None:
        """After an accident the differences to the confirmed position are told."""
        room.see()
        room.see(d4="B")
        room.see()

        found = room.host.get(room.url("/restore")).json()

        assert found["confirmed"] in ({"d4": "B"}, {})

    def test_legal_places(self, room: Room) -> None:
        """All 64 cells are free to the first cube."""
        room.see()

        assert len(room.host.get(room.url("/legal")).json()) == 64

    def test_export_and_import(self, room: Room) -> None:
        """The file of a game becomes a second game with the same turns."""
        room.see()
        room.see(d4="B")
        file = room.host.get(room.url("/export")).content

        added = room.host.post(f"{API}/sessions/import", content=file)

        assert added.status_code == 201
        copy = room.host.get(f"{API}/sessions/{added.json()['id']}").json()
        assert copy["id"] != room.session
        assert copy["state"]["turns"][0]["move"] == "+d4B"

    def test_the_record_is_plain_text(self, room: Room) -> None:
        """The written game can be read by anybody."""
        room.see()
        room.see(d4="B")

        answer = room.host.get(room.url("/record"))

        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.text.endswith("B +d4B\n")

    def test_a_forgotten_game_is_gone(self, room: Room) -> None:
        """Deleting is for good."""
        assert room.host.delete(room.url()).status_code == 204
        assert room.host.get(room.url()).status_code == 404


class TestErrors:
    """Every error has one form and a sentence."""

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/sessions/none", 404),
            ("/nonsense", 404),
            ("/games/chess", 404),
            ("/games/kewbz?language=xx", 422),
        ],
    )
    def test_wrong_addresses(self, room: Room, path: str, status: int) -> None:
        """What is not there is said in one JSON form."""
        answer = room.host.get(f"{API}{path}")

        assert answer.status_code == status
        assert set(answer.json()) == {"error"}

    @pytest.mark.parametrize(
        "body",
        [
            {"game": "chess"},
            {"game": "kewbz", "rules": {"nonsense": 1}},
            {"game": "kewbz", "board": {"columns": 99}},
            {"game": "kewbz", "players": [{"id": "Q"}]},
            {"game": "kewbz", "surprise": True},
        ],
        ids=["game", "option", "size", "player", "field"],
    )
    def test_wrong_setups_are_refused(self, room: Room, body: dict[str, object]) -> None:
        """A set-up that the game does not allow opens nothing."""
        answer = room.host.post(f"{API}/sessions", json=body)

        assert answer.status_code == 422
        assert answer.json()["error"]
        assert len(room.host.get(f"{API}/sessions").json()) == 1

    def test_an_error_never_repeats_what_was_sent(self, room: Room) -> None:
        """A token in a malformed request does not come back in the answer."""
        answer = room.host.post(f"{API}/join", json={"token": ["my-secret-token"]})

        assert answer.status_code == 422
        assert "secret" not in answer.text

    def test_too_large_bodies_are_refused(self, room: Room) -> None:
        """A body over the limit is refused before it is read."""
        answer = room.host.post(f"{API}/sessions", content=b"x" * 300_000)

        assert answer.status_code == 413


class TestGames:
    """What the games are."""

    def test_every_house_rule_says_what_it_decides(self, room: Room) -> None:
        """Nobody has to guess from a key; each value has its sentence in each language."""
        silent = []
        for game in room.host.get(f"{API}/games").json():
            for option in game["options"]:
                usual = option["default"]
                values = [True, False] if isinstance(usual, bool) else option["choices"] or [""]
                for value in values:
                    name = str(value).lower() if isinstance(value, bool) else value
                    if set(option["says"].get(name, {})) != set(LANGUAGES):
                        silent.append((game["name"], option["key"], value))

        assert silent == []

    def test_every_game_is_listed_with_its_options(self, room: Room) -> None:
        """The set-up page gets board, kit and options of each game."""
        names = {game["name"]: game for game in room.host.get(f"{API}/games").json()}

        assert names["kewbz"]["title"] == "KEWBZ"
        assert "supply" in [option["key"] for option in names["kewbz"]["options"]]

    @pytest.mark.parametrize("language", ["en", "de", "fr", "es", "nl"])
    def test_rules_are_told_in_each_language(self, room: Room, language: str) -> None:
        """The rules page gets every rule with its sentence."""
        game = room.host.get(f"{API}/games/kewbz", params={"language": language}).json()

        rules = {rule["code"]: rule["say"] for rule in game["rules"]}
        assert rules["kewbz.square"]


class TestNonsense:
    """What makes no sense is refused with a sentence, and changes nothing."""

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ({"stacks": {"d4": "X"}}, "no colour 'X'"),
            ({"stacks": {"d4": "BYBYBY"}}, "at most 5"),
            ({"stacks": {"z9": "B"}}, "not on the board"),
            ({"stacks": {"d4": "B."}}, "no stack"),
            ({"stacks": {}, "unsure": {"d4": {"BX": 0.4}}}, "no colour 'X'"),
            ({"stacks": {}, "unsure": {"z9": {"B": 0.4}}}, "not on the board"),
        ],
        ids=["colour", "high", "outside", "gap-on-top", "doubted-colour", "doubted-cell"],
    )
    def test_positions_that_cannot_be(self, room: Room, body: object, says: str) -> None:
        """Told positions are checked like corrections."""
        answer = room.host.post(room.url("/observations"), json=body)

        assert answer.status_code == 422
        assert says in answer.json()["error"]
        assert room.host.get(room.url()).json()["state"]["phase"] == "setup"

    def test_games_without_cards_take_none(self, room: Room) -> None:
        """No turn comes of a card in a game that has no cards."""
        room.see()

        answer = room.host.post(room.url("/claims"), json={"player": "B", "card": "YB/RY"})

        assert answer.status_code == 409
        assert room.host.get(room.url()).json()["state"]["turns"] == []

    def test_names_hide_nothing(self, room: Room) -> None:
        """Signs that turn the direction of writing around are left out of names."""
        body = {"game": "kewbz", "name": "a\u202eb\n", "players": [{"id": "B"}, {"id": "Y"}]}

        made = room.host.post(f"{API}/sessions", json=body).json()

        assert made["name"] == "ab"
