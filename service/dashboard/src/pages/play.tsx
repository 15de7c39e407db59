// Play: the board, the score, whose turn it is, what is owed, what is wrong.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, post, sessionPath } from "../api";
import { t } from "../i18n";
import { Alerts, cameraWord, openBreach, tableNeeds } from "../parts/alerts";
import { colourName, playerName, Problem, useTask } from "../parts/basics";
import { Board3D, type BoardView } from "../parts/board3d";
import { CameraPicture } from "../parts/camera";
import { Cards, LayDown } from "../parts/cards";
import { CorrectCell } from "../parts/correct";
import { FlatBoard } from "../parts/flat";
import { Icon } from "../parts/icons";
import { ScoreCards, ScoreHistory } from "../parts/score";
import { TurnBadge, TurnMove } from "../parts/turn";
import { usePrefs, setPrefs } from "../prefs";
import { piecesOf } from "../pieces";
import { unitsNotIn } from "../state";
import type { LegalTurn, Me, PlayState, TableInfo } from "../types";
import { canSpeak } from "../voice";

interface Props {
  info: TableInfo;
  state: PlayState;
  me: Me;
}

type Shown = "3d" | "flat" | "camera";

export function PlayPage({ info, state, me }: Props) {
  const mayTouch = me.role === "host" || me.role === "player";
  const [shown, setShown] = useState<Shown>("3d");
  const [legal, setLegal, legalProblem] = useLegal(info, state);
  const [correcting, setCorrecting] = useState(false);
  const [cell, setCell] = useState<string | null>(null);
  const view = useBoardView(info, state, legal);
  const byHand = info.source === "none";
  const onCell = (correcting || byHand) && mayTouch ? setCell : undefined;
  return (
    <div class="play">
      <div class="scene">
        <BoardChoice info={info} shown={shown} onChoose={setShown} />
        {shown === "flat" && <FlatBoard info={info} view={view} onCell={onCell} />}
        {shown === "camera" && (
          <div class="cameras">
            {info.cameras.map((camera) => {
              const trouble = state.cameras[camera.name]?.state;
              return (
                <CameraPicture
                  key={camera.name}
                  info={info}
                  camera={camera}
                  view={view}
                  trouble={trouble && trouble !== "back" && trouble !== "realigned" ? cameraWord(trouble) : undefined}
                  onCell={onCell}
                />
              );
            })}
            <div class={`beside-camera${info.cameras.length % 2 ? "" : " alone"}`}>
              <Board3D info={info} view={view} onCell={onCell} />
            </div>
          </div>
        )}
        {shown === "3d" && <Board3D info={info} view={view} onCell={onCell} />}
        {correcting && <p class="hint now">{t("play.correctHow")}</p>}
        {byHand && mayTouch && <p class="hint">{t("play.byHand")}</p>}
        <PositionText info={info} state={state} />
      </div>
      <div class="side">
        <ScoreCards info={info} state={state} />
        <Alerts
          info={info}
          state={state}
          host={me.role === "host"}
          mayTouch={mayTouch}
          mayPass={me.role === "host" || (me.role === "player" && me.player === state.next)}
        />
        <Tools
          info={info}
          state={state}
          mayTouch={mayTouch}
          legal={legal !== null}
          onLegal={setLegal}
          legalProblem={legalProblem}
          correcting={correcting}
          onCorrect={(on) => {
            setCorrecting(on);
            if (on && shown === "camera" && !info.cameras.some((camera) => camera.model)) {
              setShown("flat");
            }
          }}
        />
        {mayTouch && info.cards && (me.role === "player" ? <Cards info={info} /> : <LayDown info={info} />)}
        <TurnList info={info} state={state} />
        <ScoreHistory info={info} state={state} />
      </div>
      {cell && (
        <CorrectCell
          info={info}
          state={state}
          pieces={view.pieces ?? []}
          cell={cell}
          onClose={() => {
            setCell(null);
            setCorrecting(false);
          }}
        />
      )}
    </div>
  );
}

// The cells of all legal turns while they are wanted; asked for anew whenever something has happened.
function useLegal(info: TableInfo, state: PlayState): [string[] | null, (on: boolean) => void, string] {
  const [on, setOn] = useState(false);
  const [cells, setCells] = useState<string[]>([]);
  const [problem, run] = useTask();
  const wanted = on && state.phase === "play";
  useEffect(() => {
    if (wanted) {
      run(async () => {
        const turns = await get<LegalTurn[]>(`${sessionPath(info.id)}/legal`);
        setCells([...new Set(turns.flatMap((turn) => turn.cells))]);
      });
    }
  }, [wanted, info.id, state.next, state.turns, state.confirmed]);
  return [wanted ? cells : null, setOn, problem];
}

function useBoardView(info: TableInfo, state: PlayState, legal: string[] | null): BoardView {
  return useMemo(() => {
    const turns = state.turns.filter((turn) => !turn.taken_back);
    const last = turns.at(-1);
    const before = turns.at(-2)?.stacks ?? state.start;
    const breach = openBreach(state);
    const changed = last ? unitsNotIn(last.stacks, before) : [];
    return {
      stacks: state.stacks,
      pieces: piecesOf(info, state.stacks, state.start, state.turns),
      last: breach ? [] : changed,
      illegal: breach ? changed : [],
      legal: legal ?? [],
      unsure: doubtful(state),
    };
  }, [state.stacks, state.turns, state.unsure, state.asks, legal]);
}

// Cells of which it is not certain what stands there, those that are asked about among them.
const doubtful = (state: PlayState): string[] => [
  ...new Set([...Object.keys(state.unsure), ...state.asks.flatMap((ask) => ask.cells)]),
];

function BoardChoice({ info, shown, onChoose }: { info: TableInfo; shown: Shown; onChoose: (shown: Shown) => void }) {
  const choices: [Shown, string][] = [
    ["3d", t("board.3d")],
    ["flat", t("board.flat")],
  ];
  if (info.cameras.length) {
    choices.push(["camera", t("board.camera")]);
  }
  return (
    <div class="segments" role="group" aria-label={t("board.title")}>
      {choices.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={shown === value} onClick={() => onChoose(value)}>
          {label}
        </button>
      ))}
    </div>
  );
}

interface ToolsProps {
  info: TableInfo;
  state: PlayState;
  mayTouch: boolean;
  legal: boolean;
  onLegal: (on: boolean) => void;
  legalProblem: string;
  correcting: boolean;
  onCorrect: (on: boolean) => void;
}

function Tools({ info, state, mayTouch, legal, onLegal, legalProblem, correcting, onCorrect }: ToolsProps) {
  const [problem, run, busy] = useTask();
  const { voice } = usePrefs();
  const act = (what: string) => run(() => post(`${sessionPath(info.id)}/actions`, { do: what }));
  const undo = () =>
    run(async () => {
      const now = await post<{ state: PlayState }>(`${sessionPath(info.id)}/actions`, { do: "undo" });
      if (info.source === "none") {
        // Nobody else takes the pieces away.
        await post(`${sessionPath(info.id)}/observations`, { stacks: now.state.confirmed });
      }
    });
  return (
    <div class="tools">
      {state.phase === "play" && (
        <button type="button" aria-pressed={legal} onClick={() => onLegal(!legal)}>
          <Icon name="ring" /> {t("play.legal")}
        </button>
      )}
      {mayTouch && (
        <>
          {state.phase === "setup" && !tableNeeds(info) && (
            <button type="button" class="primary" disabled={busy} onClick={() => act("start")}>
              <Icon name="play" /> {t("play.start")}
            </button>
          )}
          {state.turns.length > 0 && (
            <button
              type="button"
              disabled={busy}
              onClick={() => confirm(t("play.undoAsk")) && undo()}
            >
              <Icon name="undo" /> {t("play.undo")}
            </button>
          )}
          {info.source !== "none" && (
            <button type="button" aria-pressed={correcting} onClick={() => onCorrect(!correcting)}>
              <Icon name="pencil" /> {t("play.correct")}
            </button>
          )}
          {state.phase === "play" && (
            <button type="button" disabled={busy} onClick={() => act("pause")}>
              <Icon name="pause" /> {t("play.pause")}
            </button>
          )}
          {state.phase === "paused" && (
            <button type="button" class="primary" disabled={busy} onClick={() => act("resume")}>
              <Icon name="play" /> {t("play.resume")}
            </button>
          )}
        </>
      )}
      {canSpeak() && (
        <button type="button" aria-pressed={voice} onClick={() => setPrefs({ voice: !voice })}>
          <Icon name="speaker" /> {t("options.voice")}
        </button>
      )}
      <Problem text={problem || legalProblem} />
    </div>
  );
}

function TurnList({ info, state }: { info: TableInfo; state: PlayState }) {
  const turns = [...state.turns].reverse();
  return (
    <section class="card turns" aria-labelledby="turns-title">
      <h2 id="turns-title">{t("play.turns")}</h2>
      {turns.length === 0 && <p class="hint">{t("play.noTurns")}</p>}
      <ol reversed>
        {turns.map((turn, i) => (
          <li key={turns.length - i} class={turn.taken_back ? "taken-back" : ""}>
            <a href={`/t/${info.id}/replay?turn=${turn.n}`}>
              <span class="n">{turn.n}</span>
              <span class="by">{playerName(info, turn.player)}</span>
              <TurnMove info={info} turn={turn} />
              <TurnBadge turn={turn} />
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}

function PositionText({ info, state }: { info: TableInfo; state: PlayState }) {
  const stacks = Object.entries(state.stacks);
  return (
    <details class="position-text">
      <summary>{t("board.text")}</summary>
      {stacks.length === 0 ? (
        <p>{t("board.empty")}</p>
      ) : (
        <ul>
          {stacks.map(([cell, stack]) => (
            <li key={cell}>
              <b>{cell}</b>{" "}
              {[...stack].map((letter) => (letter === "." ? "–" : colourName(info.colours, letter))).join(", ")}
              {cell in state.unsure && ` (${t("board.unsure")})`}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
