// How a step of calibration went, in the page's language; what the program said is there to be unfolded.
import { useEffect, useState } from "preact/hooks";
import { has, listed, t } from "../i18n";
import type { TableInfo } from "../types";
import { colourName } from "./basics";

export interface Told {
  good: boolean;
  text: string;
  quality: string;
  method: string | null;
  error_mm: number | null;
  lens: string | null;
  percent: number | null;
  pictures: number | null;
  nearest: string[] | null;
}

type Step = "lens" | "pose" | "colours";

function words(info: TableInfo, step: Step, told: Told): string[] {
  const key = `quality.${step}.${told.quality}`;
  const found = [has(key) ? t(key) : t(told.good ? "cameras.done" : "cameras.failed")];
  if (step === "pose" && told.good) {
    const by = `method.${told.method}`;
    found.push(has(by) ? t(by) : "");
    if (told.error_mm !== null && told.quality !== "heights") {
      found.push(t("quality.error", { mm: told.error_mm.toFixed(1) }));
    }
    if (told.lens === "assumed" && ["heights", "usable"].includes(told.quality)) {
      found.push(t("quality.lensHelps"));
    }
  }
  if (step === "lens" && told.good) {
    found.push(t("quality.lensError", { percent: (told.percent ?? 0).toFixed(1), n: told.pictures ?? 0 }));
  }
  if (step === "colours" && told.quality !== "plenty" && told.nearest?.length === 2) {
    found.push(t("quality.alike", { colours: listed(told.nearest.map((one) => colourName(info.colours, one))) }));
  }
  return found.filter(Boolean);
}

const WELL = ["good", "heights", "usable", "plenty", "enough"];

export function Outcome({ info, step, told }: { info: TableInfo; step: Step; told: Told | null }) {
  const [first, ...rest] = told ? words(info, step, told) : [];
  return (
    <div aria-live="polite">
      {told && (
        <div class={`alert ${told.good && WELL.includes(told.quality) ? "good" : "owed"}`}>
          <p>
            <strong>{first}</strong> {rest.join(" ")}
          </p>
          {told.text && (
            <details>
              <summary>{t("quality.details")}</summary>
              <p class="told" lang="en">
                {told.text}
              </p>
            </details>
          )}
        </div>
      )}
    </div>
  );
}

// Something takes a while: how long it has taken so far shows that it goes on.
export function Waiting({ text }: { text: string }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="waiting" role="status">
      <progress aria-label={text} />
      <span>{text}</span> <span aria-hidden="true">{seconds} s</span>
    </div>
  );
}
