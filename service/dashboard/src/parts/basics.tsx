// What every page uses: colour chips, names, dialogs, buttons that may fail.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { colourWord, t } from "../i18n";
import { usePrefs } from "../prefs";
import type { ColourInfo, TableInfo } from "../types";
import { Icon } from "./icons";

export type Colours = Record<string, ColourInfo>;

export const rgb = (colour: ColourInfo | undefined): string =>
  colour ? `rgb(${colour.rgb.join(",")})` : "rgb(150,150,150)";

export const isBright = (colour: ColourInfo | undefined): boolean => {
  const [r, g, b] = colour?.rgb ?? [150, 150, 150];
  return 0.3 * r + 0.59 * g + 0.11 * b > 120;
};

export const colourName = (colours: Colours, letter: string): string =>
  letter in colours ? colourWord(colours[letter]!.name) : t("colour.unknown");

export function Chip({ colours, letter }: { colours: Colours; letter: string }) {
  const { patterns } = usePrefs();
  const index = Object.keys(colours).indexOf(letter);
  return (
    <span
      class={`chip${patterns && index > 0 ? ` pattern-${Math.min(index, 5)}` : ""}`}
      style={{ backgroundColor: rgb(colours[letter]), color: isBright(colours[letter]) ? "#1b1206" : "#fff" }}
      aria-hidden="true"
    >
      <b>{letter}</b>
    </span>
  );
}

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function playerName(info: TableInfo, id: string): string {
  const named = info.players.find((player) => player.id === id)?.name;
  if (named) {
    return named;
  }
  if (id in info.colours) {
    return capital(colourName(info.colours, id));
  }
  return t("player.number", { id });
}

export function useTask(): [string, (work: () => Promise<unknown>) => void, boolean] {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>) => {
    setProblem("");
    setBusy(true);
    work()
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  return [problem, run, busy];
}

export function Problem({ text }: { text: string }) {
  return text ? (
    <p class="problem" role="alert">
      <Icon name="warn" /> {t("app.error", { why: text })}
    </p>
  ) : null;
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

// The browser's own dialog: it keeps the keyboard inside and closes on Escape.
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            {t("app.close")}
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
