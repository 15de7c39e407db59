"""The referee at a KEWBZ table: what it tells, and when it keeps silent."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from rules.cells import Cell
from rules.errors import RulesError
from rules.events import Event
from rules.kewbz import SPEC
from rules.looks import still_stands
from rules.record import TurnLine
from rules.referee import Referee
from rules.registry import find_game
from rules.stacks import Stacks


class Table:
    """A referee and its clock; scenes are given as mappings, one second apart."""

    def __init__(self) -> None:
        self.referee = Referee(SPEC.set_up())
        self.t = 0.0
        self.events: list[Event] = self.referee.observe(0.0, Stacks())

    def see(self, seconds: float = 1.0, /, **cells: str) -> list[str]:
        """What a scene is answered with, in short."""
        self.t += seconds
        found = self.referee.observe(self.t, Stacks.of(cells))
        self.events += found
        return [short(event) for event in found]


def short(event: Event) -> str:
    """An event in one line."""
    data = event.data
    if event.event == "turn":
        end = "final" if data["final"] else "open"
        breaks = ",".join(b["rule"].partition(".")[2] for b in data["breaks"])
        return f"{data['n']} {data['player']} {data['move']} {breaks or 'legal'} {end}"
    if event.event == "owed":
        return f"{data['n']} owed {data['cells']}"
    if event.event == "phase":
        return f"phase {data['phase']}"
    return f"{event.event} {data.get('n', data.get('cells'))}"


def test_an_empty_board_starts_the_game() -> None:
    """The start position standing still is all it takes."""
    assert [short(e) for e in Table().events] == ["phase play"]


def test_two_cubes_too_many_are_not_the_same_breach_as_one() -> None:
    """Whoever is to blame for one of them has not put down the other one, too."""
    one, two = Table(), Table()
    one.see(d4="BB")
    two.see(d4="BBB")

    assert one.referee._play.book.breaches() != two.referee._play.book.breaches()


def test_the_cube_that_came_later_is_one_too_many() -> None:
    """Both were seen to come; whichever cell comes first in the alphabet."""
    table = Table()
    table.see(d4="B")

    assert table.see(d4="B", c4="B") == ["1 B +d4B +c4B second-placement open"]
    assert table.events[-1].data["breaks"][0]["cells"] == ["c4"]


def test_turns_are_looked_for_once_in_a_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reading asks what may follow; that stays so until somebody has moved."""
    table = Table()
    asked: list[Any] = []
    game = type(table.referee.game)
    successors = game.successors

    def noted(self: Any, where: Any) -> Iterator[Any]:
        asked.append(where)
        return successors(self, where)

    monkeypatch.setattr(game, "successors", noted)
    first = table.referee.expected()

    assert table.referee.expected() == first
    assert len(asked) == 1
    table.see(d4="B")
    assert table.referee.expected() != first


def test_a_scene_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever follows a table asks about the same scene again and again."""
    table = Table()
    asked: list[Any] = []
    game = type(table.referee.game)
    judge = game.judge

    def noted(self: Any, position: Any, turn: Any) -> Any:
        asked.append(turn)
        return judge(self, position, turn)

    monkeypatch.setattr(game, "judge", noted)
    scene = Stacks.of({"d4": "B"})

    assert table.referee.explains(scene)
    assert table.referee.explains(Stacks.of({"d4": "B"}))
    assert len(asked) == 1
    assert not table.referee.explains(Stacks.of({"d4": "Y"}))


def test_turns_become_final_when_the_next_player_acts() -> None:
    """A legal turn is told at once and stays open until the opponent's cube stands."""
    table = Table()

    assert table.see(d4="B") == ["1 B +d4B legal open"]
    assert table.see(d4="B", d5="Y") == ["1 B +d4B legal final", "2 Y +d5Y legal open"]


def test_an_owed_cube_is_told_and_not_flagged() -> None:
    """The placed cube comes first and its tower cube after; nobody is blamed between."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert table.see(d4="B", d5="Y", c5="B")[-1] == "3 owed {'d5': 1}"
    assert table.see(d4="B", d5="YB", c5="B") == ["3 B +c5B +d5B legal open"]


def test_a_tower_cube_first_is_waited_for() -> None:
    """Stacking before placing is told as something still owed."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert table.see(d4="B", d5="YB")[-1].startswith("3 owed")
    assert table.see(d4="B", d5="YB", c5="B") == ["3 B +c5B +d5B legal open"]


def test_an_illegal_turn_taken_back_stays_in_the_record() -> None:
    """The referee notices by itself that the cube is gone again, and the record keeps both."""
    table = Table()
    table.see(d4="B")

    assert table.see(d4="B", h8="Y") == ["1 B +d4B legal final", "2 Y +h8Y not-adjacent open"]
    assert table.see(d4="B") == ["taken-back 2"]
    assert table.see(d4="B", d5="Y") == ["3 Y +d5Y legal open"]
    assert [str(line) for line in table.referee.record.lines] == ["B +d4B", "Y +h8Y", "Y +d5Y"]


def test_an_illegal_turn_is_kept_by_a_decision() -> None:
    """After a tap on keep, play goes on from what stands there, and the old breach is no longer told."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", h8="Y")

    kept = [short(e) for e in table.referee.keep(10.0)]

    assert kept == ["2 Y +h8Y not-adjacent final", "kept 2"]
    assert table.see(d4="B", h8="Y", g7="B") == ["3 B +g7B legal open"]
    assert str(table.referee.record.lines[1]) == "Y +h8Y kept"


def test_the_next_players_action_keeps_an_illegal_turn() -> None:
    """Whoever plays on accepts what stands there."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", h8="Y")

    assert table.see(d4="B", h8="Y", d5="B") == [
        "2 Y +h8Y not-adjacent final",
        "kept 2",
        "3 B +d5B legal open",
    ]


def test_two_illegal_turns_are_taken_back_together() -> None:
    """The first one counted as kept when the second came; both are gone, so neither was."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", g1="B")
    table.see(d4="B", d5="Y", g1="B", a7="Y")

    assert table.see(d4="B", d5="Y") == ["taken-back 4", "taken-back 3"]
    assert table.see(d4="B", d5="Y", e4="B")[0].startswith("5 ")
    lines = table.referee.record.lines
    assert not any(line.kept for line in lines if isinstance(line, TurnLine))


def test_who_puts_down_more_of_his_own_at_once_is_blamed_himself() -> None:
    """A legal turn and soon after a second cube of the same colour are one player's breach."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert table.see(1.5, d4="B", d5="Y", g1="Y")[-1].startswith("2 Y ")
    assert table.see(d4="B") == ["taken-back 2"]


def test_a_second_breach_in_another_colour_is_the_next_players() -> None:
    """Both are as bad as one; the cube's colour tells who put it down."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", g1="B")

    found = table.see(d4="B", d5="Y", g1="B", a7="Y")
    assert found[0].startswith("3 B +g1B")
    assert found[-1].startswith("4 Y +a7Y")


def test_a_second_breach_in_the_same_colour_is_the_same_players() -> None:
    """Who has put down one cube wrongly, and then another of his own, has made one illegal turn."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", g1="B")

    found = table.see(d4="B", d5="Y", g1="B", a7="B")
    assert [line.split()[:2] for line in found] == [["3", "B"]]


def test_a_legal_turn_may_be_undone_with_the_breach_after_it() -> None:
    """Both were one player's doing, as nothing of them is left."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    assert table.see(5.0, d4="B", d5="Y", g1="Y")[-1].startswith("3 B ")

    assert table.see(d4="B") == ["taken-back 3", "taken-back 2"]
    assert table.see(d4="B", e4="Y")[0].endswith("+e4Y legal open")


def test_a_forgotten_tower_cube_is_flagged_when_the_next_player_acts() -> None:
    """Until then it is only owed."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", c5="B")

    assert table.see(d4="B", d5="Y", c5="B", e5="Y") == [
        "3 B +c5B stack-missing final",
        "kept 3",
        "4 owed {'d5': 1}",
    ]


def test_two_turns_in_one_look_are_two_turns() -> None:
    """Fast players are not blamed for being fast."""
    table = Table()

    assert table.see(d4="B", d5="Y") == [
        "1 B +d4B legal open",
        "1 B +d4B legal final",
        "2 Y +d5Y legal open",
    ]


def test_the_wrong_colour_is_flagged() -> None:
    """Yellow may not begin."""
    assert Table().see(d4="Y") == ["1 B +d4Y wrong-colour open"]


def test_a_second_thought_replaces_the_open_turn() -> None:
    """A cube that is moved on before the opponent plays is the same turn."""
    table = Table()
    table.see(d4="B")

    assert table.see(e4="B") == ["1 B +e4B legal open"]


def test_a_nudged_cube_is_not_told_before_it_stays_away() -> None:
    """A cube that is missing for a moment and comes back was only touched."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", e4="B")
    table.see(d4="B", d5="YB", e4="B")

    assert table.see(d5="YB", e4="B") == []
    assert table.see(d4="B", d5="YB", e4="B") == []


def test_a_cube_that_stays_away_is_told() -> None:
    """Cubes may not be taken off the board."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert table.see(d5="Y") == []
    assert table.see(5.0, d5="Y")[-1].endswith("-d4 cube-moved open")
    assert table.see(d4="B", d5="Y") == ["taken-back 3"]


def test_a_cube_that_may_not_be_taken_is_told_after_a_second() -> None:
    """Nobody has to touch the table again; what was only nudged is back by then."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d5="Y")

    assert table.referee.tick(table.t + 0.9) == []
    assert [short(e) for e in table.referee.tick(table.t + 1.1)][-1].endswith("-d4 cube-moved open")


def test_who_puts_down_most_of_what_he_took_has_meant_it() -> None:
    """Three cubes gone and two of them elsewhere is no accident, if it stays like that."""
    table = Table()
    stacks = {"d4": "B", "d5": "YB", "c5": "B", "e5": "Y"}
    table.referee.observe(1.0, Stacks.of(stacks))
    table.referee.start(1.0)
    table.t = 1.0

    assert table.see(c5="B", e5="Y", a1="B", a3="Y") == []
    (told,) = table.referee.tick(table.t + 2.1)
    assert not told.data["legal"]


def test_a_knocked_over_structure_is_restored_in_silence() -> None:
    """Many cubes missing are an accident; nothing is judged until the position stands again."""
    table = Table()
    stacks = {"d4": "B", "d5": "YB", "c5": "B", "e5": "Y"}
    table.referee.observe(1.0, Stacks.of(stacks))
    table.referee.start(1.0)

    assert table.see(c5="B") == []
    assert table.see(60.0, c5="B", d4="B") == []
    assert table.see(**stacks) == []
    assert table.see(**stacks, d3="B")[0].startswith("1 owed")


def test_doubt_is_asked_about_only_where_it_matters() -> None:
    """An unsure cell is a question if one answer is legal and the likelier one is not."""
    table = Table()
    table.see(d4="B")
    doubt = {Cell.parse("d5"): {"B": 0.6, "Y": 0.4}}

    asked = table.referee.observe(2.0, Stacks.of({"d4": "B", "d5": "B"}), doubt)
    again = table.referee.observe(3.0, Stacks.of({"d4": "B", "d5": "B"}), doubt)
    answered = table.referee.answer(4.0, {Cell.parse("d5"): "Y"})

    assert [e.event for e in asked] == ["ask"]
    assert asked[0].data["choices"] == {"d5": ["B", "Y"]}
    assert again == []
    assert [short(e) for e in answered] == [
        "answered ['d5']",
        "1 B +d4B legal final",
        "2 Y +d5Y legal open",
    ]


@pytest.mark.parametrize(("chance", "told"), [(0.4, "ask"), (0.6, "turn")])
def test_nobody_is_accused_of_a_piece_that_is_rather_not_there(chance: float, told: str) -> None:
    """Every answer is illegal, but which one it is players know better."""
    table = Table()
    table.see(d4="B")
    doubt = {Cell.parse("h8"): {"Y": chance, "B": 0.35, "BB": 0.65 - chance}}

    found = table.referee.observe(2.0, Stacks.of({"d4": "B", "h8": "Y"}), doubt)

    assert found[-1].event == told
    if told == "ask":
        assert found[-1].data["choices"] == {"h8": ["Y", "B", "BB"]}
    else:
        assert not found[-1].data["legal"]


def asked_about_a_breach() -> Table:
    """A table whose players were asked about a cube that is illegal, whatever it is."""
    table = Table()
    table.see(d4="B")
    doubt = {Cell.parse("h8"): {"Y": 0.4, "B": 0.35, "BB": 0.25}}
    found = table.referee.observe(2.0, Stacks.of({"d4": "B", "h8": "Y"}), doubt)
    assert [event.event for event in found] == ["ask"]
    table.t = 2.0
    return table


def test_a_breach_that_was_asked_about_is_told_when_play_goes_on() -> None:
    """Else it would be one turn with the next player's, and nothing after that would be right."""
    table = asked_about_a_breach()

    assert table.see(20.0, d4="B", h8="Y", d3="B") == [
        "1 B +d4B legal final",
        "2 Y +h8Y not-adjacent open",
        "2 Y +h8Y not-adjacent final",
        "kept 2",
        "3 B +d3B legal open",
    ]
    assert table.see(20.0, d4="B", h8="Y", d3="B", d5="Y")[-1] == "4 Y +d5Y legal open"


def test_a_breach_that_was_asked_about_is_told_once_it_is_seen_well() -> None:
    """The same scene without the doubt answers the question, but not while a hand hides it."""
    table = asked_about_a_breach()
    scene = Stacks.of({"d4": "B", "h8": "Y"})

    assert table.referee.observe(2.5, scene, {}, [Cell.parse("h8")]) == []
    assert table.see(d4="B", h8="Y")[-1] == "2 Y +h8Y not-adjacent open"


def test_nobody_is_asked_about_a_table_in_disorder() -> None:
    """It is silent until the position stands again, however badly it is seen."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="YB", c5="B")
    table.see(d4="B", d5="YB", c5="B", e4="Y")
    stood = table.referee.believed
    doubt = {c: {"": 0.45, stack: 0.3, stack + "Y": 0.25} for c, stack in stood.items()}

    assert table.referee.observe(50.0, Stacks(), doubt) == []
    assert table.referee.observe(60.0, stood) == []


def test_nobody_is_told_of_what_was_asked_about_and_is_gone() -> None:
    """A shadow, say, that looked like a cube."""
    table = asked_about_a_breach()

    assert table.see(20.0, d4="B", d5="Y") == ["1 B +d4B legal final", "2 Y +d5Y legal open"]


def test_an_unknown_lower_cube_is_what_it_was() -> None:
    """A colour that no camera sees is remembered."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", c5="B")

    found = table.referee.observe(9.0, Stacks.of({"d4": "B", "d5": "?B", "c5": "B"}))

    assert [short(e) for e in found] == ["3 B +c5B +d5B legal open"]


def test_a_paused_table_may_be_touched() -> None:
    """Play goes on when the confirmed position stands again, and what differs is listed."""
    table = Table()
    table.see(d4="B")
    table.referee.pause(2.0)

    assert table.see() == []
    assert [e.data for e in table.referee.resume(4.0)] == [{"phase": "paused", "cells": ["d4"]}]
    assert table.see(d4="B") == []
    assert [short(e) for e in table.referee.resume(6.0)] == ["phase play"]


def test_undo_waits_for_the_table() -> None:
    """A turn taken back by a tap is not read again while its cube still stands."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert [short(e) for e in table.referee.undo(3.0)] == ["taken-back 2"]
    assert table.see(d4="B", d5="Y") == []
    assert table.see(d4="B") == []
    assert table.see(d4="B", e5="Y") == ["2 Y +e5Y legal open"]


def test_undo_goes_back_turn_by_turn_to_the_beginning() -> None:
    """Each undo takes one turn; before the first there is none."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.referee.undo(3.0)

    assert [short(e) for e in table.referee.undo(4.0)] == ["taken-back 1"]
    with pytest.raises(RulesError, match="no turn to take back"):
        table.referee.undo(5.0)


def test_a_correction_by_the_players_is_believed() -> None:
    """What players say about a cell counts, and play goes on from it."""
    table = Table()
    table.see(d4="B")

    told = [short(e) for e in table.referee.correct(2.0, {Cell.parse("e4"): "Y"})]

    assert told[0] == "corrected ['e4']"
    assert table.referee.believed == Stacks.of({"d4": "B", "e4": "Y"})


def test_a_whole_game_ends_and_the_next_one_begins() -> None:
    """After the last cube the table is cleared in silence, and an empty board begins again."""
    referee = Referee(SPEC.set_up())
    game = referee.game
    referee.observe(0.0, Stacks())
    t = 0.0
    told: list[str] = []
    while referee.phase == "play":
        t += 5.0
        position = next(game.successors(referee.position))
        told += [short(e) for e in referee.observe(t, position.stacks)]

    assert told[-1] == "phase over"
    assert any(line.startswith("over") for line in told)
    assert not [line for line in told if "open" in line and "legal" not in line]
    assert referee.observe(t + 1, Stacks.of({"d4": "B"})) == []
    assert [short(e) for e in referee.observe(t + 2, Stacks())] == ["phase play"]


def test_a_pass_that_is_not_allowed_is_told_and_changes_nothing() -> None:
    """KEWBZ knows no pass; it stays in the record as an illegal turn."""
    table = Table()
    table.see(d4="B")

    told = [short(e) for e in table.referee.pass_turn(3.0, "Y")]

    assert told == ["1 B +d4B legal final", "2 Y pass must-place final"]
    assert table.see(d4="B", d5="Y") == ["3 Y +d5Y legal open"]


def test_the_next_player_may_lift_the_cube_just_placed() -> None:
    """In CUBE a cube that was drawn may be moved by the next player; lifting it takes nothing back."""
    referee = Referee(find_game("cube").set_up())
    start = referee.game.start().stacks
    drawn = start.with_stack(Cell.parse("b2"), "R")
    moved = start.with_stack(Cell.parse("c2"), "R")

    referee.observe(0.0, start)
    told = [short(e) for e in referee.observe(1.0, drawn)]
    told += [short(e) for e in referee.observe(9.0, start)]
    told += [short(e) for e in referee.observe(10.0, moved)]

    assert told[0] == "1 1 +b2R legal open"
    assert told[1] == "1 1 +b2R legal final"
    assert told[-1] == "2 2 -b2 +c2R legal open"


def test_a_legal_turn_and_an_illegal_one_in_one_look_blame_only_the_second_player() -> None:
    """Blue's cube is fine; yellow's cube far away is yellow's mistake."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    assert table.see(d4="B", d5="Y", d3="B", h8="Y") == [
        "2 Y +d5Y legal final",
        "3 B +d3B legal open",
        "3 B +d3B legal final",
        "4 Y +h8Y not-adjacent open",
    ]


def test_no_turn_is_invented_that_another_one_undid() -> None:
    """An illegal block stays one illegal turn; nobody is said to have put and taken another."""
    referee = Referee(find_game("turris").set_up())
    scenes: tuple[dict[str, str], ...] = ({}, {"c2": "LL"}, {"b3": "D", "c2": "LL", "c3": "D"})
    for t, cells in enumerate(scenes):
        referee.observe(3.0 * t, Stacks.of(cells))

    told = referee.observe(9.0, Stacks.of({**scenes[-1], "a2": "LL"}))

    assert [short(event) for event in told if event.event == "turn"] == [
        "2 D +b3~c3D legal final",
        "3 L +a2^L no-contact,upright-no-side-contact open",
    ]


HIDING: tuple[dict[str, str], ...] = (
    {},
    {"a1": "LL"},
    {"a1": "LL", "b1": "DD"},
    {"a1": "LL", "b1": "DD", "a2": "LL"},
    {"a1": "LLD", "b1": "DDD", "a2": "LL"},
    {"a1": "LLD", "b1": "DDD", "a2": "LL", "c1": "LL"},  # and, out of sight, b2
)


def test_a_block_that_nobody_saw_is_told_when_another_one_rests_on_it() -> None:
    """Blocks rest on something: the last turn that can have hidden one is told anew."""
    referee = Referee(find_game("turris").set_up())
    for t, cells in enumerate(HIDING):
        referee.observe(4.0 * t, Stacks.of(cells))

    told = referee.observe(24.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "??D", "c2": "DD"}))

    assert [short(event) for event in told if event.event != "owed"] == [
        "corrected ['b2']",
        "4 D +a1~b1D legal final",
        "5 L +b2^L +c1^L legal final",
        "6 D +a2~b2D +c2^D legal open",
    ]
    assert referee.believed == Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "LLD", "c2": "DD"})


def test_a_breach_taken_back_stays_on_the_record_when_turns_are_told_anew() -> None:
    """What was wrong and put right meanwhile is told again with the turns around it."""
    referee = Referee(find_game("turris").set_up())
    scenes = (*HIDING, {**HIDING[-1], "c3": "DD"}, HIDING[-1])
    for t, cells in enumerate(scenes):
        referee.observe(4.0 * t, Stacks.of(cells))

    told = referee.observe(32.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "??D", "c2": "DD"}))

    wrong = [e.data["n"] for e in told if e.event == "turn" and not e.data["legal"]]
    back = [e.data["n"] for e in told if e.event == "taken-back"]
    assert "5 L +b2^L +c1^L legal final" in [short(event) for event in told]
    assert wrong
    assert set(wrong) <= set(back)


def test_a_block_nudged_meanwhile_does_not_keep_turns_from_being_told_anew() -> None:
    """Half a turn, as it seemed, is a breach with what was hidden; but it was put right soon."""
    referee = Referee(find_game("turris").set_up())
    nudged = {cell: stack for cell, stack in HIDING[-1].items() if cell != "a2"}
    for t, cells in enumerate((*HIDING, nudged, HIDING[-1])):
        referee.observe(4.0 * t, Stacks.of(cells))

    told = referee.observe(32.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "??D", "c2": "DD"}))

    assert [short(event) for event in told if event.event != "owed"] == [
        "corrected ['b2']",
        "4 D +a1~b1D legal final",
        "5 L +b2^L +c1^L legal final",
        "6 D +a2~b2D +c2^D legal open",
    ]


def test_what_players_have_answered_is_not_told_otherwise() -> None:
    """They said that nothing stands there: no turn is told anew with something on it."""
    referee = Referee(find_game("turris").set_up())
    for t, cells in enumerate(HIDING[:-1]):
        referee.observe(4.0 * t, Stacks.of(cells))
    hidden = Cell.parse("b2")
    referee.observe(
        20.0, Stacks.of({**HIDING[-1], "b2": "D"}), unsure={hidden: {"D": 0.6, "": 0.4}}
    )
    referee.answer(21.0, {hidden: ""})

    told = referee.observe(25.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "??D", "c2": "DD"}))

    assert not any(event.event == "corrected" for event in told)


def test_what_people_have_corrected_is_not_told_otherwise() -> None:
    """After a correction no scene before it is played again."""
    referee = Referee(find_game("turris").set_up())
    for t, cells in enumerate(HIDING):
        referee.observe(4.0 * t, Stacks.of(cells))
    referee.take_at_their_word()

    told = referee.observe(25.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "??D", "c2": "DD"}))

    assert not any(event.event == "corrected" for event in told)


def test_a_surplus_cube_is_nobodys_turn_that_was_not_seen() -> None:
    """In CUBE anybody may have put a cube there; turns that were told stay whose they were."""
    game = find_game("cube").set_up()
    referee, position = Referee(game), game.start()
    chance = random.Random(3)
    told = referee.observe(0.0, position.stacks)
    for n in range(1, 15):
        turns = [turn for turn in game.turns(position) if turn.changes and not turn.claim]
        position = game.judge(position, chance.choice(turns[:400])).after
        assert position is not None
        told += referee.observe(5.0 * n, position.stacks)
    whose = {event.data["n"]: event.data["player"] for event in told if event.event == "turn"}
    free = next(cell for cell in game.lattice.cells() if cell not in position.stacks)

    found = referee.observe(75.0, Stacks({**position.stacks, free: "?RG"}))

    turns_told = [event.data for event in found if event.event == "turn"]
    assert all(whose.get(turn["n"], turn["player"]) == turn["player"] for turn in turns_told)
    assert any(not turn["legal"] for turn in turns_told)


def test_single_cubes_that_nobody_saw_stay_unknown() -> None:
    """Where every colour would be as wrong as the others, none is made up."""
    referee = Referee(find_game("kewbz").set_up())
    referee.observe(0.0, Stacks())

    referee.observe(3.0, Stacks.of({"a1": "??B"}))

    assert referee.believed[Cell.parse("a1")] == "??B"


def test_a_block_in_plain_sight_over_nothing_is_told() -> None:
    """Where cameras see all units, nothing was hidden: the turn breaks the rules."""
    referee = Referee(find_game("turris").set_up())
    for t, cells in enumerate(HIDING):
        referee.observe(4.0 * t, Stacks.of(cells))

    told = referee.observe(24.0, Stacks.of({**HIDING[-1], "a2": "LLD", "b2": "LLD", "c2": "DD"}))

    assert not any(event.event == "corrected" for event in told)
    assert any(event.event == "turn" and not event.data["legal"] for event in told)


def test_a_colour_that_nobody_saw_hides_no_turn() -> None:
    """A legal turn and a breach after it are told apart although half a block is out of sight."""
    referee = Referee(find_game("turris").set_up())
    scenes: tuple[dict[str, str], ...] = ({}, {"a1": "LL"}, {"a1": "LL", "b1": "DD"})
    for t, cells in enumerate(scenes):
        referee.observe(3.0 * t, Stacks.of(cells))

    told = referee.observe(9.0, Stacks.of({**scenes[-1], "a2": "?L", "c3": "DD"}))

    assert [short(event) for event in told if event.event == "turn"] == [
        "2 D +b1^D legal final",
        "3 L +a2^L legal open",
        "3 L +a2^L legal final",
        "4 D +c3^D no-contact,upright-no-side-contact open",
    ]
    assert referee.believed[Cell.parse("a2")] == "LL"


def test_a_breach_of_which_a_part_is_out_of_sight_is_one_of_whole_blocks() -> None:
    """Later turns are told with all colours, not with the gap of a scene long ago."""
    referee = Referee(find_game("turris").set_up())
    for t, cells in enumerate(({}, {"a1": "LL"}, {"a1": "LL", "c3": "?D"})):
        referee.observe(3.0 * t, Stacks.of(cells))

    assert referee.believed[Cell.parse("c3")] == "DD"


def test_who_has_not_finished_his_turn_goes_on_with_it() -> None:
    """A cube in the hand that comes down wrongly is one illegal turn, not two of two players."""
    referee = Referee(find_game("qbq").set_up())
    first = {"a1": "B", "a2": "B", "b2": "BB", "e5": "R", "e6": "R", "f5": "R", "f6": "R"}
    second = {**first, "e5": "RR", "f6": "RR"}
    del second["e6"]
    lifted = {cell: stack for cell, stack in second.items() if cell != "a2"}
    told: list[Event] = referee.observe(0, referee.game.start().stacks)
    for t, scene in enumerate((first, second, lifted, {**lifted, "d4": "B"})):
        told = referee.observe(5.0 * (t + 1), Stacks.of(scene))

    assert [short(event) for event in told] == [
        "3 B -a2 +d4B not-connected,splits-group,leaves-lone-cube open"
    ]


def test_who_has_finished_before_the_next_one_played_is_not_blamed_for_owing() -> None:
    """A lifted cube is seen down only with the next player's turn: two turns, no breach."""
    referee = Referee(find_game("qbq").set_up())
    start = referee.game.start().stacks.to_json()
    first = {**start, "a1": "", "b2": "BB"}
    lifted = {**first, "e5": ""}
    told: list[Event] = []
    for t, scene in enumerate((start, first, lifted, {**lifted, "f6": "RR", "b2": "BBB"})):
        told = referee.observe(5.0 * t, Stacks.of(scene))

    assert [short(event) for event in told if event.event == "turn"] == [
        "2 R -e5 +f6R legal open",
        "2 R -e5 +f6R legal final",
        "3 B +b1B -b1 +b2B legal open",
    ]


def test_what_was_gone_before_a_turn_was_done_belongs_to_it() -> None:
    """Two cubes are lifted, one comes down: the next player has not yet lifted the other one."""
    referee = Referee(find_game("qbq").set_up())
    start = referee.game.start().stacks.to_json()
    first = {**start, "a1": "", "b2": "BB"}
    lifted = {**first, "e5": "", "a2": ""}
    told: list[Event] = []
    for t, scene in enumerate((start, first, lifted, {**lifted, "f6": "RR"})):
        told = referee.observe(5.0 * t, Stacks.of(scene))

    turns = [short(event) for event in told if event.event == "turn"]
    assert turns[-1].startswith("2 R -a2 -e5 +f6R ")
    assert not turns[-1].endswith("legal open")


@pytest.mark.parametrize(
    ("before", "made", "wrong", "finished", "breach"),
    [
        pytest.param(
            {"b3": "R"}, {"a2": "R"}, {"a2": "R", "c2": "G"}, "2 2 +a2R", "3 1 -b3 +c2G ",
            id="another-cube-changes-its-colour-on-the-way",
        ),
        pytest.param(
            {"b4": "G"}, {"a2": "Y", "a3": "Y"}, {"b4": "G", "a3": "Y", "c1": "G"},
            "2 2 +a2~a3Y", "3 1 -a2 +c1G ",
            id="one-of-the-two-new-cubes-is-gone",
        ),
    ],
)  # fmt: skip
def test_a_turn_made_long_ago_is_not_made_anew_with_what_came_later(
    before: dict[str, str], made: dict[str, str], wrong: dict[str, str], finished: str, breach: str
) -> None:
    """Cubes were drawn; what then goes and comes in one look is the next player's breach.

    That the first player did otherwise, and the next one a part of it, is no answer.
    """
    referee = Referee(find_game("cube").set_up())
    start = referee.game.start().stacks.to_json()
    told: list[Event] = []
    for t, more in enumerate(({}, before, before | made, wrong)):
        told = referee.observe(5.0 * t, Stacks.of(start | more))

    turns = [short(event) for event in told if event.event == "turn"]
    assert turns[0] == f"{finished} legal final"
    assert turns[-1].startswith(breach)
    assert not turns[-1].endswith("legal open")


def test_who_moves_his_own_cube_wrongly_is_blamed_himself() -> None:
    """A cube that goes to a place where it may not stand is its owner's breach, also later."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    told = table.see(6.0, d4="B", h8="Y")

    assert told[-1].startswith("2 Y +h8Y ")
    assert not told[-1].endswith("legal open")


@pytest.mark.parametrize(
    ("seen", "stands"),
    [
        pytest.param({"a1": "RR", "b1": "R"}, True, id="as-it-was"),
        pytest.param({"a1": "R", "b1": "R"}, True, id="more-is-gone"),
        pytest.param({"a1": "RR", "b1": "RB"}, True, id="more-has-come"),
        pytest.param({"a1": "RRB", "b1": "R"}, True, id="something-else-in-its-place"),
        pytest.param({"a1": "RRR", "b1": "R"}, False, id="is-back"),
        pytest.param({"a1": "RR"}, False, id="was-taken-away"),
        pytest.param({"a1": "B", "b1": "R"}, False, id="something-else"),
    ],
)
def test_a_turn_stands_while_nothing_of_it_is_undone(seen: dict[str, str], stands: bool) -> None:
    """A cube went from a1 to b1; whoever takes another one from a1 has not undone that."""
    before, after = Stacks.of({"a1": "RRR"}), Stacks.of({"a1": "RR", "b1": "R"})
    assert still_stands(before, after, Stacks.of(seen)) is stands


def test_a_piece_taken_off_that_comes_down_elsewhere_is_one_turn() -> None:
    """It would be fine for the next player to put it there; but it was in the first one's hand."""
    referee = Referee(find_game("cube").set_up())
    start = dict(referee.game.start().stacks.to_json())
    played = {**start, "b1": "B", "b2": "R", "c4": "B"}
    lifted = {cell: stack for cell, stack in played.items() if cell != "a1"}
    scenes = (
        {**start, "b2": "R"},
        {**start, "b2": "R", "c4": "B"},
        played,
        lifted,
        {**lifted, "d1": "YB"},
    )
    told: list[Event] = referee.observe(0, referee.game.start().stacks)
    for t, scene in enumerate(scenes, 1):
        told = referee.observe(5.0 * t, Stacks.of(scene))

    turns = [(e.event, e.data["n"], e.data.get("move"), e.data.get("legal")) for e in told]
    assert turns == [("turn", 4, "-a1 +d1B", False)]


def test_what_was_misread_before_is_corrected_and_nobody_is_blamed() -> None:
    """A scene that explains itself if doubtful cells stood otherwise corrects these cells."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    doubted = {Cell.parse("d5"): {"Y": 0.7, "": 0.3}, Cell.parse("f6"): {"": 0.7, "Y": 0.3}}

    found = table.referee.observe(
        9.0, Stacks.of({"d4": "B", "f6": "Y", "f7": "B"}), doubted=doubted
    )

    assert [short(event) for event in found] == [
        "taken-back 2",
        "corrected ['f6']",
        "2 B +f7B legal open",
    ]


def test_without_doubt_nothing_is_corrected() -> None:
    """The same scene where nothing was in doubt is an illegal turn."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")

    found = table.referee.observe(9.0, Stacks.of({"d4": "B", "f6": "Y", "f7": "B"}))

    assert not any(event.event == "corrected" for event in found)
    assert any(event.event == "turn" and not event.data["legal"] for event in found)


def test_half_a_block_is_not_corrected_away() -> None:
    """What cannot have stood there by itself explains nothing: the players are asked."""
    referee = Referee(find_game("turris").set_up())
    tower = {"a1": "L", "b1": "L", "c1": "DD"}
    for t, cells in enumerate(({}, {"a1": "L", "b1": "L"}, tower)):
        referee.observe(3.0 * t, Stacks.of(cells))
    doubted = {Cell.parse("a1"): {"": 0.3, "L": 0.7}}

    found = referee.observe(9.0, Stacks.of({**tower, "a1": "", "b2": "LL"}), doubted=doubted)

    assert [event.event for event in found] == ["ask"]


def test_a_breach_beside_a_doubtful_cell_is_told() -> None:
    """A block that is wrong whatever is hidden besides needs no question, and play goes on."""
    referee = Referee(find_game("turris").set_up())
    tower = {"a1": "L", "b1": "L", "c1": "DD", "b2": "LL"}
    for t, cells in enumerate(({}, {"a1": "L", "b1": "L"}, {**tower, "b2": ""}, tower)):
        referee.observe(4.0 * t, Stacks.of(cells))
    doubted = {Cell.parse("b2"): {"": 0.3}}

    breach = Stacks.of({**tower, "b2": "", "c1": "DDDD"})
    told = referee.observe(16.0, breach, doubted=doubted)
    again = [event for t in (16.5, 18.2) for event in referee.observe(t, breach)]
    later = referee.observe(20.0, Stacks.of({**tower, "a1": "LLL", "c1": "DDDD"}))

    assert not [event for event in again if event.event in ("ask", "turn", "kept")]
    assert [short(event) for event in told if event.event == "turn"] == [
        "3 L +b2^L legal final",
        "4 D +c1^D upright-no-side-contact,fourth-unfinished-level open",
    ]
    assert "corrected" in [event.event for event in told]
    assert [event.event for event in later if event.event in ("ask", "kept")] == ["kept"]


def test_half_a_block_is_no_doubt_that_a_breach_hangs_on() -> None:
    """What may have stood under one end of a new block was none: the whole block has come."""
    referee = Referee(find_game("kwinty").set_up())
    scene = {"i1": "L", "j1": "L"}
    for t, cells in enumerate(({}, scene)):
        referee.observe(5.0 * t, Stacks.of(cells))

    doubted = {Cell.parse("d1"): {"D": 0.3}}
    told = referee.observe(10.0, Stacks.of({**scene, "c1": "D", "d1": "D"}), doubted=doubted)

    assert short(told[-1]) == "2 D +c1~d1D no-contact open"


def test_what_was_owed_but_out_of_sight_is_corrected_when_the_next_player_acts() -> None:
    """A tower cube that may well be there is believed rather than held against its player."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", c5="B")
    scene = Stacks.of({"d4": "B", "d5": "Y", "c5": "B", "e5": "Y"})

    found = table.referee.observe(9.0, scene, doubted={Cell.parse("d5"): {"YB": 0.2}})

    assert [short(event) for event in found[:3]] == [
        "3 B +c5B +d5B legal open",
        "corrected ['d5']",
        "3 B +c5B +d5B legal final",
    ]
    assert table.referee.believed[Cell.parse("d5")] == "YB"


def test_of_what_may_be_out_of_sight_the_likeliest_is_believed() -> None:
    """A cube that was lifted came down somewhere: not just on the first cell by name."""
    referee = Referee(find_game("qbq").set_up())
    start = referee.game.start().stacks.to_json()
    lifted = {**start, "a1": ""}
    doubted = {Cell.parse("b1"): {"BB": 0.15}, Cell.parse("b2"): {"BB": 0.5}}
    for t, scene in enumerate((start, lifted)):
        referee.observe(5.0 * t, Stacks.of(scene))

    found = referee.observe(10.0, Stacks.of({**lifted, "e5": "", "f6": "RR"}), doubted=doubted)

    assert short(found[1]) == "corrected ['b2']"


def test_a_question_that_nobody_answers_is_dropped_as_play_goes_on() -> None:
    """Players who see that something is wrong do not play on; the legal answer holds."""
    table = Table()
    table.see(d4="B")
    doubt = {Cell.parse("d5"): {"B": 0.6, "Y": 0.4}}
    asked = table.referee.observe(2.0, Stacks.of({"d4": "B", "d5": "B"}), doubt)

    found = table.referee.observe(6.0, Stacks.of({"d4": "B", "d5": "B", "d3": "B"}), doubt)

    assert [event.event for event in asked] == ["ask"]
    assert [short(event) for event in found] == [
        "corrected ['d5']",
        "1 B +d4B legal final",
        "2 Y +d5Y legal open",
        "2 Y +d5Y legal final",
        "3 B +d3B legal open",
    ]


def test_what_comes_to_a_breach_that_was_told_is_not_asked_about() -> None:
    """No answer would acquit anybody: the breach stands, with the doubtful cube or without."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.see(d4="B", d5="Y", e4="B", h8="B")
    more = Stacks.of({"d4": "B", "d5": "YB", "e4": "B", "h8": "B"})

    found = table.referee.observe(9.0, more, {Cell.parse("d5"): {"YB": 0.8, "Y": 0.2}})

    assert [event.event for event in found] == ["turn", "owed"]
    assert short(found[0]).startswith("3 B +e4B +h8B +d5B ")


def test_a_doubtful_breach_of_the_next_player_is_asked_about() -> None:
    """It would be another one than the breach that was told."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", h8="Y")
    more = Stacks.of({"d4": "B", "h8": "Y", "a8": "B"})

    found = table.referee.observe(9.0, more, {Cell.parse("a8"): {"B": 0.8, "": 0.2}})

    assert [event.event for event in found] == ["ask"]


def test_a_question_that_was_left_open_stays_answered_however_surely_it_is_read() -> None:
    """The next player's breach is told as his; nobody is blamed for what was asked about."""
    referee = Referee(find_game("kwinty").set_up())
    wall = {"i1": "L", "j1": "L"}
    for t, cells in enumerate(({}, wall)):
        referee.observe(5.0 * t, Stacks.of(cells))
    doubt = {Cell.parse("h1"): {"LL": 0.8, "DD": 0.2}}
    asked = referee.observe(10.0, Stacks.of({**wall, "h1": "LL"}), doubt)

    found = referee.observe(15.0, Stacks.of({**wall, "h1": "LL", "d1": "LL"}))

    assert [event.event for event in asked] == ["ask"]
    assert [short(event) for event in found] == [
        "corrected ['h1']",
        "1 L +i1~j1L legal final",
        "2 D +h1^D legal open",
        "2 D +h1^D legal final",
        "3 L +d1^L no-contact open",
    ]
    # So it stays for as long as it is read so.
    assert referee.observe(20.0, Stacks.of({**wall, "h1": "LL", "d1": "LL"})) == []


def test_half_a_block_that_seems_to_have_come_with_a_breach_is_not_there() -> None:
    """A unit invented in a well leaves no doubt about the block that came."""
    referee = Referee(find_game("turris").set_up())
    tower = {"a1": "L", "b1": "L", "c1": "DD"}
    for t, cells in enumerate(({}, {"a1": "L", "b1": "L"}, tower)):
        referee.observe(3.0 * t, Stacks.of(cells))
    doubted = {Cell.parse("b1"): {"LD": 0.3}}

    scene = Stacks.of({**tower, "b1": "LD", "b3": "LL", "a3": "LL"})
    found = referee.observe(9.0, scene, doubted=doubted)

    assert short(found[0]) == "corrected ['b1']"
    assert short(found[-1]).startswith("3 L +a3^L +b3^L ")


def test_a_question_stands_while_nothing_changes() -> None:
    """A scene that was asked about is not judged when it is seen again, more or less surely."""
    table = Table()
    table.see(d4="B")
    scene = Stacks.of({"d4": "B", "d5": "B"})
    table.referee.observe(2.0, scene, {Cell.parse("d5"): {"B": 0.6, "Y": 0.4}})

    assert table.referee.observe(4.0, scene) == []
    assert table.referee.observe(6.0, scene, doubted={Cell.parse("d4"): {"": 0.5}}) == []


@pytest.mark.parametrize(
    "between", [pytest.param({"d4": "B"}, id="seen"), pytest.param(None, id="not seen")]
)
def test_who_takes_a_doubtful_piece_back_is_asked_about_the_next_one(
    between: dict[str, str] | None,
) -> None:
    """To take back what was asked about is not to play on: the doubt is a new one."""
    table = Table()
    table.see(d4="B")
    asked, doubt = Stacks.of({"d4": "B", "d5": "B"}), {"B": 0.6, "Y": 0.4}
    table.referee.observe(2.0, asked, {Cell.parse("d5"): doubt})
    if between is not None:
        table.referee.observe(4.0, Stacks.of(between))

    found = table.referee.observe(6.0, Stacks.of({"d4": "B", "d3": "B"}), {Cell.parse("d3"): doubt})

    assert [(event.event, event.data["cells"]) for event in found] == [("ask", ["d3"])]


def test_what_waited_before_an_undo_is_not_told_after_it() -> None:
    """While the table is expected to follow, what is missing from it is nobody's turn."""
    table = Table()
    table.see(d4="B")
    table.see(d4="B", d5="Y")
    table.referee.observe(20.0, Stacks())

    table.referee.undo(20.5)

    assert table.referee.tick(30.0) == []


class Lifted:
    """A QBQ table on which blue has moved, and the other player's cube has gone besides."""

    def __init__(self) -> None:
        self.referee = Referee(find_game("qbq").set_up())
        self.start = self.referee.game.start().stacks.to_json()
        self.scene = {**self.start, "a1": "", "b2": "BB", "e5": ""}
        self.referee.observe(0.0, Stacks.of(self.start))
        self.told = self.referee.observe(5.0, Stacks.of(self.scene))

    def turns(self, events: list[Event]) -> list[str]:
        """The turns among the events, in short."""
        return [short(event) for event in events if event.event == "turn"]


def test_a_legal_turn_with_another_players_cube_gone_waits_for_what_comes() -> None:
    """The next player may have lifted it already; when it comes down, both turns are legal."""
    table = Lifted()
    found = table.referee.observe(6.0, Stacks.of({**table.scene, "f6": "RR"}))

    assert table.told == []
    assert table.turns(found)[-2:] == ["1 B -a1 +b2B legal final", "2 R -e5 +f6R legal open"]


def test_another_players_cube_that_stays_away_was_taken_with_the_turn() -> None:
    """Nobody goes on: whoever moved has taken it."""
    table = Lifted()
    found = table.turns(table.referee.tick(8.0))

    assert len(found) == 1
    assert found[0].startswith("1 B -a1 -e5 +b2B ")
    assert not found[0].endswith("legal open")


def test_another_players_cube_that_stays_away_while_he_plays_was_taken_before() -> None:
    """The next player makes a whole turn without it: it is not his that was illegal."""
    table = Lifted()
    found = table.referee.observe(
        6.0, Stacks.of({cell: s for cell, s in table.scene.items() if cell != "e6"} | {"f6": "RR"})
    )

    turns = table.turns(found)
    assert turns[0].startswith("1 B -a1 -e5 +b2B ")
    assert turns[-1] == "2 R -e6 +f6R legal open"
    assert [event.data["n"] for event in found if event.event == "kept"] == [1]
    assert {event.t for event in found} == {6.0}


def test_a_correction_is_told_with_the_turn_that_it_explains() -> None:
    """While a turn waits nothing is told yet: what it stands for is still open."""
    referee = Referee(find_game("qbq").set_up())
    start = referee.game.start().stacks.to_json()
    doubt = {Cell.parse("f6"): {"RB": 0.6, "RR": 0.4}}
    moved = {**start, "a1": "", "b2": "BB"}
    asked = {**moved, "e5": "", "f6": "RB"}
    referee.observe(0.0, Stacks.of(start))
    referee.observe(5.0, Stacks.of(moved))

    question = referee.observe(10.0, Stacks.of(asked), doubt)
    waits = referee.observe(15.0, Stacks.of({**asked, "a2": ""}), doubt)
    told = referee.observe(16.0, Stacks.of({**asked, "a2": "", "b2": "BBB"}), doubt)

    assert [event.event for event in question] == ["ask"]
    assert waits == []
    assert short(told[0]) == "corrected ['f6']"
    assert short(told[-1]) == "3 B -a2 +b2B legal open"
