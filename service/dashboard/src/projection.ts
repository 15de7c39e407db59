// From the board to a camera's picture, in OpenCV's conventions (calibration.json).
import type { Piece } from "./pieces";
import { cellOf } from "./state";
import type { BoardInfo, CameraModel } from "./types";

export type Point = [number, number];

export function project(model: CameraModel, x: number, y: number, z: number): Point | null {
  const camera = model.rotation.map(
    (row, i) => row[0]! * x + row[1]! * y + row[2]! * z + model.translation_mm[i]!,
  );
  const depth = camera[2]!;
  if (depth <= 1) {
    return null; // behind the camera
  }
  const a = camera[0]! / depth;
  const b = camera[1]! / depth;
  const [k1 = 0, k2 = 0, p1 = 0, p2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0] = model.distortion;
  const r2 = a * a + b * b;
  const radial =
    (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)));
  const u = a * radial + 2 * p1 * a * b + p2 * (r2 + 2 * a * a);
  const v = b * radial + p1 * (r2 + 2 * b * b) + 2 * p2 * a * b;
  const [fx, skew, cx] = model.matrix[0]!;
  const [, fy, cy] = model.matrix[1]!;
  return [fx! * u + skew! * v + cx!, fy! * v + cy!];
}

type Corner = [number, number, number];

const asPoints = (points: (Point | null)[]): string | null =>
  points.every((point) => point !== null)
    ? points.map((point) => point!.map((value) => value.toFixed(1)).join(",")).join(" ")
    : null;

const square = (x: [number, number], y: [number, number], z: number): Corner[] => [
  [x[0], y[0], z],
  [x[1], y[0], z],
  [x[1], y[1], z],
  [x[0], y[1], z],
];

// A cell on the board, or on top of so many units, as an SVG points text; null if not in view.
export function cellOutline(model: CameraModel, board: BoardInfo, cell: string, level: number): string | null {
  const { file, rank } = cellOf(cell);
  const { pitch_mm: pitch, unit_mm: unit } = board;
  const corners = square([file * pitch, (file + 1) * pitch], [rank * pitch, (rank + 1) * pitch], level * unit[2]);
  return asPoints(corners.map((corner) => project(model, ...corner)));
}

const RING = Array.from({ length: 20 }, (_, i) => (i * Math.PI) / 10);

// A ring on a cell, or on top of so many units; of a wall on its front.
export function cellRing(model: CameraModel, board: BoardInfo, cell: string, level: number): string | null {
  const { file, rank } = cellOf(cell);
  const { pitch_mm: pitch, unit_mm: unit } = board;
  const far = 0.27 * pitch;
  const [x, y] = [(file + 0.5) * pitch, (rank + 0.5) * pitch];
  return asPoints(
    RING.map((angle) => {
      const [across, up] = [x + far * Math.cos(angle), far * Math.sin(angle)];
      return board.ranks === 1
        ? project(model, across, y - unit[1] / 2, (level + 0.5) * unit[2] + up)
        : project(model, across, y + up, level * unit[2]);
    }),
  );
}

function sides({ pitch_mm: pitch, unit_mm: unit }: BoardInfo, { cell, level, extent }: Piece) {
  const { file, rank } = cellOf(cell);
  const side = (first: number, long: number, own: number): [number, number] => [
    (first + 0.5) * pitch - own / 2,
    (first + long - 0.5) * pitch + own / 2,
  ];
  return {
    x: side(file, extent[0], unit[0]),
    y: side(rank, extent[1], unit[1]),
    z: [(level - 1) * unit[2], (level - 1 + extent[2]) * unit[2]] as [number, number],
  };
}

// The upper face of a piece; of a wall its front.
export function pieceFace(model: CameraModel, board: BoardInfo, piece: Piece): string | null {
  const { x, y, z } = sides(board, piece);
  const corners: Corner[] =
    board.ranks === 1
      ? [
          [x[0], y[0], z[0]],
          [x[1], y[0], z[0]],
          [x[1], y[0], z[1]],
          [x[0], y[0], z[1]],
        ]
      : square(x, y, z[1]);
  return asPoints(corners.map((corner) => project(model, ...corner)));
}

// The outline of a whole piece as the camera sees it.
export function pieceOutline(model: CameraModel, board: BoardInfo, piece: Piece): string | null {
  const { x, y, z } = sides(board, piece);
  const corners = [...square(x, y, z[0]), ...square(x, y, z[1])].map((corner) => project(model, ...corner));
  return corners.every((corner) => corner !== null) ? asPoints(hull(corners as Point[])) : null;
}

// The smallest convex outline around points, by going along its lower and its upper side.
function hull(points: Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const side = (among: Point[]): Point[] => {
    const found: Point[] = [];
    for (const point of among) {
      while (found.length > 1 && !bendsLeft(found.at(-2)!, found.at(-1)!, point)) {
        found.pop();
      }
      found.push(point);
    }
    return found.slice(0, -1);
  };
  return [...side(sorted), ...side(sorted.reverse())];
}

const bendsLeft = (a: Point, b: Point, c: Point): boolean =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0;
