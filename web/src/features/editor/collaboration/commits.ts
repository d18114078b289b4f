// The unit of collaboration: a commit is a list of steps that the service appends to the log of a document as one version.
import type { Step } from "prosemirror-transform";

/** A commit of the log. */
export interface Commit {
  /** Version of the document after this commit. */
  version: number;
  /** Chosen by the client that made the commit; sending the same reference twice appends it once. */
  ref: string;
  /** Author of the commit; null if unknown. */
  userId: string | null;
  steps: readonly Step[];
}

/** Steps that wait for being appended. */
export interface OutgoingCommit {
  ref: string;
  /** Version on which the steps are based. The service rebases them over all later commits. */
  version: number;
  steps: readonly Step[];
}

/** Why the service did not append a commit. Sending the same commit again would not help. */
export type RejectionReason =
  /** The document can no longer be edited, or the user has lost access. */
  | "closed"
  /** The generation has ended. The service has stored the steps as a late version. */
  | "late"
  /** A step does not fit the document or a limit. */
  | "invalid"
  /** The log no longer has the commits since the base version. */
  | "expired";

export class CommitRejected extends Error {
  constructor(readonly reason: RejectionReason) {
    super(reason);
  }
}

/**
 * The ordered log of one generation of a document, as a client sees it. Failures of the network and of the service reject with
 * any other error than `CommitRejected`.
 */
export interface Authority {
  /** Commits after a version, oldest first, complete. */
  commitsSince: (version: number) => Promise<readonly Commit[]>;
  /** Appends a commit. Resolves when it is durable, with all commits after its base version up to and including itself. */
  append: (commit: OutgoingCommit) => Promise<readonly Commit[]>;
  /** Calls the listener with new commits; some may be missing. Returns the function that ends it. */
  subscribe: (listener: (commits: readonly Commit[] | null) => void) => () => void;
}
