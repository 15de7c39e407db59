"""Meshes for the path tracer: boxes with rounded edges, capsules, flat sheets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.virtual.backdrop import BoardPose
from vision.virtual.values import F32, F64, Paint, Solid, f32

_SEGMENTS = 3
Faces = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles with normals and texture coordinates."""

    points: F32
    normals: F32
    uv: F32
    faces: Faces

    @staticmethod
    def joined(parts: Sequence["Mesh"]) -> "Mesh":
        """Several meshes as one."""
        offsets = np.cumsum([0, *(len(p.points) for p in parts[:-1])])
        return Mesh(
            np.concatenate([p.points for p in parts]),
            np.concatenate([p.normals for p in parts]),
            np.concatenate([p.uv for p in parts]),
            np.concatenate([p.faces + o for p, o in zip(parts, offsets, strict=True)]).astype(
                np.int32
            ),
        )

    def write(self, path: Path) -> Path:
        """As a binary PLY file."""
        names = ["x", "y", "z", "nx", "ny", "nz", "u", "v"]
        head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(self.points)}"]
        head += [f"property float {name}" for name in names]
        head += [f"element face {len(self.faces)}", "property list uchar int vertex_indices"]
        rows = np.concatenate([self.points, self.normals, self.uv], axis=1).astype("<f4")
        faces = np.empty(len(self.faces), dtype=[("n", "u1"), ("v", "<i4", 3)])
        faces["n"], faces["v"] = 3, self.faces
        with path.open("wb") as file:
            file.write(("\n".join([*head, "end_header"]) + "\n").encode())
            file.write(rows.tobytes())
            file.write(faces.tobytes())
        return path


def _grid(count: int) -> Faces:
    index = np.arange(count * count).reshape(count, count)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    return np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    ).astype(np.int32)


def box(solid: Solid, picture_mm: float) -> Mesh:
    """A box with rounded edges; its texture repeats every `picture_mm`, shifted by its seed."""
    half = np.array(solid.size_mm) / 2
    radius = min(solid.bevel_mm, 0.3 * float(half.min()))
    longest = int(np.argmax(half)) if half.max() > 1.2 * half.min() else solid.seed % 3
    shift = (solid.seed * 7919 % 1009 / 1009, solid.seed * 104729 % 997 / 997)
    faces = _grid(2 * _SEGMENTS + 2)
    parts = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u_axis, v_axis = (axis + 1) % 3, (axis + 2) % 3
            grid = np.empty((2 * _SEGMENTS + 2, 2 * _SEGMENTS + 2, 3))
            grid[..., axis] = sign * half[axis]
            grid[..., u_axis] = _steps(half[u_axis], radius)[None, :]
            grid[..., v_axis] = _steps(half[v_axis], radius)[:, None]
            own = grid.reshape(-1, 3)
            inner = np.clip(own, -(half - radius), half - radius)
            away = own - inner
            normal = away / np.linalg.norm(away, axis=1, keepdims=True)
            along = longest if longest != axis else u_axis
            across = 3 - along - axis
            uv = np.stack([own[:, along], own[:, across]], axis=1) / picture_mm + shift
            parts.append(
                Mesh(
                    f32(inner + radius * normal), f32(normal), f32(uv),
                    faces if sign > 0 else faces[:, ::-1].copy(),
                )
            )  # fmt: skip
    mesh = Mesh.joined(parts)
    turn = solid.rotation()
    return Mesh(
        f32(mesh.points @ turn.T + np.array(solid.centre_mm)),
        f32(mesh.normals @ turn.T),
        mesh.uv,
        mesh.faces,
    )


def _steps(half: float, radius: float) -> F64:
    """Coordinates along an edge, close together where it is round."""
    turn = np.tan(np.linspace(0, np.pi / 4, _SEGMENTS + 1))
    bow = radius * turn  # measured from where the rounding begins
    return np.concatenate([-(half - radius) - bow[::-1], (half - radius) + bow])


def sheet(corner: F64, right: F64, down: F64) -> Mesh:
    """A parallelogram seen from the side of `down` x `right`; u along right, v along down."""
    points = np.array([corner, corner + right, corner + right + down, corner + down])
    normal = np.cross(down, right)
    normal /= np.linalg.norm(normal)
    uv = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    return Mesh(
        f32(points), f32(np.repeat(normal[None], 4, 0)), f32(uv),
        np.array([[0, 2, 1], [0, 3, 2]], np.int32),
    )  # fmt: skip


def moved(mesh: Mesh, pose: BoardPose, middle: tuple[float, float]) -> Mesh:
    """A mesh carried along with the board."""
    turn = Solid((0, 0, 0), (1, 1, 1), Paint((1, 1, 1)), turn_deg=pose.turn_deg).rotation()
    about = np.array([*middle, 0.0])
    shift = np.array([*pose.shift_mm, 0.0])
    points = (mesh.points - about) @ turn.T + about + shift
    return Mesh(f32(points), f32(mesh.normals @ turn.T), mesh.uv, mesh.faces)


def capsule(start: F64, end: F64, first: float, last: float) -> Mesh:
    """A tapered rod with round ends."""
    axis = end - start
    long = float(np.linalg.norm(axis))
    axis = axis / long
    side = np.cross(axis, [0.3, 0.2, 0.9])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    around = np.linspace(0, 2 * np.pi, 25)
    rise = np.linspace(-np.pi / 2, np.pi / 2, 17)
    points, normals = [], []
    for angle in rise:
        foot, radius = (start, first) if angle < 0 else (end, last)
        flat = np.cos(around)[:, None] * side + np.sin(around)[:, None] * other
        normal = np.cos(angle) * flat + np.sin(angle) * axis
        points.append(foot + radius * normal)
        normals.append(normal)
    rows, columns = len(rise), len(around)
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    )
    flat_points = np.concatenate(points)
    uv = np.stack(np.meshgrid(around / 6.3, rise / 3.2), -1).reshape(-1, 2)
    return Mesh(f32(flat_points), f32(np.concatenate(normals)), f32(uv), faces.astype(np.int32))
