"""Live sessions: readings and taps go in, the contract's events come out, corrections reach back."""

from collections.abc import Callable
from typing import Any

import pytest

from rules.stacks import Stacks
from service.errors import BadRequest, NotNow
from service.follower import Seen
from service.inputs import Input, effective
from service.session import GameSession
from service.setup_json import game_of
from service.store import Store

SETUP = {"game": "kewbz", "players": [{"id": "B"}, {"id": "Y"}], "rules": {"supply": 20}}


class Clock:
    """Time that moves when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def store() -> Store:
    """A store in memory with one session."""
    store = Store(None)
    store.open_session("s", SETUP, created=1000.0)
    return store


@pytest.fixture
def reopened(store: Store) -> Callable[[], GameSession]:
    """Opens the session from its log, as after a restart."""
    return lambda: GameSession("s", game_of(SETUP), store, Clock())


@pytest.fixture
def session(reopened: Callable[[], GameSession]) -> GameSession:
    """A session before its first scene."""
    return reopened()


def see(session: GameSession, **cells: str) -> None:
    """One still scene."""
    session.observed(Seen(Stacks.of(cells)))


def play(session: GameSession) -> None:
    """Three turns: d4, d5, and a corner at d5 with its cube."""
    see(session)
    see(session, d4="B")
    see(session, d4="B", d5="Y")
    see(session, d4="B", d5="YB", c5="B")


def moves(session: GameSession) -> list[tuple[int, str, bool]]:
    """The turns of the list, with whether they are legal."""
    return [(turn["n"], turn["move"], turn["legal"]) for turn in session.state.turns]


def events(store: Store) -> list[dict[str, Any]]:
    """Every event in the log."""
    return [entry.body for entry in store.entries("s") if entry.kind == "event"]


class TestPlaying:
    """A game from the empty table on."""

    def test_scenes_become_turns(self, session: GameSession) -> None:
        """Each scene is told as settled, and the turn that explains it follows."""
        play(session)

        assert moves(session) == [(1, "+d4B", True), (2, "+d5Y", True), (3, "+c5B +d5B", True)]
        assert session.state.phase == "play"
        assert session.state.next == "Y"
        assert session.state.confirmed == {"d4": "B", "d5": "YB", "c5": "B"}

    def test_the_same_scene_again_is_not_kept(self, session: GameSession, store: Store) -> None:
        """A camera that reports the same scene all day does not fill the disk."""
        play(session)
        before = len(store.entries("s"))

        see(session, d4="B", d5="YB", c5="B")

        assert len(store.entries("s")) == before

    def test_what_is_owed_is_told(self, session: GameSession) -> None:
        """A half-finished turn is owed, not illegal."""
        see(session)
        see(session, d4="B")
        see(session, d4="B", d5="Y")
        see(session, d4="B", d5="Y", c5="B")

        assert session.state.owed[0]["cells"] == {"d5": 1}
        assert [turn["n"] for turn in session.state.turns] == [1, 2]

    def test_an_illegal_turn_taken_back_stays_in_the_list(self, session: GameSession) -> None:
        """The list keeps it, marked; score and position are those before it."""
        see(session)
        see(session, d4="B")
        see(session, d4="B", h8="Y")
        assert not session.state.turns[-1]["legal"]

        see(session, d4="B")

        assert session.state.turns[-1]["taken_back"]
        assert session.state.confirmed == {"d4": "B"}
        assert session.state.next == "Y"

    def test_an_illegal_turn_can_be_kept(self, session: GameSession) -> None:
        """Kept, it stands, and the next player goes on from there."""
        see(session)
        see(session, d4="B")
        see(session, d4="B", h8="Y")

        session.keep()

        assert session.state.turns[-1]["kept"]
        assert session.state.confirmed == {"d4": "B", "h8": "Y"}
        assert session.state.next == "B"

    def test_reasons_are_told_in_all_languages(self, session: GameSession) -> None:
        """Every broken rule carries its sentence in the five languages."""
        see(session)
        see(session, d4="B")
        see(session, d4="B", h8="Y")

        said = session.state.turns[-1]["breaks"][0]["says"]

        assert set(said) == {"en", "de", "fr", "es", "nl"}
        assert len(set(said.values())) == 5

    def test_sentences_name_players_by_their_colour(self, session: GameSession) -> None:
        """Nobody knows who B is; everybody knows who Blue is, in his own language."""
        see(session)
        see(session, d4="Y")

        says = session.state.turns[-1]["breaks"][0]["says"]

        assert "Yellow" in says["en"] or "Blue" in says["en"]
        assert "Gelb" in says["de"] or "Blau" in says["de"]

    def test_undo_takes_the_last_turn_out(self, session: GameSession) -> None:
        """The record loses its last turn; nothing is judged until the table shows that."""
        play(session)

        session.undo()
        see(session, d4="B", d5="Y")

        assert moves(session) == [(1, "+d4B", True), (2, "+d5Y", True)]

    def test_pause_lets_anything_be_touched(self, session: GameSession) -> None:
        """While paused nothing is judged; play goes on when the position stands again."""
        play(session)
        session.pause()
        see(session, a1="BBBBB")
        session.resume()
        assert session.state.phase == "paused"

        see(session, d4="B", d5="YB", c5="B")
        session.resume()

        assert session.state.phase == "play"
        assert len(session.state.turns) == 3

    def test_a_new_game_begins_without_points(self, store: Store) -> None:
        """Once the table is cleared after the end, nobody sees the last game's points."""
        session = GameSession("s", game_of({**SETUP, "rules": {"supply": 1}}), store, Clock())
        see(session)
        see(session, d4="B")
        assert session.state.phase == "over"
        assert session.state.score != {}

        see(session)

        assert session.state.phase == "play"
        assert session.state.score == {}

    @pytest.mark.parametrize("action", ["undo", "keep", "resume"])
    def test_what_is_not_possible_now_is_refused(
        self, session: GameSession, store: Store, action: str
    ) -> None:
        """A refused action says why and leaves no trace in the log."""
        see(session)
        before = len(store.entries("s"))

        with pytest.raises(NotNow):
            getattr(session, action)()

        assert len(store.entries("s")) == before

    def test_legal_turns_name_their_cells(self, session: GameSession) -> None:
        """Legal places are told for whoever is to move."""
        see(session)
        see(session, d4="B")

        legal = session.legal()

        assert {turn["player"] for turn in legal} == {"Y"}
        assert ["c3"] in [turn["cells"] for turn in legal]
        assert ["h8"] not in [turn["cells"] for turn in legal]

    def test_the_record_can_be_read_again(self, session: GameSession) -> None:
        """The text form of the game holds its turns."""
        play(session)

        assert session.record().splitlines()[-3:] == ["B +d4B", "Y +d5Y", "B +c5B +d5B"]


class TestRestart:
    """A crash and what comes after."""

    def test_the_game_goes_on_where_it_stood(
        self, session: GameSession, reopened: Callable[[], GameSession]
    ) -> None:
        """A session made anew from the log has the same state and goes on with it."""
        play(session)

        again = reopened()

        assert again.state == session.state
        assert again.seq == session.seq
        see(again, d4="B", d5="YB", c5="B", c4="Y")
        assert again.state.turns[-1]["n"] == 4

    def test_a_failed_write_is_as_if_nothing_had_happened(
        self, session: GameSession, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When the disk refuses, nobody is told of a turn, and the turn can be seen again."""
        see(session)
        told: list[dict[str, Any]] = []
        session.listeners.append(told.append)

        def full(*_: object) -> int:
            raise OSError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(store, "append", full)
            with pytest.raises(OSError, match="disk full"):
                see(session, d4="B")
        assert told == []

        see(session, d4="B")

        assert moves(session) == [(1, "+d4B", True)]

    def test_every_told_event_is_on_the_disk(self, session: GameSession, store: Store) -> None:
        """Whoever is told of an event finds it in the log at that moment."""
        missing: list[dict[str, Any]] = []
        session.listeners.append(
            lambda event: None if event in events(store) else missing.append(event)
        )

        play(session)

        assert missing == []


class TestCorrecting:
    """What was misread is judged again, with everything after it."""

    def test_a_past_misreading_rejudges_later_turns(self, session: GameSession) -> None:
        """The first cube was read on the wrong cell, so the second turn seemed illegal."""
        see(session)
        see(session, h8="B")
        see(session, h8="B", d5="Y")
        assert moves(session)[1] == (2, "+d5Y", False)

        session.correct({"h8": "", "d4": "B"}, turn=1)

        assert moves(session) == [(1, "+d4B", True), (2, "+d5Y", True)]

    def test_the_next_reading_is_understood_through_it(self, session: GameSession) -> None:
        """The camera that goes on misreading the cell does not bring the error back."""
        see(session)
        see(session, h8="B")
        session.correct({"h8": "", "d4": "B"})

        see(session, h8="B", d5="Y")

        assert moves(session) == [(1, "+d4B", True), (2, "+d5Y", True)]

    def test_a_correction_survives_a_restart(
        self, session: GameSession, reopened: Callable[[], GameSession]
    ) -> None:
        """The log holds the correction, so the replay does too."""
        see(session)
        see(session, h8="B")
        see(session, h8="B", d5="Y")
        session.correct({"h8": "", "d4": "B"}, turn=1)

        again = reopened()

        assert moves(again) == moves(session)
        see(again, h8="B", d5="Y", e6="B")
        assert moves(again)[-1] == (3, "+e6B", True)

    def test_changed_turns_are_told_again(self, session: GameSession, store: Store) -> None:
        """After the correction come the turns whose judgement has changed."""
        see(session)
        see(session, h8="B")
        see(session, h8="B", d5="Y")
        before = session.seq

        session.correct({"h8": "", "d4": "B"}, turn=1)

        told = [e.body for e in store.entries("s", since=before) if e.kind == "event"]
        assert told[0]["event"] == "corrected"
        assert told[0]["cells"] == ["d4", "h8"]
        assert {event["n"] for event in told[1:]} == {1, 2}

    @pytest.mark.parametrize(
        ("cells", "says"),
        [
            ({"z9": "B"}, "not on the board"),
            ({"d4": "BBBBBB"}, "at most 5"),
            ({"d4": "Q"}, "no colour 'Q'"),
            ({"d4": "b"}, "no stack"),
        ],
        ids=["off-board", "too-high", "no-colour", "no-stack"],
    )
    def test_impossible_corrections_are_refused(
        self, session: GameSession, cells: dict[str, str], says: str
    ) -> None:
        """What cannot stand there is refused with the reason."""
        play(session)

        with pytest.raises(BadRequest, match=says):
            session.correct(cells)

    def test_a_correction_ends_when_the_cell_changes_otherwise(self) -> None:
        """A later reading that contradicts the misreading is believed again."""
        inputs = [
            Input(1, 0.0, "observed", {"stacks": {"d4": "B"}}),
            Input(2, 1.0, "correct", {"cells": {"d4": "Y"}, "since": 1}),
            Input(3, 2.0, "observed", {"stacks": {"d4": "BB"}}),
            Input(4, 3.0, "observed", {"stacks": {}}),
            Input(5, 4.0, "observed", {"stacks": {"d4": "B"}}),
        ]

        understood = [one.body["stacks"] for one in effective(inputs)]

        assert understood == [{"d4": "Y"}, {"d4": "YB"}, {}, {"d4": "B"}]

    def test_doubt_is_asked_and_answered(self, session: GameSession, store: Store) -> None:
        """Where a verdict depends on the doubt, the players are asked, and their answer counts."""
        see(session)
        see(session, d4="B")
        doubt = {"d5": {"B": 0.6, "Y": 0.4}}
        session.observed(Seen(Stacks.of({"d4": "B", "d5": "B"}), doubt, certainty=0.6))
        assert session.state.asks[0]["cells"] == ["d5"]

        session.correct({"d5": "Y"})

        assert moves(session) == [(1, "+d4B", True), (2, "+d5Y", True)]
        assert session.state.asks == []
        assert "answered" in [event["event"] for event in events(store)]

    def test_a_question_stays_until_it_is_answered_or_the_scene_changes(
        self, session: GameSession
    ) -> None:
        """The same scene read again, more or less surely, takes no question off the page."""
        see(session)
        see(session, d4="B")
        scene = Stacks.of({"d4": "B", "d5": "B"})
        session.observed(Seen(scene, {"d5": {"B": 0.6, "Y": 0.4}}, certainty=0.6))

        session.observed(Seen(scene))
        stays = [ask["cells"] for ask in session.state.asks]
        see(session, d4="B", d5="Y")

        assert stays == [["d5"]]
        assert session.state.asks == []

    def test_an_early_doubt_explains_a_later_scene(
        self, session: GameSession, store: Store, reopened: Callable[[], GameSession]
    ) -> None:
        """What was misread before is corrected and nobody is blamed; so does the log after it."""
        see(session)
        see(session, d4="B")
        see(session, d4="B", d5="Y")
        doubted = {"d5": {"Y": 0.7, "": 0.3}, "f6": {"": 0.7, "Y": 0.3}}

        session.observed(Seen(Stacks.of({"d4": "B", "f6": "Y", "f7": "B"}), doubted=doubted))

        assert all(legal for _, _, legal in moves(session))
        told = [event["cells"] for event in events(store) if event["event"] == "corrected"]
        assert told == [["f6"]]
        assert reopened().state.confirmed == {"d4": "B", "f6": "Y", "f7": "B"}

    def test_the_side_of_a_hand_is_kept_in_the_log(
        self, session: GameSession, store: Store
    ) -> None:
        """The same scene seen with another hand tells nothing new."""
        see(session)
        session.observed(Seen(Stacks.of({"d4": "B"}), hand_clock=6.0))
        session.observed(Seen(Stacks.of({"d4": "B"}), hand_clock=11.0))

        inputs = [entry.body for entry in store.entries("s") if entry.kind == "input"]
        assert [body.get("hand_clock") for body in inputs] == [None, 6.0]

    def test_corrected_cells_are_in_doubt_no_more(self) -> None:
        """What the players have said is not found back to something else."""
        doubt = {"d4": {"B": 0.6, "": 0.4}, "e5": {"": 0.8, "Y": 0.2}}
        body = {"stacks": {"d4": "B"}, "unsure": doubt, "doubted": doubt}
        inputs = [
            Input(1, 0.0, "observed", body),
            Input(2, 1.0, "correct", {"cells": {"d4": "Y"}, "since": 1}),
        ]

        (understood,) = effective(inputs)

        rest = {"e5": {"": 0.8, "Y": 0.2}}
        assert understood.body == {"stacks": {"d4": "Y"}, "unsure": rest, "doubted": rest}

    def test_time_goes_on_when_somebody_else_keeps_it(self, session: GameSession) -> None:
        """A play that waits for its pictures makes nobody impatient, and no time is lost."""
        before, slow = session.t, Clock()

        slow.now = 5.0
        session.keep_time(slow)

        assert before < session.t <= before + 3


class TestRestoring:
    """Somebody knocked the tower over."""

    def test_missing_and_surplus_units_are_marked(self, session: GameSession) -> None:
        """Against the confirmed position, units are missing or surplus, level by level."""
        play(session)
        session.pause()

        see(session, d4="B", d5="Y", c6="B", c5="B")

        assert session.difference().to_json() == {
            "same": False,
            "missing": [{"unit": "d5.2", "colour": "B"}],
            "surplus": [{"unit": "c6.1", "colour": "B"}],
        }
