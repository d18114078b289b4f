// School years and the names of homerooms, and what follows them.

/** The school year at a moment, in the way most schools write it; it begins in August. */
export function schoolYearAt(at: number): string {
  const date = new Date(at);
  const first = date.getMonth() >= 7 ? date.getFullYear() : date.getFullYear() - 1;
  return `${first}/${first + 1}`;
}

/** The year after one: each number in it one more. What has no number says nothing about it. */
export function nextYear(year: string): string {
  return /\d/.test(year) ? year.replaceAll(/\d+/g, (number) => incrementPadded(number)) : "";
}

/** What a homeroom is called a year later: 7b becomes 8b, "Year 9 red" becomes "Year 10 red". Null where there is no number. */
export function nextName(name: string): string | null {
  return /\d/.test(name) ? name.replace(/\d+/, (number) => incrementPadded(number)) : null;
}

/** One more, in as many digits as before; a year of two digits begins again after 99. */
function incrementPadded(number: string): string {
  const next = String(Number(number) + 1);
  return number.length === 2 && next === "100" ? "00" : next.padStart(number.length, "0");
}
