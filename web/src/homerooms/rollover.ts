// From one school year into the next.
import { client, data } from "../api/client";
import { compareNumbered } from "../lib/names";
import { everybody } from "../people/people";
import type { Homeroom } from "./homerooms";
import { nextName } from "./years";

/** A homeroom and what becomes of it. */
export interface Copy {
  room: Homeroom;
  name: string;
  isWanted: boolean;
  /** Somebody has made it already. */
  isThere: boolean;
}

/** What would become of the homerooms of a year: those with a number go up, others have to be chosen. */
export function plan(rooms: readonly Homeroom[], from: string, to: string): Copy[] {
  const of = rooms.filter((room) => (room.academicYear ?? "") === from);
  return of
    .toSorted((one, other) => compareNumbered(one.name, other.name))
    .map((room) => {
      const name = nextName(room.name);
      const isThere = rooms.some((other) => other.academicYear === to && other.name === (name ?? room.name));
      return { room, name: name ?? room.name, isThere, isWanted: !isThere && name !== null };
    });
}

/** Makes one of the new year, with whoever can still sign in; answers its id. */
export async function copy({ room, name }: Copy, academicYear: string, keepsTeacher: boolean): Promise<string> {
  const gradeLevel = room.gradeLevel === null ? null : (nextName(room.gradeLevel) ?? room.gradeLevel);
  const students = await everybody({ role: "STUDENT", isActive: "1", homeroomId: room.id });
  const made = await data(client.POST("/homerooms", { body: { name: name.trim(), academicYear, gradeLevel, teacherId: keepsTeacher ? room.teacherId : null } }));
  const studentIds = students.map((user) => user.id);
  for (let at = 0; at < studentIds.length; at += 500) {
    await data(client.POST("/homerooms/{id}/students", { params: { path: { id: made.id } }, body: { studentIds: studentIds.slice(at, at + 500) } }));
  }
  return made.id;
}
