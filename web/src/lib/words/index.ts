// What the pages say, in the reader's language, a folder per language and a file per part of the product. The words of the
// door (signing in, what went wrong) come first; the others with the first page inside a school.
import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";

import english from "./en/door.json";

const words = createInstance();

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
/** How a chosen language stands in an account. */
export const TAGS = { en: "en-GB", de: "de" } as const;
export type Language = keyof typeof LANGUAGES;

type Load = () => Promise<{ default: object }>;
type Part = "door" | "school" | "office" | "finish";
const FILES: Record<Language, Record<Part, Load>> = {
  en: { door: async () => ({ default: english }), school: () => import("./en"), office: () => import("./en/office"), finish: () => import("./en/finish.json") },
  de: { door: () => import("./de/door.json"), school: () => import("./de"), office: () => import("./de/office"), finish: () => import("./de/finish.json") },
};
/** Where a lesson is held: what is said there comes first, everything else with the first page elsewhere. */
const IN_LESSON = /^\/($|today$|groups$|t\/[^/]+\/(board|projector)$)/;

const entered: Part[] = ["door"];
const loaded = new Set<string>();

export const isLanguage = (text: string): text is Language => text in LANGUAGES;
export const language = (): Language => (isLanguage(words.language) ? words.language : "en");

/** What the browser prefers, as far as we speak it. */
function preferred(): Language {
  const kept = localStorage.getItem("language");
  const wanted = [kept ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

async function load(speaks: Language, part: Part): Promise<void> {
  const file = `${speaks}/${part}`;
  if (loaded.has(file)) return;
  words.addResourceBundle(speaks, "translation", (await FILES[speaks][part]()).default, true);
  loaded.add(file);
}

export async function startWords(): Promise<void> {
  await words.use(initReactI18next).init({ lng: "en", fallbackLng: false, resources: {}, interpolation: { escapeValue: false }, returnNull: false });
  await speak(preferred());
}

/** Whether this browser has been inside a school, and so keeps what its pages say. */
export const wasInside = (): boolean => localStorage.getItem("inside") !== null;

/** Fetches what the page at a place inside a school says. */
export async function enterSchool(path: string): Promise<void> {
  localStorage.setItem("inside", "");
  await addWords(...(IN_LESSON.test(path) ? (["school"] as const) : (["school", "office"] as const)));
}

/** Fetches what a part of a page says that is shown later. */
export async function addWords(...parts: Part[]): Promise<void> {
  for (const part of parts) {
    if (!entered.includes(part)) entered.push(part);
  }
  await Promise.all(entered.map((part) => load(language(), part)));
}

/** What the words say under a key, where they say something. */
export const said = (key: string, values: Record<string, string> = {}): string | undefined => (words.exists(key) ? words.t(key, values) : undefined);

let spokenFor = "";

/**
 * Speaks what a person's account says, once he is here. English without a country is what an account has that nobody chose
 * a language for; then the language stays that of the page. Whoever chooses English has `en-GB` (`TAGS`).
 */
export async function speakFor(person: { id: string; locale: string }): Promise<void> {
  if (spokenFor === person.id) return;
  spokenFor = person.id;
  const chosen = person.locale.slice(0, 2);
  if (person.locale !== "en" && isLanguage(chosen)) await speak(chosen);
}

export async function speak(speaks: Language): Promise<void> {
  await Promise.all(entered.map((part) => load(speaks, part)));
  await words.changeLanguage(speaks);
  document.documentElement.lang = speaks;
  localStorage.setItem("language", speaks);
}
