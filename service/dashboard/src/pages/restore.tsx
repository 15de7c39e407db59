// Restore: the confirmed position, level by level, with what is missing and what is too much.
import { useMemo, useState } from "preact/hooks";
import { post, sessionPath } from "../api";
import { t } from "../i18n";
import { Chip, colourName, Problem, useTask } from "../parts/basics";
import { Board3D } from "../parts/board3d";
import { Icon } from "../parts/icons";
import { type Mark, unitsNotIn } from "../state";
import type { Me, PlayState, TableInfo } from "../types";

export function RestorePage({ info, state, me }: { info: TableInfo; state: PlayState; me: Me }) {
  const highest = Math.max(1, ...Object.values(state.confirmed).map((stack) => stack.length));
  const [level, setLevel] = useState(99);
  const upTo = Math.min(level, highest);
  const [problem, run, busy] = useTask();
  const missing = useMemo(() => unitsNotIn(state.confirmed, state.stacks), [state.confirmed, state.stacks]);
  const surplus = useMemo(() => unitsNotIn(state.stacks, state.confirmed), [state.confirmed, state.stacks]);
  const view = useMemo(() => {
    const shown = (marks: Mark[]) => marks.filter((mark) => mark.level <= upTo);
    return { stacks: state.stacks, upTo, missing: shown(missing), surplus: shown(surplus) };
  }, [state.stacks, state.confirmed, upTo]);
  const act = (what: string) => run(() => post(`${sessionPath(info.id)}/actions`, { do: what }));
  const mayTouch = me.role === "host" || me.role === "player";
  const same = missing.length + surplus.length === 0;
  return (
    <div class="play">
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


function MarkList({ info, title, marks, kind }: { info: TableInfo; title: string; marks: Mark[]; kind: string }) {
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
            {t("restore.unit", {
              colour: colourName(info.colours, mark.colour),
              cell: mark.cell,
              level: mark.level,
            })}
          </li>
        ))}
      </ul>
    </section>
  );
}
