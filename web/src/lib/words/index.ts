// What the pages say, in the reader's language, a folder per language and a file per part of the product. The words of the
// door (signing in, what went wrong) come first; the others with the first page inside a school.
import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";

import english from "./en/door.json";

const words = createInstance();

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

type Load = () => Promise<{ default: object }>;
const FILES: Record<Language, { door: Load; school: Load }> = {
  en: { door: async () => ({ default: english }), school: () => import("./en") },
  de: { door: () => import("./de/door.json"), school: () => import("./de") },
};

let isInSchool = false;
const loaded = new Set<string>();

export const isLanguage = (text: string): text is Language => text in LANGUAGES;
export const language = (): Language => (isLanguage(words.language) ? words.language : "en");

/** What the browser prefers, as far as we speak it. */
function preferred(): Language {
  const kept = localStorage.getItem("language");
  const wanted = [kept ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

async function load(speaks: Language, part: "door" | "school"): Promise<void> {
  const file = `${speaks}/${part}`;
  if (loaded.has(file)) return;
  words.addResourceBundle(speaks, "translation", (await FILES[speaks][part]()).default, true);
  loaded.add(file);
}

export async function startWords(): Promise<void> {
  await words.use(initReactI18next).init({ lng: "en", fallbackLng: false, resources: {}, interpolation: { escapeValue: false }, returnNull: false });
  await speak(preferred());
}

/** Fetches what the pages inside a school say. */
export async function enterSchool(): Promise<void> {
  isInSchool = true;
  await load(language(), "school");
}

export async function speak(speaks: Language): Promise<void> {
  await Promise.all([load(speaks, "door"), isInSchool ? load(speaks, "school") : undefined]);
  await words.changeLanguage(speaks);
  document.documentElement.lang = speaks;
  localStorage.setItem("language", speaks);
}
