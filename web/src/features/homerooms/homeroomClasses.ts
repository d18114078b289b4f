// The homerooms for which classes can be created.
import type { Schemas } from "../../api/client";
import { compareNumbered } from "../../i18n/names";

/** A homeroom without a class in the school year. */
export interface HomeroomLine {
  id: string;
  name: string;
  /** The name of the homeroom's teacher; null if a teacher has to be selected. */
  teacher: string | null;
  students: number;
}

/** Lists the homerooms of a preview by name, also those that need a teacher. */
export function homeroomsWithoutClass(
  { created, problems }: Schemas["HomeroomClasses"],
  rooms: readonly Pick<Schemas["Homeroom"], "id" | "studentCount">[],
): HomeroomLine[] {
  const ready = created.map((one) => ({
    id: one.homeroomId,
    name: one.name,
    teacher: one.teacher.name,
    students: one.students,
  }));
  const open = problems
    .filter((one) => one.problem === "NO_TEACHER")
    .map((one) => ({
      id: one.homeroomId,
      name: one.name,
      teacher: null,
      students: rooms.find((room) => room.id === one.homeroomId)?.studentCount ?? 0,
    }));
  return [...ready, ...open].toSorted((one, other) => compareNumbered(one.name, other.name));
}
