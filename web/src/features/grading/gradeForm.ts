// Grade form: values as typed text.
import type { Schemas } from "../../api/client";

export interface MemberGradeForm {
  value: string;
  points: string;
  feedback: string;
}

export interface GradeForm extends MemberGradeForm {
  /** Only members whose grade differs. */
  members: Record<string, MemberGradeForm>;
}

/** Stored in this browser in case the service is unreachable or the group takes its submission back. */
export interface StoredGradeForm {
  submissionId: string;
  isUnsaved: boolean;
  form: GradeForm;
}

const NOTHING: MemberGradeForm = { value: "", points: "", feedback: "" };
export const EMPTY: GradeForm = { ...NOTHING, members: {} };
export const isBlank = (own: MemberGradeForm): boolean =>
  own.value.trim() === "" && own.points.trim() === "" && own.feedback.trim() === "";
export const isEmptyGrade = (form: GradeForm): boolean => isBlank(form) && Object.values(form.members).every(isBlank);

const memberForm = (own: {
  value?: string | null;
  points?: number | null;
  feedback?: string | null;
}): MemberGradeForm => ({
  value: own.value ?? "",
  points: own.points == null ? "" : String(own.points),
  feedback: own.feedback ?? "",
});

export const gradeForm = (grade: Schemas["Grade"] | null): GradeForm =>
  grade === null
    ? EMPTY
    : {
        ...memberForm(grade),
        members: Object.fromEntries(grade.memberGrades.map((own) => [own.userId, memberForm(own)])),
      };

/** Parses points, with point or comma; null if empty, undefined if invalid. */
export function parsePoints(typed: string): number | null | undefined {
  const plain = typed.trim().replace(",", ".");
  if (plain === "") return null;
  const points = /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
  return points <= 100_000 ? points : undefined;
}

/** Whether the points are in range. */
export function arePointsValid(typed: string, most: number | null): boolean {
  const points = parsePoints(typed);
  return points !== undefined && (points === null || most === null || points <= most);
}

const orNull = (input: string): string | null => (input.trim() === "" ? null : input.trim());

/** Request body of the form; undefined while a field is invalid. */
export function gradeBody(form: GradeForm, most: number | null): Schemas["GradeEdit"] | undefined {
  const members = Object.entries(form.members).filter(([, own]) => !isBlank(own));
  if (![form, ...members.map(([, own]) => own)].every((own) => arePointsValid(own.points, most))) return undefined;
  const memberBody = (own: MemberGradeForm) => ({
    value: orNull(own.value),
    points: parsePoints(own.points) ?? null,
    feedback: orNull(own.feedback),
  });
  return { ...memberBody(form), memberGrades: members.map(([userId, own]) => ({ userId, ...memberBody(own) })) };
}

/** Whether two forms produce the same request. */
export const isSameForm = (one: GradeForm, other: GradeForm): boolean =>
  JSON.stringify(gradeBody(one, null) ?? one) === JSON.stringify(gradeBody(other, null) ?? other);

/** Initial values: unsaved text, else the grade of the service, else the text written for the previous submission. */
export function initialForm(
  submissionId: string,
  grade: Schemas["Grade"] | null,
  stored: StoredGradeForm | null,
): GradeForm {
  if (
    stored !== null &&
    ((stored.isUnsaved && stored.submissionId === submissionId) ||
      (grade === null && stored.submissionId !== submissionId))
  )
    return stored.form;
  return gradeForm(grade);
}
