// Colours and initials of people.

const COLORS = 8;

/** FNV-1a hash of an id: a person has one colour on every screen. */
function hash(id: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) value = Math.imul(value ^ id.charCodeAt(index), 0x01000193) >>> 0;
  return value % COLORS;
}

/** The colour of a person outside of a group. */
export const personColor = (id: string): number => hash(id);

/** The colour of each person of a group: in order of ids, a taken colour moves to the next free one. */
export function personColors(ids: readonly string[]): ReadonlyMap<string, number> {
  const colors = new Map<string, number>();
  const taken = new Set<number>();
  for (const id of ids.toSorted()) {
    let color = hash(id);
    while (taken.size < COLORS && taken.has(color)) color = (color + 1) % COLORS;
    taken.add(color);
    colors.set(id, color);
  }
  return colors;
}

/** The first letters of the first and the last name. */
export function initials(name: string): string {
  const parts = name.trim().split(/\s+/);
  const first = (part: string | undefined) => [...(part ?? "")][0] ?? "";
  return (first(parts[0]) + (parts.length > 1 ? first(parts.at(-1)) : "")).toUpperCase();
}
