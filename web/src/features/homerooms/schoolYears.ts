// School years, and names of homerooms in the following year.

/** The school year of a moment in its most common notation; it begins in August. */
export function schoolYearAt(at: number): string {
  const date = new Date(at);
  const first = date.getMonth() >= 7 ? date.getFullYear() : date.getFullYear() - 1;
  return `${first}/${first + 1}`;
}

/** The following school year: increments each number; returns texts without a number unchanged. */
export function nextYear(year: string): string {
  return /\d/.test(year) ? year.replaceAll(/\d+/g, (number) => incrementPadded(number)) : "";
}

/** Name of a homeroom a year later: 7b becomes 8b, "Year 9 red" becomes "Year 10 red". null without a number. */
export function nextName(name: string): string | null {
  return /\d/.test(name) ? name.replace(/\d+/, (number) => incrementPadded(number)) : null;
}

/** Increments a number and keeps its number of digits; 99 becomes 00. */
function incrementPadded(number: string): string {
  const next = String(Number(number) + 1);
  return number.length === 2 && next === "100" ? "00" : next.padStart(number.length, "0");
}
