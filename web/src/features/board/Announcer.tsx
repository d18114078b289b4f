import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { serverNow } from "../../hooks/serverClock";
import { usePreference } from "../../hooks/usePreference";
import { type Board, announcedMinutes, helpQueue, isHelpNeeded } from "./board";
import { numberedName } from "../lesson/groupNames";

/**
 * Notifies teachers who do not look at the board: count in the tab title, new help requests and remaining time as live
 * announcements, a soft sound.
 */
export function Announcer({ board }: { board: Board }) {
  const { t } = useTranslation();
  const [announcement, announce] = useState("");
  const [isSoundOn] = usePreference("chime");
  const waiting = helpQueue(board).filter(isHelpNeeded);
  const { title, deadline, status } = board.assignment;
  useEffect(() => {
    document.title = `${waiting.length > 0 ? `(${waiting.length}) ` : ""}${title} · groupwork`;
  }, [waiting.length, title]);

  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    const before = known.current;
    known.current = new Set(waiting.map((card) => card.group.id));
    const fresh = before === undefined ? [] : waiting.filter((card) => !before.has(card.group.id));
    if (fresh.length === 0) return;
    announce(
      fresh
        .map((card) => t("board.said", { name: numberedName(card.group), message: card.helpMessage ?? "" }))
        .join(" "),
    );
    if (isSoundOn)
      void import("./notificationSound")
        .then(({ playNotificationSound }) => playNotificationSound())
        .catch(() => undefined);
  }, [waiting, isSoundOn, t]);

  useEffect(() => {
    if (status === "FINISHED") return undefined;
    let before = serverNow();
    const timer = setInterval(() => {
      const at = serverNow();
      const minutes = announcedMinutes(Date.parse(deadline), before, at);
      before = at;
      if (minutes !== undefined) announce(minutes === 0 ? t("board.timeUp") : t("board.timeLeft", { count: minutes }));
    }, 1000);
    return () => clearInterval(timer);
  }, [deadline, status, t]);

  return <output className="sr-only">{announcement}</output>;
}
