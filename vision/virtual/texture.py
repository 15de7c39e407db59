"""Textures made of seeded noise: wood, cloth, speckles, and the tops of boards."""

from collections.abc import Mapping

import cv2
import numpy as np

from rules.cells import Cell
from rules.lattice import Board
from vision.virtual.values import F32, BoardLook, Cover, Rgb, f32

BOARD_PX_PER_MM = 4
_FINE = 2  # lines are drawn this much finer and then averaged


def fractal(rng: np.random.Generator, shape: tuple[int, int], cell: tuple[float, float]) -> F32:
    """Smooth noise about 0, of deviation 1, whose coarsest blobs have this height and width."""
    total = np.zeros(shape, np.float32)
    strength = 1.0
    height, width = cell
    for _ in range(4):
        rows, columns = (
            max(2, round(n / c) + 2) for n, c in zip(shape, (height, width), strict=True)
        )
        grid = rng.standard_normal((rows, columns)).astype(np.float32)
        total += strength * cv2.resize(grid, shape[::-1], interpolation=cv2.INTER_CUBIC)
        strength *= 0.6
        height, width = max(1.0, height / 2), max(1.0, width / 2)
    total -= total.mean()
    return np.asarray(total / max(1e-6, float(total.std())), dtype=np.float32)


def wood_grain(rng: np.random.Generator, shape: tuple[int, int], px_per_mm: float) -> F32:
    """Grain along the picture's width, about 0 and mostly within 1."""
    across = fractal(rng, shape, (26 * px_per_mm, 220 * px_per_mm))
    rows = np.linspace(0, shape[0] / px_per_mm / 5.0, shape[0], dtype=np.float32)[:, None]
    rings = np.sin(2 * np.pi * (rows + 0.8 * across))
    pores = fractal(rng, shape, (0.9 * px_per_mm, 22 * px_per_mm))
    return np.asarray(0.5 * rings + 0.3 * pores + 0.3 * across, dtype=np.float32)


def mixed(first: Rgb, second: Rgb, weight: F32) -> F32:
    """Two colours mixed by a weight a pixel, (height, width, 3)."""
    part = np.clip(weight, 0, 1)[..., None]
    return np.asarray(f32(first) * (1 - part) + f32(second) * part, dtype=np.float32)


def cover_picture(
    cover: Cover, rng: np.random.Generator, shape: tuple[int, int], px_per_mm: float
) -> F32:
    """The reflectance of a surface, (height, width, 3)."""
    scale = px_per_mm * cover.scale
    if cover.kind == "wood":
        weight = 0.45 + 0.32 * wood_grain(rng, shape, scale)
        plank = max(1, round(110 * scale))
        tone = rng.normal(0, 0.12, shape[0] // plank + 2).astype(np.float32)
        weight += np.repeat(tone, plank)[: shape[0], None]
        seams = (np.arange(shape[0]) + plank // 3) % plank < max(1.0, 0.7 * px_per_mm)
        weight[seams] += 0.5
    elif cover.kind == "cloth":
        folds = fractal(rng, shape, (160 * scale, 160 * scale))
        rows = np.sin(np.arange(shape[0], dtype=np.float32) * (2 * np.pi / max(2.2, 1.6 * scale)))
        columns = np.sin(
            np.arange(shape[1], dtype=np.float32) * (2 * np.pi / max(2.2, 1.6 * scale))
        )
        weave = 0.5 * (rows[:, None] + columns[None, :])
        weight = 0.35 + 0.2 * folds + 0.16 * weave
        weight += 0.1 * rng.standard_normal(shape).astype(np.float32)
    elif cover.kind == "speckled":
        spots = fractal(rng, shape, (5 * scale, 5 * scale))
        weight = 0.5 + 0.5 * np.tanh(3 * (spots - 0.6))
        weight += 0.12 * fractal(rng, shape, (90 * scale, 90 * scale))
    else:
        weight = 0.15 + 0.1 * fractal(rng, shape, (120 * scale, 120 * scale))
        weight += 0.05 * rng.standard_normal(shape).astype(np.float32)
    return mixed(cover.rgb, cover.second, np.asarray(weight, dtype=np.float32))


def _rectangle(mask: F32, scale: float, corners: tuple[float, float, float, float]) -> None:
    x0, y0, x1, y1 = (round(v * scale) for v in corners)
    mask[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = 1


def _outline(mask: F32, scale: float, box: tuple[float, float, float, float], wide: float) -> None:
    x0, y0, x1, y1 = box
    half = wide / 2
    for y in (y0, y1):
        _rectangle(mask, scale, (x0 - half, y - half, x1 + half, y + half))
    for x in (x0, x1):
        _rectangle(mask, scale, (x - half, y0 - half, x + half, y1 + half))


def board_picture(
    look: BoardLook,
    board: Board,
    rng: np.random.Generator,
    corners: Mapping[str, Rgb] | None = None,
) -> F32:
    """The reflectance of the board's top; row 0 is its front edge, column 0 its left one.

    `corners` names the start corner of each colour, such as `a1`; its far quarter shows symbols.
    """
    lattice = board.lattice
    left, front, right, back = board.margin_mm
    wide, deep, _ = lattice.size_mm
    scale = BOARD_PX_PER_MM * _FINE
    coarse = (
        round((front + deep + back) * BOARD_PX_PER_MM),
        round((left + wide + right) * BOARD_PX_PER_MM),
    )
    top = cover_picture(look.cover, rng, coarse, BOARD_PX_PER_MM)
    fine = (coarse[0] * _FINE, coarse[1] * _FINE)
    pitch = lattice.pitch_mm
    lines = np.zeros(fine, np.float32)
    fields = np.zeros(fine, np.float32)
    for cell in lattice.cells():
        x, y = left + cell.file * pitch, front + cell.rank * pitch
        box = (x, y, x + pitch, y + pitch)
        if look.pattern in ("lines", "corners", "strip"):
            _outline(lines, scale, box, look.line_mm)
        elif look.pattern == "tiles":
            _rectangle(fields, scale, (x + 0.8, y + 0.8, x + pitch - 0.8, y + pitch - 0.8))
        elif look.pattern == "checks" and (cell.file + cell.rank) % 2 == 0:
            _rectangle(fields, scale, box)
    if look.pattern == "checks":
        _outline(lines, scale, (left, front, left + wide, front + deep), look.line_mm)
    if look.pattern == "strip":
        _strip_marks(lines, scale, (left, front, wide, deep))
    for mask, colour, strength in ((fields, look.line, 0.55), (lines, look.line, 0.95)):
        if mask.any():
            part = cv2.resize(mask, coarse[::-1], interpolation=cv2.INTER_AREA)[..., None]
            top = top * (1 - strength * part) + f32(colour) * (strength * part)
    for name, rgb in (corners or {}).items():
        _corner(top, (left, front), board, Cell.parse(name), rgb)
    return np.asarray(top, dtype=np.float32)


def _strip_marks(mask: F32, scale: float, area: tuple[float, float, float, float]) -> None:
    left, front, wide, deep = area
    _outline(mask, scale, (2.0, 2.0, left * 2 + wide - 2.0, front * 2 + deep - 2.0), 0.8)
    for x in (left, left + wide):
        _rectangle(mask, scale, (x - 1.2, front - 6.0, x + 1.2, front))
        _rectangle(mask, scale, (x - 1.2, front + deep, x + 1.2, front + deep + 6.0))


def _corner(top: F32, at: tuple[float, float], board: Board, corner: Cell, rgb: Rgb) -> None:
    """Outlines the 2x2 of a start corner, draws rings in the quarter diagonally opposite."""
    lattice = board.lattice
    pitch, scale = lattice.pitch_mm, BOARD_PX_PER_MM
    column, rank = corner.file // 2 * 2, corner.rank // 2 * 2
    x, y = at[0] + column * pitch, at[1] + rank * pitch
    mask = np.zeros(top.shape[:2], np.float32)
    _outline(mask, scale, (x + 1.6, y + 1.6, x + 2 * pitch - 1.6, y + 2 * pitch - 1.6), 2.0)
    half = lattice.columns // 2, lattice.ranks // 2
    first = (half[0] if column == 0 else 0), (half[1] if rank == 0 else 0)
    for i in range(half[0]):
        for j in range(half[1]):
            centre = (
                (at[0] + (first[0] + i + 0.5) * pitch) * scale,
                (at[1] + (first[1] + j + 0.5) * pitch) * scale,
            )
            rows, columns = np.mgrid[: top.shape[0], : top.shape[1]].astype(np.float32)
            far = np.hypot(columns - centre[0], rows - centre[1]) / scale
            ring = np.clip(0.5 + scale * (0.9 - np.abs(far - 0.22 * pitch)), 0, 1)
            mask = np.maximum(mask, ring)
    part = mask[..., None] * 0.92
    top *= 1 - part
    top += f32(rgb) * part
