// Reads the progress of a topic archive while it streams: its first file lists the others, its last one names missing
// files. Implements only the required parts of the zip format.

export interface ArchiveProgress {
  bytes: number;
  /** Files received so far, without the list itself. */
  files?: number;
  /** Number of files in the list. */
  total?: number;
}

const LOCAL = [0x50, 0x4b, 0x03, 0x04];
/** The list of a topic is short; anything longer is not a list. */
const LIST_MAX = 4_000_000;

/** Observes a stream; for data that is not an archive, counts only the bytes. */
export class Archive {
  readonly stream: TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
  private bytes = 0;
  private begun = 0;
  private matched = 0;
  private head: Uint8Array[] = [];
  private total: number | undefined;
  private reading: Promise<void> | undefined;

  constructor(private readonly onProgress: (progress: ArchiveProgress) => void) {
    this.stream = new TransformStream({
      transform: (piece, out) => {
        out.enqueue(piece);
        this.watch(piece);
      },
      flush: () => this.reading,
    });
  }

  /** Whether the stream was an archive. */
  get isArchive(): boolean {
    return this.begun > 0;
  }

  private watch(piece: Uint8Array): void {
    const before = this.begun;
    let end = 0;
    for (const [index, byte] of piece.entries()) {
      this.matched = byte === LOCAL[this.matched] ? this.matched + 1 : byte === LOCAL[0] ? 1 : 0;
      if (this.matched === LOCAL.length) {
        this.begun += 1;
        this.matched = 0;
        if (this.begun === 2) end = this.bytes + index + 1 - LOCAL.length;
      }
    }
    this.bytes += piece.length;
    if (before < 2 && this.bytes < LIST_MAX) {
      this.head.push(piece);
      if (this.begun >= 2) this.reading = this.readList(end);
    }
    this.tell();
  }

  private tell(): void {
    const files =
      this.begun === 0
        ? {}
        : { files: Math.max(0, this.begun - 2), ...(this.total === undefined ? {} : { total: this.total }) };
    this.onProgress({ bytes: this.bytes, ...files });
  }

  /** Parses the first file, which ends before this byte. */
  private async readList(end: number): Promise<void> {
    const head = joined(this.head);
    this.head = [];
    const list = await text(head.subarray(0, end - sizesBefore(head, end)));
    if (list !== undefined) {
      this.total = filesIn(list);
      this.tell();
    }
  }

  /** Files that the complete archive reports as missing, one per line. */
  async missing(whole: Blob): Promise<string[]> {
    if (this.begun === 0) return [];
    const tail = new Uint8Array(await whole.slice(-70_000).arrayBuffer());
    const place = directoryEntry(tail, "errors.txt");
    if (place === undefined) return [];
    const file = new Uint8Array(await whole.slice(place.at, place.at + 30 + 600 + place.size).arrayBuffer());
    const list = await text(file.subarray(0, bytesFrom(file) + place.size));
    return (list ?? "").split(/\r?\n/).filter((line) => line.trim() !== "");
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Length of the data descriptor before the next record, which begins here. */
function sizesBefore(bytes: Uint8Array, end: number): number {
  return [16, 24].find((size) => end >= size && view(bytes).getUint32(end - size, true) === 0x08074b50) ?? 0;
}

/** Offset and packed length of a file, from the directory at the end of the archive. */
function directoryEntry(tail: Uint8Array, name: string): { at: number; size: number } | undefined {
  const numbers = view(tail);
  for (let at = tail.length - 46; at >= 0; at -= 1) {
    if (numbers.getUint32(at, true) !== 0x02014b50) continue;
    const length = numbers.getUint16(at + 28, true);
    if (new TextDecoder().decode(tail.subarray(at + 46, at + 46 + length)) === name)
      return { at: numbers.getUint32(at + 42, true), size: numbers.getUint32(at + 20, true) };
  }
  return undefined;
}

/** Offset of the packed data in a local file record. */
const bytesFrom = (file: Uint8Array): number => 30 + view(file).getUint16(26, true) + view(file).getUint16(28, true);

/** Text of one packed file, given its complete bytes. */
async function text(file: Uint8Array): Promise<string | undefined> {
  const isDeflated = file.length >= 30 && view(file).getUint16(8, true) === 8;
  if (!isDeflated) return undefined;
  const packed = new Blob([file.slice(bytesFrom(file))]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("deflate-raw"))).text().catch(() => undefined);
}

/** Number of files in a list: one in its column "file", one in its column "pdf". */
export function filesIn(list: string): number {
  const [header = [], ...rows] = cells(list);
  const columns = ["file", "pdf"].map((name) => header.indexOf(name)).filter((column) => column >= 0);
  return rows.reduce((sum, row) => sum + columns.filter((column) => (row[column] ?? "") !== "").length, 0);
}

/** Cells of a comma-separated table with optional quotes. */
export function cells(table: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of table.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.some((cell) => cell !== ""));
}
