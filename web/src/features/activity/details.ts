// The details of a log entry as short texts. Omits ids and other values that mean nothing to a reader.

export type DetailValue =
  | { is: "text"; text: string }
  | { is: "moment"; at: string }
  | { is: "word"; word: string }
  | { is: "list"; items: string[] }
  | { is: "seconds"; count: number }
  | { is: "bytes"; count: number }
  | { is: "number"; count: number };

export interface Detail {
  field: string;
  value: DetailValue;
  /** The former value. */
  before?: DetailValue;
}

type Details = Readonly<Record<string, unknown>>;

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const WORD = /^[A-Z][A-Z_]+$/;
const isObject = (value: unknown): value is Details =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Display name of an object of any type. */
function displayName(thing: unknown): string | undefined {
  if (typeof thing === "string") return thing;
  if (!isObject(thing)) return undefined;
  return [thing.name, thing.title, thing.fileName].find((name) => typeof name === "string");
}

function detailValue(field: string, value: unknown): DetailValue | undefined {
  if (value === null || value === "") return { is: "word", word: "none" };
  if (typeof value === "boolean") return { is: "word", word: value ? "yes" : "no" };
  if (typeof value === "number")
    return {
      is: /seconds$/i.test(field) ? "seconds" : /size$|bytes$|quota$/i.test(field) ? "bytes" : "number",
      count: value,
    };
  if (typeof value === "string")
    return MOMENT.test(value)
      ? { is: "moment", at: value }
      : WORD.test(value)
        ? { is: "word", word: value }
        : { is: "text", text: value };
  if (Array.isArray(value)) {
    const items = value.map(displayName).filter((name) => name !== undefined);
    return items.length === 0 ? undefined : { is: "list", items };
  }
  const name = displayName(value);
  return name === undefined ? undefined : { is: "text", text: name };
}

const isId = (field: string): boolean => /Ids?$/.test(field) || field === "id";

/** Replaces ids by the names of their objects where known. */
function namedIds(ids: unknown, of: ReadonlyMap<string, string>): DetailValue | undefined {
  const items = [ids].flat().flatMap((id) => (typeof id === "string" ? (of.get(id) ?? []) : []));
  return items.length === 0 ? undefined : { is: "list", items };
}

/** Lists changed fields with their former values first, then all other details. */
export function listDetails(details: Details, of: ReadonlyMap<string, string> = new Map()): Detail[] {
  const changed = Array.isArray(details.changed)
    ? details.changed.filter((field): field is string => typeof field === "string")
    : [];
  const [before, after] = [
    isObject(details.before) ? details.before : {},
    isObject(details.after) ? details.after : {},
  ];
  const changes = changed.flatMap((field): Detail[] => {
    const read = (values: Details) =>
      !(field in values) ? undefined : isId(field) ? namedIds(values[field], of) : detailValue(field, values[field]);
    const [value, old] = [read(after), read(before)];
    return [{ field, value: value ?? { is: "word", word: "changed" }, ...(value && old ? { before: old } : {}) }];
  });
  const counts = isObject(details.counts) ? Object.entries(details.counts) : [];
  const rest = Object.entries(details).filter(([field]) => !["changed", "before", "after", "counts"].includes(field));
  const others = [...rest, ...counts.filter(([, count]) => count !== 0)].flatMap(([field, value]): Detail[] => {
    const isNothing = value === null || value === false || value === 0;
    const known = isNothing ? undefined : isId(field) ? namedIds(value, of) : detailValue(field, value);
    return known ? [{ field, value: known }] : [];
  });
  return [...changes, ...others];
}
