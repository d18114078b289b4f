// Folders of messages, stored in the URL. A file of its own, because the first load of every page parses URLs.

export const BOXES = ["inbox", "sent", "class"] as const;
export type Box = (typeof BOXES)[number];
