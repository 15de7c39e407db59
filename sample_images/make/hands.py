"""Somebody's hand that holds the lens board at one of its sides."""

import numpy as np

from vision.virtual.backdrop import Card
from vision.virtual.figures import SKINS, SLEEVES, Rod
from vision.virtual.values import Rgb

# Out from the side of the card, toward the camera, and thick: start, then end; in millimetres.
_SKIN = (
    ((20.0, 13.0, 10.5), (-6.0, 8.0, 7.5)),  # thumb
    ((52.0, 4.0, 19.0), (18.0, 12.0, 11.0)),
    ((20.0, -8.0, 24.0), (95.0, -6.0, 29.0)),  # palm
    ((90.0, -6.0, 26.0), (140.0, -10.0, 25.0)),
)
_SLEEVE = (
    ((128.0, -10.0, 33.0), (400.0, -30.0, 46.0)),
    ((400.0, -30.0, 46.0), (700.0, 20.0, 60.0)),
)


def holding(card: Card, rng: np.random.Generator) -> tuple[Rod, ...]:
    """A hand at the left or right side of a card; it covers little more than the rim."""
    right, down = np.array(card.right), np.array(card.down)
    rows, columns = card.picture.shape[:2]
    side = int(rng.integers(2))
    out = right if side else -right
    away = np.cross(right, down)
    edge = (
        np.array(card.corner_mm)
        + side * right * columns / card.px_per_mm
        + down * rows / card.px_per_mm * rng.uniform(0.35, 0.65)
    )

    def rods(name: str, parts: tuple[tuple[tuple[float, ...], ...], ...], rgb: Rgb) -> list[Rod]:
        made = []
        for ends in parts:
            (x0, y0, z0), (x1, y1, z1) = (edge + a * out - b * away for a, b, _ in ends)
            made.append(Rod(name, (x0, y0, z0), (x1, y1, z1), ends[0][2], ends[1][2], rgb))
        return made

    skin = SKINS[int(rng.integers(len(SKINS)))]
    sleeve = SLEEVES[int(rng.integers(len(SLEEVES)))]
    return (*rods("skin", _SKIN, skin), *rods("sleeve", _SLEEVE, sleeve))
