import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { now } from "../lib/clock";
import { usePreference } from "../lib/preference";
import { type Board, called, mark, queue } from "./board";

/** What is told to whoever does not look: the count in the title of the tab, new calls aloud, a soft sound, the time at four marks. */
export function Said({ found }: { found: Board }) {
  const { t } = useTranslation();
  const [said, say] = useState("");
  const [isLoud] = usePreference("chime");
  const waiting = queue(found);
  const { title, deadline, status } = found.assignment;
  useEffect(() => {
    document.title = `${waiting.length > 0 ? `(${waiting.length}) ` : ""}${title} · groupwork`;
  }, [waiting.length, title]);

  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    const before = known.current;
    known.current = new Set(waiting.map((card) => card.group.id));
    const fresh = before === undefined ? [] : waiting.filter((card) => !before.has(card.group.id));
    if (fresh.length === 0) return;
    say(fresh.map((card) => t("board.said", { name: called(card.group), message: card.helpMessage ?? "" })).join(" "));
    if (isLoud) void import("./chime").then(({ chime }) => chime()).catch(() => undefined);
  }, [waiting, isLoud, t]);

  useEffect(() => {
    if (status === "FINISHED") return undefined;
    let before = now();
    const timer = setInterval(() => {
      const at = now();
      const minutes = mark(Date.parse(deadline), before, at);
      before = at;
      if (minutes !== undefined) say(minutes === 0 ? t("board.timeUp") : t("board.timeLeft", { count: minutes }));
    }, 1000);
    return () => clearInterval(timer);
  }, [deadline, status, t]);

  return (
    <output className="sr-only">{said}</output>
  );
}
