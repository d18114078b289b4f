// Sections of the work room, stored in the URL. A file of its own, because the first load of every page parses URLs.

export const SECTIONS = ["task", "documents", "chat", "feedback"] as const;
export type Section = (typeof SECTIONS)[number];
