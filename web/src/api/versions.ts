// Optimistic concurrency: a form keeps the version it is based on, sends it as If-Match, and merges typed values with
// concurrent changes.
import { Problem } from "./client";

/** An object as returned by a GET or a change, with its version. */
export type Versioned<T> = T & { readonly etag?: string };

/** The data of a response with the version of the object. */
export async function withVersion<T extends object>(
  answer: Promise<{ data?: T; response: Response }>,
): Promise<Versioned<T>> {
  const { data, response } = await answer;
  const etag = response.headers.get("etag");
  return { ...(data as T), ...(etag === null ? {} : { etag }) };
}

/** The If-Match header of a change, for the options of a request. */
export const ifMatch = (of: { readonly etag?: string } | undefined): { headers?: Record<string, string> } =>
  of?.etag === undefined ? {} : { headers: { "If-Match": of.etag } };

/** The current object, when a change was rejected as outdated. */
export function currentVersion<T extends object>(problem: unknown): Versioned<T> | undefined {
  if (!(problem instanceof Problem) || problem.code !== "PRECONDITION_FAILED" || problem.current === undefined)
    return undefined;
  return {
    ...(problem.current.object as T),
    ...(problem.current.etag === undefined ? {} : { etag: problem.current.etag }),
  };
}

export interface FieldConflict<T> {
  field: keyof T & string;
  /** Whether the field was also changed here; then the typed value stays. */
  isTyped: boolean;
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Merges a form after a concurrent change: untouched fields take the new values, edited fields keep the typed ones. */
export function mergeForm<T extends object>(
  initial: T,
  typed: T,
  now: T,
): { form: T; differences: FieldConflict<T>[] } {
  const fields = Object.keys(now) as (keyof T & string)[];
  const changed = fields.filter((field) => !isEqual(initial[field], now[field]));
  const isTyped = (field: keyof T) => !isEqual(typed[field], initial[field]) && !isEqual(typed[field], now[field]);
  const followed = changed.filter((field) => !isTyped(field)).map((field) => [field, now[field]]);
  return {
    form: { ...typed, ...(Object.fromEntries(followed) as Partial<T>) },
    differences: changed.map((field) => ({ field, isTyped: isTyped(field) })),
  };
}
