"""The tables that another path tracer draws: what stands on them could stand on a real table."""

from collections import Counter
from itertools import combinations

import cv2
import numpy as np
import pytest

from benchmarks.cycles.positions import COUNTS, draw_position, footprint, settle, stacks
from benchmarks.cycles.tables import RIGS, draw_table, toml
from rules.registry import find_game
from rules.stacks import Stacks
from service.table_reader import read_table_text

SEEDS = (1, 2, 3)
GAMES = sorted(RIGS)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_positions_can_be_built(game: str, seed: int) -> None:
    """Nothing floats or leaves the lattice, and no box holds so many pieces more than it has."""
    table = draw_table(game, seed, RIGS[game][0], (640, 360))
    rng = np.random.default_rng(seed)
    pieces = draw_position(game, table.board, COUNTS[game][1], rng)
    supply = Counter[str]()
    for kit in find_game(game).kit:
        supply[kit.letter] += kit.count
    lattice = read_table_text(toml(table)).scene.board.lattice

    assert all(cell in lattice for cell in Stacks.of(stacks(pieces)))
    assert not Counter(piece.letter for piece in pieces) - supply


@pytest.mark.parametrize("game", GAMES)
def test_no_piece_stands_in_another(game: str) -> None:
    """However sloppily pieces are put down, two on one level do not share a square millimetre."""
    board = draw_table(game, 4, RIGS[game][0], (640, 360)).board
    rng = np.random.default_rng(4)
    poses = settle(board, draw_position(game, board, COUNTS[game][1], rng), 0.06, rng)
    for (one, here), (other, there) in combinations(poses.items(), 2):
        if not set(one.levels()) & set(other.levels()):
            continue
        kind, shape = cv2.rotatedRectangleIntersection(
            ((here.x, here.y), footprint(board, one), here.degrees),
            ((there.x, there.y), footprint(board, other), there.degrees),
        )
        assert not kind or cv2.contourArea(cv2.convexHull(shape)) < 1
