import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

import { addEventListener } from "../../api/realtime";

/** Shows a notice when a comment mentions this user. */
export function useMentionNotices(userId: string): void {
  const router = useRouter();
  useEffect(
    () =>
      addEventListener((event, payload) => {
        const hint = payload as import("./mentionNotice").Mention & { mentionedUserIds?: readonly string[] | null };
        if (event === "document:comments" && hint.mentionedUserIds?.includes(userId))
          void import("./mentionNotice").then(({ showMention }) => showMention(hint, router)).catch(() => undefined);
        return false;
      }),
    [router, userId],
  );
}
