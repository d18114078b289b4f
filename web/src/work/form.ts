// What a teacher writes about a work before the group sees it: as text, as it was typed.
import type { Schemas } from "../api/client";

export interface MemberForm {
  value: string;
  points: string;
  feedback: string;
}

export interface Form extends MemberForm {
  /** Only of members whose grade differs. */
  members: Record<string, MemberForm>;
}

/** What this browser keeps of it, in case the service cannot be reached or the group takes its work back. */
export interface Kept {
  submissionId: string;
  isUnsaved: boolean;
  form: Form;
}

const NOTHING: MemberForm = { value: "", points: "", feedback: "" };
export const EMPTY: Form = { ...NOTHING, members: {} };
export const isBlank = (own: MemberForm): boolean => own.value.trim() === "" && own.points.trim() === "" && own.feedback.trim() === "";
export const isEmpty = (form: Form): boolean => isBlank(form) && Object.values(form.members).every(isBlank);

const text = (own: { value?: string | null; points?: number | null; feedback?: string | null }): MemberForm => ({
  value: own.value ?? "",
  points: own.points == null ? "" : String(own.points),
  feedback: own.feedback ?? "",
});

export const formOf = (grade: Schemas["Grade"] | null): Form =>
  grade === null ? EMPTY : { ...text(grade), members: Object.fromEntries(grade.memberGrades.map((own) => [own.userId, text(own)])) };

/** Points as they were typed, also with a comma; null for none, undefined for what is no number of points. */
export function pointsOf(typed: string): number | null | undefined {
  const plain = typed.trim().replace(",", ".");
  if (plain === "") return null;
  const points = /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
  return points <= 100_000 ? points : undefined;
}

/** Whether points can be given at all. */
export function pointsFit(typed: string, most: number | null): boolean {
  const points = pointsOf(typed);
  return points !== undefined && (points === null || most === null || points <= most);
}

const orNull = (words: string): string | null => (words.trim() === "" ? null : words.trim());

/** The form as the service takes it; undefined while something in it cannot be sent. */
export function editOf(form: Form, most: number | null): Schemas["GradeEdit"] | undefined {
  const members = Object.entries(form.members).filter(([, own]) => !isBlank(own));
  if (![form, ...members.map(([, own]) => own)].every((own) => pointsFit(own.points, most))) return undefined;
  const said = (own: MemberForm) => ({ value: orNull(own.value), points: pointsOf(own.points) ?? null, feedback: orNull(own.feedback) });
  return { ...said(form), memberGrades: members.map(([userId, own]) => ({ userId, ...said(own) })) };
}

/** Whether two forms say the same to the service. */
export const isSame = (one: Form, other: Form): boolean => JSON.stringify(editOf(one, null) ?? one) === JSON.stringify(editOf(other, null) ?? other);

/** With what to begin: words that were not saved, else the grade as the service has it, else what was written about the attempt before. */
export function begin(submissionId: string, grade: Schemas["Grade"] | null, kept: Kept | null): Form {
  if (kept !== null && ((kept.isUnsaved && kept.submissionId === submissionId) || (grade === null && kept.submissionId !== submissionId))) return kept.form;
  return formOf(grade);
}
