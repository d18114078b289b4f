// The notice that a comment mentions the user, on every page.
import type { AnyRouter } from "@tanstack/react-router";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { loadTexts, translateIfKnown } from "../../i18n";

export interface Mention {
  documentId: string;
  groupId: string;
  actor?: { name: string } | null;
}

/** Shows who mentions the user and in which document, with a button that opens it. */
export async function showMention({ documentId, groupId, actor }: Mention, router: AnyRouter): Promise<void> {
  const [{ title }] = await Promise.all([
    unwrap(client.GET("/workrooms/documents/{id}", { params: { path: { id: documentId } } })),
    loadTexts("editor"),
  ]);
  const text = translateIfKnown("editor.comments.mentionedYou", { name: actor?.name ?? "", title }) ?? title;
  const path = `/groups/${groupId}/documents/${documentId}`;
  const isHere = router.state.location.pathname === path;
  if (isHere) toast(text);
  else
    toast(text, () => void router.navigate({ to: path }), undefined, translateIfKnown("editor.comments.openMention"));
}
