import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { CircleHelp } from "lucide-react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { now } from "../lib/clock";
import { assignmentsQuery } from "../features/groups/groups";
import { useKeys } from "../lib/keys";
import { isStaff, type Me } from "../lib/session";
import { sortIntoDay } from "../features/today/topicsOfTheDay";
import { Button } from "../ui/Button";
import type { Place } from "./list";
import { part } from "../ui/part";

const KeyWindow = part(async () => (await import("./KeyWindow")).KeyWindow);

/** The help that stands at the same place on every screen, and the keys that work on every screen. */
export function Keys({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const here = useLocation({ select: ({ pathname }) => placeAt(pathname) });
  const [isOpen, setOpen] = useState(false);
  const toBoard = async () => {
    const [first] = sortIntoDay(await cache.ensureQueryData(assignmentsQuery), now()).running;
    if (first) await navigate({ to: "/t/$topicId/board", params: { topicId: first.id } });
  };
  const forStaff = { "g t": () => void navigate({ to: "/today" }), "g s": () => void navigate({ to: "/submissions" }), "g b": () => void toBoard().catch(() => undefined) };
  useKeys({ "?": () => setOpen(true), ...(isStaff(person) ? forStaff : {}) });
  return (
    <>
      <Button kind="quiet" className="px-0" aria-label={t("keys.open")} onPress={() => setOpen(true)}>
        <CircleHelp aria-hidden="true" className="size-5" />
      </Button>
      {isOpen ? (
        <Suspense>
          <KeyWindow here={here} isStaff={isStaff(person)} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Which list of shortcuts belongs to an address, beside those that work everywhere. */
function placeAt(path: string): Place | undefined {
  if (/\/board$/.test(path)) return "board";
  if (/\/work\//.test(path)) return "work";
  return path.startsWith("/g/") ? "room" : undefined;
}
