// Cameras of a table: see what they see, tell them where the board is, teach them the colours.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, sessionPath } from "../api";
import { t } from "../i18n";
import { cameraWord } from "../parts/alerts";
import { Chip, colourName, Problem, useTask } from "../parts/basics";
import { CameraPicture } from "../parts/camera";
import { Corners, type CornerPoint, startCorners } from "../parts/corners";
import { FlatBoard } from "../parts/flat";
import { Icon } from "../parts/icons";
import { InviteDialog } from "../parts/invite";
import { LensStep, PrintOut } from "../parts/lens";
import { Outcome, type Told, Waiting } from "../parts/outcome";
import type { CameraInfo, Me, PlayState, Stacks, TableInfo } from "../types";

export function CamerasPage({ info, state, me }: { info: TableInfo; state: PlayState; me: Me }) {
  const found = info.cameras.every((camera) => camera.model);
  const ready = found && info.cameras.every((camera) => !camera.needs);
  const host = me.role === "host";
  const virtual = info.cameras.every((camera) => camera.kind === "virtual");
  const missing = useRef<HTMLLIElement>(null);
  useEffect(() => missing.current?.scrollIntoView(), []);
  if (info.cameras.length === 0) {
    return (
      <div class="page">
        <h1>{t("cameras.title")}</h1>
        <p>{t("source.none")}</p>
        {host && (
          <a class="button" href="/games">
            <Icon name="camera" /> {t("games.tables")}
          </a>
        )}
      </div>
    );
  }
  return (
    <div class="page wide">
      <h1>{t("cameras.title")}</h1>
      {host && <p>{t("cameras.why")}</p>}
      {host && (
        <details class="card">
          <summary>{t("lens.title")}</summary>
          <p class="hint">{t("lens.why")}</p>
          <PrintOut info={info} />
          {info.cameras.map((camera) => (
            <LensStep key={camera.name} info={info} camera={camera} />
          ))}
        </details>
      )}
      <ol class="steps">
        <li>
          <Step n={1} title={t("cameras.pose")} done={found} />
          {(!virtual || !found) && <p class="hint">{t(virtual ? "cameras.poseVirtual" : "cameras.poseWhy")}</p>}
          <div class="cameras">
            {info.cameras.map((camera) => (
              <OneCamera key={camera.name} info={info} state={state} camera={camera} host={host} />
            ))}
          </div>
        </li>
        {host && (
          <li ref={found && !ready ? missing : undefined}>
            <Step n={2} title={t("cameras.colours")} done={ready} />
            <Colours info={info} ready={found} virtual={virtual} />
          </li>
        )}
        {ready && (
          <li>
            <h2>3 · {t("cameras.play")}</h2>
            {!virtual && <p class="hint">{t("phase.setupWhy")}</p>}
            <a class="button primary" href={`/t/${info.id}/play`}>
              <Icon name="play" /> {t("nav.play")}
            </a>
          </li>
        )}
      </ol>
    </div>
  );
}

function Step({ n, title, done }: { n: number; title: string; done: boolean }) {
  return (
    <h2>
      {n} · {title}{" "}
      {done ? (
        <span class="badge good">
          <Icon name="check" /> {t("cameras.ready")}
        </span>
      ) : (
        <span class="badge open">{t("cameras.todo")}</span>
      )}
    </h2>
  );
}

interface OneProps {
  info: TableInfo;
  state: PlayState;
  camera: CameraInfo;
  host: boolean;
}

function OneCamera({ info, state, camera, host }: OneProps) {
  const [corners, setCorners] = useState<CornerPoint[] | null>(null);
  const [told, setTold] = useState<Told | null>(null);
  const [invite, setInvite] = useState(false);
  const [problem, run, busy] = useTask();
  const trouble = state.cameras[camera.name]?.state;
  const path = `${sessionPath(info.id)}/cameras/${encodeURIComponent(camera.name)}/pose`;
  const find = (given: CornerPoint[] | null) =>
    run(async () => {
      setTold(null);
      const found = await post<Told>(path, given ? { corners: given } : {});
      setTold(found);
      setCorners(found.good || given ? null : startCorners(camera.size));
    });
  return (
    <section class="card">
      <CameraPicture
        info={info}
        camera={camera}
        view={{ stacks: {} }}
        proof
        trouble={trouble && !["back", "uncalibrated"].includes(trouble) && !camera.model ? cameraWord(trouble) : undefined}
      >
        {corners && <Corners size={camera.size} points={corners} onMove={setCorners} />}
        {!camera.model && !corners && <span class="guide" aria-hidden="true" />}
      </CameraPicture>
      {host && (
        <div class="buttons">
          {corners ? (
            <>
              <button type="button" class="primary" disabled={busy} onClick={() => find(corners)}>
                {t("cameras.take")}
              </button>
              <button type="button" onClick={() => setCorners(null)}>
                {t("app.close")}
              </button>
            </>
          ) : (
            <>
              <button type="button" class={camera.model ? "" : "primary"} disabled={busy} onClick={() => find(null)}>
                {t("cameras.find")}
              </button>
              <button type="button" disabled={busy} onClick={() => setCorners(startCorners(camera.size))}>
                {t("cameras.drag")}
              </button>
              {camera.kind === "phone" && (
                <button type="button" onClick={() => setInvite(true)}>
                  <Icon name="camera" /> {t("cameras.phone")}
                </button>
              )}
            </>
          )}
        </div>
      )}
      {corners && <p class="hint">{t("cameras.dragHow")}</p>}
      {busy && <Waiting text={t("cameras.finding")} />}
      <Outcome info={info} step="pose" told={told} />
      <Problem text={problem} />
      {invite && <InviteDialog info={info} camera={camera.name} onClose={() => setInvite(false)} />}
    </section>
  );
}

function Colours({ info, ready, virtual }: { info: TableInfo; ready: boolean; virtual: boolean }) {
  const [stacks, setStacks] = useState<Stacks>({});
  const [told, setTold] = useState<Told | null>(null);
  const [problem, run, busy] = useTask();
  const path = `${sessionPath(info.id)}/colours`;
  useEffect(() => run(async () => setStacks(await get<Stacks>(path))), [path]);
  return (
    <div class="card">
      <p>{t(virtual ? "cameras.coloursVirtual" : "cameras.coloursWhy")}</p>
      <div class="pieces-to-put">
        <FlatBoard info={info} view={{ stacks }} />
        <div>
          <ul>
            {Object.entries(stacks).map(([cell, stack]) => (
              <li key={cell}>
                <b>{cell}</b>{" "}
                {[...stack].map((letter, i) => (
                  <Chip key={i} colours={info.colours} letter={letter} />
                ))}{" "}
                {[...stack].map((letter) => colourName(info.colours, letter)).join(", ")}
              </li>
            ))}
          </ul>
          <button
            type="button"
            class="primary"
            disabled={busy || !ready}
            onClick={() => run(async () => setTold(await post<Told>(path, { stacks })))}
          >
            {t("cameras.learn")}
          </button>
          {busy && <Waiting text={t("cameras.learning")} />}
          <Outcome info={info} step="colours" told={told} />
          <Problem text={problem} />
        </div>
      </div>
    </div>
  );
}
