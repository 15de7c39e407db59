// What needs attention: broken rules, what is owed, questions, cameras in trouble.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { post, sessionPath } from "../api";
import { has, listed, said, t } from "../i18n";
import { unitsNotIn } from "../state";
import type { Ask, Owed, PlayState, TableInfo, Turn } from "../types";
import { Chip, colourName, playerName, Problem, useTask } from "./basics";
import { Icon } from "./icons";
import { TurnMove } from "./turn";

export function openBreach(state: PlayState): Turn | null {
  const last = state.turns.at(-1);
  return last && !last.legal && !last.kept && !last.taken_back ? last : null;
}

export function owedInWords(info: TableInfo, owed: Owed): string[] {
  const name = playerName(info, owed.player);
  const cells = Object.keys(owed.cells);
  if (owed.what === "stack") {
    return Object.entries(owed.cells).map(([cell, n]) =>
      n === 1 ? t("owed.stackOne", { name, cell }) : t("owed.stackMany", { name, n, cell }),
    );
  }
  const key = owed.what === "bonus" ? "owed.bonus" : "owed.relocate";
  return [cells.length ? t(`${key}Cells`, { name, cells: listed(cells) }) : t(key, { name })];
}

// What the table still needs before anything can be read: nothing, if one camera can watch.
export function tableNeeds(info: TableInfo): "pose" | "colours" | "" {
  const { cameras } = info;
  if (!cameras.length || cameras.some((camera) => !camera.needs)) {
    return "";
  }
  return cameras.some((camera) => camera.needs === "pose") ? "pose" : "colours";
}

interface AlertsProps {
  info: TableInfo;
  state: PlayState;
  host: boolean;
  mayTouch: boolean;
  mayPass: boolean;
}

export function Alerts({ info, state, host, mayTouch, mayPass }: AlertsProps) {
  const breach = openBreach(state);
  const needs = tableNeeds(info);
  return (
    <div class="alerts">
      <div aria-live="assertive">{breach && <Breach info={info} turn={breach} mayTouch={mayTouch} />}</div>
      <div aria-live="polite">
        {!breach && state.phase === "play" && (
          <>
            <Debts info={info} title={t("owed.title")} owed={state.owed.filter((one) => one.what !== "bonus")} />
            <Debts info={info} title={t("owed.allowed")} owed={state.owed.filter((one) => one.what === "bonus")} />
          </>
        )}
        {state.may_pass && state.next && <Passing info={info} player={state.next} mine={mayPass} />}
        {state.asks.map((ask) => (
          <Question key={ask.cells.join()} info={info} ask={ask} mayTouch={mayTouch} />
        ))}
        <Doubts state={state} />
        {state.over && <Ending info={info} state={state} />}
        {needs && <SetUp info={info} needs={needs} host={host} />}
        {!needs && state.phase === "setup" && (
          <Notice
            title={t("phase.setup")}
            text={t(info.source === "none" ? "phase.setupByHand" : "phase.setupWhy", { start: t("play.start") })}
          />
        )}
        {state.phase === "paused" && (
          <Notice title={t("phase.paused")} text={t("phase.pausedWhy")}>
            {differs(state) && <a href={`/t/${info.id}/restore`}>{t("restore.differs")}</a>}
          </Notice>
        )}
        {Object.entries(state.cameras)
          .filter(([, { state: how }]) => !["back", "realigned", "uncalibrated"].includes(how))
          .map(([camera, trouble]) => (
            <p key={camera} class="alert camera-trouble">
              <Icon name="camera" /> {said(trouble) || t("camera.trouble", { camera, state: cameraWord(trouble.state) })}
            </p>
          ))}
        {!needs &&
          info.cameras
            .filter((camera) => camera.needs)
            .map(({ name }) => (
              <p key={name} class="alert camera-trouble">
                <Icon name="camera" /> {t("needs.some", { camera: name })}{" "}
                {host && <a href={`/t/${info.id}/cameras`}>{t("needs.go")}</a>}
              </p>
            ))}
      </div>
    </div>
  );
}

// What the open turn still needs; a bonus stands by itself, as it may be left alone.
function Debts({ info, title, owed }: { info: TableInfo; title: string; owed: Owed[] }) {
  if (!owed.length) {
    return null;
  }
  return (
    <section class="alert owed">
      <h2>{title}</h2>
      <ul>
        {owed.flatMap((one) =>
          owedInWords(info, one).map((words) => (
            <li key={words}>
              {one.player in info.colours && <Chip colours={info.colours} letter={one.player} />} {words}
            </li>
          )),
        )}
      </ul>
    </section>
  );
}

// What was read but is not certain, and what a later look has corrected.
function Doubts({ state }: { state: PlayState }) {
  const asked = state.asks.flatMap((ask) => ask.cells);
  const cells = Object.keys(state.unsure).filter((cell) => !asked.includes(cell));
  return (
    <>
      {cells.length > 0 && state.phase !== "over" && (
        <p class="alert unsure">
          <Icon name="help" /> {t("alert.unsure", { cells: listed(cells) })}
        </p>
      )}
      {state.corrected.length > 0 && (
        <p class="alert good">
          <Icon name="check" /> {t("alert.corrected", { cells: listed(state.corrected) })}
        </p>
      )}
    </>
  );
}

function SetUp({ info, needs, host }: { info: TableInfo; needs: "pose" | "colours"; host: boolean }) {
  return (
    <section class="alert">
      <h2>{t("needs.title")}</h2>
      <p>{t(host ? `needs.${needs}` : "needs.host")}</p>
      {host && (
        <a class="button primary" href={`/t/${info.id}/cameras`}>
          <Icon name="camera" /> {t(needs === "pose" ? "needs.go" : "cameras.learn")}
        </a>
      )}
    </section>
  );
}

export const cameraWord = (state: string): string => {
  const key = `camera.${state}`;
  return has(key) ? t(key) : state;
};

function Notice({ title, text, children }: { title: string; text: string; children?: ComponentChildren }) {
  return (
    <section class="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </section>
  );
}

const differs = ({ stacks, confirmed }: PlayState): boolean =>
  unitsNotIn(stacks, confirmed).length + unitsNotIn(confirmed, stacks).length > 0;

function Breach({ info, turn, mayTouch }: { info: TableInfo; turn: Turn; mayTouch: boolean }) {
  const [problem, run, busy] = useTask();
  return (
    <section class="alert breach">
      <h2>
        <Icon name="warn" /> {t("alert.illegalTurn", { n: turn.n, name: playerName(info, turn.player) })}
      </h2>
      <p>
        <TurnMove info={info} turn={turn} />
      </p>
      <ul>
        {turn.breaks.map((broken) => (
          <li key={broken.rule}>
            {said(broken)}{" "}
            <a href={`/rules/${info.game}?rule=${encodeURIComponent(broken.rule)}`}>{t("alert.rule")}</a>
          </li>
        ))}
      </ul>
      {mayTouch && !turn.final && (
        <>
          <p class="hint">{t("alert.takeBack")}</p>
          <button
            type="button"
            disabled={busy}
            onClick={() => run(() => post(`${sessionPath(info.id)}/actions`, { do: "keep" }))}
          >
            {t("alert.keep")}
          </button>
        </>
      )}
      <Problem text={problem} />
    </section>
  );
}

// The player to move has nothing to put down, or is asked for his cards: only he can say that he is done.
function Passing({ info, player, mine }: { info: TableInfo; player: string; mine: boolean }) {
  const [problem, run, busy] = useTask();
  const name = playerName(info, player);
  return (
    <section class="alert owed">
      <p>{t(info.cards ? "pass.cards" : "pass.stuck", { name })}</p>
      {mine && (
        <button
          type="button"
          disabled={busy}
          onClick={() => run(() => post(`${sessionPath(info.id)}/actions`, { do: "pass" }))}
        >
          {t(info.cards ? "pass.noCards" : "pass.pass")}
        </button>
      )}
      <Problem text={problem} />
    </section>
  );
}

function Question({ info, ask, mayTouch }: { info: TableInfo; ask: Ask; mayTouch: boolean }) {
  const [problem, run, busy] = useTask();
  const [picked, setPicked] = useState<Record<string, string>>({});
  // One piece may lie on all of the cells: half of an answer would be half a piece.
  const pick = (cell: string, stack: string) => {
    const cells = { ...picked, [cell]: stack };
    setPicked(cells);
    if (Object.entries(ask.choices).every(([one, choices]) => choices.includes(cells[one] ?? "-")))
      run(() => post(`${sessionPath(info.id)}/corrections`, { cells }));
  };
  return (
    <section class="alert question">
      <h2>{t("ask.title")}</h2>
      <p>{said(ask)}</p>
      {Object.entries(ask.choices).map(([cell, choices]) => (
        <fieldset key={cell} disabled={!mayTouch || busy}>
          <legend>{t("ask.which", { cell })}</legend>
          <div class="buttons">
            {choices.map((stack) => (
              <button
                key={stack}
                type="button"
                aria-pressed={picked[cell] === stack}
                onClick={() => pick(cell, stack)}
              >
                {stack
                  ? [...stack].map((letter, i) => (
                      <span key={i}>
                        <Chip colours={info.colours} letter={letter} />
                        <span class="unseen">{colourName(info.colours, letter)}</span>
                      </span>
                    ))
                  : t("ask.empty")}
              </button>
            ))}
          </div>
        </fieldset>
      ))}
      <Problem text={problem} />
    </section>
  );
}

function Ending({ info, state }: { info: TableInfo; state: PlayState }) {
  const winners = [state.over?.winner].flat().filter((id): id is string => !!id);
  const names = winners.map((id) => playerName(info, id));
  const title =
    names.length === 0
      ? t("over.draw")
      : names.length === 1
        ? t("over.won", { name: names[0]! })
        : t("over.wonMany", { names: listed(names) });
  return (
    <section class="alert ending">
      <h2>{title}</h2>
      <p>{state.over && said(state.over)}</p>
    </section>
  );
}
