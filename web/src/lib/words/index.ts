// What the page says, in the reader's language. English comes with the page; every other language is its own file.
import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";

import en from "./en.json";

const words = createInstance();

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const others: Partial<Record<Language, () => Promise<{ default: object }>>> = { de: () => import("./de.json") };

export const isLanguage = (text: string): text is Language => text in LANGUAGES;

/** What the browser prefers, as far as we speak it. */
function preferred(): Language {
  const kept = localStorage.getItem("language");
  const wanted = [kept ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

export async function startWords(): Promise<void> {
  await words.use(initReactI18next).init({
    lng: "en",
    fallbackLng: "en",
    resources: { en: { translation: en } },
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await speak(preferred());
}

export async function speak(language: Language): Promise<void> {
  const load = others[language];
  if (load && !words.hasResourceBundle(language, "translation")) {
    words.addResourceBundle(language, "translation", (await load()).default);
  }
  await words.changeLanguage(language);
  document.documentElement.lang = language;
  localStorage.setItem("language", language);
}
