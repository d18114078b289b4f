// When students see a topic. Pure functions; the time is a parameter.

/** Fields of a topic, or of the link of a group, that decide about its publication. Absent for students. */
export interface PublicationFields {
  isDraft?: boolean;
  publishAt?: string | null;
}

export type PublicationState = "draft" | "scheduled" | "published";

/** The state of a topic for all groups without an exception. */
export function publicationState(topic: PublicationFields, now: number): PublicationState {
  if (topic.isDraft === true) return "draft";
  return topic.publishAt && Date.parse(topic.publishAt) > now ? "scheduled" : "published";
}

/** Whether the link of a group has an exception. */
export const hasException = (link: PublicationFields): boolean =>
  link.isDraft === true || (link.publishAt ?? null) !== null;
