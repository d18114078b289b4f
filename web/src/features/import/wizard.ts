// State of a running import. It is kept in the query cache, so that the import continues while other pages are open and is
// deleted on sign-out.
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";

import { Problem, type Schemas } from "../../api/client";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { upload } from "../../api/upload";
import type { PasswordSheet } from "../users/passwordSheets";
import { composeTable, guessColumns, type ColumnMap } from "./columns";
import { decodeText, type Encoding, parseTable, formatTable } from "./csv";

export type Report = Schemas["ImportReport"];
export type ReportRow = Schemas["ImportRow"];
export type ImportStep = "file" | "columns" | "check" | "done";

export interface Wizard {
  step: ImportStep;
  file: File | null;
  /** Rows of a table; null for an archive, which the service reads itself. */
  rows: string[][] | null;
  encoding: Encoding;
  columns: ColumnMap;
  defaultRole: "student" | "teacher";
  mode: Schemas["ImportMode"];
  /** New homerooms to skip. */
  excludedHomerooms: string[];
  /** The current upload and its progress. */
  sending: { isDry: boolean; share: number } | null;
  check: Report | null;
  result: Report | null;
  problem: unknown;
  sheets: PasswordSheet[];
}

const WIZARD_KEY = queryKeys.import.wizard();
export const PROGRESS_KEY = queryKeys.import.progress();
const INITIAL: Wizard = {
  step: "file",
  file: null,
  rows: null,
  encoding: "utf-8",
  columns: {},
  defaultRole: "student",
  mode: "upsert",
  excludedHomerooms: [],
  sending: null,
  check: null,
  result: null,
  problem: null,
  sheets: [],
};

export type Change = (part: Partial<Wizard>) => void;

const getWizard = (cache: QueryClient): Wizard => cache.getQueryData(WIZARD_KEY) ?? INITIAL;
// After sign-out there is no state that a late response could be written into.
const updateWizard = (cache: QueryClient, part: Partial<Wizard>) =>
  cache.setQueryData(WIZARD_KEY, (before) => (before === undefined ? undefined : { ...before, ...part }));

/** The running import, and how to update it. */
export function useWizard(): { wizard: Wizard; change: Change; restart: () => void } {
  const cache = useQueryClient();
  const { data } = useQuery<Wizard>({
    queryKey: WIZARD_KEY,
    queryFn: () => INITIAL,
    initialData: INITIAL,
    enabled: false,
    gcTime: Infinity,
    structuralSharing: false,
  });
  return {
    wizard: data,
    change: (part) => void updateWizard(cache, part),
    restart: () => void cache.setQueryData(WIZARD_KEY, INITIAL),
  };
}

/** Progress of the service in rows, while it reports it. */
export function useProgress(): { rows: number; done: number } | undefined {
  const { data } = useQuery<{ rows: number; done: number; isFinished: boolean }>({
    queryKey: PROGRESS_KEY,
    queryFn: () => ({ rows: 0, done: 0, isFinished: true }),
    enabled: false,
  });
  return data === undefined || data.isFinished ? undefined : data;
}

/** Reads a file: tables are parsed here, archives are left to the service, Excel files are neither. */
export async function readFile(file: File): Promise<Partial<Wizard>> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isPacked = bytes[0] === 0x50 && bytes[1] === 0x4b;
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, 4096));
  if (isPacked && (head.includes("[Content_Types].xml") || head.includes("mimetypeapplication/vnd.oasis")))
    throw new Problem(0, "EXCEL", "");
  if (isPacked) return { ...INITIAL, step: "columns", file };
  const { text, encoding } = decodeText(bytes);
  const rows = parseTable(text);
  if (rows.length < 2) throw new Problem(0, "NO_ROWS", "");
  return { ...INITIAL, step: "columns", file, rows, encoding, columns: guessColumns(rows[0] ?? []) };
}

/** Sends the users to the service, as a dry run (`isDry`) or for import. */
export async function sendImport(cache: QueryClient, isDry: boolean): Promise<Report | null> {
  const { file, rows, mode, ...reading } = getWizard(cache);
  if (file === null) return null;
  cache.removeQueries({ queryKey: PROGRESS_KEY });
  updateWizard(cache, { sending: { isDry, share: 0 }, problem: null });
  const form = new FormData();
  form.append(
    "file",
    rows === null ? file : new File([formatTable(composeTable(rows, reading))], "people.csv", { type: "text/csv" }),
  );
  const stay = (event: BeforeUnloadEvent) => event.preventDefault();
  if (!isDry) window.addEventListener("beforeunload", stay);
  try {
    const { done } = upload<Report | null>(`/users/import?dryRun=${isDry ? 1 : 0}&mode=${mode}`, form, (share) =>
      updateWizard(cache, { sending: { isDry, share } }),
    );
    const report = await done;
    // The response is streamed while rows are processed; an aborted response is not valid JSON.
    if (report === null) throw new Problem(0, "BROKEN_OFF", "");
    updateWizard(cache, isDry ? { check: report, step: "check" } : { result: report, step: "done" });
    return report;
  } catch (problem) {
    updateWizard(cache, { problem });
    return null;
  } finally {
    window.removeEventListener("beforeunload", stay);
    updateWizard(cache, { sending: null });
    if (!isDry) await invalidate(cache, "users", "homerooms", "classes", "admin");
  }
}
