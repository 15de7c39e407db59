// Words of the page in five languages; only the one in use is loaded.
import { useEffect, useState } from "preact/hooks";
import { currentPrefs, usePrefs } from "./prefs";
import en from "./lang/en";
import type { Says } from "./types";

export type Words = typeof en;
export type Key = keyof Words;

export const LANGUAGES: Record<string, string> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  nl: "Nederlands",
};

const loaders: Record<string, () => Promise<{ default: Words }>> = {
  de: () => import("./lang/de"),
  fr: () => import("./lang/fr"),
  es: () => import("./lang/es"),
  nl: () => import("./lang/nl"),
};

let words: Words = en;
let spoken = "en";

export function language(): string {
  return spoken;
}

export function wantedLanguage(): string {
  const chosen = currentPrefs().language;
  const likes = chosen ? [chosen] : navigator.languages.map((name) => name.slice(0, 2));
  return likes.find((name) => name in LANGUAGES) ?? "en";
}

export async function loadLanguage(): Promise<void> {
  const wanted = wantedLanguage();
  words = wanted in loaders ? (await loaders[wanted]!()).default : en;
  spoken = wanted;
  document.documentElement.lang = wanted;
}

// Makes a component draw itself again when the language has changed.
export function useLanguage(): string {
  const prefs = usePrefs();
  const [current, setCurrent] = useState(spoken);
  useEffect(() => {
    loadLanguage().then(
      () => setCurrent(spoken),
      () => setCurrent("en"),
    );
  }, [prefs.language]);
  return current;
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  const single = `${key}One`;
  const text = values.n === 1 && has(single) ? words[single] : words[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

export const has = (key: string): key is Key => key in words;

// A sentence of the rules in the page's language.
export const said = (told: { say?: string; says?: Says | undefined }): string =>
  told.says?.[spoken] ?? told.say ?? "";

export function listed(names: string[]): string {
  return new Intl.ListFormat(spoken, { type: "conjunction" }).format(names);
}

export const colourWord = (name: string): string => {
  const key = `colour.${name}`;
  return has(key) ? t(key) : name;
};

export const when = (seconds: number): string =>
  new Intl.DateTimeFormat(spoken, { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
