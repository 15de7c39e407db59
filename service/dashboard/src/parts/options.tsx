// What this device likes.
import { LANGUAGES, t, wantedLanguage } from "../i18n";
import { post } from "../api";
import { setPrefs, usePrefs, type Prefs } from "../prefs";
import type { Me } from "../types";
import { canSpeak } from "../voice";
import { Dialog, Problem, useTask } from "./basics";

export function OptionsDialog({ me, onClose }: { me: Me; onClose: () => void }) {
  const prefs = usePrefs();
  const [problem, run] = useTask();
  const themes: [Prefs["theme"], string][] = [
    ["auto", t("options.auto")],
    ["light", t("options.light")],
    ["dark", t("options.dark")],
  ];
  return (
    <Dialog title={t("options.title")} onClose={onClose}>
      <label class="field">
        {t("options.language")}
        <select value={wantedLanguage()} onChange={(event) => setPrefs({ language: event.currentTarget.value })}>
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        {t("options.theme")}
        <select
          value={prefs.theme}
          onChange={(event) => setPrefs({ theme: event.currentTarget.value as Prefs["theme"] })}
        >
          {themes.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={prefs.patterns}
          onChange={(event) => setPrefs({ patterns: event.currentTarget.checked })}
        />
        <span>
          {t("options.patterns")} <small class="hint">{t("options.patternsWhy")}</small>
        </span>
      </label>
      {canSpeak() ? (
        <label class="check">
          <input
            type="checkbox"
            checked={prefs.voice}
            onChange={(event) => setPrefs({ voice: event.currentTarget.checked })}
          />
          <span>{t("options.voice")}</span>
        </label>
      ) : (
        <p class="hint">{t("options.noVoice")}</p>
      )}
      <p class="hint">
        {t(`role.${me.role}`)} · Kiebitz {me.version}
      </p>
      {me.role !== "stranger" && (
        <button
          type="button"
          class="quiet"
          onClick={() =>
            run(async () => {
              await post("/leave");
              location.assign("/");
            })
          }
        >
          {t("options.leave")}
        </button>
      )}
      <Problem text={problem} />
    </Dialog>
  );
}
