// Whole pieces: which units of the stacks belong together, by what was put down and what the box holds.
import { cellName, cellOf, type Mark } from "./state";
import type { Extent, Stacks, TableInfo, Turn } from "./types";

export interface Piece extends Mark {
  extent: Extent; // wide along the files, deep along the ranks, high; `cell` is the lowest left front one
}

const unitKey = (file: number, rank: number, level: number) => `${file},${rank},${level}`;

export function unitsOf(piece: Piece): [number, number, number][] {
  const { file, rank } = cellOf(piece.cell);
  const [wide, deep, high] = piece.extent;
  const units: [number, number, number][] = [];
  for (let z = 0; z < high; z++) {
    for (let y = 0; y < deep; y++) {
      for (let x = 0; x < wide; x++) {
        units.push([file + x, rank + y, piece.level + z]);
      }
    }
  }
  return units;
}

export const cellsOf = (piece: Piece): string[] => [
  ...new Set(unitsOf(piece).map(([file, rank]) => cellName(file, rank))),
];

// The extent of what a word of a turn names: `a1`, `a1~b1`, `a1^`, `a1:2x3x1`.
function extentOf(cell: string, other: string | undefined, upright: string | undefined, box: string | undefined): Extent {
  if (box) {
    return box.split("x").map(Number) as Extent;
  }
  if (other) {
    const [from, to] = [cellOf(cell), cellOf(other)];
    return [Math.abs(to.file - from.file) + 1, Math.abs(to.rank - from.rank) + 1, 1];
  }
  return upright ? [1, 1, 2] : [1, 1, 1];
}

function corner(cell: string, other: string | undefined): string {
  const [a, b] = [cellOf(cell), cellOf(other ?? cell)];
  return cellName(Math.min(a.file, b.file), Math.min(a.rank, b.rank));
}

const WORD = /^([+-])([a-z]\d+)(?:~([a-z]\d+)|(\^)|:(\dx\dx\d))?([A-Z?]?)$/;

// The longer pieces that turns have put down and that no later turn has taken away.
function putDown(start: Stacks, turns: Turn[]): Piece[] {
  let pieces: Piece[] = [];
  let stacks = start;
  for (const turn of turns) {
    const heights = new Map(Object.entries(stacks).map(([cell, stack]) => [cell, stack.length]));
    for (const word of turn.move.split(" ")) {
      const [, sign, cell, other, upright, box, colour] = WORD.exec(word) ?? [];
      if (!cell) {
        continue;
      }
      const extent = extentOf(cell, other, upright, box);
      const first = corner(cell, other);
      const covered = cellsOf({ cell: first, level: 1, colour: "", extent });
      const top = Math.max(...covered.map((one) => heights.get(one) ?? 0));
      const level = sign === "+" ? top + 1 : top - extent[2] + 1;
      const piece = { cell: first, level, colour: colour ?? "", extent };
      if (sign === "+") {
        pieces.push(piece);
      } else {
        pieces = pieces.filter((one) => !(one.cell === first && one.level === level && String(one.extent) === String(extent)));
      }
      for (const one of covered) {
        heights.set(one, sign === "+" ? top + extent[2] : level - 1);
      }
    }
    stacks = turn.stacks;
  }
  return pieces.filter((piece) => piece.extent.some((side) => side > 1));
}

// Every piece of a position. What turns tell is believed where it fits; where the box holds no
// single units, the rest is made up of the longest pieces that fit.
export function piecesOf(info: TableInfo, stacks: Stacks, start: Stacks = {}, turns: Turn[] = []): Piece[] {
  const left = new Map<string, string>();
  for (const [cell, stack] of Object.entries(stacks)) {
    const { file, rank } = cellOf(cell);
    [...stack].forEach((letter, i) => {
      if (letter !== ".") {
        left.set(unitKey(file, rank, i + 1), letter);
      }
    });
  }
  const pieces: Piece[] = [];
  const take = (piece: Piece): boolean => {
    const keys = unitsOf(piece).map((unit) => unitKey(...unit));
    if (!keys.every((key) => left.get(key) === piece.colour)) {
      return false;
    }
    for (const key of keys) {
      left.delete(key);
    }
    pieces.push(piece);
    return true;
  };
  for (const piece of putDown(start, turns.filter((turn) => !turn.taken_back))) {
    take(piece);
  }
  const units = [...left].map(([key, colour]) => ({ at: key.split(",").map(Number) as Extent, colour }));
  units.sort((a, b) => a.at[2] - b.at[2] || a.at[1] - b.at[1] || a.at[0] - b.at[0]);
  for (const { at, colour } of units) {
    const [file, rank, level] = at;
    if (left.has(unitKey(file, rank, level))) {
      const cell = cellName(file, rank);
      const known = info.pieces[colour] ?? [];
      const longer = known.some((extent) => extent.every((side) => side === 1)) ? [] : known;
      [...longer, [1, 1, 1] as Extent].some((extent) => take({ cell, level, colour, extent }));
    }
  }
  return pieces.sort((a, b) => a.level - b.level);
}

// The stacks that pieces make; a point is a place that is empty under something.
export function stacksOf(pieces: Piece[]): Stacks {
  const columns = new Map<string, string[]>();
  for (const piece of pieces) {
    for (const [file, rank, level] of unitsOf(piece)) {
      const cell = cellName(file, rank);
      const column = columns.get(cell) ?? [];
      column[level - 1] = piece.colour;
      columns.set(cell, column);
    }
  }
  return Object.fromEntries([...columns].map(([cell, column]) => [cell, Array.from(column, (one) => one ?? ".").join("")]));
}

// The pieces of which a unit is marked; a mark that belongs to none of them is a unit by itself.
export function marked(marks: Mark[], pieces: Piece[]): Piece[] {
  const owner = new Map<string, Piece>();
  for (const piece of pieces) {
    for (const unit of unitsOf(piece)) {
      owner.set(unitKey(...unit), piece);
    }
  }
  const found = marks.map((mark): Piece => {
    const { file, rank } = cellOf(mark.cell);
    return owner.get(unitKey(file, rank, mark.level)) ?? { ...mark, extent: [1, 1, 1] };
  });
  return [...new Set(found)];
}
