// What a teacher writes about a topic, as the form holds it, and what of it is sent. Pure: nothing here asks the service.
import type { Schemas } from "../../api/client";

export type Topic = Schemas["Assignment"];

/** The fields of the form. */
export interface TopicForm {
  title: string;
  /** ISO 8601; null while none is chosen. */
  deadline: string | null;
  description: string;
  isShared: boolean;
  /** Own texts by group; an empty one is none. */
  texts: Readonly<Record<string, string>>;
  requiredSubmissions: number;
  latePolicy: Schemas["LatePolicy"];
  maxPoints: number | null;
  gradeScale: string;
  courseId: string | null;
  /** When the groups begin: untouched, at once, or at `startDate`. */
  begin: "same" | "now" | "later";
  startDate: string | null;
}

/** What was changed and is not saved yet. */
export type TopicEdits = Partial<TopicForm>;

/** The form as the service knows the topic. */
export function formOf(topic: Topic): TopicForm {
  return {
    title: topic.title,
    deadline: topic.deadline,
    description: topic.description,
    isShared: topic.isShared,
    texts: Object.fromEntries(topic.groupAssignments.map((own) => [own.groupId, own.descriptionOverride ?? ""])),
    requiredSubmissions: topic.requiredSubmissions,
    latePolicy: topic.latePolicy,
    maxPoints: topic.maxPoints,
    gradeScale: topic.gradeScale ?? "",
    courseId: topic.courseId,
    begin: "same",
    startDate: null,
  };
}

/** The form of a topic that does not exist yet. */
export const emptyForm = (courseId: string | null): TopicForm => ({
  title: "",
  deadline: null,
  description: "",
  isShared: true,
  texts: {},
  requiredSubmissions: 1,
  latePolicy: "ALLOW",
  maxPoints: null,
  gradeScale: "",
  courseId,
  begin: "same",
  startDate: null,
});

/** The form with what was changed; what was not changed follows the service. */
export const applyEdits = (base: TopicForm, edits: TopicEdits): TopicForm => ({ ...base, ...edits, texts: { ...base.texts, ...edits.texts } });

/** The edits with one more; a field that is as the service has it is no edit. */
export function withEdit(base: TopicForm, edits: TopicEdits, change: TopicEdits): TopicEdits {
  const next: TopicEdits = { ...edits, ...change, texts: { ...edits.texts, ...change.texts } };
  const texts = Object.fromEntries(Object.entries(next.texts ?? {}).filter(([group, text]) => (base.texts[group] ?? "") !== text));
  const kept = Object.entries(next).filter(([key, value]) => key !== "texts" && base[key as keyof TopicForm] !== value);
  return { ...(Object.fromEntries(kept) as TopicEdits), ...(Object.keys(texts).length === 0 ? {} : { texts }) };
}

/** The edits that still differ: what was saved meanwhile, here or elsewhere, is no edit any more. */
export const remainingEdits = (base: TopicForm, edits: TopicEdits): TopicEdits => withEdit(base, {}, edits);

export const isEmpty = (edits: TopicEdits): boolean => Object.keys(edits).length === 0;

/** What goes to all groups at once. */
export function sharedChanges(edits: TopicEdits): Schemas["SharedEdit"] {
  return {
    ...(edits.title === undefined ? {} : { title: edits.title.trim() }),
    ...(edits.deadline ? { deadline: edits.deadline } : {}),
    ...(edits.description === undefined ? {} : { description: edits.description }),
    ...(edits.begin === "now" ? { startDate: null } : edits.begin === "later" && edits.startDate ? { startDate: edits.startDate } : {}),
  };
}

/** What concerns the topic itself or single groups. */
export function ownChanges(edits: TopicEdits): Schemas["AssignmentEdit"] {
  const { isShared, texts, requiredSubmissions, latePolicy, maxPoints, gradeScale, courseId } = edits;
  return {
    ...(isShared === undefined ? {} : { isShared }),
    ...(texts === undefined ? {} : { groups: Object.entries(texts).map(([groupId, text]) => ({ groupId, descriptionOverride: text === "" ? null : text })) }),
    ...(requiredSubmissions === undefined ? {} : { requiredSubmissions }),
    ...(latePolicy === undefined ? {} : { latePolicy }),
    ...(maxPoints === undefined ? {} : { maxPoints }),
    ...(gradeScale === undefined ? {} : { gradeScale: gradeScale.trim() === "" ? null : gradeScale.trim() }),
    ...(courseId === undefined ? {} : { courseId }),
  };
}

/** A new topic as it is sent. */
export function newTopicBody(form: TopicForm, classId: string, groupIds: readonly string[]): Schemas["NewAssignment"] {
  return {
    title: form.title.trim(),
    deadline: form.deadline ?? "",
    description: form.description,
    isShared: form.isShared,
    requiredSubmissions: form.requiredSubmissions,
    latePolicy: form.latePolicy,
    classId,
    ...(form.courseId === null ? {} : { courseId: form.courseId }),
    ...(form.maxPoints === null ? {} : { maxPoints: form.maxPoints }),
    ...(form.gradeScale.trim() === "" ? {} : { gradeScale: form.gradeScale.trim() }),
    groups: groupIds.map((groupId) => ({ groupId, ...(form.texts[groupId] ? { descriptionOverride: form.texts[groupId] } : {}) })),
  };
}

/** What is missing before the form can be sent. */
export type MissingField = "title" | "deadline" | "startDate";

export const findMissingFields = (form: TopicForm): MissingField[] => [
  ...(form.title.trim() === "" ? (["title"] as const) : []),
  ...(form.deadline === null ? (["deadline"] as const) : []),
  ...(form.begin === "later" && form.startDate === null ? (["startDate"] as const) : []),
];

/** A kept draft, as far as it is one. */
export function parseDraft(text: string): TopicEdits {
  try {
    const found: unknown = JSON.parse(text === "" ? "{}" : text);
    if (typeof found !== "object" || found === null) return {};
    const like = emptyForm(null);
    const fits = ([key, value]: [string, unknown]) => {
      if (!(key in like)) return false;
      const known = like[key as keyof TopicForm];
      return known === null ? value === null || typeof value === "string" || typeof value === "number" : typeof value === typeof known && value !== null;
    };
    return Object.fromEntries(Object.entries(found).filter(fits)) as TopicEdits;
  } catch {
    return {};
  }
}
