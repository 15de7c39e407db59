"""`kiebitz bench rules`: how fast and how consistent the rules engines are.

Speed is told against python-chess doing the same work in the same run: generating legal turns and
applying each of them.
"""

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rules.errors import KiebitzError
from rules.game import Game, checked_apply, perft
from rules.judge_record import standing
from rules.looks import look, two_turns
from rules.referee import Referee
from rules.turn import Change, Turn

CHESS_POSITION = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@dataclass(frozen=True, slots=True)
class Row:
    """What one game's engine did."""

    game: str
    games: int
    turns: int
    wrong_turns: int
    disagreements: int
    perft_per_s: float
    against_chess: float
    one_ms: float
    two_ms: float
    bytes_a_turn: float

    HEAD = (
        "game",
        "games",
        "turns",
        "wrong turns tried",
        "disagreements",
        "turns/s",
        "x python-chess",
        "explain 1, p95 ms",
        "explain 2, p95 ms",
        "bytes a turn",
    )

    def texts(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        return (
            self.game,
            f"{self.games:,}",
            f"{self.turns:,}",
            f"{self.wrong_turns:,}",
            str(self.disagreements),
            f"{self.perft_per_s:,.0f}",
            f"{self.against_chess:.2f}",
            f"{self.one_ms:.2f}",
            f"{self.two_ms:.2f}",
            f"{self.bytes_a_turn:,.0f}",
        )


def measure(game: Game[Any], games: int, seconds: float, seed: int) -> Row:
    """Everything about one game's engine."""
    rng = random.Random(f"{seed} {game.spec.name}")
    played = [play(game, rng) for _ in range(games)]
    pairs = [(before, turn) for history in played for before, turn in history]
    wrong, disagreements = consistency(game, pairs, rng)
    speed, ratio = perft_speed(game, [before for before, _ in pairs], seconds, rng)
    one, two = explain_times(game, pairs, rng)
    return Row(
        game.spec.name,
        games,
        len(pairs),
        wrong,
        disagreements,
        speed,
        ratio,
        one,
        two,
        memory_a_turn(game, played),
    )


def play(game: Game[Any], rng: random.Random, most: int = 300) -> list[tuple[Any, Turn]]:
    """One random game: each position with the turn that was made in it."""
    position = game.start()
    history: list[tuple[Any, Turn]] = []
    while len(history) < most and (turn := game.random_turn(position, rng)) is not None:
        history.append((position, turn))
        position = checked_apply(game, position, turn)
    return history


def consistency(
    game: Game[Any], pairs: list[tuple[Any, Turn]], rng: random.Random
) -> tuple[int, int]:
    """Wrong turns tried, and how often the judge and the list of legal turns disagree."""
    tried = disagreements = 0
    for before, turn in rng.sample(pairs, min(len(pairs), 400)):
        results = {(after.stacks, after.player) for after in game.successors(before)}
        for wrong in (*(mutated(game, turn, rng) for _ in range(8)), turn):
            verdict = game.judge(before, wrong)
            tried += not verdict.legal
            if verdict.after is not None and verdict.legal:
                after = verdict.after
                disagreements += (after.stacks, after.player) not in results
            elif wrong.changes and not verdict.unfinished:
                # half a turn may look like another, whole one: QBQ's inserted cube that moved on
                player = game.next_player(before, wrong)
                disagreements += (standing(game, before, wrong), player) in results
    return tried, disagreements


def mutated(game: Game[Any], turn: Turn, rng: random.Random) -> Turn:
    """The turn with one of its changes spoilt."""
    changes = list(turn.changes)
    letters = sorted({piece.letter for piece in game.spec.kit}) or ["B"]
    cells = list(game.lattice.cells())
    kind = rng.randrange(5)
    if not changes or kind == 0:
        changes.append(Change(True, rng.choice(cells), rng.choice(letters)))
    elif kind == 1:
        del changes[rng.randrange(len(changes))]
    else:
        at = rng.randrange(len(changes))
        change = changes[at]
        if kind == 2 and change.other is None:
            changes[at] = change._replace(cell=rng.choice(cells))
        elif kind == 3 and change.add:
            changes[at] = change._replace(letter=rng.choice(letters))
        else:
            letter = "" if change.add else change.letter or rng.choice(letters)
            changes.append(change._replace(add=not change.add, letter=letter))
    return Turn(turn.player, tuple(changes))


def perft_speed(
    game: Game[Any], positions: list[Any], seconds: float, rng: random.Random
) -> tuple[float, float]:
    """Legal turns generated and applied a second, and that against python-chess.

    Processor time, for on a busy machine the clock on the wall favours the longer portions.
    """
    turns = chess_turns = 0
    spent = chess_spent = 0.0
    chess_perft = chess_work()
    while spent < seconds:
        start = time.process_time()
        turns += perft(game, rng.choice(positions), 1)
        spent += time.process_time() - start
        if chess_spent < spent:
            start = time.process_time()
            chess_turns += chess_perft()
            chess_spent += time.process_time() - start
    speed = turns / spent
    return speed, speed / (chess_turns / chess_spent)


def chess_work() -> Callable[[], int]:
    """One portion of the same work for python-chess: two plies from a busy position."""
    try:
        import chess
    except ImportError:
        raise KiebitzError(
            "python-chess is not installed, which is the measure here; "
            "`python3 run.py test` installs it, or `pip install chess`"
        ) from None
    board = chess.Board(CHESS_POSITION)

    def nodes(depth: int) -> int:
        count = 0
        for move in board.legal_moves:
            board.push(move)
            count += nodes(depth - 1) if depth > 1 else 1
            board.pop()
        return count

    return lambda: nodes(2)


def explain_times(
    game: Game[Any], pairs: list[tuple[Any, Turn]], rng: random.Random
) -> tuple[float, float]:
    """Milliseconds to explain an observed change, 95th percentile: one turn, two turns."""
    one: list[float] = []
    two: list[float] = []
    for before, turn in rng.sample(pairs, min(len(pairs), 300)):
        after = checked_apply(game, before, turn)
        one.append(timed(partial(look, game, (before,), after.stacks)))
        wrong = standing(game, before, mutated(game, turn, rng))
        one.append(timed(partial(look, game, (before,), wrong)))
        following = game.random_turn(after, rng)
        if following:
            last = checked_apply(game, after, following)
            two.append(timed(partial(two_turns, game, (before,), last.stacks)))
    return percentile(one, 0.95), percentile(two, 0.95)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that some work takes."""
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def memory_a_turn(game: Game[Any], played: list[list[tuple[Any, Turn]]]) -> float:
    """Bytes that a referee holds for each turn of a recorded game."""
    longest = max(played, key=len)
    scenes = [before.stacks for before, _ in longest]
    referee = Referee(game)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for t, stacks in enumerate(scenes):
        referee.observe(10.0 * t, type(stacks)(stacks))
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / max(1, len(scenes) - 1)


def rows(games: Iterator[Game[Any]], count: int, seconds: float, seed: int) -> Iterator[Row]:
    """One row after another."""
    for game in games:
        yield measure(game, count, seconds, seed)
