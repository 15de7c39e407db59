"""Whole bricks on a lattice: found where several must be laid anew, doubted where none fits."""

from typing import Any

import numpy as np
import pytest

from rules.cells import Cell
from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.certainty import CertaintySettings, Doubts
from vision.placing import Kit, Placing, PlacingSettings, Spot, pieces_in
from vision.position import Position
from vision.reader import ReaderSettings
from vision.reading import Reading
from vision.virtual.scene import Family, Kind, Rig, Scene
from vision.virtual.studio import Studio

BRICKS = Stacks.of(
    {
        "a1": "R", "a2": "R", "a3": "R", "a4": "BBB", "a5": "BBB", "a7": "BBB", "a8": "RR",
        "a9": "N", "a10": "N", "b1": "R", "b2": "R", "b3": "R", "b7": "BBB", "b8": "RR",
        "b9": "N", "b10": "N", "c1": "NN", "c2": "NN", "c3": "NN", "c8": "RR", "c9": "N",
        "c10": "N", "d1": "RRR", "d2": "RRR", "d10": "BBB", "e7": "R", "e8": "R", "e9": "R",
        "e10": "BBB", "f1": "BBB", "f6": "RRR", "f7": "R", "f8": "R", "f9": "R", "g1": "BBB",
        "g6": "RRR", "g8": "NN", "g9": "NN", "g10": "NN", "h1": "NN", "h2": "NN", "h3": "NN",
        "h5": "R", "h6": "R", "h9": "N", "h10": "N", "i1": "NNN", "i5": "R", "i6": "R",
        "i9": "N", "i10": "N", "j1": "NNN", "j3": "BBB", "j4": "BBB", "j5": "R", "j6": "R",
        "j7": "BBB", "j8": "BBB", "j9": "N", "j10": "N",
    }
)  # fmt: skip
BARE_WOOD = Stacks.of(
    {
        "a1": "N", "a2": "N", "a3": "NNN", "a4": "NNN", "a8": "NN", "a9": "NN", "a10": "NN",
        "b1": "N", "b2": "N", "b8": "B", "b9": "B", "b10": "B", "c1": "N", "c2": "N", "c8": "B",
        "c9": "B", "c10": "B", "d1": "RR", "d2": "RR", "d3": "RR", "g1": "RR", "g2": "RR",
        "g3": "RR", "h1": "N", "h2": "N", "h3": "N", "h6": "N", "h7": "N", "h8": "NN", "i1": "N",
        "i2": "N", "i3": "N", "i6": "N", "i7": "N", "i8": "NN", "j1": "RR", "j2": "RR",
        "j3": "RR", "j6": "N", "j7": "N", "j8": "NN", "j9": "BBB", "j10": "BBB",
    }
)  # fmt: skip


PATCH = {
    "d2": "RRR", "e2": "RRR", "e4": "BB", "f4": "BB", "g4": "BB", "f6": "BBB", "g6": "BBB",
    "g7": "BB", "h7": "BB", "i7": "BB", "h4": "B", "h5": "B", "h6": "B", "i4": "B", "i5": "B",
    "i6": "B", "j2": "RRR", "j3": "RRR",
}  # fmt: skip
ELSEWISE = {
    "f5": "BBB", "f6": "BBB", "g5": "BB", "g6": "BB", "g7": "BB", "h5": "BB", "h6": "BB",
    "h7": "BB", "i5": "BB", "i6": "BB", "i7": "BB", "h4": "BBB", "i4": "BBB",
}  # fmt: skip


TRUSTED = Stacks.of(
    {
        "a1": "B", "a2": "B", "a3": "B", "a4": "BB", "a5": "BB", "a6": "BB", "a7": "NNN",
        "a8": "NNN", "b1": "B", "b2": "B", "b3": "B", "c1": "NN", "c2": "RRR", "c3": "RRR",
        "d1": "NN", "d5": "NN", "e1": "NN", "e5": "NN", "f5": "NN", "h8": "NN", "h9": "NN",
        "h10": "NN", "i10": "NNN", "j5": "BBB", "j6": "BBB", "j7": "RR", "j8": "RR",
        "j9": "RR", "j10": "NNN",
    }
)  # fmt: skip


# Behind a3 and b3 the flat brick on a1 lies in the shadow of what stands beside it.
SHADED = Stacks.of(
    {
        "h10": "RR", "i10": "RR", "j10": "RR", "g9": "BBB", "g10": "BBB", "a8": "NN", "a9": "NN",
        "a10": "NN", "h8": "B", "i8": "B", "j8": "B", "h9": "B", "i9": "B", "j9": "B", "j5": "RR",
        "j6": "RR", "j7": "RR", "a5": "B", "b5": "B", "a6": "B", "b6": "B", "a7": "B", "b7": "B",
        "h1": "N", "i1": "N", "j1": "N", "h2": "N", "i2": "N", "j2": "N", "b10": "BBB",
        "c10": "BBB", "j3": "RRR", "j4": "RRR", "b8": "NNN", "c8": "NNN", "a1": "R", "b1": "R",
        "a2": "R", "b2": "R", "a3": "R", "b3": "R", "c1": "NNN", "d1": "NNN", "e8": "NN",
        "f8": "NN", "g8": "NN", "g3": "BB", "h3": "BB", "i3": "BB", "d10": "RR", "e10": "RR",
        "f10": "RR", "f2": "NNN", "g2": "NNN", "h7": "RRR", "i7": "RRR", "c2": "BB", "d2": "BB",
        "e2": "BB", "f5": "R", "g5": "R", "f6": "R", "g6": "R", "f7": "R", "g7": "R", "a4": "BBB",
        "b4": "BBB", "d7": "RRR", "e7": "RRR", "c5": "BB", "c6": "BB", "c7": "BB", "h4": "RRR",
        "h5": "RRR", "e4": "BB", "e5": "BB", "e6": "BB", "c3": "RRR", "d3": "RRR",
    }
)  # fmt: skip


def laid(
    truth: Stacks, wrong: Stacks | None = None, settings: PlacingSettings | None = None
) -> Placing:
    """The search for bricks before pictures of a position, where another one was read."""
    scene = Scene.from_seed(642, Kind.of(find_game("ksar")), family="tune", rig="two")
    studio = Studio(scene)
    reader = reader_of(scene, studio)
    looks = {n: reader._looks[n].read(i, None) for n, i in studio.still(truth, 3).items()}
    position = Position(reader._evidence(looks), reader._state(wrong or truth))
    kit = Kit(reader.kit, reader.letters, reader.lattice)
    return Placing(kit, position, settings or PlacingSettings(), pieces_in(position, kit))


def _read(
    seed: int,
    rig: Rig,
    stacks: Stacks,
    settings: ReaderSettings | None = None,
    family: Family = "tune",
) -> Reading:
    scene = Scene.from_seed(seed, Kind.of(find_game("ksar")), family=family, rig=rig)
    studio = Studio(scene)
    reader = reader_of(scene, studio, settings=settings)
    return reader.read(studio.still(stacks, 3))


def _sure_and_wrong(truth: Stacks, reading: Reading) -> set[Cell]:
    cells = truth.keys() | reading.stacks.keys()
    wrong = {cell for cell in cells if truth.get(cell, "") != reading.stacks.get(cell, "")}
    return wrong - set(reading.unsure) - reading.hidden


def test_bricks_that_only_fit_together_are_found() -> None:
    """Of two bricks side by side neither can be laid rightly while the other one lies wrongly."""
    reading = _read(642, "two", BRICKS)

    assert reading.stacks == BRICKS


def test_the_search_ends_where_nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a hand every place is explained badly; the search stops after so many rounds."""
    rounds = []
    best = Placing._best_moves

    def counted(placing: Placing, **options: Any) -> list[tuple[float, Spot]]:
        rounds.append(placing)
        return best(placing, **options)

    monkeypatch.setattr(Placing, "_best_moves", counted)

    _read(642, "two", BRICKS, ReaderSettings(placing=PlacingSettings(looks=20)))

    assert len(rounds) < 250  # twice so many, and what was begun is ended; without a limit over 400


def test_bricks_that_explain_their_pixels_badly_are_doubted() -> None:
    """A dark floor between bare wood looks like bare wood: what is read there is never certain."""
    reading = _read(600, "one", BARE_WOOD)

    assert not _sure_and_wrong(BARE_WOOD, reading)


def test_a_flat_brick_in_the_shade_is_never_surely_an_upright_one() -> None:
    """Where one lamp gives nearly all light, a top in its shadow is as dark as a lit brick's side."""
    reading = _read(906, "one", SHADED, family="check")

    assert not _sure_and_wrong(SHADED, reading)


def test_another_way_to_lie_is_a_rival_whatever_single_columns_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A brick on its side or upright: all its columns change together."""
    placing = laid(Stacks.of(PATCH), settings=PlacingSettings(rival_gap=1e6))
    monkeypatch.setattr(Placing, "_best_moves", lambda *_, **__: [])

    rivals = placing.rivals()

    d2, d3 = 1 * 10 + 3, 2 * 10 + 3  # a brick stands upright on d2 and e2, and none on d3
    red = placing.owner[d2].colour
    assert {(), (red,), (red, red)} <= rivals[d2].keys()
    assert (red,) in rivals[d3]


def test_a_patch_of_one_colour_that_is_divided_wrongly_is_laid_anew() -> None:
    """Where several bricks of one colour touch, no single one can be mended while others stay."""
    truth = Stacks.of(PATCH)
    rest = {cell: stack for cell, stack in PATCH.items() if cell not in ELSEWISE}
    placing = laid(truth, Stacks.of(rest | ELSEWISE))
    right = laid(truth)

    done = placing._divide(4 * 10 + 7)  # h5, in the middle

    assert done
    assert placing.pieces() == right.pieces()


def test_equal_heights_side_by_side_are_doubted_where_rules_keep_them_apart() -> None:
    """The rules make rivals that keep them likelier, and no others."""
    stacks = Stacks.of(PATCH | {"d3": "RRR", "e3": "RRR"})
    free, ruled = laid(stacks), laid(stacks, settings=PlacingSettings(unruly=18.0))

    gains, ruled_gains = free.rivals(), ruled.rivals()

    beside, alone = 1 * 10 + 3, 1 * 10 + 9  # d2, which touches the brick on d3, and j2
    assert ruled_gains[beside][()] == pytest.approx(gains[beside][()] + 18.0, abs=0.1)
    assert ruled_gains[alone][()] == pytest.approx(gains[alone][()], abs=0.1)


def test_a_brick_that_is_surely_seen_anywhere_has_its_colour_everywhere() -> None:
    """Of a brick of which one unit can be trusted no other one may have another colour."""
    scene = Scene.from_seed(61001, Kind.of(find_game("ksar")), family="check", rig="two")
    studio = Studio(scene)
    reading = reader_of(scene, studio).read(studio.still(TRUSTED, 3))

    colours = {cell: set("".join(choices)) for cell, choices in reading.unsure.items()}
    assert reading.stacks == TRUSTED
    assert all(len(letters) == 1 for letters in colours.values())


def test_a_brick_has_one_vote_however_high_it_is() -> None:
    """What one face says of the colour of a brick is worth the same for each of its units."""
    placing = laid(Stacks.of(PATCH))
    position = placing.position
    doubts = Doubts(position, position.columns_gain(), CertaintySettings())
    doubts.take({})
    votes = np.zeros((position.evidence.units, 1 + position.evidence.colours))
    chances = []
    for column in (1 * 10 + 3, 3 * 10 + 7):  # d2, three units high, and h4, a single one
        (own,) = (units for units in placing.units() if column * position.levels in units)
        votes[own, 1:] = -1.5
        votes[own, position.stack(column)[0]] = 0.0
        doubts.hear(votes)
        chances.append(doubts.cell(column).chances[0])

    assert chances[0] == pytest.approx(chances[1], abs=0.02)


def test_rules_never_make_a_rival_likelier_than_what_the_pictures_show() -> None:
    """What looks nearly as good, and keeps a rule, is as good at most: else it would be told."""
    stacks = Stacks.of(PATCH | {"d3": "RRR", "e3": "RRR"})
    ruled = laid(stacks, settings=PlacingSettings(unruly=18.0))
    spot = ruled.owner[1 * 10 + 3]  # d2, which touches the brick on d3

    assert [ruled._mended(gain, [spot]) for gain in (-30.0, -2.0, 1.0)] == [-12.0, 0.0, 1.0]


def test_rivals_are_stacks_without_the_empty_places_above_them() -> None:
    """Whole answers that were met differ on columns; what is empty there is no unit unseen."""
    placing = laid(Stacks.of(PATCH))
    state, owner = placing.position.state[:-1].copy(), dict(placing.owner)
    h4 = 3 * 10 + 7  # a brick lies flat there
    placing._clear(set(placing.owner[h4].columns))
    placing.met.append((state, owner))

    rivals = placing.rivals()

    assert (state[h4 * 3],) in rivals[h4]
    assert all(all(stack) for own in rivals.values() for stack in own)


def test_what_was_met_goes_along_to_another_position() -> None:
    """Where another answer is taken in the end, the one before and what was met stay rivals."""
    placing = laid(Stacks.of(PATCH))
    state, columns = placing.position.state[:-1].copy(), placing.owner[1 * 10 + 3].columns
    other = placing.position.copy()
    other.change(dict.fromkeys(columns, np.zeros(0, dtype=np.int8)))

    moved = placing.moved_to(other)

    assert moved.pieces() == placing.pieces() - {placing.owner[1 * 10 + 3]}
    assert any(np.array_equal(met, state) for met, _ in moved.met)
    assert moved.rivals()[columns[0]].keys() >= {tuple(placing.position.stack(columns[0]))}
