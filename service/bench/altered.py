"""Pictures in other light, and readers that lack an ingredient: what does each one bring?"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.colour_space import linear_light
from rules.errors import UnknownName
from vision.frame import ImageBGR
from vision.likelihood import CameraEye
from vision.reader import ReaderSettings
from vision.virtual.values import kelvin_rgb

USUAL_KELVIN = 4000.0
NEVER = 1e9  # rays that would be needed to change a colour

Lacking = Callable[[ReaderSettings, CameraEye], tuple[ReaderSettings, CameraEye]]


def _faces(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """All faces of a piece look the same."""
    colours = eye.colours
    mean = np.broadcast_to(colours.mean.mean(axis=1, keepdims=True), colours.mean.shape).copy()
    apart = colours.mean.std(axis=1, keepdims=True)
    wide = np.stack([apart[..., 0], apart[..., 1:].max(axis=2)], axis=2)
    spread = np.hypot(colours.spread, wide).astype(np.float32)
    return settings, replace(eye, colours=replace(colours, mean=mean, spread=spread))


def _background(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """No picture of the empty table."""
    return settings, replace(eye, empty=None)


def _light(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """No correction for light that changed."""
    return replace(settings, looks=replace(settings.looks, follows_light=False)), eye


def _contrast(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """Edges say nothing."""
    return replace(settings, looks=replace(settings.looks, edges=0.0)), eye


def _grain(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """The board's own texture says nothing."""
    return replace(settings, looks=replace(settings.looks, grain=0.0)), eye


def _places(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """Stacks and cameras are taken to stand exactly where they should."""
    nudge = replace(settings.nudge, deviation_mm=1e-4, off_mm=1e-4, warp=1e-7, lean=1e-7)
    return replace(settings, nudge=nudge), eye


def _adapting(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """Colours of pieces and shadows do not follow the picture."""
    adapt = replace(settings.adapt, calibrated=NEVER, guessed=NEVER, shadow=NEVER)
    return replace(settings, adapt=adapt), eye


def _shading(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """Every ray is in its own light."""
    return replace(settings, search=replace(settings.search, alike=math.inf)), eye


def _second_look(settings: ReaderSettings, eye: CameraEye) -> tuple[ReaderSettings, CameraEye]:
    """Answers are not compared as wholes, each in the light that it implies."""
    return replace(settings, second=replace(settings.second, taken=0)), eye


INGREDIENTS: Mapping[str, Lacking] = {
    "faces": _faces,
    "background": _background,
    "light": _light,
    "contrast": _contrast,
    "grain": _grain,
    "places": _places,
    "adapting": _adapting,
    "shading": _shading,
    "second look": _second_look,
}


@dataclass(frozen=True, slots=True)
class Altered:
    """What is other than usual while positions are read: the light, or a part of the reader."""

    without: str = ""
    stops: float = 0.0
    kelvin: float = 0.0

    def pictures(self, images: Mapping[str, ImageBGR]) -> dict[str, ImageBGR]:
        """The pictures in the other light."""
        return {n: in_other_light(image, self.stops, self.kelvin) for n, image in images.items()}


VARIANTS: Mapping[str, Altered] = {
    "nothing": Altered(),
    **{f"without {name}": Altered(without=name) for name in INGREDIENTS},
    "a stop brighter": Altered(stops=1.0),
    "a stop darker": Altered(stops=-1.0),
    "1,500 K colder": Altered(kelvin=1500.0),
    "1,500 K warmer": Altered(kelvin=-1500.0),
    "a stop darker, without light": Altered("light", stops=-1.0),
    "1,500 K warmer, without light": Altered("light", kelvin=-1500.0),
}


def without(
    name: str, eyes: Mapping[str, CameraEye]
) -> tuple[ReaderSettings, dict[str, CameraEye]]:
    """What a reader is made of that lacks one ingredient; with "" it lacks nothing."""
    settings = ReaderSettings()
    if not name:
        return settings, dict(eyes)
    if name not in INGREDIENTS:
        raise UnknownName("ingredient", name, INGREDIENTS)
    lacking = {camera: INGREDIENTS[name](settings, eye) for camera, eye in eyes.items()}
    settings = next((changed for changed, _ in lacking.values()), settings)
    return settings, {camera: eye for camera, (_, eye) in lacking.items()}


def in_other_light(image: ImageBGR, stops: float, kelvin: float) -> ImageBGR:
    """A picture as a camera with fixed settings takes it when the light changes.

    Twice as much light for each stop, and so many kelvin more (colder light) or less.
    """
    if not stops and not kelvin:
        return image
    colour = np.array(kelvin_rgb(USUAL_KELVIN + kelvin)) / np.array(kelvin_rgb(USUAL_KELVIN))
    gain = 2.0**stops * colour[::-1]
    byte = np.arange(256)
    # Linear light back to bytes, channel by channel, by the curve itself read backwards.
    curves = [np.interp(linear_light(byte) * g, linear_light(byte), byte) for g in gain]
    return np.stack(
        [np.round(curve).astype(np.uint8)[image[..., i]] for i, curve in enumerate(curves)], axis=2
    )
