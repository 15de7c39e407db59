"""Colours: fixed letters in records and events, names and looks that belong to the table."""

from __future__ import annotations

from rules.errors import UnknownName

# Typical looks under neutral light (red, green, blue); calibration replaces them by what it sees.
LOOKS: dict[str, tuple[int, int, int]] = {
    "red": (196, 40, 36),
    "orange": (228, 116, 32),
    "yellow": (240, 200, 48),
    "green": (48, 140, 72),
    "blue": (36, 84, 168),
    "purple": (112, 60, 140),
    "pink": (226, 130, 160),
    "brown": (110, 70, 44),
    "black": (36, 36, 38),
    "grey": (128, 128, 128),
    "white": (236, 236, 230),
    "natural": (214, 178, 126),
    "light": (224, 192, 144),
    "dark": (92, 58, 38),
}


def look(name: str) -> tuple[int, int, int]:
    """A typical look of a colour name as red, green, blue; raises UnknownName."""
    try:
        return LOOKS[name]
    except KeyError:
        raise UnknownName("colour", name, LOOKS) from None
