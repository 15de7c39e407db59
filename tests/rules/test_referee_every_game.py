"""The referee at every game's table: no false alarm, nothing lost, illegal turns found and undone."""

import random
from typing import Any

import pytest

from rules.cells import Cell
from rules.errors import ImpossibleChange
from rules.events import Event
from rules.game import Game, checked_apply
from rules.looks import look
from rules.referee import Referee
from rules.registry import GAMES, find_game
from rules.stacks import Stacks
from rules.turn import Change, Turn, after_change, after_changes

JUDGED = [name for name in GAMES if name != "free"]


def flagged(events: list[Event]) -> list[str]:
    """The illegal turns among the events, in words."""
    return [
        f"{e.data['player']} {e.data['move']}: {[b['rule'] for b in e.data['breaks']]}"
        for e in events
        if e.event == "turn" and not e.data["legal"]
    ]


def scenes_of(game: Game[Any], stacks: Stacks, turn: Turn) -> list[Stacks]:
    """What stands on the table after each change of a turn."""
    found = []
    for change in turn.changes:
        stacks = after_change(stacks, change, game.lattice)
        found.append(stacks)
    return found


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("by_hand", [False, True], ids=["whole turns", "piece after piece"])
def test_legal_games_are_followed_without_a_false_alarm(name: str, by_hand: bool) -> None:
    """Every turn is told as legal, and the position is the true one after each."""
    for seed in range(3):
        rng = random.Random(f"{name} {seed}")
        game = find_game(name).set_up()
        referee = Referee(game)
        position = game.start()
        t = 0.0
        referee.observe(t, position.stacks)
        for _ in range(25):
            turn = game.random_turn(position, rng)
            if turn is None or referee.phase == "over":
                break
            after = checked_apply(game, position, turn)
            scenes = scenes_of(game, position.stacks, turn) if by_hand else []
            told: list[Event] = []
            for stacks in (*scenes[:-1], after.stacks):
                t += 0.6
                told += referee.observe(t, stacks)
            t += 5.0
            if name != "qbq":  # half a tip may look like a turn of its own
                assert not flagged(told), (seed, str(turn), position.stacks.to_json())
            assert referee.believed == after.stacks, (seed, str(turn))
            position = referee.position


def spoilt(game: Game[Any], position: Any, rng: random.Random) -> Stacks | None:
    """What stands there after a piece was put somewhere it may not go; None where that fails."""
    letters = sorted({piece.letter for piece in game.spec.kit})
    shape = rng.choice(rng.choice(game.spec.kit).shape.extents)
    change = Change(True, rng.choice(list(game.lattice.cells())), rng.choice(letters), shape)
    try:
        stacks = after_changes(position.stacks, [change], game.lattice)
    except ImpossibleChange:
        return None
    if any(len(stack) > game.lattice.levels for stack in stacks.values()):
        return None
    return None if look(game, (position,), stacks).fine else stacks


# in CUBE a piece more is nearly always somebody's legal turn, or two; see the test below
@pytest.mark.parametrize("name", [name for name in JUDGED if name != "cube"])
def test_illegal_pieces_are_flagged_and_their_removal_is_noticed(name: str) -> None:
    """A wrong piece is told at once with a reason, taking it back ends the matter."""
    rng = random.Random(name)
    game = find_game(name).set_up()
    referee = Referee(game)
    position = game.start()
    t = 0.0
    referee.observe(t, position.stacks)
    tried = 0
    for _ in range(40):
        wrong = spoilt(game, position, rng)
        # a piece more may also belong to the open turn, or make two turns of two players
        if wrong is not None and not referee.explains(wrong):
            tried += 1
            told = referee.observe(t + 5, wrong)
            assert flagged(told), (position.stacks.to_json(), wrong.to_json())
            back = referee.observe(t + 10, position.stacks)
            assert [e.event for e in back][-1:] == ["taken-back"]
            assert referee.position.stacks == position.stacks
        turn = game.random_turn(position, rng)
        if turn is None:
            break
        after = checked_apply(game, position, turn)
        t += 20
        assert not flagged(referee.observe(t, after.stacks)), (str(turn), position.stacks.to_json())
        if referee.phase == "over":
            break
        position = referee.position
    assert tried >= 5


def test_a_start_cube_moved_in_the_first_round_is_flagged() -> None:
    """CUBE's start cubes stay where they are until everybody has had a turn."""
    game = find_game("cube").set_up()
    referee = Referee(game)
    start = game.start().stacks
    referee.observe(0.0, start)
    letter = start[Cell.parse("a1")]
    moved = start.with_stack(Cell.parse("a1"), "").with_stack(Cell.parse("b2"), letter)

    told = flagged(referee.observe(5.0, moved))

    assert told == [f"1 -a1 +b2{letter}: ['cube.start-cube']"]
    assert [e.event for e in referee.observe(9.0, start)] == ["taken-back"]
