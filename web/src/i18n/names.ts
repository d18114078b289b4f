/**
 * Names in the order of the server's lists: the CLDR root collation, which "en" does not change. The language of the
 * browser does not decide: a Swedish one would sort "Ärger" behind "Zebra".
 */
const root = new Intl.Collator("en");
const numbered = new Intl.Collator("en", { numeric: true });

export const compareNames = root.compare;

/** Titles and labels that are only sorted here: "Gruppe 2" before "Gruppe 10". */
export const compareNumbered = numbered.compare;

const surname = (name: string): string => name.trim().split(/\s+/).at(-1) ?? "";

/** People by surname, then by the whole name. Of a list in the server's order keep that order: it knows recorded surnames. */
export const comparePeople = (one: string, other: string): number => root.compare(surname(one), surname(other)) || root.compare(one, other);

/** A name or a search text without case and accents. */
export const foldCase = (text: string): string => text.trim().normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();
