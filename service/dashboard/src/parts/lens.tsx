// The lens, measured with a printed board that is held before the camera; pictures take themselves.
import { useEffect, useRef, useState } from "preact/hooks";
import { address, ask, post, sessionPath } from "../api";
import { t } from "../i18n";
import type { CameraInfo, TableInfo } from "../types";
import { Problem, useTask } from "./basics";
import { CameraPicture } from "./camera";
import { Icon } from "./icons";
import { Outcome, type Told, Waiting } from "./outcome";

interface LensState {
  fate: "kept" | "same" | "partial" | "blurred" | "glare" | "no-board" | "full";
  kept: number;
  enough: boolean;
  columns: number;
  covered: boolean[];
}

const PAUSE_MS = 700;
const WANTED = 8;
const BARE = { stacks: {}, pieces: [] };

export function LensStep({ info, camera }: { info: TableInfo; camera: CameraInfo }) {
  const [taking, setTaking] = useState(false);
  const [state, setState] = useState<LensState | null>(null);
  const [told, setTold] = useState<Told | null>(null);
  const [problem, run, busy] = useTask();
  const stopped = useRef(false);
  const path = `${sessionPath(info.id)}/cameras/${encodeURIComponent(camera.name)}/lens`;
  useEffect(() => () => {
    stopped.current = true;
  }, []);
  const take = () =>
    run(async () => {
      setTold(null);
      setTaking(true);
      stopped.current = false;
      try {
        while (!stopped.current) {
          const next = await post<LensState>(`${path}/pictures`, {});
          setState(next);
          if (next.fate === "full") {
            break;
          }
          await new Promise((done) => setTimeout(done, PAUSE_MS));
        }
      } finally {
        setTaking(false);
      }
    });
  const measure = () =>
    run(async () => {
      stopped.current = true;
      setTold(await post<Told>(path, {}));
    });
  const again = () =>
    run(async () => {
      await ask("DELETE", `${path}/pictures`);
      setState(null);
      setTold(null);
    });
  return (
    <div class="card">
      <h3>{camera.name}</h3>
      <div class="lens">
        <CameraPicture info={info} camera={camera} view={BARE} bare>
          {state && <Covered state={state} />}
        </CameraPicture>
        <div>
          <p aria-live="polite">
            {state
              ? `${t("lens.count", { n: state.kept, of: WANTED })} ${t(`lens.${state.fate}`)}`
              : t("lens.how")}
          </p>
          {state && (
            <meter min={0} max={WANTED} value={Math.min(WANTED, state.kept)} aria-label={t("lens.count", { n: state.kept, of: WANTED })} />
          )}
          <div class="buttons">
            {taking ? (
              <button
                type="button"
                onClick={() => {
                  stopped.current = true;
                }}
              >
                <Icon name="pause" /> {t("lens.stop")}
              </button>
            ) : (
              <button type="button" class={state?.enough ? "" : "primary"} disabled={busy} onClick={take}>
                <Icon name="camera" /> {t("lens.take")}
              </button>
            )}
            <button
              type="button"
              class={state?.enough ? "primary" : ""}
              disabled={(busy && !taking) || !state || state.kept < 4}
              onClick={measure}
            >
              {t("lens.measure")}
            </button>
            {state && !taking && (
              <button type="button" class="quiet" disabled={busy} onClick={again}>
                {t("lens.again")}
              </button>
            )}
          </div>
          {busy && !taking && <Waiting text={t("lens.measuring")} />}
          <Outcome info={info} step="lens" told={told} />
          <Problem text={problem} />
        </div>
      </div>
    </div>
  );
}

// Which parts of the picture the board has been in.
function Covered({ state }: { state: LensState }) {
  return (
    <div class="covered" style={{ gridTemplateColumns: `repeat(${state.columns}, 1fr)` }} aria-hidden="true">
      {state.covered.map((seen, i) => (
        <span key={i} class={seen ? "seen" : ""} />
      ))}
    </div>
  );
}

export function PrintOut({ info }: { info: TableInfo }) {
  return (
    <p>
      {t("lens.print")}{" "}
      <a href={address(`${sessionPath(info.id)}/mat.pdf?paper=a4`)} download="kiebitz-a4.pdf">
        A4
      </a>{" "}
      ·{" "}
      <a href={address(`${sessionPath(info.id)}/mat.pdf?paper=letter`)} download="kiebitz-letter.pdf">
        Letter
      </a>
    </p>
  );
}
