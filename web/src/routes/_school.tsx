import { useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Outlet, redirect, useNavigate, useRouter } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { connectRealtime, type ConnectionStatus } from "../api/realtime";
import { impersonationQuery, clearUserData, isSuper, meQuery, type Me } from "../auth/session";
import { requestSignIn, useSessionEnded, useSessionGeneration, watchSession } from "../auth/sessionEnd";
import { setPageSchool, useChangedSchool } from "../auth/pageSchool";
import { loadSchoolTexts, applyAccountLanguage, hasVisitedSchool } from "../i18n";
import { ImpersonationBanner } from "../components/layout/ImpersonationBanner";
import { Header } from "../components/layout/Header";
import { useDownloads } from "../features/submissions/downloadQueue";
import { Toasts } from "../components/toast";
import { lazyPart } from "../components/lazyPart";

const DownloadList = lazyPart(async () => (await import("../features/submissions/DownloadList")).DownloadList);
/** After so many milliseconds a page has what it shows. */
const PREFETCH_DELAY_MS = 5_000;

const SignInAgainDialog = lazyPart(async () => (await import("../auth/SignInAgainDialog")).SignInAgainDialog);
const SchoolChangedDialog = lazyPart(async () => (await import("../components/layout/SchoolChangedDialog")).SchoolChangedDialog);

/** Whether somebody can be at a place without being in a school: the own account, and the schools themselves. */
const needsNoSchool = (person: Me, path: string) => path === "/me" || (isSuper(person) && path.startsWith("/super/"));

/** Everything inside a school: whoever is not signed in, has a password that others know, or is in no school, is sent there first. */
export const Route = createFileRoute("/_school")({
  beforeLoad: async ({ context, location }) => {
    // What the pages of a school say is fetched ahead, but not by whoever sees the door for the first time.
    if (hasVisitedSchool() || location.pathname !== "/") void loadSchoolTexts(location.pathname);
    const person = await context.cache.ensureQueryData(meQuery);
    if (!person) throw redirect({ to: "/login", search: { next: location.href } });
    const next = location.href;
    if (person.mustChangePassword && !(await context.cache.ensureQueryData(impersonationQuery))) throw redirect({ to: "/change-password", search: { next } });
    const isOpen = person.organization?.status === "ACTIVE" || (person.organization !== null && isSuper(person));
    if (!isOpen && !needsNoSchool(person, location.pathname)) throw redirect({ to: "/schools", search: { next } });
    setPageSchool(person.organization);
    await Promise.all([applyAccountLanguage(person), loadSchoolTexts(location.pathname)]);
    return { person };
  },
  component: SchoolLayout,
});

function SchoolLayout() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const connection = useRealtime();
  const downloads = useDownloads();
  const changed = useChangedSchool();
  const router = useRouter();
  const isSessionEnded = useSessionEnded();
  useEffect(watchSession, []);
  useEffect(() => {
    // The screens this person will want, once this one has what it shows.
    const timer = setTimeout(() => void import("../components/layout/prefetchScreens").then(({ prefetchScreens }) => prefetchScreens(router, person)).catch(() => undefined), PREFETCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [router, person]);
  return (
    <>
      <a href="#main" className="bg-sheet sr-only z-20 p-2 focus:not-sr-only focus:absolute">
        {t("app.skip")}
      </a>
      <Header person={person} connection={connection} />
      <ImpersonationBanner name={person.name} />
      {/* A screen that wants the whole width says so with `data-wide`. */}
      <main id="main" className="mx-auto max-w-6xl p-3 sm:p-4">
        <Outlet />
      </main>
      {downloads.length === 0 ? null : (
        <Suspense>
          <DownloadList />
        </Suspense>
      )}
      <Toasts />
      {changed === null ? null : (
        <Suspense>
          <SchoolChangedDialog person={person} shown={changed} />
        </Suspense>
      )}
      {isSessionEnded ? (
        <Suspense>
          <SignInAgainDialog person={person} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Holds the live channel while somebody is in the school. */
function useRealtime(): ConnectionStatus {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const generation = useSessionGeneration();
  const [connection, setConnection] = useState<ConnectionStatus>("connecting");
  useEffect(
    () =>
      connectRealtime(cache, setConnection, (reason) => {
        // Who signs out, here or in another tab, leaves nothing behind; any other end can be mended in place.
        if (reason !== "SIGNED_OUT") return void requestSignIn();
        clearUserData(cache);
        void navigate({ to: "/login" });
      }),
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the connection is bound to its session: another one needs another connection
    [cache, navigate, generation],
  );
  return connection;
}
