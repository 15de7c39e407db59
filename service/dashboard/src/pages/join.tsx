// For a device that nobody knows yet.
import { useState } from "preact/hooks";
import { post } from "../api";
import { t } from "../i18n";
import { Problem, useTask } from "../parts/basics";

export function JoinPage({ onJoined, problem: before }: { onJoined: () => void; problem: string }) {
  const [code, setCode] = useState("");
  const [problem, run, busy] = useTask();
  return (
    <div class="page narrow">
      <h1>{t("join.title")}</h1>
      <p>{t("join.why")}</p>
      <Problem text={before} />
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          run(async () => {
            await post("/pair", { code });
            onJoined();
          });
        }}
      >
        <label class="field">
          {t("join.code")}
          <input
            value={code}
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck={false}
            placeholder="ABCD-EFGH"
            onInput={(event) => setCode(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy || code.length < 8}>
          {t("join.pair")}
        </button>
        <Problem text={problem} />
      </form>
    </div>
  );
}
