"""Scenes: a table in somebody's room as a value, drawn from a seed and a family."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from calibration.camera import Camera
from rules.game import GameSpec
from rules.lattice import Board
from rules.pieces import KitPiece
from vision.errors import VisionError
from vision.virtual.aiming import clock_direction, fitting_camera, lens_of
from vision.virtual.values import (
    BoardLook,
    Cover,
    Lamp,
    Paint,
    Rgb,
    Room,
    Sensor,
    kelvin_rgb,
    linear_rgb,
)

Family = Literal["tune", "check"]
Rig = Literal["one", "two", "three", "corners"]
Surface = Literal["grid", "corners", "frame", "strip", "felt", "recess"]
SIZE = (1280, 720)
_SHEET_MM = 20.0  # a sheet under a wall is wider than the wall


@dataclass(frozen=True, slots=True)
class Kind:
    """What is played on: the board, its colours and pieces, and where colours have corners."""

    board: Board
    colours: Mapping[str, str]
    kit: tuple[KitPiece, ...]
    corners: Mapping[str, str] = field(default_factory=dict)  # cell to letter

    @staticmethod
    def of(spec: GameSpec, board: Board | None = None) -> "Kind":
        """The kind of a game's table; four colours on an even square board start in its corners."""
        board = board or spec.board
        lattice = board.lattice
        if lattice.ranks == 1 and not any(board.margin_mm):
            board = replace(board, margin_mm=(_SHEET_MM,) * 4)
        corners: dict[str, str] = {}
        square = lattice.columns == lattice.ranks and lattice.columns % 2 == 0
        if square and len(spec.colours) == 4 and board.recess_mm is None:
            far = lattice.columns
            cells = ("a1", f"a{far}", f"{chr(96 + far)}{far}", f"{chr(96 + far)}1")
            corners = dict(zip(cells, _seated(spec), strict=True))
        return Kind(board, dict(spec.colours), tuple(spec.kit), corners)

    @property
    def surface(self) -> Surface:
        """Which kind of surface this board has, judged by what is known of it."""
        lattice = self.board.lattice
        if self.board.recess_mm is not None:
            return "recess"
        if self.board.frame_height_mm is not None:
            return "frame"
        if lattice.ranks == 1:
            return "strip"
        if self.corners:
            return "corners"
        return "felt" if min(self.board.margin_mm) > 1.2 * lattice.pitch_mm else "grid"

    @property
    def turned(self) -> bool:
        """Whether players turn what they play on: a loose felt, or a board that is laid in."""
        return self.surface in ("felt", "recess")


def _seated(spec: GameSpec) -> tuple[str, ...]:
    """The letters clockwise from a1, as the game's players sit."""
    seated = set(spec.players) == set(spec.colours)
    return tuple(spec.players) if seated else tuple(spec.colours)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that makes a table look as it does; equal seeds give equal scenes."""

    family: Family
    seed: int
    kind: Kind
    room: Room
    table: Cover
    table_mm: tuple[float, float, float, float]  # x and y of its front left corner, width, depth
    look: BoardLook
    paints: Mapping[str, Paint]
    cameras: Mapping[str, Camera]
    sensors: Mapping[str, Sensor]
    recess_mm: float
    hole_mm: float
    frame_mm: tuple[float, float]  # width and height of the strips; 0 where there are none
    markers: bool

    @staticmethod
    def from_seed(
        seed: int,
        kind: Kind,
        *,
        family: Family = "tune",
        rig: Rig = "two",
        markers: bool | None = None,
        size: tuple[int, int] = SIZE,
        chosen: Mapping[str, str] | None = None,
    ) -> "Scene":
        """The scene of a seed; `markers` None leaves it to the seed.

        `chosen` names parts that are not drawn: `rooms`, `tables`, `boards`, `palettes`.
        """
        return _Draw(seed, kind, family, size, chosen or {}).scene(rig, markers)


@lru_cache(maxsize=2)
def family_values(family: Family) -> dict[str, Any]:
    """The rooms, tables, boards, palettes, lenses and places of a family."""
    return tomllib.loads(files("vision.virtual").joinpath(f"{family}.toml").read_text("utf-8"))


class _Draw:
    """Draws the parts of one scene, each from a generator of its own."""

    def __init__(
        self,
        seed: int,
        kind: Kind,
        family: Family,
        size: tuple[int, int],
        chosen: Mapping[str, str],
    ) -> None:
        self.seed = seed
        self.chosen = chosen
        self.kind = kind
        self.family = family
        self.size = size
        self.values = family_values(family)

    def rng(self, part: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, part, 0 if self.family == "tune" else 1])

    def one_of(self, what: str, part: int, chosen: Sequence[Any] | None = None) -> dict[str, Any]:
        items = chosen if chosen is not None else self.values[what]
        if what in self.chosen:
            items = [item for item in items if item["name"] == self.chosen[what]]
            if not items:
                raise VisionError(
                    f"no {what} {self.chosen[what]!r} in the family {self.family!r}; "
                    f"its file {self.family}.toml lists them"
                )
        picked: dict[str, Any] = items[int(self.rng(part).integers(len(items)))]
        return picked

    def scene(self, rig: Rig, markers: bool | None) -> Scene:
        room = self.one_of("rooms", 1)
        surface = self.kind.surface
        boards = [b for b in self.values["boards"] if b["surface"] == surface]
        look = _look(self.one_of("boards", 3, boards))
        cameras, sensors = self.cameras(rig, dim=bool(room.get("dim")))
        pitch, unit = self.kind.board.lattice.pitch_mm, self.kind.board.lattice.unit_mm
        draw = self.rng(4)
        sunk = surface == "recess"
        strips = surface == "frame"
        frame = (_given(self.kind.board.frame_width_mm, 0.8 * unit[0]),
                 _given(self.kind.board.frame_height_mm, unit[2]))  # fmt: skip
        return Scene(
            self.family,
            self.seed,
            self.kind,
            self.room(room),
            _cover(self.one_of("tables", 2)),
            self.table(),
            look,
            self.paints(),
            cameras,
            sensors,
            recess_mm=_given(self.kind.board.recess_mm, draw.uniform(1.5, 2.5)) if sunk else 0.0,
            hole_mm=(unit[0] + min(2.5, 0.6 * (pitch - unit[0]))) if sunk else 0.0,
            frame_mm=frame if strips else (0.0, 0.0),
            markers=bool(draw.random() < 0.5) if markers is None else markers,
        )

    def room(self, values: dict[str, Any]) -> Room:
        draw = self.rng(5)
        wide, deep, _ = self.kind.board.lattice.size_mm
        lamps = []
        for lamp in values["lamps"]:
            flat = clock_direction(lamp["clock"] + draw.uniform(-0.2, 0.2))
            rise = math.radians(lamp["height"] + draw.uniform(-2, 2))
            far = lamp["far_mm"] * draw.uniform(0.95, 1.05)
            rgb = _times(kelvin_rgb(lamp["kelvin"]), lamp["light"] * draw.uniform(0.9, 1.1))
            at = (
                wide / 2 + far * math.cos(rise) * float(flat[0]),
                deep / 2 + far * math.cos(rise) * float(flat[1]),
                far * math.sin(rise),
            )
            lamps.append(Lamp(at, lamp["radius_mm"], rgb))
        ambient = values["ambient"]
        return Room(
            values["name"],
            tuple(lamps),
            _times(kelvin_rgb(ambient["kelvin"]), ambient["light"] * draw.uniform(0.9, 1.1)),
            tuple(map(linear_rgb, values["walls"])),
            tuple(map(linear_rgb, values["people"])),
        )

    def paints(self) -> dict[str, Paint]:
        palette = self.one_of("palettes", 6)
        draw = self.rng(7)
        paints = {}
        for letter, name in self.kind.colours.items():
            rgb = linear_rgb(palette.get(name) or palette["natural"])
            grain = palette["grain"] * (1.0 if name not in ("natural", "light", "dark") else 1.3)
            bright = draw.uniform(0.93, 1.07)
            paints[letter] = Paint(_times(rgb, bright), grain, palette["gloss"])
        return paints

    def table(self) -> tuple[float, float, float, float]:
        draw = self.rng(8)
        wide, deep, _ = self.kind.board.lattice.size_mm
        width, depth = draw.uniform(1150, 1600), draw.uniform(750, 1000)
        return (
            wide / 2 - width * draw.uniform(0.42, 0.58),
            deep / 2 - depth * draw.uniform(0.40, 0.52),
            width,
            depth,
        )

    def cameras(self, rig: Rig, *, dim: bool) -> tuple[dict[str, Camera], dict[str, Sensor]]:
        draw = self.rng(9)
        flat = self.kind.board.lattice.ranks == 1
        groups = {
            "one": ["low" if flat else "single"],
            "two": ["overhead", "low" if flat else "side"],
            "three": ["left_corner", "right_corner", "overhead"],
            "corners": ["left_corner", "right_corner"],
        }[rig]
        if flat and rig in ("three", "corners"):
            groups = ["low", "single", "overhead"][: len(groups)]
        names = {"single": "camera", "low": "front", "overhead": "overhead", "side": "side",
                 "left_corner": "left", "right_corner": "right"}  # fmt: skip
        cameras: dict[str, Camera] = {}
        sensors: dict[str, Sensor] = {}
        for group in groups:
            place = self.values["places"][group]
            picked = place[int(draw.integers(len(place)))]
            lenses = self.values["lenses"]
            lens = lenses[int(draw.integers(len(lenses)))]
            faults = self.values["sensors"][int(draw.integers(len(self.values["sensors"])))]
            cameras[names[group]] = self.camera(picked, lens, draw)
            sensors[names[group]] = _sensor(faults, draw, dim=dim)
        return cameras, sensors

    def camera(
        self, place: dict[str, Any], lens: dict[str, Any], draw: np.random.Generator
    ) -> Camera:
        wide, deep, high = self.kind.board.lattice.size_mm
        left, front, right, back = self.kind.board.margin_mm
        region = np.array(
            [
                (x, y, z)
                for x, x_out in ((0, -min(left, 30)), (wide, min(right, 30)))
                for y, y_out in ((0, -min(front, 30)), (deep, min(back, 30)))
                for x, y, z in ((x + x_out, y + y_out, 0.0), (x, y, high))
            ]
        )
        target = np.array([wide / 2, deep / 2, 0.3 * high]) + draw.normal(0, 0.02 * wide, 3)
        return fitting_camera(
            lens_of(
                self.size,
                lens["focal"] * draw.uniform(0.99, 1.01),
                tuple(lens["distortion"]),
                tuple(lens["axis"]),
            ),
            region,
            target,
            place["clock"] + draw.uniform(-0.05, 0.05),
            place["height"] + draw.uniform(-0.7, 0.7),
            place["roll"] + draw.uniform(-0.3, 0.3),
            place["fill"],
        )


def _times(rgb: Rgb, factor: float) -> Rgb:
    return rgb[0] * factor, rgb[1] * factor, rgb[2] * factor


def _given(value: float | str | None, default: float) -> float:
    return float(value) if isinstance(value, int | float) else float(default)


def _cover(values: dict[str, Any]) -> Cover:
    first, second = map(linear_rgb, values["colours"])
    return Cover(values["kind"], first, second, values.get("scale", 1.0), values.get("gloss", 0.0))


def _look(values: dict[str, Any]) -> BoardLook:
    return BoardLook(
        _cover(values),
        linear_rgb(values["line"]),
        values["line_mm"],
        linear_rgb(values["edge"]),
        values["thickness_mm"],
        values["pattern"],
    )


def _sensor(values: dict[str, Any], draw: np.random.Generator, *, dim: bool) -> Sensor:
    grain = 1.8 if dim else 1.0
    tint = draw.normal(1, 0.03, 3)
    return Sensor(
        exposure=float(draw.uniform(0.2, 0.3) * (0.75 if dim else 1.0)),
        balance=values["balance"],
        tint=(float(tint[0]), 1.0, float(tint[2])),
        contrast=values["contrast"],
        vignette=values["vignette"],
        noise=values["noise"] * grain,
        blotch=values["blotch"] * grain,
        blur_px=values["blur_px"],
        sharpen=values["sharpen"],
        jpeg=values["jpeg"],
        lag_s=float(draw.uniform(0.25, 0.8)),
        delay_s=float(draw.uniform(0.03, 0.25)),
        obeys=bool(draw.random() < 0.4),
    )
