// Set-up assistant: which game, who plays, and off it goes.
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import { colourWord, said, t } from "../i18n";
import { capital, Chip, Problem, useTask } from "../parts/basics";
import { Icon } from "../parts/icons";
import { go } from "../router";
import type { GameInfo, TableInfo } from "../types";
import { GameSign, peopleOf, ruling, valuesOf } from "./rules";

type Value = string | number | boolean;

interface Draft {
  game: GameInfo | null;
  name: string;
  players: { id: string; name: string }[];
  first: string;
  columns: number;
  ranks: number;
  rules: Record<string, Value>;
  cameras: { source: string; clock: number }[];
}

const SOURCE = /^(\d{1,2}|phone|virtual:[a-z]+|(https?|rtsps?):\/\/\S{3,300})$/;

const EMPTY: Draft = { game: null, name: "", players: [], first: "", columns: 0, ranks: 0, rules: {}, cameras: [] };

export function SetupPage() {
  const [games, setGames] = useState<GameInfo[]>([]);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [step, setStep] = useState(0);
  const [problem, run, busy] = useTask();
  useEffect(() => run(async () => setGames(await get<GameInfo[]>("/games"))), []);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const choose = (game: GameInfo) => {
    const people = game.players.slice(0, Math.max(Math.min(2, game.players.length), game.fewest_players));
    change({
      game,
      players: people.map((id) => ({ id, name: "" })),
      first: people[0] ?? "",
      columns: game.board.columns,
      ranks: game.board.ranks,
      rules: {},
    });
    setStep(1);
  };
  const described = () => {
    const { game, name, players, first, columns, ranks, rules } = draft;
    const board = game && game.sizes[0] < game.sizes[1] ? { board: { columns, ranks } } : {};
    return { game: game?.name, name, players, first, rules, ...board };
  };
  const begin = () =>
    run(async () => {
      const bad = draft.cameras.find(({ source }) => !SOURCE.test(source));
      if (bad) {
        throw new Error(t("setup.badAddress", { source: bad.source }));
      }
      if (draft.cameras.length) {
        const cameras = Object.fromEntries(
          draft.cameras.map(({ source, clock }, i) => [`camera-${i + 1}`, { source, clock }]),
        );
        const folder = folderName(draft, await get<string[]>("/tables"));
        const made = await post<TableInfo>("/tables", { ...described(), folder, cameras });
        go(`/t/${made.id}/cameras`);
      } else {
        const made = await post<TableInfo>("/sessions", described());
        go(`/t/${made.id}/play`);
      }
    });
  return (
    <div class="page">
      <h1>{t("setup.title")}</h1>
      <p class="hint">{t("setup.step", { n: step + 1, of: 3 })}</p>
      {step === 0 && <ChooseGame games={games} onChoose={choose} />}
      {step > 0 && draft.game && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (step === 1) {
              setStep(2);
            } else {
              begin();
            }
          }}
        >
          {step === 1 ? (
            <>
              <People game={draft.game} draft={draft} change={change} />
              <Board game={draft.game} draft={draft} change={change} />
              <House game={draft.game} draft={draft} change={change} />
              <label class="field">
                {t("setup.named")}
                <input maxLength={60} value={draft.name} onInput={(e) => change({ name: e.currentTarget.value })} />
              </label>
            </>
          ) : (
            <Eyes game={draft.game} draft={draft} change={change} />
          )}
          <div class="buttons">
            <button type="button" onClick={() => setStep(step - 1)}>
              {t("app.back")}
            </button>
            <button type="submit" class="primary" disabled={busy}>
              {step === 1 ? (
                t("app.next")
              ) : (
                <>
                  <Icon name="play" /> {t("setup.begin")}
                </>
              )}
            </button>
          </div>
        </form>
      )}
      <Problem text={problem} />
    </div>
  );
}

// What the table's folder is called: what the host calls it, else the game; numbered where that is taken.
function folderName({ name, game }: Draft, taken: string[]): string {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 24);
  const wish = plain.replace(/^-+|-+$/g, "") || game?.name || "table";
  const free = [wish, ...taken.map((_, i) => `${wish}-${i + 2}`)];
  return free.find((one) => !taken.includes(one)) ?? wish;
}

function ChooseGame({ games, onChoose }: { games: GameInfo[]; onChoose: (game: GameInfo) => void }) {
  return (
    <>
      <h2>{t("setup.game")}</h2>
      <ul class="tiles">
        {games.map((game) => (
          <li key={game.name}>
            <button type="button" class="tile" onClick={() => onChoose(game)}>
              <GameSign game={game} />
              <strong>{game.title}</strong>
              <span class="hint">{peopleOf(game)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

interface PartProps {
  game: GameInfo;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

function People({ game, draft, change }: PartProps) {
  const { players, first } = draft;
  const named = (id: string) =>
    id in game.colours ? capital(colourWord(game.colours[id]!.name)) : t("player.number", { id });
  const toggle = (id: string, on: boolean) => {
    const next = on
      ? game.players.filter((one) => one === id || players.some((p) => p.id === one))
      : players.filter((p) => p.id !== id).map((p) => p.id);
    const kept = next.map((one) => players.find((p) => p.id === one) ?? { id: one, name: "" });
    change({ players: kept, first: next.includes(first) ? first : (next[0] ?? "") });
  };
  if (!game.players.length) {
    return null;
  }
  return (
    <fieldset>
      <legend>{t("setup.players")}</legend>
      {game.players.map((id) => {
        const player = players.find((one) => one.id === id);
        const fixed = game.fewest_players === game.players.length;
        return (
          <div class="row person" key={id}>
            <label class="check">
              <input
                type="checkbox"
                checked={!!player}
                disabled={fixed || (!!player && players.length <= Math.max(1, game.fewest_players))}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              {id in game.colours && <Chip colours={game.colours} letter={id} />}
              <span>{named(id)}</span>
            </label>
            {player && (
              <>
                <label class="grow">
                  <span class="unseen">
                    {t("setup.name")} {named(id)}
                  </span>
                  <input
                    maxLength={60}
                    placeholder={t("setup.name")}
                    value={player.name}
                    onInput={(event) => {
                      const name = event.currentTarget.value;
                      change({ players: players.map((one) => (one.id === id ? { ...one, name } : one)) });
                    }}
                  />
                </label>
                <label class="check">
                  <input type="radio" name="first" checked={first === id} onChange={() => change({ first: id })} />
                  <span>{t("setup.first")}</span>
                </label>
              </>
            )}
          </div>
        );
      })}
    </fieldset>
  );
}

const SIDES = [
  [6, "setup.front"],
  [9, "setup.left"],
  [12, "setup.behind"],
  [3, "setup.right"],
] as const;

// Which cameras watch; none is possible too, then positions are told by hand or by a program.
function Eyes({ game, draft, change }: PartProps) {
  const [devices, setDevices] = useState<number[]>([]);
  const [problem, run] = useTask();
  useEffect(() => run(async () => setDevices(await get<number[]>("/devices"))), []);
  const { cameras } = draft;
  const set = (index: number, part: Partial<Draft["cameras"][number]>) =>
    change({ cameras: cameras.map((camera, i) => (i === index ? { ...camera, ...part } : camera)) });
  const add = (source: string) =>
    change({ cameras: [...cameras, { source, clock: SIDES[cameras.length % 4]![0] }] });
  const virtual = `virtual:${game.name}`;
  const drawn = cameras.some(({ source }) => source === virtual);
  const free = devices.filter((n) => !cameras.some(({ source }) => source === String(n)));
  return (
    <fieldset>
      <legend>{t("setup.cameras")}</legend>
      {cameras.length === 0 && <p class="hint">{t("setup.noCameras")}</p>}
      {cameras.map((camera, i) => (
        <div class="row" key={i}>
          <label class="grow">
            {t("setup.camera", { n: i + 1 })}
            <input
              value={
                camera.source === "phone" ? t("setup.phone") : camera.source === virtual ? t("setup.virtual") : camera.source
              }
              readOnly={["phone", virtual].includes(camera.source) || /^\d+$/.test(camera.source)}
              placeholder="rtsp://…"
              onInput={(event) => set(i, { source: event.currentTarget.value })}
            />
          </label>
          {camera.source !== virtual && (
            <label>
              {t("setup.side")}
              <br />
              <select
                value={camera.clock}
                onChange={(event) => set(i, { clock: Number(event.currentTarget.value) })}
              >
                {SIDES.map(([clock, key]) => (
                  <option key={clock} value={clock}>
                    {t(key)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button type="button" class="quiet" onClick={() => change({ cameras: cameras.filter((_, j) => j !== i) })}>
            {t("games.delete")}
          </button>
        </div>
      ))}
      <div class="buttons">
        {!drawn && (
          <>
            {free.map((n) => (
              <button key={n} type="button" onClick={() => add(String(n))}>
                <Icon name="plus" /> {t("setup.webcam", { n })}
              </button>
            ))}
            <button type="button" onClick={() => add("phone")}>
              <Icon name="plus" /> {t("setup.phone")}
            </button>
            <button type="button" onClick={() => add("rtsp://")}>
              <Icon name="plus" /> {t("setup.address")}
            </button>
          </>
        )}
        {!cameras.length && game.players.length > 0 && (
          <button
            type="button"
            onClick={() => {
              const places = game.board.ranks === 1 ? [6] : [6, 9]; // a wall is read from its front
              change({ cameras: places.map((clock) => ({ source: virtual, clock })) });
            }}
          >
            <Icon name="plus" /> {t("setup.virtual")}
          </button>
        )}
      </div>
      {(!cameras.length || drawn) && game.players.length > 0 && <p class="hint">{t("setup.virtualWhy")}</p>}
      <Problem text={problem} />
    </fieldset>
  );
}

function Board({ game, draft, change }: PartProps) {
  const [least, most] = game.sizes;
  if (least >= most) {
    return null;
  }
  return (
    <label class="field">
      {t("setup.size")}
      <select
        value={draft.columns}
        onChange={(event) => {
          const n = Number(event.currentTarget.value);
          change({ columns: n, ranks: n });
        }}
      >
        {Array.from({ length: most - least + 1 }, (_, i) => least + i).map((n) => (
          <option key={n} value={n}>
            {n} × {n}
          </option>
        ))}
      </select>
    </label>
  );
}

function House({ game, draft, change }: PartProps) {
  if (!game.options.length) {
    return null;
  }
  const set = (key: string, value: Value) => change({ rules: { ...draft.rules, [key]: value } });
  return (
    <details class="card">
      <summary>{t("setup.rules")}</summary>
      <p class="hint">
        {t("rules.optionsWhy")} <a href={`/rules/${game.name}`}>{t("nav.rules")}</a>
      </p>
      {game.options.map((option) => {
        const value = draft.rules[option.key] ?? option.default;
        const values = valuesOf(option);
        if (values.length) {
          return (
            <div class="ruling" role="radiogroup" aria-label={option.key} key={option.key}>
              {values.map((one) => (
                <label class="check" key={String(one)}>
                  <input
                    type="radio"
                    name={option.key}
                    checked={value === one}
                    onChange={() => set(option.key, one)}
                  />
                  <span>
                    {ruling(option, one)}{" "}
                    {one === option.default && <span class="badge open">{t("rules.default")}</span>}
                  </span>
                </label>
              ))}
            </div>
          );
        }
        return (
          <label class="field" key={option.key}>
            {said({ says: option.says[""] }) || <code>{option.key}</code>}
            <input
              type="number"
              {...(option.most ? { min: option.least, max: option.most } : {})}
              value={String(value)}
              onInput={(event) => set(option.key, Number(event.currentTarget.value))}
            />
          </label>
        );
      })}
    </details>
  );
}
