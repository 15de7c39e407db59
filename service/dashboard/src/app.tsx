// The frame of every page: who am I, where am I, and the navigation between.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, post } from "./api";
import { said, t, useLanguage } from "./i18n";
import { useLive } from "./live";
import { CamerasPage } from "./pages/cameras";
import { GamesPage } from "./pages/games";
import { JoinPage } from "./pages/join";
import { OverlayPage } from "./pages/overlay";
import { PhonePage } from "./pages/phone";
import { PlayPage } from "./pages/play";
import { ReplayPage } from "./pages/replay";
import { RestorePage } from "./pages/restore";
import { RulesPage } from "./pages/rules";
import { SetupPage } from "./pages/setup";
import { owedInWords } from "./parts/alerts";
import { DemoBar } from "./parts/demo";
import { Icon } from "./parts/icons";
import { InviteDialog } from "./parts/invite";
import { OptionsDialog } from "./parts/options";
import { spokenTurn } from "./parts/turn";
import { go, type Route, useRoute } from "./router";
import type { GameEvent } from "./state";
import type { Me, Owed, TableInfo, Turn } from "./types";
import { speak } from "./voice";

const QUIET = ["back", "realigned", "uncalibrated"]; // nobody needs to be told aloud
const DEMO = "demo"; // the session that plays itself

export function App() {
  useLanguage();
  const route = useRoute();
  const [me, setMe] = useState<Me | null>(null);
  const [problem, setProblem] = useState("");
  const load = () =>
    enter().then(setMe, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  useEffect(() => {
    void load();
    addEventListener("hashchange", load);
    return () => removeEventListener("hashchange", load);
  }, []);

  if (!me) {
    return (
      <main class="page narrow">
        <p role="status">{problem ? t("app.noServer", { why: problem }) : t("app.loading")}</p>
      </main>
    );
  }
  if (me.role === "stranger" && route.parts[0] !== "rules") {
    return (
      <Frame me={me} route={route}>
        <JoinPage onJoined={load} problem={joinProblem} />
      </Frame>
    );
  }
  return <Pages me={me} route={route} />;
}

let joinProblem = "";

// An invitation stands behind '#': it is exchanged for a cookie and then removed from sight.
async function enter(): Promise<Me> {
  const token = /^#join=(.+)$/.exec(location.hash)?.[1];
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      const me = await post<Me>("/join", { token });
      if (me.role === "camera") {
        go(`/camera${location.search}`, true);
      }
    } catch (error) {
      joinProblem = error instanceof Error ? error.message : String(error);
    }
  }
  return get<Me>("/me");
}

function Pages({ me, route }: { me: Me; route: Route }) {
  const [first, second, third] = route.parts;
  if (first === "overlay") {
    const session = second ?? me.session ?? me.current;
    return session ? <Session me={me} route={route} session={session} page="overlay" /> : <GamesFrame me={me} route={route} />;
  }
  if (first === "t" && second) {
    return <Session key={second} me={me} route={route} session={second} page={third ?? "play"} />;
  }
  if (me.role === "camera" || first === "camera") {
    const session = me.session ?? me.current;
    return (
      <Frame me={me} route={route}>
        {session ? <PhonePage session={session} name={route.query.get("name") ?? "phone"} /> : <NotFound />}
      </Frame>
    );
  }
  if (first === undefined) {
    return me.current ? (
      <Session key={me.current} me={me} route={route} session={me.current} page="play" />
    ) : (
      <GamesFrame me={me} route={route} />
    );
  }
  const pages: Record<string, ComponentChildren> = {
    games: <GamesPage me={me} />,
    rules: <RulesPage game={second} rule={route.query.get("rule")} />,
    setup: <SetupPage />,
  };
  return (
    <Frame me={me} route={route}>
      {pages[first] ?? <NotFound />}
    </Frame>
  );
}

const GamesFrame = ({ me, route }: { me: Me; route: Route }) => (
  <Frame me={me} route={route}>
    <GamesPage me={me} />
  </Frame>
);

const NotFound = () => (
  <div class="page">
    <h1>{t("app.notFound")}</h1>
  </div>
);

interface SessionProps {
  me: Me;
  route: Route;
  session: string;
  page: string;
}

function Session({ me, route, session, page }: SessionProps) {
  const [info, setInfo] = useState<TableInfo | null>(null);
  const { live, connected, refused } = useLive(session, (event) => info && announce(info, event));
  useEffect(() => setInfo(live?.info ?? null), [live?.info]);
  if (!live) {
    return page === "overlay" ? null : (
      <Frame me={me} route={route}>
        <div class="page narrow">
          <p role="status">{refused ? t("app.refused", { why: refused }) : t("app.loading")}</p>
        </div>
      </Frame>
    );
  }
  if (page === "overlay") {
    return <OverlayPage info={live.info} state={live.state} />;
  }
  const turn = route.query.get("turn");
  const pages: Record<string, ComponentChildren> = {
    play: <PlayPage info={live.info} state={live.state} me={me} />,
    cameras: <CamerasPage info={live.info} state={live.state} me={me} />,
    restore: <RestorePage info={live.info} state={live.state} me={me} />,
    replay: <ReplayPage info={live.info} state={live.state} at={turn ? Number(turn) : null} />,
  };
  return (
    <Frame me={me} route={route} info={live.info} connected={connected} page={page}>
      {pages[page] ?? <NotFound />}
    </Frame>
  );
}

function announce(info: TableInfo, event: GameEvent): void {
  if (event.event === "turn" && !event.final) {
    const turn = event as unknown as Turn;
    const why = turn.breaks.map(said).join(" ");
    speak(turn.legal ? spokenTurn(info, turn) : `${t("alert.illegal")}. ${why}`);
  } else if (event.event === "owed" && Object.keys(event.cells as object).length) {
    speak(owedInWords(info, event as unknown as Owed).join(". "));
  } else if (event.event === "ask" || event.event === "over" || (event.event === "camera" && !QUIET.includes(event.state))) {
    speak(said(event as { say?: string }));
  }
}

interface FrameProps {
  me: Me;
  route: Route;
  info?: TableInfo;
  connected?: boolean;
  page?: string;
  children: ComponentChildren;
}

function Frame({ me, route, info, connected, page, children }: FrameProps) {
  const [dialog, setDialog] = useState<"options" | "invite" | null>(null);
  const session = info?.id ?? me.session ?? me.current;
  const links: [string, string, string, string][] = [];
  if (session && me.role !== "camera" && me.role !== "stranger") {
    links.push(
      ["play", `/t/${session}/play`, t("nav.play"), "play"],
      ["restore", `/t/${session}/restore`, t("nav.restore"), "layers"],
      ["replay", `/t/${session}/replay`, t("nav.replay"), "first"],
    );
  }
  if (info && me.role === "host" && info.id !== DEMO && info.cameras.length) {
    links.push(["cameras", `/t/${info.id}/cameras`, t("cameras.title"), "camera"]);
  }
  links.push(["rules", `/rules${info ? `/${info.game}` : ""}`, t("nav.rules"), "book"]);
  if (me.role !== "camera" && me.role !== "stranger") {
    links.push(["games", "/games", t("nav.games"), "list"]);
  }
  const current = page ?? route.parts[0];
  const source = info && `source.${info.source}`;
  useEffect(() => {
    const place = links.find(([name]) => name === current)?.[2];
    document.title = [place, info?.title, "Kiebitz"].filter(Boolean).join(" · ");
  });
  return (
    <>
      <a class="skip" href="#content">
        {t("nav.skip")}
      </a>
      <header class="top">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width={28} height={28} />
          <span>Kiebitz</span>
        </a>
        {info && (
          <span class="table-name">
            {info.title}
            {info.name && info.name !== info.game && <small> {info.name}</small>}
          </span>
        )}
        <nav aria-label={t("nav.main")}>
          {links.map(([name, href, label, icon]) => (
            <a key={name} href={href} aria-current={current === name ? "page" : undefined}>
              <Icon name={icon} />
              <span>{label}</span>
            </a>
          ))}
        </nav>
        <div class="top-buttons">
          {info && me.role === "host" && (
            <button type="button" class="quiet" onClick={() => setDialog("invite")}>
              <Icon name="people" /> <span>{t("nav.invite")}</span>
            </button>
          )}
          <button type="button" class="quiet" onClick={() => setDialog("options")}>
            <Icon name="gear" /> <span>{t("nav.options")}</span>
          </button>
        </div>
      </header>
      {connected === false && (
        <p class="strip bad" role="status">
          {t("app.lost")}
        </p>
      )}
      {info && info.source !== "camera" && source && (
        <div class="strip" data-source={info.source}>
          {t(source as "source.record")}
          {info.id === DEMO && me.role === "host" && <DemoBar info={info} />}
        </div>
      )}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {dialog === "options" && <OptionsDialog me={me} onClose={() => setDialog(null)} />}
      {dialog === "invite" && info && <InviteDialog info={info} onClose={() => setDialog(null)} />}
    </>
  );
}
