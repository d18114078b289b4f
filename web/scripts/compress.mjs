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
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    gz: gzipSync(bytes, { level: 9 }),
  };
  for (const [ending, twin] of Object.entries(twins)) {
    if (twin.length < bytes.length) writeFileSync(`${path}.${ending}`, twin);
  }
}
