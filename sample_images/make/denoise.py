"""Quiet pictures from few samples: light is smoothed along surfaces, their colours are kept."""

import cv2
import numpy as np

from vision.virtual.values import F32, f32

_STEPS = (1, 2, 4, 8)


def denoised(layers: F32) -> F32:
    """Linear red, green, blue of traced layers: colour, albedo, normal, depth (h, w, 10).

    The albedo is the same in every sample but at edges; divided by it, light is smooth, and an
    edge-avoiding wavelet that looks at normal, depth and light takes away the noise.
    """
    colour = layers[..., 0:3]
    albedo = np.maximum(layers[..., 3:6], 0.02)
    normal = layers[..., 6:9]
    depth = layers[..., 9]
    light = _without_sparks(f32(colour / albedo))
    for step in _STEPS:
        light = _smoothed(light, albedo, normal, depth, step)
    return f32(light * albedo)


def _without_sparks(light: F32) -> F32:
    """Single samples far brighter than all around are held down."""
    around = cv2.blur(light, (5, 5))
    return f32(np.minimum(light, 3.0 * around + 0.02))


def _smoothed(light: F32, albedo: F32, normal: F32, depth: F32, step: int) -> F32:
    kernel = (0.25, 0.5, 0.25)
    total = np.zeros_like(light)
    weights = np.zeros(light.shape[:2], np.float32)
    grey = light.mean(axis=-1)
    spread = 0.35 * cv2.GaussianBlur(grey, (0, 0), 3.0) / step + 1e-3
    height, width = grey.shape
    pad = step
    padded = [
        cv2.copyMakeBorder(layer, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
        for layer in (light, albedo, normal, depth, cv2.GaussianBlur(grey, (0, 0), 0.8))
    ]
    own_grey = padded[4][pad:-pad, pad:-pad]
    for j, row_weight in enumerate(kernel):
        for i, column_weight in enumerate(kernel):
            y, x = j * step, i * step
            there = [layer[y : y + height, x : x + width] for layer in padded]
            bend = np.einsum("hwc,hwc->hw", there[2], normal)
            weight = f32(row_weight * column_weight) * np.clip(bend, 0, 1) ** 24
            off = np.abs(there[1] - albedo).sum(-1)
            weight *= np.exp(-off * 2.0 - np.abs(there[3] - depth) / (0.02 * depth + 1e-3))
            weight *= np.exp(-np.abs(there[4] - own_grey) / spread)
            total += there[0] * weight[..., None]
            weights += weight
    return f32(
        np.where(weights[..., None] > 1e-6, total / np.maximum(weights, 1e-6)[..., None], light)
    )
