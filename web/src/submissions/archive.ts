// What an archive of a topic says about itself while it streams: its first file lists the others, its last one names what
// could not be brought. Only what is needed of the format is read here.

export interface Progress {
  bytes: number;
  /** Files that have come, without the list itself. */
  files?: number;
  /** Files that the list names. */
  total?: number;
}

const LOCAL = [0x50, 0x4b, 0x03, 0x04];
/** The list of a topic is short; what is longer is no list. */
const LIST_MAX = 4_000_000;

/** Watches a file pass by; one that is no archive is only weighed. */
export class Archive {
  readonly stream: TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
  private bytes = 0;
  private begun = 0;
  private matched = 0;
  private head: Uint8Array[] = [];
  private total: number | undefined;

  constructor(private readonly onProgress: (progress: Progress) => void) {
    this.stream = new TransformStream({
      transform: (piece, out) => {
        out.enqueue(piece);
        this.watch(piece);
      },
    });
  }

  private watch(piece: Uint8Array): void {
    const before = this.begun;
    for (const byte of piece) {
      this.matched = byte === LOCAL[this.matched] ? this.matched + 1 : byte === LOCAL[0] ? 1 : 0;
      if (this.matched === LOCAL.length) {
        this.begun += 1;
        this.matched = 0;
      }
    }
    this.bytes += piece.length;
    if (before < 2 && this.bytes < LIST_MAX) {
      this.head.push(piece);
      if (this.begun >= 2) void this.readList();
    }
    this.tell();
  }

  private tell(): void {
    const files = this.begun === 0 ? {} : { files: Math.max(0, this.begun - 2), ...(this.total === undefined ? {} : { total: this.total }) };
    this.onProgress({ bytes: this.bytes, ...files });
  }

  private async readList(): Promise<void> {
    const head = joined(this.head);
    this.head = [];
    const list = await text(head, 0);
    if (list !== undefined) {
      this.total = filesIn(list);
      this.tell();
    }
  }

  /** What a finished archive says it could not bring, a line each. */
  async missing(whole: Blob): Promise<string[]> {
    if (this.begun === 0) return [];
    const tail = new Uint8Array(await whole.slice(-70_000).arrayBuffer());
    const at = directoryEntry(tail, "errors.txt");
    if (at === undefined) return [];
    const list = await text(new Uint8Array(await whole.slice(at).arrayBuffer()), 0);
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

/** Where the file of this name begins, by the directory at the end of the archive. */
function directoryEntry(tail: Uint8Array, name: string): number | undefined {
  const numbers = view(tail);
  for (let at = tail.length - 46; at >= 0; at -= 1) {
    if (numbers.getUint32(at, true) !== 0x02014b50) continue;
    const length = numbers.getUint16(at + 28, true);
    if (new TextDecoder().decode(tail.subarray(at + 46, at + 46 + length)) === name) return numbers.getUint32(at + 42, true);
  }
  return undefined;
}

/** The text of the file that begins here; its end is where the compressed bytes say so. */
async function text(bytes: Uint8Array, at: number): Promise<string | undefined> {
  const numbers = view(bytes);
  if (bytes.length < at + 30 || numbers.getUint16(at + 8, true) !== 8) return undefined;
  const from = at + 30 + numbers.getUint16(at + 26, true) + numbers.getUint16(at + 28, true);
  const plain = new DecompressionStream("deflate-raw");
  const writer = plain.writable.getWriter();
  // What follows the file makes the writing fail, after everything of the file was read.
  writer.write(bytes.slice(from)).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = plain.readable.getReader();
  const decoder = new TextDecoder();
  let found = "";
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) found += decoder.decode(piece.value, { stream: true });
  } catch {
    // The end of the file was passed.
  }
  return found;
}

/** How many files a list names: one in its column "file", one in its column "pdf". */
export function filesIn(list: string): number {
  const [header = [], ...rows] = cells(list);
  const columns = ["file", "pdf"].map((name) => header.indexOf(name)).filter((column) => column >= 0);
  return rows.reduce((sum, row) => sum + columns.filter((column) => (row[column] ?? "") !== "").length, 0);
}

/** The cells of a table with commas, some of them quoted. */
export function cells(table: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of table.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.some((cell) => cell !== ""));
}
