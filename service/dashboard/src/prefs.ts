// What one device likes: language, light or dark, voice, patterns. Kept on the device alone.
import { useEffect, useState } from "preact/hooks";

export interface Prefs {
  language: string;
  theme: "auto" | "light" | "dark";
  voice: boolean;
  patterns: boolean;
}

const KEY = "kiebitz";
const DEFAULTS: Prefs = { language: "", theme: "auto", voice: false, patterns: true };
const listeners = new Set<() => void>();
let prefs = load();

function load(): Prefs {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Prefs>) };
  } catch {
    return DEFAULTS;
  }
}

export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // private windows forget; the choice holds until the page is closed
  }
  apply();
  for (const listener of listeners) {
    listener();
  }
}

export function apply(): void {
  const root = document.documentElement;
  if (prefs.theme === "auto") {
    delete root.dataset.theme;
  } else {
    root.dataset.theme = prefs.theme;
  }
}

export const currentPrefs = () => prefs;

export function usePrefs(): Prefs {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return prefs;
}
