// Every language has the same keys with the same {{placeholders}}, and no key is unused. The compiler checks that every key in
// the code has a text (src/i18n/textKeys.ts).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const source = new URL("../src", import.meta.url).pathname;
const folder = join(source, "i18n");
const flat = (value, path = "") =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "string" ? [[path + key, inner]] : flat(inner, `${path}${key}.`),
  );
const languages = readdirSync(folder).filter((name) => !name.includes("."));
const files = (language) => readdirSync(join(folder, language)).filter((name) => name.endsWith(".json"));
const read = (language, name) => flat(JSON.parse(readFileSync(join(folder, language, name), "utf8")));
const texts = new Map(
  languages.map((language) => [language, new Map(files(language).flatMap((name) => read(language, name)))]),
);
const code = readdirSync(source, { recursive: true })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes("schema.d"))
  .map((name) => readFileSync(join(source, name), "utf8"))
  .join("\n");
const names = (text) =>
  [...text.matchAll(/{{(\w+)/g)]
    .map((match) => match[1])
    .sort()
    .join();
const faults = [];
const english = texts.get("en");
for (const [language, own] of texts) {
  for (const [key, text] of english) {
    if (!own.has(key)) faults.push(`${language} lacks ${key}`);
    else if (names(own.get(key)) !== names(text)) faults.push(`${language} has other placeholders in ${key}`);
  }
  for (const key of own.keys()) if (!english.has(key)) faults.push(`${language} has ${key}, English does not`);
}
// Keys built at run time end in a name: t(`problem.${code}`).
const prefixes = [...code.matchAll(/[`"]([\w.]+\.)\$\{/g)].map((match) => match[1]);
for (const key of english.keys()) {
  const plain = key.replace(/_(zero|one|two|few|many|other)$/, "");
  if (!code.includes(`"${plain}"`) && !prefixes.some((prefix) => plain.startsWith(prefix)))
    faults.push(`${key} is not used`);
}

// Staff of some schools are addressed formally: every German text that addresses its reader informally has a formal text, unless
// no such user reads it. Texts of two kinds have none:
const INFORMAL_ONLY = [
  // Shown before sign-in.
  ...["signIn.", "forgot.", "slip.", "reset.", "signOn.failed."],
  ...["invitation.text", "invitation.password", "invitation.ignore", "invitation.spent", "invitation.joined"],
  // Shown only to students.
  ...["groups.none", "groups.helpKnown", "me.nameFixed", "refused.NAME_SET_BY_SCHOOL"],
  ...["manual.contact.student", "manual.fact.call", "manual.fact.chat", "projector.help"],
  ...["room.gone.title", "room.gone.now", "room.gone.why", "room.help.", "room.handIn."],
];
const INFORMAL_PRONOUN = /\b(du|dein(e[rmns]?|s)?|dir|dich|euch|euer|eure[rmns]?)\b/i;
const IMPERATIVES =
  "achte|ändere|beginne|benenne|benutze|berichtige|bestätige|bewahre|bewerte|bilde|bring|drucke|drücke|entferne|erzeuge|" +
  "fordere|frag|füge|fülle|geh|gib|hilf|importiere|klicke?|komm|kopiere|lade|lass|leere|lege|lies|lösche|löse|mach|markiere|" +
  "melde|merke?|nimm|nutze|öffne|ordne|prüfe|richte|sage?|scanne|schalte|schau|schließe?|schreibe?|sende|setze|sieh|" +
  "speichere|starte|tippe|trage|verknüpfe|veröffentliche|verschiebe|versuche|verwende|wähle|warte|wiederhole|ziehe?";
// These are nouns, too, unless an object follows.
const AMBIGUOUS_IMPERATIVES = "bitte|frage|stelle|suche|teile";
const INFORMAL_IMPERATIVE = new RegExp(
  `(?<!\\p{L})((${IMPERATIVES})(?!\\p{L})|(${AMBIGUOUS_IMPERATIVES}) (alle|das|deine?|den|die|es|ihn|sicher|sie|um)(?!\\p{L}))`,
  "iu",
);
const isInformal = (text) => {
  const own = text.replaceAll(/„[^“]*“|Zu viele Versuche|Leere Zellen/g, "");
  return INFORMAL_PRONOUN.test(own) || INFORMAL_IMPERATIVE.test(own);
};
const isInformalOnly = (key) => INFORMAL_ONLY.some((one) => (one.endsWith(".") ? key.startsWith(one) : key === one));
const german = texts.get("de");
const formal = new Map();
for (const name of files("de/formal")) {
  const informal = new Map(read("de", name));
  for (const [key, text] of read("de/formal", name)) {
    formal.set(key, text);
    if (!informal.has(key)) faults.push(`de/formal/${name} has ${key}, de/${name} does not`);
    else if (names(informal.get(key)) !== names(text)) faults.push(`de/formal has other placeholders in ${key}`);
    else if (informal.get(key) === text) faults.push(`de/formal has the same text of ${key} as de`);
    if (isInformal(text)) faults.push(`de/formal is informal in ${key}`);
  }
}
for (const [key, text] of german)
  if (isInformal(text) && !formal.has(key) && !isInformalOnly(key)) faults.push(`de/formal lacks ${key}: ${text}`);
for (const one of INFORMAL_ONLY)
  if (![...german].some(([key, text]) => (one.endsWith(".") ? key.startsWith(one) : key === one) && isInformal(text)))
    faults.push(`${one} of INFORMAL_ONLY is not informal`);

// The pages of a lesson load only a part of the texts; modules they import statically must not use others.
const routes = join(source, "routes/_school");
const here = ["today", "groups.index", "topics.$topicId.board", "topics.$topicId.projector", "../_school"].map((name) =>
  join(routes, `${name}.tsx`),
);
const early = readFileSync(join(folder, "en/index.ts"), "utf8")
  .match(/{([\w,]+)}\.json/)[1]
  .split(",");
// A part that is loaded later may load its texts together with its code.
for (const [, area] of code.matchAll(/loadTexts\("(\w+)"\)/g)) early.push(area);
// A group of texts that several files share belongs to the one that is loaded first.
const areaOf = new Map(
  [...files("en"), "common.json"].flatMap((name) =>
    Object.keys(JSON.parse(readFileSync(join(folder, "en", name), "utf8"))).map((key) => [
      key,
      name.replace(".json", ""),
    ]),
  ),
);
const seen = new Set();
const walk = (path) => {
  const file = [`${path}.tsx`, `${path}.ts`, path].find((one) => /\.tsx?$/.test(one) && existsSync(one));
  if (file === undefined || seen.has(file) || file.startsWith(folder)) return;
  seen.add(file);
  // A part that also loads all other texts may use them.
  const text = readFileSync(file, "utf8").replaceAll(/loadTexts\("other"\), import\([^)]*\)/g, "");
  for (const [, key] of text.matchAll(/["`](\w+)\.[\w.$]+/g)) {
    const area = areaOf.get(key);
    if (area !== undefined && area !== "common" && !early.includes(area))
      faults.push(
        `${file.slice(source.length)} belongs to a page of a lesson and uses ${key}.…, which is loaded later (i18n/en/index.ts)`,
      );
  }
  for (const [, from] of text.replaceAll(/import type [^;]*;/g, "").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g))
    walk(join(dirname(file), from));
};
for (const file of here) walk(file);
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
