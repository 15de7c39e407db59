// Who plays, whose turn it is, how the score stands and how it came about.
import { t } from "../i18n";
import type { PlayState, TableInfo } from "../types";
import { Chip, playerName } from "./basics";
import { Icon } from "./icons";
import { plainNumber, scoreChange, signed, TurnMove } from "./turn";

export function ScoreCards({ info, state }: { info: TableInfo; state: PlayState }) {
  const winners = state.over ? [state.over.winner].flat() : [];
  return (
    <ul class="scores" aria-label={t("score.title")}>
      {info.players.map(({ id }) => {
        const moves = state.phase === "play" && state.next === id;
        return (
          <li key={id} class={`score${moves ? " moves" : ""}`}>
            <span class="who">
              {id in info.colours && <Chip colours={info.colours} letter={id} />}
              <span class="name">{playerName(info, id)}</span>
            </span>
            <strong class="points">{plainNumber(state.score[id] ?? 0)}</strong>
            <span class="turn-sign">
              {moves && (
                <>
                  <Icon name="play" /> {t("player.toMove")}
                </>
              )}
              {winners.includes(id) && (
                <>
                  <Icon name="check" /> {t("player.won")}
                </>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

// The score after each turn that stands, newest first, with what the turn changed.
export function ScoreHistory({ info, state }: { info: TableInfo; state: PlayState }) {
  const counts = new Map<string, number>();
  for (const stack of Object.values(state.confirmed)) {
    for (const letter of stack) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
  }
  const rows = state.turns
    .map((turn, i) => ({ turn, change: scoreChange(state.turns, i) }))
    .filter(({ turn }) => turn.legal || turn.kept)
    .reverse();
  return (
    <details class="card">
      <summary>{t("score.how")}</summary>
      <div class="scroll">
        <table>
          <caption class="unseen">{t("score.how")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("play.turns")}</th>
              {info.players.map(({ id }) => (
                <th scope="col" key={id}>
                  {playerName(info, id)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ turn, change }, i) => (
              <tr key={rows.length - i}>
                <th scope="row">
                  {turn.n}. <TurnMove info={info} turn={turn} />
                </th>
                {info.players.map(({ id }) => (
                  <td key={id}>
                    {plainNumber(turn.score[id] ?? 0)} <small>{signed(change[id] ?? 0)}</small>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">{t("score.now")}</p>
      <p class="hint">
        {t("score.onTable")}:{" "}
        {[...counts].map(([letter, n]) => (
          <span key={letter} class="count">
            <Chip colours={info.colours} letter={letter} /> {n}
          </span>
        ))}
      </p>
    </details>
  );
}
