// Restore: the confirmed position, level by level, with what is missing and what is too much.
import { useMemo, useState } from "preact/hooks";
import { post, sessionPath } from "../api";
import { t } from "../i18n";
import { Chip, colourName, Problem, useTask } from "../parts/basics";
import { Board3D } from "../parts/board3d";
import { Icon } from "../parts/icons";
import { marked, type Piece, piecesOf, unitsOf } from "../pieces";
import { cellName, unitsNotIn } from "../state";
import type { Me, PlayState, TableInfo, Turn } from "../types";

export function RestorePage({ info, state, me }: { info: TableInfo; state: PlayState; me: Me }) {
  const highest = Math.max(1, ...Object.values(state.confirmed).map((stack) => stack.length));
  const [level, setLevel] = useState(99);
  const upTo = Math.min(level, highest);
  const [problem, run, busy] = useTask();
  const { confirmed, stacks, start, turns } = state;
  const awaited = useMemo(() => piecesOf(info, confirmed, start, standing(turns)), [confirmed, turns]);
  const pieces = useMemo(() => piecesOf(info, stacks, start, turns), [stacks, turns]);
  const missing = useMemo(() => marked(unitsNotIn(confirmed, stacks), awaited), [awaited, stacks]);
  const surplus = useMemo(() => marked(unitsNotIn(stacks, confirmed), pieces), [pieces, confirmed]);
  const view = useMemo(() => {
    const shown = (marks: Piece[]) => marks.filter((mark) => mark.level <= upTo);
    return { stacks, upTo, pieces, awaited, missing: shown(missing), surplus: shown(surplus) };
  }, [pieces, awaited, upTo]);
  const act = (what: string) => run(() => post(`${sessionPath(info.id)}/actions`, { do: what }));
  const mayTouch = me.role === "host" || me.role === "player";
  const same = missing.length + surplus.length === 0;
  return (
    <div class="play with-slider">
      <div class="scene">
        <Board3D info={info} view={view} />
        <label class="field level">
          {upTo >= highest ? t("restore.all") : t("restore.level", { n: upTo })}
          <input
            type="range"
            min={1}
            max={highest}
            value={upTo}
            onInput={(event) => {
              const value = Number(event.currentTarget.value);
              setLevel(value === highest ? 99 : value);
            }}
          />
        </label>
        <p class="hint">{t("restore.legend")}</p>
      </div>
      <div class="side">
        <h1>{t("restore.title")}</h1>
        <div aria-live="polite">
          {same ? (
            <p class="alert good">
              <Icon name="check" /> {t("restore.same")}
            </p>
          ) : (
            <>
              <MarkList info={info} title={t("restore.missing")} marks={missing} kind="missing" />
              <MarkList info={info} title={t("restore.surplus")} marks={surplus} kind="surplus" />
              {state.phase === "play" && state.owed.length > 0 && <p class="hint">{t("restore.turn")}</p>}
            </>
          )}
        </div>
        {mayTouch && (
          <div class="tools">
            {state.phase === "play" && (
              <button type="button" disabled={busy} onClick={() => act("pause")}>
                <Icon name="pause" /> {t("play.pause")}
              </button>
            )}
            {state.phase === "paused" && (
              <button type="button" class="primary" disabled={busy || !same} onClick={() => act("resume")}>
                <Icon name="play" /> {t("play.resume")}
              </button>
            )}
          </div>
        )}
        <Problem text={problem} />
      </div>
    </div>
  );
}

const standing = (turns: Turn[]) => turns.filter((turn) => turn.legal || turn.kept);

function inWords(info: TableInfo, piece: Piece): string {
  const { colour, level, cell, extent } = piece;
  const words = { colour: colourName(info.colours, colour), level };
  if (extent.every((side) => side === 1)) {
    return t("restore.unit", { ...words, cell });
  }
  const [file, rank] = unitsOf(piece).at(-1)!;
  const far = cellName(file, rank);
  const cells = far === cell ? cell : `${cell}–${far}`;
  return t("restore.piece", { ...words, cells, size: extent.join(" × ") });
}

function MarkList({ info, title, marks, kind }: { info: TableInfo; title: string; marks: Piece[]; kind: string }) {
  if (!marks.length) {
    return null;
  }
  return (
    <section class={`card marks ${kind}`}>
      <h2>
        {title} ({marks.length})
      </h2>
      <ul>
        {marks.map((mark) => (
          <li key={`${mark.cell}.${mark.level}`}>
            <Chip colours={info.colours} letter={mark.colour} />{" "}
            {inWords(info, mark)}
          </li>
        ))}
      </ul>
    </section>
  );
}
