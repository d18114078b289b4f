// Prefetches the screens a user will need while the page is idle, so that a lesson continues without a connection.
import type { AnyRouter } from "@tanstack/react-router";

import { type Me, type EffectiveRole, effectiveRole } from "../../auth/session";
import { loadSchoolTexts } from "../../i18n";
import { prefetchLazyParts } from "../lazyPart";

const STUDENT = ["groups/", "groups/$groupId/", "groups/$groupId/documents/$documentId", "messages", "me", "help"];
const TEACHER = [
  "today",
  "topics/$topicId/board",
  "topics/$topicId/work/$groupId",
  "topics/$topicId/",
  "topics/$topicId/projector",
  "topics/new",
  "groups/$groupId/",
  "groups/$groupId/documents/$documentId",
  "courses/",
  "courses/$courseId/",
  "courses/deleted",
  "courses/$courseId/divide",
  "classes/$classId",
  "submissions",
  "messages",
  "activity",
  "me",
  "help",
];
const ADMIN = [
  ...TEACHER,
  "admin/",
  "admin/users",
  "admin/homerooms",
  "admin/subjects",
  "admin/organisation",
  "admin/deletions",
  "admin/sessions",
  "admin/privacy",
  "admin/import",
];
const SCREENS: Record<EffectiveRole, readonly string[]> = {
  student: STUDENT,
  teacher: TEACHER,
  admin: ADMIN,
  owner: ADMIN,
  super: [...ADMIN, "super/tenants"],
};

const isSavingData = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

const whenIdle = () =>
  new Promise<void>((resolve) =>
    "requestIdleCallback" in window
      ? requestIdleCallback(() => resolve(), { timeout: 10_000 })
      : setTimeout(resolve, 200),
  );

/** Prefetches the screens of a user one by one, with their texts and dialogs. */
export async function prefetchScreens(router: AnyRouter, person: Me): Promise<void> {
  if (isSavingData()) return;
  for (const path of SCREENS[effectiveRole(person)]) {
    await whenIdle();
    const component = router.routesById[`/_school/${path}`]?.options.component as
      { preload?: () => Promise<void> } | undefined;
    await component?.preload?.();
  }
  await loadSchoolTexts("/courses");
  await prefetchLazyParts();
}
