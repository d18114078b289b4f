// Runs the browser tests, several files at a time: `npm run e2e`, or `npm run e2e -- e2e/lesson.test.mjs` for some files.
// E2E_CONCURRENCY sets the number of files at a time; by default one per core. `node --test e2e/lesson.test.mjs` works, too.
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("./", import.meta.url));
/** The files that take longest. They start first, so that no core is idle at the end. */
const LONGEST_FIRST = [
  "screens",
  "interruptions",
  "lesson",
  "work-room",
  "work",
  "group-maker",
  "sign-in",
  "administration",
  "board",
  "courses",
];

const rank = (name) => {
  const index = LONGEST_FIRST.indexOf(name.replace(".test.mjs", ""));
  return index === -1 ? LONGEST_FIRST.length : index;
};
const all = () =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".test.mjs"))
    .toSorted((one, other) => rank(one) - rank(other) || one.localeCompare(other));
const wanted = process.argv.slice(2).map((path) => resolve(path));
const files = wanted.length > 0 ? wanted : all().map((name) => join(FOLDER, name));

const events = run({ files, concurrency: Number(process.env.E2E_CONCURRENCY ?? availableParallelism()) });
const durations = new Map();
events.on("test:fail", ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
events.on("test:complete", ({ name, details }) => {
  if (files.includes(name)) durations.set(name, details.duration_ms);
});
const report = events.compose(spec);
report.pipe(process.stdout, { end: false });
report.on("end", () => {
  const lines = [...durations]
    .toSorted(([, one], [, other]) => other - one)
    .map(([file, ms]) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${basename(file)}`);
  console.log(`seconds per file:\n${lines.join("\n")}`);
});
