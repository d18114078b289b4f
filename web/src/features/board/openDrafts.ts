import type { Schemas } from "../../api/client";

type Draft = Schemas["UnlinkedDraft"];
type OpenDocument = Schemas["OpenDocument"];

/** The chosen topic id by document id. */
export type Links = Record<string, string>;

/** Value of a draft that is locked without a topic. */
export const NO_TOPIC = "none";

/** Links to create before the topic is finished. */
export const linksToCreate = (drafts: readonly Draft[], chosen: Links): Schemas["DocumentLink"][] =>
  drafts.flatMap(({ documentId }) => {
    const assignmentId = chosen[documentId] ?? NO_TOPIC;
    return assignmentId === NO_TOPIC ? [] : [{ documentId, assignmentId }];
  });

/** Documents that stay open: those of other active topics, and drafts for which such a topic was chosen. */
export function documentsStayingOpen(
  open: readonly OpenDocument[],
  drafts: readonly Draft[],
  chosen: Links,
  topicId: string,
): OpenDocument[] {
  const linked = drafts.flatMap(({ topics, ...draft }) => {
    const topic = topics.find((one) => one.assignmentId === chosen[draft.documentId] && one.assignmentId !== topicId);
    return topic === undefined ? [] : [{ ...draft, assignmentId: topic.assignmentId, assignmentTitle: topic.title }];
  });
  return [...open, ...linked];
}
