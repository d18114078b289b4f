// Reads the text of a .docx file, to check what the service stored.
import { inflateRawSync } from 'node:zlib';
import { assert } from './api.mjs';

/** Returns the entries of a zip archive by name. */
export function unzip(bytes) {
  const file = Buffer.from(bytes);
  const end = file.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  assert(end >= 0, `not a zip archive: ${file.length} bytes`);
  const parts = new Map();
  let at = file.readUInt32LE(end + 16);
  for (let left = file.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 20)];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => file.readUInt16LE(at + offset));
    const name = file.toString('utf8', at + 46, at + 46 + nameLength);
    const local = file.readUInt32LE(at + 42);
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    const raw = file.subarray(start, start + packed);
    parts.set(name, method === 0 ? raw : inflateRawSync(raw));
    at += 46 + nameLength + extraLength + commentLength;
  }
  return parts;
}

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };

/** Returns the text of a document without markup. */
export function extractText(bytes) {
  const body = unzip(bytes).get('word/document.xml');
  assert(body, 'the archive has no word/document.xml');
  const text = body
    .toString('utf8')
    .replace(/<\/w:p>/g, '\n')
    .replace(/<[^>]*>/g, '');
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity]);
}
