// The HTTP client of the service. Every call returns its data or throws a `Problem`; it throws nothing else.
import createClient from "openapi-fetch";

import { fetchWithSession } from "../auth/sessionEnd";
import { checkMaintenance } from "./maintenance";
import { checkSchoolChanged, pageSchoolGeneration, pageSchoolHeaders } from "../auth/pageSchool";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** An error response of the service, or a failed connection (`status` 0, `code` OFFLINE). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: readonly { path: string; code?: string; message: string }[] = [],
    readonly requestId?: string,
    /** The current object with its version, when a change was rejected as outdated. */
    readonly current?: { object: unknown; etag: string | undefined },
  ) {
    super(message);
  }
}

export const client = createClient<paths>({ baseUrl: "/api", credentials: "same-origin", fetch: fetchWithSession });

/** The page on which a required second factor is set up. */
const SETUP = "/second-factor";

let eventPosition: string | undefined;

/** The position in the stream of events before the data of this page was read; see docs/api-contract.md#real-time-events. */
export const firstEventPosition = (): string | undefined => eventPosition;

/** Called when the data of the page is discarded. */
export function resetEventPosition(): void {
  eventPosition = undefined;
}

const generations = new WeakMap<Request, number>();

client.use({
  onRequest({ request }) {
    generations.set(request, pageSchoolGeneration());
    for (const [name, value] of Object.entries(pageSchoolHeaders())) request.headers.set(name, value);
  },
  onError: () => new Problem(0, "OFFLINE", "The service cannot be reached"),
  async onResponse({ request, response }) {
    eventPosition ??= response.headers.get("event-position") ?? undefined;
    if (!response.ok) throw await parseProblem(response, generations.get(request));
    checkMaintenance(response.headers.get("x-maintenance"));
  },
});

/** Parses an error response. */
export async function parseProblem(response: Response, sentIn?: number): Promise<Problem> {
  // Not all requests are sent by `client`: the built-in editor sends its own.
  checkMaintenance(response.headers.get("x-maintenance"));
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const parsed = (typeof body === "object" && body !== null ? body : {}) as {
    code?: string;
    message?: string;
    details?: { path: string; message: string }[];
    requestId?: string;
    current?: unknown;
  };
  checkSchoolChanged(parsed.code, sentIn);
  // Until a required second factor is set up, nothing else is served.
  if (parsed.code === "SECOND_FACTOR_REQUIRED" && window.location.pathname !== SETUP) window.location.assign(SETUP);
  return new Problem(
    response.status,
    parsed.code ?? "UNKNOWN",
    parsed.message ?? response.statusText,
    parsed.details ?? [],
    parsed.requestId ?? response.headers.get("x-request-id") ?? undefined,
    parsed.current === undefined
      ? undefined
      : { object: parsed.current, etag: response.headers.get("etag") ?? undefined },
  );
}

/** Returns the data of a successful response; errors have been thrown before. */
export async function unwrap<T>(request: Promise<{ data?: T }>): Promise<T> {
  return (await request).data as T;
}
