// Copies homerooms into the next school year.
import { client, unwrap } from "../../api/client";
import { compareNumbered } from "../../i18n/names";
import { fetchAllUsers } from "../users/users";
import type { Homeroom } from "./homerooms";
import { nextName } from "./schoolYears";

/** A homeroom and its planned copy. */
export interface HomeroomCopy {
  source: Homeroom;
  name: string;
  isWanted: boolean;
  /** A homeroom with this name already exists in the target year. */
  isExisting: boolean;
}

/** Plans the copies of the homerooms of a year: names with a number are incremented, others have to be selected. */
export function planRollOver(homerooms: readonly Homeroom[], from: string, to: string): HomeroomCopy[] {
  const of = homerooms.filter((homeroom) => (homeroom.academicYear ?? "") === from);
  return of
    .toSorted((one, other) => compareNumbered(one.name, other.name))
    .map((homeroom) => {
      const name = nextName(homeroom.name);
      const isExisting = homerooms.some((other) => other.academicYear === to && other.name === (name ?? homeroom.name));
      return { source: homeroom, name: name ?? homeroom.name, isExisting, isWanted: !isExisting && name !== null };
    });
}

/** Creates one copy with the students who can still sign in, and returns its id. */
export async function createCopy(
  { source, name }: HomeroomCopy,
  academicYear: string,
  keepsTeacher: boolean,
): Promise<string> {
  const gradeLevel = source.gradeLevel === null ? null : (nextName(source.gradeLevel) ?? source.gradeLevel);
  const students = await fetchAllUsers({ role: "STUDENT", isActive: "1", homeroomId: source.id });
  const made = await unwrap(
    client.POST("/homerooms", {
      body: { name: name.trim(), academicYear, gradeLevel, teacherId: keepsTeacher ? source.teacherId : null },
    }),
  );
  const studentIds = students.map((user) => user.id);
  for (let at = 0; at < studentIds.length; at += 500) {
    await unwrap(
      client.POST("/homerooms/{id}/students", {
        params: { path: { id: made.id } },
        body: { studentIds: studentIds.slice(at, at + 500) },
      }),
    );
  }
  return made.id;
}
