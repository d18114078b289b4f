import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { CircleHelp } from "lucide-react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { serverNow } from "../../hooks/serverClock";
import { assignmentsQuery } from "../groups/groups";
import { useShortcuts } from "../../hooks/useShortcuts";
import { isStaff, type Me } from "../../auth/session";
import { useSchoolZone } from "../../i18n/time";
import { Button } from "../../components/Button";
import type { ShortcutScreen } from "./shortcuts";
import { lazyPart } from "../../components/lazyPart";

const ShortcutDialog = lazyPart(async () => (await import("./ShortcutDialog")).ShortcutDialog);

/** The help button of every screen, and the shortcuts that work on every screen. */
export function GlobalShortcuts({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const zone = useSchoolZone();
  const screen = useLocation({ select: ({ pathname }) => screenAt(pathname) });
  const [isOpen, setOpen] = useState(false);
  const toBoard = async () => {
    const { sortIntoDay } = await import("../today/topicsOfTheDay");
    const { running, next } = sortIntoDay(await cache.ensureQueryData(assignmentsQuery), zone, serverNow());
    const topic = running[0] ?? next[0];
    if (topic) await navigate({ to: "/topics/$topicId/board", params: { topicId: topic.id } });
  };
  const forStaff = {
    "g t": () => void navigate({ to: "/today" }),
    "g s": () => void navigate({ to: "/submissions" }),
    "g b": () => void toBoard().catch(() => undefined),
  };
  useShortcuts({ "?": () => setOpen(true), ...(isStaff(person) ? forStaff : {}) });
  return (
    <>
      <Button kind="quiet" className="px-0" aria-label={t("keys.open")} onPress={() => setOpen(true)}>
        <CircleHelp aria-hidden="true" className="size-5" />
      </Button>
      {isOpen ? (
        <Suspense>
          <ShortcutDialog screen={screen} isStaff={isStaff(person)} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** The shortcut list of a URL, in addition to the global one. */
function screenAt(path: string): ShortcutScreen | undefined {
  if (/\/board$/.test(path)) return "board";
  if (/\/work\//.test(path)) return "work";
  return path.startsWith("/groups/") ? "room" : undefined;
}
