// Dividing as a teacher does it on paper: cards with names that are moved between groups. Pure: nothing here asks the service,
// and nothing is saved by it.

/** A group on the screen: one that exists, or one that is to be made (`groupId` null). */
export interface Place {
  key: string;
  groupId: string | null;
  number: number;
  name: string;
  members: readonly string[];
  /** Who is in it as the service knows it. */
  was: readonly string[];
}

/** What the teacher has laid out. */
export interface Plan {
  places: readonly Place[];
  /** Who is not here, and so stays out when the others are divided. */
  absent: readonly string[];
}

/** Students of whom no two share a group, or who all share one. */
export interface Wish {
  kind: "apart" | "together";
  students: readonly string[];
}

/** How many groups are asked for: a number, or so many as give about so many students each. */
export interface Size {
  by: "count" | "size";
  count: number;
  size: number;
  /** Whether a rest is spread over the other groups, instead of becoming a small group. */
  isEven: boolean;
}

/** How many groups so many students make. */
export function howMany(students: number, size: Size): number {
  if (students === 0) return 0;
  const wanted = size.by === "count" ? size.count : size.isEven ? Math.floor(students / size.size) : Math.ceil(students / size.size);
  return Math.min(Math.max(1, wanted), students);
}

/** Students in the order given, cut into so many groups; sizes differ by one at most. */
export function inOrder(students: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, index) => students.slice(Math.round((index * students.length) / count), Math.round(((index + 1) * students.length) / count)));
}

/** The name of a group by a scheme: # stands for its number, @ for a letter (A, B … Z, AA). */
export function named(scheme: string, number: number, index: number): string {
  const name = scheme.replaceAll("#", String(number)).replaceAll("@", letters(index)).trim();
  return name === "" ? String(number) : name;
}

function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

/** The students in no group of the plan. */
export function free(plan: Plan, students: readonly string[]): string[] {
  const placed = new Set(plan.places.flatMap((place) => place.members));
  return students.filter((student) => !placed.has(student));
}

/** Who is divided: everybody who is here, but perhaps not who is in an existing group. */
export function toDivide(plan: Plan, students: readonly string[], isLeftOut: boolean): string[] {
  const placed = new Set(isLeftOut ? plan.places.filter((place) => place.groupId !== null).flatMap((place) => place.members) : []);
  return students.filter((student) => !placed.has(student) && !plan.absent.includes(student));
}

/** The next free number in the class. */
export const nextNumber = (taken: readonly number[]): number => Math.max(0, ...taken) + 1;

/** The plan with these groups to be made instead of those that were. */
export function withNew(plan: Plan, groups: readonly (readonly string[])[], scheme: string, first: number): Plan {
  const made = groups.map((members, index) => ({ key: `new${first + index}`, groupId: null, number: first + index, name: named(scheme, first + index, index), members, was: [] }));
  return { ...plan, places: [...plan.places.filter((place) => place.groupId !== null), ...made] };
}

/** The plan with one more empty group to be made. */
export function withOne(plan: Plan, scheme: string, first: number): Plan {
  const made = plan.places.filter((place) => place.groupId === null);
  const number = made.length === 0 ? first : Math.max(...made.map((place) => place.number)) + 1;
  return { ...plan, places: [...plan.places, { key: `new${number}`, groupId: null, number, name: named(scheme, number, made.length), members: [], was: [] }] };
}

/** The plan without a group that was to be made; its members are free again. */
export const without = (plan: Plan, key: string): Plan => ({ ...plan, places: plan.places.filter((place) => place.key !== key) });

/** Other names by another scheme; groups that exist keep theirs. */
export function renamed(plan: Plan, scheme: string): Plan {
  let index = 0;
  return { ...plan, places: plan.places.map((place) => (place.groupId === null ? { ...place, name: named(scheme, place.number, index++) } : place)) };
}

/** Another number and name for one group to be made. */
export const relabelled = (plan: Plan, key: string, number: number, name: string): Plan => ({
  ...plan,
  places: plan.places.map((place) => (place.key === key ? { ...place, number, name } : place)),
});

/** Students go from one place to another; null is no group. Whoever is there already is not there twice. */
export function moved(plan: Plan, students: readonly string[], from: string | null, to: string | null): Plan {
  if (from === to) return plan;
  const places = plan.places.map((place) => {
    if (place.key === from) return { ...place, members: place.members.filter((student) => !students.includes(student)) };
    if (place.key === to) return { ...place, members: [...place.members, ...students.filter((student) => !place.members.includes(student))] };
    return place;
  });
  return { absent: to === null ? plan.absent : plan.absent.filter((student) => !students.includes(student)), places };
}

/** Notes who is not here; whoever is not here leaves the groups to be made, too. */
export function marked(plan: Plan, students: readonly string[], isAbsent: boolean): Plan {
  const others = plan.absent.filter((student) => !students.includes(student));
  if (!isAbsent) return { ...plan, absent: others };
  const places = plan.places.map((place) => (place.groupId === null ? { ...place, members: place.members.filter((student) => !students.includes(student)) } : place));
  return { places, absent: [...others, ...students] };
}

/** One change of an existing group, as one call saves it. */
export interface Change {
  student: string;
  from: string | null;
  to: string | null;
}

/** What differs from what the service knows, in existing groups: who leaves one for another, who comes, who goes. */
export function changes(plan: Plan): Change[] {
  const known = plan.places.filter((place) => place.groupId !== null);
  const gone = known.flatMap((place) => place.was.filter((student) => !place.members.includes(student)).map((student) => ({ student, group: place.groupId })));
  const come = known.flatMap((place) => place.members.filter((student) => !place.was.includes(student)).map((student) => ({ student, group: place.groupId })));
  const found: Change[] = [];
  for (const { student, group } of come) {
    const left = gone.findIndex((one) => one.student === student);
    found.push({ student, from: left < 0 ? null : (gone.splice(left, 1)[0]?.group ?? null), to: group });
  }
  return [...found, ...gone.map(({ student, group }) => ({ student, from: group, to: null }))];
}

/** The groups to be made; an empty one may be wanted, too. */
export const made = (plan: Plan): Place[] => plan.places.filter((place) => place.groupId === null);

/** Whether anything would be saved. */
export const isChanged = (plan: Plan): boolean => made(plan).length > 0 || changes(plan).length > 0;

/** The wishes that a group does not keep. */
export function broken(place: Place, wishes: readonly Wish[]): Wish[] {
  return wishes.filter((wish) => {
    const here = wish.students.filter((student) => place.members.includes(student)).length;
    return wish.kind === "apart" ? here > 1 : here > 0 && here < wish.students.length;
  });
}

/** The plan over what the service says now: what the teacher did stays done, what others did is taken over. */
export function rebased(plan: Plan, known: readonly Omit<Place, "members">[]): Plan {
  const existing = known.map((place) => {
    const before = plan.places.find((one) => one.groupId === place.groupId);
    const come = before?.members.filter((student) => !before.was.includes(student)) ?? [];
    const stay = place.was.filter((student) => !(before?.was.includes(student) && !before.members.includes(student)));
    return { ...place, members: [...stay, ...come.filter((student) => !stay.includes(student))] };
  });
  return { ...plan, places: [...existing, ...made(plan)] };
}

/** The plan, and the ways back and forward. */
export interface History {
  past: readonly Plan[];
  now: Plan;
  future: readonly Plan[];
}

export type Step = { do: "plan"; plan: Plan } | { do: "undo" | "redo" } | { do: "known"; known: readonly Omit<Place, "members">[] } | { do: "created" };

/** What a step makes of the history. */
export function stepped(history: History, step: Step): History {
  const { past, now, future } = history;
  switch (step.do) {
    case "plan":
      return step.plan === now ? history : { past: [...past, now].slice(-100), now: step.plan, future: [] };
    case "undo":
      return past.length === 0 ? history : { past: past.slice(0, -1), now: past.at(-1) ?? now, future: [now, ...future] };
    case "redo":
      return future[0] === undefined ? history : { past: [...past, now], now: future[0], future: future.slice(1) };
    case "known": {
      const over = (plan: Plan) => rebased(plan, step.known);
      return { past: past.map(over), now: over(now), future: future.map(over) };
    }
    case "created":
      return { past: [], now: { ...now, places: now.places.filter((place) => place.groupId !== null) }, future: [] };
  }
}
