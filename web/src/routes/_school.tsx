import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Outlet, redirect, useNavigate, useRouter } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { connectRealtime, type ConnectionStatus } from "../api/realtime";
import { impersonationQuery, clearUserData, isAddressedFormally, isSuper, meQuery, type Me } from "../auth/session";
import { requestSignIn, useSessionEnded, useSessionGeneration, watchSession } from "../auth/sessionEnd";
import { setPageSchool, useChangedSchool } from "../auth/pageSchool";
import { loadSchoolTexts, applyAccountLanguage, hasVisitedSchool, setFormalAddress } from "../i18n";
import { ConnectionContext } from "../hooks/connection";
import { useIsIdle } from "../hooks/prefetchWhenIdle";
import { Header } from "../components/layout/Header";
import { useMentionNotices } from "../features/editor/useMentionNotices";
import { useDownloads } from "../features/submissions/downloadQueue";
import { Toasts } from "../components/base/toast";
import { lazyPart } from "../components/lazyPart";

const DownloadList = lazyPart(async () => (await import("../features/submissions/DownloadList")).DownloadList);
/** Delay in milliseconds after which a page has loaded its data. */
const PREFETCH_DELAY_MS = 5_000;

const ImpersonationBanner = lazyPart(
  async () => (await import("../components/layout/ImpersonationBanner")).ImpersonationBanner,
);
const SignInAgainDialog = lazyPart(async () => (await import("../auth/SignInAgainDialog")).SignInAgainDialog);
const SchoolChangedDialog = lazyPart(
  async () => (await import("../components/layout/SchoolChangedDialog")).SchoolChangedDialog,
);

/** Whether a user can open a page without being in a school: the account page and the list of schools. */
const needsNoSchool = (person: Me, path: string) => path === "/me" || (isSuper(person) && path.startsWith("/super/"));

/** Layout of all pages inside a school. Redirects users who are signed out, must change their password, or are in no school. */
export const Route = createFileRoute("/_school")({
  beforeLoad: async ({ context, location }) => {
    // Prefetches the texts of the pages, but not for first-time visitors of the sign-in page.
    if (hasVisitedSchool() || location.pathname !== "/") void loadSchoolTexts(location.pathname);
    const person = await context.cache.ensureQueryData(meQuery);
    if (!person) throw redirect({ to: "/login", search: { next: location.href } });
    const next = location.href;
    if (person.mustChangePassword && !(await context.cache.ensureQueryData(impersonationQuery)))
      throw redirect({ to: "/change-password", search: { next } });
    const isOpen = person.organization?.status === "ACTIVE" || (person.organization !== null && isSuper(person));
    if (!isOpen && !needsNoSchool(person, location.pathname)) throw redirect({ to: "/schools", search: { next } });
    setPageSchool(person.organization);
    await Promise.all([
      applyAccountLanguage(person).then(() => setFormalAddress(isAddressedFormally(person))),
      loadSchoolTexts(location.pathname),
    ]);
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
  const isImpersonated = useQuery({ ...impersonationQuery, enabled: useIsIdle() }).data === true;
  useEffect(watchSession, []);
  useMentionNotices(person.id);
  useEffect(() => {
    // Prefetches the screens of this user after the current one has loaded.
    const timer = setTimeout(
      () =>
        void import("../components/layout/prefetchScreens")
          .then(({ prefetchScreens }) => prefetchScreens(router, person))
          .catch(() => undefined),
      PREFETCH_DELAY_MS,
    );
    return () => clearTimeout(timer);
  }, [router, person]);
  return (
    <>
      <a href="#main" className="bg-sheet sr-only z-20 p-2 focus:not-sr-only focus:absolute">
        {t("app.skip")}
      </a>
      <Header person={person} connection={connection} />
      {isImpersonated ? (
        <Suspense>
          <ImpersonationBanner name={person.name} />
        </Suspense>
      ) : null}
      <main id="main" className="page-grid pt-4 pb-10 sm:pt-5">
        <ConnectionContext value={connection}>
          <Outlet />
        </ConnectionContext>
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

/** Keeps the realtime connection open while the user is in a school. */
function useRealtime(): ConnectionStatus {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const generation = useSessionGeneration();
  const [connection, setConnection] = useState<ConnectionStatus>("connecting");
  useEffect(
    () =>
      connectRealtime(cache, setConnection, (reason) => {
        // Signing out, here or in another tab, clears the page; any other end of the session can be resolved in place.
        if (reason !== "SIGNED_OUT") return void requestSignIn();
        clearUserData(cache);
        void navigate({ to: "/login" });
      }),
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the connection is bound to its session: a new session needs a new connection
    [cache, navigate, generation],
  );
  return connection;
}
