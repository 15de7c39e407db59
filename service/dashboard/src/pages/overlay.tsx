// A transparent scoreboard for streaming software.
import { useEffect } from "preact/hooks";
import { said, t } from "../i18n";
import { openBreach, owedInWords } from "../parts/alerts";
import { Chip, playerName } from "../parts/basics";
import { plainNumber, TurnMove } from "../parts/turn";
import type { PlayState, TableInfo } from "../types";

export function OverlayPage({ info, state }: { info: TableInfo; state: PlayState }) {
  useEffect(() => {
    document.documentElement.classList.add("see-through");
    return () => document.documentElement.classList.remove("see-through");
  }, []);
  const breach = openBreach(state);
  const last = state.turns.at(-1);
  return (
    <main class="overlay-page" aria-label={t("overlay.title")}>
      <ul>
        {info.players.map(({ id }) => (
          <li key={id} class={state.phase === "play" && state.next === id ? "moves" : ""}>
            {id in info.colours && <Chip colours={info.colours} letter={id} />}
            <span>{playerName(info, id)}</span>
            <strong>{plainNumber(state.score[id] ?? 0)}</strong>
          </li>
        ))}
      </ul>
      {breach ? (
        <p class="overlay-line breach">{breach.breaks.map(said).join(" ")}</p>
      ) : state.owed.length > 0 && state.phase === "play" ? (
        <p class="overlay-line">{state.owed.flatMap((owed) => owedInWords(info, owed)).join(" · ")}</p>
      ) : (
        last && (
          <p class="overlay-line">
            {last.n}. <TurnMove info={info} turn={last} />
          </p>
        )
      )}
    </main>
  );
}
