// The service's side of an open document (docs/built-in-editor.md): content, commits, pictures, and the room of its socket.
import { Step } from "prosemirror-transform";

import { parseProblem, Problem } from "../../api/client";
import { addConnectionListener, addEventListener, emitToService } from "../../api/realtime";
import { upload } from "../../api/upload";
import { pageSchoolGeneration, pageSchoolHeaders } from "../../auth/pageSchool";
import { fetchWithSession } from "../../auth/sessionEnd";
import { type Authority, type Commit, CommitRejected, type OutgoingCommit } from "./collaboration/commits";
import type { CursorMessage } from "./collaboration/cursors";
import { schema } from "./document/schema";
import type { DocumentContent, DocumentStyle, UploadedImage } from "./view/controller";

interface CommitJson {
  version: number;
  ref: string;
  clientId: string;
  userId: string | null;
  steps: object[];
}

interface ContentJson {
  generation: number;
  version: number;
  doc: object;
  canEdit: boolean;
  readOnlyReasons: string[];
  styles: DocumentStyle[];
}

export interface LoadedContent extends DocumentContent {
  generation: number;
}

/** A request that takes longer counts as failed and is repeated. */
const TIMEOUT_MS = 20_000;
const path = (id: string, rest: string) => `/workrooms/documents/${id}/${rest}`;

async function send<T>(method: "GET" | "POST", address: string, body?: object): Promise<T> {
  const sentIn = pageSchoolGeneration();
  const request = new Request(`/api${address}`, {
    method,
    credentials: "same-origin",
    headers: { ...pageSchoolHeaders(), ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const response = await fetchWithSession(request);
  if (!response.ok) throw await parseProblem(response, sentIn);
  return (await response.json()) as T;
}

export async function loadContent(id: string): Promise<LoadedContent> {
  const { doc, ...rest } = await send<ContentJson>("GET", path(id, "content")).catch((error: unknown) => {
    if (error instanceof Problem) throw error;
    throw new Problem(0, "OFFLINE", "The service cannot be reached");
  });
  const parsed = schema.nodeFromJSON(doc);
  parsed.check();
  return { ...rest, doc: parsed };
}

export const imageUrl = (documentId: string, imageId: string): string =>
  `/api${path(documentId, `images/${encodeURIComponent(imageId)}`)}`;

export function uploadImage(documentId: string, file: File): Promise<UploadedImage> {
  const form = new FormData();
  form.append("file", file);
  return upload<UploadedImage>(path(documentId, "images"), form).done;
}

const parseCommit = ({ version, ref, userId, steps }: CommitJson): Commit => ({
  version,
  ref,
  userId,
  steps: steps.map((step) => Step.fromJSON(schema, step)),
});

/** Codes after which the document cannot be edited by this page. */
const CLOSED_CODES = ["ALREADY_SUBMITTED", "DOCUMENT_LOCKED", "CLASS_ARCHIVED", "EDITOR_NOT_AVAILABLE"];

function rejectionOf(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  if (error.status === 410) return new CommitRejected("expired");
  // The last one: so many late commits of this user are kept that no more are.
  if ([400, 413, 422].includes(error.status) || error.code === "LIMIT_REACHED") return new CommitRejected("invalid");
  if ([401, 403, 404].includes(error.status) || CLOSED_CODES.includes(error.code)) return new CommitRejected("closed");
  return error;
}

async function fetchCommits(id: string, generation: number, version: number): Promise<Commit[]> {
  const commits: Commit[] = [];
  for (let hasMore = true; hasMore;) {
    const since = commits.at(-1)?.version ?? version;
    const page = await send<{ commits: CommitJson[]; hasMore: boolean }>(
      "GET",
      path(id, `commits?generation=${generation}&since=${since}`),
    );
    commits.push(...page.commits.map(parseCommit));
    hasMore = page.hasMore && page.commits.length > 0;
  }
  return commits;
}

/** The log of one generation of a document. */
export function serviceAuthority(id: string, generation: number, clientId: string): Authority {
  const commitsSince = (version: number) =>
    fetchCommits(id, generation, version).catch((error: unknown) => {
      throw rejectionOf(error);
    });
  return {
    commitsSince,
    append: async ({ ref, version, steps }: OutgoingCommit) => {
      const body = { generation, ref, clientId, version, steps: steps.map((step) => step.toJSON() as object) };
      const result = await send<{ outcome: string; version: number; commits: CommitJson[] | null }>(
        "POST",
        path(id, "commits"),
        body,
      ).catch((error: unknown) => {
        throw rejectionOf(error);
      });
      if (result.outcome === "LATE") throw new CommitRejected("late");
      return result.commits === null ? commitsSince(version) : result.commits.map(parseCommit);
    },
    subscribe: (listener) =>
      addEventListener((event, payload) => {
        const hint = payload as { documentId?: string; generation?: number; commits?: CommitJson[] | null };
        if (event !== "document:commits" || hint.documentId !== id) return false;
        if (hint.generation === generation) listener(parseOrFetch(hint.commits ?? null));
        return true;
      }),
  };
}

/** Commits of an event; null, which makes the session fetch them, if they cannot be parsed. */
function parseOrFetch(commits: CommitJson[] | null): Commit[] | null {
  try {
    return commits?.map(parseCommit) ?? null;
  } catch {
    return null;
  }
}

/**
 * Keeps a page in the room of its document while it is connected. `onJoined` is called after every join: events before it were
 * missed. Returns the function that leaves the room.
 */
export function joinDocument(
  room: { documentId: string; generation: number; clientId: string },
  onJoined: () => void,
  onConnection: (isConnected: boolean) => void,
): () => void {
  const { documentId, clientId } = room;
  const end = addConnectionListener((isLive) => {
    if (!isLive) {
      onConnection(false);
      return;
    }
    emitToService("document:open", room, (response) => {
      const isJoined = (response as { joined?: boolean } | undefined)?.joined === true;
      onConnection(isJoined);
      if (isJoined) onJoined();
    });
  });
  return () => {
    end();
    emitToService("document:close", { documentId, clientId });
  };
}

export function sendCursor(
  room: { documentId: string; generation: number; clientId: string },
  cursor: { version: number; anchor: number | null; head: number | null },
): void {
  emitToService("document:move", { ...room, ...cursor });
}

export function onCursor(documentId: string, listener: (message: CursorMessage) => void): () => void {
  return addEventListener((event, payload) => {
    const message = payload as CursorMessage & { documentId?: string };
    if (event !== "document:cursor" || message.documentId !== documentId) return false;
    listener(message);
    return true;
  });
}
