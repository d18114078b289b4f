// Loaded on demand, because it contains the encoder of QR codes.
import { encode } from "uqr";

import type { QrCode } from "./passwordSheets";

/** Quiet zone around a code, in squares, as the standard requires. */
const BORDER = 4;

/** Renders a text as a QR code. Its squares survive a fold or a stain of the paper (error correction M). */
export function renderCode(text: string): QrCode {
  const { data, size } = encode(text, { ecc: "M", border: BORDER });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return { size, path };
}
