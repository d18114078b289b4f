import { describe, expect, it } from "vitest";

import { Archive, cells, filesIn, type ArchiveProgress } from "./archiveProgress";

type Bytes = Uint8Array<ArrayBuffer>;
const encode = (text: string): Bytes => new TextEncoder().encode(text);
const bytesOf = async (body: BodyInit): Promise<Bytes> => new Uint8Array(await new Response(body).arrayBuffer());
const pack = (text: string) => bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")));

/** A record of the zip format: numbers at given offsets with given widths. */
function record(size: number, ...numbers: [at: number, bits: 16 | 32, value: number][]): Bytes {
  const view = new DataView(new ArrayBuffer(size));
  for (const [at, bits, value] of numbers) (bits === 16 ? view.setUint16 : view.setUint32).call(view, at, value, true);
  return new Uint8Array(view.buffer);
}

/** An archive as the service streams it: sizes after the data, directory at the end. */
async function archive(files: Record<string, string>): Promise<Bytes> {
  const parts: Bytes[] = [];
  const directory: Bytes[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = await pack(text);
    const head = record(30, [0, 32, 0x04034b50], [8, 16, 8], [26, 16, name.length]);
    parts.push(head, encode(name), packed, record(16, [0, 32, 0x08074b50]));
    directory.push(
      record(46, [0, 32, 0x02014b50], [20, 32, packed.length], [28, 16, name.length], [42, 32, at]),
      encode(name),
    );
    at += 30 + name.length + packed.length + 16;
  }
  return bytesOf(new Blob([...parts, ...directory, record(22)]));
}

const LIST = 'group,file,pdf\r\n"Rivers, ""big""",1/Rivers.docx,1/Rivers.pdf\r\nCoasts,5/Coasts.docx,\r\nCaves,,\r\n';

async function stream(bytes: Bytes, size: number): Promise<{ reports: ArchiveProgress[]; missing: string[] }> {
  const reports: ArchiveProgress[] = [];
  const watching = new Archive((progress) => reports.push(progress));
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
  const source = new ReadableStream<Bytes>({
    pull: (out) => (pieces.length === 0 ? out.close() : out.enqueue(pieces.shift()!)),
  });
  const whole = await new Response(source.pipeThrough(watching.stream)).blob();
  return { reports, missing: await watching.missing(whole) };
}

describe("archive stream", () => {
  const files = { "index.csv": LIST, "1/Rivers.docx": "a".repeat(3_000), "1/Rivers.pdf": "b", "5/Coasts.docx": "c" };
  it.each([1, 7, 1_000_000])("counts its files, whatever the pieces (%i bytes)", async (size) => {
    const { reports, missing } = await stream(await archive(files), size);
    expect(reports.at(-1)).toEqual({ bytes: (await archive(files)).length, files: 2, total: 3 });
    expect(missing).toEqual([]);
  });
  it("reports missing files", async () => {
    const errors = "1/Rivers.pdf: it could not be converted\r\n5/Coasts.pdf: it is damaged\r\n";
    const { missing } = await stream(await archive({ ...files, "errors.txt": errors }), 50);
    expect(missing).toEqual(["1/Rivers.pdf: it could not be converted", "5/Coasts.pdf: it is damaged"]);
  });
  it("may not be an archive", async () => {
    const { reports, missing } = await stream(encode("%PDF-1.7 just a document"), 5);
    expect(reports.at(-1)).toEqual({ bytes: 24 });
    expect(missing).toEqual([]);
  });
});

describe("file list", () => {
  it("is parsed with quotes", () => {
    expect(cells('a,"b ""c"", d"\r\n1,\r\n')).toEqual([
      ["a", 'b "c", d'],
      ["1", ""],
    ]);
  });
  it("counts files of two columns", () => {
    expect(filesIn(LIST)).toBe(3);
    expect(filesIn("")).toBe(0);
  });
});
