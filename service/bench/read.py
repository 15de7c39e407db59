"""How well and how fast positions are read: rows for each game and rig, with counts.

Positions are those of random games; pictures are taken by the virtual camera in scenes that no
number of the reader was tuned on, or loaded from traced sample pictures.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

import numpy as np

from calibration.camera import Camera
from calibration.colour_fit import ColourView, fit_colours
from rules.cells import Unit
from rules.errors import UnknownName
from rules.game import GameSpec, Setup
from rules.lattice import Board, Lattice
from rules.record import PositionLine, TurnLine
from rules.stacks import Stacks
from rules.turn import after_changes
from service.bench.altered import Altered, without
from service.table_eyes import keeps_heights_apart, never_mixes_colours
from vision.frame import ImageBGR
from vision.likelihood import CameraEye
from vision.reader import Reader
from vision.reading import Reading
from vision.virtual.games import random_record
from vision.virtual.scene import Family, Kind, Rig, Scene
from vision.virtual.studio import Studio

SEEN_PX = 150  # a unit with fewer picture elements in sight is not held against the reader
STEP_PX = 3
LIKELY = 0.05  # a stack less likely is none of those between which a cell is open
RELIABILITY = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.01)


@dataclass(slots=True)
class ReadRow:
    """What was counted over the positions of one game and rig."""

    HEAD = (
        "game", "rig", "positions", "exact", "exact %", "exact in sight %", "units", "wrong",
        "wrong and sure", "unsure units %", "ms from scratch", "exact a turn later",
        "in sight then", "wrong and sure then", "ms a turn later",
    )  # fmt: skip

    game: str
    rig: str
    positions: int = 0
    exact: int = 0
    in_sight: int = 0  # positions in which no unit that a camera sees was read wrongly
    units: int = 0
    wrong: int = 0
    wrong_sure: int = 0
    unsure: int = 0
    later_exact: int = 0
    later_in_sight: int = 0
    later_wrong_sure: int = 0
    scratch_ms: list[float] = field(default_factory=list)
    later_ms: list[float] = field(default_factory=list)
    told: list[tuple[float, bool]] = field(default_factory=list)  # certainty, and was it right
    failures: list[str] = field(default_factory=list)

    def count(self, name: str, truth: Stacks, reading: Reading, sight: "Sight", ms: float) -> None:
        """Adds one position that was read from scratch."""
        seen = sight.seen
        wrong = differing_units(truth, reading.stacks, seen)
        sure = sure_of(wrong, reading)
        self.positions += 1
        self.exact += not wrong
        self.in_sight += not sight.shown(wrong, reading.stacks)
        self.units += sum(1 for unit, _ in truth.units() if seen.get(unit, 0) >= SEEN_PX)
        self.wrong += len(wrong)
        self.wrong_sure += len(sure)
        self.unsure += sum(open_units(choices) for choices in reading.unsure.values())
        self.told.append((reading.certainty, not sure))
        self.scratch_ms.append(ms)
        self._fail(name, truth, reading, wrong, sure)

    def count_later(
        self, name: str, truth: Stacks, reading: Reading, sight: "Sight", ms: float
    ) -> None:
        """Adds the same position read with the one a turn earlier known."""
        wrong = differing_units(truth, reading.stacks, sight.seen)
        sure = sure_of(wrong, reading)
        self.later_exact += not wrong
        self.later_in_sight += not sight.shown(wrong, reading.stacks)
        self.later_wrong_sure += len(sure)
        self.told.append((reading.certainty, not sure))
        self.later_ms.append(ms)
        self._fail(f"{name} a turn later", truth, reading, wrong, sure)

    def _fail(
        self, name: str, truth: Stacks, reading: Reading, wrong: list[Unit], sure: list[Unit]
    ) -> None:
        told = [
            f"{c}: is {truth.get(c, '-')}, read {reading.stacks.get(c, '-')}"
            f"{' (sure)' if any(unit.cell == c for unit in sure) else ''}"
            for c in sorted({unit.cell for unit in wrong})
        ]
        if told:
            self.failures.append(f"{name}: {', '.join(told)}")

    def texts(self) -> tuple[str, ...]:
        """The row as it is printed."""
        low, high = interval(self.exact, self.positions)
        return (
            self.game,
            self.rig,
            str(self.positions),
            str(self.exact),
            f"{percent(self.exact, self.positions)} ({low:.1f} to {high:.1f})",
            percent(self.in_sight, self.positions),
            str(self.units),
            str(self.wrong),
            f"{self.wrong_sure} ({percent(self.wrong_sure, self.units)} %)",
            percent(self.unsure, self.units),
            _median(self.scratch_ms),
            str(self.later_exact),
            str(self.later_in_sight),
            str(self.later_wrong_sure),
            _median(self.later_ms),
        )


def sure_of(wrong: Sequence[Unit], reading: Reading) -> list[Unit]:
    """Those of the wrong units about which no doubt was told."""
    doubted = reading.unsure.keys() | reading.hidden
    return [
        unit
        for unit in wrong
        if unit.cell not in doubted
        and reading.stacks.get(unit.cell, "")[unit.level - 1 : unit.level] != "?"
    ]


def open_units(choices: Mapping[str, float]) -> int:
    """In how many places the stacks differ between which a cell is open."""
    likely = [stack for stack, chance in choices.items() if chance >= LIKELY]
    columns = zip_longest(*likely, fillvalue="")
    return max(1, sum(len(set(letters)) > 1 for letters in columns))


def percent(part: int, whole: int) -> str:
    """A part of a whole, in percent."""
    return f"{100 * part / whole:.2f}" if whole else "-"


def interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, in percent."""
    if not whole:
        return 0.0, 100.0
    z = 1.96
    share = part / whole
    middle = share + z * z / (2 * whole)
    around = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    scale = 100 / (1 + z * z / whole)
    return max(scale * (middle - around), 0.0), min(scale * (middle + around), 100.0)


def _median(values: Sequence[float]) -> str:
    return f"{float(np.median(values)):.1f}" if values else "-"


def differing_units(truth: Stacks, read: Stacks, seen: Mapping[Unit, int]) -> list[Unit]:
    """Units that were read wrongly; the letter of one that nobody sees does not count."""
    wrong: list[Unit] = []
    for cell in truth.keys() | read.keys():
        real, told = truth.get(cell, ""), read.get(cell, "")
        for k in range(max(len(real), len(told))):
            unit = Unit(cell, k + 1)
            a, b = real[k : k + 1], told[k : k + 1]
            if a != b and not (a and b and seen.get(unit, 0) < SEEN_PX):
                wrong.append(unit)
    return wrong


def units_in_sight(
    cameras: Mapping[str, Camera], lattice: Lattice, truth: Stacks
) -> dict[Unit, int]:
    """Picture elements in which each unit is the first one met, over all cameras."""
    units = [unit for unit, _ in truth.units()]
    if not units:
        return {}
    boxes = np.array([lattice.box_mm(unit) for unit in units])
    count = np.zeros(len(units))
    for camera in cameras.values():
        corners = camera.project(boxes.reshape(-1, 3))
        low = np.maximum(np.nanmin(corners, axis=0) - 30, 0)
        high = np.minimum(np.nanmax(corners, axis=0) + 30, np.array(camera.size) - 1)
        u, v = np.meshgrid(np.arange(low[0], high[0], STEP_PX), np.arange(low[1], high[1], STEP_PX))
        origin, direction = camera.rays(np.stack([u.ravel(), v.ravel()], axis=1))
        nearest = np.full(len(direction), np.inf)
        who = np.full(len(direction), -1)
        for i, (a, b) in enumerate(boxes):
            one, two = (a - origin) / direction, (b - origin) / direction
            enter, leave = np.minimum(one, two).max(axis=1), np.maximum(one, two).min(axis=1)
            hit = (enter < leave) & (leave > 0) & (enter < nearest)
            nearest[hit], who[hit] = enter[hit], i
        count += np.bincount(who[who >= 0], minlength=len(units)) * STEP_PX**2
    return dict(zip(units, count.astype(int).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Sight:
    """What the cameras show of a position, and would show of another one."""

    cameras: Mapping[str, Camera]
    lattice: Lattice
    seen: Mapping[Unit, int]

    @classmethod
    def of(cls, cameras: Mapping[str, Camera], lattice: Lattice, truth: Stacks) -> "Sight":
        """What is seen of a position."""
        return cls(cameras, lattice, units_in_sight(cameras, lattice, truth))

    def shown(self, wrong: Sequence[Unit], read: Stacks) -> list[Unit]:
        """The wrong units that a camera shows, or would show if they were there."""
        if all(unit in self.seen for unit in wrong):
            told = {}
        else:
            told = units_in_sight(self.cameras, self.lattice, read)
        return [unit for unit in wrong if self.seen.get(unit, told.get(unit, 0)) >= SEEN_PX]


def positions(spec: GameSpec, seed: int) -> tuple[Stacks, Stacks]:
    """A position of a random game, and the one a turn earlier."""
    turns = random.Random(seed).randint(1, 40)
    record = random_record(spec, seed, turns, setup=Setup(board=spec.board))
    before = stacks = Stacks()
    lattice = record.spec.set_up(record.setup).lattice
    for line in record.lines:
        if isinstance(line, PositionLine):
            before = stacks = line.stacks
        elif isinstance(line, TurnLine):
            before, stacks = stacks, after_changes(stacks, line.turn.changes, lattice)
    return stacks, before


def _rig(name: str) -> Rig:
    rigs: dict[str, Rig] = {"one": "one", "two": "two", "three": "three", "corners": "corners"}
    if name not in rigs:
        raise UnknownName("rig", name, rigs)
    return rigs[name]


def _family(name: str) -> Family:
    families: dict[str, Family] = {"tune": "tune", "check": "check"}
    if name not in families:
        raise UnknownName("family", name, families)
    return families[name]


def virtual_row(
    spec: GameSpec,
    rig: str,
    family: str,
    scenes: int,
    each: int,
    seed: int,
    altered: Altered | None = None,
) -> ReadRow:
    """Reads positions of one game before the virtual cameras of some scenes."""
    altered = altered or Altered()
    row = ReadRow(spec.name, rig)
    for number in range(scenes):
        scene = Scene.from_seed(seed + number, Kind.of(spec), family=_family(family), rig=_rig(rig))
        studio = Studio(scene)
        empty, known = studio.empty(), studio.colour_picture()
        reader = make_reader(
            scene.kind.board, scene.cameras, empty, known.pictures, known.stacks,
            scene.kind.colours, spec, altered.without,
        )  # fmt: skip
        bare = altered.pictures(studio.empty(1))
        count_reading(row, reader, f"scene {seed + number} empty", bare, Stacks(), Stacks())
        for k in range(each):
            stacks, before = positions(spec, 1000 * (seed + number) + k)
            name = f"scene {seed + number} position {k}"
            images = altered.pictures(studio.still(stacks, k + 2))
            earlier = altered.pictures(studio.still(before, k + 2, moment=each + k + 2))
            count_reading(row, reader, name, images, stacks, before, earlier=earlier)
    return row


def make_reader(
    board: Board,
    cameras: Mapping[str, Camera],
    empty: Mapping[str, ImageBGR],
    coloured: Mapping[str, ImageBGR],
    known: Stacks,
    names: Mapping[str, str],
    spec: GameSpec,
    lacking: str = "",
) -> Reader:
    """A reader that has seen the empty table and the colour picture; `lacking` an ingredient."""
    views = [ColourView(cameras[name], coloured[name], empty[name]) for name in cameras]
    fitted = fit_colours(views, board, names, known)
    eyes = {
        name: CameraEye(camera, colours, empty[name])
        for (name, camera), colours in zip(cameras.items(), fitted, strict=True)
    }
    settings, eyes = without(lacking, eyes)
    return Reader(
        board,
        eyes,
        spec.kit,
        one_colour_stacks=never_mixes_colours(spec),
        heights_apart=keeps_heights_apart(spec),
        settings=settings,
    )


def count_reading(
    row: ReadRow,
    reader: Reader,
    name: str,
    images: Mapping[str, ImageBGR],
    truth: Stacks,
    before: Stacks,
    cameras: Mapping[str, Camera] | None = None,
    *,
    earlier: Mapping[str, ImageBGR] | None = None,
) -> None:
    """Reads a position from scratch, and with the last one known.

    `cameras` are the true ones; `earlier` pictures of the last position, which the reader has
    then just read, as it does in play.
    """
    cameras = cameras or {n: eye.camera for n, eye in reader.cameras.items()}
    sight = Sight.of(cameras, reader.lattice, truth)
    reading, ms = _timed(lambda: reader.read(images, patient=True))
    row.count(name, truth, reading, sight, ms)
    if earlier is not None:
        reader.read(earlier, last=before)
    reading, ms = _timed(lambda: reader.read(images, last=before))
    row.count_later(name, truth, reading, sight, ms)


def _timed(read: Callable[[], Reading]) -> tuple[Reading, float]:
    """A reading, and the processor's milliseconds for it: what else runs here does not count."""
    began = time.process_time()
    reading = read()
    return reading, 1e3 * (time.process_time() - began)


def together(rows: Sequence[ReadRow]) -> ReadRow:
    """All rows as one."""
    whole = ReadRow("all", "")
    for row in rows:
        for name in (
            "positions", "exact", "in_sight", "units", "wrong", "wrong_sure", "unsure",
            "later_exact", "later_in_sight", "later_wrong_sure", "scratch_ms", "later_ms", "told",
            "failures",
        ):  # fmt: skip
            setattr(whole, name, getattr(whole, name) + getattr(row, name))
    return whole


def reliability(rows: Sequence[ReadRow]) -> Iterator[tuple[str, str, str, str]]:
    """For each range of certainty: readings, how many were right, and the share."""
    told = [pair for row in rows for pair in row.told]
    for low, high in pairwise(RELIABILITY):
        right = [ok for certainty, ok in told if low <= certainty < high]
        yield (
            f"{low} to {min(high, 1)}",
            str(len(right)),
            str(sum(right)),
            percent(sum(right), len(right)),
        )
