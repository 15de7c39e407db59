// A player's own cards: entered on his phone, sent to nobody else.
import { useEffect, useState } from "preact/hooks";
import { ask, get, post, sessionPath } from "../api";
import { t } from "../i18n";
import type { TableInfo } from "../types";
import { Problem, useTask } from "./basics";

export function Cards({ info }: { info: TableInfo }) {
  const [cards, setCards] = useState<string[]>([]);
  const [text, setText] = useState("");
  const [problem, run, busy] = useTask();
  const path = `${sessionPath(info.id)}/cards`;
  useEffect(() => {
    run(async () => setCards((await get<{ cards: string[] }>(path)).cards));
  }, [path]);
  const save = (next: string[]) =>
    run(async () => setCards((await ask<{ cards: string[] }>("PUT", path, { cards: next })).cards));
  const claim = (card: string) =>
    run(async () => {
      await post(`${sessionPath(info.id)}/claims`, { card });
      save(cards.filter((one) => one !== card));
    });
  return (
    <details class="card cards">
      <summary>{t("cards.title")}</summary>
      <p class="hint">{t("cards.why")}</p>
      <ul>
        {cards.map((card) => (
          <li key={card}>
            <code>{card}</code>
            <button type="button" disabled={busy} onClick={() => claim(card)}>
              {t("cards.claim")}
            </button>
            <button type="button" class="quiet" onClick={() => save(cards.filter((one) => one !== card))}>
              {t("games.delete")}
            </button>
          </li>
        ))}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) {
            save([...cards, text.trim().toUpperCase()]);
            setText("");
          }
        }}
      >
        <label>
          {t("cards.add")}
          <input value={text} maxLength={40} placeholder="YB/RY" onInput={(e) => setText(e.currentTarget.value)} />
        </label>
        <button type="submit">{t("cards.add")}</button>
      </form>
      <p class="hint">{t("cards.form")}</p>
      <Problem text={problem} />
    </details>
  );
}
