// Task cards: a player's own are entered on his phone and sent to nobody else.
import { useEffect, useState } from "preact/hooks";
import { ask, get, post, sessionPath } from "../api";
import { t } from "../i18n";
import type { TableInfo } from "../types";
import { Chip, colourName, playerName, Problem, useTask } from "./basics";

const SIDE = 4;
const NAMED = 4; // a card names so many places
const EMPTY = Array.from({ length: SIDE }, () => ".".repeat(SIDE));

export function Cards({ info }: { info: TableInfo }) {
  const [cards, setCards] = useState<string[]>([]);
  const [problem, run, busy] = useTask();
  const path = `${sessionPath(info.id)}/cards`;
  useEffect(() => {
    run(async () => setCards((await get<{ cards: string[] }>(path)).cards));
  }, [path]);
  const save = async (next: string[]) =>
    setCards((await ask<{ cards: string[] }>("PUT", path, { cards: next })).cards);
  const without = (index: number) => cards.filter((_, i) => i !== index);
  return (
    <details class="card cards" open>
      <summary>{t("cards.title")}</summary>
      <p class="hint">{t("cards.why")}</p>
      <ul>
        {cards.map((card, i) => (
          <li key={`${card}.${i}`}>
            <SmallCard info={info} card={card} />
            <button
              type="button"
              disabled={busy}
              onClick={() =>
                run(async () => {
                  await post(`${sessionPath(info.id)}/claims`, { card });
                  await save(without(i));
                })
              }
            >
              {t("cards.claim")}
            </button>
            <button type="button" class="quiet" disabled={busy} onClick={() => run(() => save(without(i)))}>
              {t("games.delete")}
            </button>
          </li>
        ))}
      </ul>
      <DrawCard info={info} label={t("cards.add")} busy={busy} onCard={(card) => run(() => save([...cards, card]))} />
      <Problem text={problem} />
    </details>
  );
}

// The host lays cards down for players who have no phone with them.
export function LayDown({ info }: { info: TableInfo }) {
  const [player, setPlayer] = useState(info.players[0]?.id ?? "");
  const [problem, run, busy] = useTask();
  return (
    <details class="card cards">
      <summary>{t("cards.laid")}</summary>
      <label class="field">
        {t("cards.whose")}
        <select value={player} onChange={(event) => setPlayer(event.currentTarget.value)}>
          {info.players.map(({ id }) => (
            <option key={id} value={id}>
              {playerName(info, id)}
            </option>
          ))}
        </select>
      </label>
      <DrawCard
        info={info}
        label={t("cards.claim")}
        busy={busy}
        onCard={(card) => run(() => post(`${sessionPath(info.id)}/claims`, { player, card }))}
      />
      <Problem text={problem} />
    </details>
  );
}

interface DrawProps {
  info: TableInfo;
  label: string;
  busy: boolean;
  onCard: (card: string) => void;
}

function DrawCard({ info, label, busy, onCard }: DrawProps) {
  const [rows, setRows] = useState(EMPTY);
  const letters = [".", ...Object.keys(info.colours)];
  const full = rows.join("").replaceAll(".", "").length >= NAMED;
  const tap = (row: number, column: number) => {
    const now = rows[row]![column]!;
    const next = now === "." && full ? "." : letters[(letters.indexOf(now) + 1) % letters.length]!;
    setRows(rows.map((line, i) => (i === row ? line.slice(0, column) + next + line.slice(column + 1) : line)));
  };
  return (
    <>
      <p class="hint">{t("cards.draw")}</p>
      <div class="card-grid">
        {rows.flatMap((line, row) =>
          [...line].map((letter, column) => (
            <button
              key={`${row}.${column}`}
              type="button"
              aria-label={t("cards.row", {
                row: row + 1,
                column: column + 1,
                colour: letter === "." ? t("board.empty") : colourName(info.colours, letter),
              })}
              onClick={() => tap(row, column)}
            >
              {letter !== "." && <Chip colours={info.colours} letter={letter} />}
            </button>
          )),
        )}
      </div>
      <button
        type="button"
        class="primary"
        disabled={busy || !full}
        onClick={() => {
          onCard(trimmed(rows).join("/"));
          setRows(EMPTY);
        }}
      >
        {label}
      </button>
    </>
  );
}

// The rows and columns that name something, as a card is written: YB/RY.
function trimmed(rows: string[]): string[] {
  const named = rows.flatMap((line, i) => (/[^.]/.test(line) ? [i] : []));
  const columns = rows.flatMap((line) => [...line].flatMap((letter, i) => (letter === "." ? [] : [i])));
  const [first, last] = [Math.min(...columns), Math.max(...columns)];
  return rows.slice(named[0], named.at(-1)! + 1).map((line) => line.slice(first, last + 1));
}

export function SmallCard({ info, card }: { info: TableInfo; card: string }) {
  return (
    <span class="small-card" role="img" aria-label={t("cards.named", { card })}>
      {card.split("/").map((line, row) => (
        <span key={row} class="small-row">
          {[...line].map((letter, i) =>
            letter === "." ? <span key={i} class="chip none" /> : <Chip key={i} colours={info.colours} letter={letter} />,
          )}
        </span>
      ))}
    </span>
  );
}
