// Fails if package-lock.json lacks optional packages of other platforms: `npm install` can write such a file, and `npm ci`
// rejects it elsewhere.
import { readFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
const missing = new Set();
for (const { optionalDependencies = {} } of Object.values(packages)) {
  for (const name of Object.keys(optionalDependencies)) {
    if (!Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))) missing.add(name);
  }
}
for (const name of missing) console.error(`package-lock.json lacks ${name}`);
process.exit(missing.size === 0 ? 0 : 1);
