"""Whole bricks on a lattice: found where several must be laid anew, doubted where none fits."""

from typing import Any

import pytest

from rules.registry import find_game
from rules.stacks import Stacks
from tests.vision.drawn import reader_of
from vision.placing import Placing, PlacingSettings, Spot
from vision.reader import ReaderSettings
from vision.reading import Reading
from vision.virtual.scene import Kind, Rig, Scene
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


def _read(seed: int, rig: Rig, stacks: Stacks, settings: ReaderSettings | None = None) -> Reading:
    scene = Scene.from_seed(seed, Kind.of(find_game("ksar")), family="tune", rig=rig)
    studio = Studio(scene)
    reader = reader_of(scene, studio, settings=settings)
    return reader.read(studio.still(stacks, 3))


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

    wrong = {
        cell
        for cell in BARE_WOOD.keys() | reading.stacks.keys()
        if BARE_WOOD.get(cell, "") != reading.stacks.get(cell, "")
    }
    assert not wrong - set(reading.unsure) - reading.hidden
