// Writes a .br and a .gz twin beside each file of the build that gets smaller by it; the service sends what the browser takes.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = new URL("../dist", import.meta.url).pathname;
for (const name of readdirSync(root, { recursive: true })) {
  const path = join(root, name);
  if (!statSync(path).isFile() || /\.(br|gz|png|woff2)$/.test(name)) continue;
  const bytes = readFileSync(path);
  const twins = {
    br: smallest(bytes),
    gz: gzipSync(bytes, { level: 9 }),
  };
  for (const [ending, twin] of Object.entries(twins)) {
    if (twin.length < bytes.length) writeFileSync(`${path}.${ending}`, twin);
  }
}

/** Which parameters compress best differs from file to file. */
function smallest(bytes) {
  const best = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  const tries = [best, { ...best, [constants.BROTLI_PARAM_NPOSTFIX]: 1, [constants.BROTLI_PARAM_NDIRECT]: 8 }];
  return tries.map((params) => brotliCompressSync(bytes, { params })).toSorted((one, other) => one.length - other.length)[0];
}
