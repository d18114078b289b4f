import { useQuery } from "@tanstack/react-query";
import { MessageSquarePlus } from "lucide-react";
import { useTranslation } from "react-i18next";

import { commentsQuery, unreadComments } from "../comments";
import { awaitingThreads } from "../mentions";
import { ToolbarButton } from "./ToolbarButton";
import { useController } from "./useController";

/** Opens the comments, and the first of the open threads that mention the user; shows their number, or that of unread comments. */
export function CommentsButton({ onPress }: { onPress: (threadId: string | undefined) => void }) {
  const { t } = useTranslation();
  const { documentId, userId } = useController().identity;
  const { data } = useQuery(commentsQuery(documentId));
  const awaiting = awaitingThreads(data, userId);
  const count = awaiting.length;
  const unread = unreadComments(data, userId).length;
  const label =
    count > 0
      ? t("editor.comments.awaiting", { count })
      : unread > 0
        ? t("editor.comments.unread", { count: unread })
        : t("editor.comments.title");
  return (
    <ToolbarButton
      icon={MessageSquarePlus}
      label={label}
      badge={count > 0 ? count : unread}
      shortcut="comment"
      onPress={() => onPress(awaiting[0]?.id)}
    />
  );
}
