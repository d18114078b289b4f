/**
 * Sorts names in the order of the server's lists: the CLDR root collation, which "en" does not change. The language of the
 * browser must not matter: Swedish would sort "Ärger" after "Zebra".
 */
const root = new Intl.Collator("en");
const numbered = new Intl.Collator("en", { numeric: true });

export const compareNames = root.compare;

/** For titles and labels that are sorted by the client only: "Gruppe 2" before "Gruppe 10". */
export const compareNumbered = numbered.compare;

const surname = (name: string): string => name.trim().split(/\s+/).at(-1) ?? "";

/** Sorts people by surname, then by full name. Keep the order of lists that the server sorted: it knows recorded surnames. */
export const comparePeople = (one: string, other: string): number =>
  root.compare(surname(one), surname(other)) || root.compare(one, other);

/** A name or a search text without case and accents. */
export const foldCase = (text: string): string =>
  text.trim().normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();

/** Whether a text contains this number: "Group 1" contains 1, "Group 12" does not. */
export const containsNumber = (text: string, number: number): boolean =>
  [...text.matchAll(/\d+/g)].some(([digits]) => Number(digits) === number);
