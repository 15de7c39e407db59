// Saying what really stands on a cell, piece by piece; everything after it is judged again.
import { useState } from "preact/hooks";
import { post, sessionPath } from "../api";
import { t } from "../i18n";
import { cellsOf, type Piece, stacksOf } from "../pieces";
import { cellOf } from "../state";
import type { Extent, PlayState, TableInfo } from "../types";
import { Chip, colourName, Dialog, Problem, useTask } from "./basics";

interface Props {
  info: TableInfo;
  state: PlayState;
  pieces: Piece[];
  cell: string;
  onClose: () => void;
}

const UNIT: Extent = [1, 1, 1];
const isUnit = (extent: Extent) => extent.every((side) => side === 1);

export function CorrectCell({ info, state, pieces, cell, onClose }: Props) {
  const [standing, setStanding] = useState(pieces);
  const [since, setSince] = useState("");
  const [problem, run, busy] = useTask();
  const byHand = info.source === "none"; // nobody else says what stands there
  const shapes = waysOf(info);
  const [shape, setShape] = useState(0);
  const stacks = stacksOf(standing);
  const stack = stacks[cell] ?? "";
  const top = standing.filter((piece) => cellsOf(piece).includes(cell)).sort(lowFirst).at(-1);
  const put = (colour: string) => fitting(info, standing, cell, shapes[shape] ?? UNIT, colour);
  const save = () =>
    run(async () => {
      const cells = [...new Set([...Object.keys(stacks), ...Object.keys(state.stacks)])];
      const changed = cells.filter((one) => (stacks[one] ?? "") !== (state.stacks[one] ?? ""));
      if (byHand) {
        await post(`${sessionPath(info.id)}/observations`, { stacks });
      } else if (changed.length || since) {
        const turn = since ? { turn: Number(since) } : {};
        const named = (changed.length ? changed : [cell]).map((one) => [one, stacks[one] ?? ""]);
        await post(`${sessionPath(info.id)}/corrections`, { cells: Object.fromEntries(named), ...turn });
      }
      onClose();
    });
  return (
    <Dialog title={t(byHand ? "correct.place" : "correct.title", { cell })} onClose={onClose}>
      <p class="hint">{t("correct.from")}</p>
      <p class="stack-edit" aria-live="polite">
        {stack ? (
          [...stack].map((letter, i) => (
            <span key={i}>
              <Chip colours={info.colours} letter={letter} />
              <span class="unseen">{colourName(info.colours, letter)} </span>
            </span>
          ))
        ) : (
          <em>{t("board.empty")}</em>
        )}
      </p>
      {shapes.length > 1 && (
        <label class="field">
          {t("correct.shape")}
          <select value={shape} onChange={(event) => setShape(Number(event.currentTarget.value))}>
            {shapes.map((extent, i) => (
              <option key={i} value={i}>
                {isUnit(extent) ? t("correct.unit") : extent.join(" × ")}
              </option>
            ))}
          </select>
        </label>
      )}
      <div class="buttons">
        {Object.keys(info.colours).map((letter) => {
          const piece = put(letter);
          return (
            <button
              key={letter}
              type="button"
              disabled={!piece}
              onClick={() => piece && setStanding([...standing, piece])}
            >
              <Chip colours={info.colours} letter={letter} />
              {t("correct.add", { colour: colourName(info.colours, letter) })}
            </button>
          );
        })}
      </div>
      <div class="buttons">
        <button type="button" disabled={!top} onClick={() => setStanding(standing.filter((piece) => piece !== top))}>
          {t("correct.remove")}
        </button>
        <button
          type="button"
          disabled={!top}
          onClick={() => setStanding(standing.filter((piece) => !cellsOf(piece).includes(cell)))}
        >
          {t("correct.clear")}
        </button>
      </div>
      {!byHand && (
        <label class="field">
          {t("correct.since")}
          <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
            <option value="">{t("correct.now")}</option>
            {state.turns
              .map((turn, i) => (
                <option key={i} value={turn.n}>
                  {t("correct.turn", { n: turn.n })}
                </option>
              ))
              .reverse()}
          </select>
        </label>
      )}
      {!byHand && <p class="hint">{t("correct.why")}</p>}
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" class="primary" disabled={busy} onClick={save}>
          {t("app.save")}
        </button>
      </div>
    </Dialog>
  );
}

const topOf = (piece: Piece) => piece.level + piece.extent[2] - 1;
const lowFirst = (a: Piece, b: Piece) => topOf(a) - topOf(b);

// Every way in which some piece of the game can lie or stand, a single unit first.
function waysOf(info: TableInfo): Extent[] {
  const ways = Object.values(info.pieces).flat();
  const different = [...new Map(ways.map((extent) => [extent.join(), extent])).values()];
  return different.length ? different.sort((a, b) => Number(isUnit(b)) - Number(isUnit(a))) : [UNIT];
}

// The piece put down with its lowest left front unit on a cell; null where it has no room.
function fitting(info: TableInfo, standing: Piece[], cell: string, extent: Extent, colour: string): Piece | null {
  const { file, rank } = cellOf(cell);
  const { columns, ranks, levels } = info.board;
  if (file + extent[0] > columns || rank + extent[1] > ranks) {
    return null;
  }
  const covered = new Set(cellsOf({ cell, level: 1, colour, extent }));
  const under = standing.filter((piece) => cellsOf(piece).some((one) => covered.has(one)));
  const piece = { cell, level: Math.max(0, ...under.map(topOf)) + 1, colour, extent };
  return topOf(piece) <= levels ? piece : null;
}
