// The demo: watch another game, or leave the cameras and play on by hand.
import { useEffect, useState } from "preact/hooks";
import { ask, get, post, sessionPath } from "../api";
import { t } from "../i18n";
import type { TableInfo } from "../types";
import { Problem, useTask } from "./basics";

export function DemoBar({ info }: { info: TableInfo }) {
  const [games, setGames] = useState<Record<string, string>>({});
  const [problem, run, busy] = useTask();
  useEffect(() => run(async () => setGames(await get<Record<string, string>>("/demos"))), []);
  const watch = (game: string) =>
    run(async () => {
      await post(`/demos/${game}`, {});
      location.assign("/");
    });
  return (
    <span class="demo-bar">
      <label>
        <span class="unseen">{t("demo.game")}</span>
        <select value={info.game} disabled={busy} title={t("demo.game")} onChange={(event) => watch(event.currentTarget.value)}>
          {Object.entries(games).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {info.source === "none" ? (
        <button type="button" disabled={busy} onClick={() => watch(info.game)}>
          {t("demo.again")}
        </button>
      ) : (
        <button
          type="button"
          disabled={busy}
          onClick={() => run(() => ask("DELETE", `${sessionPath(info.id)}/follower`))}
        >
          {t("demo.playAlong")}
        </button>
      )}
      <Problem text={problem} />
    </span>
  );
}
