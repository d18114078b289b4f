import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { cursorsOf } from "../collaboration/cursors";
import { outlineOf } from "../editing/statistics";
import { useReadingPreferences } from "./readingPreferences";
import { useController } from "./useController";

/** At most one announcement in this time: a class that writes must not talk all the time. */
const INTERVAL_MS = 10_000;

/** A polite live region: who came, left, and writes where. */
export function Announcer() {
  const { t } = useTranslation();
  const controller = useController();
  const [{ announce }] = useReadingPreferences();
  const [text, setText] = useState("");
  const last = useRef(0);
  useEffect(() => {
    if (!announce) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waiting = "";
    const say = (next: string) => {
      waiting = next;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          last.current = Date.now();
          setText(waiting);
        },
        Math.max(0, last.current + INTERVAL_MS - Date.now()),
      );
    };
    let before = new Map(cursorsOf(controller.state).map((cursor) => [cursor.userId, cursor]));
    const end = controller.subscribe(() => {
      const cursors = cursorsOf(controller.state);
      const now = new Map(cursors.map((cursor) => [cursor.userId, cursor]));
      for (const [userId, cursor] of now) {
        const known = before.get(userId);
        if (known === undefined) say(t("editor.people.came", { name: cursor.name }));
        else if (known.seenAt !== cursor.seenAt && known.head !== cursor.head && cursor.head !== null) {
          const heading = outlineOf(controller.state.doc).findLast(({ at }) => at <= cursor.head!);
          say(
            heading === undefined
              ? t("editor.people.writesSomewhere", { name: cursor.name })
              : t("editor.people.writes", { name: cursor.name, section: heading.text }),
          );
        }
      }
      for (const [userId, cursor] of before) if (!now.has(userId)) say(t("editor.people.left", { name: cursor.name }));
      before = now;
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [announce, controller, t]);
  return <output className="sr-only">{text}</output>;
}
