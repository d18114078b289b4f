// Writes .br and .gz copies of each file of the build that gets smaller by compression; the service negotiates the encoding.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = new URL("../dist", import.meta.url).pathname;
for (const name of readdirSync(root, { recursive: true })) {
  const path = join(root, name);
  if (!statSync(path).isFile() || /\.(br|gz|png|woff2)$/.test(name)) continue;
  const bytes = readFileSync(path);
  const twins = { br: smallest(bytes), gz: gzipSync(bytes, { level: 9 }) };
  for (const [ending, twin] of Object.entries(twins)) {
    if (twin.length < bytes.length) writeFileSync(`${path}.${ending}`, twin);
  }
}

/** Returns the smallest of several Brotli encodings; the best parameters differ by file. */
function smallest(bytes) {
  const best = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  const tries = [best, { ...best, [constants.BROTLI_PARAM_NPOSTFIX]: 1, [constants.BROTLI_PARAM_NDIRECT]: 8 }];
  return tries
    .map((params) => brotliCompressSync(bytes, { params }))
    .toSorted((one, other) => one.length - other.length)[0];
}
