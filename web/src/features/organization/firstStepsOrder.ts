// The order in which a school is set up.
import type { Schemas } from "../../api/client";

export const FIRST_STEPS = [
  { id: "people", to: "/admin/import" },
  { id: "subjects", to: "/admin/subjects" },
  { id: "classes", to: "/courses" },
  { id: "courses", to: "/courses" },
] as const;

/** The steps, and which are done. Without both students and teachers no class can begin. */
export function listFirstSteps(stats: Pick<Schemas["SchoolStats"], "users" | "classes" | "courses">, subjects: number) {
  const done = {
    people: stats.users.student > 0 && stats.users.teacher > 0,
    subjects: subjects > 0,
    classes: stats.classes > 0,
    courses: stats.courses > 0,
  };
  return FIRST_STEPS.map((step) => ({ ...step, isDone: done[step.id] }));
}
