"""A position under trial: what changes cost is the same whether all is mixed anew or little."""

import numpy as np
import pytest

from rules.registry import find_game
from service.bench.read import positions
from tests.vision.drawn import reader_of
from vision.position import Position
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio


@pytest.fixture(scope="module", params=["kewbz", "turris"], ids=["apart", "wall to wall"])
def position(request: pytest.FixtureRequest) -> Position:
    """What was read of a crowded table, on a lattice with gaps and on one without."""
    spec = find_game(request.param)
    scene = Scene.from_seed(5, Kind.of(spec), family="tune", rig="two", size=(640, 360))
    studio = Studio(scene)
    reader = reader_of(scene, studio)
    reader.read(studio.still(positions(spec, 3)[0], 4))
    memory = reader._memory
    assert memory is not None
    found = memory.position
    flush = [sight.table.flush for sight in found.sights]
    assert flush == [request.param == "turris"] * 2
    return Position(found.evidence, found.state[:-1])


def _changes(position: Position) -> list[dict[int, np.ndarray[tuple[int, ...], np.dtype[np.int8]]]]:
    """Lowest, middle and highest units that change colour, that go, and that come."""
    full = [c for c in range(position.evidence.columns) if len(position.stack(c))]
    one = np.array([1], dtype=np.int8)
    found = []
    for column in full[:8]:
        stack = position.stack(column)
        lower = stack.copy()
        lower[0] = stack[0] % position.evidence.colours + 1
        found += [{column: lower}, {column: stack[:-1]}]
        if len(stack) < position.levels:
            found.append({column: np.append(stack, one)})
    return found


def test_a_trial_tells_what_the_change_gains(position: Position) -> None:
    """Only rays that meet a changed unit are mixed again; none of the others would tell more."""
    for changes in _changes(position):
        anew = Position(position.evidence, position.with_changes(changes))

        gain = position.gain(changes)

        assert gain == pytest.approx(anew.score - position.score, abs=0.02)


def test_gains_are_up_to_date_after_changes(position: Position) -> None:
    """Sums of gains that are only counted when asked for tell the same as those of a new start."""
    changed = position.copy()
    changed.columns_gain()
    for changes in _changes(position)[:6]:
        changed.change(changes)
    anew = Position(position.evidence, changed.state[:-1])

    now, fresh = changed.columns_gain(), anew.columns_gain()
    some = changed.columns_gain([3, 1])

    assert np.abs(now.gains - fresh.gains).max() < 0.3
    assert np.array_equal(some.by_height, now.by_height[[3, 1]])
