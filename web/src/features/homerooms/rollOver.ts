// From one school year into the next.
import { client, unwrap } from "../../api/client";
import { compareNumbered } from "../../i18n/names";
import { fetchAllUsers } from "../users/users";
import type { Homeroom } from "./homerooms";
import { nextName } from "./schoolYears";

/** A homeroom and what becomes of it. */
export interface HomeroomCopy {
  source: Homeroom;
  name: string;
  isWanted: boolean;
  /** Somebody has made it already. */
  isExisting: boolean;
}

/** What would become of the homerooms of a year: those with a number go up, others have to be chosen. */
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

/** Makes one of the new year, with whoever can still sign in; answers its id. */
export async function createCopy({ source, name }: HomeroomCopy, academicYear: string, keepsTeacher: boolean): Promise<string> {
  const gradeLevel = source.gradeLevel === null ? null : (nextName(source.gradeLevel) ?? source.gradeLevel);
  const students = await fetchAllUsers({ role: "STUDENT", isActive: "1", homeroomId: source.id });
  const made = await unwrap(client.POST("/homerooms", { body: { name: name.trim(), academicYear, gradeLevel, teacherId: keepsTeacher ? source.teacherId : null } }));
  const studentIds = students.map((user) => user.id);
  for (let at = 0; at < studentIds.length; at += 500) {
    await unwrap(client.POST("/homerooms/{id}/students", { params: { path: { id: made.id } }, body: { studentIds: studentIds.slice(at, at + 500) } }));
  }
  return made.id;
}
