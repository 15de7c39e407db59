// Rules: each game with its board, box, house rules, and everything that Kiebitz watches.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { language, said, t } from "../i18n";
import { Chip, Problem, useTask } from "../parts/basics";
import type { GameInfo } from "../types";

export function RulesPage({ game, rule }: { game: string | undefined; rule: string | null }) {
  return game ? <GameRules game={game} rule={rule} /> : <AllGames />;
}

function AllGames() {
  const [games, setGames] = useState<GameInfo[]>([]);
  const [problem, run] = useTask();
  useEffect(() => run(async () => setGames(await get<GameInfo[]>("/games"))), []);
  return (
    <div class="page">
      <h1>{t("rules.title")}</h1>
      <Problem text={problem} />
      <ul class="tiles">
        {games.map((game) => (
          <li key={game.name}>
            <a class="tile" href={`/rules/${game.name}`}>
              <GameSign game={game} />
              <strong>{game.title}</strong>
              <span class="hint">{peopleOf(game)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

export const peopleOf = (game: GameInfo): string =>
  game.players.length === 0
    ? ""
    : game.fewest_players === game.players.length
      ? t("setup.people1", { to: game.players.length })
      : t("setup.people", { from: Math.max(1, game.fewest_players), to: game.players.length });

export function GameSign({ game }: { game: GameInfo }) {
  return (
    <span class="sign" aria-hidden="true">
      {Object.keys(game.colours)
        .slice(0, 4)
        .map((letter) => (
          <Chip key={letter} colours={game.colours} letter={letter} />
        ))}
    </span>
  );
}

function GameRules({ game, rule }: { game: string; rule: string | null }) {
  const [info, setInfo] = useState<GameInfo | null>(null);
  const [problem, run] = useTask();
  useEffect(
    () => run(async () => setInfo(await get<GameInfo>(`/games/${encodeURIComponent(game)}?language=${language()}`))),
    [game, language()],
  );
  useEffect(() => {
    if (info && rule) {
      document.getElementById(rule)?.scrollIntoView({ block: "center" });
    }
  }, [info, rule]);
  if (!info) {
    return (
      <div class="page">
        <h1>{t("rules.title")}</h1>
        <Problem text={problem} />
      </div>
    );
  }
  const { columns, ranks, levels } = info.board;
  return (
    <div class="page">
      <p>
        <a href="/rules">{t("rules.title")}</a>
      </p>
      <h1>{info.title}</h1>
      <dl class="facts">
        <div>
          <dt>{t("rules.players")}</dt>
          <dd>{peopleOf(info)}</dd>
        </div>
        <div>
          <dt>{t("rules.board")}</dt>
          <dd>{t("rules.boardSize", { columns, ranks, levels })}</dd>
        </div>
        {info.kit.length > 0 && (
          <div>
            <dt>{t("rules.kit")}</dt>
            <dd>
              {info.kit.map((piece) => (
                <span key={`${piece.shape}${piece.colour}`} class="count">
                  <Chip colours={info.colours} letter={piece.colour} /> {piece.count}
                </span>
              ))}
            </dd>
          </div>
        )}
      </dl>
      <h2>{t("rules.watched")}</h2>
      <ul class="rules">
        {(info.rules ?? []).map((one) => (
          <li key={one.code} id={one.code} class={one.code === rule ? "asked" : ""}>
            <p>{readable(one.say)}</p>
            <p class="hint" lang="en">
              {one.clause} <code>{one.code}</code>
            </p>
          </li>
        ))}
      </ul>
      {info.options.length > 0 && (
        <>
          <h2>{t("rules.options")}</h2>
          <p class="hint">{t("rules.optionsWhy")}</p>
          <ul class="rules">
            {info.options.map((option) => (
              <li key={option.key}>
                {valuesOf(option).map((value) => (
                  <p key={String(value)}>
                    {ruling(option, value)}{" "}
                    {value === option.default && <span class="badge open">{t("rules.default")}</span>}
                  </p>
                ))}
                {typeof option.default === "number" && (
                  <p>
                    {said({ says: option.says[""] })} {t("rules.default")}: {option.default}
                    {option.most > 0 && ` (${option.least}–${option.most})`}
                  </p>
                )}
                <p class="hint">
                  <code>{option.key}</code>
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

type Option = GameInfo["options"][number];

// The values between which a house rule chooses, the usual one first; none where it is a number.
export function valuesOf({ default: usual, choices }: Option): (string | number | boolean)[] {
  const all = typeof usual === "boolean" ? [true, false] : choices;
  return all.length ? [usual, ...all.filter((one) => one !== usual)] : [];
}

// What holds with a value of a house rule.
export function ruling({ key, says }: Option, value: string | number | boolean): string {
  const plain = value === true ? t("rules.yes") : value === false ? t("rules.no") : String(value);
  return said({ says: says[String(value)] }) || `${key}: ${plain}`;
}

// A rule without an example has open places; they are shown as an ellipsis.
const readable = (say: string): string => say.replace(/\{\w+\}/g, "…");
