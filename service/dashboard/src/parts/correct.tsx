// Saying what really stands on a cell; everything after it is judged again.
import { useState } from "preact/hooks";
import { post, sessionPath } from "../api";
import { t } from "../i18n";
import type { PlayState, TableInfo } from "../types";
import { Chip, colourName, Dialog, Problem, useTask } from "./basics";

interface Props {
  info: TableInfo;
  state: PlayState;
  cell: string;
  onClose: () => void;
}

export function CorrectCell({ info, state, cell, onClose }: Props) {
  const [stack, setStack] = useState(state.stacks[cell] ?? "");
  const [since, setSince] = useState("");
  const [problem, run, busy] = useTask();
  const byHand = info.source === "none"; // nobody else says what stands there
  const full = stack.length >= info.board.levels;
  const save = () =>
    run(async () => {
      if (byHand) {
        await post(`${sessionPath(info.id)}/observations`, { stacks: { ...state.stacks, [cell]: stack } });
      } else {
        const turn = since ? { turn: Number(since) } : {};
        await post(`${sessionPath(info.id)}/corrections`, { cells: { [cell]: stack }, ...turn });
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
      <div class="buttons">
        {Object.keys(info.colours).map((letter) => (
          <button key={letter} type="button" disabled={full} onClick={() => setStack(stack + letter)}>
            <Chip colours={info.colours} letter={letter} />
            {t("correct.add", { colour: colourName(info.colours, letter) })}
          </button>
        ))}
      </div>
      <div class="buttons">
        <button type="button" disabled={!stack} onClick={() => setStack(stack.slice(0, -1).replace(/\.+$/, ""))}>
          {t("correct.remove")}
        </button>
        <button type="button" disabled={!stack} onClick={() => setStack("")}>
          {t("correct.clear")}
        </button>
      </div>
      {!byHand && (
        <label class="field">
        {t("correct.since")}
        <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
          <option value="">{t("correct.now")}</option>
          {state.turns
            .map((turn) => (
              <option key={turn.n} value={turn.n}>
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
