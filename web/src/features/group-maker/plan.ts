// The plan of the group maker: students moved between groups. Pure functions; nothing here calls the service.

/** A group of the plan: an existing one, or a new one (`groupId` null). */
export interface PlanColumn {
  key: string;
  groupId: string | null;
  number: number;
  name: string;
  members: readonly string[];
  /** Member ids as stored by the service. */
  savedMembers: readonly string[];
}

/** The plan as laid out by the teacher. */
export interface Plan {
  columns: readonly PlanColumn[];
  /** Ids of absent students, who are not assigned to groups. */
  absent: readonly string[];
}

/** Students who must all be in different groups, or all in one. */
export interface Wish {
  kind: "apart" | "together";
  students: readonly string[];
}

/** Wanted number of groups, or wanted students per group. */
export interface Size {
  by: "count" | "size";
  count: number;
  size: number;
  /** Whether a remainder is spread over the other groups instead of forming a small group. */
  isEven: boolean;
}

/** Number of groups for a number of students. */
export function countGroups(students: number, size: Size): number {
  if (students === 0) return 0;
  const wanted =
    size.by === "count" ? size.count : size.isEven ? Math.floor(students / size.size) : Math.ceil(students / size.size);
  return Math.min(Math.max(1, wanted), students);
}

/** Splits students in the given order into groups whose sizes differ by one at most. */
export function splitEvenly(students: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, index) =>
    students.slice(Math.round((index * students.length) / count), Math.round(((index + 1) * students.length) / count)),
  );
}

/** Name of a group by a scheme: # is replaced by its number, @ by its alphabetic index (A, B … Z, AA). */
export function renderGroupName(scheme: string, number: number, index: number): string {
  const name = scheme.replaceAll("#", String(number)).replaceAll("@", letterName(index)).trim();
  return name === "" ? String(number) : name;
}

function letterName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterName(Math.floor(index / 26) - 1) + last;
}

/** Students without a group in the plan. */
export function ungroupedStudents(plan: Plan, students: readonly string[]): string[] {
  const placed = new Set(plan.columns.flatMap((column) => column.members));
  return students.filter((student) => !placed.has(student));
}

/** Students to assign: those present, optionally without members of existing groups. */
export function studentsToDivide(plan: Plan, students: readonly string[], isLeftOut: boolean): string[] {
  const placed = new Set(
    isLeftOut ? plan.columns.filter((column) => column.groupId !== null).flatMap((column) => column.members) : [],
  );
  return students.filter((student) => !placed.has(student) && !plan.absent.includes(student));
}

/** The next free group number in the class. */
export const nextNumber = (taken: readonly number[]): number => Math.max(0, ...taken) + 1;

/** Replaces the new groups of the plan. */
export function withNewGroups(plan: Plan, groups: readonly (readonly string[])[], scheme: string, first: number): Plan {
  const made = groups.map((members, index) => ({
    key: `new${first + index}`,
    groupId: null,
    number: first + index,
    name: renderGroupName(scheme, first + index, index),
    members,
    savedMembers: [],
  }));
  return { ...plan, columns: [...plan.columns.filter((column) => column.groupId !== null), ...made] };
}

/** Adds an empty new group. */
export function withEmptyGroup(plan: Plan, scheme: string, first: number): Plan {
  const made = plan.columns.filter((column) => column.groupId === null);
  const number = made.length === 0 ? first : Math.max(...made.map((column) => column.number)) + 1;
  return {
    ...plan,
    columns: [
      ...plan.columns,
      {
        key: `new${number}`,
        groupId: null,
        number,
        name: renderGroupName(scheme, number, made.length),
        members: [],
        savedMembers: [],
      },
    ],
  };
}

/** Removes a new group; its members become unassigned. */
export const withoutGroup = (plan: Plan, key: string): Plan => ({
  ...plan,
  columns: plan.columns.filter((column) => column.key !== key),
});

/** Renames new groups by another scheme; existing groups keep their names. */
export function withScheme(plan: Plan, scheme: string): Plan {
  let index = 0;
  return {
    ...plan,
    columns: plan.columns.map((column) =>
      column.groupId === null ? { ...column, name: renderGroupName(scheme, column.number, index++) } : column,
    ),
  };
}

/** Changes number and name of a new group. */
export const withLabel = (plan: Plan, key: string, number: number, name: string): Plan => ({
  ...plan,
  columns: plan.columns.map((column) => (column.key === key ? { ...column, number, name } : column)),
});

/** Moves students to a column; null unassigns them. Students already there are not duplicated. */
export function withMoved(plan: Plan, students: readonly string[], from: string | null, to: string | null): Plan {
  if (from === to) return plan;
  const columns = plan.columns.map((column) => {
    if (column.key === from)
      return { ...column, members: column.members.filter((student) => !students.includes(student)) };
    if (column.key === to)
      return {
        ...column,
        members: [...column.members, ...students.filter((student) => !column.members.includes(student))],
      };
    return column;
  });
  return { absent: to === null ? plan.absent : plan.absent.filter((student) => !students.includes(student)), columns };
}

/** Marks students as absent or present; absent students leave new groups. */
export function withAbsence(plan: Plan, students: readonly string[], isAbsent: boolean): Plan {
  const others = plan.absent.filter((student) => !students.includes(student));
  if (!isAbsent) return { ...plan, absent: others };
  const columns = plan.columns.map((column) =>
    column.groupId === null
      ? { ...column, members: column.members.filter((student) => !students.includes(student)) }
      : column,
  );
  return { columns, absent: [...others, ...students] };
}

/** One membership change of an existing group, saved by one request. */
export interface MembershipChange {
  student: string;
  from: string | null;
  to: string | null;
}

/** Differences to the stored members of existing groups: moved, added and removed students. */
export function membershipChanges(plan: Plan): MembershipChange[] {
  const known = plan.columns.filter((column) => column.groupId !== null);
  const gone = known.flatMap((column) =>
    column.savedMembers
      .filter((student) => !column.members.includes(student))
      .map((student) => ({ student, group: column.groupId })),
  );
  const come = known.flatMap((column) =>
    column.members
      .filter((student) => !column.savedMembers.includes(student))
      .map((student) => ({ student, group: column.groupId })),
  );
  const found: MembershipChange[] = [];
  for (const { student, group } of come) {
    const left = gone.findIndex((one) => one.student === student);
    found.push({ student, from: left < 0 ? null : (gone.splice(left, 1)[0]?.group ?? null), to: group });
  }
  return [...found, ...gone.map(({ student, group }) => ({ student, from: group, to: null }))];
}

/** The groups to create; empty ones are allowed. */
export const newGroups = (plan: Plan): PlanColumn[] => plan.columns.filter((column) => column.groupId === null);

/** Whether there is anything to save. */
export const hasChanges = (plan: Plan): boolean => newGroups(plan).length > 0 || membershipChanges(plan).length > 0;

/** The wishes that a group violates. */
export function brokenWishes(column: PlanColumn, wishes: readonly Wish[]): Wish[] {
  return wishes.filter((wish) => {
    const here = wish.students.filter((student) => column.members.includes(student)).length;
    return wish.kind === "apart" ? here > 1 : here > 0 && here < wish.students.length;
  });
}

/** Rebases the plan on the current state of the service: the teacher's changes stay, changes of others are taken over. */
export function rebasePlan(plan: Plan, known: readonly Omit<PlanColumn, "members">[]): Plan {
  const existing = known.map((column) => {
    const before = plan.columns.find((one) => one.groupId === column.groupId);
    const come = before?.members.filter((student) => !before.savedMembers.includes(student)) ?? [];
    const stay = column.savedMembers.filter(
      (student) => !(before?.savedMembers.includes(student) && !before.members.includes(student)),
    );
    return { ...column, members: [...stay, ...come.filter((student) => !stay.includes(student))] };
  });
  return { ...plan, columns: [...existing, ...newGroups(plan)] };
}

/** The plan with its undo and redo history. */
export interface History {
  past: readonly Plan[];
  now: Plan;
  future: readonly Plan[];
}

export type HistoryStep =
  | { do: "plan"; plan: Plan }
  | { do: "undo" | "redo" }
  | { do: "known"; known: readonly Omit<PlanColumn, "members">[] }
  | { do: "created" };

/** Reducer of the history. */
export function applyStep(history: History, step: HistoryStep): History {
  const { past, now, future } = history;
  switch (step.do) {
    case "plan":
      return step.plan === now ? history : { past: [...past, now].slice(-100), now: step.plan, future: [] };
    case "undo":
      return past.length === 0
        ? history
        : { past: past.slice(0, -1), now: past.at(-1) ?? now, future: [now, ...future] };
    case "redo":
      return future[0] === undefined ? history : { past: [...past, now], now: future[0], future: future.slice(1) };
    case "known": {
      const over = (plan: Plan) => rebasePlan(plan, step.known);
      return { past: past.map(over), now: over(now), future: future.map(over) };
    }
    case "created":
      return {
        past: [],
        now: { ...now, columns: now.columns.filter((column) => column.groupId !== null) },
        future: [],
      };
  }
}
