// Translations: a folder per language, a file per part of the product. The texts of sign-in and errors are loaded first, the
// others with the first page inside a school.
import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";

import type { TextKey } from "./textKeys";
import english from "./en/common.json";

const i18n = createInstance();

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
/** Language tags stored in accounts. */
export const TAGS = { en: "en-GB", de: "de" } as const;
export type Language = keyof typeof LANGUAGES;

type LoadTexts = () => Promise<{ default: object }>;
type TextPart =
  | "common"
  | "lesson"
  | "other"
  | "finish"
  | "editor"
  | "secondFactor"
  | "signOn"
  | "rosters"
  | "signOnHelp"
  | "passkey";
const FILES: Record<Language, Record<TextPart, LoadTexts>> = {
  en: {
    common: async () => ({ default: english }),
    lesson: () => import("./en"),
    other: () => import("./en/other"),
    finish: () => import("./en/finish.json"),
    editor: () => import("./en/editor.json"),
    secondFactor: () => import("./en/secondFactor.json"),
    signOn: () => import("./en/signOn.json"),
    signOnHelp: () => import("./en/signOnHelp.json"),
    rosters: () => import("./en/rosters.json"),
    passkey: () => import("./en/passkey.json"),
  },
  de: {
    common: () => import("./de/common.json"),
    lesson: () => import("./de"),
    other: () => import("./de/other"),
    finish: () => import("./de/finish.json"),
    editor: () => import("./de/editor.json"),
    secondFactor: () => import("./de/secondFactor.json"),
    signOn: () => import("./de/signOn.json"),
    signOnHelp: () => import("./de/signOnHelp.json"),
    rosters: () => import("./de/rosters.json"),
    passkey: () => import("./de/passkey.json"),
  },
};
/** Formal German texts of a part, over the informal ones. */
const FORMAL_TAG = "de-x-formal";
const FORMAL_FILES = { lesson: () => import("./de/formal"), other: () => import("./de/formal/other") };
/** Pages used in a lesson: their texts are loaded first, all others with the first different page. */
const LESSON_PAGES = /^\/($|today$|groups$|topics\/[^/]+\/(board|projector)$)/;

/** Parts that are loaded or being loaded. A change of language loads them in the new language. */
const requestedParts = new Set<TextPart>(["common"]);
const loaded = new Set<string>();

export const isLanguage = (text: string): text is Language => text in LANGUAGES;
export const language = (): Language => {
  const shown = i18n.language.slice(0, 2);
  return isLanguage(shown) ? shown : "en";
};

/** The preferred language of the browser among the supported ones. */
function preferredLanguage(): Language {
  const stored = localStorage.getItem("language");
  const wanted = [stored ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

/** Whether the signed-in user is addressed formally, in languages that have a formal address. */
let isFormal = false;

async function loadPart(target: Language, part: TextPart): Promise<void> {
  await Promise.all([loadFile(target, part), isFormal && target === "de" ? loadFormalTexts(part) : undefined]);
}

async function loadFile(target: Language, part: TextPart): Promise<void> {
  const file = `${target}/${part}`;
  if (loaded.has(file)) return;
  i18n.addResourceBundle(target, "translation", (await FILES[target][part]()).default, true);
  loaded.add(file);
}

async function loadFormalTexts(part: TextPart): Promise<void> {
  const file = part === "common" || part === "lesson" ? "lesson" : "other";
  if (loaded.has(FORMAL_TAG + file)) return;
  // Without a connection, the informal texts of the part are shown.
  const found = await FORMAL_FILES[file]().catch(() => undefined);
  if (found === undefined) return;
  for (const texts of found.default) i18n.addResourceBundle(FORMAL_TAG, "translation", texts, true);
  loaded.add(FORMAL_TAG + file);
}

export async function initI18n(): Promise<void> {
  await i18n
    .use(initReactI18next)
    .init({ lng: "en", fallbackLng: false, resources: {}, interpolation: { escapeValue: false }, returnNull: false });
  await setLanguage(preferredLanguage());
}

/** Whether this browser has visited a school, and therefore caches the texts of its pages. */
export const hasVisitedSchool = (): boolean => localStorage.getItem("inside") !== null;

/** Loads the texts of a page inside a school. */
export async function loadSchoolTexts(path: string): Promise<void> {
  localStorage.setItem("inside", "");
  await loadTexts(...(LESSON_PAGES.test(path) ? (["lesson"] as const) : (["lesson", "other"] as const)));
}

/** Loads texts of parts that are shown later. */
export async function loadTexts(...parts: TextPart[]): Promise<void> {
  await Promise.all(
    parts.map(async (part) => {
      requestedParts.add(part);
      try {
        await loadPart(language(), part);
      } catch (error) {
        // Without a connection, the pages that need other parts still open.
        requestedParts.delete(part);
        throw error;
      }
    }),
  );
}

/** The translation of a key that is built from a value of the service, if there is one. */
export const translateIfKnown = (key: string, values: Record<string, unknown> = {}): string | undefined =>
  i18n.exists(key) ? String(i18n.t(key as TextKey, values)) : undefined;

let appliedUserId = "";

/**
 * Switches to the language of the user's account after sign-in. "en" without a region is the default of accounts whose user
 * never chose a language; then the language of the page stays. Users who choose English have `en-GB` (`TAGS`).
 */
export async function applyAccountLanguage(person: { id: string; locale: string }): Promise<void> {
  if (appliedUserId === person.id) return;
  appliedUserId = person.id;
  const chosen = person.locale.slice(0, 2);
  if (person.locale !== "en" && isLanguage(chosen)) await setLanguage(chosen);
}

/** Sets whether the user is addressed formally: staff of a school with that setting, and no user before sign-in. */
export async function setFormalAddress(formal: boolean): Promise<void> {
  if (isFormal === formal) return;
  isFormal = formal;
  if (language() === "de") await setLanguage("de");
}

export async function setLanguage(target: Language): Promise<void> {
  await Promise.all([...requestedParts].map((part) => loadPart(target, part)));
  await i18n.changeLanguage(isFormal && target === "de" ? FORMAL_TAG : target);
  document.documentElement.lang = target;
  localStorage.setItem("language", target);
}
