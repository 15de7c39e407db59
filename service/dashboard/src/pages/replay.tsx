// Replay: a slider through the game, with the pictures of each turn; to share and to keep.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, get, sessionPath } from "../api";
import { said, t } from "../i18n";
import { playerName, Problem, useTask } from "../parts/basics";
import { Board3D } from "../parts/board3d";
import { Icon } from "../parts/icons";
import { plainNumber, signed, scoreChange, TurnBadge, TurnMove, turnInWords } from "../parts/turn";
import { piecesOf } from "../pieces";
import { unitsNotIn } from "../state";
import type { BoardScene } from "../three/scene";
import type { PlayState, TableInfo } from "../types";
import { sharePicture } from "../share";

const STEP_MS = 1400;

export function ReplayPage({ info, state, at }: { info: TableInfo; state: PlayState; at: number | null }) {
  const { turns } = state;
  const [index, setIndex] = useState(() =>
    at === null ? turns.length : turns.findIndex((turn) => turn.n === at) + 1,
  );
  const [playing, setPlaying] = useState(false);
  const [problem, run] = useTask();
  const scene = useRef<BoardScene | null>(null);
  const shown = Math.min(Math.max(index, 0), turns.length);
  const turn = turns[shown - 1];

  useEffect(() => {
    if (!playing) {
      return;
    }
    if (shown >= turns.length) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => setIndex(shown + 1), STEP_MS);
    return () => clearTimeout(timer);
  }, [playing, shown, turns.length]);

  const view = useMemo(() => {
    const stacks = turn?.stacks ?? state.start;
    const before =
      turns
        .slice(0, Math.max(0, shown - 1))
        .filter((one) => !one.taken_back)
        .at(-1)?.stacks ?? state.start;
    const changed = turn ? unitsNotIn(stacks, before) : [];
    const bad = turn && !turn.legal;
    const pieces = piecesOf(info, stacks, state.start, [
      ...turns.slice(0, Math.max(0, shown - 1)).filter((one) => !one.taken_back),
      ...(turn ? [{ ...turn, taken_back: false }] : []),
    ]);
    return { stacks, pieces, last: bad ? [] : changed, illegal: bad ? changed : [] };
  }, [shown, turns, state.start]);

  const title = turn ? t("replay.position", { n: turn.n, of: turns.at(-1)?.n ?? 0 }) : t("replay.start");
  const share = () =>
    run(async () => {
      if (scene.current) {
        const words = turn ? `${playerName(info, turn.player)}: ${turnInWords(info, turn)}` : "";
        await sharePicture(scene.current.picture(), info, `${info.title} · ${title}`, words, turn?.score ?? {});
      }
    });
  const step = (to: number) => () => {
    setPlaying(false);
    setIndex(to);
  };
  const buttons = [
    ["first", "replay.first", step(0), shown === 0],
    ["left", "replay.previous", step(shown - 1), shown === 0],
    ["right", "replay.following", step(shown + 1), shown === turns.length],
    ["last", "replay.last", step(turns.length), shown === turns.length],
  ] as const;
  return (
    <div class="play with-slider">
      <div class="scene">
        <Board3D
          info={info}
          view={view}
          onScene={(made) => {
            scene.current = made;
          }}
        />
        <div class="player">
          <label class="field">
            <span aria-live="polite">{title}</span>
            <input
              type="range"
              min={0}
              max={turns.length}
              value={shown}
              aria-valuetext={title}
              onInput={(event) => step(Number(event.currentTarget.value))()}
            />
          </label>
          <div class="buttons centre">
            {buttons.slice(0, 2).map(([icon, label, action, off]) => (
              <RoundButton key={icon} icon={icon} label={t(label)} action={action} off={off} />
            ))}
            <RoundButton
              icon={playing ? "pause" : "play"}
              label={playing ? t("replay.stop") : t("replay.play")}
              action={() => {
                if (!playing && shown === turns.length) {
                  setIndex(0);
                }
                setPlaying(!playing);
              }}
              off={turns.length === 0}
            />
            {buttons.slice(2).map(([icon, label, action, off]) => (
              <RoundButton key={icon} icon={icon} label={t(label)} action={action} off={off} />
            ))}
          </div>
        </div>
      </div>
      <div class="side">
        <h1>{t("replay.title")}</h1>
        {turn && (
          <section class="card">
            <h2>
              {title} · {playerName(info, turn.player)}
            </h2>
            <p>
              <TurnMove info={info} turn={turn} /> <TurnBadge turn={turn} />
            </p>
            {turn.breaks.length > 0 && (
              <ul class="breaks">
                {turn.breaks.map((broken) => (
                  <li key={broken.rule}>{said(broken)}</li>
                ))}
              </ul>
            )}
            <p class="hint">
              {info.players
                .map(({ id }) => {
                  const change = scoreChange(turns, shown - 1)[id] ?? 0;
                  return `${playerName(info, id)}: ${plainNumber(turn.score[id] ?? 0)} (${signed(change)})`;
                })
                .join(" · ")}
            </p>
            <TurnPictures info={info} turn={turn.n} />
          </section>
        )}
        <div class="tools">
          <button type="button" onClick={share}>
            <Icon name="share" /> {t("replay.picture")}
          </button>
          <a class="button" href={address(`${sessionPath(info.id)}/export`)} download={`${info.id}.kiebitz`}>
            <Icon name="save" /> {t("replay.file")}
          </a>
          <a class="button" href={address(`${sessionPath(info.id)}/record`)} download={`${info.id}.txt`}>
            <Icon name="list" /> {t("replay.record")}
          </a>
        </div>
        <Problem text={problem} />
      </div>
    </div>
  );
}

interface RoundProps {
  icon: string;
  label: string;
  action: () => void;
  off: boolean;
}

function RoundButton({ icon, label, action, off }: RoundProps) {
  return (
    <button type="button" class="round" title={label} disabled={off} onClick={action}>
      <Icon name={icon} />
      <span class="unseen">{label}</span>
    </button>
  );
}

function TurnPictures({ info, turn }: { info: TableInfo; turn: number }) {
  const [cameras, setCameras] = useState<string[]>([]);
  const path = `${sessionPath(info.id)}/turns/${turn}/pictures`;
  useEffect(() => {
    let gone = false;
    get<string[]>(path).then(
      (found) => !gone && setCameras(found),
      () => !gone && setCameras([]),
    );
    return () => {
      gone = true;
    };
  }, [path]);
  if (!cameras.length) {
    return <p class="hint">{t("replay.noPictures")}</p>;
  }
  return (
    <>
      {cameras.map((camera) => (
        <img
          key={camera}
          class="turn-picture"
          src={address(`${path}/${encodeURIComponent(camera)}.jpg`)}
          alt={t("camera.picture", { camera })}
        />
      ))}
    </>
  );
}
