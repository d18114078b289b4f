import { useInfiniteQuery } from "@tanstack/react-query";
import { Megaphone } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { useNow } from "../../hooks/serverClock";
import { chatQuery, mergePages, newestTeacherMessage } from "./chat";
import type { WorkRoom } from "./workRoom";

/** Stored in this browser per user: the last message of a teacher that the user has closed. */
const seenKey = (person: string, workRoom: string) => `seen-message:${person}:${workRoom}`;

/**
 * The newest message of a teacher above the room of a student, until the student closes it: a message to all groups must be
 * noticed where the chat is not open.
 */
export function TeacherMessage({ workRoom, person }: { workRoom: WorkRoom; person: string }) {
  const { t } = useTranslation();
  const key = seenKey(person, workRoom.id);
  const [seen, setSeen] = useState(() => Number(localStorage.getItem(key) ?? 0));
  const at = useNow(60_000);
  const { data } = useInfiniteQuery({ ...chatQuery(workRoom.id), enabled: (workRoom.lastMessage?.seq ?? 0) > seen });
  const message = newestTeacherMessage(mergePages(data?.pages ?? []), seen, at);
  return (
    <output className="empty:hidden">
      {message ? (
        <span className="bg-accent-soft flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl px-4 py-1.5">
          <Megaphone aria-hidden="true" className="text-accent size-5 shrink-0" />
          <span className="min-w-0 grow basis-60 wrap-break-word whitespace-pre-line">
            <strong>{message.sender?.name}:</strong> {message.content}
          </span>
          <Button
            kind="quiet"
            onPress={() => {
              localStorage.setItem(key, String(message.seq));
              setSeen(message.seq);
            }}
          >
            {t("room.messageSeen")}
          </Button>
        </span>
      ) : null}
    </output>
  );
}
