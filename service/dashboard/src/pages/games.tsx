// Tables and past games.
import { useEffect, useState } from "preact/hooks";
import { ask, get, post, sessionPath } from "../api";
import { t, when } from "../i18n";
import { Problem, useTask } from "../parts/basics";
import { Icon } from "../parts/icons";
import { go } from "../router";
import type { Me, SessionLine } from "../types";

// Tables that are set up, with their cameras.
function Tables() {
  const [tables, setTables] = useState<string[]>([]);
  const [problem, run, busy] = useTask();
  useEffect(() => run(async () => setTables(await get<string[]>("/tables"))), []);
  if (!tables.length) {
    return <Problem text={problem} />;
  }
  return (
    <section class="tables">
      <h2>{t("games.tables")}</h2>
      <div class="buttons">
        {tables.map((table) => (
          <button
            key={table}
            type="button"
            disabled={busy}
            onClick={() =>
              run(async () => go(`/t/${(await post<{ id: string }>(`/tables/${table}/open`)).id}/play`))
            }
          >
            <Icon name="camera" /> {table}
          </button>
        ))}
      </div>
      <Problem text={problem} />
    </section>
  );
}

export function GamesPage({ me }: { me: Me }) {
  const [games, setGames] = useState<SessionLine[] | null>(null);
  const [problem, run] = useTask();
  const load = () => run(async () => setGames(await get<SessionLine[]>("/sessions")));
  useEffect(load, []);
  const host = me.role === "host";
  return (
    <div class="page">
      <header class="row spread">
        <h1>{t("games.title")}</h1>
        {host && (
          <div class="buttons">
            <a class="button primary" href="/setup">
              <Icon name="plus" /> {t("nav.setup")}
            </a>
            <label class="button">
              <Icon name="save" /> {t("games.import")}
              <input
                class="unseen"
                type="file"
                accept=".kiebitz,application/zip"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0];
                  if (file) {
                    run(async () => {
                      const added = await ask<SessionLine>("POST", "/sessions/import", file);
                      go(`/t/${added.id}/replay`);
                    });
                  }
                }}
              />
            </label>
          </div>
        )}
      </header>
      <Problem text={problem} />
      {host && <Tables />}
      {games?.length === 0 && <p class="hint">{t("games.none")}</p>}
      <ul class="games">
        {games?.map((game) => (
          <li key={game.id} class="card">
            <div>
              <h2>
                {game.title ?? game.game} {game.name && game.name !== game.game && <small>{game.name}</small>}
              </h2>
              <p class="hint">
                {when(game.created)}
                {game.phase && ` · ${t(`phase.${game.phase}`)} · ${t("games.turns", { n: game.turns ?? 0 })}`}
                {game.live && <span class="badge open">{t("games.live")}</span>}
              </p>
            </div>
            <div class="buttons">
              <a class="button" href={`/t/${game.id}/${game.live || game.phase !== "over" ? "play" : "replay"}`}>
                {t("games.open")}
                <span class="unseen"> {game.name || game.id}</span>
              </a>
              {host && !game.live && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() =>
                    confirm(t("games.deleteAsk")) &&
                    run(async () => {
                      await ask("DELETE", sessionPath(game.id));
                      load();
                    })
                  }
                >
                  {t("games.delete")}
                  <span class="unseen"> {game.name || game.id}</span>
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
