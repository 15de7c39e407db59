// From the board to a camera's picture, in OpenCV's conventions (calibration.json).
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

// The four corners of a cell at a height in units, as an SVG points text; null if not in view.
export function cellOutline(
  model: CameraModel,
  board: BoardInfo,
  file: number,
  rank: number,
  level: number,
): string | null {
  const { pitch_mm: pitch, unit_mm: unit } = board;
  const x = (file + 0.5) * pitch;
  const y = (rank + 0.5) * pitch;
  const dx = (level ? unit[0] : pitch) / 2;
  const dy = (level ? unit[1] : pitch) / 2;
  const corners = [
    [-dx, -dy],
    [dx, -dy],
    [dx, dy],
    [-dx, dy],
  ].map(([ox, oy]) => project(model, x + ox!, y + oy!, level * unit[2]));
  return corners.every((corner) => corner !== null)
    ? corners.map((corner) => corner!.map((value) => value.toFixed(1)).join(",")).join(" ")
    : null;
}
