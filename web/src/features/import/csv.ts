// Reads CSV files as spreadsheets write them, and writes them so that no spreadsheet interprets a cell as a formula.

export type Encoding = "utf-8" | "utf-16" | "windows-1252";

/** Decodes a file. Text that is not valid UTF-8 is decoded as windows-1252, which older programs write. */
export function decodeText(bytes: Uint8Array): { text: string; encoding: Encoding } {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { text: new TextDecoder("utf-16le").decode(bytes), encoding: "utf-16" };
  if (first === 0xfe && second === 0xff) return { text: new TextDecoder("utf-16be").decode(bytes), encoding: "utf-16" };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), encoding: "utf-8" };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252" };
  }
}

/** Detects the separator from the first line. */
function detectSeparator(text: string): string {
  const line = text.slice(0, text.search(/\r|\n|$/)).replaceAll(/"[^"]*"/g, "");
  const count = (sign: string) => line.split(sign).length;
  return [";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ",");
}

/** Parses the rows. An empty line is a row with one empty cell, so that row numbers match those of a spreadsheet. */
export function parseTable(text: string): string[][] {
  const between = detectSeparator(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === between) endCell();
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[at + 1] === "\n") at++;
      endRow();
    } else cell += sign;
  }
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}

/** Formats rows as comma-separated values with quoted cells where needed. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** Escapes a cell that a spreadsheet would run as a formula. */
export const withoutFormula = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);

/** Downloads a table, with a byte order mark so that Excel reads umlauts. */
export function downloadTable(name: string, rows: readonly (readonly string[])[]): void {
  const text = formatTable(rows.map((row) => row.map(withoutFormula)));
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
