// Maps columns of an arbitrary table to fields and composes the table that the service expects.

export const FIELDS = [
  "email",
  "firstName",
  "lastName",
  "name",
  "role",
  "username",
  "externalId",
  "homeroom",
  "classes",
  "passwordHash",
] as const;
export type Field = (typeof FIELDS)[number];
/** Column index of each field; missing fields are ignored. */
export type ColumnMap = Partial<Record<Field, number>>;

export interface TableReading {
  columns: ColumnMap;
  /** Role of all rows, where no column contains roles. */
  defaultRole: "student" | "teacher";
  /** Names of homerooms that must not be created. */
  excludedHomerooms: readonly string[];
}

/** Known column titles, in lower case without spaces and punctuation. */
const KNOWN_NAMES: Record<Field, readonly string[]> = {
  email: ["email", "mail", "emailaddress", "emailadresse", "mailadresse", "eposta", "primaryemail"],
  firstName: ["firstname", "first", "givenname", "forename", "vorname", "rufname", "vornamen"],
  lastName: ["lastname", "last", "surname", "familyname", "nachname", "familienname"],
  name: ["name", "fullname", "displayname", "anzeigename", "student", "schueler", "schüler"],
  role: ["role", "rolle", "usertype", "persontype", "funktion", "typ"],
  username: ["username", "login", "loginname", "benutzername", "anmeldename", "nutzername"],
  externalId: [
    "externalid",
    "id",
    "studentid",
    "sourcedid",
    "sisid",
    "kennung",
    "schuelerid",
    "schülerid",
    "schülernummer",
    "personalnummer",
  ],
  homeroom: ["homeroom", "klasse", "stammklasse", "class", "form", "tutorgroup", "registrationgroup"],
  classes: ["classes", "klassen", "kurse", "courses", "gruppen"],
  passwordHash: ["passwordhash"],
};

const normalized = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}]/gu, "");

/** Guesses the columns by their titles; each column is used once. */
export function guessColumns(header: readonly string[]): ColumnMap {
  const places: ColumnMap = {};
  for (const field of FIELDS) {
    const at = header.findIndex(
      (name, index) => KNOWN_NAMES[field].includes(normalized(name)) && !Object.values(places).includes(index),
    );
    if (at >= 0) places[field] = at;
  }
  if (places.firstName !== undefined || places.lastName !== undefined) delete places.name;
  return places;
}

/** What is still missing before the table can be imported. */
export function findMissingField(places: ColumnMap): "name" | null {
  return places.firstName === undefined && places.lastName === undefined && places.name === undefined ? "name" : null;
}

const STUDENTS = [
  "student",
  "students",
  "pupil",
  "learner",
  "s",
  "schüler",
  "schueler",
  "schülerin",
  "schülerinnen",
  "lernende",
  "lernender",
];
const TEACHERS = [
  "teacher",
  "teachers",
  "staff",
  "t",
  "l",
  "lehrer",
  "lehrerin",
  "lehrkraft",
  "lehrperson",
  "kollegium",
];

/** Parses a role; unknown values are passed on, and the service reports them. */
export function parseRole(text: string): string {
  const word = normalized(text);
  if (STUDENTS.includes(word)) return "student";
  return TEACHERS.includes(word) ? "teacher" : text.trim();
}

/** Splits a full name: "Lima, Ana" or "Ana Lima". */
export function splitName(name: string): { firstName: string; lastName: string } {
  const [last, first] = name.split(",", 2);
  if (first !== undefined) return { firstName: first.trim(), lastName: (last ?? "").trim() };
  const parts = name.trim().split(/\s+/);
  return { firstName: parts.slice(0, -1).join(" "), lastName: parts.at(-1) ?? "" };
}

export const HEADER = [
  "email",
  "firstName",
  "lastName",
  "role",
  "username",
  "externalId",
  "homeroom",
  "classes",
  "passwordHash",
] as const;
export type ImportLine = Record<(typeof HEADER)[number], string>;

/** One row after mapping. */
export function parseLine(
  row: readonly string[],
  { columns, defaultRole, excludedHomerooms }: TableReading,
): ImportLine {
  const cell = (field: Field) => (columns[field] === undefined ? "" : (row[columns[field]] ?? "").trim());
  const names =
    columns.name === undefined ? { firstName: cell("firstName"), lastName: cell("lastName") } : splitName(cell("name"));
  const homeroom = cell("homeroom");
  const line = {
    email: cell("email"),
    ...names,
    role: "",
    username: cell("username"),
    externalId: cell("externalId"),
    homeroom: excludedHomerooms.includes(homeroom) ? "" : homeroom,
    classes: cell("classes"),
    passwordHash: cell("passwordHash"),
  };
  const isBlank = Object.values(line).every((text) => text === "");
  return { ...line, role: isBlank ? "" : columns.role === undefined ? defaultRole : parseRole(cell("role")) };
}

/** The table to send. Row numbers are preserved, so that an error of row 17 refers to row 17 of the file. */
export function composeTable(rows: readonly (readonly string[])[], reading: TableReading): string[][] {
  return [[...HEADER], ...rows.slice(1).map((row) => Object.values(lineCells(parseLine(row, reading))))];
}

const lineCells = (line: ImportLine): ImportLine =>
  Object.fromEntries(HEADER.map((column) => [column, line[column]])) as ImportLine;

/** Homerooms of the table that do not exist yet, with their number of students. */
export function listNewHomerooms(
  rows: readonly (readonly string[])[],
  places: ColumnMap,
  known: readonly string[],
): { name: string; count: number }[] {
  const at = places.homeroom;
  if (at === undefined) return [];
  const found = new Map<string, number>();
  for (const row of rows.slice(1)) {
    const name = (row[at] ?? "").trim();
    if (name !== "" && !known.includes(name)) found.set(name, (found.get(name) ?? 0) + 1);
  }
  return [...found].map(([name, count]) => ({ name, count }));
}
