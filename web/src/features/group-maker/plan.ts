// Dividing as a teacher does it on paper: cards with names that are moved between groups. Pure: nothing here asks the service,
// and nothing is saved by it.

/** A group on the screen: one that exists, or one that is to be made (`groupId` null). */
export interface PlanColumn {
  key: string;
  groupId: string | null;
  number: number;
  name: string;
  members: readonly string[];
  /** Who is in it as the service knows it. */
  savedMembers: readonly string[];
}

/** What the teacher has laid out. */
export interface Plan {
  columns: readonly PlanColumn[];
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
export function countGroups(students: number, size: Size): number {
  if (students === 0) return 0;
  const wanted = size.by === "count" ? size.count : size.isEven ? Math.floor(students / size.size) : Math.ceil(students / size.size);
  return Math.min(Math.max(1, wanted), students);
}

/** Students in the order given, cut into so many groups; sizes differ by one at most. */
export function splitEvenly(students: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, index) => students.slice(Math.round((index * students.length) / count), Math.round(((index + 1) * students.length) / count)));
}

/** The name of a group by a scheme: # stands for its number, @ for a letter (A, B … Z, AA). */
export function groupName(scheme: string, number: number, index: number): string {
  const name = scheme.replaceAll("#", String(number)).replaceAll("@", letterName(index)).trim();
  return name === "" ? String(number) : name;
}

function letterName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterName(Math.floor(index / 26) - 1) + last;
}

/** The students in no group of the plan. */
export function ungroupedStudents(plan: Plan, students: readonly string[]): string[] {
  const placed = new Set(plan.columns.flatMap((column) => column.members));
  return students.filter((student) => !placed.has(student));
}

/** Who is divided: everybody who is here, but perhaps not who is in an existing group. */
export function studentsToDivide(plan: Plan, students: readonly string[], isLeftOut: boolean): string[] {
  const placed = new Set(isLeftOut ? plan.columns.filter((column) => column.groupId !== null).flatMap((column) => column.members) : []);
  return students.filter((student) => !placed.has(student) && !plan.absent.includes(student));
}

/** The next free number in the class. */
export const nextNumber = (taken: readonly number[]): number => Math.max(0, ...taken) + 1;

/** The plan with these groups to be made instead of those that were. */
export function withNewGroups(plan: Plan, groups: readonly (readonly string[])[], scheme: string, first: number): Plan {
  const made = groups.map((members, index) => ({ key: `new${first + index}`, groupId: null, number: first + index, name: groupName(scheme, first + index, index), members, savedMembers: [] }));
  return { ...plan, columns: [...plan.columns.filter((column) => column.groupId !== null), ...made] };
}

/** The plan with one more empty group to be made. */
export function withEmptyGroup(plan: Plan, scheme: string, first: number): Plan {
  const made = plan.columns.filter((column) => column.groupId === null);
  const number = made.length === 0 ? first : Math.max(...made.map((column) => column.number)) + 1;
  return { ...plan, columns: [...plan.columns, { key: `new${number}`, groupId: null, number, name: groupName(scheme, number, made.length), members: [], savedMembers: [] }] };
}

/** The plan without a group that was to be made; its members are free again. */
export const withoutGroup = (plan: Plan, key: string): Plan => ({ ...plan, columns: plan.columns.filter((column) => column.key !== key) });

/** Other names by another scheme; groups that exist keep theirs. */
export function withScheme(plan: Plan, scheme: string): Plan {
  let index = 0;
  return { ...plan, columns: plan.columns.map((column) => (column.groupId === null ? { ...column, name: groupName(scheme, column.number, index++) } : column)) };
}

/** Another number and name for one group to be made. */
export const withLabel = (plan: Plan, key: string, number: number, name: string): Plan => ({
  ...plan,
  columns: plan.columns.map((column) => (column.key === key ? { ...column, number, name } : column)),
});

/** Students go from one place to another; null is no group. Whoever is there already is not there twice. */
export function withMoved(plan: Plan, students: readonly string[], from: string | null, to: string | null): Plan {
  if (from === to) return plan;
  const columns = plan.columns.map((column) => {
    if (column.key === from) return { ...column, members: column.members.filter((student) => !students.includes(student)) };
    if (column.key === to) return { ...column, members: [...column.members, ...students.filter((student) => !column.members.includes(student))] };
    return column;
  });
  return { absent: to === null ? plan.absent : plan.absent.filter((student) => !students.includes(student)), columns };
}

/** Notes who is not here; whoever is not here leaves the groups to be made, too. */
export function withAbsence(plan: Plan, students: readonly string[], isAbsent: boolean): Plan {
  const others = plan.absent.filter((student) => !students.includes(student));
  if (!isAbsent) return { ...plan, absent: others };
  const columns = plan.columns.map((column) => (column.groupId === null ? { ...column, members: column.members.filter((student) => !students.includes(student)) } : column));
  return { columns, absent: [...others, ...students] };
}

/** One change of an existing group, as one call saves it. */
export interface MembershipChange {
  student: string;
  from: string | null;
  to: string | null;
}

/** What differs from what the service knows, in existing groups: who leaves one for another, who comes, who goes. */
export function membershipChanges(plan: Plan): MembershipChange[] {
  const known = plan.columns.filter((column) => column.groupId !== null);
  const gone = known.flatMap((column) => column.savedMembers.filter((student) => !column.members.includes(student)).map((student) => ({ student, group: column.groupId })));
  const come = known.flatMap((column) => column.members.filter((student) => !column.savedMembers.includes(student)).map((student) => ({ student, group: column.groupId })));
  const found: MembershipChange[] = [];
  for (const { student, group } of come) {
    const left = gone.findIndex((one) => one.student === student);
    found.push({ student, from: left < 0 ? null : (gone.splice(left, 1)[0]?.group ?? null), to: group });
  }
  return [...found, ...gone.map(({ student, group }) => ({ student, from: group, to: null }))];
}

/** The groups to be made; an empty one may be wanted, too. */
export const newGroups = (plan: Plan): PlanColumn[] => plan.columns.filter((column) => column.groupId === null);

/** Whether anything would be saved. */
export const hasChanges = (plan: Plan): boolean => newGroups(plan).length > 0 || membershipChanges(plan).length > 0;

/** The wishes that a group does not keep. */
export function brokenWishes(column: PlanColumn, wishes: readonly Wish[]): Wish[] {
  return wishes.filter((wish) => {
    const here = wish.students.filter((student) => column.members.includes(student)).length;
    return wish.kind === "apart" ? here > 1 : here > 0 && here < wish.students.length;
  });
}

/** The plan over what the service says now: what the teacher did stays done, what others did is taken over. */
export function rebasePlan(plan: Plan, known: readonly Omit<PlanColumn, "members">[]): Plan {
  const existing = known.map((column) => {
    const before = plan.columns.find((one) => one.groupId === column.groupId);
    const come = before?.members.filter((student) => !before.savedMembers.includes(student)) ?? [];
    const stay = column.savedMembers.filter((student) => !(before?.savedMembers.includes(student) && !before.members.includes(student)));
    return { ...column, members: [...stay, ...come.filter((student) => !stay.includes(student))] };
  });
  return { ...plan, columns: [...existing, ...newGroups(plan)] };
}

/** The plan, and the ways back and forward. */
export interface History {
  past: readonly Plan[];
  now: Plan;
  future: readonly Plan[];
}

export type HistoryStep = { do: "plan"; plan: Plan } | { do: "undo" | "redo" } | { do: "known"; known: readonly Omit<PlanColumn, "members">[] } | { do: "created" };

/** What a step makes of the history. */
export function applyStep(history: History, step: HistoryStep): History {
  const { past, now, future } = history;
  switch (step.do) {
    case "plan":
      return step.plan === now ? history : { past: [...past, now].slice(-100), now: step.plan, future: [] };
    case "undo":
      return past.length === 0 ? history : { past: past.slice(0, -1), now: past.at(-1) ?? now, future: [now, ...future] };
    case "redo":
      return future[0] === undefined ? history : { past: [...past, now], now: future[0], future: future.slice(1) };
    case "known": {
      const over = (plan: Plan) => rebasePlan(plan, step.known);
      return { past: past.map(over), now: over(now), future: future.map(over) };
    }
    case "created":
      return { past: [], now: { ...now, columns: now.columns.filter((column) => column.groupId !== null) }, future: [] };
  }
}
