// The board from above (a wall from the front): small, quick, and every cell a button.
import { useRef } from "preact/hooks";
import { t } from "../i18n";
import { usePrefs } from "../prefs";
import { marked, type Piece, piecesOf, unitsOf } from "../pieces";
import { cellName, cellOf, type Mark } from "../state";
import type { TableInfo } from "../types";
import { colourName, isBright, rgb } from "./basics";
import type { BoardView } from "./board3d";

interface Props {
  info: TableInfo;
  view: BoardView;
  onCell?: ((cell: string) => void) | undefined;
}

const SIDE = 40;

export function FlatBoard({ info, view, onCell }: Props) {
  const { columns, ranks, levels } = info.board;
  const wall = ranks === 1;
  const rows = wall ? levels : ranks;
  const grid = useRef<SVGSVGElement>(null);
  const { patterns } = usePrefs();
  const upTo = view.upTo ?? 99;
  const at = (marks: Mark[] = []) => new Set(marks.flatMap((mark) => placesOf(mark, wall)));
  const illegal = at([...(view.illegal ?? []), ...(view.surplus ?? [])]);
  const missing = at(view.missing);
  const legal = new Set(view.legal ?? []);
  const unsure = new Set(view.unsure ?? []);

  const move = (event: KeyboardEvent, file: number, row: number) => {
    const [dx, dy] =
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (dx === undefined || dy === undefined) {
      return;
    }
    event.preventDefault();
    grid.current?.querySelector<SVGElement>(`[data-at="${file + dx},${row + dy}"]`)?.focus();
  };

  // The lowest pieces first: what stands on them covers them.
  const pieces = (view.pieces ?? piecesOf(info, view.stacks)).filter((piece) => piece.level <= upTo);
  const places = [];
  const cells = [];
  for (let row = rows - 1; row >= 0; row--) {
    for (let file = 0; file < columns; file++) {
      const name = cellName(file, wall ? 0 : row);
      const spot = `${file},${row}`;
      const stack = (view.stacks[name] ?? "").slice(0, upTo);
      const top = wall ? (stack[row] ?? "") : stack.slice(-1);
      const shown = top === "." ? "" : top;
      const x = file * SIDE;
      const y = (rows - 1 - row) * SIDE;
      places.push(<rect key={`${x},${y}`} class="place" x={x + 1} y={y + 1} width={SIDE - 2} height={SIDE - 2} rx={5} />);
      const words = stack
        ? [...stack].map((letter) => (letter === "." ? "–" : colourName(info.colours, letter))).join(", ")
        : t("board.empty");
      cells.push(
        // biome-ignore lint/a11y: an SVG group that acts as a button
        <g
          key={spot}
          data-at={spot}
          role={onCell ? "button" : "img"}
          tabindex={onCell ? 0 : undefined}
          aria-label={t("board.cell", { cell: name, stack: unsure.has(name) ? `${words} (${t("board.unsure")})` : words })}
          class={`cell${onCell ? " tappable" : ""}`}
          transform={`translate(${x} ${y})`}
          onClick={() => onCell?.(name)}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === " ") {
              event.preventDefault();
              onCell?.(name);
            }
            move(event, file, row);
          }}
        >
          <rect class="hit" x={1} y={1} width={SIDE - 2} height={SIDE - 2} rx={5} />
          {shown && (
            <text
              x={SIDE / 2}
              y={SIDE / 2 + 6}
              text-anchor="middle"
              fill={isBright(info.colours[shown]) ? "#1b1206" : "#fff"}
            >
              {wall || stack.length < 2 ? shown : `${shown}${stack.length}`}
            </text>
          )}
          {illegal.has(spot) && (
            <rect class="mark-illegal" x={1} y={1} width={SIDE - 2} height={SIDE - 2} rx={5} fill="url(#flat-hatch)" />
          )}
          {missing.has(spot) && <rect class="mark-missing" x={4} y={4} width={SIDE - 8} height={SIDE - 8} rx={4} />}
          {unsure.has(name) && (!wall || row === Math.max(stack.length - 1, 0)) && (
            <Doubt x={SIDE - 9} y={9} r={8} />
          )}
          {legal.has(name) && (!wall || row === stack.length) && <circle class="mark-legal" cx={SIDE / 2} cy={SIDE / 2} r={8} />}
        </g>,
      );
    }
  }
  const files = Array.from({ length: columns }, (_, i) => String.fromCharCode(97 + i));
  return (
    <svg
      ref={grid}
      class="flat"
      viewBox={`${-SIDE * 0.7} -4 ${columns * SIDE + SIDE * 0.75} ${rows * SIDE + SIDE * 0.75}`}
      role="group"
      aria-label={t("board.flat")}
    >
      <Patterns />
      {places}
      {pieces.map((piece) => (
        <FlatPiece key={`${piece.cell}.${piece.level}`} info={info} piece={piece} rows={rows} patterns={patterns} />
      ))}
      {cells}
      {marked(view.last ?? [], pieces).map((piece) => (
        <rect key={`${piece.cell}.${piece.level}`} class="mark-last" {...placeOf(info, piece, rows, 1.5)} />
      ))}
      {files.map((file, i) => (
        <text key={file} class="edge" x={(i + 0.5) * SIDE} y={rows * SIDE + 20} text-anchor="middle">
          {file}
        </text>
      ))}
      {Array.from({ length: rows }, (_, row) => (
        <text key={row} class="edge" x={-8} y={(rows - row - 0.5) * SIDE + 6} text-anchor="end">
          {row + 1}
        </text>
      ))}
    </svg>
  );
}

// The places of the grid that a mark covers: cells from above, cells and levels of a wall.
function placesOf(mark: Mark | Piece, wall: boolean): string[] {
  const units = unitsOf({ extent: [1, 1, 1], ...mark });
  return units.map(([file, rank, level]) => (wall ? `${file},${level - 1}` : `${file},${rank}`));
}

interface PieceProps {
  info: TableInfo;
  piece: Piece;
  rows: number;
  patterns: boolean;
}

// Where a whole piece is drawn, from above or, of a wall, from the front.
function placeOf(info: TableInfo, { cell, level, extent }: Piece, rows: number, air: number) {
  const { file, rank } = cellOf(cell);
  const [bottom, high] = info.board.ranks === 1 ? [level - 1, extent[2]] : [rank, extent[1]];
  return {
    x: file * SIDE + air,
    y: (rows - bottom - high) * SIDE + air,
    width: extent[0] * SIDE - 2 * air,
    height: high * SIDE - 2 * air,
    rx: 4,
  };
}

function FlatPiece({ info, piece, rows, patterns }: PieceProps) {
  const { colour } = piece;
  const place = placeOf(info, piece, rows, 3);
  const index = Object.keys(info.colours).indexOf(colour);
  const ink = isBright(info.colours[colour]) ? "b" : "d";
  return (
    <g class="piece">
      <rect {...place} fill={rgb(info.colours[colour])} />
      {patterns && index > 0 && <rect {...place} fill={`url(#flat-${Math.min(index, 5)}${ink})`} />}
    </g>
  );
}

// A question mark where it is not certain what stands there.
export function Doubt({ x, y, r }: { x: number; y: number; r: number }) {
  return (
    <g class="mark-doubt" transform={`translate(${x} ${y}) scale(${r / 10})`}>
      <circle r={10} />
      <text y={5.5} text-anchor="middle">
        ?
      </text>
    </g>
  );
}

const INKS = { b: "rgba(40,25,0,0.35)", d: "rgba(255,255,255,0.42)" };

export function Patterns() {
  return (
    <defs>
      <pattern id="flat-hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="3.5" height="8" fill="#d61f1f" />
      </pattern>
      {Object.entries(INKS).map(([kind, ink]) => (
        <PatternSet key={kind} kind={kind} ink={ink} />
      ))}
    </defs>
  );
}

function PatternSet({ kind, ink }: { kind: string; ink: string }) {
  const space = { patternUnits: "userSpaceOnUse" } as const;
  return (
    <>
      <pattern id={`flat-1${kind}`} width="9" height="9" {...space} patternTransform="rotate(45)">
        <rect width="3" height="9" fill={ink} />
      </pattern>
      <pattern id={`flat-2${kind}`} width="11" height="11" {...space}>
        <circle cx="5.5" cy="5.5" r="2.5" fill={ink} />
      </pattern>
      <pattern id={`flat-3${kind}`} width="12" height="12" {...space}>
        <path d="M6 2v8M2 6h8" stroke={ink} stroke-width="2" />
      </pattern>
      <pattern id={`flat-4${kind}`} width="14" height="14" {...space}>
        <circle cx="7" cy="7" r="4" fill="none" stroke={ink} stroke-width="2" />
      </pattern>
      <pattern id={`flat-5${kind}`} width="12" height="8" {...space}>
        <path d="M0 4q3-4 6 0t6 0" fill="none" stroke={ink} stroke-width="2" />
      </pattern>
    </>
  );
}
