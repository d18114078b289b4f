// Tables of text as spreadsheets write them: read whatever they are called, written so that no spreadsheet takes a cell for a formula.

export type Encoding = "utf-8" | "utf-16" | "windows-1252";

/** The text of a file. What is no UTF-8 is taken for what older programs on Windows write. */
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

/** What separates the cells, by the first line. */
function detectSeparator(text: string): string {
  const line = text.slice(0, text.search(/\r|\n|$/)).replaceAll(/"[^"]*"/g, "");
  const count = (sign: string) => line.split(sign).length;
  return [";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ",");
}

/** The rows of a table; an empty line is a row of one empty cell, so that rows count as a spreadsheet counts them. */
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

/** A table as a file for spreadsheets and for the service: with commas, each cell quoted where it has to be. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** A cell that a spreadsheet shows and does not carry out. */
export const withoutFormula = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);

/** Offers a table as a download; with a mark at its beginning, so that Excel reads umlauts. */
export function downloadTable(name: string, rows: readonly (readonly string[])[]): void {
  const text = formatTable(rows.map((row) => row.map(withoutFormula)));
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
