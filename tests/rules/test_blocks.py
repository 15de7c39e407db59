"""Blocks of two units: bits and letters, cutting units into blocks, and what changes between looks."""

import random
import time

import pytest

from rules.blocks import (
    ALONG,
    UPRIGHT,
    Raster,
    adopted,
    block_change,
    can_be_blocks,
    changed,
    tilings,
    ways_between,
)
from rules.cells import Cell, Unit
from rules.lattice import Lattice
from rules.pieces import Placed
from rules.stacks import Stacks
from rules.turn import Change, after_changes

TOWER = Raster(3, 3, 9)
WALL = Raster(9, 1, 10)
LATTICE = Lattice(3, 3, 11, 27.0, (27.0, 27.0, 27.0))


def units(stacks: dict[str, str]) -> dict[Unit, str]:
    """The units of stacks by names."""
    return dict(Stacks.of(stacks).units())


def texts(blocks: tuple[Placed, ...]) -> set[str]:
    """Blocks as the changes that put them down, with their level."""
    return {f"{block_change(block, add=True)} {block.level}" for block in blocks}


@pytest.mark.parametrize("raster", [TOWER, WALL], ids=["tower", "wall"])
def test_a_unit_has_one_bit(raster: Raster) -> None:
    """Numbering a unit and reading the number gives the unit."""
    cells = [Cell(f, r) for r in range(raster.ranks) for f in range(raster.columns)]
    places = {raster.place(Unit(cell, level)) for cell in cells for level in (1, 2, 9)}

    assert len(places) == 3 * len(cells)
    assert all(raster.place(raster.unit(place)) == place for place in places)


def test_stacks_come_back_from_bits_with_gaps_and_unknown_colours() -> None:
    """What stands is the same in both forms."""
    stacks = Stacks.of({"a1": "L", "b1": "DLD", "c1": "..L", "a2": "?L"})
    found = TOWER.standing(dict(stacks.units()), ())

    assert TOWER.stacks(found.filled, found.light, found.dark) == stacks
    assert list(TOWER.tops(found.filled).to_bytes(9, "little")) == [1, 3, 3, 2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("stacks", "ways"),
    [
        ({"a1": "LL"}, [{"+a1^L 1"}]),
        ({"a1": "L", "b1": "L"}, [{"+a1~b1L 1"}]),
        ({"a1": "LL", "b1": "LL"}, [{"+a1^L 1", "+b1^L 1"}, {"+a1~b1L 1", "+a1~b1L 2"}]),
        ({"a1": "LL", "b1": "DD"}, [{"+a1^L 1", "+b1^D 1"}]),
        ({"a1": "L?"}, [{"+a1^L 1"}]),
        ({}, [set()]),
    ],
    ids=["upright", "flat", "square", "two colours", "unknown", "nothing"],
)
def test_units_are_cut_into_blocks_in_every_way(
    stacks: dict[str, str], ways: list[set[str]]
) -> None:
    """Each way to pair units of one colour is found once."""
    found = [texts(way.blocks) for way in tilings(units(stacks))]

    assert sorted(map(sorted, found)) == sorted(map(sorted, ways))


def test_a_unit_without_partner_stays_single() -> None:
    """What cannot be a block is told, and as little of it as possible."""
    (way,) = tilings(units({"a1": "LDD"}))

    assert way.singles == (Unit.parse("a1.1"),)
    assert not can_be_blocks(units({"a1": "LDD"}))


def test_cutting_a_big_heap_of_one_colour_is_quick() -> None:
    """A whole tower of unknown blocks is cut in bounded time and in a bounded number of ways."""
    cells = {f"{file}{rank}": "L" * 8 for file in "abc" for rank in "123"}
    begun = time.perf_counter()

    ways = tilings(units(cells))

    assert time.perf_counter() - begun < 2
    assert 1 <= len(ways) <= 12
    assert all(not way.singles for way in ways)


def test_known_blocks_stay_where_they_fit() -> None:
    """New units are cut; what was known is not cut anew."""
    known = [Placed(Cell(0, 0), 1, ALONG, "L"), Placed(Cell(0, 0), 2, ALONG, "L")]
    before = Stacks.of({"a1": "LL", "b1": "LL"})

    ways = adopted(known, before, units({"a1": "LLL", "b1": "LLL"}))

    assert [texts(way.blocks) for way in ways] == [{"+a1~b1L 1", "+a1~b1L 2", "+a1~b1L 3"}]


def test_a_wrong_map_is_cut_anew_where_it_no_longer_fits() -> None:
    """Two flat blocks that turn out to have been upright ones become a single upright one."""
    known = [Placed(Cell(0, 0), 1, ALONG, "L"), Placed(Cell(0, 0), 2, ALONG, "L")]
    before = Stacks.of({"a1": "LL", "b1": "LL"})

    (way,) = adopted(known, before, units({"a1": "LL"}))

    assert way.blocks == (Placed(Cell(0, 0), 1, UPRIGHT, "L"),)


def test_what_touches_a_leftover_unit_is_cut_anew() -> None:
    """A leftover unit borrows its partner from a known block next to it."""
    known = [Placed(Cell(1, 0), 1, ALONG, "L")]
    before = Stacks.of({"b1": "L", "c1": "L"})

    (way,) = adopted(known, before, units({"a1": "L", "b1": "L", "c1": "LL"}))

    assert not way.singles
    assert texts(way.blocks) == {"+a1~b1L 1", "+c1^L 1"}


def test_an_unknown_colour_agrees_with_what_stood_there() -> None:
    """A hidden unit is neither gone nor new."""
    assert changed(Stacks.of({"a1": "LD"}), Stacks.of({"a1": "?D"})) == ({}, {})
    assert changed(Stacks.of({"a1": "L"}), Stacks.of({"a1": "D"})) == (
        {Unit.parse("a1.1"): "L"},
        {Unit.parse("a1.1"): "D"},
    )


def random_stacks(rng: random.Random) -> Stacks:
    """Some stacks of any letters."""
    names = (f"{file}{rank}" for file in "abc" for rank in "123")
    return Stacks.of({name: "".join(rng.choices("LD", k=rng.randrange(4))) for name in names})


@pytest.mark.parametrize("seed", range(30))
def test_any_difference_can_be_made_by_changes(seed: int) -> None:
    """Whatever a camera reports, there are changes that lead there."""
    rng = random.Random(seed)
    before, after = random_stacks(rng), random_stacks(rng)

    changes = ways_between(before, after, (), LATTICE)[0]

    assert after_changes(before, changes, LATTICE) == after


def test_a_block_that_replaces_another_is_put_down_after_it_is_gone() -> None:
    """Changes come in an order in which hands can make them."""
    known = [Placed(Cell(0, 0), 1, UPRIGHT, "L")]
    ways = ways_between(Stacks.of({"a1": "LL"}), Stacks.of({"a1": "DD"}), known, LATTICE)

    assert ways == [(Change.parse("-a1^"), Change.parse("+a1^D"))]
