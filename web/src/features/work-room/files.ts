// File downloads and file selection.
import { client } from "../../api/client";

/** Saves the response of a URL as a file, like a link with `download`. */
export function saveFromUrl(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Opens the file chooser from a menu item. */
export function pickFile(accept: string, onFile: (file: File) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = accept;
  input.addEventListener("change", () => input.files?.[0] && onFile(input.files[0]));
  input.click();
}

/** Saves a document as PDF; throws a `Problem` if it cannot be converted. */
export async function savePdf(document: { id: string; title: string }): Promise<void> {
  const answer = await client.GET("/workrooms/documents/{id}/pdf", {
    params: { path: { id: document.id } },
    parseAs: "blob",
  });
  saveBytes(answer.data as Blob, `${document.title}.pdf`);
}

/** Saves the submitted version of a document as PDF. */
export async function saveSubmittedPdf(document: { submissionId: string; id: string; title: string }): Promise<void> {
  const path = { id: document.submissionId, documentId: document.id };
  const answer = await client.GET("/feedback/submissions/{id}/documents/{documentId}/pdf", {
    params: { path },
    parseAs: "blob",
  });
  saveBytes(answer.data as Blob, `${document.title}.pdf`);
}

function saveBytes(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  saveFromUrl(address, name);
  // The browser has read the bytes long before a minute has passed.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Formats a file size in the reader's language. */
export function formatSize(bytes: number, language: string): string {
  const [unit, size] =
    bytes < 1e6
      ? (["kilobyte", bytes / 1e3] as const)
      : bytes < 1e9
        ? (["megabyte", bytes / 1e6] as const)
        : (["gigabyte", bytes / 1e9] as const);
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumFractionDigits: bytes < 1e6 ? 0 : 1,
  }).format(Math.max(1, size));
}
