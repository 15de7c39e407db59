// The board from above (a wall from the front): small, quick, and every cell a button.
import { useRef } from "preact/hooks";
import { t } from "../i18n";
import { usePrefs } from "../prefs";
import { cellName } from "../state";
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
  const letters = Object.keys(info.colours);
  const upTo = view.upTo ?? 99;
  const illegal = new Set((view.illegal ?? []).map((mark) => mark.cell));
  const last = new Set((view.last ?? []).map((mark) => mark.cell));
  const missing = new Set((view.missing ?? []).map((mark) => mark.cell));
  const surplus = new Set((view.surplus ?? []).map((mark) => mark.cell));
  const legal = new Set(view.legal ?? []);

  const move = (event: KeyboardEvent, file: number, row: number) => {
    const [dx, dy] =
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (dx === undefined || dy === undefined) {
      return;
    }
    event.preventDefault();
    grid.current?.querySelector<SVGElement>(`[data-at="${file + dx},${row + dy}"]`)?.focus();
  };

  const cells = [];
  for (let row = rows - 1; row >= 0; row--) {
    for (let file = 0; file < columns; file++) {
      const name = cellName(file, wall ? 0 : row);
      const stack = (view.stacks[name] ?? "").slice(0, upTo);
      const top = wall ? (stack[row] ?? "") : stack.slice(-1);
      const shown = top === "." ? "" : top;
      const x = file * SIDE;
      const y = (rows - 1 - row) * SIDE;
      const words = stack
        ? [...stack].map((letter) => (letter === "." ? "–" : colourName(info.colours, letter))).join(", ")
        : t("board.empty");
      cells.push(
        // biome-ignore lint/a11y: an SVG group that acts as a button
        <g
          key={`${file},${row}`}
          data-at={`${file},${row}`}
          role={onCell ? "button" : "img"}
          tabindex={onCell ? 0 : undefined}
          aria-label={t("board.cell", { cell: name, stack: words })}
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
          <rect class="place" x={1} y={1} width={SIDE - 2} height={SIDE - 2} rx={5} />
          {shown && (
            <>
              <rect x={3} y={3} width={SIDE - 6} height={SIDE - 6} rx={4} fill={rgb(info.colours[shown])} />
              {patterns && letters.indexOf(shown) > 0 && (
                <rect
                  x={3}
                  y={3}
                  width={SIDE - 6}
                  height={SIDE - 6}
                  rx={4}
                  fill={`url(#flat-${Math.min(letters.indexOf(shown), 5)}${isBright(info.colours[shown]) ? "b" : "d"})`}
                />
              )}
              <text
                x={SIDE / 2}
                y={SIDE / 2 + 6}
                text-anchor="middle"
                fill={isBright(info.colours[shown]) ? "#1b1206" : "#fff"}
              >
                {wall || stack.length < 2 ? shown : `${shown}${stack.length}`}
              </text>
            </>
          )}
          {(illegal.has(name) || surplus.has(name)) && (
            <rect class="mark-illegal" x={1} y={1} width={SIDE - 2} height={SIDE - 2} rx={5} fill="url(#flat-hatch)" />
          )}
          {missing.has(name) && <rect class="mark-missing" x={4} y={4} width={SIDE - 8} height={SIDE - 8} rx={4} />}
          {last.has(name) && <rect class="mark-last" x={1.5} y={1.5} width={SIDE - 3} height={SIDE - 3} rx={5} />}
          {legal.has(name) && <circle class="mark-legal" cx={SIDE / 2} cy={SIDE / 2} r={8} />}
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
      {cells}
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
