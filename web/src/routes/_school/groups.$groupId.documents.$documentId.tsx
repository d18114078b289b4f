import { createFileRoute } from "@tanstack/react-router";
import { useEffect } from "react";

import { DocumentEditor } from "../../features/work-room/OpenDocument";
import { Room } from "../../features/work-room/WorkRoom";

interface Search {
  topic?: string;
  mode?: "edit";
}

export const Route = createFileRoute("/_school/groups/$groupId/documents/$documentId")({
  validateSearch: ({ topic, mode }: Record<string, unknown>): Search => ({
    ...(typeof topic === "string" ? { topic } : {}),
    ...(mode === "edit" ? { mode } : {}),
  }),
  component: DocumentPage,
});

/** The work room with an open document. */
function DocumentPage() {
  const { groupId, documentId } = Route.useParams();
  const { topic, mode } = Route.useSearch();
  // The editor's code is loaded while the work room is fetched.
  useEffect(() => DocumentEditor.prefetch(), []);
  return (
    <Room key={documentId} groupId={groupId} topicId={topic} documentId={documentId} isWriting={mode === "edit"} />
  );
}
