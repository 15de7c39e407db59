// The live picture of a camera, with the cells and what was read drawn over it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sessionPath, socketAddress } from "../api";
import { t } from "../i18n";
import { marked, piecesOf } from "../pieces";
import { cellOutline, cellRing, pieceFace, pieceOutline, project } from "../projection";
import { cellName, cellOf } from "../state";
import type { CameraInfo, TableInfo } from "../types";
import { rgb } from "./basics";
import type { BoardView } from "./board3d";
import { Doubt, Patterns } from "./flat";

interface Props {
  info: TableInfo;
  camera: CameraInfo;
  view: BoardView;
  trouble?: string | undefined;
  onCell?: ((cell: string) => void) | undefined;
  bare?: boolean; // nothing is drawn over the picture
  proof?: boolean; // the cells are drawn so that one sees whether they lie on the board
  children?: ComponentChildren;
}

export function CameraPicture({ info, camera, view, trouble, onCell, bare, proof, children }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const seen = useFrames(info.id, camera.name, canvas);
  const [width, height] = camera.size;
  return (
    <figure class="camera">
      <div class="picture" style={{ aspectRatio: `${width} / ${height}` }}>
        <canvas ref={canvas} width={width} height={height} role="img" aria-label={t("camera.picture", { camera: camera.name })} />
        {camera.model && !bare && <Overlay info={info} camera={camera} view={view} onCell={onCell} proof={proof ?? false} />}
        {children}
        {!seen && <p class="hint centre">{t("camera.none")}</p>}
      </div>
      <figcaption>
        {camera.name}
        {trouble && <strong class="badge bad">{trouble}</strong>}
      </figcaption>
    </figure>
  );
}

// Pictures come one by one: the next is sent when this one is drawn.
function useFrames(session: string, camera: string, canvas: { current: HTMLCanvasElement | null }): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    let ended = false;
    let timer = 0;
    let socket: WebSocket;
    const open = () => {
      const path = `${sessionPath(session)}/cameras/${encodeURIComponent(camera)}/frames`;
      socket = new WebSocket(socketAddress(path));
      socket.binaryType = "blob";
      socket.onmessage = async (message) => {
        try {
          const picture = await createImageBitmap(message.data as Blob);
          const target = canvas.current;
          if (target) {
            target.width = picture.width;
            target.height = picture.height;
            target.getContext("2d")?.drawImage(picture, 0, 0);
          }
          picture.close();
          setSeen(true);
        } catch {
          // a damaged picture is skipped
        }
        if (socket.readyState === WebSocket.OPEN) {
          socket.send("next");
        }
      };
      socket.onclose = () => {
        if (!ended) {
          timer = window.setTimeout(open, 2000);
        }
      };
    };
    open();
    return () => {
      ended = true;
      window.clearTimeout(timer);
      socket.close();
    };
  }, [session, camera]);
  return seen;
}

function Overlay({ info, camera, view, onCell, proof }: Props) {
  const model = camera.model!;
  const { board } = info;
  const [width, height] = camera.size;
  const corner = project(model, board.pitch_mm / 2, board.pitch_mm / 2, 0);
  const pieces = view.pieces ?? piecesOf(info, view.stacks);
  const names = Array.from({ length: board.columns * board.ranks }, (_, i) =>
    cellName(i % board.columns, Math.floor(i / board.columns)),
  );
  return (
    <svg class={`overlay${proof ? " proof" : ""}`} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <Patterns />
      {names.map((name) => (
        <polygon
          key={name}
          class="cell-line"
          points={cellOutline(model, board, name, 0) ?? undefined}
          onClick={() => onCell?.(name)}
        />
      ))}
      {proof && corner && (
        <text class="first-cell" x={corner[0]} y={corner[1]} font-size={width / 34} text-anchor="middle">
          a1
        </text>
      )}
      {pieces.map((piece) => (
        <polygon
          key={`${piece.cell}.${piece.level}`}
          class="read-line"
          stroke={rgb(info.colours[piece.colour])}
          points={pieceFace(model, board, piece) ?? undefined}
          onClick={() => onCell?.(piece.cell)}
        />
      ))}
      {(view.legal ?? []).flatMap((name) => {
        const ring = cellRing(model, board, name, view.stacks[name]?.length ?? 0) ?? undefined;
        return ["legal-rim", "legal-line"].map((kind) => <polygon key={`${kind}.${name}`} class={kind} points={ring} />);
      })}
      {(view.unsure ?? []).map((name) => {
        const { file, rank } = cellOf(name);
        const [x, y] = [(file + 0.5) * board.pitch_mm, (rank + 0.5) * board.pitch_mm];
        const at = project(model, x, y, (view.stacks[name]?.length ?? 0) * board.unit_mm[2]);
        return at && <Doubt key={`unsure.${name}`} x={at[0]} y={at[1]} r={width / 75} />;
      })}
      {(["last", "illegal"] as const).flatMap((kind) =>
        marked(view[kind] ?? [], pieces).map((piece) => (
          <polygon
            key={`${kind}.${piece.cell}.${piece.level}`}
            class={`${kind}-line`}
            {...(kind === "illegal" && { fill: "url(#flat-hatch)" })}
            points={pieceOutline(model, board, piece) ?? undefined}
          />
        )),
      )}
    </svg>
  );
}
