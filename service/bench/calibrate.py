"""How well cameras are calibrated: what was told of each pose, and its true error.

Tables whose true cameras are known are calibrated as a player would do it, with pictures of the
lens board and without them: pose from the empty table, then the colour picture.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from calibration.camera import Camera, Lens
from calibration.cv import Image, read_image, upright
from calibration.errors import CalibrationError, NotFound
from calibration.lens import calibrate_lens
from calibration.lens_board import DEFAULT_BOARD, LensBoard
from calibration.pose import find_pose
from calibration.pose_quality import HEIGHTS_MM, heights_of
from calibration.quads import clock_of
from calibration.scene import CameraPlace, Marker, Scene
from calibration.store import Calibration, LensRecord
from rules.errors import UnknownName
from rules.game import GameSpec
from rules.lattice import Board
from rules.registry import GAMES, find_game
from rules.stacks import Stacks
from service.steadied import steadied
from service.table_folder import read_table
from vision.virtual.cards import MARKER_MM, marker_corners
from vision.virtual.scene import Family, Kind, Rig
from vision.virtual.scene import Scene as VirtualScene
from vision.virtual.studio import Studio

# What a pose may be off, by height: with pictures of the lens board, and without.
_TARGETS = {True: {"0": 1.0, "100": 2.0, "250": 4.0}, False: {"0": 2.0, "100": 4.0, "250": 8.0}}
_WRONG_MM = {"0": 2.5, "100": 5.0}  # a pose told as good that is so far off misleads


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A table with everything that a player would take pictures of, and its true cameras."""

    name: str
    scene: Scene
    lens_views: Mapping[str, Sequence[Image]]
    empty: Mapping[str, Image]
    coloured: Mapping[str, Image]
    stacks: Stacks
    true: Mapping[str, Camera]


@dataclass(slots=True)
class PoseRow:
    """One camera of one table, calibrated in one way."""

    HEAD = (
        "table", "camera", "lens pictures", "method", "verdict", "told mm", "off mm", "target",
        "seconds",
    )  # fmt: skip

    table: str
    camera: str
    with_lens: bool
    method: str = "not found"
    verdict: str = ""
    told_mm: Mapping[str, float] = field(default_factory=dict)
    off_mm: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        """Whether there is a pose at all."""
        return bool(self.off_mm)

    @property
    def reached(self) -> bool:
        """Whether the camera is as exact as it should be at every height."""
        targets = _TARGETS[self.with_lens]
        return self.found and all(mm <= targets[h] for h, mm in self.off_mm.items())

    @property
    def misled(self) -> bool:
        """Whether a wrong pose was told as a good or usable one."""
        sure = self.verdict.startswith(("good", "usable"))
        bounds = {h: max(mm, 2 * self.told_mm.get(h, 0.0)) for h, mm in _WRONG_MM.items()}
        return sure and any(self.off_mm.get(h, 0.0) > mm for h, mm in bounds.items())

    def texts(self) -> tuple[str, ...]:
        """The row as it is printed."""
        return (
            self.table,
            self.camera,
            "yes" if self.with_lens else "no",
            self.method,
            self.verdict.partition(":")[0].partition(",")[0] or "-",
            _heights(self.told_mm),
            _heights(self.off_mm),
            "MISLED" if self.misled else "yes" if self.reached else "no",
            f"{self.seconds:.1f}",
        )


def _heights(errors: Mapping[str, float]) -> str:
    return " / ".join(f"{mm:.1f}" for mm in errors.values()) or "-"


def sums(rows: Sequence[PoseRow]) -> Iterator[tuple[str, ...]]:
    """With lens pictures and without: cameras, found, as exact as they should be, misled."""
    for with_lens in (True, False):
        some = [row for row in rows if row.with_lens == with_lens]
        if some:
            held = [r for r in some if r.found and not _beyond_told(r)]
            yield (
                "yes" if with_lens else "no",
                str(len(some)),
                str(sum(row.found for row in some)),
                str(sum(row.reached for row in some)),
                str(sum(row.misled for row in some)),
                str(len(held)),
                f"{float(np.median([row.seconds for row in some])):.1f}",
            )


SUMS_HEAD = (
    "lens pictures", "cameras", "found", "target reached", "misled", "error as told or less",
    "median seconds",
)  # fmt: skip


def _beyond_told(row: PoseRow) -> bool:
    both = row.off_mm.keys() & row.told_mm.keys()
    return any(row.off_mm[height] > row.told_mm[height] for height in both)


def true_errors(found: Camera, true: Camera, board: Board) -> dict[str, float]:
    """Height to the largest distance, anywhere on the board, at which a place would be read."""
    wide, deep, _ = board.lattice.size_mm
    errors = {}
    for height in heights_of(board):
        steps = np.linspace(0, 1, 5)
        places = np.array([[x * wide, y * deep, height] for x in steps for y in steps])
        px = true.project(places)
        inside = ((px >= 0) & (px < np.array(true.size))).all(axis=1)
        if height > HEIGHTS_MM[-1] and not inside.any():
            continue
        if inside.sum() >= 4 or height > HEIGHTS_MM[-1]:  # what is out of the picture is not read
            places, px = places[inside], px[inside]
        off = np.linalg.norm((found.back_project(px, height) - places)[:, :2], axis=1)
        errors[f"{height:g}"] = float(off.max()) if np.isfinite(off).all() else float("inf")
    return errors


def calibrated(case: Case, *, with_lens: bool) -> Iterator[PoseRow]:
    """The rows of all cameras of a table."""
    calibration = Calibration()
    rows = {}
    for name, place in case.scene.cameras.items():
        rows[name] = row = PoseRow(case.name, name, with_lens)
        try:
            lens = _lens(case.lens_views[name]) if with_lens else None
            start = time.perf_counter()
            found = find_pose(case.empty[name], case.scene, place, lens)
        except NotFound as error:
            row.verdict = str(error)
            row.seconds = time.perf_counter() - start
            continue
        row.seconds = time.perf_counter() - start
        row.method = found.method
        calibration = calibration.with_camera(name, found.record(date="", source=""))
        if lens is not None:
            calibration = calibration.with_lens(name, lens)
    pictures = {name: case.coloured[name] for name in calibration.cameras}
    if pictures:
        calibration, _ = steadied(calibration, pictures, case.empty, case.scene.board, case.stacks)
    for name, record in calibration.cameras.items():
        row = rows[name]
        row.verdict, row.told_mm = record.verdict, record.error_mm
        row.off_mm = true_errors(record.camera, case.true[name], case.scene.board)
    yield from rows.values()


def _lens(views: Sequence[Image]) -> LensRecord:
    board = LensBoard.parse(DEFAULT_BOARD)
    result = calibrate_lens({str(k): view for k, view in enumerate(views)}, board)
    return LensRecord(
        result.lens, board.kind, result.rms_px, result.verdict, focal_error=result.focal_error
    )


def case_rows(case: Case, ways: Sequence[bool], *, markers: bool) -> Iterator[PoseRow]:
    """The rows of a table calibrated with lens pictures (True) and without (False)."""
    for with_lens in ways:
        yield from calibrated(case if markers else without_markers(case), with_lens=with_lens)


def without_markers(case: Case) -> Case:
    """The same table for somebody who printed no markers; they lie there as clutter."""
    return replace(case, scene=replace(case.scene, markers=()))


def traced_case(folder: Path) -> Case:
    """A sample table; raises CalibrationError where something of it is missing."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    scene = read_table(folder).scene

    def picture(path: Path) -> Image:
        return upright(read_image(path), scene.cameras[path.name.split(".")[1]].rotate)

    true = {name: _true_camera(entry) for name, entry in truth["cameras"].items()}
    views = {n: [picture(p) for p in sorted(folder.glob(f"lens*.{n}.jpg"))] for n in true}
    if not all(views.values()):
        raise CalibrationError(f"{str(folder)!r} has no pictures of the lens board")
    return Case(
        f"{folder.parent.name}/{folder.name}",
        scene,
        views,
        {n: picture(folder / f"empty.{n}.jpg") for n in true},
        {n: picture(folder / f"colours.{n}.jpg") for n in true},
        Stacks.of(truth["colours"]),
        true,
    )


def traced_cases(folder: Path, games: Sequence[str] | None) -> Iterator[Case]:
    """All sample tables in a folder, or those of some games; raises CalibrationError."""
    tables = sorted(path.parent for path in folder.glob("**/truth.json"))
    if not tables:
        raise CalibrationError(f"no sample tables in {str(folder)!r}; give a folder such as 'tune'")
    for table in tables:
        if games is None or read_table(table).game in games:
            yield traced_case(table)


def virtual_case(spec: GameSpec, rig: str, family: str, seed: int) -> Case:
    """A virtual table; about every second one has markers. Raises UnknownName."""
    if rig not in get_args(Rig):
        raise UnknownName("rig", rig, get_args(Rig))
    if family not in get_args(Family):
        raise UnknownName("family", family, get_args(Family))
    drawn = VirtualScene.from_seed(
        seed, Kind.of(spec), family=cast("Family", family), rig=cast("Rig", rig)
    )
    studio = Studio(drawn)
    board = drawn.kind.board
    known = studio.colour_picture()
    rng = np.random.default_rng([seed, 71])
    return Case(
        f"{spec.name} {rig} {family} {seed}",
        Scene(
            board,
            dict(drawn.kind.colours),
            _markers(drawn),
            {n: CameraPlace(n, clock=_clock(c, board, rng)) for n, c in drawn.cameras.items()},
        ),
        studio.lens_views(),
        studio.empty(),
        known.pictures,
        known.stacks,
        drawn.cameras,
    )


def virtual_cases(
    games: Sequence[str] | None, rigs: Sequence[str] | None, scenes: int, family: str, seed: int
) -> Iterator[Case]:
    """So many virtual tables of each game and rig; raises UnknownName."""
    for name in games or [name for name in GAMES if name != "free"]:
        for rig in rigs or ["two", "one"]:
            for number in range(scenes):
                yield virtual_case(find_game(name), rig, family, seed + number)


def _markers(drawn: VirtualScene) -> tuple[Marker, ...]:
    if not drawn.markers:
        return ()
    z = 0.1 - drawn.look.thickness_mm
    return tuple(
        Marker(number, (x, y), MARKER_MM, z) for number, x, y in marker_corners(drawn.kind.board)
    )


def _clock(camera: Camera, board: Board, rng: np.random.Generator) -> float:
    """What a person would say of where a camera stands, who may be wrong by an hour."""
    wide, deep, _ = board.lattice.size_mm
    hour = clock_of(camera, np.array([wide / 2, deep / 2, 0.0]))
    return round(hour + rng.uniform(-1, 1), 1) % 12


def _true_camera(entry: Mapping[str, Any]) -> Camera:
    width, height = entry["size"]
    lens = Lens((width, height), np.array(entry["matrix"]), np.array(entry["distortion"]))
    return Camera.of(lens, entry["rotation"], entry["translation_mm"])
