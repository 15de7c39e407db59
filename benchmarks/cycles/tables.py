"""What varies from table to table, all drawn from one seed: board, paints, light, cameras."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from .lens import Lens, aimed

Rgb = tuple[float, float, float]  # sRGB, 0 to 1
T = TypeVar("T")
RIGS = {
    "kewbz": ("two", "one"),
    "qbq": ("two", "one"),
    "ksar": ("two", "one"),
    "kwinty": ("one",),
    "turris": ("corners", "three"),
    "cube": ("two", "corners"),
}
LIGHTS = ("window", "bulb", "spots", "evening", "overcast", "coloured", "sun")
CLOTHS = ("wood", "plain", "gingham", "stripes", "flowers", "newspaper", "laminate", "stone")
PAINTS: dict[str, Rgb] = {
    "B": (0.12, 0.28, 0.66),
    "Y": (0.93, 0.74, 0.15),
    "G": (0.16, 0.48, 0.24),
    "O": (0.91, 0.45, 0.12),
    "R": (0.74, 0.14, 0.13),
    "N": (0.80, 0.64, 0.44),
    "L": (0.87, 0.74, 0.56),
    "D": (0.31, 0.20, 0.14),
}
NAMES = {
    "B": "blue",
    "Y": "yellow",
    "G": "green",
    "O": "orange",
    "R": "red",
    "N": "natural",
    "L": "light",
    "D": "dark",
}
LETTERS = {
    "kewbz": "BY",
    "qbq": "BGOR",
    "ksar": "RBN",
    "kwinty": "LD",
    "turris": "LD",
    "cube": "RYGB",
}
WOODS: tuple[Rgb, ...] = (
    (0.72, 0.53, 0.34),
    (0.84, 0.69, 0.49),
    (0.45, 0.28, 0.17),
    (0.30, 0.19, 0.13),
    (0.62, 0.42, 0.30),
    (0.70, 0.62, 0.54),
)
FABRICS: tuple[Rgb, ...] = (
    (0.86, 0.84, 0.79),
    (0.20, 0.25, 0.36),
    (0.55, 0.16, 0.17),
    (0.24, 0.36, 0.26),
    (0.62, 0.58, 0.50),
    (0.16, 0.16, 0.17),
    (0.76, 0.68, 0.42),
    (0.46, 0.55, 0.63),
    (0.70, 0.45, 0.46),
    (0.38, 0.30, 0.42),
)


@dataclass(frozen=True)
class Board:
    """Sizes in millimetres; the surface on which the lowest pieces stand is z = 0."""

    columns: int
    ranks: int
    levels: int
    pitch: float
    unit: float
    margin: float
    thickness: float  # from the table to z = 0
    recess: float = 0.0  # CUBE: depth of the hollows
    hollow: float = 0.0  # CUBE: their width
    frame: tuple[float, float] | None = None  # KSAR: height and width

    @property
    def size(self) -> tuple[float, float]:
        """Width and depth of the cells."""
        return self.columns * self.pitch, self.ranks * self.pitch


@dataclass(frozen=True)
class Paint:
    """How one colour of pieces looks."""

    colour: Rgb
    grain: float  # 0 opaque paint, 1 bare wood
    roughness: float


@dataclass(frozen=True)
class Look:
    """How everything but the pieces' places looks."""

    light: str
    cloth: str
    cloth_colours: tuple[Rgb, Rgb]
    base: Rgb
    ink: Rgb
    line_mm: float
    board_grain: float
    style: str  # of the print
    paints: dict[str, Paint]
    bevel: float
    segments: int
    sloppy: float
    spares: int
    clutter: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One table with its cameras."""

    game: str
    seed: int
    board: Board
    look: Look
    lenses: dict[str, Lens]
    clocks: dict[str, float]
    told_margin: float
    letters: str = field(default="")


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options; unlike `Generator.choice` it leaves tuples alone."""
    return options[int(rng.integers(len(options)))]


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A plain float between two bounds."""
    return float(rng.uniform(low, high))


def blend(a: Rgb, b: Rgb, share: float) -> Rgb:
    """The colour on the way from a to b."""
    return tuple(float(x + (y - x) * share) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def draw_table(
    game: str,
    seed: int,
    rig: str,
    size: tuple[int, int],
    light: str | None = None,
    cloth: str | None = None,
) -> Table:
    """All that one seed decides; light and cloth can be named to make a table of a certain kind."""
    rng = np.random.default_rng([seed, sorted(RIGS).index(game)])
    board = _board(game, rng)
    look = _look(game, board, rng, light, cloth)
    lenses, clocks = _cameras(game, board, rig, size, rng)
    margin = board.margin + (
        pick(rng, (-2.0, 1.5)) if board.margin and rng.random() < 0.25 else 0.0
    )
    return Table(game, seed, board, look, lenses, clocks, margin, LETTERS[game])


def _board(game: str, rng: np.random.Generator) -> Board:
    thick = between(rng, 2.5, 9)
    if game == "kewbz":
        n, pitch, unit = pick(
            rng, ((8, 22.0, 20.0), (8, 22.0, 20.0), (7, 25.0, 22.0), (9, 22.0, 20.0))
        )
        return Board(n, n, 5, pitch, unit, between(rng, 6, 18), thick)
    if game == "qbq":
        pitch, unit = pick(rng, ((27.0, 25.0), (31.0, 28.0), (24.0, 22.0)))
        return Board(6, 6, 9, pitch, unit, between(rng, 6, 16), thick)
    if game == "ksar":
        n, pitch = pick(rng, (9, 10, 10)), pick(rng, (15.0, 18.0, 20.0))
        frame = (round(between(rng, 9, 18)), round(between(rng, 10, 18)))
        return Board(n, n, 3, pitch, pitch, 0.0, 0.0, frame=frame)
    if game == "kwinty":
        return Board(9, 1, 9, 27.0, 27.0, round(between(rng, 12, 26)), 0.25)
    if game == "turris":
        return Board(3, 3, 11, 27.0, 27.0, 49.5, between(rng, 3, 5))
    pitch, unit = pick(rng, ((30.0, 25.0), (32.0, 27.0), (34.0, 30.0)))
    hollow = min(unit + between(rng, 1.2, 2.4), pitch - 1.8)
    return Board(
        4,
        4,
        4,
        pitch,
        unit,
        between(rng, 8, 18),
        between(rng, 8, 16),
        round(between(rng, 1.0, 2.5), 1),
        hollow,
    )


def _look(
    game: str, board: Board, rng: np.random.Generator, light: str | None, cloth: str | None
) -> Look:
    light = light or pick(rng, LIGHTS)
    cloth = cloth or pick(rng, CLOTHS)
    first = pick(rng, WOODS) if cloth == "wood" else pick(rng, FABRICS)
    second = pick(rng, FABRICS)
    if cloth in ("gingham", "stripes", "flowers") and math.dist(first, second) < 0.35:
        second = (0.92, 0.91, 0.88)
    if cloth == "newspaper":
        first, second = (0.83, 0.81, 0.75), (0.13, 0.13, 0.14)
    base = (
        pick(rng, WOODS)
        if rng.random() < 0.55
        else pick(
            rng,
            (
                (0.90, 0.88, 0.82),
                (0.15, 0.15, 0.17),
                (0.28, 0.33, 0.30),
                (0.55, 0.53, 0.50),
                (0.32, 0.20, 0.22),
            ),
        )
    )
    if game == "turris":  # the felt: any colour, now and then close to the table's
        base = blend(first, pick(rng, FABRICS), pick(rng, (0.35, 0.7, 1.0)))
    if game == "kwinty":
        base = pick(
            rng, ((0.93, 0.92, 0.89), (0.76, 0.62, 0.44), (0.66, 0.77, 0.68), (0.85, 0.82, 0.60))
        )
    bright = sum(base) > 1.35
    contrast = pick(rng, (0.9, 0.7, 0.45))
    ink = blend(base, (0.05, 0.05, 0.06) if bright else (0.95, 0.93, 0.88), contrast)
    grain = pick(rng, (0.05, 0.2, 0.5))
    rough = pick(rng, (0.15, 0.35, 0.6, 0.8))
    pale, deep = (
        (between(rng, 0.05, 0.3), 0.0) if rng.random() < 0.3 else (0.0, between(rng, 0.0, 0.3))
    )
    paints = {}
    for letter in LETTERS[game]:
        colour = blend(PAINTS[letter], (0.95, 0.93, 0.9), pale * (letter not in "NLD"))
        colour = blend(colour, (0.0, 0.0, 0.0), deep * (letter not in "NL"))
        jitter = rng.normal(1, 0.04, 3)
        colour = tuple(
            float(np.clip(c * j, 0.01, 0.97)) for c, j in zip(colour, jitter, strict=True)
        )
        paints[letter] = Paint(colour, 0.8 if letter in "NLD" else grain, rough)
    clutter = tuple(
        pick(rng, ("mug", "book", "phone", "dice", "paper")) for _ in range(int(rng.integers(1, 5)))
    )
    style = (
        pick(rng, ("outlines", "tinted", "discs"))
        if game == "qbq"
        else pick(rng, ("grid", "grid", "open"))
    )
    return Look(
        light,
        cloth,
        (first, second),
        base,
        ink,
        between(rng, 0.5, 1.4),
        pick(rng, (0.0, 0.4, 1.0)),
        style,
        paints,
        between(rng, 0.4, 0.07 * board.unit),
        pick(rng, (2, 3)),
        between(rng, 0.015, 0.035),
        int(rng.integers(3, 13)),
        clutter,
    )


def _cameras(
    game: str, board: Board, rig: str, size: tuple[int, int], rng: np.random.Generator
) -> tuple[dict[str, Lens], dict[str, float]]:
    """A rig's cameras, from where all of the game is in view, and what a person tells of them."""
    over, low = between(rng, 70, 86), between(rng, 30, 55)
    six = between(rng, 5.3, 6.7)
    views = {
        "one": {"camera": (six, between(rng, 46, 62))},
        "two": {"overhead": (between(rng, 5.8, 6.2), over), "side": (six, low)},
        "corners": {
            "left": (between(rng, 7.1, 7.9), between(rng, 30, 48)),
            "right": (between(rng, 1.1, 1.9), between(rng, 30, 48)),
        },
        "three": {
            "left": (between(rng, 7.1, 8.3), low),
            "right": (between(rng, 0.8, 1.9), between(rng, 30, 48)),
            "overhead": (6.0, over),
        },
    }[rig]
    if game == "kwinty":
        views = {"front": (between(rng, 5.5, 6.5), between(rng, 10, 30))}
    wide, deep = board.size
    m = board.margin + (board.frame[1] if board.frame else 0)
    high = {"kewbz": 5, "qbq": 5, "ksar": 3, "kwinty": 9, "turris": 8, "cube": 4}[game] * board.unit
    box = np.array([(x, y, z) for x in (-m, wide + m) for y in (-m, deep + m) for z in (0, high)])
    lenses, clocks = {}, {}
    for name, (hour, elevation) in views.items():
        lenses[name] = aimed(box, hour, elevation, size, rng)
        clocks[name] = round(
            (lenses[name].clock((wide / 2, deep / 2)) + between(rng, -0.4, 0.4)) % 12, 1
        )
    return lenses, clocks


def toml(table: Table) -> str:
    """What a person would write about the table."""
    b = table.board
    lines = [
        f'game = "{table.game}"',
        "",
        "[board]",
        f"columns = {b.columns}",
        f"ranks = {b.ranks}",
    ]
    lines += [
        f"pitch_mm = {b.pitch}",
        f"unit_mm = [{b.unit}, {b.unit}, {b.unit}]",
        f"margin_mm = {table.told_margin:.1f}",
    ]
    if b.frame:
        lines += [f"frame_height_mm = {float(b.frame[0])}", f"frame_width_mm = {float(b.frame[1])}"]
    if b.recess:
        lines += [f"recess_mm = {b.recess}"]
    lines += ["", "[colours]", *(f'{letter} = "{NAMES[letter]}"' for letter in table.letters)]
    for name, clock in table.clocks.items():
        lines += ["", f"[cameras.{name}]", 'source = "files"', f"clock = {clock}"]
    return "\n".join(lines) + "\n"
