// Bringing files out of the service, and into it.
import { client } from "../../api/client";

/** Saves what an address of the service answers as a file, the way a link with `download` does. */
export function saveFromUrl(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Asks for a file, where a menu and not a button leads to it. */
export function pickFile(accept: string, onFile: (file: File) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = accept;
  input.addEventListener("change", () => input.files?.[0] && onFile(input.files[0]));
  input.click();
}

/** The PDF of a document, as a file; throws a `Problem` where it cannot be made. */
export async function savePdf(document: { id: string; title: string }): Promise<void> {
  const answer = await client.GET("/workrooms/documents/{id}/pdf", { params: { path: { id: document.id } }, parseAs: "blob" });
  saveBytes(answer.data as Blob, `${document.title}.pdf`);
}

/** The PDF of a document as it was handed in. */
export async function saveSubmittedPdf(document: { submissionId: string; id: string; title: string }): Promise<void> {
  const path = { id: document.submissionId, documentId: document.id };
  const answer = await client.GET("/feedback/submissions/{id}/documents/{documentId}/pdf", { params: { path }, parseAs: "blob" });
  saveBytes(answer.data as Blob, `${document.title}.pdf`);
}

function saveBytes(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  saveFromUrl(address, name);
  // The browser has taken the bytes over long before a minute is over.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A size in the words of the reader's language. */
export function formatSize(bytes: number, language: string): string {
  const [unit, size] = bytes < 1e6 ? (["kilobyte", bytes / 1e3] as const) : bytes < 1e9 ? (["megabyte", bytes / 1e6] as const) : (["gigabyte", bytes / 1e9] as const);
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: bytes < 1e6 ? 0 : 1 }).format(Math.max(1, size));
}
