"""Quiet pictures from few samples: light is smoothed along surfaces, their colours are kept."""

import cv2
import numpy as np

from vision.virtual.values import F32, f32

_STEPS = (1, 2, 4, 8)
_TAPS = tuple(
    (j, i, a * b)
    for j, a in enumerate((0.25, 0.5, 0.25))
    for i, b in enumerate((0.25, 0.5, 0.25))
    if (j, i) != (1, 1)
)


def denoised(layers: F32) -> F32:
    """Linear red, green, blue of traced layers: colour, albedo, normal, depth (h, w, 10).

    The albedo is the same in every sample but at edges; divided by it, light is smooth, and an
    edge-avoiding wavelet that looks at albedo, normal, depth and light takes away the noise.
    """
    albedo = np.maximum(layers[..., 3:6], 0.02)
    guide = f32(np.concatenate([layers[..., 6:9], 0.35 * albedo], axis=-1))
    light = _without_sparks(f32(layers[..., 0:3] / albedo))
    for step in _STEPS:
        light = _smoothed(light, guide, f32(np.log(layers[..., 9] + 1.0)), step)
    return f32(light * albedo)


def _without_sparks(light: F32) -> F32:
    """Single samples far brighter than all around are held down."""
    around = cv2.medianBlur(light, 5)
    return f32(np.minimum(light, 2.0 * around + 0.1 * around.mean()))


def _smoothed(light: F32, guide: F32, depth: F32, step: int) -> F32:
    """One pass over neighbours so many elements away."""
    grey = cv2.GaussianBlur(cv2.transform(light, np.full((1, 3), 1 / 3)), (0, 0), 0.8)
    spread = 0.35 * cv2.GaussianBlur(grey, (0, 0), 3.0) / step + 1e-3
    height, width = grey.shape
    layers = [
        cv2.copyMakeBorder(layer, step, step, step, step, cv2.BORDER_REPLICATE)
        for layer in (light, guide, depth, f32(grey))
    ]
    total = 0.25 * light
    weights = np.full((height, width), 0.25, np.float32)
    for j, i, part in _TAPS:
        y, x = j * step, i * step
        there, bend, far, tone = (layer[y : y + height, x : x + width] for layer in layers)
        off = bend - guide
        against = 14.0 * np.einsum("hwc,hwc->hw", off, off)
        against += 50.0 * np.abs(far - depth) + np.abs(tone - grey) / spread
        weight = f32(part) * cv2.exp(-against)
        total += there * weight[..., None]
        weights += weight
    return f32(total / weights[..., None])
