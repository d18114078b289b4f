// Which column of somebody's table says what, and the table the service wants.

export const FIELDS = ["email", "firstName", "lastName", "name", "role", "externalId", "homeroom", "classes", "passwordHash"] as const;
export type Field = (typeof FIELDS)[number];
/** The place of each field among the columns; what is not there says nothing. */
export type ColumnMap = Partial<Record<Field, number>>;

export interface TableReading {
  columns: ColumnMap;
  /** The role of everybody, where no column says it. */
  defaultRole: "student" | "teacher";
  /** Homerooms that are not to be made. */
  excludedHomerooms: readonly string[];
}

/** How columns are called out there, in small letters without spaces and signs. */
const KNOWN_NAMES: Record<Field, readonly string[]> = {
  email: ["email", "mail", "emailaddress", "emailadresse", "mailadresse", "eposta", "primaryemail"],
  firstName: ["firstname", "first", "givenname", "forename", "vorname", "rufname", "vornamen"],
  lastName: ["lastname", "last", "surname", "familyname", "nachname", "familienname"],
  name: ["name", "fullname", "displayname", "anzeigename", "student", "schueler", "schüler"],
  role: ["role", "rolle", "usertype", "persontype", "funktion", "typ"],
  externalId: ["externalid", "id", "studentid", "sourcedid", "sisid", "kennung", "schuelerid", "schülerid", "schülernummer", "personalnummer"],
  homeroom: ["homeroom", "klasse", "stammklasse", "class", "form", "tutorgroup", "registrationgroup"],
  classes: ["classes", "klassen", "kurse", "courses", "gruppen"],
  passwordHash: ["passwordhash"],
};

const normalized = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}]/gu, "");

/** What the columns are taken for by their names; each is taken once. */
export function guessColumns(header: readonly string[]): ColumnMap {
  const places: ColumnMap = {};
  for (const field of FIELDS) {
    const at = header.findIndex((name, index) => KNOWN_NAMES[field].includes(normalized(name)) && !Object.values(places).includes(index));
    if (at >= 0) places[field] = at;
  }
  if (places.firstName !== undefined || places.lastName !== undefined) delete places.name;
  return places;
}

/** What is still to be said before the table can be read. */
export function findMissingField(places: ColumnMap): "email" | "name" | null {
  if (places.email === undefined) return "email";
  return places.firstName === undefined && places.lastName === undefined && places.name === undefined ? "name" : null;
}

const STUDENTS = ["student", "students", "pupil", "learner", "s", "schüler", "schueler", "schülerin", "schülerinnen", "lernende", "lernender"];
const TEACHERS = ["teacher", "teachers", "staff", "t", "l", "lehrer", "lehrerin", "lehrkraft", "lehrperson", "kollegium"];

/** A role as the service calls it; what we do not know stays as it is, and the service says so. */
export function parseRole(text: string): string {
  const word = normalized(text);
  if (STUDENTS.includes(word)) return "student";
  return TEACHERS.includes(word) ? "teacher" : text.trim();
}

/** First and last name of a whole one: "Lima, Ana" or "Ana Lima". */
export function splitName(name: string): { firstName: string; lastName: string } {
  const [last, first] = name.split(",", 2);
  if (first !== undefined) return { firstName: first.trim(), lastName: (last ?? "").trim() };
  const words = name.trim().split(/\s+/);
  return { firstName: words.slice(0, -1).join(" "), lastName: words.at(-1) ?? "" };
}

export const HEADER = ["email", "firstName", "lastName", "role", "externalId", "homeroom", "classes", "passwordHash"] as const;
export type ImportLine = Record<(typeof HEADER)[number], string>;

/** One row as it is understood. */
export function parseLine(row: readonly string[], { columns, defaultRole, excludedHomerooms }: TableReading): ImportLine {
  const cell = (field: Field) => (columns[field] === undefined ? "" : (row[columns[field]] ?? "").trim());
  const names = columns.name === undefined ? { firstName: cell("firstName"), lastName: cell("lastName") } : splitName(cell("name"));
  const homeroom = cell("homeroom");
  const line = { email: cell("email"), ...names, role: "", externalId: cell("externalId"), homeroom: excludedHomerooms.includes(homeroom) ? "" : homeroom, classes: cell("classes"), passwordHash: cell("passwordHash") };
  const isBlank = Object.values(line).every((text) => text === "");
  return { ...line, role: isBlank ? "" : columns.role === undefined ? defaultRole : parseRole(cell("role")) };
}

/** The table that is sent. Its rows stand where they stood, so that what is said about row 17 is about row 17. */
export function composeTable(rows: readonly (readonly string[])[], reading: TableReading): string[][] {
  return [[...HEADER], ...rows.slice(1).map((row) => Object.values(lineCells(parseLine(row, reading))))];
}

const lineCells = (line: ImportLine): ImportLine => Object.fromEntries(HEADER.map((column) => [column, line[column]])) as ImportLine;

/** Homerooms a table names that are not there yet, and for how many. */
export function listNewHomerooms(rows: readonly (readonly string[])[], places: ColumnMap, known: readonly string[]): { name: string; count: number }[] {
  const at = places.homeroom;
  if (at === undefined) return [];
  const found = new Map<string, number>();
  for (const row of rows.slice(1)) {
    const name = (row[at] ?? "").trim();
    if (name !== "" && !known.includes(name)) found.set(name, (found.get(name) ?? 0) + 1);
  }
  return [...found].map(([name, count]) => ({ name, count }));
}
