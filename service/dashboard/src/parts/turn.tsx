// A turn in words and chips, the same in the list, in alerts and in speech.
import { listed, t } from "../i18n";
import { changesOf, isClaim } from "../state";
import type { TableInfo, Turn } from "../types";
import { Chip, colourName, playerName } from "./basics";
import { SmallCard } from "./cards";

export function turnInWords(info: TableInfo, turn: Turn): string {
  if (turn.move === "pass") {
    return t("turn.pass");
  }
  if (turn.move.startsWith("claim")) {
    return t("turn.claim", { card: turn.move.slice(6) });
  }
  const grouped = new Map<string, string[]>();
  for (const change of changesOf(turn.move)) {
    const key = change.add ? change.colour : "-";
    grouped.set(key, [...(grouped.get(key) ?? []), change.cells.join("–")]);
  }
  return [...grouped]
    .map(([key, cells]) =>
      key === "-"
        ? t("turn.took", { cells: listed(cells) })
        : t("turn.put", { colour: colourName(info.colours, key), cells: listed(cells) }),
    )
    .join("; ");
}

export function TurnMove({ info, turn }: { info: TableInfo; turn: Turn }) {
  if (isClaim(turn)) {
    return (
      <span class="move">
        {t("turn.card")} <SmallCard info={info} card={turn.move.slice(6)} />
      </span>
    );
  }
  const changes = changesOf(turn.move);
  if (!changes.length) {
    return <span>{turnInWords(info, turn)}</span>;
  }
  return (
    <span class="move">
      <span class="unseen">{turnInWords(info, turn)}</span>
      {changes.map((change, i) => (
        <span key={i} aria-hidden="true" class={change.add ? "put" : "took"}>
          {change.add ? "+" : "−"}
          {change.cells.join("–")}
          {change.shape && <small>{change.shape}</small>}
          {change.colour && <Chip colours={info.colours} letter={change.colour} />}
        </span>
      ))}
    </span>
  );
}

export function TurnBadge({ turn }: { turn: Turn }) {
  if (turn.taken_back) {
    return <span class="badge gone">{t("turn.takenBack")}</span>;
  }
  if (turn.kept) {
    return <span class="badge warn">{t("turn.kept")}</span>;
  }
  if (!turn.legal) {
    return <span class="badge bad">{t("turn.illegal")}</span>;
  }
  return turn.final ? null : <span class="badge open">{t("turn.open")}</span>;
}

export function scoreChange(turns: Turn[], index: number): Record<string, number> {
  const now = turns[index]?.score ?? {};
  const before = turns
    .slice(0, index)
    .filter((turn) => turn.legal || turn.kept)
    .at(-1)?.score;
  return Object.fromEntries(
    Object.entries(now).map(([player, points]) => [player, before ? points - (before[player] ?? 0) : 0]),
  );
}

export const plainNumber = (n: number): string => (n < 0 ? `−${-n}` : String(n));

export const signed = (n: number): string => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : "±0");

export function spokenTurn(info: TableInfo, turn: Turn): string {
  return `${playerName(info, turn.player)}: ${turnInWords(info, turn)}`;
}

