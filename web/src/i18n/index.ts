// What the pages say, in the reader's language, a folder per language and a file per part of the product. The words of the
// door (signing in, what went wrong) come first; the others with the first page inside a school.
import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";

import english from "./en/door.json";

const i18n = createInstance();

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
/** How a chosen language stands in an account. */
export const TAGS = { en: "en-GB", de: "de" } as const;
export type Language = keyof typeof LANGUAGES;

type LoadTexts = () => Promise<{ default: object }>;
type TextPart = "door" | "school" | "office" | "finish";
const FILES: Record<Language, Record<TextPart, LoadTexts>> = {
  en: { door: async () => ({ default: english }), school: () => import("./en"), office: () => import("./en/office"), finish: () => import("./en/finish.json") },
  de: { door: () => import("./de/door.json"), school: () => import("./de"), office: () => import("./de/office"), finish: () => import("./de/finish.json") },
};
/** Where a lesson is held: what is said there comes first, everything else with the first page elsewhere. */
const LESSON_PAGES = /^\/($|today$|groups$|t\/[^/]+\/(board|projector)$)/;

const requestedParts: TextPart[] = ["door"];
const loaded = new Set<string>();

export const isLanguage = (text: string): text is Language => text in LANGUAGES;
export const language = (): Language => (isLanguage(i18n.language) ? i18n.language : "en");

/** What the browser prefers, as far as we speak it. */
function preferredLanguage(): Language {
  const stored = localStorage.getItem("language");
  const wanted = [stored ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

async function loadPart(target: Language, part: TextPart): Promise<void> {
  const file = `${target}/${part}`;
  if (loaded.has(file)) return;
  i18n.addResourceBundle(target, "translation", (await FILES[target][part]()).default, true);
  loaded.add(file);
}

export async function initI18n(): Promise<void> {
  await i18n.use(initReactI18next).init({ lng: "en", fallbackLng: false, resources: {}, interpolation: { escapeValue: false }, returnNull: false });
  await setLanguage(preferredLanguage());
}

/** Whether this browser has been inside a school, and so keeps what its pages say. */
export const hasVisitedSchool = (): boolean => localStorage.getItem("inside") !== null;

/** Fetches what the page at a place inside a school says. */
export async function loadSchoolTexts(path: string): Promise<void> {
  localStorage.setItem("inside", "");
  await loadTexts(...(LESSON_PAGES.test(path) ? (["school"] as const) : (["school", "office"] as const)));
}

/** Fetches what a part of a page says that is shown later. */
export async function loadTexts(...parts: TextPart[]): Promise<void> {
  for (const part of parts) {
    if (!requestedParts.includes(part)) requestedParts.push(part);
  }
  await Promise.all(requestedParts.map((part) => loadPart(language(), part)));
}

/** What the words say under a key, where they say something. */
export const translateIfKnown = (key: string, values: Record<string, string> = {}): string | undefined => (i18n.exists(key) ? i18n.t(key, values) : undefined);

let appliedUserId = "";

/**
 * Speaks what a person's account says, once he is here. English without a country is what an account has that nobody chose
 * a language for; then the language stays that of the page. Whoever chooses English has `en-GB` (`TAGS`).
 */
export async function applyAccountLanguage(person: { id: string; locale: string }): Promise<void> {
  if (appliedUserId === person.id) return;
  appliedUserId = person.id;
  const chosen = person.locale.slice(0, 2);
  if (person.locale !== "en" && isLanguage(chosen)) await setLanguage(chosen);
}

export async function setLanguage(target: Language): Promise<void> {
  await Promise.all(requestedParts.map((part) => loadPart(target, part)));
  await i18n.changeLanguage(target);
  document.documentElement.lang = target;
  localStorage.setItem("language", target);
}
