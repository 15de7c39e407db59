// The 3D board on the page: loaded when it is shown, with buttons and keys beside the mouse.
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { usePrefs } from "../prefs";
import { marked, type Piece, piecesOf } from "../pieces";
import type { Mark } from "../state";
import type { BoardScene } from "../three/scene";
import type { Stacks, TableInfo } from "../types";
import { FlatBoard } from "./flat";
import { Icon } from "./icons";

export interface BoardView {
  stacks: Stacks;
  pieces?: Piece[]; // those that the stacks are made of
  awaited?: Piece[]; // those that should stand there
  last?: Mark[];
  illegal?: Mark[];
  legal?: string[];
  missing?: Mark[];
  surplus?: Mark[];
  unsure?: string[];
  upTo?: number;
}

interface Props {
  info: TableInfo;
  view: BoardView;
  onCell?: ((cell: string) => void) | undefined;
  onScene?: (scene: BoardScene | null) => void;
}

const STEP = Math.PI / 12;

export function Board3D({ info, view, onCell, onScene }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const scene = useRef<BoardScene | null>(null);
  const tapped = useRef(onCell);
  tapped.current = onCell;
  const [state, setState] = useState<"loading" | "there" | "impossible">("loading");
  const { patterns } = usePrefs();
  const { id, board, colours } = info;

  useEffect(() => {
    let gone = false;
    import("../three/scene")
      .then(({ BoardScene: Scene }) => {
        if (!gone && host.current) {
          scene.current = new Scene(host.current, board, colours, (cell) => tapped.current?.(cell));
          setState("there");
          onScene?.(scene.current);
        }
      })
      .catch(() => setState("impossible"));
    return () => {
      gone = true;
      scene.current?.dispose();
      scene.current = null;
      onScene?.(null);
    };
  }, [id, board.columns, board.ranks]);

  useEffect(() => {
    const pieces = view.pieces ?? piecesOf(info, view.stacks);
    scene.current?.show({
      stacks: view.stacks,
      pieces,
      last: marked(view.last ?? [], pieces),
      illegal: marked(view.illegal ?? [], pieces),
      legal: view.legal ?? [],
      missing: marked(view.missing ?? [], view.awaited ?? []),
      surplus: marked(view.surplus ?? [], pieces),
      unsure: view.unsure ?? [],
      upTo: view.upTo ?? 99,
      patterns,
    });
  }, [view, patterns, state]);

  if (state === "impossible") {
    return (
      <>
        <p class="hint">{t("board.no3d")}</p>
        <FlatBoard info={info} view={view} onCell={onCell} />
      </>
    );
  }
  const keys: Record<string, () => void> = {
    ArrowLeft: () => scene.current?.turn(-STEP),
    ArrowRight: () => scene.current?.turn(STEP),
    ArrowUp: () => scene.current?.tilt(-STEP / 2),
    ArrowDown: () => scene.current?.tilt(STEP / 2),
    "+": () => scene.current?.zoom(0.85),
    "-": () => scene.current?.zoom(1.18),
    "0": () => scene.current?.reset(),
  };
  const buttons = [
    ["left", "board.turnLeft", "ArrowLeft"],
    ["right", "board.turnRight", "ArrowRight"],
    ["plus", "board.zoomIn", "+"],
    ["minus", "board.zoomOut", "-"],
    ["home", "board.reset", "0"],
  ] as const;
  return (
    <div class="board3d">
      <div
        class="stage"
        ref={host}
        role="application"
        tabIndex={0}
        aria-label={`${t("board.3d")}. ${t("board.help")}`}
        onKeyDown={(event) => {
          const action = keys[event.key];
          if (action) {
            event.preventDefault();
            action();
          }
        }}
      >
        {state === "loading" && <p class="hint centre">{t("board.loading3d")}</p>}
      </div>
      <div class="stage-buttons">
        {buttons.map(([icon, label, key]) => (
          <button key={key} type="button" class="round" title={t(label)} onClick={keys[key]}>
            <Icon name={icon} />
            <span class="unseen">{t(label)}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
