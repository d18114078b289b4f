// Form values of a topic and the requests derived from them. Pure functions; nothing here calls the service.
import type { Schemas } from "../../api/client";
import { publicationState } from "../lesson/publication";

export type Topic = Schemas["Assignment"];

/** Form values. */
export interface TopicForm {
  title: string;
  /** ISO 8601; null while none is selected. */
  deadline: string | null;
  /** How long the work takes, in the words of the teacher; empty if it is not stated. */
  workingTime: string;
  description: string;
  isShared: boolean;
  /** Own texts by group id; an empty text means none. */
  texts: Readonly<Record<string, string>>;
  /** Whether the own text follows the shared one, by group id; otherwise it replaces it. */
  added: Readonly<Record<string, boolean>>;
  requiredSubmissions: number;
  latePolicy: Schemas["LatePolicy"];
  maxPoints: number | null;
  gradeScale: string;
  courseId: string | null;
  /** Start of the groups: unchanged, immediately, or at `startDate`. */
  begin: "same" | "now" | "later";
  startDate: string | null;
  /** When students see the topic: at once, once it is published, or from `publishAt`. */
  publish: "now" | "draft" | "later";
  publishAt: string | null;
}

/** Unsaved changes. */
export type TopicEdits = Partial<TopicForm>;

/** Form values of an existing topic. A time of publication that has passed is not shown. */
export function topicForm(topic: Topic, now: number = Date.now()): TopicForm {
  const publication = publicationState(topic, now);
  return {
    title: topic.title,
    deadline: topic.deadline,
    workingTime: topic.workingTime ?? "",
    description: topic.description,
    isShared: topic.isShared,
    texts: Object.fromEntries(topic.groupAssignments.map((own) => [own.groupId, own.descriptionOverride ?? ""])),
    added: Object.fromEntries(topic.groupAssignments.map((own) => [own.groupId, own.includesSharedText ?? false])),
    requiredSubmissions: topic.requiredSubmissions,
    latePolicy: topic.latePolicy,
    maxPoints: topic.maxPoints,
    gradeScale: topic.gradeScale ?? "",
    courseId: topic.courseId,
    begin: "same",
    startDate: null,
    publish: publication === "draft" ? "draft" : publication === "scheduled" ? "later" : "now",
    publishAt: publication === "scheduled" ? (topic.publishAt ?? null) : null,
  };
}

/** Form values of a new topic. */
export const emptyForm = (courseId: string | null): TopicForm => ({
  title: "",
  deadline: null,
  workingTime: "",
  description: "",
  isShared: true,
  texts: {},
  added: {},
  requiredSubmissions: 1,
  latePolicy: "ALLOW",
  maxPoints: null,
  gradeScale: "",
  courseId,
  begin: "same",
  startDate: null,
  publish: "now",
  publishAt: null,
});

/** Applies edits; unedited fields follow the service. */
export const applyEdits = (base: TopicForm, edits: TopicEdits): TopicForm => ({
  ...base,
  ...edits,
  texts: { ...base.texts, ...edits.texts },
  added: { ...base.added, ...edits.added },
});

/** Adds an edit; a field that equals the value of the service is not an edit. */
export function withEdit(base: TopicForm, edits: TopicEdits, change: TopicEdits): TopicEdits {
  const next = { ...edits, ...change };
  const texts = Object.fromEntries(
    Object.entries({ ...edits.texts, ...change.texts }).filter(([group, text]) => (base.texts[group] ?? "") !== text),
  );
  const added = Object.fromEntries(
    Object.entries({ ...edits.added, ...change.added }).filter(
      ([group, isOn]) => (base.added[group] ?? false) !== isOn,
    ),
  );
  const kept = Object.entries(next).filter(
    ([key, value]) => key !== "texts" && key !== "added" && base[key as keyof TopicForm] !== value,
  );
  return {
    ...(Object.fromEntries(kept) as TopicEdits),
    ...(Object.keys(texts).length === 0 ? {} : { texts }),
    ...(Object.keys(added).length === 0 ? {} : { added }),
  };
}

/** Drops edits that were saved meanwhile, here or elsewhere. */
export const remainingEdits = (base: TopicForm, edits: TopicEdits): TopicEdits => withEdit(base, {}, edits);

export const hasNoEdits = (edits: TopicEdits): boolean => Object.keys(edits).length === 0;

/** Fields sent to all groups at once. */
export function sharedChanges(edits: TopicEdits): Schemas["SharedEdit"] {
  return {
    ...(edits.title === undefined ? {} : { title: edits.title.trim() }),
    ...(edits.deadline ? { deadline: edits.deadline } : {}),
    ...(edits.description === undefined ? {} : { description: edits.description }),
    ...(edits.begin === "now"
      ? { startDate: null }
      : edits.begin === "later" && edits.startDate
        ? { startDate: edits.startDate }
        : {}),
  };
}

/** Fields of the topic itself or of single groups. */
export function ownChanges(edits: TopicEdits): Schemas["AssignmentEdit"] {
  const { isShared, texts = {}, added = {}, requiredSubmissions, latePolicy, maxPoints, courseId } = edits;
  const { gradeScale, workingTime } = edits;
  const groupIds = [...new Set([...Object.keys(texts), ...Object.keys(added)])];
  return {
    ...publicationChange(edits),
    ...(isShared === undefined ? {} : { isShared }),
    ...(groupIds.length === 0
      ? {}
      : {
          groups: groupIds.map((groupId) => ({
            groupId,
            ...(texts[groupId] === undefined ? {} : { descriptionOverride: texts[groupId] || null }),
            ...(added[groupId] === undefined ? {} : { includesSharedText: added[groupId] }),
          })),
        }),
    ...(requiredSubmissions === undefined ? {} : { requiredSubmissions }),
    ...(latePolicy === undefined ? {} : { latePolicy }),
    ...(maxPoints === undefined ? {} : { maxPoints }),
    ...(gradeScale === undefined ? {} : { gradeScale: gradeScale.trim() === "" ? null : gradeScale.trim() }),
    ...(workingTime === undefined ? {} : { workingTime: workingTime.trim() || null }),
    ...(courseId === undefined ? {} : { courseId }),
  };
}

/** The publication in a request; empty if it is not edited. */
function publicationChange({
  publish,
  publishAt,
}: TopicEdits): Pick<Schemas["AssignmentEdit"], "isDraft" | "publishAt"> {
  if (publish === "draft") return { isDraft: true };
  if (publish === "now") return { isDraft: false, publishAt: null };
  return publishAt ? { publishAt } : {};
}

/** Request body of a new topic. */
export function newTopicBody(form: TopicForm, classId: string, groupIds: readonly string[]): Schemas["NewAssignment"] {
  return {
    title: form.title.trim(),
    deadline: form.deadline ?? "",
    description: form.description,
    isShared: form.isShared,
    requiredSubmissions: form.requiredSubmissions,
    latePolicy: form.latePolicy,
    ...(form.publish === "draft" ? { isDraft: true } : {}),
    ...(form.publish === "later" && form.publishAt !== null ? { publishAt: form.publishAt } : {}),
    classId,
    ...(form.courseId === null ? {} : { courseId: form.courseId }),
    ...(form.maxPoints === null ? {} : { maxPoints: form.maxPoints }),
    ...(form.gradeScale.trim() === "" ? {} : { gradeScale: form.gradeScale.trim() }),
    ...(form.workingTime.trim() === "" ? {} : { workingTime: form.workingTime.trim() }),
    groups: groupIds.map((groupId) => ({
      groupId,
      ...(form.texts[groupId]
        ? { descriptionOverride: form.texts[groupId], ...(form.added[groupId] ? { includesSharedText: true } : {}) }
        : {}),
    })),
  };
}

/** The first missing required field. */
export type MissingField = "title" | "deadline" | "startDate" | "publishAt";

export const findMissingFields = (form: TopicForm): MissingField[] => [
  ...(form.title.trim() === "" ? (["title"] as const) : []),
  ...(form.deadline === null ? (["deadline"] as const) : []),
  ...(form.begin === "later" && form.startDate === null ? (["startDate"] as const) : []),
  ...(form.publish === "later" && form.publishAt === null ? (["publishAt"] as const) : []),
];

/** Parses a stored draft; ignores unknown parts. */
export function parseDraft(text: string): TopicEdits {
  try {
    const found: unknown = JSON.parse(text === "" ? "{}" : text);
    if (typeof found !== "object" || found === null) return {};
    const like = emptyForm(null);
    const fits = ([key, value]: [string, unknown]) => {
      if (!(key in like)) return false;
      const known = like[key as keyof TopicForm];
      return known === null
        ? value === null || typeof value === "string" || typeof value === "number"
        : typeof value === typeof known && value !== null;
    };
    return Object.fromEntries(Object.entries(found).filter(fits)) as TopicEdits;
  } catch {
    return {};
  }
}
