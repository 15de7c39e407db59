"""What a virtual table is made of: solids, paints, lamps, rooms, sensors."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Rgb = tuple[float, float, float]  # linear, 1.0 reflects everything
Xyz = tuple[float, float, float]


def f32(values: ArrayLike) -> F32:
    """Values as single precision."""
    return np.asarray(values, dtype=np.float32)


def linear_rgb(text: str) -> Rgb:
    """Linear red, green, blue of a colour such as `#c42824`."""
    values = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v < 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)
    return red, green, blue


def kelvin_rgb(kelvin: float) -> Rgb:
    """Linear colour of a lamp of this temperature, its mean 1; Planck's curve at three bands."""
    bands = np.array([610.0, 545.0, 460.0]) * 1e-9
    power = 1 / (bands**5 * (np.exp(0.014388 / (bands * kelvin)) - 1))
    daylight = 1 / (bands**5 * (np.exp(0.014388 / (bands * 6504.0)) - 1))
    white = power / daylight
    red, green, blue = (float(v) for v in white / white.mean())
    return red, green, blue


@dataclass(frozen=True, slots=True)
class Paint:
    """How a surface looks: colour, depth of its wood grain, and gloss."""

    rgb: Rgb
    grain: float = 0.0
    gloss: float = 0.0


@dataclass(frozen=True, slots=True)
class Solid:
    """A box on the table, turned about the vertical and leaning a little."""

    centre_mm: Xyz
    size_mm: Xyz
    paint: Paint
    turn_deg: float = 0.0
    lean: tuple[float, float] = (0.0, 0.0)  # radians about x and about y
    bevel_mm: float = 0.8
    seed: int = 0

    def rotation(self) -> F64:
        """From the solid's own axes to the table's."""
        a = math.radians(self.turn_deg)
        b, c = self.lean
        z = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
        x = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
        y = np.array([[math.cos(c), 0, math.sin(c)], [0, 1, 0], [-math.sin(c), 0, math.cos(c)]])
        return np.asarray(x @ y @ z)

    def corners(self) -> F64:
        """Its eight corners on the table, (8, 3)."""
        signs = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)])
        own = signs * np.array(self.size_mm) / 2
        return np.asarray(own @ self.rotation().T + np.array(self.centre_mm))


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp; `rgb` is the light that falls on the middle of the board facing it."""

    at_mm: Xyz
    radius_mm: float
    rgb: Rgb


@dataclass(frozen=True, slots=True)
class Room:
    """Lamps, the light from everywhere else, and what stands behind the table."""

    name: str
    lamps: tuple[Lamp, ...]
    ambient: Rgb
    walls: tuple[Rgb, ...]
    people: tuple[Rgb, ...]

    @property
    def white(self) -> Rgb:
        """The light that falls on a sheet on the table."""
        total = np.array(self.ambient)
        for lamp in self.lamps:
            rise = lamp.at_mm[2] / float(np.linalg.norm(lamp.at_mm))
            total = total + np.array(lamp.rgb) * rise
        return float(total[0]), float(total[1]), float(total[2])


@dataclass(frozen=True, slots=True)
class Cover:
    """A surface by its pattern: the table's, or the board's top."""

    kind: str  # `wood`, `cloth`, `plain`, `speckled`
    rgb: Rgb
    second: Rgb  # darker grain, thread or speckle
    scale: float = 1.0
    gloss: float = 0.0


@dataclass(frozen=True, slots=True)
class BoardLook:
    """The board's top, its lines and its edge."""

    cover: Cover
    line: Rgb
    line_mm: float
    edge: Rgb
    thickness_mm: float
    pattern: str  # `lines`, `checks`, `tiles`, `corners`, `frame`, `strip`, `felt`, `recess`


@dataclass(frozen=True, slots=True)
class Sensor:
    """What a webcam does to light: its faults, and how it adjusts itself."""

    exposure: float  # mean brightness it strives for, of 1
    balance: float  # how much of the lamp's colour it takes away: 0 nothing, 1 all
    tint: Rgb  # its own error of white
    contrast: float
    vignette: float
    noise: float  # standard deviation in grey levels of 255
    blotch: float  # the same for coarse coloured noise
    blur_px: float
    sharpen: float
    jpeg: int
    lag_s: float  # how long its automatics take
    delay_s: float  # how late its frames are
    obeys: bool = False  # keeps exposure and white balance when told to
