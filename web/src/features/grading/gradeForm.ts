// Grade form: values as typed text.
import type { Schemas } from "../../api/client";

export interface MemberGradeForm {
  value: string;
  points: string;
  feedback: string;
}

/** A criterion of the topic's rubric, as typed. */
export interface MarkForm {
  levelId: string;
  points: string;
  comment: string;
}

export const NO_MARK: MarkForm = { levelId: "", points: "", comment: "" };

export interface GradeForm extends MemberGradeForm {
  /** Filled criteria of the topic's rubric, by criterion. */
  rubric: Record<string, MarkForm>;
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
export const EMPTY: GradeForm = { ...NOTHING, members: {}, rubric: {} };
export const isBlank = (own: MemberGradeForm): boolean =>
  own.value.trim() === "" && own.points.trim() === "" && own.feedback.trim() === "";
const isBlankMark = (mark: MarkForm): boolean => mark.levelId === "" && mark.comment.trim() === "";
export const isEmptyGrade = (form: GradeForm): boolean =>
  isBlank(form) && Object.values(form.members).every(isBlank) && Object.values(form.rubric).every(isBlankMark);

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
        rubric: Object.fromEntries(
          grade.rubric.map((mark) => [
            mark.criterionId,
            {
              levelId: mark.levelId ?? "",
              points: mark.points === null ? "" : String(mark.points),
              comment: mark.comment ?? "",
            },
          ]),
        ),
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
  const marks = rubricBody(form.rubric);
  if (marks === undefined) return undefined;
  return {
    ...memberBody(form),
    rubric: marks,
    memberGrades: members.map(([userId, own]) => ({ userId, ...memberBody(own) })),
  };
}

/** The filled criteria in a fixed order; undefined while points are invalid. */
function rubricBody(rubric: GradeForm["rubric"]): Schemas["NewRubricMark"][] | undefined {
  const filled = Object.entries(rubric)
    .filter(([, mark]) => !isBlankMark(mark))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (!filled.every(([, mark]) => parsePoints(mark.points) !== undefined)) return undefined;
  return filled.map(([criterionId, mark]) => ({
    criterionId,
    levelId: mark.levelId === "" ? null : mark.levelId,
    points: mark.levelId === "" ? null : (parsePoints(mark.points) ?? null),
    comment: orNull(mark.comment),
  }));
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
    // An earlier release stored no criteria.
    return { ...EMPTY, ...stored.form };
  return gradeForm(grade);
}
