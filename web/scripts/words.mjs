// Every language says the same things: the same keys, the same {{names}} in them, and no key that nothing uses.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const source = new URL("../src", import.meta.url).pathname;
const folder = join(source, "lib/words");
const flat = (value, path = "") =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "string" ? [[path + key, inner]] : flat(inner, `${path}${key}.`),
  );
const languages = readdirSync(folder).filter((name) => !name.includes("."));
const files = (language) => readdirSync(join(folder, language)).filter((name) => name.endsWith(".json"));
const read = (language, name) => flat(JSON.parse(readFileSync(join(folder, language, name), "utf8")));
const words = new Map(languages.map((language) => [language, new Map(files(language).flatMap((name) => read(language, name)))]));
const code = readdirSync(source, { recursive: true })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes("schema.d"))
  .map((name) => readFileSync(join(source, name), "utf8"))
  .join("\n");
const names = (text) => [...text.matchAll(/{{(\w+)/g)].map((match) => match[1]).sort().join();
const faults = [];
const english = words.get("en");
for (const [language, texts] of words) {
  for (const [key, text] of english) {
    if (!texts.has(key)) faults.push(`${language} lacks ${key}`);
    else if (names(texts.get(key)) !== names(text)) faults.push(`${language} says ${key} with other names`);
  }
  for (const key of texts.keys()) if (!english.has(key)) faults.push(`${language} has ${key}, English has not`);
}
// Keys put together at run time end in a name: t(`problem.${code}`).
const prefixes = [...code.matchAll(/[`"]([\w.]+\.)\$\{/g)].map((match) => match[1]);
for (const key of english.keys()) {
  const plain = key.replace(/_(zero|one|two|few|many|other)$/, "");
  if (!code.includes(`"${plain}"`) && !prefixes.some((prefix) => plain.startsWith(prefix))) faults.push(`nothing says ${key}`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
